"""In which order the dimensions of queries and keys stand, found from their sizes."""

from collections.abc import Sequence
from itertools import chain, permutations

NAMES = ("layers", "heads", "tokens", "head_dim")
"""The dimensions, as a capture has them."""

STANDARD = " ".join(NAMES)
"""How a capture is written."""

_TIERS: tuple[tuple[str, ...], ...] = (
    (
        STANDARD,
        "layers tokens heads head_dim",
        "heads tokens head_dim",
        "tokens heads head_dim",
        "tokens head_dim",
    ),
    ("layers tokens head_dim",),
)  # the first that fits at all decides; then any order
_SHOWN = 4


class WrongOrderError(ValueError):
    """That shapes cannot be read in the order that was chosen."""


class UnclearOrderError(ValueError):
    """Raised where shapes can be read in several ways.

    Parameters
    ----------
    message
        What is said.
    readings
        The orders there are, the most usual first; :func:`xpos_viz.read_capture` takes one.
    shape
        The shape of q, of which these are the orders.
    """

    def __init__(self, message: str, readings: tuple[str, ...], shape: tuple[int, ...]) -> None:
        super().__init__(message)
        self.readings, self.shape = readings, shape


def readings(
    q: Sequence[int],
    k: Sequence[int],
    *,
    layers: int | None = None,
    queries: int | None = None,
    keys: int | None = None,
) -> tuple[str, ...]:
    """Return the orders that two shapes can be read in, the most usual first.

    Layers and head_dim are the same for both, head_dim is even, the heads of q are a multiple
    of those of k, and there are no more queries than keys unless they are counted. Of orders that
    differ in dimensions of one entry alone, which all read the same, the most usual one counts.

    Parameters
    ----------
    q, k
        The shapes, of two to four dimensions.
    layers, queries, keys
        How many there are, where it is known.

    Examples
    --------
    >>> readings((5, 9, 80, 64), (5, 3, 80, 64))[0]
    'layers heads tokens head_dim'
    >>> readings((80, 64), (80, 64), keys=80)
    ('tokens head_dim',)
    >>> readings((1, 1, 1, 8), (1, 1, 1, 8))
    ('layers heads tokens head_dim',)
    """
    known = {"layers": layers, "queries": queries, "keys": keys}
    orders = [
        " ".join(order)
        for order in permutations(NAMES, len(q))
        if {"tokens", "head_dim"} <= set(order)
    ]
    rank = {order: place for place, order in enumerate(chain(*_TIERS))}
    fitting = [order for order in orders if _fits(order, q, k, known)]
    several = [order for order in fitting if sizes(order, k)["tokens"] > 1]
    usual = sorted(several or fitting, key=lambda order: rank.get(order, len(rank)))
    found: dict[tuple[str, ...], str] = {}
    for order in usual:
        found.setdefault(_spoken(order, q, k), order)
    return tuple(found.values())


def order_of(
    q: Sequence[int],
    k: Sequence[int],
    *,
    layers: int | None = None,
    queries: int | None = None,
    keys: int | None = None,
) -> str:
    """Return the one order of two shapes: a usual one if one fits, or else the only one.

    Parameters
    ----------
    q, k, layers, queries, keys
        As in :func:`readings`.

    Raises
    ------
    UnclearOrderError
        If there are several.
    ValueError
        If there is none.
    """
    found = readings(q, k, layers=layers, queries=queries, keys=keys)
    if not found:
        raise ValueError(
            f"q and k must be {STANDARD}, in some order, got the shapes {_shape(q)} and "
            f"{_shape(k)}{_told(layers, queries, keys)}; use np.savez(path, q=q, k=k)."
        )
    for tier in (*_TIERS, found):
        fitting = [order for order in tier if order in found]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            break
    shown = "; ".join(_said(order, q) for order in found[:_SHOWN])
    odd = ", whose last dimension is odd and so no head_dim," if q[-1] % 2 else ""
    raise UnclearOrderError(
        f"the shapes {_shape(q)} of q and {_shape(k)} of k{odd} can be read in {len(found)} ways "
        f"({shown}{'; …' if len(found) > _SHOWN else ''}); use one, such as "
        f"reading={found[0]!r}.",
        found,
        tuple(q),
    )


def sizes(order: str, shape: Sequence[int]) -> dict[str, int]:
    """Return the size of each dimension, by name; those that are not there are 1."""
    return dict.fromkeys(NAMES, 1) | dict(zip(order.split(), shape, strict=True))


def _spoken(order: str, q: Sequence[int], k: Sequence[int]) -> tuple[str, ...]:
    """The dimensions of more than one entry: orders with the same ones read the same."""
    of_q, of_k = sizes(order, q), sizes(order, k)
    return tuple(name for name in order.split() if max(of_q[name], of_k[name]) > 1)


def _fits(order: str, q: Sequence[int], k: Sequence[int], known: dict[str, int | None]) -> bool:
    """Whether queries and keys of these shapes meet in this order."""
    of_q, of_k = sizes(order, q), sizes(order, k)
    counted = {"layers": of_q["layers"], "queries": of_q["tokens"], "keys": of_k["tokens"]}
    return (
        all(of_q[name] == of_k[name] for name in ("layers", "head_dim"))
        and of_q["head_dim"] % 2 == 0
        and of_q["heads"] % of_k["heads"] == 0
        and (known["queries"] is not None or of_q["tokens"] <= of_k["tokens"])
        and all(value in (None, counted[name]) for name, value in known.items())
    )


def _said(order: str, shape: Sequence[int]) -> str:
    """An order with the sizes of its dimensions."""
    return ", ".join(f"{name} {size}" for name, size in zip(order.split(), shape, strict=True))


def _shape(shape: Sequence[int]) -> str:
    """A shape that may have many dimensions."""
    return f"{tuple(shape)!s:.60}"


def _told(layers: int | None, queries: int | None, keys: int | None) -> str:
    """What is known of the sizes."""
    known = (("layers", layers), ("queries", queries), ("keys", keys))
    said = [f"{size} {name}" for name, size in known if size is not None]
    return f" for {', '.join(said)}" if said else ""

"""What enters the kernel: vectors, their layout and heads, and positions, checked once."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Complex, Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.encoding import Encoding

Layout = Literal["interleaved", "half"]
Positions = Tensor | NDArray[np.generic] | Sequence[float] | Sequence[Sequence[float]] | range
Pairs = Complex[Tensor, "... tokens pairs"]
Rates = Complex[Tensor, "*heads pairs"]

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
"""How columns form pairs: (2i, 2i+1), or (i, i + d/2)."""

FAR = 2.0**53
"""Tokens up to which float64 counts exactly."""

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""What queries and keys may be kept in."""


def to_pairs(x: Tensor, layout: Layout, width: int) -> Pairs:
    """Read columns as complex pairs; those beyond the rotary width pair with neighbours."""
    x = x if x.dtype in (torch.float32, torch.float64) else x.float()
    if layout == "half":
        halves = x[..., :width].reshape(*x.shape[:-1], 2, width // 2).transpose(-2, -1).flatten(-2)
        x = torch.cat([halves, x[..., width:]], -1)
    return torch.view_as_complex(x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2).contiguous())


def from_pairs(pairs: Pairs, layout: Layout, width: int) -> Tensor:
    """Write complex pairs as columns again."""
    x = torch.view_as_real(pairs).flatten(-2)
    if layout == "half":
        halves = x[..., :width].reshape(*x.shape[:-1], width // 2, 2).transpose(-2, -1).flatten(-2)
        x = torch.cat([halves, x[..., width:]], -1)
    return x


def _heads(x: Tensor) -> int:
    """The size of the dimension before the tokens."""
    return x.shape[-3] if x.ndim > 2 else 1


def share_heads(k: Tensor, q: Tensor) -> Tensor:
    """Repeat each key head for the query heads of its group."""
    if _heads(k) in (1, _heads(q)):
        return k
    return k.repeat_interleave(_heads(q) // _heads(k), -3)


def table_device(device: torch.device) -> torch.device:
    """Where float64 tables are formed: on the device itself, if it has float64."""
    return torch.device("cpu") if device.type == "mps" else device


def checked(
    q: Tensor,
    k: Tensor,
    encoding: Encoding,
    query_positions: Positions | None,
    key_positions: Positions | None,
    layout: Layout,
) -> tuple[Rates, Float[Tensor, "..."], Float[Tensor, "..."]]:
    """Rates and positions in float64, once everything is known to fit."""
    rates = encoding.rates
    check_vectors(q, k, encoding, rates, layout)
    m, n = token_positions(q.shape[-2], k.shape[-2], query_positions, key_positions)
    check_batches(q, k, m, n)
    device = table_device(q.device)
    return rates.to(device), m.to(device), n.to(device)


def check_vectors(q: Tensor, k: Tensor, encoding: Encoding, rates: Rates, layout: Layout) -> None:
    """Raise ValueError unless queries and keys fit each other, the encoding and a layout."""
    for name, x in (("q", q), ("k", k)):
        _check_vector(name, x, encoding)
    if (q.dtype, q.device) != (k.dtype, k.device):
        raise ValueError(
            f"q and k must share dtype and device, got {q.dtype} on {q.device} and {k.dtype} "
            f"on {k.device}; use k.to(q)."
        )
    check_layout(layout)
    _check_heads(q, k, rates)


def check_origin(origin: object) -> None:
    """Raise ValueError unless the origin is a finite number; torch.compile reads this, too."""
    if not isinstance(origin, int | float) or not -math.inf < origin < math.inf:
        raise ValueError(f"origin must be a finite position in tokens, got {origin!r}; use 0.0.")


def check_layout(layout: str) -> None:
    """Raise ValueError unless there is such a layout."""
    check_choice("layout", layout, LAYOUTS)


def check_batches(q: Tensor, k: Tensor, m: Tensor, n: Tensor) -> None:
    """Raise ValueError unless positions (batch, tokens) have the batch of queries and keys."""
    for name, x, positions in (("q", q, m), ("k", k, n), ("q", q, n), ("k", k, m)):
        if positions.ndim == 2 and (x.ndim < 3 or len(positions) != x.shape[0]):
            raise ValueError(
                f"positions of shape (batch, tokens) must have the batch of {name}, got "
                f"{len(positions)} rows for {name} of shape {tuple(x.shape)}; "
                "use one row per entry of the first dimension."
            )


def floating(name: str, x: object) -> Tensor:
    """Return `x` if it is a tensor of one of :data:`DTYPES`, else raise ValueError."""
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{name} must be a torch tensor, got {type(x).__name__}; use torch.as_tensor({name})."
        )
    if x.dtype not in DTYPES:
        legal = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise ValueError(f"{name} must be one of {legal}, got {x.dtype}; use {name}.float().")
    return x


def _check_vector(name: str, x: object, encoding: Encoding) -> None:
    """Raise ValueError unless `x` is a floating tensor (…, tokens, head_dim)."""
    x = floating(name, x)
    if x.ndim < 2 or x.shape[-1] != encoding.head_dim:
        raise ValueError(
            f"{name} must have the shape (…, tokens, {encoding.head_dim}) of {encoding!r}, "
            f"got {tuple(x.shape)}; use an encoding of its width or another {name}."
        )


def _check_heads(q: Tensor, k: Tensor, rates: Rates) -> None:
    """Raise ValueError unless the dimensions before the tokens fit each other."""
    if _heads(q) % max(_heads(k), 1):
        raise ValueError(
            f"the heads of q must be a multiple of the heads of k, got {_heads(q)} and "
            f"{_heads(k)}; use q of shape (…, heads, tokens, head_dim) and k with a divisor of it."
        )
    try:
        np.broadcast_shapes(q.shape[:-3], k.shape[:-3])
    except ValueError:
        raise ValueError(
            f"q and k must have one batch, got shapes {tuple(q.shape)} and {tuple(k.shape)}; "
            "use the same dimensions before the heads."
        ) from None
    if rates.ndim > 1 and q.ndim > 2 and rates.shape[0] != _heads(q):
        raise ValueError(
            f"the encoding has rates for {rates.shape[0]} heads, got q with {_heads(q)}; "
            "use an encoding with as many heads as q."
        )


def token_positions(
    query_tokens: int,
    key_tokens: int,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> tuple[Float[Tensor, "*batch query_tokens"], Float[Tensor, "*batch key_tokens"]]:
    """Positions of queries and keys, tokens, in float64.

    Keys stand at 0 … L_k−1 and queries at the last L_q positions of the keys unless told
    otherwise, so that a decoding step with cached keys is right.

    Parameters
    ----------
    query_tokens, key_tokens
        L_q and L_k.
    query_positions, key_positions
        Positions of shape (L,) or (batch, L), whole or real, or None.

    Returns
    -------
    tuple of Tensor
        Positions of queries and of keys.

    Raises
    ------
    ValueError
        If positions have another length, or are no finite numbers within ±2^53.

    Examples
    --------
    >>> token_positions(2, 5)[0]
    tensor([3., 4.], dtype=torch.float64)
    """
    m, n = (
        None if given is None else real_positions(given, name)
        for given, name in ((query_positions, "query_positions"), (key_positions, "key_positions"))
    )
    return placed(query_tokens, key_tokens, m, n)


def placed(
    query_tokens: int,
    key_tokens: int,
    m: Float[Tensor, "..."] | None,
    n: Float[Tensor, "..."] | None,
) -> tuple[Float[Tensor, "*batch query_tokens"], Float[Tensor, "*batch key_tokens"]]:
    """Positions as :func:`token_positions` gives them, without a look at their values."""
    if n is None:
        n = torch.arange(key_tokens, dtype=torch.float64)
    if m is None and query_tokens > key_tokens > 0:
        raise ValueError(
            f"queries stand at the last positions of the keys, got {query_tokens} queries and "
            f"{key_tokens} keys; use query_positions to say where they stand."
        )
    if m is None:
        start = key_tokens - query_tokens
        m = n[..., start:] if key_tokens else torch.zeros(query_tokens).double()
    for name, positions, tokens in (("query", m, query_tokens), ("key", n, key_tokens)):
        if positions.ndim not in (1, 2) or positions.shape[-1] != tokens:
            raise ValueError(
                f"{name}_positions must have the shape ({tokens},) or (batch, {tokens}), "
                f"got {tuple(positions.shape)}; use one position per {name}."
            )
    return m, n


def check_whole(
    name: str, value: object, low: int, way_out: str = "", *, below: float = math.inf
) -> None:
    """Raise ValueError unless `value` is an integer from `low` to before `below`."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < below:
        way_out = way_out or f"use {low} {_up_to(below)}."
        raise ValueError(f"{name} must be an integer ≥ {low}, got {value!r}; {way_out}")


def _up_to(below: float) -> str:
    """Up to what an integer may go, in words."""
    return "or more" if math.isinf(below) else f"to {below - 1:,}"


def is_finite(value: object) -> bool:
    """Whether `value` is a real number that is neither infinite nor NaN."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer larger than any float
        return False


def real_positions(values: Positions | float, name: str) -> Float[Tensor, "..."]:
    """Positions or lags in float64, if each is a finite number that float64 can count."""
    try:
        array = values.detach().cpu() if isinstance(values, Tensor) else np.asarray(values)
        positions = torch.as_tensor(array)
        numbers = not (positions.dtype == torch.bool or positions.is_complex())
    except (TypeError, ValueError, OverflowError):
        positions, numbers = torch.empty(0), False
    if not numbers or not bool((positions.double().abs() <= FAR).all()):
        shown = repr(values).replace("\n", " ")
        raise ValueError(
            f"{name} must be finite numbers of tokens within ±2^53, got {shown:.60}; "
            "use whole or real numbers."
        )
    return positions.double()

r"""Whether queries and keys look as if they were rotated already.

A model's queries and keys have a mean over the tokens that is far from zero. A rotation turns
it away, token by token, so that undoing it brings the tokens together again. Here

.. math:: c(\mathrm{base}) = \operatorname{mean}_i
    \frac{|\operatorname{mean}_n x_i(n)\,e^{-i\theta_i n}|^2}{\operatorname{mean}_n |x_i(n)|^2}

is how much they agree once a RoPE of that base is undone, and it is compared with how much they
agree as they are.
"""

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Complex, Float
from torch import Tensor

from xpos_viz.encoding import rope
from xpos_viz.entry import LAYOUTS, Layout, to_pairs
from xpos_viz.inputs.capture import Capture
from xpos_viz.kernel import lag_response

MARGIN = 0.02
"""The evidence from which queries and keys look rotated; noise has less than 0.01."""

BASES: tuple[float, ...] = tuple(float(f"{10 ** (step / 4):.3g}") for step in range(10, 29))
"""Bases that are tried, from 316 to 10 million, four to a factor of ten."""

_LAYERS, _TOKENS = 4, 128  # that are looked at; more tell no more


@dataclass(frozen=True)
class Rotation:
    """What queries and keys look like; true if they look rotated.

    Parameters
    ----------
    evidence
        How much more the tokens agree once a RoPE is undone than as they are, from −1 to 1;
        above :data:`MARGIN` they look rotated, and around zero nothing can be said.
    base
        The base that makes them agree most, of :data:`BASES`.
    layout
        The layout in which it does. Both mean something where they look rotated.
    """

    evidence: float
    base: float
    layout: Layout

    def __bool__(self) -> bool:
        """Whether they look rotated."""
        return self.evidence > MARGIN


def looks_rotated(capture: Capture) -> Rotation:
    """Guess whether a RoPE was applied to queries and keys already.

    On the seven bundled samples, as they are and rotated with bases of 500, 10 000, 100 000 and
    1 000 000, none of 35 guesses is wrong, none of 120 of a single layer, and none of 432 of a
    single head as it is and with the largest of these bases, which is told least easily; base and
    layout of a whole sample are always right. These samples are of one model; one whose queries
    and keys have no mean gives no evidence.

    Parameters
    ----------
    capture
        Some layers and the first tokens of it are looked at, in either layout.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> from xpos_viz.inputs.sample import sample_capture
    >>> bool(looks_rotated(sample_capture("pronoun")))
    False
    """
    found = [_best_base(capture, layout) for layout in LAYOUTS]
    return max(found, key=lambda rotation: rotation.evidence)


def _best_base(capture: Capture, layout: Layout) -> Rotation:
    """The base that makes the tokens agree most, in one layout."""
    last = len(capture.layers) - 1
    places = sorted({round(last * step / (_LAYERS - 1)) for step in range(_LAYERS)})
    q, k = (
        _agreement(x[places, :, :_TOKENS], positions[:_TOKENS], layout)
        for x, positions in (
            (capture.q, capture.query_positions),
            (capture.k, capture.key_positions),
        )
    )
    plain, *turned = map(float, (q + k) / 2)
    best = max(turned)
    return Rotation(best - plain, BASES[turned.index(best)], layout)


@lru_cache(maxsize=4)
def _undo(width: int, positions: tuple[float, ...]) -> Complex[Tensor, "bases tokens pairs"]:
    """What undoes each base at some positions; the same for q and k, and for either layout."""
    return lag_response(rope(width, base=BASES), [-position for position in positions])


def before_rotation(capture: Capture, base: float) -> Capture:
    """Return a capture before a RoPE of some base that was applied to it.

    Where the first layer's own encoding has that base, each layer's own is what was applied.

    Raises
    ------
    ValueError
        For a base that is none.
    """
    if base_of(capture) == base:
        return capture.unrotated()
    return capture.unrotated(rope(capture.head_dim, base=base))


def base_of(capture: Capture, place: int = 0) -> float | None:
    """Return the base of a layer's own encoding, or None where it has none, or several."""
    return own_value(capture, "base", place)


def own_value(capture: Capture, name: str, place: int = 0) -> float | None:
    """Return a parameter of a layer's own encoding, or None where it has none, or several."""
    own = capture.encodings[place]
    value = None if own is None else dict(own.parameters).get(name)
    return value if isinstance(value, float) else None


def _agreement(
    x: Float[Tensor, "layers heads tokens head_dim"],
    positions: Float[Tensor, " tokens"],
    layout: Layout,
) -> Float[Tensor, " none_and_bases"]:
    """How much the tokens agree as they are, and once each base is undone, from 0 to 1."""
    width = x.shape[-1]
    undo = _undo(width, tuple(map(float, positions)))
    pairs = to_pairs(x.double(), layout, width).flatten(0, 1)
    turned = torch.einsum("htp,btp->bhp", pairs, undo) / len(positions)
    means = torch.cat([pairs.mean(-2)[None], turned])
    size = pairs.abs().square().mean(-2)
    return torch.where(size > 0, means.abs().square() / size, 0.0).mean((1, 2))

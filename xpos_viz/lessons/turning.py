r"""A vector turns: a pair of columns as one complex number, the position as its angle."""

import math

import torch
from torch import Tensor

from xpos_viz.encoding import rope
from xpos_viz.kernel import apply_encoding
from xpos_viz.lessons.model import Arrows, Chapter, Control, Seen, Step

PAIR = torch.tensor([[1.0, 0.5]], dtype=torch.float64)
"""A query of one pair, 1 + 0.5i."""

_PLACES = tuple(float(m) for m in range(13))


def turned(m: float) -> Tensor:
    """The pair at position m."""
    return apply_encoding(PAIR, PAIR, rope(2), query_positions=[m], key_positions=[0])[0][0]


def _turn(m: float) -> Seen:
    """The pair as it was, and where it points at m."""
    start, end = (complex(*pair.tolist()) for pair in (PAIR[0], turned(m)))
    numbers = {"m": m, "angle": math.degrees(m), "length": abs(end), "before": abs(start)}
    numbers |= {"real": end.real, "imaginary": end.imag}
    return Seen(Arrows({"start": start, "end": end}, limit=1.5), numbers)


TURNING = Chapter(
    "turning",
    (
        Step(
            "turn",
            right="b",
            control=Control(_PLACES, 1.0),
            see=_turn,
            formula=r"\role{1}{q'_m}=\role{0}{q}\,e^{\mathrm{i}m\theta},\qquad\theta=1",
            line=turned,
            parts=(apply_encoding,),
            families=("rope",),
        ),
    ),
)

r"""A vector turns: a pair of columns as one complex number, the position as its angle."""

import cmath
import math
from itertools import combinations

import torch
from torch import Tensor

from xpos_viz.encoding import rope
from xpos_viz.kernel import apply_encoding, lag_response
from xpos_viz.lessons.model import Arrows, Chapter, Control, Seen, Step
from xpos_viz.lessons.toy import M

PAIR = torch.tensor([[0.8, 0.6]], dtype=torch.float64)
"""A query of one pair, of length 1."""

NUMBER = torch.view_as_complex(PAIR)
"""The same pair as one complex number, 0.8 + 0.6i."""

RADIAN = rope(2)
"""One pair, which turns a radian a token."""

_PLACES = tuple(float(m) for m in range(13))
_SPEEDS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 6.0)
_TOKENS = ("zero", "one", "two", "three", "four", "five")
_FIRST = 3.0  # tokens that a pair is turned by before it is turned again
_LIMIT = 1.3  # axes with room around an arrow


def turned(m: float) -> Tensor:
    """The pair at position m."""
    return apply_encoding(PAIR, PAIR, RADIAN, query_positions=[m], key_positions=[0])[0][0]


def again(n: float) -> Tensor:
    """The pair turned by three tokens, and then by n more."""
    return NUMBER * lag_response(RADIAN, 3) * lag_response(RADIAN, n)


def fan(theta: float) -> Tensor:
    """The pair at each of six tokens, at a speed of so many radians a token."""
    return (NUMBER * lag_response(RADIAN, theta * M)).flatten()


def apart(one: complex, other: complex) -> float:
    """The angle between two arrows, in degrees."""
    return math.degrees(abs(cmath.phase(one * other.conjugate())))


def _arrow(m: float) -> complex:
    """The pair at position m as an arrow."""
    return complex(*turned(m).tolist())


def _turn(m: float) -> Seen:
    """The pair as it was, and where it points at m."""
    start, end = _arrow(0.0), _arrow(m)
    numbers = {"m": m, "angle": math.degrees(m), "length": abs(end), "before": abs(start)}
    numbers |= {"real": end.real, "imaginary": end.imag}
    return Seen(Arrows({"start": start, "end": end}, _LIMIT), numbers)


def _compose(n: float) -> Seen:
    """The pair turned once, and again; and where it would be after the product of both."""
    twice, product = again(n).item(), _arrow(_FIRST * n)
    numbers = {"m": _FIRST, "n": n, "sum": _FIRST + n, "product": _FIRST * n}
    numbers |= {"error": abs(twice - _arrow(_FIRST + n)), "off": apart(twice, product)}
    arrows = {"start": _arrow(0.0), "once": _arrow(_FIRST), "twice": twice, "times": product}
    return Seen(Arrows(arrows, _LIMIT), numbers)


def _speed(theta: float) -> Seen:
    """Six tokens, and how near to each other the closest two arrows are."""
    arrows = fan(theta).tolist()
    numbers = {"theta": theta, "tokens": 2 * math.pi / theta if theta else math.inf}
    numbers |= {"neighbors": apart(arrows[0], arrows[1])}
    numbers |= {"nearest": min(apart(*two) for two in combinations(arrows, 2))}
    return Seen(Arrows(dict(zip(_TOKENS, arrows, strict=True)), _LIMIT), numbers)


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
        Step(
            "compose",
            right="a",
            control=Control(_PLACES, 2.0),
            see=_compose,
            formula=r"\role{1}{q\,e^{\mathrm{i}m\theta}}\,e^{\mathrm{i}n\theta}=\role{2}{q\,e^{\mathrm{i}(m+n)\theta}}\ne\role{3}{q\,e^{\mathrm{i}mn\theta}}",
            line=again,
            parts=(lag_response,),
            families=("rope",),
        ),
        Step(
            "speed",
            right="b",
            control=Control(_SPEEDS, 1.0),
            see=_speed,
            formula=r"\role{0}{q},\quad\role{1}{q\,e^{\mathrm{i}\theta}},\quad\role{2}{q\,e^{2\mathrm{i}\theta}},\quad\ldots\quad\role{5}{q\,e^{5\mathrm{i}\theta}}",
            line=fan,
            parts=(lag_response,),
            families=("rope",),
        ),
    ),
)

r"""Many clocks: each pair turns at a speed of its own, and a score adds up what they say.

First two hands, d = 4; then 32 of them, d = 64.
"""

import math

import torch
from torch import Tensor

from xpos_viz.curves import decay_curve, first_negative_lag, wavelength
from xpos_viz.encoding import rope
from xpos_viz.kernel import lag_response
from xpos_viz.lessons.model import Arrows, Chapter, Control, Heights, Lines, Seen, Step
from xpos_viz.lessons.toy import ROPE
from xpos_viz.lessons.turning import apart

ROPE_64 = rope(64)
"""32 pairs at the usual base, 10 000."""

LAGS = torch.arange(0.0, 600.5, 0.5, dtype=torch.float64)
"""Lags close enough to each other that the fastest pair is a wave."""

FAR_LAGS = torch.logspace(0, 14, 2000, base=2.0, dtype=torch.float64).round().unique()
"""Whole lags, as many in each doubling where there are as many."""

_PLACES = (0.0, 1.0, 2.0, 3.0, 6.0, 13.0, 19.0, 25.0, 44.0, 63.0)
_DISTANCES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1024.0, 4096.0)
_COUNTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_BASES = (10.0, 100.0, 1e3, 1e4, 1e5, 5e5, 1e6)
_HIGH = 0.5  # a cosine above it points nearly the same way


def hands(m: float) -> Tensor:
    """Where two hands that point to 1 at position 0 point at m."""
    return lag_response(ROPE, m)


def cosines(lag: float) -> Tensor:
    """What each of 32 pairs says at a lag."""
    return lag_response(ROPE_64, lag).real


def added(pairs: float) -> Tensor:
    """The mean of so many pairs, from fast to slow, at each lag."""
    return decay_curve(rope(2 * int(pairs)), LAGS) / pairs


def fading(base: float) -> Tensor:
    """The mean of 32 pairs at each lag, with another base."""
    return decay_curve(rope(64, base=base), FAR_LAGS) / 32


def _hands(m: float) -> Seen:
    """The two hands at m, and how far each is from where it was."""
    fast, slow = hands(m).tolist()
    numbers = {"m": m, "fast_off": apart(fast, 1), "slow_off": apart(slow, 1)}
    turns = m / wavelength(ROPE)
    numbers |= {"fast_turns": float(turns[0]), "slow_turns": float(turns[1])}
    return Seen(Arrows({"start": 1 + 0j, "fast": fast, "slow": slow}, 1.2), numbers)


def _cancel(lag: float) -> Seen:
    """What each pair says, and the sum."""
    said = cosines(lag)
    numbers = {"lag": lag, "pairs": float(len(said)), "sum": float(said.sum())}
    numbers |= {"high": float((said > _HIGH).sum()), "against": float((said < 0).sum())}
    numbers |= {"share": float(said.mean()), "last": float(said[-1]), "limit": _HIGH}
    labels = tuple(map(str, range(len(said))))
    return Seen(Heights(labels, {"cosine": said.numpy()}, (-1.1, 1.1)), numbers)


def _add(pairs: float) -> Seen:
    """The mean of some pairs, and how far it still swings in the farther half."""
    curve = added(pairs)
    half, last = LAGS[-1] / 2, LAGS[-1]
    far = curve[half <= LAGS]
    numbers = {"pairs": pairs, "from": float(half), "to": float(last)}
    numbers |= {"most": float(far.max()), "least": float(far.min())}
    return Seen(Lines(LAGS.numpy(), {"mean": curve.numpy()}, limits=(-1.1, 1.1)), numbers)


def _base(base: float) -> Seen:
    """The mean of 32 pairs with one base and with the usual one, and where it falls below zero."""
    encoding, last = rope(64, base=base), int(FAR_LAGS[-1])
    turn = wavelength(encoding)
    numbers = {"base": base, "fastest": float(turn[0]), "slowest": float(turn[-1])}
    numbers |= {"last": float(last), "unfinished": float((turn > last).sum())}
    numbers["negative"] = float(first_negative_lag(encoding, limit=last) or math.inf)
    lines = {"usual": fading(ROPE_64["base"]).numpy(), "moved": fading(base).numpy()}
    return Seen(Lines(FAR_LAGS.numpy(), lines, logarithmic=True, limits=(-0.4, 1.1)), numbers)


CLOCKS = Chapter(
    "clocks",
    (
        Step(
            "hands",
            right="a",
            control=Control(_PLACES, 44.0),
            see=_hands,
            formula=r"\role{1}{e^{\mathrm{i}m\theta_0}},\quad\role{2}{e^{\mathrm{i}m\theta_1}},\qquad\role{1}{\theta_0=1},\quad\role{2}{\theta_1=0.1}",
            line=hands,
            parts=(lag_response,),
            families=("rope",),
        ),
        Step(
            "cancel",
            right="b",
            control=Control(_DISTANCES, 100.0),
            see=_cancel,
            formula=r"g[\Delta]=\sum_{i=0}^{d/2-1}\role{0}{\cos(\Delta\,\theta_i)},\qquad\theta_i=\mathrm{base}^{-2i/d}",
            line=cosines,
            parts=(lag_response, decay_curve),
            families=("rope",),
        ),
        Step(
            "added",
            right="c",
            control=Control(_COUNTS, 8.0),
            see=_add,
            formula=r"\role{0}{\frac{g[\Delta]}{d/2}}=\frac{1}{d/2}\sum_{i=0}^{d/2-1}\cos(\Delta\,\theta_i)",
            line=added,
            parts=(decay_curve,),
            families=("rope",),
        ),
        Step(
            "base",
            right="a",
            control=Control(_BASES, 5e5),
            see=_base,
            formula=r"\theta_i=\role{1}{\mathrm{base}}^{-2i/d},\qquad w_i=\frac{2\pi}{\theta_i}",
            line=fading,
            parts=(decay_curve, first_negative_lag),
            families=("rope",),
        ),
    ),
)

r"""γ and B: which pairs fade first, how far a head sees, and where XPos becomes RoPE."""

from math import inf

import torch
from torch import Tensor

from xpos_viz.curves import decay_curve, envelope, envelope_reach, half_life
from xpos_viz.encoding import rope, xpos
from xpos_viz.kernel import lag_response
from xpos_viz.lessons.model import Chapter, Control, Lines, Seen, Step

USUAL = xpos(64)
"""γ and B as in the authors' code, and 32 pairs."""

ROPE = rope(64)

LAGS = torch.arange(0, 1025, 2, dtype=torch.float64)
"""Every other distance up to 1,024 tokens."""

PAIRS = USUAL.head_dim // 2
HALF = 0.5

_DISTANCES = (0.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 16384.0)
_GAMMAS = (0.01, 0.1, 0.2, 0.4, 1.0, 2.0, 10.0)
_BASES = (1.0, 8.0, 64.0, 256.0, 512.0, 1024.0, 4096.0)
_ENDLESS = (1.0, 16.0, 64.0, 128.0, 512.0, 2048.0, 8192.0, 1e6, 1e9)
_DOUBLINGS = torch.logspace(0, 5, 151, dtype=torch.float64)
_PLACES = torch.arange(PAIRS, dtype=torch.float64).numpy()
_FLAT = torch.full((PAIRS,), HALF, dtype=torch.float64).numpy()


def kept(lag: float) -> Tensor:
    """What each pair keeps of its size over a distance."""
    return lag_response(USUAL, lag).abs()


def _halves(lag: float) -> Seen:
    """The share that each pair keeps, beside one half."""
    left, life = kept(lag), half_life(USUAL)
    numbers = {"lag": lag, "pairs": float(PAIRS), "faded": float((left <= HALF).sum())}
    numbers |= {"last_pair": float(PAIRS - 1), "first": float(left[0]), "last": float(left[-1])}
    numbers |= {"soon": float(life[0]), "late": float(life[-1])}
    shown = Lines(_PLACES, {"left": left.numpy(), "half": _FLAT}, limits=(0.0, 1.05))
    return Seen(shown, numbers)


def lives(gamma: float) -> Tensor:
    """Half-lives of all pairs for a γ."""
    return half_life(xpos(64, gamma=gamma))


def _gamma(gamma: float) -> Seen:
    """Half-lives for a γ, beside those of the authors' one."""
    life, usual = lives(gamma), half_life(USUAL)
    numbers = {"gamma": gamma, "soon": float(life[0]), "late": float(life[-1])}
    numbers |= {"ratio": float(life[-1] / life[0]), "last_pair": float(PAIRS - 1)}
    lines = {"chosen": life.numpy(), "usual": usual.numpy()}
    return Seen(Lines(_PLACES, lines, logarithmic_y=True, limits=(30.0, 3e5)), numbers)


def reach(scale_base: float) -> float:
    """The distance over which half of all pairs' sizes is left."""
    return envelope_reach(xpos(64, scale_base=scale_base), HALF).item()


def _reach(scale_base: float) -> Seen:
    """The share of all pairs' sizes that is left, and where it is one half."""
    encoding, distance = xpos(64, scale_base=scale_base), reach(scale_base)
    shares = envelope(encoding, _DOUBLINGS) / PAIRS
    at_half, near = (envelope(encoding, [distance, 10.0]) / PAIRS).tolist()
    numbers = {"scale_base": scale_base, "reach": distance}
    numbers |= {"close": 10.0, "near": near}
    shown = Lines(
        _DOUBLINGS.numpy(),
        {"left": shares.numpy()},
        {"mark": (distance, at_half)},
        logarithmic=True,
        limits=(0.0, 1.05),
    )
    return Seen(shown, numbers)


def apart(scale_base: float) -> Tensor:
    """How far the curves g of XPos and RoPE are apart for a B."""
    return decay_curve(ROPE, LAGS).dist(decay_curve(xpos(64, scale_base=scale_base), LAGS), inf)


def _limit(scale_base: float) -> Seen:
    """The curve of XPos and that of RoPE."""
    fading, steady = decay_curve(xpos(64, scale_base=scale_base), LAGS), decay_curve(ROPE, LAGS)
    numbers = {"scale_base": scale_base, "apart": float(apart(scale_base))}
    numbers |= {"end": float(LAGS[-1]), "fading": float(fading[-1]), "steady": float(steady[-1])}
    lines = {"xpos": fading.numpy(), "rope": steady.numpy()}
    return Seen(Lines(LAGS.numpy(), lines, limits=(-4.0, PAIRS + 1.0)), numbers)


FADING = Chapter(
    "fading",
    (
        Step(
            "halves",
            right="a",
            control=Control(_DISTANCES, 512.0),
            see=_halves,
            formula=r"\role{0}{\zeta_i^{\Delta/B}}=\role{1}{\tfrac12}"
            r"\quad\Leftrightarrow\quad\Delta=h_i=-B\,\frac{\ln\,2}{\ln\zeta_i}",
            line=kept,
            parts=(lag_response, half_life),
            families=("xpos",),
        ),
        Step(
            "gamma",
            right="c",
            control=Control(_GAMMAS, 2.0),
            see=_gamma,
            formula=r"\role{0}{h_i}=-B\,\frac{\ln\,2}{\ln\zeta_i},"
            r"\qquad\zeta_i=\frac{2i/d+\gamma}{1+\gamma}",
            line=lives,
            parts=(half_life, xpos),
            families=("xpos",),
        ),
        Step(
            "reach",
            right="b",
            control=Control(_BASES, 512.0),
            see=_reach,
            formula=r"\role{0}{\frac{2}{d}\sum_i\zeta_i^{\Delta/B}}=\tfrac12"
            r"\quad\Leftrightarrow\quad\Delta=c\,B",
            line=reach,
            parts=(envelope, envelope_reach),
            families=("xpos",),
        ),
        Step(
            "limit",
            right="c",
            control=Control(_ENDLESS, 512.0),
            see=_limit,
            formula=r"\role{0}{g[\Delta]}=\sum_i\zeta_i^{\Delta/B}\cos\Delta\theta_i"
            r"\;\longrightarrow\;\role{1}{\sum_i\cos\Delta\theta_i}\quad(B\to\infty)",
            line=apart,
            parts=(decay_curve,),
        ),
    ),
)

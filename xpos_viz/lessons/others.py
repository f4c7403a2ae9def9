r"""Other ways and open questions: ALiBi, stretched angles, what decay is for, which γ and B."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from xpos_viz.attention import attention_logits
from xpos_viz.curves import decay_curve, envelope, envelope_reach, expectation_resolution
from xpos_viz.encoding import Encoding, alibi, decay, interpolation, rope, xpos, yarn
from xpos_viz.kernel import apply_encoding, attention_scores
from xpos_viz.lessons.model import Chapter, Control, Lines, Numbers, Seen, Step

_LAGS = torch.arange(1025, dtype=torch.float64)
ONES = torch.ones(1, 64, dtype=torch.float64)


def scores_of(key: Tensor, encoding: Encoding) -> Tensor:
    """Scores of a key at 0 with queries, all of whose numbers are one, at each lag."""
    queries = ONES.expand(len(_LAGS), -1)
    return attention_scores(queries, key, encoding, query_positions=_LAGS, key_positions=[0])[:, 0]


# -- to multiply, or to subtract

ALIBI, DECAY = alibi(64), decay(64)


def logits_over_lags(content: float, encoding: Encoding) -> Tensor:
    """Logits of a key at 0, all of whose numbers are alike, with queries at each lag."""
    scores = scores_of(content / 8 * ONES, encoding)[:, None]
    return attention_logits(scores, encoding, query_positions=_LAGS, key_positions=[0])[:, 0]


def multiplied(content: float) -> Tensor:
    """Logits of a key that fits so well, as XPos lets them fade, without its rotation."""
    return logits_over_lags(content, DECAY)


def _subtract(content: float) -> Seen:
    """What distance leaves of a logit that is multiplied, or from which is subtracted."""
    lines: dict[str, Numbers] = {
        "multiplied": multiplied(content).numpy(),
        "subtracted": logits_over_lags(content, ALIBI).numpy(),
    }
    numbers = {"content": content, "lag": float(_LAGS[-1]), "slope": float(ALIBI["slope"])}
    numbers |= {name: float(line[-1]) for name, line in lines.items()}
    return Seen(Lines(_LAGS.numpy(), lines, limits=(-8.5, 4.5)), numbers)


# -- to stretch angles

_PAIRS = np.arange(32, dtype=np.float64)


def slowed(factor: float) -> Tensor:
    """How fast each pair turns with YaRN, as a share of RoPE."""
    return yarn(64, factor=factor).theta / rope(64).theta


def _stretch(factor: float) -> Seen:
    """How fast each pair turns with each way to stretch angles."""
    even = interpolation(64, factor=factor)
    kept = slowed(factor)
    lines = {
        "rope": np.ones(len(_PAIRS)),
        "interpolation": (even.theta / rope(64).theta).numpy(),
        "yarn": kept.numpy(),
    }
    numbers = {"factor": factor, "share": 1 / factor, "pairs": len(_PAIRS)}
    numbers |= {"kept": int((kept > 0.99).sum()), "slowest": float(kept[-1])}
    for name, encoding in (("rope", rope(64)), ("even", even), ("yarn", yarn(64, factor=factor))):
        near = decay_curve(encoding, [0, 1])
        numbers[f"{name}_step"] = float(near[0] - near[1])
    return Seen(Lines(_PAIRS, lines, limits=(0.0, 1.1)), numbers)


# -- a key that fits at a distance


def fitting(lag: float) -> Tensor:
    """A key that fits the queries at this distance: it was turned ahead by as much."""
    return apply_encoding(ONES, ONES, rope(64), query_positions=[lag], key_positions=[0])[0]


def _fit(lag: float) -> Seen:
    """Where scores of that key are largest, with and without decay."""
    key = fitting(lag)
    lines = {"rope": scores_of(key, rope(64)).numpy(), "xpos": scores_of(key, xpos(64)).numpy()}
    numbers = {"lag": lag, "left": float(envelope(xpos(64), lag) / envelope(xpos(64), 0))}
    marks: dict[str, tuple[float, float]] = {}
    for name, line in lines.items():
        place = int(line.argmax())
        marks[name] = (place, float(line[place]))
        numbers |= {f"{name}_at": place, f"{name}_most": marks[name][1]}
    return Seen(Lines(_LAGS.numpy(), lines, marks, limits=(-25.0, 72.0)), numbers)


# -- which γ and B

FAR = 1024
_BASES = tuple(2.0 ** (power / 2) for power in range(10, 27))
SLOW = 2.0**20  # tokens; reaches are whole, and so large ones are exact enough


def half_base(gamma: float) -> Tensor:
    """B with which half of the envelope is left at the far distance."""
    return FAR * SLOW / envelope_reach(xpos(64, gamma=gamma, scale_base=SLOW))


def near(encoding: Encoding) -> Tensor:
    """Resolution of g/√d over that of RoPE."""
    return _resolution(encoding) / _resolution(rope(64))


@cache
def _resolution(encoding: Encoding) -> Tensor:
    """Resolution of g/√d."""
    return expectation_resolution(encoding, tokens=FAR, normalisation="sqrt_d")


def far(encoding: Encoding) -> Tensor:
    """What is left of the envelope at the far distance."""
    return envelope(encoding, FAR) / envelope(encoding, 0)


def _choose(gamma: float) -> Seen:
    """What is gained near and lost far with each B."""
    heads = xpos(64, gamma=gamma, scale_base=_BASES)
    base = float(half_base(gamma))
    half = xpos(64, gamma=gamma, scale_base=base)
    numbers = {"gamma": gamma, "base": base, "near": float(near(half)), "left": float(far(half))}
    numbers["lag"] = FAR
    lines = {"near": near(heads).numpy(), "far": far(heads).numpy()}
    marks = {"near": (base, numbers["near"]), "far": (base, numbers["left"])}
    shown = Lines(np.array(_BASES), lines, marks, logarithmic=True, limits=(0.0, 3.5))
    return Seen(shown, numbers)


OTHERS = Chapter(
    "others",
    (
        Step(
            "subtract",
            right="b",
            control=Control((-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0), -4.0),
            see=_subtract,
            formula=r"\role{0}{\ell\cdot\frac{2}{d}\sum_i\zeta_i^{\Delta/B}},\qquad"
            r"\role{1}{\ell-\mathrm{slope}\cdot\Delta}",
            line=multiplied,
            parts=(decay, alibi, attention_logits),
            families=("decay", "alibi"),
        ),
        Step(
            "stretch",
            right="b",
            control=Control((1.0, 2.0, 4.0, 8.0, 16.0), 4.0),
            see=_stretch,
            formula=r"\role{1}{\theta_i/s},\qquad"
            r"\role{2}{(1-\rho_i)\,\theta_i/s+\rho_i\,\theta_i}",
            line=slowed,
            parts=(interpolation, yarn),
            families=("rope", "interpolation", "yarn"),
        ),
        Step(
            "fit",
            right="a",
            control=Control((0.0, 10.0, 100.0, 300.0, 600.0, 1000.0), 300.0),
            see=_fit,
            formula=r"k=e^{\mathrm{i}r\theta},\qquad"
            r"\role{0}{2\sum_i\cos\theta_i(\Delta-r)},\qquad"
            r"\role{1}{2\sum_i\zeta_i^{\Delta/B}\cos\theta_i(\Delta-r)}",
            line=fitting,
            parts=(apply_encoding, attention_scores),
        ),
        Step(
            "choose",
            right="c",
            control=Control((0.1, 0.2, 0.4, 1.0, 2.0, 4.0), 0.4),
            see=_choose,
            formula=r"\role{0}{\frac{R(g_\mathrm{XPos}/\sqrt d)}{R(g_\mathrm{RoPE}/\sqrt d)}},"
            r"\qquad\role{1}{\frac{2}{d}\sum_i\zeta_i^{\Delta/B}}",
            line=half_base,
            parts=(envelope_reach, expectation_resolution),
        ),
    ),
)

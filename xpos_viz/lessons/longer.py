r"""Longer than trained: resolution, blocks of keys, what the paper reports, and what it costs."""

import sys
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from timeit import timeit

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from xpos_viz.attention import visible_keys
from xpos_viz.curves import decay_curve, lag_counts, resolution
from xpos_viz.encoding import rope, xpos
from xpos_viz.lessons.model import Chapter, Control, Heights, Lines, Matrix, Numbers, Seen, Step
from xpos_viz.module import RotaryXPos
from xpos_viz.one_core import one_core

# -- resolution

XPOS = xpos(64)
G = {
    name: decay_curve(encoding, range(1025))
    for name, encoding in (("rope", rope(64)), ("xpos", XPOS))
}
_DIVISORS = torch.logspace(-2, 6, 65, base=2.0, dtype=torch.float64)


def gained(divisor: float | Tensor) -> Tensor:
    """Resolution of XPos over that of RoPE, once scores are divided."""
    return resolution(G["xpos"] / divisor) / resolution(G["rope"] / divisor)


def _divided(divisor: float) -> Seen:
    """How many times RoPE's resolution XPos has, over what scores are divided by."""
    gain = gained(_DIVISORS[:, None])
    here = float(gained(divisor))
    numbers = {"divisor": divisor, "gain": here}
    numbers |= {"gamma": XPOS["gamma"], "scale_base": XPOS["scale_base"]}
    numbers |= {name: float(resolution(curve / divisor)) for name, curve in G.items()}
    lines = {"ratio": gain.numpy(), "even": np.ones(len(gain))}
    marks = {"ratio": (divisor, here)}
    shown = Lines(_DIVISORS.numpy(), lines, marks, logarithmic=True, limits=(0.8, 1.4))
    return Seen(shown, numbers)


# -- blocks

_TRAINED, READ = 8, 16
_PLACES = torch.arange(READ, dtype=torch.float64)


def farthest(size: int) -> Tensor:
    """The largest distance that is seen with blocks of this size."""
    return lag_counts(f"blockwise:{size}", READ)[0].max()


def _blocks(size: int) -> Seen:
    """The distance of each key that is seen."""
    seen = visible_keys(f"blockwise:{size}", _PLACES, _PLACES)
    lags = torch.where(seen, _PLACES[:, None] - _PLACES, torch.nan)
    far = float(farthest(size))
    numbers = {"size": size, "far": far, "trained": _TRAINED}
    numbers |= {"read": READ, "last": READ - 1, "keys": int(seen[-1].sum())}
    numbers["new"] = int((lags >= _TRAINED).sum())
    return Seen(Matrix(lags.numpy(), READ - 1, "sequential", decimals=0), numbers)


# -- what the paper reports: Sun et al. 2022, arXiv:2212.10554

_BOUND = float(resolution(-50.0 * torch.arange(64)))  # each distance e⁵⁰ times the next

LENGTHS: Mapping[str, tuple[int, ...]] = {
    "perplexity": (256, 512, 1024, 2048, 4096),
    "resolved": (1024, 2048),
    "parts": (2048, 4096),
}
"""Lengths of the texts in each table, tokens; all models were trained at 1,024."""

_ROPE = (38.09, 30.38, 25.52, 73.6, 294.45)

PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "perplexity": {  # table 2
        "absolute": (46.34, 36.39, 29.94, 132.63, 1283.79),
        "alibi": (37.66, 29.92, 24.99, 23.14, 24.26),
        "rope": _ROPE,
        "lex": (34.3, 27.55, 23.31, 21.6, 20.73),
    },
    "resolved": {  # table 3
        "absolute": (0.87, 0.28),
        "alibi": (0.81, 0.88),
        "rope": (0.91, 0.08),
        "lex": (0.98, 1.08),
        "without": (0.98, 0.54),
    },
    "parts": {  # table 5
        "rope": (73.6, 294.45),
        "rope_blocks": (25.57, 25.65),
        "xpos": (22.56, 28.43),
        "lex": (21.6, 20.73),
    },
}
"""The numbers of each method, by table."""

_READ_OFF: Mapping[str, Mapping[str, float | str]] = {
    "perplexity": {
        "table": "perplexity_read",
        "one": _ROPE[2],
        "other": _ROPE[-1],
        "so": "perplexity_so",
    },
    "resolved": {
        "table": "resolved_read",
        "one": PAPER["resolved"]["lex"][-1],
        "other": _BOUND,
        "so": "resolved_so",
    },
    "parts": {
        "table": "parts_read",
        "one": _ROPE[-1],
        "other": PAPER["parts"]["rope_blocks"][-1],
        "so": "parts_so",
    },
}
"""What to look at in each table, and what that says."""

_MARKED = {"perplexity": "rope", "resolved": "lex", "parts": "rope_blocks"}


def rows(table: str) -> Tensor:
    """The numbers of a table, a row for each method."""
    return torch.tensor([*PAPER[table].values()])


def _tables(table: str) -> Seen:
    """A table of the paper as curves, and what does not fit in it."""
    lines: dict[str, Numbers] = {name: np.array(row) for name, row in PAPER[table].items()}
    if table == "resolved":
        lines["bound"] = np.full(len(LENGTHS[table]), _BOUND)
    x = np.array(LENGTHS[table], np.float64)
    method = _MARKED[table]
    marks = {method: (x[-1], PAPER[table][method][-1])}
    shown = Lines(x, lines, marks, logarithmic=True, logarithmic_y=table != "resolved")
    return Seen(shown, _READ_OFF[table])


# -- cost

_BUDGET, _LEAST = 0.1, 5  # seconds, in which a measurement is repeated, and at least how often
_CLOCK = time.perf_counter if sys.platform == "win32" else time.thread_time
"""What other programs do takes no time of a thread; Windows counts that by 16 milliseconds."""

_PAPER_COST = 6  # percent more than absolute positions; Sun et al. 2022
VECTORS = torch.randn(3, 1, 4, 1024, 64, generator=torch.Generator().manual_seed(0))
_TURNS: Mapping[str, Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "plain": lambda q, k: (q, k),
    "rope": RotaryXPos(rope(64)),
    "xpos": RotaryXPos(xpos(64)),
}


@torch.inference_mode()
def attend(name: str, tokens: int) -> Tensor:
    """Causal attention of four heads, whose queries and keys are turned before or not."""
    q, k, v = VECTORS[..., :tokens, :]
    return scaled_dot_product_attention(*_TURNS[name](q, k), v, is_causal=True)


def timed(name: str, tokens: int) -> float:
    """How long attention takes one core, this once, in seconds."""
    with one_core():
        return timeit(partial(attend, name, tokens), timer=_CLOCK, number=1)


def seconds(tokens: int) -> float:
    """The shortest of some times that attention with XPos takes."""
    return min(timed("xpos", tokens) for _ in range(9))


@lru_cache(maxsize=8)
def measured(tokens: int, _minute: int) -> Mapping[str, float]:
    """The shortest of some measurements of each, taken in turn, in seconds."""
    stop, rounds = time.perf_counter() + _BUDGET, list[dict[str, float]]()
    while len(rounds) < _LEAST or time.perf_counter() < stop:
        rounds.append({name: timed(name, tokens) for name in _TURNS})
    return {name: min(each[name] for each in rounds) for name in _TURNS}


def _cost(tokens: int) -> Seen:
    """How long attention takes here, within this minute."""
    took = measured(tokens, int(time.monotonic() // 60))
    numbers = {name: 1000 * each for name, each in took.items()}
    numbers |= {"tokens": tokens, "paper": _PAPER_COST}
    numbers |= {
        "over_plain": took["xpos"] / took["plain"],
        "over_rope": took["xpos"] / took["rope"],
    }
    series = {name: np.array([1000 * each]) for name, each in took.items()}
    return Seen(Heights((f"{tokens:,}",), series), numbers)


LONGER = Chapter(
    "longer",
    (
        Step(
            "divided",
            right="a",
            control=Control((0.25, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0), 8.0),
            see=_divided,
            formula=r"R(s)=\frac{\sum_i e^{s_i}(e^{s_i}-e^{s_{i+1}})}{(\sum_i e^{s_i})^2},\qquad"
            r"\role{0}{\frac{R(g_\mathrm{XPos}/c)}{R(g_\mathrm{RoPE}/c)}}",
            line=gained,
            parts=(resolution, decay_curve),
        ),
        Step(
            "blocks",
            right="b",
            control=Control((2, 4, 8, 16), 4),
            see=_blocks,
            formula=r"(\lfloor m/b\rfloor-1)\,b\le n\le m",
            line=farthest,
            parts=(visible_keys, lag_counts),
            families=("xpos",),
        ),
        Step(
            "tables",
            right="c",
            control=Control(tuple(PAPER), "perplexity"),
            see=_tables,
            formula=r"\mathrm{PPL}=e^{-\frac1T\sum_t\ln p_t},\qquad"
            r"\role{3}{\mathrm{LeX}}=\mathrm{XPos}+\mathrm{BCA}",
            line=rows,
            parts=(resolution,),
        ),
        Step(
            "cost",
            right="a",
            control=Control((64, 128, 256, 512, 1024), 64),
            see=_cost,
            formula=r"\role{0}{q\,\overline{k}},\qquad\role{1}{q\,e^{\mathrm{i}\theta m}},\qquad"
            r"\role{2}{q\,e^{(\mathrm{i}\theta+\ln\zeta/B)\,m}}",
            line=seconds,
            parts=(timed, attend, RotaryXPos),
            measured=True,
        ),
    ),
)

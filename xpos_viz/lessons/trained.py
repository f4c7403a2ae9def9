r"""Beyond what was learned: trained models, what they lose in longer texts, and what follows.

All numbers are those that come with the lab (:mod:`xpos_viz.lab.bundle`).
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from xpos_viz.curves import resolution
from xpos_viz.lab import SETTINGS, contenders, paired_excess, reading, windowed
from xpos_viz.lab.bundle import results
from xpos_viz.lab.results import PIECES, lengths, masks, mean_logits, near
from xpos_viz.lessons.model import Chapter, Control, Heights, Lines, Seen, Step

SETTING = SETTINGS["main"]
ENCODINGS = tuple(contenders(SETTING))
(WHOLE, BLOCKS), NEAR = masks(SETTING), near(SETTING)
"""A query sees all that was before, or two blocks, or a window as long as texts of the training."""

_SEEN = {"whole": WHOLE, "near": NEAR}

LENGTHS = lengths(SETTING)[2:]
"""Bytes of the texts that are longer than those of the training: 2 L, 4 L, …"""


@cache
def found(encoding: str, measure: str, mask: str = WHOLE) -> Tensor:
    """What was measured of the models with an encoding, (seeds, places or lengths)."""
    rows = results(SETTING.name)
    of = (rows["encoding"] == encoding) & (rows["measure"] == measure) & (rows["mask"] == mask)
    over = "place" if measure in {"place", "logit"} else "length"
    return torch.tensor(rows[of].pivot(index="seed", columns=over, values="value").to_numpy())


def pooled(pieces: Tensor) -> Tensor:
    """Means of the pieces that one point of a curve is of: the farther on, the more they are."""
    return torch.stack([part.mean(-1) for part in pieces.split(_POINTS, -1)], -1)


_POINTS = (1,) * 16 + (2,) * 8 + (4,) * 8 + (8,) * 8
PLACES = pooled((torch.arange(PIECES, dtype=torch.float64) + 0.5) * SETTING.longest / PIECES)


def costs(encoding: str, mask: str) -> Tensor:
    """Bits per byte by the place in the longest texts, the mean over seeds."""
    return pooled(found(encoding, "place", mask)).mean(0)


@cache
def _limits() -> tuple[float, float]:
    """Around all costs, so that pictures can be compared."""
    every = torch.stack([costs(name, mask) for name in ENCODINGS for mask in (WHOLE, BLOCKS)])
    return 0.97 * float(every.min()), 1.03 * float(every.max())


# -- beyond the training length


def read_whole(encoding: str) -> Tensor:
    """Bits per byte by the place, with all bytes before."""
    return costs(encoding, WHOLE)


def _beyond(encoding: str) -> Seen:
    """What bytes cost by their place, with all that was before them, and in windows of L."""
    lines = {name: costs(encoding, mask).numpy() for name, mask in _SEEN.items()}
    late = {name: found(encoding, "place", mask)[:, PIECES // 2 :] for name, mask in _SEEN.items()}
    seeds, x = late["whole"].mean(-1), PLACES.numpy()
    numbers: dict[str, float | str] = {"name": encoding, "length": SETTING.length}
    numbers |= {"seeds": len(seeds), "least": float(seeds.min()), "most": float(seeds.max())}
    numbers |= {"learned": float(lines["whole"][x < SETTING.length].mean())}
    numbers |= {name: float(each.mean()) for name, each in late.items()}
    edge = float(np.interp(SETTING.length, x, lines["whole"]))
    marks = {"edge": (SETTING.length, edge)}
    return Seen(Lines(x, lines, marks, logarithmic=True, limits=_limits()), numbers)


# -- means and pairs

_ENDS = [PIECES * length // SETTING.longest for length in (SETTING.length, *LENGTHS)]


def gains(encoding: str) -> Tensor:
    """What the mean byte of longer texts costs more than in texts as in training, each seed."""
    bits = found(encoding, "mean")
    return bits[:, 2:] - bits[:, 1:2]


def excess(encoding: str, mask: str = WHOLE) -> Tensor:
    """What a byte beyond L costs more than in a window of L, each seed.

    The first bytes of the longest texts are shorter texts.
    """
    pairs = found(encoding, "place", mask) - found(encoding, "place", NEAR)
    first, *ends = _ENDS
    return torch.stack([pairs[:, first:end].mean(-1) for end in ends], -1)


def lost(encoding: str) -> Tensor:
    """The same, the mean over seeds."""
    return excess(encoding).mean(0)


def _averaged(encoding: str) -> Seen:
    """What both say of longer texts."""
    plain, paired = gains(encoding).mean(0), lost(encoding)
    twice = excess(encoding)[:, 0]
    numbers: dict[str, float | str] = {"name": encoding, "length": LENGTHS[0]}
    numbers |= {"seeds": len(twice), "least": float(twice.min()), "most": float(twice.max())}
    numbers |= {"longest": SETTING.longest}
    for name, each in (("plain", plain), ("paired", paired)):
        numbers |= {name: float(each[0]), f"far_{name}": float(each[-1])}
    series = {"plain": plain.numpy(), "paired": paired.numpy()}
    return Seen(Heights(tuple(f"{length:,}" for length in LENGTHS), series), numbers)


# -- blocks

MASKS = {"off": WHOLE, "on": BLOCKS}


def beyond(blocks: str) -> Tensor:
    """What bytes beyond L cost more in the longest texts, a number for each encoding."""
    return torch.stack([excess(name, MASKS[blocks])[:, -1].mean() for name in ENCODINGS])


def _kept_near(blocks: str) -> Seen:
    """What bytes cost by their place with each encoding, with and without blocks."""
    lines = {name: costs(name, MASKS[blocks]).numpy() for name in ENCODINGS}
    more = zip(ENCODINGS, beyond(blocks).tolist(), strict=True)
    numbers = {f"{name}_more": value for name, value in more}
    numbers |= {"longest": float(SETTING.longest)}
    for name in ("rope", "xpos_half"):
        bits = found(name, "mean", MASKS[blocks])[:, -1]
        numbers |= {f"{name}_least": float(bits.min()), f"{name}_most": float(bits.max())}
        numbers |= {"seeds": len(bits)}
    shown = Lines(PLACES.numpy(), lines, logarithmic=True, limits=_limits())
    return Seen(shown, numbers)


# -- resolution


def over_rope(values: Tensor) -> Tensor:
    """What each encoding has, as a multiple of what RoPE has."""
    return values / values[ENCODINGS.index("rope")]


@cache
def resolutions() -> Tensor:
    """Resolution of the mean logits, (encodings, lengths), the mean over seeds."""
    return torch.stack([found(name, "resolution").mean(0)[2:] for name in ENCODINGS])


@cache
def _excesses() -> Tensor:
    """What bytes beyond L cost more, (encodings, lengths), the mean over seeds."""
    return torch.stack([lost(name) for name in ENCODINGS])


def compared(length: int) -> Tensor:
    """Resolution of each encoding at a length, as a multiple of that of RoPE."""
    return over_rope(resolutions())[:, LENGTHS.index(length)]


def _resolving(length: int) -> Seen:
    """Resolution beside what is lost, both as multiples of those of RoPE."""
    at = LENGTHS.index(length)
    both = torch.stack([over_rope(resolutions()), over_rope(_excesses())], -1)
    numbers = {"length": length, "trained": SETTING.length}
    for name, (resolved, missed) in zip(ENCODINGS, both[:, at].tolist(), strict=True):
        numbers |= {f"{name}_resolution": resolved, f"{name}_excess": missed}
    series = {name: each.numpy() for name, each in zip(ENCODINGS, both[:, at], strict=True)}
    top = 1.05 * float(both.max())
    bottom = min(0.0, 1.05 * float(both.min()))
    return Seen(Heights(("R", "E"), series, (bottom, top)), numbers)


TRAINED = Chapter(
    "trained",
    (
        Step(
            "beyond",
            right="c",
            control=Control(ENCODINGS, "rope"),
            see=_beyond,
            formula=r"b_t=-\log_2 p_t,\qquad\role{0}{n\le m},\qquad"
            r"\role{1}{\left(\left\lfloor\tfrac{2m}L\right\rfloor-1\right)\tfrac L2\le n\le m}",
            line=read_whole,
            parts=(costs, pooled, found, reading, windowed),
            families=("rope", "xpos", "alibi", "nope"),
        ),
        Step(
            "averaged",
            right="b",
            control=Control(ENCODINGS, "xpos_half"),
            see=_averaged,
            formula=r"\role{0}{\frac1N\sum_{t\le N}b_t-\frac1L\sum_{t\le L}b_t},\qquad"
            r"\role{1}{\frac1{N-L}\sum_{L<t\le N}\left(b_t-b_t^{\,\mathrm{near}}\right)}",
            line=lost,
            parts=(excess, found, paired_excess),
            families=("rope", "xpos", "alibi", "nope"),
        ),
        Step(
            "kept_near",
            right="a",
            control=Control(tuple(MASKS), "off"),
            see=_kept_near,
            formula=r"(\lfloor m/b\rfloor-1)\,b\le n\le m,\quad b=\frac L2,\qquad"
            r"\role{0}{e^{\mathrm{i}\theta\Delta}},\qquad"
            r"\role{1}{e^{\mathrm{i}\theta\Delta}\,\zeta^{2\Delta/L}}",
            line=beyond,
            parts=(excess, found, reading),
            families=("rope", "xpos", "alibi", "nope"),
        ),
        Step(
            "resolving",
            right="b",
            control=Control(LENGTHS, LENGTHS[0]),
            see=_resolving,
            formula=r"\frac{R(\role{1}{\bar\ell})}{R(\role{0}{\bar\ell})},\qquad"
            r"\frac{\role{1}{E}}{\role{0}{E}},\qquad"
            r"E=\frac1{N-L}\sum_{L<t\le N}\left(b_t-b_t^{\,\mathrm{near}}\right)",
            line=compared,
            parts=(resolutions, mean_logits, resolution),
            families=("rope", "xpos", "alibi", "nope"),
        ),
    ),
)

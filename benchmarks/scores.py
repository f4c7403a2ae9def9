"""Scores with RoPE and XPos against the bare product q @ k.mT, ours and others', in one process.

All of them take turns: a round calls each once, in an order drawn anew, and each time is
divided by that of the bare product of the same round. The bare product runs twice in a round;
how far its second time is from its first is what this machine cannot tell apart (the control).
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from itertools import product
from types import ModuleType

import torch
from torch import Tensor

from benchmarks.report import quartiles, spread, table, verdict
from xpos_viz import Encoding, attention_scores, rope, xpos

HEADS, HEAD_DIM = 8, 64
LENGTHS = (2048, 4096)
AGREEMENT = 1e-3
"""Largest difference of a causal score at which two implementations compute the same thing."""

AGREEMENT_LENGTH = 1024
"""Tokens at which that is tested; beyond, angles in float32 (the others') drift apart."""

GOAL = 1.15
"""Time of our scores over that of the bare product, at most, at the first length."""

WARM_UP = 3  # rounds whose times are thrown away
_BARE, _CONTROL, _OURS = "q @ k.mT", "q @ k.mT again (control)", "xpos_viz"

Scores = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Contender:
    """A way from q and k, (1, heads, tokens, d), to scores (…, heads, tokens, tokens)."""

    encoding: str
    name: str
    scores: Scores

    @property
    def label(self) -> str:
        """Encoding and name."""
        return f"{self.encoding}: {self.name}" if self.encoding else self.name


@dataclass(frozen=True)
class Setting:
    """What one column of the table was measured with."""

    tokens: int
    threads: int

    def __str__(self) -> str:
        return f"{self.tokens} tokens, {self.threads} thread{'s' * (self.threads > 1)}"


Times = dict[Contender, list[float]]


def measure(rounds: int = 25) -> list[str]:
    """Measure every setting, and return the lines of the result."""
    every = contenders()
    differences = check(every)
    default = torch.get_num_threads()
    results: dict[Setting, Times] = {}
    for tokens, threads in product(LENGTHS, sorted({default, 1}, reverse=True)):
        setting = Setting(tokens, threads)
        print(f"scores: {setting} …", flush=True)
        torch.set_num_threads(threads)
        results[setting] = take_turns(every, tokens, rounds)
    torch.set_num_threads(default)
    method = (
        f"{HEADS} heads, d = {HEAD_DIM}, float32, {rounds} rounds: time over that of the bare "
        "product of the same round, median (quartiles)."
    )
    agreement = (
        f"- Largest difference of a causal score from ours at {AGREEMENT_LENGTH} tokens, allowed "
        f"{AGREEMENT:g}: {', '.join(f'{name} {error:.1e}' for name, error in differences.items())}."
    )
    return [
        method,
        "",
        *table(["", *map(str, results)], _rows(every, results)),
        "",
        *_goals(every, results),
        agreement,
    ]


def contenders() -> list[Contender]:
    """Return the bare product, twice, then all that encode, ours first of each encoding."""
    return [
        Contender("", _BARE, bare),
        Contender("", _CONTROL, bare),
        Contender("RoPE", _OURS, ours(rope(HEAD_DIM))),
        Contender("RoPE", *rotary_embedding_torch(use_xpos=False)),
        Contender("RoPE", *x_transformers(use_xpos=False)),
        Contender("XPos", _OURS, ours(xpos(HEAD_DIM))),
        Contender("XPos", *torchscale()),
        Contender("XPos", *rotary_embedding_torch(use_xpos=True)),
        Contender("XPos", *x_transformers(use_xpos=True)),
    ]


def bare(q: Tensor, k: Tensor) -> Tensor:
    """Scores without positions."""
    return q @ k.mT


def ours(encoding: Encoding) -> Scores:
    """Scores as this package gives them, tables made on every call."""
    return lambda q, k: attention_scores(q, k, encoding)


def torchscale() -> tuple[str, Scores]:
    """Scores as in torchscale's MultiheadAttention, which makes its tables on every call."""
    module = peer("torchscale", "torchscale.component.xpos_relative_position")
    encode = module.XPOS(HEAD_DIM)

    def scores(q: Tensor, k: Tensor) -> Tensor:
        q, k = q.flatten(0, 1), k.flatten(0, 1)
        turned_k = encode(k, offset=0, downscale=True)
        turned_q = encode(q, offset=0, downscale=False)
        return torch.bmm(turned_q, turned_k.transpose(1, 2))

    return _named("torchscale"), scores


def rotary_embedding_torch(*, use_xpos: bool) -> tuple[str, Scores]:
    """Scores as its README writes them; it keeps angles and scales between calls."""
    module = peer("rotary-embedding-torch", "rotary_embedding_torch")
    rotary = module.RotaryEmbedding(HEAD_DIM, use_xpos=use_xpos)

    def scores(q: Tensor, k: Tensor) -> Tensor:
        if use_xpos:
            q, k = rotary.rotate_queries_and_keys(q, k)
        else:
            q, k = rotary.rotate_queries_or_keys(q), rotary.rotate_queries_or_keys(k)
        return q @ k.mT

    return _named("rotary-embedding-torch"), scores


def x_transformers(*, use_xpos: bool) -> tuple[str, Scores]:
    """Scores as in its AttentionLayers and Attention: angles and scales, then both vectors.

    There, all layers of one forward pass share the angles and scales; one layer is measured.
    """
    module = peer("x-transformers", "x_transformers.x_transformers")
    rotary = module.RotaryEmbedding(HEAD_DIM, use_xpos=use_xpos)

    def scores(q: Tensor, k: Tensor) -> Tensor:
        angles, scale = rotary(torch.arange(q.shape[-2]))
        turned_q = module.apply_rotary_pos_emb(q, angles, scale)
        turned_k = module.apply_rotary_pos_emb(k, angles, scale**-1.0)
        return turned_q @ turned_k.mT

    return _named("x-transformers"), scores


def check(every: list[Contender]) -> dict[str, float]:
    """Return each one's largest causal difference from ours, or raise if that is too much."""
    q, k = vectors(AGREEMENT_LENGTH)
    mine = {c.encoding: c.scores(q, k) for c in every if c.name == _OURS}
    differences = {
        c.label: float((c.scores(q, k) - mine[c.encoding]).tril().abs().max())
        for c in every
        if c.encoding and c.name != _OURS
    }
    for label, difference in differences.items():
        if not difference <= AGREEMENT:
            raise RuntimeError(
                f"{label} must agree with xpos_viz to {AGREEMENT}, got {difference:.3g}; "
                "the same thing has to be timed, so mend its call here."
            )
    return differences


def vectors(tokens: int) -> tuple[Tensor, Tensor]:
    """Return seeded normal queries and keys, (1, heads, tokens, d)."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 1, HEADS, tokens, HEAD_DIM, generator=generator).unbind()
    return q, k


def take_turns(every: list[Contender], tokens: int, rounds: int) -> Times:
    """Return the times of each contender, seconds, one per round."""
    q, k = vectors(tokens)
    times: Times = {contender: [] for contender in every}
    shuffle = random.Random(0).shuffle
    for _ in range(WARM_UP + rounds):
        order = list(every)
        shuffle(order)
        for contender in order:
            start = time.perf_counter()
            scores = contender.scores(q, k)
            times[contender].append(time.perf_counter() - start)
            del scores  # its memory is free before the next one's turn
    return {contender: series[WARM_UP:] for contender, series in times.items()}


def ratios(times: Times, contender: Contender) -> list[float]:
    """Return a contender's times over those of the bare product, round by round."""
    reference = next(series for c, series in times.items() if c.name == _BARE)
    return [mine / its for mine, its in zip(times[contender], reference, strict=True)]


def _rows(every: list[Contender], results: dict[Setting, Times]) -> list[list[str]]:
    """A row of ratios per contender; of the bare product its milliseconds."""
    rows = [
        [contender.label, *(spread(ratios(times, contender)) for times in results.values())]
        for contender in every[1:]
    ]
    milliseconds = [f"{1000 * quartiles(times[every[0]])[1]:.0f} ms" for times in results.values()]
    return [[every[0].label, *milliseconds], *rows]


def _goals(every: list[Contender], results: dict[Setting, Times]) -> list[str]:
    """A line per goal: near the bare product, and behind nobody."""
    lines = []
    for setting, times in results.items():
        if setting.tokens == LENGTHS[0]:
            worst = max(quartiles(ratios(times, c))[1] for c in every if c.name == _OURS)
            lines.append(
                f"- {setting}: ours at most {worst:.3f} × the bare product, "
                f"goal {GOAL}: {verdict(worst <= GOAL)}."
            )
    for setting, times in results.items():
        first, _, third = quartiles(ratios(times, every[1]))
        lead, label = max((_lead(times, c), c.label) for c in every if c.encoding)
        lines.append(
            f"- {setting}: largest lead over ours {max(lead, 0.0):.3f}"
            + (f" ({label})" if lead > 0 else "")
            + f", the control's spread {third - first:.3f} (× the bare product): "
            f"{verdict(lead <= third - first)}."
        )
    return lines


def _lead(times: Times, contender: Contender) -> float:
    """Median over the rounds of our ratio less a contender's, in the same encoding."""
    mine = next(c for c in times if (c.encoding, c.name) == (contender.encoding, _OURS))
    pairs = zip(ratios(times, mine), ratios(times, contender), strict=True)
    return quartiles([a - b for a, b in pairs])[1]


def _named(package: str) -> str:
    """A package with its version."""
    return f"{package} {version(package)}"


def peer(package: str, module: str) -> ModuleType:
    """Import another implementation; types are checked without it, so by name."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SystemExit(f"{package} cannot be imported ({error}); use `make bench`.") from error

"""Maps of any length: time, memory and growth of the mean map, and tiles against bare products.

The mean map of a million tokens is measured in a process of its own, whose largest resident set
counts everything: Python, torch, queries, keys and the map. Extremes and weights take turns with
the bare product of the same tiles, and each time is divided by that of the same round; the bare
product runs twice, and the second over the first is the control.
"""

import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import scores
from benchmarks.report import quartiles, spread, table, verdict
from benchmarks.turns import turns
from xpos_viz import Encoding, rope, xpos
from xpos_viz.pooling import pooled_map
from xpos_viz.pooling.sides import TILE

HEAD_DIM, SIZE = 64, 512
MILLION = 1 << 20
GROWTH = tuple(1 << power for power in range(16, 21))
MEMORY = 1 << 30
"""Bytes that the mean map of a million tokens may take, and that the others are given."""

STEP = 1024  # tokens to which the others' longest text is found
SECONDS, EXPONENT = 1.5, 1.1
ENCODINGS = {"RoPE": rope(HEAD_DIM), "XPos": xpos(HEAD_DIM)}


@dataclass(frozen=True)
class Streamed:
    """A map that is not linear: its options, length, and largest multiple of the bare product."""

    label: str
    tokens: int
    goal: float
    options: dict[str, str]


STREAMED = (
    Streamed("smallest score", 32_768, 1.4, {"reduce": "min"}),
    Streamed("largest score", 32_768, 1.4, {"reduce": "max"}),
    Streamed("mean weight", 16_384, 2.5, {"stage": "weights"}),
)


def measure(rounds: int = 7) -> list[str]:
    """Measure everything, and return the lines of the result."""
    linear = {name: _own_process("mean", name, str(rounds)) for name in ENCODINGS}
    streamed = [(case, take_turns(case, rounds)) for case in STREAMED]
    return [
        (
            f"d = {HEAD_DIM}, float32, causal, at most {SIZE} × {SIZE} blocks, {rounds} rounds: "
            "median (quartiles)."
        ),
        "",
        *_mean_table(linear),
        "",
        *_streamed_table(streamed),
        "",
        *_goals(linear, streamed),
        "",
        *_peers_table(),
    ]


def mean_map(name: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of the mean map by length, and the largest resident set, bytes, of this process."""
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(MILLION, HEAD_DIM, generator=generator) for _ in range(2))
    lengths = list(GROWTH) * (rounds + 1)  # the first round warms up
    seconds: dict[str, list[float]] = {str(tokens): [] for tokens in GROWTH}
    for tokens in lengths:
        start = time.perf_counter()
        pooled_map(q[:tokens], k[:tokens], ENCODINGS[name], size=SIZE)
        seconds[str(tokens)].append(time.perf_counter() - start)
    return {tokens: times[1:] for tokens, times in seconds.items()} | {"bytes": [_resident()]}


def take_turns(case: Streamed, rounds: int) -> dict[str, list[float]]:
    """Times of a map over those of the bare product of its tiles, by encoding, and the control."""
    print(f"maps: {case.label}, {case.tokens} tokens …", flush=True)
    q, k = torch.randn(2, case.tokens, HEAD_DIM, generator=torch.Generator().manual_seed(0))
    runs: dict[str, Callable[[], object]] = {
        "bare": lambda: bare(q, k),
        "control": lambda: bare(q, k),
    }
    for name, encoding in ENCODINGS.items():
        runs[name] = _map(q, k, encoding, case.options)
    times = turns(runs, rounds, scores.WARM_UP)
    bare_times = times.pop("bare")
    ratios = {
        name: [mine / its for mine, its in zip(series, bare_times, strict=True)]
        for name, series in times.items()
    }
    return {"bare": bare_times, **ratios}


def bare(q: Tensor, k: Tensor) -> None:
    """Only the products of the tiles that a causal map visits, each forgotten at once."""
    for row in range(0, len(q), TILE):
        for column in range(0, row + TILE, TILE):
            scores.bare(q[row : row + TILE], k[column : column + TILE])


def peer(index: int, tokens: int) -> int:
    """The largest resident set, bytes, after a peer's scores of one head and their mean map."""
    _, contender = _peers()[index]
    q, k = torch.randn(2, 1, 1, tokens, HEAD_DIM, generator=torch.Generator().manual_seed(0))
    full = contender(q, k)
    side = tokens // SIZE * SIZE
    full[..., :side, :side].reshape(SIZE, side // SIZE, SIZE, side // SIZE).mean((1, 3))
    return int(_resident())


def _peers() -> list[tuple[str, scores.Scores]]:
    """The other implementations, all with XPos."""
    return [
        scores.torchscale(),
        scores.rotary_embedding_torch(use_xpos=True),
        scores.x_transformers(use_xpos=True),
    ]


def _map(q: Tensor, k: Tensor, encoding: Encoding, options: dict[str, str]) -> Callable[[], object]:
    """A call without arguments; the table above holds its options as plain words."""
    # words of the table, which the types of the options do not know
    return lambda: pooled_map(q, k, encoding, size=SIZE, **options)  # pyright: ignore[reportArgumentType]


def _own_process(*arguments: str) -> dict[str, list[float]]:
    """What a process of its own has measured."""
    print(f"maps: {' '.join(arguments)} …", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.maps", *arguments],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _resident() -> float:
    """The largest resident set of this process so far, bytes (Linux and macOS)."""
    import resource  # not on Windows  # noqa: PLC0415

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def exponent(seconds: dict[int, float]) -> float:
    """The slope of log time over log length, by least squares.

    Examples
    --------
    >>> round(exponent({1: 3.0, 2: 12.0, 4: 48.0}), 3)
    2.0
    """
    x, y = ([math.log(value) for value in series] for series in (seconds, seconds.values()))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    upper = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return upper / sum((a - mean_x) ** 2 for a in x)


def _growth(result: dict[str, list[float]]) -> float:
    """The fitted exponent of the medians."""
    return exponent({tokens: quartiles(result[str(tokens)])[1] for tokens in GROWTH})


def _mean_table(linear: dict[str, dict[str, list[float]]]) -> list[str]:
    """Seconds by length, the exponent and the memory."""
    lengths = [f"{tokens:,}, s" for tokens in GROWTH]
    rows = [
        [
            f"mean score, {name}",
            *(spread(result[str(tokens)]) for tokens in GROWTH),
            f"{_growth(result):.2f}",
            f"{result['bytes'][0] / 2**20:.0f} MiB",
        ]
        for name, result in linear.items()
    ]
    return table(["", *lengths, "exponent", "peak"], rows)


def _streamed_table(streamed: list[tuple[Streamed, dict[str, list[float]]]]) -> list[str]:
    """Ratios to the bare product."""
    rows = [
        [
            f"{case.label}, {case.tokens:,} tokens",
            f"{1000 * quartiles(result['bare'])[1]:.0f} ms",
            *(spread(result[name]) for name in ("control", *ENCODINGS)),
        ]
        for case, result in streamed
    ]
    header = ["", "bare product of the tiles", "again (control)"]
    return table([*header, *(f"{name} / bare" for name in ENCODINGS)], rows)


def _goals(
    linear: dict[str, dict[str, list[float]]],
    streamed: list[tuple[Streamed, dict[str, list[float]]]],
) -> list[str]:
    """A line per goal."""
    slowest = max(quartiles(result[str(MILLION)])[1] for result in linear.values())
    memory = max(result["bytes"][0] for result in linear.values())
    growth = max(map(_growth, linear.values()))
    lines = [
        (
            f"- mean of {MILLION:,} tokens: {slowest:.2f} s, goal {SECONDS}: "
            f"{verdict(slowest <= SECONDS)}; {memory / 2**20:.0f} MiB, goal "
            f"{MEMORY / 2**20:.0f}: {verdict(memory <= MEMORY)}; "
            f"exponent {growth:.2f}, goal "
            f"{EXPONENT}: {verdict(growth <= EXPONENT)}."
        )
    ]
    for case, result in streamed:
        worst = max(quartiles(result[name])[1] for name in ENCODINGS)
        lines.append(
            f"- {case.label}: at most {worst:.2f} × the bare product of its tiles, goal "
            f"{case.goal}: {verdict(worst <= case.goal)}."
        )
    return lines


def _peers_table() -> list[str]:
    """The longest text whose full matrix of one head fits the memory, found by running it."""
    rows = [[f"xpos_viz, mean map of {MILLION:,}", f"{MILLION:,}"]]
    for index, (name, _) in enumerate(_peers()):
        fits, too_long = 0, math.isqrt(MEMORY // 4) // STEP + 1  # the float32 matrix alone
        while too_long - fits > 1:
            steps = (fits + too_long) // 2
            used = _own_process("peer", str(index), str(steps * STEP))["bytes"][0]
            fits, too_long = (steps, too_long) if used <= MEMORY else (fits, steps)
        rows.append([name, f"{fits * STEP:,}"])
    return table([f"XPos, one head, within {MEMORY // 2**20} MiB", "tokens"], rows)


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    if kind == "mean":
        print(json.dumps(mean_map(rest[0], int(rest[1]))))
    else:
        print(json.dumps({"bytes": [peer(*map(int, rest))]}))

"""Sweeps: points a second by processes and by a cluster on this machine, overhead, and memory.

All take turns over the same points: the bare objective in a loop, by a process that does nothing
else, and whole sweeps, with all that is sent, written and told. Workers are there before anything
is timed. The memory is that of a process of its own, which computes and keeps a hundred thousand
points by one thread.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import distributed
import numpy as np

from benchmarks.report import quartiles, spread, table, verdict
from benchmarks.turns import turns
from xpos_viz import xpos
from xpos_viz.choosing import Goal, Processes, Progress, Span, Spec, sweep
from xpos_viz.curves import expectation_resolution

TOKENS, STEPS, MANY = 1024, 32, 316
OVERHEAD = 0.10
"""Time of a point in a sweep by one process over that of the bare objective, less 1, at most."""

GROWTH = 1.02
"""Largest resident set at the end over that after a fifth of the points, at most."""

_WARM_UP = 1  # rounds whose times are thrown away


def of(goal: Goal, steps: int) -> Spec:
    """A sweep over γ and B, steps × steps points."""
    gamma, scale_base = (
        Span(0.05, 2.0, steps=steps, log=True),
        Span(32.0, 32768.0, steps=steps, log=True),
    )
    return Spec(
        parameters=(("gamma", gamma), ("scale_base", scale_base)),
        goals=(goal,),
        lengths=(TOKENS,),
    )


SWEPT = of(Goal("resolution"), STEPS)


def measure(rounds: int = 5) -> list[str]:
    """Measure everything, and return the lines of the result."""
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    print(f"choosing: {SWEPT.total:,} points, again and again …", flush=True)
    with (
        Processes(1) as one,
        Processes(2) as two,
        distributed.LocalCluster(n_workers=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        runs = {
            "the objective alone, 1 process": lambda: one.submit(bare).result(),
            "again (control)": lambda: one.submit(bare).result(),
            "sweep, 1 process": partial(swept, one),
            "sweep, 2 processes": partial(swept, two),
            "sweep, Dask with 2 workers": partial(swept, client.get_executor(pure=False)),
        }
        times = turns(runs, rounds, _WARM_UP)
    alone, total = times["the objective alone, 1 process"], SWEPT.total
    ratios = {
        name: [mine / bare for mine, bare in zip(series, alone, strict=True)]
        for name, series in times.items()
    }
    rows = [
        [name, f"{total / quartiles(series)[1]:,.0f}", spread(ratios[name])]
        for name, series in times.items()
    ]
    overhead = quartiles(ratios["sweep, 1 process"])[1] - 1
    print("choosing: memory …", flush=True)
    early, late = memory()
    return [
        (
            f"Resolution at {TOKENS} tokens, {total:,} points, {rounds} rounds: median, and time "
            "over that of the objective alone in the same round, median (quartiles)."
        ),
        "",
        *table(["", "points a second", "time / alone"], rows),
        "",
        (
            f"- overhead of a point, 1 process: {100 * overhead:.1f} %, goal "
            f"{100 * OVERHEAD:.0f}: {verdict(overhead <= OVERHEAD)}."
        ),
        (
            f"- largest resident set: {early / 2**20:.0f} MiB after a fifth of "
            f"{MANY**2:,} points, {late / 2**20:.0f} MiB in the end, at most {GROWTH} of "
            f"it: {verdict(late <= GROWTH * early)}."
        ),
    ]


def bare() -> None:
    """The objective at all points, and nothing else."""
    values = SWEPT.values(np.arange(SWEPT.settings))
    for gamma, scale_base in zip(*(each.tolist() for each in values.values()), strict=True):
        encoding = xpos(SWEPT.head_dim, gamma=gamma, scale_base=scale_base)
        expectation_resolution(encoding, tokens=TOKENS, normalisation="sqrt_d").item()


def swept(executor: Executor) -> None:
    """A whole sweep, into a folder that is then removed."""
    with tempfile.TemporaryDirectory() as folder:
        sweep(SWEPT, folder, executor)


def memory() -> tuple[float, float]:
    """Largest resident set after a fifth of the points, and in the end, bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.choosing"],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    early, late = json.loads(done.stdout.splitlines()[-1])
    return early, late


def many() -> list[float]:
    """Sweep as many points, and note the largest resident set on the way."""
    spec, seen = of(Goal("headroom"), MANY), list[float]()

    def note(now: Progress) -> None:
        if not seen and now.share > 1 / 5:
            seen.append(_resident())

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        sweep(spec, folder, thread, report=note)
    return [*seen, _resident()]


def _resident() -> float:
    """The largest resident set of this process so far, bytes (Linux and macOS)."""
    import resource  # not on Windows  # noqa: PLC0415

    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


if __name__ == "__main__":
    print(json.dumps(many()))

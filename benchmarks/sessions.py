"""Many readers at once: sessions at the websocket of one server, on all pages.

Each moves γ or B to a step drawn at random every few seconds, and waits for the end of the run
that follows. Before that, each page is measured with nobody else there.
"""

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import OURS, running
from benchmarks.report import percentile, quartiles, table, verdict
from benchmarks.viewer import Run, Viewer, viewing
from xpos_viz.ui import PAGES

SESSIONS = 20
PACE = 5.0
"""Seconds from one change of a session to its next, if the first is done by then."""

GOAL = 300
"""Milliseconds within which 95 of 100 changes are done, all sessions at once."""

WARM_UP = 2  # changes of a session that are not counted
_MIB = 2**20

Runs = dict[str, list[Run]]


@dataclass(frozen=True)
class Memory:
    """The resident set of the server, MiB: before, with all sessions open, after their changes."""

    before: float
    opened: float
    after: float


def measure(rounds: int = 20) -> list[str]:
    """Measure one session at a time, then many, and return the lines of the result."""
    chance = random.Random(0)
    with running(OURS) as (url, process), ExitStack() as stack:
        alone: Runs = {}
        for page in PAGES:
            print(f"sessions: {page} alone …", flush=True)
            with viewing(url, page) as viewer:
                alone[page] = _moved(viewer, rounds, chance, 0.0)
        before = _resident(process)
        pages = [list(PAGES)[place % len(PAGES)] for place in range(SESSIONS)]
        viewers = [stack.enter_context(viewing(url, page)) for page in pages]
        opened = _resident(process)
        print(f"sessions: {SESSIONS} at once …", flush=True)
        together = _together(dict(enumerate(pages)), viewers, rounds)
        memory = Memory(before, opened, _resident(process))
    method = (
        f"{SESSIONS} sessions on {len(PAGES)} pages, {rounds} changes each, of γ or B or what a "
        f"page has instead, one every {PACE:g} s; alone: as many, one right after the other. "
        "Milliseconds from the change to the end of its run at the websocket, median (95th "
        "percentile), and kB received, median."
    )
    return [method, "", *_table(alone, together), "", *_goals(together, memory)]


def _together(pages: dict[int, str], viewers: list[Viewer], rounds: int) -> Runs:
    """Runs by page, of all sessions at once, their first changes spread over the pace."""
    begin = time.monotonic()

    def moved(place: int) -> list[Run]:
        offset = PACE * place / len(viewers)
        time.sleep(max(0.0, begin + offset - time.monotonic()))
        return _moved(viewers[place], rounds, random.Random(place), PACE)

    runs: Runs = {page: [] for page in PAGES}
    with ThreadPoolExecutor(len(viewers)) as pool:
        for place, each in enumerate(pool.map(moved, pages)):
            runs[pages[place]] += each
    return runs


def _moved(viewer: Viewer, rounds: int, chance: random.Random, pace: float) -> list[Run]:
    """Move one of the sliders to another step, again and again, at a pace."""
    runs: list[Run] = []
    begin = time.monotonic()
    for place in range(WARM_UP + rounds):
        time.sleep(max(0.0, begin + place * pace - time.monotonic()))
        key = viewer.sliders[place % len(viewer.sliders)]
        runs.append(viewer.move(key, chance))
    return runs[WARM_UP:]


def _resident(process: int) -> float:
    """The resident set of a process, MiB."""
    if sys.platform != "linux":
        raise SystemExit("the memory of a server is read from /proc, which only Linux has.")
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return float(status.partition("VmRSS:")[2].split()[0]) * 1024 / _MIB


def _table(alone: Runs, together: Runs) -> list[str]:
    """A row per page, and one for all."""
    rows = [[page, *_row(alone[page], together[page])] for page in PAGES]
    mixed = [
        "all",
        *_row(*([run for runs in every.values() for run in runs] for every in (alone, together))),
    ]
    return table(
        ["page", "alone, ms", f"{SESSIONS} at once, ms", "kB", f"p95 ≤ {GOAL} ms"], [*rows, mixed]
    )


def _row(alone: list[Run], together: list[Run]) -> list[str]:
    """Times alone and together, bytes, and whether the goal is reached."""
    times = [[run.time for run in runs] for runs in (alone, together)]
    return [
        *(f"{quartiles(each)[1]:.0f} ({percentile(each, 95):.0f})" for each in times),
        f"{quartiles([run.size / 1000 for run in together])[1]:,.0f}",
        verdict(percentile(times[1], 95) <= GOAL),
    ]


def _goals(together: Runs, memory: Memory) -> list[str]:
    """A line on all changes, and one on the memory."""
    times = [run.time for runs in together.values() for run in runs]
    worst = percentile(times, 95)
    opened, after = ((now - memory.before) / SESSIONS for now in (memory.opened, memory.after))
    every = (
        f"- {SESSIONS} at once, all pages: 95 % of {len(times)} changes within {worst:.0f} ms, "
        f"goal {GOAL}: {verdict(worst <= GOAL)}."
    )
    resident = (
        f"- Memory of the server: {memory.before:.0f} MiB after each page was used alone; a "
        f"session adds {opened:.1f} MiB when it is opened, {after:.1f} MiB with all its changes."
    )
    return [every, resident]

"""Files of a figure: the three maps of the page Compare as PNG, SVG and PDF, warm; and a command.

Ours are drawn by Matplotlib, Kaleido's by Plotly in a Chromium that it keeps. All take turns, in
an order drawn anew, and a time of Kaleido is divided by ours of the same round. The command is
timed as a whole process, from its start to the finished file.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from benchmarks.report import quartiles, spread, table, verdict
from benchmarks.scores import peer
from benchmarks.turns import Times, turns
from tests.conftest import find_chromium
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.description import Description
from xpos_viz.figures.files import KINDS, SIZES
from xpos_viz.figures.paper_pen import save
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import texts

ADDRESS = {"source": "random", "length": "512"}
GOAL, START_GOAL = 0.5, 3.0
"""Seconds: of a file, warm, and from the start of the command to the finished file."""

WARM_UP = 2  # rounds whose times are thrown away
_PIXELS = 96  # of CSS, per inch


def measure(rounds: int = 7) -> list[str]:
    """Measure files and the command, and return the lines of the result."""
    print("files: both pens …", flush=True)
    with _kaleido() as kaleido:
        times = take_turns(maps(), kaleido, rounds)
    print("files: the command …", flush=True)
    starts = {kind: [command(kind) for _ in range(rounds + 1)][1:] for kind in KINDS}
    rows = [
        (
            kind.upper(),
            spread([1000 * each for each in times[f"ours {kind}"]], ".0f"),
            spread(_ratios(times, kind), ".2f"),
            spread(starts[kind], ".2f"),
        )
        for kind in KINDS
    ]
    header = ("", "xpos_viz, ms", f"Kaleido {version('kaleido')} / xpos_viz", "the command, s")
    slowest = max(quartiles(times[f"ours {kind}"])[1] for kind in KINDS)
    start = max(quartiles(starts[kind])[1] for kind in KINDS)
    return [
        f"Three maps of 512 tokens, {rounds} rounds: median (quartiles).",
        "",
        *table(header, rows),
        "",
        f"- A file, warm: at most {slowest:.2f} s, goal {GOAL:g}: {verdict(slowest <= GOAL)}.",
        (
            f"- From the start of the command to the file: at most {start:.2f} s, goal "
            f"{START_GOAL:g}: {verdict(start <= START_GOAL)}."
        ),
    ]


def maps() -> Description:
    """The three maps."""
    state, _ = from_address(ADDRESS)
    return PICTURES["compare"](state, texts("en"))[0].description


def take_turns(drawn: Description, kaleido: ModuleType, rounds: int) -> Times:
    """Seconds of each file by whose it is."""
    page = SIZES["page"]
    figure = plotly_pen.draw(drawn)
    opts = {
        "width": round(_PIXELS * page.width),
        "height": round(_PIXELS * (page.height or page.width)),
        "scale": page.dpi / _PIXELS,
    }
    runs: dict[str, Callable[[], object]] = {}
    for kind in KINDS:
        runs[f"ours {kind}"] = lambda kind=kind: save(drawn, kind)
        runs[f"theirs {kind}"] = lambda kind=kind: kaleido.calc_fig_sync(
            figure, opts={**opts, "format": kind}
        )
    return turns(runs, rounds, WARM_UP)


def command(kind: str) -> float:
    """Seconds of a process that draws the maps into a file."""
    options = [part for key, value in ADDRESS.items() for part in (f"--{key}", value)]
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, f"maps.{kind}"))
        words = [sys.executable, "-m", "xpos_viz", "figure", "compare", *options, "--out", out]
        start = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True)
        return time.perf_counter() - start


@contextmanager
def _kaleido() -> Iterator[ModuleType]:
    """Kaleido with a browser that stays."""
    found = find_chromium()
    if found is None:
        raise SystemExit("no Chromium was found; `make browser` installs one, or set CHROMIUM.")
    kaleido, os.environ["BROWSER_PATH"] = peer("kaleido", "kaleido"), found
    kaleido.start_sync_server()
    try:
        yield kaleido
    finally:
        kaleido.stop_sync_server()


def _ratios(times: Times, kind: str) -> list[float]:
    """Kaleido's time over ours, round by round."""
    pairs = zip(times[f"theirs {kind}"], times[f"ours {kind}"], strict=True)
    return [theirs / ours for theirs, ours in pairs]

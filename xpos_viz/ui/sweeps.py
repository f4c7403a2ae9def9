"""Sweeps of the server, for the landscapes of the page Choose."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd

from xpos_viz.choosing import Progress, Spec, frame, sweep
from xpos_viz.choosing.landscape import Landscape, known
from xpos_viz.ui.runs import Run, Runs

MOST = 8
"""Sweeps that the server knows at a time, those that wait their turn among them."""


class Sweep(Run):
    """A sweep: what came of it so far."""

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self.spec, self.progress = spec, Progress(0, spec.total)
        self._tables: list[pd.DataFrame] = []

    @property
    def found(self) -> Landscape | None:
        """What is known so far, if anything is."""
        tables = self._tables[:]
        return known(self.spec, tables) if tables else None

    def work(self) -> None:
        """Compute all points, in a thread of their own, since each counts on one core."""
        with ThreadPoolExecutor(1) as thread:
            sweep(self.spec, None, thread, report=self._report)

    def _report(self, progress: Progress) -> None:
        """Keep what has come."""
        self.look()
        if progress.new:
            self._tables.append(frame(self.spec, progress.new))
        self.progress = progress


SWEEPS: Runs[Spec, Sweep] = Runs(
    Sweep,
    MOST,
    f"this server computes at most {MOST} landscapes, got one more; wait until one is done.",
)
"""The sweeps of this server."""

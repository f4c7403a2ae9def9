"""Sweeps that go on while nobody looks: found again by what they compute, one after the other.

They belong to the server and not to a session, so that a page that is left, or opened by another
reader with the same settings, finds what is under way.
"""

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import pandas as pd

from xpos_viz.choosing import Progress, Spec, frame, sweep
from xpos_viz.choosing.landscape import Landscape, known

MOST = 8
"""Sweeps that the server knows at a time, those that wait their turn among them."""


class _StoppedError(Exception):
    """A reader has ended the sweep."""


class Run:
    """A sweep of the server: what came of it so far."""

    def __init__(self, spec: Spec) -> None:
        self.spec, self.stopped = spec, False
        self.progress = Progress(0, spec.total)
        self.error: Exception | None = None
        self._tables: list[pd.DataFrame] = []
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return self._done.is_set()

    @property
    def found(self) -> Landscape | None:
        """What is known so far, if anything is."""
        tables = self._tables[:]
        return known(self.spec, tables) if tables else None

    def stop(self) -> None:
        """End it at its next report; what is known stays until it is begun anew."""
        self.stopped = True

    def go(self) -> None:
        """Compute all of it, or as much as is wanted."""
        try:
            with ThreadPoolExecutor(1) as thread:
                sweep(self.spec, None, thread, report=self._report)
        except _StoppedError:
            self.stopped = True
        except Exception as error:  # noqa: BLE001 - it is told where the sweep is looked at
            self.error = error
        self._done.set()

    def _report(self, progress: Progress) -> None:
        """Keep what has come."""
        if self.stopped:
            raise _StoppedError
        if progress.new:
            self._tables.append(frame(self.spec, progress.new))
        self.progress = progress


def begin(spec: Spec) -> Run:
    """Begin a sweep, or return the one that is under way.

    Raises
    ------
    ValueError
        If as many as the server takes are under way or wait.
    """
    with _alone:
        run = _runs.get(spec)
        if run is not None and not (run.stopped or run.error):
            return run
        _runs.pop(spec, None)
        _make_room()
        run = _runs[spec] = Run(spec)
        _turns.submit(run.go)
        return run


def find(spec: Spec) -> Run | None:
    """Return a sweep that was begun, if the server still knows it."""
    with _alone:
        return _runs.get(spec)


def _make_room() -> None:
    """Forget the oldest sweep that is done."""
    if len(_runs) < MOST:
        return
    for spec, run in _runs.items():
        if run.done:
            del _runs[spec]
            return
    raise ValueError(
        f"this server computes at most {MOST} landscapes, got one more; wait until one is done."
    )


_runs: OrderedDict[Spec, Run] = OrderedDict()
_alone = threading.Lock()
_turns = ThreadPoolExecutor(1, thread_name_prefix="choosing")

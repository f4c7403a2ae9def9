"""The engine: all points of a sweep, by any executor, kept as they come.

What it asks for is a :class:`concurrent.futures.Executor` and nothing else: threads, processes
(:class:`xpos_viz.choosing.Processes`), or a cluster (`dask.distributed.Client.get_executor()`).
All give the same numbers to the last bit, for a worker computes with one thread, and a point
depends on nothing but its number.
"""

import math
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path

from xpos_viz.choosing.records import Batch, Records, Unkept
from xpos_viz.choosing.spec import Spec
from xpos_viz.choosing.working import (
    TRIES,
    Lacking,
    hopeless,
    never,
    packed,
    sent_next,
    submitted,
    unasked,
    work,
    worker_ended,
)
from xpos_viz.inputs import Capture
from xpos_viz.inputs.captured import lookup

TASK = 0.5
"""Seconds that a batch is to take: long beside its transport, short for those who wait or stop."""

MOST = 1 << 12
"""Most points of a batch."""

_SHORT = 0.05  # seconds of a batch that is not worth its transport and its file
_LOOK = 0.25  # seconds between two reports where nothing comes
_FRESH = 0.3  # share of the newest batch in the pace


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Parameters
    ----------
    done, total
        Points, those of earlier runs among them.
    failed
        Points of this run that failed.
    left
        Seconds that are left, if the rest goes as this run so far; ∞ before any is done.
    new
        What has come since the last report; :func:`xpos_viz.choosing.frame` makes a table of it.
    """

    done: int
    total: int
    failed: int = 0
    left: float = math.inf
    new: tuple[Batch, ...] = field(default=(), repr=False)

    @property
    def share(self) -> float:
        """The share that is done."""
        return self.done / self.total


Report = Callable[[Progress], None]
"""What is told how far a sweep is; what it raises ends the sweep."""


def sweep(
    spec: Spec,
    folder: str | Path | None,
    executor: Executor,
    *,
    resume: bool = False,
    report: Report = lambda _: None,
    ahead: int = 0,
) -> Progress:
    """Compute all points of a sweep that its folder does not hold yet.

    Parameters
    ----------
    spec
        What is swept.
    folder
        Where the points are kept (:mod:`xpos_viz.choosing.records`); None keeps nothing, and
        `report` has all that comes.
    executor
        Who computes them.
    resume
        Whether the folder may hold points of this sweep already.
    report
        What is told how far it is, often; what it raises ends the sweep, as does an
        interruption: batches that are under way are given up, and what was kept is kept.
    ahead
        Batches that are under way at a time; 0 is two for each core of this machine and two
        more. Of a cluster, use two for each of its workers.

    Returns
    -------
    Progress
        In the end.

    Raises
    ------
    ValueError
        If the folder holds something else, or a text is not there.
    OSError
        If the folder cannot be written to; what was kept is kept.
    SweepError
        If no worker lives long enough to compute anything or keeps all captures at once, the
        workers lack this package, or the executor takes no more work.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tempfile import TemporaryDirectory
    >>> from xpos_viz.choosing import Goal, Spec, points_of, sweep
    >>> spec = Spec(parameters=(("gamma", (0.2, 0.4)),), goals=(Goal("half_life"),))
    >>> with TemporaryDirectory() as folder, ThreadPoolExecutor(1) as threads:
    ...     sweep(spec, folder, threads).done
    ...     points_of(folder)[["gamma", "half_life"]].round(1)
    2
       gamma  half_life
    0    0.2      663.7
    1    0.4      831.7
    """
    captures = tuple(map(lookup, spec.data))
    records = Unkept(spec) if folder is None else Records(folder, spec, resume=resume)
    run = _Run(spec, executor, records, ahead or 2 * (os.cpu_count() or 1) + 2, captures)
    try:
        run.report(report)
        while run.submit():
            run.collect()
            run.report(report)
    finally:
        run.give_up()
    return run.progress


@dataclass(frozen=True)
class _Task:
    """Points that are under way, how often their worker has ended, and what was sent with them."""

    points: range
    losses: int = 0
    sent: tuple[str, ...] = ()


class _Run:
    """A sweep under way.

    Where a worker ends, all batches that are lost with it are suspects: each is computed again
    while nothing else is, and halved if it is lost again, until the point is found that does it.
    """

    def __init__(
        self,
        spec: Spec,
        executor: Executor,
        records: Records | Unkept,
        ahead: int,
        captures: tuple[Capture, ...],
    ) -> None:
        self._captures = captures  # so that they stay until all have been sent
        self._spec, self._executor, self._records, self._ahead = spec, executor, records, ahead
        self._gaps, self._again, self._suspects = deque(records.gaps), deque(), deque[_Task]()
        self._waiting: dict[Future[Batch | Lacking], _Task] = {}
        self._lacking = set[str]()  # workers that said so, and have computed nothing since
        self._missing = sum(map(len, self._gaps))
        self._pace, self._begun = math.nan, time.monotonic()
        self._before = spec.total - self._missing
        self.progress = Progress(self._before, spec.total)

    def submit(self) -> bool:
        """Keep the workers busy; return whether anything is under way."""
        while len(self._waiting) < self._room and (task := self._next()):
            given = self._spec, task.points, packed(task.sent)
            self._waiting[submitted(self._executor, work, *given)] = task
        return bool(self._waiting)

    @property
    def _room(self) -> int:
        """How many batches may be under way."""
        alone = self._suspects or any(task.losses for task in self._waiting.values())
        return 1 if alone else self._ahead

    def collect(self) -> None:
        """Wait for what comes, and keep it."""
        for future in wait(self._waiting, _LOOK, FIRST_COMPLETED).done:
            task = self._waiting.pop(future)
            try:
                found = future.result()
            except Exception as error:
                if not worker_ended(error):
                    raise unasked(error) from error
                self._lost(task, error)
            else:
                self._came(task, found)

    def report(self, report: Report) -> None:
        """Say how far it is."""
        report(self.progress)
        self.progress = replace(self.progress, new=())

    def give_up(self) -> None:
        """End what is under way, as far as it has not begun."""
        for future in self._waiting:
            future.cancel()

    def _next(self) -> _Task | None:
        """What is to be computed next."""
        if self._again:
            return self._sent()
        if self._suspects:
            return self._suspects.popleft()
        if not self._gaps:
            return None
        gap = self._gaps.popleft()
        size = self._size()
        if len(gap) > size:
            self._gaps.appendleft(gap[size:])
        return _Task(gap[:size])

    def _sent(self) -> _Task | None:
        """A batch that came back, with what is lacking; one for each worker that lacks it."""
        under_way = sum(bool(task.sent) for task in self._waiting.values())
        if under_way < len(self._lacking):
            return self._again.popleft()
        return None if self._lacking else replace(self._again.popleft(), sent=())

    def _size(self) -> int:
        """Points of a batch that takes as long as it is to; less in the end, so that all end."""
        if math.isnan(self._pace):
            return 1
        pace = max(self._pace, TASK / MOST)
        fair = max(-(-self._missing // (2 * self._ahead)), round(_SHORT / pace))
        return max(1, min(MOST, fair, round(TASK / pace)))

    def _came(self, task: _Task, found: Batch | Lacking) -> None:
        """Keep a batch, or send what its worker lacks."""
        if isinstance(found, Lacking):
            self._lacking.add(found.worker)
            return self._again.append(replace(task, sent=sent_next(task.sent, found)))
        if found.worker in self._lacking:
            self._lacking.remove(found.worker)
        elif task.sent and self._lacking:  # who lacks it still, and lives, will say so again
            self._lacking.pop()
        pace = found.seconds / len(found.points)
        fresh = 1.0 if math.isnan(self._pace) else _FRESH
        self._pace = pace if fresh == 1.0 else (1 - fresh) * self._pace + fresh * pace
        return self._keep(found)

    def _keep(self, batch: Batch) -> None:
        """Write a batch, and count it."""
        self._records.write(batch)
        self._missing -= len(batch.points)
        done, spent = self.progress.total - self._missing, time.monotonic() - self._begun
        self.progress = Progress(
            done,
            self.progress.total,
            self.progress.failed + batch.failed,
            spent * self._missing / (done - self._before),
            (*self.progress.new, batch),
        )

    def _lost(self, task: _Task, error: Exception) -> None:
        """Suspect a batch whose worker ended; which one it was is not known."""
        self._lacking.clear()
        points, half = task.points, len(task.points) // 2
        if not task.losses:
            self._suspects.append(replace(task, losses=1))
        elif half:
            self._suspects.extend(replace(task, points=p) for p in (points[:half], points[half:]))
        elif task.losses < TRIES:
            self._suspects.append(replace(task, losses=task.losses + 1))
        elif math.isnan(self._pace):
            raise never(error) from error
        else:
            self._keep(hopeless(self._spec, points))

"""What a worker does with some points; it may be a thread, a process, or another computer.

A capture is sent along with a batch only after a worker said that it lacks it, and is kept there by
its hash. An executor does not say who takes a batch, so workers say who they are, and a sweep sends
a capture once for each that lacks it; once more only if another one took the batch.

What is lacking is sent with all that was sent with the batch before, so that who takes it next has
everything; a worker that still lacks some of it cannot keep so much at once.
"""

import math
import os
import pickle
import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from xpos_viz.choosing.records import Batch
from xpos_viz.choosing.spec import Case, Spec, experiment
from xpos_viz.inputs.captured import keep, lookup
from xpos_viz.limits import LIMITS
from xpos_viz.one_core import one_core

P = ParamSpec("P")
T = TypeVar("T")

TRIES = 3
"""How often the worker of one point may end before the point counts as failed."""

TIMES = 2
"""How often a capture may be sent with one batch."""

_ENDED = ("BrokenExecutor", "KilledWorker")  # errors by which executors say that a worker ended


@dataclass(frozen=True)
class Lacking:
    """That a worker has not what it needs.

    Parameters
    ----------
    data
        The hashes of captures.
    kept
        How many bytes of captures it keeps.
    worker
        Who it is, as it calls itself.
    """

    data: tuple[str, ...]
    kept: int
    worker: str


class SweepError(RuntimeError):
    """That nobody can compute a sweep."""


def sent_next(sent: tuple[str, ...], lacking: Lacking) -> tuple[str, ...]:
    """Return what is sent with a batch after a worker lacked something, each as often as it was.

    Raises
    ------
    SweepError
        If something was sent with it twice, and is lacking still.
    """
    if any(sent.count(name) >= TIMES for name in lacking.data):
        needed = sum(lookup(name).bytes for name in {*sent, *lacking.data})
        raise SweepError(
            f"a worker must keep {needed:,} bytes of captures at once, got one that keeps "
            f"{lacking.kept:,}; set XPOS_VIZ_MAX_KEPT for the workers, or use fewer texts."
        )
    return (*sent, *lacking.data)


def worker_ended(error: Exception) -> bool:
    """Whether an executor says that a worker ended; by name, for dask need not be there."""
    return any(kind.__name__ in _ENDED for kind in type(error).__mro__)


def hopeless(spec: Spec, points: range) -> Batch:
    """Return points that end their workers, each with that as its error."""
    said = f"its worker ended {TRIES} times; there may be too little memory for it"
    values = np.full((len(points), len(spec.goals)), np.nan)
    return Batch(points, values, (said,) * len(points), 0.0)


def submitted(
    executor: Executor, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Future[T]:
    """Hand work to an executor.

    Raises
    ------
    SweepError
        If it takes no more.
    """
    try:
        return executor.submit(function, *args, **kwargs)
    except RuntimeError as error:  # it is broken, or was shut down
        raise SweepError(
            f"the executor takes no more work, got {type(error).__name__}: {error}; what "
            "was kept is kept: resume with another, such as Processes()."
        ) from error


def unasked(error: Exception) -> SweepError:
    """Return what is said where workers raise what is no result of the work."""
    return SweepError(
        f"the workers could not be asked, got {type(error).__name__}: {error}; "
        "they need this package, in the same version and on their path."
    )


def never(error: Exception) -> SweepError:
    """Return what is said where workers end before they have computed anything."""
    return SweepError(
        f"no worker lives long enough to compute anything, got {type(error).__name__}: "
        f"{error}; use fewer workers if memory is short, and in a script of your own "
        'start a sweep under `if __name__ == "__main__":`.'
    )


def packed(data: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return captures as they are sent, each once."""
    return tuple(pickle.dumps(lookup(name)) for name in dict.fromkeys(data))


def work(spec: Spec, points: range, sent: tuple[bytes, ...] = ()) -> Batch | Lacking:
    """Compute some points of a sweep, one after the other; those that fail have their error.

    Parameters
    ----------
    spec
        What is swept.
    points
        Which of its points.
    sent
        Captures, :func:`packed`.

    Returns
    -------
    Batch or Lacking
        The values, or what has to be sent first.
    """
    if lacking := _prepared(spec, sent):
        return lacking
    start, spec = time.perf_counter(), _same(spec)
    settings = np.arange(points.start, points.stop) // len(spec.cases)
    return computed(spec, points, spec.values(settings), start)


def work_on(
    spec: Spec,
    points: range,
    parameters: Mapping[str, NDArray[np.float64]],
    sent: tuple[bytes, ...] = (),
) -> Batch | Lacking:
    """Compute points whose parameters are not those of a sweep, as :func:`work` does."""
    start = time.perf_counter()
    return _prepared(spec, sent) or computed(_same(spec), points, parameters, start)


@one_core()
def computed(
    spec: Spec, points: range, parameters: Mapping[str, NDArray[np.float64]], start: float
) -> Batch:
    """Compute the goals of points with some parameters, one of each for each point.

    One core does it, so that sums are the same everywhere, to the last bit.
    """
    values = np.full((len(points), len(spec.goals)), np.nan)
    errors = list[str | None]()
    for row, point in enumerate(points):
        given = {name: float(column[row]) for name, column in parameters.items()}
        case = spec.cases[point % len(spec.cases)]
        errors.append(_computed(spec, case, given, values[row]))
    return Batch(points, values, tuple(errors), time.perf_counter() - start, _me())


def _prepared(spec: Spec, sent: tuple[bytes, ...]) -> Lacking | None:
    """Keep what was sent; return what is missing, if anything is."""
    for each in sent:
        with suppress(ValueError):  # it is larger than all that is kept, and lacking still
            keep(pickle.loads(each))
    lacking = tuple(name for name in spec.data if not _has(name))
    return Lacking(lacking, LIMITS.kept, _me()) if lacking else None


def _me() -> str:
    """Who this process is, of all on the computers of a cluster."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _computed(
    spec: Spec, case: Case, given: Mapping[str, float], found: NDArray[np.float64]
) -> str | None:
    """Compute the goals of a point into its row; return what failed, if anything did."""
    errors = list[str]()
    try:
        tried = experiment(spec.encoding_of(given), case)
    except Exception as error:  # noqa: BLE001 - it is kept beside the point
        return _said(error)
    for column, goal in enumerate(spec.goals):
        if goal.row.reads(case):
            try:
                found[column] = goal.row.value(tried, dict(goal.options))
            except Exception as error:  # noqa: BLE001 - as above
                errors.append(f"{goal.label}: {_said(error)}")
            else:
                errors += [f"{goal.label}: this is no number"] * math.isnan(found[column])
    return "; ".join(errors) or None


def _said(error: Exception) -> str:
    """What an error says; what is not ours says its kind, too."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _has(name: str) -> bool:
    """Whether a capture is here."""
    try:
        return lookup(name) is not None
    except ValueError:
        return False


@lru_cache(maxsize=4)
def _same(spec: Spec) -> Spec:
    """The first of equal specs, with what it has computed."""
    return spec

"""Search: settings that are not all tried, but asked for one by one by Optuna.

Akiba et al. 2019 (arXiv:1907.10902); TPE: Bergstra et al. 2011; NSGA-II: Deb et al. 2002. The
same seed gives the same search, whoever computes it.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from xpos_viz.choice import check_choice
from xpos_viz.choosing.front import ranked
from xpos_viz.choosing.goals import Goal
from xpos_viz.choosing.ranges import Range, Span
from xpos_viz.choosing.records import Batch, rows
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
    work_on,
    worker_ended,
)
from xpos_viz.encoding import PARAMETERS
from xpos_viz.entry import check_whole
from xpos_viz.inputs.captured import lookup

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler


@dataclass(frozen=True)
class Sampler:
    """A way to choose what is tried next.

    Parameters
    ----------
    several
        Whether it looks for a front of all goals, or for the smallest weighted sum.
    make
        What makes it of a seed.
    """

    several: bool
    make: Callable[[int], "BaseSampler"]


def _tpe(seed: int) -> "BaseSampler":
    """Tree-structured Parzen estimators."""
    from optuna.samplers import TPESampler  # noqa: PLC0415 - as only a search needs it

    return TPESampler(seed=seed)


def _nsga2(seed: int) -> "BaseSampler":
    """A genetic algorithm that sorts by who beats whom."""
    from optuna.samplers import NSGAIISampler  # noqa: PLC0415 - as above

    return NSGAIISampler(seed=seed)


SAMPLERS: Mapping[str, Sampler] = MappingProxyType(
    {
        "tpe": Sampler(several=False, make=_tpe),
        "tpe_front": Sampler(several=True, make=_tpe),
        "nsga2": Sampler(several=True, make=_nsga2),
    }
)
"""Ways to search, by name: for the smallest weighted sum, or for the front."""


def search(
    spec: Spec,
    *,
    trials: int = 100,
    sampler: str = "tpe",
    at_once: int = 1,
    executor: Executor | None = None,
    report: Callable[[float], None] = lambda _: None,
) -> pd.DataFrame:
    """Look for the best setting between the ends of the spans.

    Where there are several lengths, a value is the mean over them, as over heads of texts, and
    limits hold at each. A trial that fails at one of them, or whose worker ends again and again,
    has failed.

    Parameters
    ----------
    spec
        What varies and what is wanted; steps of spans and points do not count. Its seed is
        that of the search.
    trials
        How many settings are tried.
    sampler
        A key of :data:`SAMPLERS`.
    at_once
        How many settings are chosen before the values of any of them are known. It changes
        what is found, the executor does not.
    executor
        Who computes them; None is a thread.
    report
        Is told the share that is done; what it raises ends the search.

    Returns
    -------
    DataFrame
        Points as :func:`xpos_viz.choosing.points_of` returns them; settings are trials. Where
        there are several goals, :func:`xpos_viz.choosing.best` ranks them by their shares at each
        length, which need not be the sum that was looked for.

    Raises
    ------
    ValueError
        For an unknown sampler, or numbers out of range.
    SweepError
        If no worker lives long enough to compute anything or keeps all captures at once, the
        workers lack this package, or the executor takes no more work.

    Examples
    --------
    >>> from xpos_viz.choosing import Goal, Span, Spec, best
    >>> spec = Spec(
    ...     parameters=(("scale_base", Span(64.0, 4096.0, log=True)),),
    ...     goals=(Goal("half_life", wanted=800.0),),
    ... )
    >>> found = best(search(spec, trials=40), spec)
    >>> bool(abs(found["half_life"][0] - 800.0) < 40.0)
    True
    """
    check_choice("sampler", sampler, SAMPLERS)
    check_whole("trials", trials, 1)
    check_whole("at_once", at_once, 1)
    captures = tuple(map(lookup, spec.data))  # so that they stay until all have been sent
    study, tables = _study(spec, SAMPLERS[sampler]), list[pa.Table]()
    ways = {name: _distribution(name, each) for name, each in spec.parameters}
    with ThreadPoolExecutor(1) if executor is None else nullcontext(executor) as workers:
        for first in range(0, trials, at_once):
            report(first / trials)
            asked = [study.ask(ways) for _ in range(min(at_once, trials - first))]
            tables.append(_computed(spec, first, asked, workers))
            _tell(spec, study, asked, tables[-1].to_pandas(), SAMPLERS[sampler])
    del captures
    report(1.0)
    return pa.concat_tables(tables).to_pandas()


def _study(spec: Spec, sampler: Sampler) -> "Study":
    """What remembers the trials."""
    import optuna  # noqa: PLC0415 - as only a search needs it

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    minimize = optuna.study.StudyDirection.MINIMIZE
    directions = [minimize] * (len(_weighted(spec)) if sampler.several else 1)
    return optuna.create_study(directions=directions, sampler=sampler.make(spec.seed))


def _weighted(spec: Spec) -> list[Goal]:
    """The goals that have a weight."""
    goals = [goal for goal in spec.goals if goal.weight > 0]
    if not goals:
        raise ValueError("a search needs an objective with a weight, got none; use weight = 1.")
    return goals


def _distribution(name: str, values: Range) -> "BaseDistribution":
    """A range as Optuna has it."""
    from optuna.distributions import (  # noqa: PLC0415 - as above
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if not isinstance(values, Span):
        return CategoricalDistribution(values if isinstance(values, tuple) else (values,))
    if PARAMETERS[name].whole:
        return IntDistribution(round(values.low), round(values.high), log=values.log)
    return FloatDistribution(values.low, values.high, log=values.log)


def _computed(spec: Spec, first: int, asked: list["Trial"], executor: Executor) -> pa.Table:
    """The points of some trials, each computed by a worker."""
    count = len(spec.cases)
    tasks = [
        (range(number * count, (number + 1) * count), _columns(trial, count))
        for number, trial in enumerate(asked, first)
    ]
    futures = [submitted(executor, work_on, spec, *task) for task in tasks]
    try:
        batches = [
            _batch(spec, task, executor, future)
            for task, future in zip(tasks, futures, strict=True)
        ]
    finally:
        for future in futures:
            future.cancel()
    lost = [found for found in batches if isinstance(found, Exception)]
    if not first and len(lost) == len(batches):
        raise never(lost[0]) from lost[0]
    return pa.concat_tables(
        rows(spec, hopeless(spec, points) if isinstance(found, Exception) else found, parameters)
        for found, (points, parameters) in zip(batches, tasks, strict=True)
    )


def _batch(
    spec: Spec,
    task: tuple[range, Mapping[str, NDArray[np.float64]]],
    executor: Executor,
    future: Future[Batch | Lacking],
) -> Batch | Exception:
    """The points of a trial, asked for anew if a worker lacks something or ends; or how it did."""
    ended, sent = 0, ()
    while True:
        try:
            found = future.result()
        except Exception as error:
            if not worker_ended(error):
                raise unasked(error) from error
            ended += 1
            if ended == TRIES:
                return error
        else:
            if isinstance(found, Batch):
                return found
            sent = sent_next(sent, found)
        future = submitted(executor, work_on, spec, *task, packed(sent))


def _columns(trial: "Trial", count: int) -> dict[str, NDArray[np.float64]]:
    """The parameters of a trial, as columns of its points."""
    return {name: np.full(count, value, dtype=np.float64) for name, value in trial.params.items()}


def _tell(
    spec: Spec, study: "Study", asked: list["Trial"], points: pd.DataFrame, sampler: Sampler
) -> None:
    """Tell the study what came of its trials, in the order in which it asked."""
    from optuna.trial import TrialState  # noqa: PLC0415 - as above

    for trial, (_, lengths) in zip(asked, ranked(points, spec).groupby("setting"), strict=True):
        found = {goal: lengths[goal.label].to_numpy(dtype=np.float64) for goal in spec.goals}
        means = {goal: values.mean(keepdims=True) for goal, values in found.items()}
        losses = [goal.weight * goal.loss(means[goal]).item() for goal in _weighted(spec)]
        if not np.isfinite([*losses, *(mean.item() for mean in means.values())]).all():
            study.tell(trial, state=TrialState.FAIL)
            continue
        for goal in spec.goals:
            if goal.limited:
                trial.set_constraint(goal.label, goal.beyond(found[goal]).max().item())
        study.tell(trial, losses if sampler.several else [sum(losses)])

"""A landscape: one or two goals over γ and B, as far as it is computed."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.choosing.engine import Progress, sweep
from xpos_viz.choosing.front import ranked
from xpos_viz.choosing.goals import Goal
from xpos_viz.choosing.objectives import OBJECTIVES
from xpos_viz.choosing.records import Batch, frame
from xpos_viz.choosing.spec import Spec
from xpos_viz.studies.kept import Kept

GOALS: tuple[str, ...] = tuple(sorted(OBJECTIVES, key="half_life".__ne__))
"""What may be wanted: objectives, the usual one first."""

WANTED: tuple[str, ...] = ("half_life", "pair_half_life")
"""Goals of which a certain value is wanted: more of them is not always better."""

BUDGETS: Mapping[str, int] = MappingProxyType({"81": 9, "289": 17, "1089": 33})
"""How many settings may be tried, and how many of γ and of B that are."""

_DIGITS = range(3, 18)  # of numbers: three are read at a glance
_WHOLE = 1e-12  # by which a power of equal factors misses a whole number

Report = Callable[[float], None]
"""Told which share is done; what it raises ends the work."""


@dataclass(frozen=True, eq=False)
class Landscape:
    """Goals at settings of γ and B.

    Parameters
    ----------
    spec
        What is swept: a grid of γ and B.
    points
        What is known of it (:func:`xpos_viz.choosing.points_of`).
    """

    spec: Spec
    points: pd.DataFrame

    @property
    def gammas(self) -> tuple[float, ...]:
        """The rows."""
        return tuple(self.spec.grid["gamma"].tolist())

    @property
    def scale_bases(self) -> tuple[float, ...]:
        """The columns."""
        return tuple(self.spec.grid["scale_base"].tolist())

    @cached_property
    def table(self) -> pd.DataFrame:
        """The settings of which all is known, the best first (:func:`xpos_viz.choosing.ranked`)."""
        return ranked(self.points, self.spec)

    @property
    def allowed(self) -> pd.DataFrame:
        """Those of them at which all goals have a value within their limits, the best first."""
        return self.table[self.table["allowed"]]

    @property
    def barred(self) -> pd.DataFrame:
        """Those of them at which a goal is beyond its limit."""
        beyond = [~goal.allowed(self.table[goal.label].to_numpy()) for goal in self.spec.goals]
        return self.table[np.logical_or.reduce(beyond) & self.known]

    @property
    def known(self) -> NDArray[np.bool_]:
        """At which of them all goals have a value."""
        values = self.table[[goal.label for goal in self.spec.goals]]
        return values.notna().all(axis=1).to_numpy()

    @property
    def front(self) -> pd.DataFrame:
        """Those that no other one beats in all goals, by the first of them."""
        first = self.spec.goals[0].label
        return self.table[self.table["front"]].sort_values(first, kind="stable", ignore_index=True)

    def values(self, goal: Goal) -> NDArray[np.float64]:
        """Return the values of a goal, (γ, B); NaN where none is known."""
        laid = np.full(len(self.gammas) * len(self.scale_bases), np.nan)
        laid[self.table["setting"]] = self.table[goal.label]
        return laid.reshape(len(self.gammas), len(self.scale_bases))

    def values_of(self, setting: int) -> dict[str, float]:
        """Return the γ and the B of a setting."""
        row, column = divmod(setting, len(self.scale_bases))
        return {"gamma": self.gammas[row], "scale_base": self.scale_bases[column]}

    def setting(self, gamma: float, scale_base: float) -> int | None:
        """Return which setting has these values, or None if none has."""
        if gamma not in self.gammas or scale_base not in self.scale_bases:
            return None
        row, column = self.gammas.index(gamma), self.scale_bases.index(scale_base)
        return row * len(self.scale_bases) + column

    def places(self, table: pd.DataFrame) -> list[tuple[int, int]]:
        """Return where settings stand, row and column."""
        return [divmod(int(setting), len(self.scale_bases)) for setting in table["setting"]]


def steps(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return so many numbers in equal factors, whole, or with as few digits as tell them apart.

    Examples
    --------
    >>> steps(0.05, 3.2, 4), steps(512.0, 2048.0, 5)
    ((0.05, 0.2, 0.8, 3.2), (512.0, 724.0, 1024.0, 1450.0, 2048.0))
    """
    exact = np.geomspace(low, high, count)
    rounded = ({_short(each, digits) for each in exact} for digits in _DIGITS)
    return tuple(sorted(next((few for few in rounded if len(few) == count), {*exact.tolist()})))


def _short(value: float, digits: int) -> float:
    """A number in so many digits, but in full if it is whole."""
    whole = math.isclose(value, round(value), rel_tol=_WHOLE)
    return float(round(value)) if whole else float(f"{value:.{digits}g}")


def landscape(spec: Spec, report: Report = lambda _: None) -> Landscape:
    """Compute a landscape; what was computed lately is not computed again."""
    return lately(spec) or known(spec, [_computed(spec, report)])


def lately(spec: Spec) -> Landscape | None:
    """Return a landscape if its points are kept."""
    points = _kept.get(bare(spec))
    return None if points is None else Landscape(spec, points)


def known(spec: Spec, tables: Sequence[pd.DataFrame]) -> Landscape:
    """Return what is known of a landscape; the points of a whole one are kept."""
    points = pd.concat(tables, ignore_index=True)
    if len(points) == spec.total:
        _kept.put(bare(spec), points)
    return Landscape(spec, points)


def bare(spec: Spec) -> Spec:
    """Return what points depend on: of goals, what is computed and not what is wanted of it."""
    return replace(spec, goals=tuple(Goal(goal.objective, goal.options) for goal in spec.goals))


def _computed(spec: Spec, report: Report) -> pd.DataFrame:
    """Compute all points, in a thread of their own, since each counts on one core."""
    batches = list[Batch]()

    def told(progress: Progress) -> None:
        report(progress.share)
        batches.extend(progress.new)

    with ThreadPoolExecutor(1) as thread:
        sweep(spec, None, thread, report=told)
    return frame(spec, batches)


_kept: Kept[pd.DataFrame] = Kept(16)

"""How the last map of a result differs from the first."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.choice import check_choice
from xpos_viz.experiment import Stage
from xpos_viz.pooling import robust_limit
from xpos_viz.results import Result, run

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kind:
    """One way to compare two maps.

    Parameters
    ----------
    column
        What the values are, as a table names them.
    of
        From the first and the last map to the values.
    stage
        The stage that is compared; None is the one that is shown.
    powers
        Whether colours run over exponents of 2, so that twice and half are as far from white.
    """

    column: str
    of: Callable[[Array, Array], Array]
    stage: Stage | None = None
    powers: bool = False


def _minus(first: Array, last: Array) -> Array:
    return last - first


def _over(first: Array, last: Array) -> Array:
    return np.abs(last) / np.abs(first)


KINDS: dict[str, Kind] = {
    "plain": Kind("difference", _minus),
    "ratio": Kind("ratio", _over, powers=True),
    "weights": Kind("weights_difference", _minus, stage="weights"),
}
"""All ways to compare, by name, the usual one first."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A result, and how its last map differs from its first.

    Parameters
    ----------
    result
        What is shown beside it.
    how
        A key of :data:`KINDS`.
    values
        (blocks, blocks): last − first, or |last| / |first| of the shown means; NaN where
        nothing is seen, and where there is none, as of 0/0 and ∞ − ∞.
    shown
        The same as colours run over it: exponents of 2 of a ratio.
    limit
        Colour limit, by the rule of :class:`~xpos_viz.results.Result`, of what is shown.
    """

    result: Result
    how: str
    values: Array
    shown: Array
    limit: float

    @property
    def kind(self) -> Kind:
        """How it is compared."""
        return KINDS[self.how]

    @property
    def stage(self) -> Stage:
        """The stage that is compared."""
        return self.kind.stage or self.result.experiment.view.stage

    def table(self) -> pd.DataFrame:
        """Return the table of the result with one more column, named by what it is."""
        values = self.values[self.result.seen]
        return self.result.table().assign(**{self.kind.column: values})


def compare(result: Result, how: str = "plain") -> Comparison:
    """Compare the first and the last map of a result.

    Parameters
    ----------
    result
        From :func:`xpos_viz.run`.
    how
        A key of :data:`KINDS`; "weights" compares weights whatever stage is shown.

    Returns
    -------
    Comparison
        Read-only arrays and a limit.

    Raises
    ------
    ValueError
        For an unknown way to compare.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, run, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> result = run(Experiment((rope(64), xpos(64)), Expectation(8)))
    >>> compare(result, "ratio").values[7, :2].round(3)
    array([0.995, 0.996])
    """
    check_choice("comparison", how, KINDS)
    kind, view = KINDS[how], result.experiment.view
    stage = kind.stage or view.stage
    compared = run(replace(result.experiment, view=replace(view, stage=stage)))
    first, last = (compared.measurements[place].values for place in (0, -1))
    with np.errstate(all="ignore"):  # 0/0 and ∞ − ∞ have no number and are shown as such
        values = kind.of(first, last)
        shown = np.log2(values) if kind.powers else values
    for array in (values, shown):
        array.flags.writeable = False
    return Comparison(result, how, values, shown, robust_limit(shown[compared.behind]))

"""What is best of what was computed: within the limits, by all goals together, and as a front."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.choosing.spec import Spec


def ranked(points: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """Return the settings, the best first, one row for each of them and length.

    A value of an objective that reads texts is the mean over all heads that were read. Settings
    are left out until all their points are there.

    Losses have units of their own. So at each length the loss of a goal counts from 0 at the best
    setting that is within all limits to the weight of the goal at the worst, of those that are
    finite, or of all settings where none is; what is infinite counts as the best or the worst and
    comes before or after what is equal to it, and what is beyond a limit goes on by the same
    measure. Which setting is the best thus depends on those that were tried, where
    there are several goals.

    Parameters
    ----------
    points
        Points, from :func:`xpos_viz.choosing.points_of` or :func:`xpos_viz.choosing.search`.
    spec
        What they are points of.

    Returns
    -------
    DataFrame
        Columns setting, the parameters, length (tokens; NaN where no objective needs one), the
        values of the goals (NaN where a point failed), loss (the sum of what they count), allowed
        (whether all limits hold) and front (whether no other allowed row of that length is as
        good in every goal that has a weight, and better in one).
    """
    whole = points[points.groupby("setting")["point"].transform("size") == len(spec.cases)]
    table = _by_length(whole, spec)
    values = {goal.label: table[goal.label].to_numpy(dtype=np.float64) for goal in spec.goals}
    weighted = [goal for goal in spec.goals if goal.weight > 0]
    losses = np.zeros((len(table), len(weighted) or 1))
    for column, goal in enumerate(weighted):
        losses[:, column] = goal.loss(values[goal.label])
    weights = np.array([goal.weight for goal in weighted] or [0.0])
    known = ~np.isnan(np.stack([*values.values()], 1)).any(1)
    limits = [goal.allowed(values[goal.label]) for goal in spec.goals]
    table["allowed"] = known & np.logical_and.reduce(limits)
    table["loss"], table["front"] = np.nan, False
    for _, rows in table.groupby("length", dropna=False):
        places, allowed = rows.index.to_numpy(), rows["allowed"].to_numpy()
        table.loc[places, "loss"] = _shares(losses[places], allowed) @ weights
        places = places[allowed]
        table.loc[places[pareto(losses[places])], "front"] = True
    infinite = (np.isposinf(losses).astype(int) - np.isneginf(losses)).sum(1)
    order = np.lexsort(
        (table["length"], table["setting"], infinite, table["loss"], ~table["allowed"])
    )
    return table.iloc[order].reset_index(drop=True)


def best(points: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """Return the best setting of each length, as :func:`ranked` has it.

    Raises
    ------
    ValueError
        If none is within the limits.
    """
    table = ranked(points, spec)
    allowed = table[table["allowed"] & table["loss"].notna()]
    if allowed.empty:
        raise ValueError(_nothing(table, spec))
    first = allowed.groupby("length", dropna=False, sort=True).head(1)
    return first.sort_values("length", ignore_index=True)


def pareto(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which rows no other row beats: as small everywhere, and smaller somewhere.

    Examples
    --------
    >>> pareto(np.array([[1.0, 3.0], [2.0, 2.0], [2.0, 3.0], [3.0, 1.0]]))
    array([0, 1, 3])
    """
    found, rest = list[int](), np.lexsort(losses.T[::-1])
    while len(rest):  # in this order, who beats a row stands before it
        first, others = losses[rest[0]], losses[rest]
        found.append(int(rest[0]))
        beaten = np.logical_and((others >= first).all(1), (others > first).any(1))
        rest = rest[1:][~beaten[1:]]
    return np.array(sorted(found), dtype=np.int64)


def _shares(losses: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Losses, each counted from 0 at the best allowed row to 1 at the worst; of all, if none is."""
    known = np.isfinite(losses)
    judged = known & (allowed[:, None] | ~allowed.any())
    finite = np.ma.masked_where(~judged, losses)
    low, high = finite.min(0).filled(0.0), finite.max(0).filled(0.0)
    ends = np.where(np.isinf(losses), losses.clip(low, high), losses)
    return (ends - low) / np.where(high > low, high - low, 1.0)


def _by_length(points: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """One row for each setting and length, with means over what texts gave."""
    names = [name for name, _ in spec.parameters]
    labels = {need: _labels(spec, need) for need in ("length", "text")}
    texts = points[points["text"].notna()].groupby("setting")[labels["text"]]
    means = texts.mean().where(texts.count().eq(texts.size(), axis=0))
    lengths = points[points["length"].notna()]
    if lengths.empty:
        lengths = points.drop_duplicates("setting")
    table = lengths[["setting", *names, "length", *labels["length"]]]
    table = table.merge(means, how="left", left_on="setting", right_index=True)
    return table[["setting", *names, "length", *(goal.label for goal in spec.goals)]].reset_index(
        drop=True
    )


def _labels(spec: Spec, need: str) -> list[str]:
    """The goals that need a length, or a text."""
    return [goal.label for goal in spec.goals if goal.row.needs == need]


def _nothing(table: pd.DataFrame, spec: Spec) -> str:
    """What is said where nothing is allowed."""
    if table.empty:
        return "no setting has all its points yet, so none is the best; resume the sweep."
    for goal in spec.goals:
        values = table[goal.label].to_numpy(dtype=np.float64)
        known = values[~np.isnan(values)]
        if not len(known):
            return f"{goal.label} failed at every setting; look at the errors of the points."
        if not goal.allowed(known).any():
            nearest = known[np.argmin(goal.beyond(known))]
            limits = [
                f"{word} {limit:g}"
                for word, limit in (("below", goal.below), ("above", goal.above))
                if limit is not None
            ]
            return (
                f"no setting has {goal.label} {' and '.join(limits)}, the nearest has "
                f"{nearest:.4g}; use another limit, or a wider range."
            )
    return "no setting is within all limits at once; use fewer or other limits, or a wider range."

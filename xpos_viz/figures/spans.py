"""Where things lie along an axis, the same for every pen."""

import math
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from xpos_viz.figures.description import Bars, Curves, Heatmaps, Mark, Plane

Numbers = NDArray[np.float64]

INSET = 6
"""Pixels by which the name of a mark, above the axes, reaches over its place."""

_HUGE = 1e300  # no axis reaches further: float64 must hold the sum of its limits
_MARGIN, _LETTER, _AXIS = 28, 6.5, 225  # pixels beside, of a letter, and of the shortest axis
_NEAR = 0.3  # of the axis: nearer marks might write over each other


@dataclass(frozen=True)
class Flag:
    """Where the name of a mark stands above the axes.

    Parameters
    ----------
    mark
        What is named.
    left
        Whether the name goes to the left from there.
    row
        In which line, from 0, the lowest.
    """

    mark: Mark
    left: bool
    row: int


def finite(values: Numbers) -> Numbers:
    """Return the values with gaps where they are not finite, or too large for an axis."""
    return np.where(np.abs(values) < _HUGE, values, np.nan)


def edges(places: Numbers | tuple[str, ...], *, logarithmic: bool = False) -> Numbers:
    """Return where cells begin and end: half way between their places, which are 0, 1 … of words.

    Examples
    --------
    >>> edges(np.array([0.0, 2.0, 4.0]))
    array([-1.,  1.,  3.,  5.])
    >>> edges(np.array([1.0, 100.0]), logarithmic=True)
    array([1.e-01, 1.e+01, 1.e+03])
    >>> edges(("a", "b"))
    array([-0.5,  0.5,  1.5])
    """
    if isinstance(places, tuple):
        return np.arange(-0.5, len(places))
    if logarithmic:
        return np.exp(edges(np.log(places)))
    halves = np.diff(places) / 2 if len(places) > 1 else np.full(1, 0.5)
    middles = places[:-1] + halves[: len(places) - 1]
    return np.array([places[0] - halves[0], *middles, places[-1] + halves[-1]], np.float64)


def height_limits(curves: Curves) -> tuple[float, float]:
    """Return the lowest and highest of what is drawn, with some room, and with 0 where it is.

    Limits that pictures share are returned as they are.
    """
    if curves.y_limits:
        return curves.y_limits
    drawn = [part for curve in curves.curves for part in (curve.y, *(curve.band or ()))]
    marks = np.array([mark.y for mark in curves.marks])
    y = finite(np.concatenate([*drawn, marks]).astype(np.float64))
    return _log_limits(y[y > 1 / _HUGE]) if curves.logarithmic_y else _limits(y[~np.isnan(y)])


def band(curves: Curves, place: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return x, low and high of a curve's band, without what has no place on the axes."""
    curve, floor = curves.curves[place], height_limits(curves)[0]
    low, high = (finite(part) for part in curve.band or (curve.y, curve.y))
    if curves.logarithmic_y:
        low, high = np.maximum(low, floor), np.where(high > 0, high, np.nan)
    return curve.x, np.where(np.isnan(high), np.nan, low), np.where(np.isnan(low), np.nan, high)


def width_limits(curves: Curves) -> tuple[float, float]:
    """Return the first and the last x that has a place on the axis, or the shared ones."""
    if curves.x_limits:
        return curves.x_limits
    x = np.concatenate([curve.x for curve in curves.curves])
    x = x[x > 0] if curves.logarithmic else x
    return float(x.min()), float(x.max())


def leans_left(curves: Curves, mark: Mark) -> bool:
    """Return whether the name of a mark has more room to its left.

    It leans away from an end at which it might be cut off, else from another mark that is near,
    else from the nearer end.
    """
    here, end = _share(curves, mark.x), _beyond(mark.label)
    if not end < here < 1 - end:
        return here > 0.5
    others = [_share(curves, other.x) - here for other in curves.marks if other.x != mark.x]
    nearest = min(others, key=abs, default=1.0)
    return nearest > 0 if abs(nearest) < _NEAR else here > 0.5


def flags(curves: Curves) -> list[Flag]:
    """Return where the names of marks stand above the shortest axis: none over another."""
    found: list[Flag] = []
    ends: dict[int, float] = {}  # of the names in each line, pixels of the shortest axis
    for mark in sorted(curves.named, key=lambda mark: mark.x):
        at, width = _AXIS * _share(curves, mark.x), _width(mark.label)
        left = at + width > _AXIS + _MARGIN
        start = at + INSET - width if left else at - INSET
        row = next(row for row in count() if ends.get(row, start) <= start)
        ends[row] = start + width
        found.append(Flag(mark, left, row))
    return found


def over_bar(maps: Heatmaps, bar: int, across: int) -> list[int]:
    """Return the panels over a colour bar: those that share it and, beside others, the last row."""
    shared = [place for place, panel in enumerate(maps.panels) if panel.bar == bar]
    row = [place for place in range(len(maps.panels)) if place // across == shared[-1] // across]
    own = [place for place in row if place in shared]
    return shared if own == row else own


def bar_limits(bars: Bars) -> tuple[float, float]:
    """Return the lowest and highest of bars, and 0, with some room."""
    drawn = [*(heights for _, heights in bars.series), *(bars.spans or ())]
    heights = finite(np.concatenate(drawn).astype(np.float64))
    return bars.y_limits or _limits(heights[~np.isnan(heights)])


def plane_limit(plane: Plane) -> float:
    """Return how far the axes of a plane go: around the unit circle and all points."""
    if plane.limit:
        return plane.limit
    reach = np.abs(plane.paths[np.isfinite(plane.paths)])
    return 1.08 * max(1.0, float(reach.max(initial=0.0)))


def _beyond(name: str) -> float:
    """The share of the shortest axis that a name takes, without what the margin has room for."""
    return max(0.0, _width(name) - _MARGIN) / _AXIS


def _width(name: str) -> float:
    """Pixels of a name; letters of Chinese are as wide as two."""
    return _LETTER * sum(1 + (ord(letter) > 0x2E80) for letter in name)


def _share(curves: Curves, x: float) -> float:
    """Where x lies between the ends of its axis."""
    low, high = width_limits(curves)
    if curves.logarithmic:
        low, high, x = math.log(low), math.log(high), math.log(x)
    return (x - low) / (high - low) if high > low else 0.0


def _limits(y: Numbers) -> tuple[float, float]:
    """Limits around values and 0."""
    low, high = float(y.min(initial=0.0)), float(y.max(initial=0.0))
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _log_limits(y: Numbers) -> tuple[float, float]:
    """Limits around positive values, with the same room in powers."""
    low, high = np.log(y.min(initial=y.max(initial=1.0))), np.log(y.max(initial=y.min(initial=1.0)))
    room = 0.05 * (high - low) or 1.0
    return float(np.exp(low - room)), float(np.exp(high + room))

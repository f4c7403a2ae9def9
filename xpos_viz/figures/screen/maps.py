"""Maps on a screen: square panels whose axes follow each other."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xpos_viz.figures.description import Axis, Bar, Heatmaps, Panel
from xpos_viz.figures.screen import Spec, axis_style, base, named, nth, safe, sent, titled
from xpos_viz.figures.screen.colours import BAR, Frame, bar_title, colour_axis
from xpos_viz.figures.spans import over_bar
from xpos_viz.figures.words import number, rounded
from xpos_viz.theme import Ink

_TITLE, _LEFT, _RIGHT, _GAP = 78, 62, 14, 40  # pixels around and between panels
_TICK = 13  # pixels a token label needs along its axis
_NAMED = 128  # most tokens whose names travel with every cell; more would be megabytes
_SMALL, _LARGE = 1e-4, 1e9  # where numbers begin, and cease, to be written without powers of ten
_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class Sheet:
    """Where square panels stand on the sheet, in pixels inside its margins.

    Parameters
    ----------
    count, across
        Panels, and how many of them stand side by side.
    width
        Of the sheet with its margins.
    foot
        Of the labels under a panel.
    between
        Of a colour bar between rows.
    """

    count: int
    across: int
    width: int
    foot: int
    between: int

    @property
    def size(self) -> float:
        """Side of a panel."""
        return (self.inner_width - _GAP * (self.across - 1)) / self.across

    @property
    def inner_width(self) -> float:
        """Width between the margins."""
        return max(self.width - _LEFT - _RIGHT, 120.0)

    @property
    def step(self) -> float:
        """From one row to the next."""
        return self.size + _TITLE + self.foot + self.between

    @property
    def inner_height(self) -> float:
        """Height between the margins."""
        return self.size + self.row(self.count - 1) * self.step

    def row(self, place: int) -> int:
        """Row of a panel."""
        return place // self.across

    def frame(self, place: int) -> Frame:
        """The spans of a panel across and up, as shares of the inner sheet."""
        left = place % self.across * (self.size + _GAP) / self.inner_width
        top = self.row(place) * self.step / self.inner_height
        right = left + self.size / self.inner_width
        bottom = top + self.size / self.inner_height
        # rounding may end a hair beyond the sheet
        return (left, min(right, 1.0)), (max(1 - bottom, 0.0), 1 - top)


def draw(maps: Heatmaps, ink: Ink, width: int, across: int) -> Spec:
    """Draw panels whose axes follow each other, each group over its colour bar."""
    sheet = _sheet(maps, width, across)
    frames = [sheet.frame(place) for place in range(sheet.count)]
    traces, layout = [], _layout(ink, sheet)
    for place, panel in enumerate(maps.panels, 1):
        traces.append(_heatmap(panel, maps.bars[panel.bar], maps.axis, place))
        if panel.unknown.any():
            traces.append(_unknown(panel, maps.axis, ink, place))
        layout |= _axes(maps.axis, ink, place, sheet)
    titles = [
        titled([safe(line) for line in panel.title], ink, x[0], y[1])
        for panel, (x, y) in zip(maps.panels, frames, strict=True)
    ]
    for index, bar in enumerate(maps.bars):
        under = [frames[place] for place in over_bar(maps, index, across)]
        layout[nth("coloraxis", index + 1)] = colour_axis(bar, ink, under, sheet.foot)
        titles.append(bar_title(bar, ink, under, sheet.foot))
    layout["annotations"] = titles
    return {"data": traces, "layout": layout}


def width(across: int, side: float) -> float:
    """Return the width of a sheet with panels of some side."""
    return _LEFT + _RIGHT + across * side + (across - 1) * _GAP


def _sheet(maps: Heatmaps, width: int, across: int) -> Sheet:
    """The sheet, with room between its rows if a colour bar stands there."""
    count, foot = len(maps.panels), 36 + _label_height(maps.axis)
    ends = {over_bar(maps, index, across)[-1] // across for index in range(len(maps.bars))}
    between = BAR if ends - {(count - 1) // across} else 0
    return Sheet(count, min(across, count), width, foot, between)


def _label_height(axis: Axis) -> int:
    """Pixels that the tick labels of the keys take below a panel."""
    return min(90, 10 + 6 * max(map(len, axis.labels))) if axis.labels else 14


def _heatmap(panel: Panel, bar: Bar, axis: Axis, place: int) -> Spec:
    """The cells of a panel that have a value; where there is none the ground is seen."""
    value, words = reading(panel.values, bar)
    look = {"coloraxis": nth("coloraxis", panel.bar + 1)} | words
    return _trace(panel, axis, place, cells(panel.values), value, **look)


def _unknown(panel: Panel, axis: Axis, ink: Ink, place: int) -> Spec:
    """The cells of a panel that are seen and have no number."""
    scale = {"colorscale": [(0, ink.unknown), (1, ink.unknown)], "showscale": False}
    return _trace(panel, axis, place, np.where(panel.unknown, 0.0, np.nan), "–", **scale)


def _trace(
    panel: Panel, axis: Axis, place: int, z: NDArray[Any], value: str, **look: object
) -> Spec:
    """Cells at their places, with what is read at them."""
    named = 0 < len(axis.labels) <= _NAMED
    cell = _position("%{y:,}", "%{x:,}", "%{customdata:,}", axis)
    position = "%{customdata}" if named else cell
    return {
        "type": "heatmap",
        "name": panel.title[0],
        "x": axis.positions,
        "y": axis.positions,
        "z": z,
        "customdata": _pairs(axis) if named else np.where(np.isnan(z), 0, _lags(axis)),
        "hovertemplate": f"<b>{safe(panel.title[0])}</b>  {value}<br>{position}<extra></extra>",
        "hoverongaps": False,
        "xaxis": nth("x", place),
        "yaxis": nth("y", place),
        **look,
    }


def reading(values: NDArray[np.float64], bar: Bar) -> tuple[str, Spec]:
    """Return the template of a cell's value, and the words that it needs.

    Values have the decimals that colours can tell apart; words are sent only for factors, and
    where numbers need powers of ten.
    """
    if bar.powers:
        return "%{text}", {"text": worded(np.exp2(values))}
    if bar.limit < _SMALL or np.abs(values).max(initial=0, where=~np.isnan(values)) >= _LARGE:
        return "%{text}", {"text": worded(values)}
    return f"%{{z:,.{max(0, 3 - math.floor(math.log10(bar.limit)))}f}}", {}


@partial(np.vectorize, otypes=[object])
def worded(value: float) -> str:
    """Write a value with six digits, or by a power of ten."""
    plain = f"{value:.6g}"
    return rounded(value) if "e" in plain or "n" in plain else plain.replace("-", "−")


def cells(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return values as they are sent, ±inf as the largest number."""
    return sent(np.where(np.isinf(values), np.copysign(_LARGEST, values), values))


def _lags(axis: Axis) -> NDArray[Any]:
    """Lag of each cell: cells are equally spaced by whole tokens, so lags are whole."""
    lags = axis.positions[:, None] - axis.positions[None, :]
    return lags.astype(np.int16 if np.abs(lags).max(initial=0) < 2**15 else np.int32)


def _pairs(axis: Axis) -> NDArray[np.str_]:
    """Query, key and lag of each cell, with their tokens."""
    named = [f"{number(p)} {safe(t)}" for p, t in zip(axis.positions, axis.labels, strict=True)]
    lags = _lags(axis)
    return np.array(
        [
            [_position(q, k, number(int(lag)), axis) for k, lag in zip(named, row, strict=True)]
            for q, row in zip(named, lags, strict=True)
        ]
    )


def _position(query: str, key: str, lag: str, axis: Axis) -> str:
    """Where a cell is, for the read-out."""
    return f"{axis.query} {query} · {axis.key} {key} · {axis.lag} {lag}"


def _axes(axis: Axis, ink: Ink, place: int, sheet: Sheet) -> Spec:
    """The two axes of a panel: equal steps, queries down, following those of the first."""
    low, high = axis.span
    x, y = sheet.frame(place - 1)
    first, left = place == 1, (place - 1) % sheet.across == 0
    common = axis_style(ink) | _ticks(axis, sheet.size) | {"showgrid": False}
    common |= {"constrain": "domain", "showline": True, "mirror": True}
    across = {"domain": x, "anchor": nth("y", place), "range": [low, high]}
    across |= {"title": named(axis.keys, ink), "tickangle": -90 if axis.labels else 0}
    across |= {} if first else {"matches": "x"}
    across |= {"constraintoward": "left"}
    down = {"domain": y, "anchor": nth("x", place), "range": [high, low], "showticklabels": left}
    down |= {"title": named(axis.queries if left else "", ink)}
    down |= {"constraintoward": "top"}
    down |= {"scaleanchor": "x"} if first else {"matches": "y"}
    return {nth("xaxis", place): common | across, nth("yaxis", place): common | down}


def _ticks(axis: Axis, size: float) -> Spec:
    """Tokens as tick texts at their positions, thinned; numbers where there is no text."""
    if not axis.labels:
        return {"tickmode": "auto", "nticks": max(3, min(7, int(size / 40)))}
    step = math.ceil(len(axis.labels) * _TICK / size)
    return {
        "tickmode": "array",
        "tickvals": axis.positions[::step],
        "ticktext": [safe(label) for label in axis.labels[::step]],
    }


def _layout(ink: Ink, sheet: Sheet) -> Spec:
    """Size, margins and ground of the heatmaps."""
    below = sheet.foot + BAR
    return base(ink) | {
        "plot_bgcolor": ink.masked,
        "height": round(sheet.inner_height + _TITLE + below),
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _TITLE, "b": below, "autoexpand": False},
        "dragmode": "zoom",
    }

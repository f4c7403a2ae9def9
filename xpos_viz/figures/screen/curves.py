"""Curves on a screen, with their bands and marks."""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xpos_viz.figures.description import Curves, Mark, Numbers
from xpos_viz.figures.screen import (
    Spec,
    axis_style,
    legend,
    log_axis,
    named,
    safe,
    sent,
    sheet,
    transparent,
)
from xpos_viz.figures.spans import INSET, Flag, band, flags, height_limits, width_limits
from xpos_viz.figures.words import rounded
from xpos_viz.theme import Ink, stroke

_HEIGHT, _FLAG = 236, 15  # pixels of the axes, and of a line of names above them
_ROUNDING = 1e-9  # of a logarithmic axis, by which logarithms may differ


def draw(curves: Curves, ink: Ink) -> Spec:
    """Draw lines over bands, and named points over both."""
    named_ = flags(curves)
    lines = 1 + max((flag.row for flag in named_), default=-1)
    layout = sheet(ink, _HEIGHT, above=16 + _FLAG * lines)
    style = axis_style(ink)
    across, up = {"title": named(curves.x, ink)}, {"title": named(curves.y, ink)}
    layout |= {
        "hovermode": "x unified",
        "legend": legend(ink),
        "xaxis": style | across | _across(curves),
        "yaxis": style | up | _up(curves, ink),
    }
    if named_:
        layout["annotations"] = [_name(flag, curves, ink) for flag in named_]
        layout["shapes"] = [_pole(flag.mark) for flag in named_]
    traces = [*_bands(curves), *_lines(curves), *_marks(curves, ink)]
    return {"data": traces, "layout": layout}


def _across(curves: Curves) -> Spec:
    """What kind of axis the x are on, from the first to the last; dots take no room beside them."""
    low, high = width_limits(curves)
    axis = log_axis(low, high) if curves.logarithmic else {"type": "linear"}
    ends = _powers(low, high) if curves.logarithmic else [low, high]
    return axis | ({"range": ends} if low < high else {})


def _up(curves: Curves, ink: Ink) -> Spec:
    """What kind of axis the y are on, to shared ends; a linear one shows where 0 is."""
    low, high = height_limits(curves)
    ends = _powers(low, high) if curves.logarithmic_y else [low, high]
    shared = {"range": ends} if curves.y_limits else {}
    if curves.logarithmic_y:
        return log_axis(low, high) | shared
    return {"type": "linear", "zeroline": True, "zerolinecolor": ink.faint} | shared


def _powers(low: float, high: float) -> list[float]:
    """The ends of a logarithmic axis; a browser's logarithm of a dot there may be just beyond."""
    first, last = math.log10(low), math.log10(high)
    room = _ROUNDING * (last - first)
    return [first - room, last + room]


def _bands(curves: Curves) -> Iterator[Spec]:
    """The ground between low and high, in pieces where there is a gap."""
    for place, curve in enumerate(curves.curves):
        if curve.band is None:
            continue
        colour, _ = stroke(curves.places[place])
        x, y = _outline(*band(curves, place))
        yield {
            "type": "scatter",
            "x": sent(x),
            "y": y if curves.logarithmic_y else sent(y),
            "name": safe(curve.label),
            "legendgroup": str(place),
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": transparent(colour, 0.18),
            "hoverinfo": "skip",
            "showlegend": False,
        }


def _lines(curves: Curves) -> Iterator[Spec]:
    """One line per curve."""
    for place, curve in enumerate(curves.curves):
        colour, dash = stroke(curves.places[place], curve.dash)
        alone = len(curve.x) == 1  # rounded, a dot could be beyond the end of the axis, and hidden
        yield {
            "type": "scatter",
            "x": curve.x if alone else sent(curve.x),
            "y": _heights(curve.y, curves),
            "name": safe(curve.label),
            "legendgroup": str(place),
            "line": {"color": colour, "width": 2, "dash": dash},
            **({"mode": "markers", "cliponaxis": False} if alone else {"mode": "lines"}),
        } | _read(curve.y, curves)


def _read(y: Numbers, curves: Curves) -> Spec:
    """How values are read: on a logarithmic axis, where they may be tiny, by powers of ten."""
    if not curves.logarithmic_y:
        return {"hovertemplate": "%{y:.5~g}"}
    return {"text": [rounded(value) for value in y.tolist()], "hovertemplate": "%{text}"}


def _heights(y: Numbers, curves: Curves) -> Numbers:
    """Values as they are sent; Plotly would draw a line down to what is ≤ 0 on a log axis."""
    return np.where(y > 0, y, np.nan) if curves.logarithmic_y else sent(y)


def _marks(curves: Curves, ink: Ink) -> Iterator[Spec]:
    """The points that are named."""
    if not curves.marks:
        return
    yield {
        "type": "scatter",
        "x": np.array([mark.x for mark in curves.marks], float),
        "y": np.array([mark.y for mark in curves.marks], float),
        "text": [safe(mark.read or mark.label) for mark in curves.marks],
        "mode": "markers",
        "marker": {
            "color": [stroke(mark.line)[0] for mark in curves.marks],
            "size": 9,
            "line": {"color": ink.page, "width": 1.5},
        },
        "cliponaxis": False,
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
    }


def _name(flag: Flag, curves: Curves, ink: Ink) -> Spec:
    """The name of a point, above the axes, where it covers no line."""
    mark = flag.mark
    return {
        "text": safe(mark.label),
        "x": math.log10(mark.x) if curves.logarithmic else mark.x,
        "y": 1,
        "yref": "paper",
        "xanchor": "right" if flag.left else "left",
        "yanchor": "bottom",
        "xshift": INSET if flag.left else -INSET,
        "yshift": 2 + _FLAG * flag.row,
        "showarrow": False,
        "font": {"color": ink.text, "size": 11},
    }


def _pole(mark: Mark) -> Spec:
    """A thin line from the foot of the axes through a point to its name."""
    return {
        "type": "line",
        "x0": mark.x,
        "x1": mark.x,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "layer": "below",
        "line": {"color": stroke(mark.line)[0], "width": 1, "dash": "dot"},
    }


def _outline(
    x: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of each piece of a band, there and back; NaN stands between pieces."""
    whole = np.concatenate([[False], ~np.isnan(low), [False]])
    ends = np.flatnonzero(np.diff(whole.astype(int)))
    gap = [np.array([np.nan])]
    pieces = [slice(start, stop) for start, stop in list(pairwise(ends))[::2]]
    across = [part for at in pieces for part in (x[at], x[at][::-1], *gap)]
    up = [part for at in pieces for part in (high[at], low[at][::-1], *gap)]
    return np.concatenate(across or gap), np.concatenate(up or gap)

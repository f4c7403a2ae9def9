"""Points that move in the complex plane, on a screen: with a slider and a button to play."""

import numpy as np
from numpy.typing import NDArray

from xpos_viz.figures.description import Plane
from xpos_viz.figures.screen import LEFT, RIGHT, Spec, axis_style, legend, named, safe, sent, sheet
from xpos_viz.figures.spans import plane_limit
from xpos_viz.theme import LEVEL, Ink, stroke

SIDES = 200, 400
"""Least and largest side of the square on a page, pixels of usual type."""

_MOVED, _STILL = 150, 56  # below them: numbers, and a slider where there are steps
_SMALL, _LARGE = 6, 9  # pixels of points without a path, and with one
_STEP = 80  # milliseconds that a step is shown


def width(side: float) -> float:
    """Return the width of a sheet with a square of some side."""
    return LEFT + side + RIGHT


def draw(plane: Plane, ink: Ink, wide: float) -> Spec:
    """Draw paths and the points of the first step; frames move the points."""
    side = min(wide - width(0), SIDES[1])
    circle = {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1}
    traces = [
        _path(safe(plane.labels[point]), plane.paths[point], place)
        for place, point in enumerate(plane.drawn)
    ]
    frames = [
        {
            "name": str(step),
            "data": [{"type": "scatter"} | _at(plane, step)],
            "traces": [len(traces)],
        }
        for step in range(len(plane.steps))
    ]
    limit, style = plane_limit(plane), axis_style(ink)
    both = style | {"range": [-limit, limit], "constrain": "domain", "zeroline": True}
    both |= {"zerolinecolor": ink.faint, "nticks": 7}
    down = {"title": named(plane.y, ink), "scaleanchor": "x", "constraintoward": "top"}
    layout = sheet(ink, side, _MOVED if plane.steps else _STILL) | {
        "shapes": [circle | {"line": {"color": ink.faint, "width": 1}}],
        "hovermode": "closest",
        "legend": legend(ink, -0.4 if plane.steps else -0.16),
        "xaxis": both | {"title": named(plane.x, ink)},
        "yaxis": both | down,
    }
    if plane.steps:
        layout |= {"sliders": [_slider(plane, ink)], "updatemenus": [_buttons(ink)]}
    return {"data": [*traces, _points(plane, ink)], "layout": layout, "frames": frames}


def _path(label: str, path: NDArray[np.complex128], place: int) -> Spec:
    """Where a point goes."""
    colour, _ = stroke(place)
    return {
        "type": "scatter",
        "x": sent(path.real),
        "y": sent(path.imag),
        "name": label,
        "mode": "lines",
        "line": {"color": colour, "width": 1.2},
        "hoverinfo": "skip",
    }


def _points(plane: Plane, ink: Ink) -> Spec:
    """All points, at the first step: those with a path are larger, and over the others."""
    few, others = len(plane.drawn), len(plane.others)
    colours = [stroke(place)[0] for place in (*[LEVEL] * others, *range(few))]
    return {
        "type": "scatter",
        **_at(plane, 0 if plane.steps else -1),
        "text": [safe(plane.labels[point]) for point in _order(plane)],
        "mode": "markers",
        "marker": {
            "color": colours,
            "size": [*[_SMALL] * others, *[_LARGE] * few],
            "line": {"color": ink.page, "width": 1},
        },
        "hovertemplate": "%{text}<br>%{x:.4~g} %{y:+.4~g} i<extra></extra>",
        "cliponaxis": False,
        "showlegend": False,
    }


def _at(plane: Plane, step: int) -> Spec:
    """Where the points are at a step."""
    points = plane.paths[_order(plane), step]
    return {"x": sent(points.real), "y": sent(points.imag)}


def _order(plane: Plane) -> list[int]:
    """The points from the lowest to the topmost."""
    return [*plane.others, *plane.drawn]


def _slider(plane: Plane, ink: Ink) -> Spec:
    """A step at every place of a slider."""
    return {
        "steps": [
            {"label": safe(word), "method": "animate", "args": [[str(step)], _motion(0)]}
            for step, word in enumerate(plane.steps)
        ],
        "currentvalue": {"font": {"color": ink.text, "size": 13}, "xanchor": "left"},
        "x": 0,
        "len": 1,
        "y": 0,
        "pad": {"t": 46, "l": 72},
        "font": {"color": ink.faint, "size": 10},
        "bgcolor": ink.grid,
        "bordercolor": ink.faint,
        "activebgcolor": ink.faint,
        "tickcolor": ink.faint,
        "ticklen": 3,
        "minorticklen": 0,
    }


def _buttons(ink: Ink) -> Spec:
    """One button that plays on from where the slider is, and pauses."""
    play, pause = [None, _motion(_STEP) | {"fromcurrent": True}], [[None], _motion(0)]
    return {
        "type": "buttons",
        "buttons": [{"label": "▶ ❙❙", "method": "animate", "args": play, "args2": pause}],
        "active": -1,  # else the first press is taken for the second, which pauses
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 58},
        "font": {"color": ink.text, "size": 12},
        "bgcolor": ink.page,
        "bordercolor": ink.faint,
    }


def _motion(duration: int) -> Spec:
    """How long a step is shown; the next one follows at once."""
    return {
        "mode": "immediate",
        "frame": {"duration": duration, "redraw": False},
        "transition": {"duration": 0},
    }

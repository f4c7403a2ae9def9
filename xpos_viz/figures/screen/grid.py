"""A heatmap over two axes of its own, on a screen."""

from collections.abc import Iterator, Sequence

from xpos_viz.figures.description import Grid, Numbers
from xpos_viz.figures.screen import (
    Spec,
    apart,
    axis_style,
    log_axis,
    named,
    safe,
    sheet,
    words_width,
)
from xpos_viz.figures.screen.colours import BAR, Frame, bar_title, colour_axis
from xpos_viz.figures.screen.maps import cells, reading
from xpos_viz.theme import Ink

RING = 17
"""Pixels across the ring in a cell."""

_HEIGHT, _FOOT = 300, 50  # pixels of the axes, and of numbers and title under them
_WHOLE: list[Frame] = [((0.0, 1.0), (0.0, 1.0))]


def draw(grid: Grid, ink: Ink) -> Spec:
    """Draw cells over their colour bar, rows downwards."""
    foot = _FOOT + words_width(grid.columns) // 2  # they lean where there is little room
    layout = sheet(ink, _HEIGHT, foot + BAR, 64 + words_width(grid.rows) // 2)
    value, words = reading(grid.values, grid.bar)
    places = f"{safe(grid.y)} %{{y}}<br>{safe(grid.x)} %{{x}}"
    trace = {
        "type": "heatmap",
        "x": places_of(grid.columns),
        "y": places_of(grid.rows),
        "z": cells(grid.values),
        "coloraxis": "coloraxis",
        "hoverongaps": False,
        "hovertemplate": f"<b>{value}</b><br>{places}<extra></extra>",
        **words,
    }
    if grid.written:
        trace |= {"text": grid.written, "texttemplate": "%{text}"}
    style = axis_style(ink) | {"showgrid": False, "showline": True, "mirror": True}
    across = {"title": named(grid.x, ink)} | _axis(grid.columns, logarithmic=grid.logarithmic)
    down = {"title": named(grid.y, ink)} | _axis(grid.rows) | _downwards(grid.rows)
    layout["margin"] |= {"autoexpand": False}
    layout |= {
        "plot_bgcolor": ink.masked,
        "xaxis": style | across,
        "yaxis": style | down,
        "coloraxis": colour_axis(grid.bar, ink, _WHOLE, foot),
        "annotations": [bar_title(grid.bar, ink, _WHOLE, foot)],
    }
    return {"data": [trace, *_ring(grid, ink)], "layout": layout}


def places_of(places: Numbers | tuple[str, ...]) -> Sequence[str] | Numbers:
    """Return numbers, or words as categories."""
    return apart(places) if isinstance(places, tuple) else places


def _ring(grid: Grid, ink: Ink) -> Iterator[Spec]:
    """A ring in a cell, on ground of its own, so that it is seen on all colours."""
    if grid.ringed is None:
        return
    row, column = grid.ringed
    for colour, width in ((ink.page, 5), (ink.text, 2)):
        yield {
            "type": "scatter",
            "x": [places_of(grid.columns)[column]],
            "y": [places_of(grid.rows)[row]],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": RING,
                "color": colour,
                "line": {"width": width},
            },
            "hoverinfo": "skip",
            "showlegend": False,
        }


def _downwards(places: Numbers | tuple[str, ...]) -> Spec:
    """An axis that begins above."""
    words = isinstance(places, tuple)
    return {"range": [len(places) - 0.5, -0.5]} if words else {"autorange": "reversed"}


def _axis(places: Numbers | tuple[str, ...], *, logarithmic: bool = False) -> Spec:
    """What kind of axis holds these places."""
    if isinstance(places, tuple):  # points would take room beside the cells
        return {"type": "category", "range": [-0.5, len(places) - 0.5]}
    return log_axis(places[0], places[-1]) if logarithmic else {"type": "linear"}

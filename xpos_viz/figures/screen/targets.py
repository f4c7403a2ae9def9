"""Points of a picture that a click chooses: each knows its number."""

import numpy as np

from xpos_viz.figures.description import Curves, Description, Grid
from xpos_viz.figures.screen import Spec
from xpos_viz.figures.screen.grid import places_of
from xpos_viz.figures.screen.maps import cells, reading

_FIRM = {name: {"marker": {"opacity": 1}} for name in ("selected", "unselected")}  # nothing pales


def aimed(spec: Spec, description: Description) -> Spec:
    """Return a figure of which points can be chosen, if it is a grid or has marks.

    Parameters
    ----------
    spec
        What is drawn.
    description
        Of what: cells of a grid are counted row by row, marks of curves one by one.

    Returns
    -------
    Spec
        Points have their number as `customdata`.
    """
    if isinstance(description, Grid):
        traces = _cells(spec["data"], description)
    elif isinstance(description, Curves) and description.marks:
        traces = _marks(spec["data"], description)
    else:
        return spec
    clicked = {"clickmode": "event+select", "dragmode": "zoom", "hovermode": "closest"}
    layout = spec["layout"] | clicked | {"hoverdistance": -1}  # so that a cell is hit anywhere
    return spec | {"layout": layout, "data": traces}


def _cells(traces: list[Spec], grid: Grid) -> list[Spec]:
    """Unseen points in the middle of all cells that are known, read as the cells are."""
    known = np.argwhere(~np.isnan(grid.values))
    columns, rows = (list(places_of(places)) for places in (grid.columns, grid.rows))
    value, words = reading(grid.values, grid.bar)
    read = traces[0]["hovertemplate"].replace(value, value.replace("%{z", "%{marker.color"))
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": [columns[column] for _, column in known],
        "y": [rows[row] for row, _ in known],
        "customdata": [int(row * len(columns) + column) for row, column in known],
        "marker": {"opacity": 0, "color": cells(grid.values)[tuple(known.T)]},
        "hovertemplate": read,
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "showlegend": False,
    }
    if words:
        points["text"] = [words["text"][row, column] for row, column in known]
    heatmap, *ring = traces
    return [heatmap, *(each | _FIRM for each in ring), points]


def _marks(traces: list[Spec], curves: Curves) -> list[Spec]:
    """The marks, which are drawn last; lines are only looked at."""
    *lines, marks = traces
    still = _FIRM | {"hoverinfo": "skip", "hovertemplate": None}
    numbered = _FIRM | {"customdata": list(range(len(curves.marks)))}
    return [*(line | still for line in lines), marks | numbered]

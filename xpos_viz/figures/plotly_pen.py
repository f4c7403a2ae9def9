"""The pen for notebooks and pages: a description as an interactive Plotly figure."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from xpos_viz.figures.description import Bars, Curves, Description, Grid, Heatmaps, Plane
from xpos_viz.figures.screen import bars, curves, grid, maps, plane
from xpos_viz.figures.screen.large import enlarged
from xpos_viz.theme import INKS, Ink, Mode

_PARTS: Mapping[type, Callable[[Any, Ink], go.Figure]] = MappingProxyType(
    {Curves: curves.draw, Grid: grid.draw, Bars: bars.draw, Plane: plane.draw}
)


def draw(
    description: Description,
    *,
    mode: Mode = "light",
    width: int = 1040,
    stacked: bool = False,
    larger: float = 1.0,
) -> go.Figure:
    """Draw a description.

    Parameters
    ----------
    description
        What to draw.
    mode
        "light" or "dark".
    width
        Width there will be, pixels, from which the height of maps follows.
    stacked
        Whether maps stand one above the other, for a narrow screen.
    larger
        How many times larger than usual type and lines are, for a projector.

    Returns
    -------
    plotly.graph_objects.Figure
        Independent of Plotly's default template.
    """
    ink = INKS[mode]
    if isinstance(description, Heatmaps):
        across = 1 if stacked else description.across or len(description.panels)
        figure = maps.draw(description, ink, round(width / larger), across)
    else:
        figure = _PARTS[type(description)](description, ink)
    return figure if larger == 1.0 else enlarged(figure, larger)


def library() -> str:
    """Return the JavaScript that shows what :func:`draw` returns, as one text without imports."""
    return get_plotlyjs()

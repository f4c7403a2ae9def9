"""The pen for notebooks and pages: a description as an interactive Plotly figure."""

import base64
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from xpos_viz.figures.description import Bars, Curves, Description, Grid, Heatmaps, Plane
from xpos_viz.figures.screen import (
    Spec,
    bars,
    curves,
    framed,
    grid,
    legends,
    maps,
    plane,
    targets,
)
from xpos_viz.figures.screen.large import enlarged
from xpos_viz.theme import INKS, Ink, Mode

_PARTS: Mapping[type, Callable[[Any, Ink], Spec]] = MappingProxyType(
    {Curves: curves.draw, Grid: grid.draw, Bars: bars.draw}
)

SIDES = 200, 480
"""Least and largest side of a map on a page, pixels of usual type."""

WIDTH, RISE = 640, 0.25
"""From which width other pictures grow in height on a page, and how much of it they take."""


@dataclass(frozen=True)
class Fit:
    """How the height of a picture on a page follows from its width.

    Parameters
    ----------
    narrowest, widest
        Between which widths it does, pixels.
    slope
        What it gains in height for each pixel of width.
    """

    narrowest: float
    widest: float
    slope: float


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
    spec = _spec(description, mode, round(width / larger), stacked=stacked)
    if not isinstance(description, Heatmaps):
        named = len(legends.entries(description))
        spec = framed(spec, description.title, INKS[mode], named)
    return go.Figure(enlarged(spec, larger))


def sketch(description: Description, *, mode: Mode = "light", larger: float = 1.0) -> go.Figure:
    """Draw what :func:`draw` draws as a page shows it: title and legend are its own text.

    Maps are of the least width that they have; :func:`fit` says how they grow. It is to be sent
    once: Plotly does not check its parts, which takes most of the time.
    """
    return _Sketch(_sketched(description, mode, larger))


def choosable(description: Description, *, mode: Mode = "light", larger: float = 1.0) -> go.Figure:
    """Draw what :func:`sketch` draws, with points that a click chooses.

    Cells of a grid are counted row by row, and marks of curves one by one: a point that is chosen
    has its number as `customdata`.
    """
    return _Sketch(targets.aimed(_sketched(description, mode, larger), description))


def fit(description: Description, larger: float = 1.0) -> Fit:
    """Return how the height of what :func:`sketch` draws follows from the width there is."""
    if isinstance(description, Heatmaps):
        across = min(description.across or len(description.panels), len(description.panels))
        narrowest, widest = (larger * maps.width(across, side) for side in SIDES)
        return Fit(narrowest, widest, math.ceil(len(description.panels) / across) / across)
    if isinstance(description, Plane):
        narrowest, widest = (larger * plane.width(side) for side in plane.SIDES)
        return Fit(narrowest, widest, 1)
    return Fit(larger * WIDTH, math.inf, RISE)


def library() -> str:
    """Return the JavaScript that shows what :func:`draw` returns, as one text without imports."""
    return get_plotlyjs()


class _Sketch(go.Figure):
    """A figure that is no more than its specification."""

    def __init__(self, spec: Spec) -> None:
        super().__init__()
        self._spec = spec

    def to_dict(self) -> Spec:
        """Return the specification as it is sent."""
        return _sent(self._spec)


def _sketched(description: Description, mode: Mode, larger: float) -> Spec:
    """What a page draws, without its title and legend."""
    return enlarged(_spec(description, mode, round(fit(description).narrowest)), larger)


def _spec(description: Description, mode: Mode, width: int, *, stacked: bool = False) -> Spec:
    """What Plotly draws, without what stands around it."""
    ink = INKS[mode]
    if isinstance(description, Heatmaps):
        across = 1 if stacked else description.across or len(description.panels)
        return maps.draw(description, ink, width, across)
    if isinstance(description, Plane):
        return plane.draw(description, ink, width)
    return _PARTS[type(description)](description, ink)


def _sent(part: Any) -> Any:  # noqa: ANN401 - whatever a figure is made of
    """A part of a specification, its arrays of numbers as Plotly reads them fastest."""
    if isinstance(part, np.ndarray):
        return _typed(part) if part.dtype.kind in "fiu" and part.size else part.tolist()
    if isinstance(part, dict):
        return {name: _sent(value) for name, value in cast("Spec", part).items()}
    if isinstance(part, list | tuple):
        return [_sent(item) for item in cast("list[Any]", part)]
    return part


def _typed(array: np.ndarray[Any, Any]) -> Spec:
    """Numbers as their bytes; Plotly reads no whole ones of 64 bits."""
    array = array.astype(np.int32) if array.dtype == np.int64 else array
    data = base64.b64encode(array.tobytes()).decode("ascii")
    spec = {"dtype": array.dtype.str[1:], "bdata": data}
    return spec if array.ndim == 1 else spec | {"shape": ", ".join(map(str, array.shape))}

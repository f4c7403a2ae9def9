"""A heatmap over two axes of its own, on paper."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from numpy.typing import NDArray

from xpos_viz.figures.description import Grid, Numbers
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper.cells import (
    VECTOR_CELLS,
    bar_height,
    bitmap,
    draw_bar,
    paint,
    rectangles,
)
from xpos_viz.figures.paper.frame import (
    frame,
    inner_width,
    left_of,
    number_ticks,
    under_axes,
    word_ticks,
    words_height,
)
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import font, style
from xpos_viz.figures.spans import edges
from xpos_viz.theme import INKS

_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of red, green and blue
_LIGHT = 128  # luminance from which writing is dark


def draw(sheet: Sheet, grid: Grid) -> None:
    """Draw cells over their colour bar, rows downwards."""
    left = left_of(sheet, grid.rows)
    width = inner_width(sheet, left)
    words = words_height(sheet, grid.columns, width)
    gap = words + 0.1 * sheet.unit
    below = gap + bar_height(sheet, grid.bar, width)
    axes = frame(sheet, grid, below=below, left=left)
    axes.set_xscale("log" if grid.logarithmic else "linear")
    _draw_cells(sheet, axes, grid)
    box = axes.get_position()
    _label(sheet, axes.xaxis, grid.columns, width, logarithmic=grid.logarithmic)
    _label(sheet, axes.yaxis, grid.rows, box.height * sheet.height)
    bottom = (1 - box.y0) * sheet.height
    under = under_axes(sheet, grid, width) + gap
    draw_bar(sheet, (left, bottom + under, width), grid.bar, [grid.values])


def _draw_cells(sheet: Sheet, axes: Axes, grid: Grid) -> None:
    """Cells in their colours, and limits around them."""
    x, y = edges(grid.columns, logarithmic=grid.logarithmic), edges(grid.rows)
    colours = paint(grid.values, grid.bar, sheet.ink)
    axes.set(facecolor=sheet.ink.masked)
    if max(grid.values.shape) <= VECTOR_CELLS:
        axes.add_collection(rectangles(x, y, colours, sheet.unit), autolim=False)
    else:
        bitmap(axes, x, y, colours)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[-1], y[0]))
    if grid.written:
        _write(sheet, axes, grid.written, colours)
    if grid.ringed:
        _ring(sheet, axes, grid.ringed)


def _write(
    sheet: Sheet, axes: Axes, written: tuple[tuple[str, ...], ...], colours: NDArray[np.uint8]
) -> None:
    """What each cell says, dark on light or light on dark."""
    for row, column in np.ndindex(colours.shape[:2]):
        light = (colours[row, column, :3] @ _LUMINANCE) > _LIGHT
        axes.text(
            *(column, row),
            drawable(written[row][column]),
            ha="center",
            va="center",
            **style(font(sheet.size.body), INKS["light" if light else "dark"].text),
        )


def _ring(sheet: Sheet, axes: Axes, cell: tuple[int, int]) -> None:
    """A ring in a cell, on ground of its own, so that it is seen on all colours."""
    row, column = cell
    for colour, width in ((sheet.ink.page, 3), (sheet.ink.text, 1.2)):
        axes.plot(
            [column],
            [row],
            marker="o",
            markersize=12 * sheet.unit,
            markerfacecolor="none",
            markeredgecolor=colour,
            markeredgewidth=width * sheet.unit,
        )


def _label(
    sheet: Sheet,
    axis: Axis,
    places: Numbers | tuple[str, ...],
    size: float,
    *,
    logarithmic: bool = False,
) -> None:
    """Words, or numbers, along an axis so many inches long."""
    if isinstance(places, tuple):
        word_ticks(sheet, axis, places, size)
    else:
        number_ticks(axis, places[0], places[-1], logarithmic=logarithmic)

"""A heatmap over two axes of its own, on paper."""

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from xpos_viz.figures.description import Grid, Numbers
from xpos_viz.figures.paper import DPI, INK, MARGIN, PAGE
from xpos_viz.figures.paper.cells import (
    BAR_HEIGHT,
    VECTOR_CELLS,
    bitmap,
    draw_bar,
    paint,
    rectangles,
)
from xpos_viz.figures.paper.frame import (
    AXIS_TITLE,
    frame,
    number_ticks,
    word_ticks,
    words_height,
    words_width,
)
from xpos_viz.figures.spans import edges


def draw(figure: Figure, grid: Grid) -> None:
    """Draw cells over their colour bar, rows downwards."""
    left = words_width(grid.rows)
    width = PAGE[0] - left - 2 * MARGIN
    under = AXIS_TITLE + 0.1 + words_height(grid.columns, width)
    axes = frame(figure, grid, below=under + BAR_HEIGHT, left=left)
    axes.set_xscale("log" if grid.logarithmic else "linear")
    _draw_cells(axes, grid)
    height = axes.bbox.height / DPI
    _label(axes.xaxis, grid.columns, width, logarithmic=grid.logarithmic)
    _label(axes.yaxis, grid.rows, height)
    bottom = PAGE[1] - axes.bbox.y0 / DPI
    draw_bar(figure, left, bottom + under, width, grid.bar, [grid.values])


def _draw_cells(axes: Axes, grid: Grid) -> None:
    """Cells in their colours, and limits around them."""
    x, y = edges(grid.columns, logarithmic=grid.logarithmic), edges(grid.rows)
    colours = paint(grid.values, grid.bar)
    axes.set(facecolor=INK.masked)
    if max(grid.values.shape) <= VECTOR_CELLS:
        axes.add_collection(rectangles(x, y, colours), autolim=False)
    else:
        bitmap(axes, x, y, colours)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[-1], y[0]))


def _label(
    axis: Axis, places: Numbers | tuple[str, ...], size: float, *, logarithmic: bool = False
) -> None:
    """Words, or numbers, along an axis so many inches long."""
    if isinstance(places, tuple):
        word_ticks(axis, places, size)
    else:
        number_ticks(axis, places[0], places[-1], logarithmic=logarithmic)

"""One pair of axes on a page: title above, notes below, numbers in plain text."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from xpos_viz.figures.description import Bars, Curves, Grid, Plane
from xpos_viz.figures.fonts import FAMILIES, drawable
from xpos_viz.figures.paper import (
    BODY,
    INK,
    LEADING,
    MARGIN,
    PAGE,
    SMALL_TICK,
    TICK,
    font,
    name_axis,
    notes_height,
    place,
    rule,
    style,
    title_height,
    widest,
    write_notes,
    write_title,
    written,
)

_LONGEST = 2.2  # of a word beside an axis, inches

AXIS_TITLE = 0.45
"""Room for ticks and title under the axes, inches."""

LEFT = 0.95
"""Room for ticks and title of the y axis, inches."""

_COLUMNS = 2  # of a legend


def frame(
    figure: Figure,
    description: Curves | Bars | Grid | Plane,
    *,
    entries: int = 0,
    below: float = AXIS_TITLE,
    left: float = LEFT,
) -> Axes:
    """Write title, notes and names of the axes, and return the axes between them.

    Parameters
    ----------
    figure, description
        The page, and what is drawn on it.
    entries
        Of a legend above the axes.
    below, left
        Room under the axes and beside them, inches.

    Returns
    -------
    Axes
        As large as the page allows.
    """
    width = PAGE[0] - left - 2 * MARGIN
    write_title(figure, left, MARGIN, description.title, width)
    rows = math.ceil(entries / _COLUMNS) * BODY * LEADING
    top = MARGIN + title_height(description.title) + rows
    bottom = PAGE[1] - MARGIN - notes_height(description.notes) - below
    axes = place(figure, left, top, width, bottom - top)
    axes.tick_params(labelsize=TICK, labelcolor=INK.text, labelfontfamily=list(FAMILIES))
    name_axis(axes.set_xlabel, description.x, width)
    name_axis(axes.set_ylabel, description.y, bottom - top)
    write_notes(figure, left, bottom + below, description.notes)
    rule(axes)
    return axes


def open_frame(axes: Axes) -> None:
    """Draw grid lines behind what follows, and leave out the frame above and to the right."""
    axes.set_axisbelow(True)
    axes.grid(color=INK.grid, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def legend(axes: Axes) -> None:
    """Write the names of what is drawn above the axes."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=_COLUMNS,
        frameon=False,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=2.6,
        labelcolor=INK.text,
        prop=font(BODY),
    )


def number_ticks(axis: Axis, low: float, high: float, *, logarithmic: bool = False) -> None:
    """Write numbers in plain text; powers of ten where there are two or more of them."""
    if logarithmic and high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: written(float(f"{value:.9g}"))))
    axis.set_minor_formatter(NullFormatter())


def word_ticks(axis: Axis, words: Sequence[str], size: float) -> None:
    """Write as many words as are legible along an axis `size` inches long, 0, 1 … apart."""
    pitch = 72 * size / len(words)
    type_size = TICK if pitch >= TICK else SMALL_TICK
    step = math.ceil(type_size / pitch)
    shown = [drawable(word) if len(word) < 25 else f"{drawable(word)[:23]}…" for word in words]
    shown = shown[::step]
    upright = axis is axis.axes.yaxis or 72 * widest(shown, type_size) < step * pitch - 4
    turned = {} if upright else {"rotation": 90, "ha": "right", "va": "center"}
    places = range(0, len(words), step)
    axis.set_ticks(places, shown, rotation_mode="anchor", **turned, **style(font(type_size)))


def words_height(places: object, size: float) -> float:
    """Return how much higher than numbers words are, along an x axis so many inches long."""
    if not isinstance(places, tuple):
        return 0.0
    width = min(widest(places, TICK), _LONGEST)
    return max(0.0, width - TICK / 72) if width > size / len(places) - 0.06 else 0.0


def words_width(places: object) -> float:
    """Return the room that numbers or words take beside a y axis with its title, inches."""
    if not isinstance(places, tuple):
        return LEFT
    return max(LEFT, min(widest(places, TICK), _LONGEST) + 0.55)

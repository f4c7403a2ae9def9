"""One pair of axes on a sheet: title above, notes below, numbers in plain text."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from xpos_viz.figures.description import Bars, Curves, Grid, Plane
from xpos_viz.figures.fonts import FAMILIES, drawable
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import broken, font, style, widest, width_of
from xpos_viz.figures.words import number

_LONGEST = 2.2  # of a word beside an axis, inches of a page
_AXIS_TITLE = 0.45  # room for ticks and title under the axes, inches of a page
_LEFT = 0.95  # room for ticks and title of the y axis, inches of a page
_COLUMNS = 2  # of a legend, at most
_HANDLE = 3.4  # of a legend with the space after it, sizes of type
_BETWEEN = 2.0  # columns of a legend, sizes of type
_SHAPE = 0.62  # height of axes over their width, on paper as high as needed


def frame(
    sheet: Sheet,
    description: Curves | Bars | Grid | Plane,
    *,
    entries: Sequence[str] = (),
    below: float = 0.0,
    left: float = 0.0,
    shape: float = _SHAPE,
) -> Axes:
    """Write title, notes and names of the axes, and return the axes between them.

    Parameters
    ----------
    sheet, description
        The paper, and what is drawn on it.
    entries
        Of a legend above the axes.
    below, left
        Room under the axes and their title, and beside them, inches.
    shape
        Height over width, on paper as high as needed.

    Returns
    -------
    Axes
        As large as the paper allows.
    """
    left = left or left_of(sheet, ())
    width = inner_width(sheet, left)
    top = sheet.margin + sheet.title_height(description.title, width)
    top += _legend_height(sheet, entries, width)
    below += under_axes(sheet, description, width)
    rest = top + below + sheet.notes_height(description.notes, left) + sheet.margin
    height = sheet.fit(rest, shape * width)
    sheet.check(height)
    sheet.write_title(left, sheet.margin, description.title, width)
    axes = sheet.place(left, top, width, height)
    tick, ink = sheet.size.tick, sheet.ink.text
    axes.tick_params(labelsize=tick, labelcolor=ink, labelfontfamily=list(FAMILIES))
    sheet.name_axis(axes.set_xlabel, description.x, width)
    sheet.name_axis(axes.set_ylabel, description.y, height)
    sheet.write_notes(left, top + height + below, description.notes)
    sheet.rule(axes)
    return axes


def left_of(sheet: Sheet, places: object) -> float:
    """Return the room that numbers or words take beside a y axis with its title, inches."""
    least = _LEFT * sheet.unit
    if not (isinstance(places, tuple) and places):
        return least
    return max(least, min(widest(places, sheet.size.tick), _longest(sheet)) + 0.55 * sheet.unit)


def inner_width(sheet: Sheet, left: float = 0.0) -> float:
    """Return the width that is left for axes, inches."""
    return sheet.size.width - (left or left_of(sheet, ())) - 2 * sheet.margin


def under_axes(sheet: Sheet, description: Curves | Bars | Grid | Plane, width: float) -> float:
    """Return the room for ticks and title under axes, inches."""
    return _AXIS_TITLE * sheet.unit + sheet.name_height(description.x, width)


def open_frame(sheet: Sheet, axes: Axes) -> None:
    """Draw grid lines behind what follows, and leave out the frame above and to the right."""
    axes.set_axisbelow(True)
    axes.grid(color=sheet.ink.grid, linewidth=0.6 * sheet.unit)
    axes.spines[["top", "right"]].set_visible(False)


def legend(sheet: Sheet, axes: Axes, entries: Sequence[str]) -> None:
    """Write the names of what is drawn above the axes."""
    columns, lines = _legend_lines(sheet, entries, inner_width(sheet))
    handles, _ = axes.get_legend_handles_labels()
    axes.legend(
        handles,
        ["\n".join(words) for words in lines],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=2.6,
        handletextpad=0.8,
        labelspacing=0.25,
        columnspacing=_BETWEEN,
        labelcolor=sheet.ink.text,
        prop=font(sheet.size.body),
    )


def number_ticks(axis: Axis, low: float, high: float, *, logarithmic: bool = False) -> None:
    """Write numbers in plain text; powers of ten where there are two or more of them."""
    if logarithmic and high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    elif logarithmic and axis is axis.axes.xaxis:
        axis.set_major_locator(LogLocator(numticks=_powers(axis, high)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(f"{value:.9g}"))))
    axis.set_minor_formatter(NullFormatter())
    if axis is axis.axes.xaxis:
        _keep_on_paper(axis)


def _powers(axis: Axis, high: float) -> int:
    """How many powers of ten can stand side by side, the largest of which is the widest."""
    size = axis.get_tick_params()["labelsize"]
    largest = number(10.0 ** math.floor(math.log10(high)))
    width = axis.axes.get_position().width * _page(axis).get_figwidth()
    return max(2, int(width / (width_of(largest, size) + size / 72)))


def _keep_on_paper(axis: Axis) -> None:
    """Let a number end at its tick where half of it would lie beyond the edge of the paper."""
    figure = _page(axis)
    for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True):
        x, _ = axis.axes.transData.transform((place, 1.0)) / figure.dpi
        if x + width_of(label.get_text(), float(label.get_fontsize())) / 2 > figure.get_figwidth():
            label.set_horizontalalignment("right")


def _page(axis: Axis) -> Figure:
    """The whole figure that an axis is part of."""
    return cast("Figure", axis.axes.get_figure(root=True))


def word_ticks(sheet: Sheet, axis: Axis, words: Sequence[str], size: float) -> None:
    """Write as many words as are legible along an axis `size` inches long, 0, 1 … apart."""
    pitch = 72 * size / len(words)
    type_size = sheet.size.tick if pitch >= sheet.size.tick else sheet.size.small
    step = math.ceil(type_size / pitch)
    shown = [drawable(word) if len(word) < 25 else f"{drawable(word)[:23]}…" for word in words]
    shown = shown[::step]
    upright = axis is axis.axes.yaxis or 72 * widest(shown, type_size) < step * pitch - 4
    turned = {} if upright else {"rotation": 90, "ha": "right", "va": "center"}
    places, look = range(0, len(words), step), style(font(type_size), sheet.ink.text)
    axis.set_ticks(places, shown, rotation_mode="anchor", **turned, **look)


def words_height(sheet: Sheet, places: object, size: float) -> float:
    """Return how much higher than numbers words are, along an x axis so many inches long."""
    if not isinstance(places, tuple):
        return 0.0
    tick = sheet.size.tick
    width = min(widest(places, tick), _longest(sheet))
    return max(0.0, width - tick / 72) if width > size / len(places) - 0.06 else 0.0


def _longest(sheet: Sheet) -> float:
    """Longest word beside an axis, inches."""
    return _LONGEST * sheet.unit


def _legend_lines(
    sheet: Sheet, entries: Sequence[str], width: float
) -> tuple[int, list[list[str]]]:
    """Columns of a legend, and the lines of each entry."""
    em = sheet.size.body / 72
    for columns in range(_COLUMNS, 1, -1):
        parts = _parts([[drawable(entry)] for entry in entries], columns)
        widths = [max(widest(words, sheet.size.body) for words in part) for part in parts]
        if sum(widths) + (columns * (_HANDLE + _BETWEEN) - _BETWEEN) * em < width:
            return columns, [[drawable(entry)] for entry in entries]
    return 1, [broken(entry, sheet.size.body, width - _HANDLE * em) for entry in entries]


def _parts(lines: list[list[str]], columns: int) -> list[list[list[str]]]:
    """Entries of each column of a legend, as Matplotlib divides them: the first have one more."""
    rows, more = divmod(len(lines), columns)
    ends = [column * rows + min(column, more) for column in range(columns + 1)]
    return [lines[start:end] for start, end in pairwise(ends) if end > start]


def _legend_height(sheet: Sheet, entries: Sequence[str], width: float) -> float:
    """Height of a legend, inches."""
    if not entries:
        return 0.0
    columns, lines = _legend_lines(sheet, entries, width)
    highest = max(sum(1.2 * len(words) + 0.25 for words in part) for part in _parts(lines, columns))
    return highest * sheet.size.body / 72

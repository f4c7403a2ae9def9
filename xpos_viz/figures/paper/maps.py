"""Maps on paper: square panels over their colour bars."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from xpos_viz.figures.description import Axis, Bar, Heatmaps, Panel
from xpos_viz.figures.fonts import drawable
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
from xpos_viz.figures.paper.cells import (
    BAR_HEIGHT,
    VECTOR_CELLS,
    draw_bar,
    paint,
    rectangles,
)
from xpos_viz.figures.spans import over_bar

_GAP = 0.2  # between panels, inches


@dataclass(frozen=True)
class _Ticks:
    """Where the ticks of a map stand, tokens, and how they are written."""

    places: Sequence[float]
    words: Sequence[str]
    size: float
    upright: bool = True

    @property
    def width(self) -> float:
        """Room for them beside a panel, inches."""
        return widest(self.words, self.size) + 0.12

    @property
    def height(self) -> float:
        """Room for them under a panel, inches."""
        return (self.size / 72 if self.upright else widest(self.words, self.size)) + 0.12


@dataclass(frozen=True)
class _Grid:
    """Where the panels stand, inches: side by side, and a top for each row."""

    across: int
    left: float
    side: float
    tops: tuple[float, ...]

    def x(self, index: int) -> float:
        """Left edge of a panel."""
        return self.left + index % self.across * (self.side + _GAP)

    def top(self, index: int) -> float:
        """Upper edge of a panel."""
        return self.tops[index // self.across]


def draw(figure: Figure, maps: Heatmaps) -> None:
    """Draw panels side by side, their colour bars, and the notes."""
    above = title_height(*(panel.title for panel in maps.panels))
    grid = _grid(maps, _ticks(maps.axis, PAGE[1]), above)
    ticks = _ticks(maps.axis, grid.side)
    grid = _grid(maps, ticks, above)  # fewer ticks may leave more room
    labelled = _labelled(maps)
    for index, panel in enumerate(maps.panels):
        left, top = grid.x(index), grid.top(index)
        write_title(figure, left, top - above, panel.title, grid.side)
        axes = place(figure, left, top, grid.side, grid.side)
        _draw_cells(axes, panel, maps.bars[panel.bar], maps.axis)
        if index // grid.across in labelled:
            _label_keys(axes, maps.axis, ticks, grid.side)
        if index % grid.across == 0:
            _label_queries(axes, maps.axis, ticks, PAGE[1] / 2 / len(grid.tops))
    under = grid.side + _labels_height(ticks)
    for index, bar in enumerate(maps.bars):
        over = over_bar(maps, index, grid.across)
        left = min(map(grid.x, over))
        width = max(map(grid.x, over)) + grid.side - left
        matrices = [panel.values for panel in maps.panels if panel.bar == index]
        draw_bar(figure, left, grid.top(over[-1]) + under, width, bar, matrices)
    write_notes(figure, grid.left, grid.tops[-1] + under + BAR_HEIGHT, maps.notes)


def _across(maps: Heatmaps) -> int:
    """How many panels stand side by side."""
    return min(maps.across or len(maps.panels), len(maps.panels))


def _labelled(maps: Heatmaps) -> set[int]:
    """Rows over a colour bar: only these have room for the ticks of the keys."""
    across = _across(maps)
    return {over_bar(maps, index, across)[-1] // across for index in range(len(maps.bars))}


def _labels_height(ticks: _Ticks) -> float:
    """Room for ticks and title of the keys, inches."""
    return ticks.height + BODY * LEADING + 0.1


def _grid(maps: Heatmaps, ticks: _Ticks, above: float) -> _Grid:
    """As large panels as the page allows, in its middle, under titles `above` high."""
    across, labelled = _across(maps), _labelled(maps)
    rows = math.ceil(len(maps.panels) / across)
    left = MARGIN + BODY * LEADING + ticks.width
    foot = _labels_height(ticks) + BAR_HEIGHT
    feet = [foot if row in labelled else 0.06 for row in range(rows)]
    rest = rows * above + sum(feet) + notes_height(maps.notes)
    width = PAGE[0] - left - MARGIN - (across - 1) * _GAP
    side = min(width / across, (PAGE[1] - 2 * MARGIN - rest) / rows)
    first = (PAGE[1] - rows * side - rest) / 2 + above
    steps = np.cumsum([0.0, *(side + foot + above for foot in feet[:-1])])
    return _Grid(across, left + (width - across * side) / 2, side, tuple(first + steps))


def _ticks(axis: Axis, side: float) -> _Ticks:
    """As many tokens, or else round numbers, as are legible along a side."""
    if axis.labels:
        return _token_ticks(axis, side)
    start, stop = axis.span
    room = max(0.4, widest([written(math.floor(stop))], TICK) + 0.08)
    locator = MaxNLocator(max(1, int(side / room)), integer=True, steps=[1, 2, 5, 10])
    places = [tick for tick in locator.tick_values(start, stop) if start <= tick <= stop]
    return _Ticks(places, [written(tick) for tick in places], TICK)


def _token_ticks(axis: Axis, side: float) -> _Ticks:
    """All tokens where they are legible, in smaller type if need be; else every second or so."""
    pitch = 72 * side / len(axis.labels)
    size = next((size for size in (TICK, SMALL_TICK) if size <= pitch), TICK)
    step = math.ceil(size / pitch)
    shown = [drawable(label) for label in axis.labels[::step]]
    words = [word if len(word) < 13 else f"{word[:11]}…" for word in shown]
    upright = 72 * widest(words, size) < step * pitch - 4
    return _Ticks(axis.positions[::step].tolist(), words, size, upright)


def _draw_cells(axes: Axes, panel: Panel, bar: Bar, axis: Axis) -> None:
    """Cells in their colours."""
    start, stop = axis.span
    colours = paint(panel.values, bar)
    colours[panel.unknown] = to_rgba_array(INK.unknown) * 255
    if max(panel.values.shape) <= VECTOR_CELLS:
        edges = np.linspace(start, stop, len(axis.positions) + 1)
        axes.add_collection(rectangles(edges, edges, colours), autolim=False)
    else:
        extent = (start, stop, stop, start)
        axes.imshow(colours, extent=extent, interpolation="none", aspect="auto")
    axes.set(xlim=(start, stop), ylim=(stop, start), xticks=[], yticks=[], facecolor=INK.masked)
    rule(axes)


def _label_keys(axes: Axes, axis: Axis, ticks: _Ticks, side: float) -> None:
    """Ticks and title under a panel."""
    turned = {} if ticks.upright else {"rotation": 90, "ha": "right", "va": "center"}
    type_ = style(font(ticks.size))
    axes.set_xticks(ticks.places, ticks.words, rotation_mode="anchor", **turned, **type_)
    start, stop = axes.get_xlim()
    if ticks.upright and ticks.places[-1] > stop - 0.05 * (stop - start):
        axes.get_xticklabels()[-1].set_horizontalalignment("right")  # away from the next panel
    name_axis(axes.set_xlabel, axis.keys, side)


def _label_queries(axes: Axes, axis: Axis, ticks: _Ticks, room: float) -> None:
    """Ticks and title to the left of a panel."""
    axes.set_yticks(ticks.places, ticks.words, **style(font(ticks.size)))
    name_axis(axes.set_ylabel, axis.queries, room)

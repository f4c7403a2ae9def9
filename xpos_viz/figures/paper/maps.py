"""Maps on paper: square panels over their colour bars."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba_array
from matplotlib.ticker import MaxNLocator

from xpos_viz.figures.description import Axis, Bar, Heatmaps, Panel
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper.cells import (
    VECTOR_CELLS,
    bar_height,
    bar_width,
    bitmap,
    draw_bar,
    paint,
    rectangles,
)
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import LEADING, font, style, widest
from xpos_viz.figures.spans import over_bar
from xpos_viz.figures.words import number

_GAP = 0.2  # between panels, inches of a page
_FEW = 4  # panels with titles of full size


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
        return widest(self.words, self.size) + self.size / 72

    @property
    def height(self) -> float:
        """Room for them under a panel, inches."""
        high = self.size / 72 if self.upright else widest(self.words, self.size)
        return high + self.size / 72


@dataclass(frozen=True)
class _Grid:
    """Where the panels stand, inches: side by side, and a top for each row.

    Words over and under a panel may be wider than its side: `room`, which is less than `pitch`.
    """

    across: int
    outer: float
    left: float
    side: float
    room: float
    pitch: float
    above: float
    under: float
    bars: float
    tops: tuple[float, ...]

    def x(self, index: int) -> float:
        """Left edge of a panel."""
        return self.left + index % self.across * self.pitch

    def top(self, index: int) -> float:
        """Upper edge of a panel."""
        return self.tops[index // self.across]


def draw(sheet: Sheet, maps: Heatmaps) -> None:
    """Draw panels side by side, their colour bars, and the notes."""
    sheet = sheet if len(maps.panels) <= _FEW else sheet.smaller()
    grid, ticks = _settled(sheet, maps)
    labelled = _labelled(maps, grid.across)
    for index, panel in enumerate(maps.panels):
        left, top = grid.x(index), grid.top(index)
        sheet.write_title(left, top - grid.above, panel.title, grid.room)
        axes = sheet.place(left, top, grid.side, grid.side)
        _draw_cells(sheet, axes, panel, maps.bars[panel.bar], maps.axis)
        if index // grid.across in labelled:
            _label_keys(sheet, axes, maps.axis, ticks, grid.room)
        if index % grid.across == 0:
            _label_queries(sheet, axes, maps.axis, ticks, grid)
    under = grid.side + grid.under
    for index, bar in enumerate(maps.bars):
        over = over_bar(maps, index, grid.across)
        left = min(map(grid.x, over))
        width = max(map(grid.x, over)) + grid.side - left
        matrices = [panel.values for panel in maps.panels if panel.bar == index]
        top, room = grid.top(over[-1]) + under, width + grid.room - grid.side
        draw_bar(sheet, (left, top, width), bar, matrices, room)
    bottom = grid.tops[-1] + under + grid.bars
    sheet.write_notes(grid.outer, bottom, maps.notes, inset=grid.left)


def _settled(sheet: Sheet, maps: Heatmaps) -> tuple[_Grid, _Ticks]:
    """Where all stands: fewer ticks leave more room, and more room has more ticks."""
    side = sheet.size.height or sheet.size.width
    ticks = _ticks(sheet, maps.axis, side)
    for _ in range(3):
        side = min(side, _largest(sheet, maps, ticks).side)
        ticks = _ticks(sheet, maps.axis, max(side, ticks.size / 72))
    grid = _largest(sheet, maps, ticks)
    sheet.check(grid.side)
    return grid, ticks


def _largest(sheet: Sheet, maps: Heatmaps, ticks: _Ticks) -> _Grid:
    """As many panels side by side as make them largest; where the height is free, as in a square.

    At least as many as are described, if there is only so much height.
    """
    count = len(maps.panels)
    given = min(maps.across or count, count)
    if sheet.size.height is None:
        return _grid(sheet, maps, ticks, min(given, math.ceil(math.sqrt(count))))
    grids = [_grid(sheet, maps, ticks, across) for across in range(given, count + 1)]
    return max(grids, key=lambda grid: grid.side)


def _labelled(maps: Heatmaps, across: int) -> set[int]:
    """Rows over a colour bar: only these have room for the ticks of the keys."""
    return {over_bar(maps, index, across)[-1] // across for index in range(len(maps.bars))}


def _labels_height(sheet: Sheet, maps: Heatmaps, ticks: _Ticks, room: float) -> float:
    """Room for ticks and title of the keys, inches."""
    name = sheet.size.body * LEADING + sheet.name_height(maps.axis.keys, room)
    return ticks.height + name + 0.1 * sheet.unit


def _bars_height(sheet: Sheet, maps: Heatmaps, across: int, room: float) -> float:
    """Height of the colour bars, inches."""
    spans = (
        len({place % across for place in over_bar(maps, index, across)})
        for index in range(len(maps.bars))
    )
    return max(
        bar_height(sheet, bar, span * room) for bar, span in zip(maps.bars, spans, strict=True)
    )


def _grid(sheet: Sheet, maps: Heatmaps, ticks: _Ticks, across: int) -> _Grid:
    """As large panels as the paper allows, in its middle, apart as their titles need."""
    gap, margin = _GAP * sheet.unit, sheet.margin
    labelled, rows = _labelled(maps, across), math.ceil(len(maps.panels) / across)
    outer = margin + sheet.size.body * LEADING + ticks.width
    outer += sheet.name_height(maps.axis.queries, _beside(sheet, rows))
    width = sheet.size.width - outer - margin
    most = (width - (across - 1) * gap) / across
    titles = [panel.title for panel in maps.panels]
    above = max(sheet.title_height(title, most) for title in titles)
    under = _labels_height(sheet, maps, ticks, most)
    bars = _bars_height(sheet, maps, across, most)
    feet = [under + bars if row in labelled else 0.06 * sheet.unit for row in range(rows)]
    rest = rows * above + sum(feet) + sheet.notes_height(maps.notes, outer) + 2 * margin
    free = sheet.fit(rest, rows * most)
    side = min(most, free / rows)
    words = max(sheet.title_width(title, most) for title in titles)
    words = max(words, *(bar_width(sheet, bar, most) for bar in maps.bars))
    room = max(side, min(most, words))
    pitch = room + gap
    first = margin + (free - rows * side) / 2 + above
    steps = np.cumsum([0.0, *(side + foot + above for foot in feet[:-1])])
    left = outer + (width - across * room - (across - 1) * gap) / 2
    return _Grid(across, outer, left, side, room, pitch, above, under, bars, tuple(first + steps))


def _ticks(sheet: Sheet, axis: Axis, side: float) -> _Ticks:
    """As many tokens, or else round numbers, as are legible along a side."""
    if axis.labels:
        return _token_ticks(sheet, axis, side)
    (start, stop), size = axis.span, sheet.size.tick
    room = max(3.4 * size / 72, widest([number(math.floor(stop))], size) + 0.7 * size / 72)
    locator = MaxNLocator(max(1, int(side / room)), integer=True, steps=[1, 2, 5, 10])
    places = [tick for tick in locator.tick_values(start, stop) if start <= tick <= stop]
    return _Ticks(places, [number(tick) for tick in places], size)


def _token_ticks(sheet: Sheet, axis: Axis, side: float) -> _Ticks:
    """All tokens where they are legible, in smaller type if need be; else every second or so."""
    pitch, sizes = 72 * side / len(axis.labels), (sheet.size.tick, sheet.size.small)
    size = next((size for size in sizes if size <= pitch), sizes[0])
    step = math.ceil(size / pitch)
    shown = [drawable(label) for label in axis.labels[::step]]
    words = [word if len(word) < 13 else f"{word[:11]}…" for word in shown]
    upright = 72 * widest(words, size) < step * pitch - 4
    return _Ticks(axis.positions[::step].tolist(), words, size, upright)


def _draw_cells(sheet: Sheet, axes: Axes, panel: Panel, bar: Bar, axis: Axis) -> None:
    """Cells in their colours."""
    start, stop = axis.span
    colours = paint(panel.values, bar, sheet.ink)
    colours[panel.unknown] = to_rgba_array(sheet.ink.unknown) * 255
    axes.set(xlim=(start, stop), ylim=(stop, start), xticks=[], yticks=[])
    axes.set_facecolor(sheet.ink.masked)
    edges = np.linspace(start, stop, len(axis.positions) + 1)
    if max(panel.values.shape) <= VECTOR_CELLS:
        axes.add_collection(rectangles(edges, edges, colours, sheet.unit), autolim=False)
    else:
        bitmap(axes, edges, edges, colours)
    sheet.rule(axes)


def _label_keys(sheet: Sheet, axes: Axes, axis: Axis, ticks: _Ticks, room: float) -> None:
    """Ticks and title under a panel."""
    turned = {} if ticks.upright else {"rotation": 90, "ha": "right", "va": "center"}
    look = style(font(ticks.size), sheet.ink.text)
    axes.set_xticks(ticks.places, ticks.words, rotation_mode="anchor", **turned, **look)
    start, stop = axes.get_xlim()
    if ticks.upright and ticks.places[-1] > stop - 0.05 * (stop - start):
        axes.get_xticklabels()[-1].set_horizontalalignment("right")  # away from the next panel
    sheet.name_axis(axes.set_xlabel, axis.keys, room)


def _label_queries(sheet: Sheet, axes: Axes, axis: Axis, ticks: _Ticks, grid: _Grid) -> None:
    """Ticks and title to the left of a panel."""
    axes.set_yticks(ticks.places, ticks.words, **style(font(ticks.size), sheet.ink.text))
    sheet.name_axis(axes.set_ylabel, axis.queries, _beside(sheet, len(grid.tops)))


def _beside(sheet: Sheet, rows: int) -> float:
    """How long the title of the queries may be beside each row, inches."""
    return (sheet.size.height or sheet.size.width) / 2 / rows

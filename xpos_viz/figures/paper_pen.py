"""The pen for paper: draws descriptions with Matplotlib, as PNG, SVG or PDF.

No browser takes part, nor Matplotlib's global state of open figures: any thread may draw.
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import pairwise
from threading import RLock
from typing import Any, Literal

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from xpos_viz.figures.description import Axis, Bar, Curves, Description, Heatmaps, Panel
from xpos_viz.figures.fonts import FAMILIES, drawable
from xpos_viz.figures.paper import (
    BODY,
    DPI,
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
from xpos_viz.figures.words import factors
from xpos_viz.theme import DASHES, LINES, PALETTES, Scale

KINDS: dict[str, str] = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
"""What :func:`save` writes, and its media type."""

VECTOR_CELLS = 64
"""Most cells a side that are drawn as rectangles; more are a bitmap without smoothing."""

_GAP = 0.2  # between panels, inches
_BAR, _BAR_HEIGHT = 0.12, 0.6  # of a colour bar, without and with its ticks and title, inches
_COLOURS = 251  # of a scale, odd: white is in its middle; with those of other cells at most 256
_RIM = 0.5  # under the rectangles, points
_BITMAP_DPI = 330  # in files whose viewer may smooth bitmaps, which then blurs little of a cell
_STROKES = {"solid": "-", "dash": (0, (5, 2)), "dot": (0, (1.2, 1.6)), "dashdot": "-."}
_HUGE = 1e300  # no axis reaches further: float64 must hold the sum of its limits

_LOCK = RLock()
_SETTINGS = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "xpos-viz",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # the PDF backend asks this one how many glyphs a font may have
    "image.composite_image": False,
}


def draw(description: Description) -> Figure:
    """Draw a description as a Matplotlib figure.

    Parameters
    ----------
    description
        What to draw.

    Returns
    -------
    Figure
        A page, which pyplot does not know of and which needs no closing.
    """
    with _settings():
        figure = Figure(figsize=PAGE, dpi=DPI, facecolor=INK.page)
        if isinstance(description, Heatmaps):
            _draw_maps(figure, description)
        else:
            _draw_curves(figure, description)
    return figure


def save(description: Description, kind: str) -> bytes:
    """Draw a description as the content of a file, the same bytes every time.

    Parameters
    ----------
    description
        What to draw.
    kind
        One of :data:`KINDS`.

    Returns
    -------
    bytes
        The file; the alternative text is in its metadata.

    Raises
    ------
    ValueError
        For another kind of file.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of file {kind!r}; use one of: {', '.join(KINDS)}.")
    figure, file = draw(description), BytesIO()
    if kind != "png":
        _enlarge_bitmaps(figure)
    with _settings():
        figure.savefig(file, format=kind, **_options(description)[kind])
    if kind == "svg":  # for machines that have none of our families
        return re.sub(rb"font-family: '[^;<>\"]*'", rb"\g<0>, sans-serif", file.getvalue())
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's own defaults and ours, whatever the user's are; one thread at a time."""
    with _LOCK, matplotlib.style.context(["default", _SETTINGS]):
        yield


def _options(description: Description) -> dict[str, dict[str, Any]]:
    """Name and alternative text as each kind of file has them, no date, and fast packing."""
    title, alt = {"Title": description.name}, description.alt
    return {
        "png": {
            "metadata": {**title, "Description": alt},
            "pil_kwargs": {"compress_level": 3},
        },
        "svg": {"metadata": {**title, "Description": alt, "Date": None}},
        "pdf": {"metadata": {**title, "Subject": alt, "CreationDate": None}},
    }


# Maps


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
    """Where the panels stand, inches."""

    left: float
    top: float
    side: float

    def x(self, index: int) -> float:
        """Left edge of a panel."""
        return self.left + index * (self.side + _GAP)


def _draw_maps(figure: Figure, maps: Heatmaps) -> None:
    """Panels side by side, their colour bars, and the notes."""
    above = title_height(*(panel.title for panel in maps.panels))
    grid = _grid(maps, _ticks(maps.axis, PAGE[1]), above)
    ticks = _ticks(maps.axis, grid.side)
    grid = _grid(maps, ticks, above)  # fewer ticks may leave more room
    for index, panel in enumerate(maps.panels):
        write_title(figure, grid.x(index), grid.top - above, panel.title, grid.side)
        axes = place(figure, grid.x(index), grid.top, grid.side, grid.side)
        _draw_cells(axes, panel, maps.bars[panel.bar], maps.axis)
        _label_panel(axes, maps.axis, ticks, grid.side, first=index == 0)
    under = grid.top + grid.side + ticks.height + BODY * LEADING + 0.1
    for index, bar in enumerate(maps.bars):
        shared = [number for number, panel in enumerate(maps.panels) if panel.bar == index]
        left, right = grid.x(shared[0]), grid.x(shared[-1]) + grid.side
        axes = place(figure, left, under, right - left, _BAR)
        _draw_bar(axes, bar, [maps.panels[number].values for number in shared], right - left)
    write_notes(figure, grid.left, under + _BAR_HEIGHT, maps.notes)


def _grid(maps: Heatmaps, ticks: _Ticks, above: float) -> _Grid:
    """As large panels as the page allows, in its middle, under titles `above` high."""
    count = len(maps.panels)
    left = MARGIN + BODY * LEADING + ticks.width
    under = ticks.height + BODY * LEADING + 0.1 + _BAR_HEIGHT + notes_height(maps.notes)
    width = PAGE[0] - left - MARGIN - (count - 1) * _GAP
    side = min(width / count, PAGE[1] - 2 * MARGIN - above - under)
    top = (PAGE[1] - above - side - under) / 2 + above
    return _Grid(left + (width - count * side) / 2, top, side)


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
    colours = _paint(panel, bar)
    if max(panel.values.shape) <= VECTOR_CELLS:
        edges = np.linspace(start, stop, len(axis.positions) + 1)
        axes.add_collection(_rectangles(edges, colours), autolim=False)
    else:
        extent = (start, stop, stop, start)
        axes.imshow(colours, extent=extent, interpolation="none", aspect="auto")
    axes.set(xlim=(start, stop), ylim=(stop, start), facecolor=INK.masked)


def _paint(panel: Panel, bar: Bar) -> NDArray[np.uint8]:
    """(rows, columns, 4) colours: of the scale, beyond its ends, masked, or without a number."""
    colours = _scale(bar.colours, bar.scale)(_shares(panel.values, bar), bytes=True)
    colours[panel.unknown] = to_rgba_array(INK.unknown) * 255
    return colours


def _shares(values: NDArray[np.float64], bar: Bar) -> NDArray[np.float64]:
    """Where values lie on the scale: between 0 and 1, or beyond; NaN where there is none."""
    with np.errstate(over="ignore"):
        shares = np.clip(values / bar.limit, -2, 2)
    return shares if bar.scale == "sequential" else (shares + 1) / 2


def _rectangles(edges: NDArray[np.floating], colours: NDArray[np.uint8]) -> PathCollection:
    """One rectangle per cell; those of one colour are one path.

    Every path is there twice: with a rim, and above all rims without. So edges are sharp, and
    where a viewer softens them, no page shows through the seams.
    """
    left, top = np.meshgrid(edges[:-1], edges[:-1])
    right, bottom = np.meshgrid(edges[1:], edges[1:])
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    cells = np.stack([np.stack(corner, -1).reshape(-1, 2) for corner in corners], 1)
    palette, kinds = np.unique(colours.reshape(-1, 4), axis=0, return_inverse=True)
    paths = [
        Path.make_compound_path_from_polys(cells[kinds == kind]) for kind in range(len(palette))
    ]
    paint = np.tile(palette / 255, (2, 1))
    widths = np.repeat([_RIM, 0], len(palette))
    return PathCollection(
        paths * 2, facecolors=paint, edgecolors=paint, linewidths=widths, antialiased=False
    )


def _enlarge_bitmaps(figure: Figure) -> None:
    """Enlarge bitmaps by a whole factor: a viewer that smooths them then blurs little."""
    for axes in figure.axes:
        for image in axes.images:
            cells = np.asarray(image.get_array())
            factor = math.ceil(_BITMAP_DPI * axes.bbox.width / figure.dpi / len(cells))
            image.set_data(cells.repeat(factor, 0).repeat(factor, 1))


def _label_panel(axes: Axes, axis: Axis, ticks: _Ticks, side: float, *, first: bool) -> None:
    """Ticks and titles of the axes; rows are labelled at the first panel only."""
    type_ = style(font(ticks.size))
    turned = {} if ticks.upright else {"rotation": 90, "ha": "right", "va": "center"}
    axes.set_xticks(ticks.places, ticks.words, rotation_mode="anchor", **turned, **type_)
    start, stop = axes.get_xlim()
    if ticks.upright and ticks.places[-1] > stop - 0.05 * (stop - start):
        axes.get_xticklabels()[-1].set_horizontalalignment("right")  # away from the next panel
    name_axis(axes.set_xlabel, axis.keys, side)
    if first:
        axes.set_yticks(ticks.places, ticks.words, **type_)
        name_axis(axes.set_ylabel, axis.queries, PAGE[1] / 2)
    else:
        axes.set_yticks([])
    rule(axes)


def _draw_bar(axes: Axes, bar: Bar, matrices: Sequence[NDArray[np.float64]], width: float) -> None:
    """A colour bar, with a point on each side where values are clipped."""
    drawn = axes.figure.colorbar(
        ScalarMappable(Normalize(0, 1), _scale(bar.colours, bar.scale)),
        cax=axes,
        orientation="horizontal",
        extend=_clipped(matrices, bar),
        extendfrac=_BAR / width,
    )
    if drawn.solids:
        drawn.solids.set(edgecolor="face", rasterized=False)  # vectors, and no seams
    drawn.outline.set(edgecolor=INK.faint, linewidth=0.6)
    places, words = _bar_ticks(bar, width)
    drawn.set_ticks(places, labels=words, **style(font(TICK)))
    for place_, word in zip(places, axes.get_xticklabels(), strict=True):
        word.set_horizontalalignment(_within(place_))  # away from the next bar
    rule(axes)
    name_axis(axes.set_xlabel, bar.label, width - 2 * _BAR)


def _clipped(matrices: Sequence[NDArray[np.float64]], bar: Bar) -> str:
    """Which sides of a bar have values beyond them."""
    shares = [_shares(values, bar) for values in matrices]
    below = any((share < 0).any() for share in shares)
    above = any((share > 1).any() for share in shares)
    return {(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[below, above]


def _within(share: float) -> Literal["left", "center", "right"]:
    """How a word at that share of a bar is aligned, so that it does not stand out of it."""
    return "left" if share < 0.05 else "right" if share > 0.95 else "center"


def _bar_ticks(bar: Bar, width: float) -> tuple[list[float], list[str]]:
    """Places between 0 and 1, and as many round numbers as are legible along a bar."""
    ticks = _factor_ticks if bar.powers else _round_ticks
    for most in (6, 5, 4, 3):
        places, words = ticks(bar, most)
        room = width * min((after - before for before, after in pairwise(places)), default=1)
        if room > widest(words, TICK) + 0.06:
            return places, words
    return ticks(bar, 2)


def _factor_ticks(bar: Bar, most: int) -> tuple[list[float], list[str]]:
    """Powers of 2 as factors."""
    ticks = factors(bar.limit, most)
    return [(power / bar.limit + 1) / 2 for power in ticks], list(ticks.values())


def _round_ticks(bar: Bar, most: int) -> tuple[list[float], list[str]]:
    """Round numbers, for a limit of any size."""
    digits, exponent = f"{bar.limit:.15e}".split("e")
    end = float(digits)
    low = -end if bar.scale == "diverging" else 0.0
    locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
    values = [value for value in locator.tick_values(low, end) if low <= value <= end]
    places = [float((value - low) / (end - low)) for value in values]
    return places, [written(float(f"{value:.6g}e{exponent}")) for value in values]


@cache
def _scale(colours: str, name: Scale) -> Colormap:
    """A scale of the theme, from 0 to 1."""
    palette = PALETTES[colours]
    scale = LinearSegmentedColormap.from_list(name, palette.scales[name], N=_COLOURS)
    under, over = palette.clipped[name]
    return scale.with_extremes(bad=INK.masked, under=under, over=over)


# Curves


def _draw_curves(figure: Figure, curves: Curves) -> None:
    """Lines over one pair of axes, with the legend above them and the notes below."""
    left, width = 0.95, PAGE[0] - 0.95 - 2 * MARGIN
    write_title(figure, left, MARGIN, curves.title, width)
    legend = math.ceil(len(curves.curves) / 2) * BODY * LEADING
    top = MARGIN + title_height(curves.title) + legend
    bottom = PAGE[1] - MARGIN - notes_height(curves.notes) - 0.45
    axes = place(figure, left, top, width, bottom - top)
    _draw_lines(axes, curves)
    _scale_axes(axes, curves)
    name_axis(axes.set_xlabel, curves.x, width)
    name_axis(axes.set_ylabel, curves.y, bottom - top)
    write_notes(figure, left, bottom + 0.45, curves.notes)


def _draw_lines(axes: Axes, curves: Curves) -> None:
    """One line per curve, broken where a value is not finite, and their names above."""
    for index, curve in enumerate(curves.curves):
        axes.plot(
            curve.x,
            _finite(curve.y),
            color=LINES[index % len(LINES)],
            linestyle=_STROKES[DASHES[index % len(DASHES)]],
            linewidth=1.4,
            label=drawable(curve.label),
        )
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        frameon=False,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=2.6,
        labelcolor=INK.text,
        prop=font(BODY),
    )


def _scale_axes(axes: Axes, curves: Curves) -> None:
    """Limits around what is finite and zero, and numbers in plain text."""
    y = np.concatenate([np.zeros(1), *(_finite(curve.y) for curve in curves.curves)])
    low, high = np.nanmin(y), np.nanmax(y)
    room = 0.05 * (high - low) or 1.0
    axes.set_xscale("log" if curves.logarithmic else "linear")
    axes.margins(x=0)
    axes.set(ylim=(low - room, high + room), axisbelow=True)
    axes.axhline(0, color=INK.faint, linewidth=0.8, zorder=1)
    axes.grid(color=INK.grid, linewidth=0.6)
    for part in (axes.xaxis, axes.yaxis):
        part.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
        part.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=TICK, labelcolor=INK.text, labelfontfamily=list(FAMILIES))
    rule(axes)
    axes.spines[["top", "right"]].set_visible(False)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with gaps where they are not finite, or too large for an axis."""
    return np.where(np.abs(values) < _HUGE, values, np.nan)

"""The pen for paper: draws descriptions with Matplotlib, as PNG, SVG or PDF.

A page fits a 16:9 slide and, at 70 % of its size, the text width of a paper. Everything on it
is placed in inches from its upper left corner. No browser takes part, nor Matplotlib's global
state of open figures: any thread may draw.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from threading import RLock
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from xpos_viz.figures.compare import number
from xpos_viz.figures.description import Axis, Bar, Curves, Description, Heatmaps, Panel, Scale
from xpos_viz.figures.fonts import FAMILIES, drawable
from xpos_viz.figures.theme import CLIPPED, DASHES, INKS, LINES, SCALES

FORMATS: tuple[str, ...] = ("png", "svg", "pdf")
"""What :func:`save` writes."""

PAGE = (10.0, 5.625)
"""Width and height of a page, inches."""

DPI = 288
"""Resolution of a PNG, which is then 2880 × 1620."""

VECTOR_CELLS = 64
"""Most cells a side that are drawn as rectangles; more are a bitmap without smoothing."""

_INK = INKS["light"]
_MARGIN, _GAP, _BAR = 0.15, 0.2, 0.12  # inches: of the page, between panels, of a colour bar
_TITLE, _BODY, _TICK, _NOTE = 12.5, 10.0, 8.5, 8.5  # sizes of type, points
_LEADING = 1.4 / 72  # distance of lines, inches per point of type
_COLOURS = 253  # of a scale; with two for clipped and one for masked cells a palette of 256
_BITMAP_DPI = 330  # at least; viewers that smooth a bitmap then blur a small part of a cell
_RIM = 0.5  # points
_HUGE = 1e300  # curves end here, far enough from the end of float64 for sums of limits

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
        figure = Figure(figsize=PAGE, dpi=DPI, facecolor=_INK.page)
        if isinstance(description, Heatmaps):
            _draw_maps(figure, description)
        else:
            _draw_curves(figure, description)
    return figure


def save(description: Description, format: str) -> bytes:
    """Draw a description as the content of a file, the same bytes every time.

    Parameters
    ----------
    description
        What to draw.
    format
        One of :data:`FORMATS`.

    Returns
    -------
    bytes
        The file; the alternative text is in its metadata.

    Raises
    ------
    ValueError
        For another format.
    """
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}; use one of: {', '.join(FORMATS)}.")
    figure, file = draw(description), BytesIO()
    if format != "png":
        _enlarge_bitmaps(figure)
    png = {"pil_kwargs": {"compress_level": 3}} if format == "png" else {}
    with _settings():
        figure.savefig(file, format=format, metadata=_metadata(description, format), **png)
    if format == "svg":  # where the reader's machine has none of our families
        ours = f"'{FAMILIES[-1]}'".encode()
        return file.getvalue().replace(ours, ours + b", sans-serif")
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's own defaults and ours, whatever the user's are; one thread at a time."""
    with _LOCK, style.context(["default", _SETTINGS]):
        yield


def _metadata(description: Description, format: str) -> dict[str, str | None]:
    """Name and alternative text under the keys of the format, and no date."""
    alt = {"png": "Description", "svg": "Description", "pdf": "Subject"}[format]
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
    return {"Title": description.name, alt: description.alt, **date}


# Maps


@dataclass(frozen=True)
class _Grid:
    """Where the panels and their ticks stand, inches."""

    left: float
    top: float
    side: float
    places: Sequence[float]
    words: Sequence[str]
    upright: bool

    def x(self, index: int) -> float:
        """Left edge of a panel."""
        return self.left + index * (self.side + _GAP)

    @property
    def below(self) -> float:
        """Height of the ticks and the title under a panel."""
        ticks = _TICK / 72 if self.upright else _widest(self.words)
        return 0.12 + ticks + _BODY * _LEADING


def _draw_maps(figure: Figure, maps: Heatmaps) -> None:
    """Panels side by side, their colour bars, and the notes."""
    grid = _grid(maps)
    for index, panel in enumerate(maps.panels):
        _write_lines(figure, grid.x(index), grid.top, panel.title, grid.side)
        axes = _place(figure, grid.x(index), grid.top, grid.side, grid.side)
        _draw_cells(axes, panel, maps.bars[panel.bar], maps.axis)
        _label_panel(axes, maps.axis, grid, first=index == 0)
    bottom = grid.top + grid.side + grid.below
    for index in range(len(maps.bars)):
        _draw_bar(figure, maps, index, grid, bottom + 0.1)
    _write_notes(figure, grid.left, bottom + _bar_height(), maps.notes)


def _grid(maps: Heatmaps) -> _Grid:
    """As large panels as the page allows, in its middle."""
    count = len(maps.panels)
    widest = (PAGE[0] - 2 * _MARGIN) / count - _GAP
    places, words = _ticks(maps.axis, widest)
    upright = not maps.axis.labels or _widest(words) < widest / len(words) - 0.05
    left = _MARGIN + _BODY * _LEADING + _widest(words) + 0.12
    above = _height(max(len(panel.title) for panel in maps.panels))
    under = _Grid(0, 0, 0, places, words, upright).below + _bar_height()
    under += len(maps.notes) * _NOTE * _LEADING
    width = (PAGE[0] - left - _MARGIN - (count - 1) * _GAP) / count
    side = min(width, PAGE[1] - 2 * _MARGIN - above - under)
    left += (PAGE[0] - _MARGIN - left - count * side - (count - 1) * _GAP) / 2
    top = (PAGE[1] - above - side - under) / 2 + above
    return _Grid(left, top, side, places, words, upright)


def _span(axis: Axis) -> tuple[float, float]:
    """Where the first token begins and the last one ends; the last block may be shorter."""
    start = axis.positions[0] - axis.block / 2
    last = start + (len(axis.positions) - 1) * axis.block
    return start, 2 * axis.positions[-1] - last


def _ticks(axis: Axis, side: float) -> tuple[Sequence[float], Sequence[str]]:
    """Positions and texts of the ticks: as many tokens or round numbers as are legible."""
    if axis.labels:
        step = math.ceil(len(axis.labels) * _TICK * _LEADING * 0.85 / side)
        shown = [drawable(label) for label in axis.labels[::step]]
        cut = [word if len(word) < 13 else f"{word[:11]}…" for word in shown]
        return axis.positions[::step].tolist(), cut
    start, stop = _span(axis)
    locator = MaxNLocator(max(1, int(side / 0.5)), integer=True, steps=[1, 2, 5, 10])
    places = [place for place in locator.tick_values(start, stop) if start <= place <= stop]
    return places, [_written(place) for place in places]


def _draw_cells(axes: Axes, panel: Panel, bar: Bar, axis: Axis) -> None:
    """Cells in their colours; a last block that is shorter is cut off by the frame."""
    start, stop = _span(axis)
    colours = _paint(panel.values, bar)
    edges = start + axis.block * np.arange(len(axis.positions) + 1)
    if max(panel.values.shape) <= VECTOR_CELLS:
        axes.add_collection(_rectangles(edges, colours), autolim=False)
    else:
        extent = (start, edges[-1], edges[-1], start)
        axes.imshow(colours, extent=extent, interpolation="none", aspect="auto")
    axes.set(xlim=(start, stop), ylim=(stop, start), facecolor=_INK.masked)


def _paint(values: NDArray[np.float64], bar: Bar) -> NDArray[np.uint8]:
    """(rows, columns, 4) colours: of the scale, beyond its ends, or masked."""
    with np.errstate(over="ignore"):  # beyond float64 is beyond the limit
        part = values / bar.limit
    return _scale(bar.scale)(part if bar.scale == "sequential" else (part + 1) / 2, bytes=True)


def _rectangles(edges: NDArray[np.float64], colours: NDArray[np.uint8]) -> PathCollection:
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


def _label_panel(axes: Axes, axis: Axis, grid: _Grid, *, first: bool) -> None:
    """Ticks and titles of the axes; rows are labelled at the first panel only."""
    across: dict[str, Any] = {"rotation_mode": "anchor", "rotation": 0, "ha": "center"}
    if not grid.upright:
        across |= {"rotation": 90, "ha": "right", "va": "center"}
    axes.set_xticks(grid.places, grid.words, **across, **_type(_TICK))
    axes.set_xlabel(drawable(axis.keys), **_type(_BODY))
    if first:
        axes.set_yticks(grid.places, grid.words, **_type(_TICK))
        axes.set_ylabel(drawable(axis.queries), rotation_mode="anchor", **_type(_BODY))
    else:
        axes.set_yticks([])
    _rule(axes)


def _draw_bar(figure: Figure, maps: Heatmaps, index: int, grid: _Grid, top: float) -> None:
    """A colour bar under the panels that share it, with a point where values are clipped."""
    shared = [place for place, panel in enumerate(maps.panels) if panel.bar == index]
    left, right = grid.x(shared[0]), grid.x(shared[-1]) + grid.side
    bar, axes = maps.bars[index], _place(figure, left, top, right - left, _BAR)
    drawn = figure.colorbar(
        ScalarMappable(Normalize(0, 1), _scale(bar.scale)),
        cax=axes,
        orientation="horizontal",
        extend=_clipped([maps.panels[place].values for place in shared], bar),
        extendfrac=_BAR / (right - left),
    )
    drawn.solids.set_edgecolor("face")
    drawn.outline.set(edgecolor=_INK.faint, linewidth=0.6)
    places, words = _bar_ticks(bar)
    drawn.set_ticks(places, labels=words, **_type(_TICK))
    axes.tick_params(length=2.5, width=0.6, color=_INK.faint)
    drawn.set_label(drawable(bar.label), **_type(_BODY))


def _bar_height() -> float:
    """From the panels' axis titles to the notes."""
    return 0.1 + _BAR + (_TICK + _BODY + 6) * _LEADING


def _clipped(matrices: Sequence[NDArray[np.float64]], bar: Bar) -> str:
    """Which sides of a bar have values beyond them."""
    above = any((values > bar.limit).any() for values in matrices)
    below = bar.scale == "diverging" and any((values < -bar.limit).any() for values in matrices)
    return {(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[below, above]


def _bar_ticks(bar: Bar) -> tuple[list[float], list[str]]:
    """Places between 0 and 1, and round numbers, for a limit of any size."""
    digits, exponent = f"{bar.limit:.15e}".split("e")
    end = float(digits)
    low = -end if bar.scale == "diverging" else 0.0
    values = [value for value in MaxNLocator(5).tick_values(low, end) if low <= value <= end]
    places = [float((value - low) / (end - low)) for value in values]
    return places, [_written(float(f"{value:.6g}e{exponent}")) for value in values]


@cache
def _scale(name: Scale) -> Colormap:
    """A scale of the theme, from 0 to 1."""
    scale = LinearSegmentedColormap.from_list(name, SCALES[name], N=_COLOURS)
    under, over = CLIPPED[name]
    return scale.with_extremes(bad=_INK.masked, under=under, over=over)


# Curves


def _draw_curves(figure: Figure, curves: Curves) -> None:
    """Lines over one pair of axes, with the legend above them and the notes below."""
    left, width = 0.85, PAGE[0] - 0.85 - 2 * _MARGIN
    rows = math.ceil(len(curves.curves) / 2)
    top = _MARGIN + _height(len(curves.title))
    _write_lines(figure, left, top, curves.title, width)
    top += rows * _BODY * _LEADING + 0.12
    under = 0.5 + len(curves.notes) * _NOTE * _LEADING
    axes = _place(figure, left, top, width, PAGE[1] - top - under - _MARGIN)
    _draw_lines(axes, curves)
    _scale_axes(axes, curves)
    _legend(axes, rows)
    _write_notes(figure, left, PAGE[1] - under - _MARGIN + 0.5, curves.notes)


def _draw_lines(axes: Axes, curves: Curves) -> None:
    """One line per curve, broken where a value is not finite."""
    strokes = {"solid": "-", "dash": (0, (5, 2)), "dot": (0, (1.2, 1.6)), "dashdot": "-."}
    for index, curve in enumerate(curves.curves):
        axes.plot(
            curve.x,
            _finite(curve.y),
            color=LINES[index % len(LINES)],
            linestyle=strokes[DASHES[index % len(DASHES)]],
            linewidth=1.4,
            label=drawable(curve.label),
        )


def _scale_axes(axes: Axes, curves: Curves) -> None:
    """Limits around what is finite, a line at zero, and numbers in plain text."""
    x = np.concatenate([curve.x for curve in curves.curves])
    y = np.concatenate([np.zeros(1), *(_finite(curve.y) for curve in curves.curves)])
    low, high = np.nanmin(y), np.nanmax(y)
    room = 0.05 * (high - low) or 1.0
    axes.set_xscale("log" if curves.logarithmic else "linear")
    axes.set(xlim=(x.min(), x.max()), ylim=(low - room, high + room))
    axes.axhline(0, color=_INK.faint, linewidth=0.8, zorder=1)
    axes.grid(color=_INK.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for part in (axes.xaxis, axes.yaxis):
        part.set_major_formatter(FuncFormatter(lambda value, _: _written(value)))
        part.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=_TICK, labelcolor=_INK.text, labelfontfamily=list(FAMILIES))
    _rule(axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(drawable(curves.x), **_type(_BODY))
    axes.set_ylabel(drawable(curves.y), rotation_mode="anchor", **_type(_BODY))


def _legend(axes: Axes, rows: int) -> None:
    """The names of the lines, above them."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2 if rows else 1,
        frameon=False,
        borderpad=0,
        borderaxespad=0.3,
        handlelength=2.6,
        labelcolor=_INK.text,
        prop=_font(_BODY),
    )


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values with gaps where they are not finite, or too large for an axis."""
    return np.where(np.abs(values) < _HUGE, values, np.nan)


# Type and frames


def _place(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes at a place in inches from the upper left corner."""
    across, down = PAGE
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )


def _write(
    figure: Figure, left: float, base: float, text: str, width: float, **properties: Any
) -> None:
    """A line of text on its base line, smaller where it would be wider than `width`."""
    shown = drawable(text)
    size = properties.pop("fontsize")
    size *= min(1.0, width / _width(shown, size, properties.get("fontweight", "normal")))
    figure.text(
        left / PAGE[0], 1 - base / PAGE[1], shown, va="baseline", fontsize=size, **properties
    )


def _write_lines(
    figure: Figure, left: float, bottom: float, lines: Sequence[str], width: float
) -> None:
    """A title: the first line is bold, the last one faint."""
    for index, line in enumerate(lines):
        base = bottom - 0.09 - (len(lines) - 1 - index) * _BODY * _LEADING
        if index == 0:
            properties = _type(_TITLE, fontweight="bold")
        else:
            properties = _type(_BODY, _INK.text if index < len(lines) - 1 else _INK.faint)
        _write(figure, left, base, line, width, **properties)


def _height(lines: int) -> float:
    """Height of a title, inches."""
    return _TITLE / 72 + (lines - 1) * _BODY * _LEADING + 0.09


def _write_notes(figure: Figure, left: float, top: float, notes: Sequence[str]) -> None:
    """Small text, one line each."""
    for index, note in enumerate(notes, 1):
        base = top + index * _NOTE * _LEADING - 0.04
        _write(figure, left, base, note, PAGE[0] - left - _MARGIN, **_type(_NOTE, _INK.faint))


def _rule(axes: Axes) -> None:
    """Thin frame and ticks."""
    axes.tick_params(length=2.5, width=0.6, color=_INK.faint)
    axes.spines[:].set(linewidth=0.6, edgecolor=_INK.faint)


def _type(size: float, color: str = _INK.text, **properties: Any) -> dict[str, Any]:
    """Properties of text that is never markup."""
    return {
        "fontfamily": list(FAMILIES),
        "fontsize": size,
        "color": color,
        "fontfeatures": ("-liga",),  # so that the text can be searched
        "parse_math": False,
        **properties,
    }


def _font(size: float, weight: str = "normal") -> FontProperties:
    """The type at a size."""
    return FontProperties(family=list(FAMILIES), size=size, weight=weight)


def _width(text: str, size: float, weight: str = "normal") -> float:
    """Width of a line, inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, _font(size, weight), False)
    return max(width, 1.0) / 72


def _widest(words: Sequence[str]) -> float:
    """Width of the widest tick, inches."""
    return max(_width(word, _TICK) for word in words)


def _written(value: float) -> str:
    """A number for a tick, with a real minus sign."""
    return number(value).replace("-", "−")

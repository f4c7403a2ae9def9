"""Cells in their colours on paper, and the bars that say what these mean."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.image import AxesImage
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from xpos_viz.figures.description import Bar
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import font, style, widest
from xpos_viz.figures.words import factors, number
from xpos_viz.theme import PALETTES, Ink, Scale

VECTOR_CELLS = 64
"""Most cells a side that are drawn as rectangles; more are a bitmap without smoothing."""

BITMAP_DPI = 600
"""Least resolution of bitmaps in files whose viewer may smooth them."""

_BAR = 0.12  # of a colour bar alone, inches of a page
_COLOURS = 251  # of a scale, odd: white is in its middle; with those of other cells at most 256
_RIM = 0.5  # under the rectangles, points

Numbers = NDArray[np.float64]
Colours = NDArray[np.uint8]
Places = NDArray[np.intp]


class Bitmap(AxesImage):
    """Cells as an image over the whole of its axes.

    Parameters
    ----------
    axes
        With their limits.
    cells
        (rows, columns, 4), their colours.
    x, y
        Where they begin and end, on the scales of the axes.
    """

    def __init__(self, axes: Axes, cells: Colours, x: Numbers, y: Numbers) -> None:
        whole = {"extent": (0, 1, 0, 1), "origin": "upper", "transform": axes.transAxes}
        super().__init__(axes, interpolation="none", **whole)
        self.cells = cells
        self.edges = x, y
        self.stand_in(0)

    def stand_in(self, place: int) -> None:
        """Be a pixel where a file has its own bitmap, of a blue that is its place among them."""
        self.set_data(np.array([[[0, 0, place, 255]]], np.uint8))

    def make_image(
        self, renderer: RendererBase, magnification: float = 1.0, unsampled: bool = False
    ) -> tuple[Colours, float, float, Affine2D]:
        """Return what Matplotlib draws: on pixels the cell of each, from the lowest line up."""
        if unsampled:
            return super().make_image(renderer, magnification, unsampled)
        left, bottom, right, top = (round(magnification * end) for end in self.axes.bbox.extents)
        x, y = self.edges
        rows, columns = _shown(top - bottom, y), _shown(right - left, x)
        return self.cells[np.ix_(rows[::-1], columns)], left, bottom, Affine2D()

    def places(self, dpi: float) -> tuple[Places, Places]:
        """Return which row and which column of cells each pixel shows, at least so fine."""
        box = self.axes.bbox
        inches = box.height / self.axes.figure.dpi, box.width / self.axes.figure.dpi
        x, y = self.edges
        return _cells_of(inches[0] * dpi, y), _cells_of(inches[1] * dpi, x)


def paint(values: Numbers, bar: Bar, ink: Ink) -> Colours:
    """Return (rows, columns, 4) colours: of the scale, beyond its ends, or masked."""
    return _scale(bar.colours, bar.scale, ink.masked)(_shares(values, bar), bytes=True)


def rectangles(x: Numbers, y: Numbers, colours: Colours, unit: float) -> PathCollection:
    """Return one rectangle per cell; those of one colour are one path.

    Every path is there twice: with a rim, and above all rims without. So edges are sharp, and
    where a viewer softens them, no page shows through the seams.
    """
    left, top = np.meshgrid(x[:-1], y[:-1])
    right, bottom = np.meshgrid(x[1:], y[1:])
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    cells = np.stack([np.stack(corner, -1).reshape(-1, 2) for corner in corners], 1)
    palette, kinds = np.unique(colours.reshape(-1, 4), axis=0, return_inverse=True)
    paths = [
        Path.make_compound_path_from_polys(cells[kinds == kind]) for kind in range(len(palette))
    ]
    fill = np.tile(palette / 255, (2, 1))
    widths = np.repeat([_RIM * unit, 0], len(palette))
    return PathCollection(
        paths * 2, facecolors=fill, edgecolors=fill, linewidths=widths, antialiased=False
    )


def bitmap(axes: Axes, x: Numbers, y: Numbers, colours: Colours) -> None:
    """Draw cells of any sizes as a bitmap over axes that have limits."""
    edges = (
        transform.transform(places)
        for places, transform in (
            (x, axes.xaxis.get_transform()),
            (y, axes.yaxis.get_transform()),
        )
    )
    axes.add_image(Bitmap(axes, colours, *edges))


def bar_height(sheet: Sheet, bar: Bar, width: float) -> float:
    """Return the height of a colour bar with its ticks and title, inches."""
    return 0.6 * sheet.unit + sheet.name_height(bar.label, _inner(sheet, width))


def bar_width(sheet: Sheet, bar: Bar, most: float) -> float:
    """Return the width that a bar needs for its title, where that may be so wide, inches."""
    return sheet.name_width(bar.label, _inner(sheet, most)) + most - _inner(sheet, most)


def draw_bar(
    sheet: Sheet,
    at: tuple[float, float, float],
    bar: Bar,
    matrices: Sequence[Numbers],
    room: float = 0.0,
) -> None:
    """Draw a colour bar, with a point on each side where values are clipped.

    It stands at left and top and is so wide, inches; its title may be as wide as `room`.
    """
    (left, top, width), high = at, _BAR * sheet.unit
    axes = sheet.place(left, top, width, high)
    drawn = sheet.figure.colorbar(
        ScalarMappable(Normalize(0, 1), _scale(bar.colours, bar.scale, sheet.ink.masked)),
        cax=axes,
        orientation="horizontal",
        extend=_clipped(matrices, bar),
        extendfrac=high / width,
    )
    if drawn.solids:
        drawn.solids.set(edgecolor="face", rasterized=False)  # vectors, and no seams
    drawn.outline.set(edgecolor=sheet.ink.faint, linewidth=0.6 * sheet.unit)
    places, words = _bar_ticks(bar, width, sheet.size.tick)
    drawn.set_ticks(places, labels=words, **style(font(sheet.size.tick), sheet.ink.text))
    for place_, word in zip(places, axes.get_xticklabels(), strict=True):
        word.set_horizontalalignment(_within(place_))  # away from the next bar
    sheet.rule(axes)
    sheet.name_axis(axes.set_xlabel, bar.label, _inner(sheet, room or width))


def _inner(sheet: Sheet, width: float) -> float:
    """How long the title of a bar may be, inches."""
    return width - 2 * _BAR * sheet.unit


def _cells_of(pixels: float, edges: Numbers) -> Places:
    """Which cell each pixel shows, at least so many; equal cells have as many pixels each."""
    cells, sizes = len(edges) - 1, np.diff(edges)
    if np.allclose(sizes, sizes[0]):
        return np.repeat(np.arange(cells), max(1, math.ceil(pixels / cells)))
    return _shown(math.ceil(pixels), edges)


def _shown(pixels: int, edges: Numbers) -> Places:
    """Which cell each of so many pixels has in its middle."""
    middles = edges[0] + (edges[-1] - edges[0]) * (np.arange(pixels) + 0.5) / pixels
    return np.searchsorted(edges, middles).clip(1, len(edges) - 1) - 1


def _shares(values: NDArray[np.float64], bar: Bar) -> NDArray[np.float64]:
    """Where values lie on the scale: between 0 and 1, or beyond; NaN where there is none."""
    with np.errstate(over="ignore"):
        shares = np.clip(values / bar.limit, -2, 2)
    return shares if bar.scale == "sequential" else (shares + 1) / 2


def _clipped(matrices: Sequence[NDArray[np.float64]], bar: Bar) -> str:
    """Which sides of a bar have values beyond them."""
    shares = [_shares(values, bar) for values in matrices]
    below = any((share < 0).any() for share in shares)
    above = any((share > 1).any() for share in shares)
    return {(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[below, above]


def _within(share: float) -> Literal["left", "center", "right"]:
    """How a word at that share of a bar is aligned, so that it does not stand out of it."""
    return "left" if share < 0.05 else "right" if share > 0.95 else "center"


def _bar_ticks(bar: Bar, width: float, size: float) -> tuple[list[float], list[str]]:
    """Places between 0 and 1, and as many round numbers as are legible along a bar."""
    ticks = _factor_ticks if bar.powers else _round_ticks
    for most in (6, 5, 4, 3):
        places, words = ticks(bar, most)
        room = width * min((after - before for before, after in pairwise(places)), default=1)
        if room > widest(words, size) + 0.5 * size / 72:
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
    return places, [number(float(f"{value:.6g}e{exponent}")) for value in values]


@cache
def _scale(colours: str, name: Scale, masked: str) -> Colormap:
    """A scale of the theme, from 0 to 1."""
    palette = PALETTES[colours]
    scale = LinearSegmentedColormap.from_list(name, palette.scales[name], N=_COLOURS)
    under, over = palette.clipped[name]
    return scale.with_extremes(bad=masked, under=under, over=over)

"""Cells in their colours on paper, and the bars that say what these mean."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from xpos_viz.figures.description import Bar
from xpos_viz.figures.paper import (
    DPI,
    INK,
    TICK,
    font,
    name_axis,
    place,
    rule,
    style,
    widest,
    written,
)
from xpos_viz.figures.words import factors
from xpos_viz.theme import PALETTES, Scale

VECTOR_CELLS = 64
"""Most cells a side that are drawn as rectangles; more are a bitmap without smoothing."""

BAR_HEIGHT = 0.6
"""Of a colour bar with its ticks and title, inches."""

_BAR = 0.12  # of a colour bar alone, inches
_COLOURS = 251  # of a scale, odd: white is in its middle; with those of other cells at most 256
_RIM = 0.5  # under the rectangles, points
_BITMAP_DPI = 330  # in files whose viewer may smooth bitmaps, which then blurs little of a cell

Numbers = NDArray[np.float64]
Colours = NDArray[np.uint8]


def paint(values: Numbers, bar: Bar) -> Colours:
    """Return (rows, columns, 4) colours: of the scale, beyond its ends, or masked."""
    return _scale(bar.colours, bar.scale)(_shares(values, bar), bytes=True)


def rectangles(x: Numbers, y: Numbers, colours: Colours) -> PathCollection:
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
    widths = np.repeat([_RIM, 0], len(palette))
    return PathCollection(
        paths * 2, facecolors=fill, edgecolors=fill, linewidths=widths, antialiased=False
    )


def bitmap(axes: Axes, x: Numbers, y: Numbers, colours: Colours) -> None:
    """Draw cells of any sizes as a bitmap, whose pixels are small, over axes that have limits."""
    dots = _BITMAP_DPI / DPI
    columns, rows = (
        _cells_of(pixels, transform.transform(edges))
        for pixels, edges, transform in (
            (axes.bbox.width * dots, x, axes.xaxis.get_transform()),
            (axes.bbox.height * dots, y, axes.yaxis.get_transform()),
        )
    )
    image = AxesImage(
        axes, interpolation="none", extent=(0, 1, 0, 1), origin="upper", transform=axes.transAxes
    )
    image.set_data(colours[np.ix_(rows, columns)])
    axes.add_image(image)


def enlarge_bitmaps(figure: Figure) -> None:
    """Enlarge bitmaps by a whole factor: a viewer that smooths them then blurs little."""
    for axes in figure.axes:
        for image in axes.images:
            cells = np.asarray(image.get_array())
            factor = math.ceil(int(_BITMAP_DPI * axes.bbox.width / figure.dpi) / cells.shape[1])
            image.set_data(cells.repeat(factor, 0).repeat(factor, 1))


def draw_bar(
    figure: Figure, left: float, top: float, width: float, bar: Bar, matrices: Sequence[Numbers]
) -> None:
    """Draw a colour bar, with a point on each side where values are clipped."""
    axes = place(figure, left, top, width, _BAR)
    drawn = figure.colorbar(
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


def _cells_of(pixels: float, edges: Numbers) -> NDArray[np.intp]:
    """Which cell each of some pixels shows, for edges that rise on the scale of the axis."""
    middles = edges[0] + (edges[-1] - edges[0]) * (np.arange(int(pixels)) + 0.5) / int(pixels)
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

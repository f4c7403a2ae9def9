"""Curves on paper, with their bands and marks."""

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from xpos_viz.figures.description import Curves
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper.frame import frame, legend, number_ticks, open_frame
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import font, style, width_of
from xpos_viz.figures.spans import band, finite, height_limits, leans_left
from xpos_viz.theme import GROUND, stroke

_STROKES = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1.2, 1.6)),
    "dashdot": "-.",
    "longdash": (0, (10, 2.5)),
    "longdashdot": (0, (10, 2, 1.2, 2)),
}


def draw(sheet: Sheet, curves: Curves) -> None:
    """Draw lines over bands over one pair of axes, with the legend above and the notes below."""
    names = [curve.label for curve in curves.curves]
    axes = frame(sheet, curves, entries=names)
    _scale(axes, curves)
    _draw_lines(sheet, axes, curves)
    _draw_bands(axes, curves)
    _draw_marks(sheet, axes, curves)
    number_ticks(axes.xaxis, *axes.get_xlim(), logarithmic=curves.logarithmic)
    number_ticks(axes.yaxis, *axes.get_ylim(), logarithmic=curves.logarithmic_y)
    open_frame(sheet, axes)
    legend(sheet, axes, names)


def _scale(axes: Axes, curves: Curves) -> None:
    """Kinds of axes, and limits around what will be drawn."""
    axes.set_xscale("log" if curves.logarithmic else "linear")
    axes.set_ylim(height_limits(curves))
    if curves.logarithmic_y:
        axes.set_yscale("log", nonpositive="mask")
    axes.margins(x=0)
    if curves.x_limits:
        axes.set_xlim(curves.x_limits)


def _draw_lines(sheet: Sheet, axes: Axes, curves: Curves) -> None:
    """One line per curve, broken where a value is not finite, and one at 0."""
    for curve, place in zip(curves.curves, curves.places, strict=True):
        colour, dash = stroke(place, curve.dash)
        axes.plot(
            curve.x,
            finite(curve.y),
            color=colour,
            linestyle=_STROKES[dash],
            marker="o" if len(curve.x) == 1 else "",
            linewidth=1.4 * sheet.unit,
            label=drawable(curve.label),
        )
    if not curves.logarithmic_y:
        axes.axhline(0, color=sheet.ink.faint, linewidth=0.8 * sheet.unit, zorder=1)


def _draw_bands(axes: Axes, curves: Curves) -> None:
    """The ground between low and high, which changes no limits."""
    for place, curve in enumerate(curves.curves):
        if curve.band is not None:
            colour, _ = stroke(curves.places[place])
            x, low, high = band(curves, place)
            axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0, zorder=1.5)


def _draw_marks(sheet: Sheet, axes: Axes, curves: Curves) -> None:
    """Named points; their names lean away from the nearer end, and stand above each other."""
    point = {"marker": "o", "markersize": 5 * sheet.unit, "markeredgecolor": sheet.ink.page}
    for mark in curves.marks:
        colour, _ = stroke(mark.line)
        axes.plot([mark.x], [mark.y], color=colour, zorder=3, clip_on=False, **point)
    for mark, (across, up) in zip(curves.named, _name_places(sheet, axes, curves), strict=True):
        left = across < 0
        axes.annotate(
            drawable(mark.label),
            (mark.x, mark.y),
            (across, up),
            textcoords="offset points",
            bbox={"facecolor": sheet.ink.page, "alpha": GROUND, "linewidth": 0, "pad": 1},
            ha="right" if left else "left",
            **style(font(sheet.size.tick), sheet.ink.text),
        )


def _name_places(sheet: Sheet, axes: Axes, curves: Curves) -> list[tuple[float, float]]:
    """How far from its point each name begins, or ends, so that it covers none before it: points.

    A name that would is as much higher as it takes.
    """
    places: list[tuple[float, float]] = []
    taken: list[Bbox] = []
    line = 1.4 * sheet.size.tick
    axes.autoscale_view()  # which Matplotlib puts off
    for mark in curves.named:
        x, y = axes.transData.transform((mark.x, mark.y)) * 72 / axes.figure.dpi
        width = 72 * width_of(drawable(mark.label), sheet.size.tick)
        left = leans_left(curves, mark)
        across, up = sheet.unit * (-5 if left else 5), 4 * sheet.unit
        box = Bbox.from_bounds(x + across - width * left, y + up, width, line)
        while covered := [other for other in taken if box.overlaps(other)]:
            higher = max(other.y1 for other in covered) - box.y0 + 0.1
            box, up = box.translated(0, higher), up + higher
        places.append((across, up))
        taken.append(box)
    return places

"""Points of the complex plane on paper: where they are at the last step, and how they came."""

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from xpos_viz.figures.description import Plane
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper.frame import frame, legend, number_ticks, open_frame
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.paper.type import font
from xpos_viz.figures.spans import plane_limit
from xpos_viz.theme import LEVEL, stroke

_NAMED = 24  # most points in the legend
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # for greyscale; one more than there are colours


def draw(sheet: Sheet, plane: Plane) -> None:
    """Draw paths, and the points at their ends, around the unit circle; the axes are equal."""
    names = [plane.labels[point] for point in plane.drawn] if len(plane.drawn) <= _NAMED else []
    above = names if sheet.size.height is None else []
    axes = frame(sheet, plane, entries=above, shape=1.0)
    axes.add_patch(Circle((0, 0), 1, fill=False, color=sheet.ink.faint, linewidth=0.8 * sheet.unit))
    ends = plane.paths[list(plane.others), -1]
    axes.scatter(ends.real, ends.imag, s=(3 * sheet.unit) ** 2, color=stroke(LEVEL)[0], linewidth=0)
    for place, point in enumerate(plane.drawn):
        label, path, (colour, _) = plane.labels[point], plane.paths[point], stroke(place)
        axes.plot(path.real, path.imag, color=colour, linewidth=0.8 * sheet.unit)
        axes.plot(
            path.real[-1:],
            path.imag[-1:],
            _MARKERS[place % len(_MARKERS)],
            color=colour,
            markersize=4.5 * sheet.unit,
            label=drawable(label),
        )
    limit = plane_limit(plane)
    axes.set_aspect("equal", anchor="W")
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit))
    number_ticks(axes.xaxis, -limit, limit)
    number_ticks(axes.yaxis, -limit, limit)
    open_frame(sheet, axes)
    if above:
        legend(sheet, axes, above)
    elif names:
        _legend_beside(sheet, axes)


def _legend_beside(sheet: Sheet, axes: Axes) -> None:
    """The names of the points, to the right."""
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        ncols=2,
        frameon=False,
        borderaxespad=0,
        labelcolor=sheet.ink.text,
        prop=font(sheet.size.body),
    )

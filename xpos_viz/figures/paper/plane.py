"""Points of the complex plane on paper: where they are at the last step, and how they came."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from xpos_viz.figures.description import Plane
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper import BODY, INK, font
from xpos_viz.figures.paper.frame import frame, number_ticks, open_frame
from xpos_viz.figures.spans import plane_limit
from xpos_viz.theme import stroke

_NAMED = 24  # most points in the legend


def draw(figure: Figure, plane: Plane) -> None:
    """Draw paths, and the points at their ends, around the unit circle; the axes are equal."""
    axes = frame(figure, plane)
    axes.add_patch(Circle((0, 0), 1, fill=False, color=INK.faint, linewidth=0.8))
    for place, (label, path) in enumerate(zip(plane.labels, plane.paths, strict=True)):
        colour, _ = stroke(place)
        axes.plot(path.real, path.imag, color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(
            path.real[-1:], path.imag[-1:], "o", color=colour, markersize=4.5, label=drawable(label)
        )
    limit = plane_limit(plane)
    axes.set_aspect("equal", anchor="W")
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit))
    number_ticks(axes.xaxis, -limit, limit)
    number_ticks(axes.yaxis, -limit, limit)
    open_frame(axes)
    if len(plane.labels) <= _NAMED:
        _legend(axes)


def _legend(axes: Axes) -> None:
    """The names of the points, to the right."""
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        ncols=2,
        frameon=False,
        borderaxespad=0,
        labelcolor=INK.text,
        prop=font(BODY),
    )

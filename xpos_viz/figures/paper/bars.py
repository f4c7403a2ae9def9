"""Groups of bars on paper."""

import numpy as np
from matplotlib.figure import Figure

from xpos_viz.figures.description import Bars
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper import DPI, INK, MARGIN, PAGE
from xpos_viz.figures.paper.frame import (
    AXIS_TITLE,
    LEFT,
    frame,
    legend,
    number_ticks,
    open_frame,
    word_ticks,
    words_height,
)
from xpos_viz.figures.spans import finite
from xpos_viz.theme import stroke

_GROUP = 0.8  # share of the distance of labels that a group of bars takes


def draw(figure: Figure, bars: Bars) -> None:
    """Draw one bar of each series at each label, with the legend above."""
    words = words_height(bars.labels, PAGE[0] - LEFT - 2 * MARGIN)
    axes = frame(figure, bars, entries=len(bars.series), below=AXIS_TITLE + words)
    width = _GROUP / len(bars.series)
    groups = np.arange(len(bars.labels)) - (_GROUP - width) / 2
    for place, (name, heights) in enumerate(bars.series):
        colour, _ = stroke(place)
        at = groups + place * width
        axes.bar(at, finite(heights), 0.95 * width, color=colour, label=drawable(name))
    axes.axhline(0, color=INK.faint, linewidth=0.8)
    axes.set_xlim(-0.5, len(bars.labels) - 0.5)
    if bars.y_limits:
        axes.set_ylim(bars.y_limits)
    word_ticks(axes.xaxis, bars.labels, axes.bbox.width / DPI)
    number_ticks(axes.yaxis, *axes.get_ylim())
    open_frame(axes)
    axes.grid(visible=False, axis="x")
    legend(axes)

"""Groups of bars on paper."""

import numpy as np

from xpos_viz.figures.description import Bars
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper.frame import (
    frame,
    inner_width,
    legend,
    number_ticks,
    open_frame,
    word_ticks,
    words_height,
)
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.figures.spans import finite
from xpos_viz.theme import stroke

_GROUP = 0.8  # share of the distance of labels that a group of bars takes
_HATCHES = ("", "////", "....", "xxxx", "----", "++++")  # for greyscale, as dashes are of curves


def draw(sheet: Sheet, bars: Bars) -> None:
    """Draw one bar of each series at each label, with the legend above."""
    names = [name for name, _ in bars.series]
    words = words_height(sheet, bars.labels, inner_width(sheet))
    axes = frame(sheet, bars, entries=names, below=words)
    width = _GROUP / len(bars.series)
    groups = np.arange(len(bars.labels)) - (_GROUP - width) / 2
    for place, (name, heights) in enumerate(bars.series):
        colour, _ = stroke(place)
        axes.bar(
            groups + place * width,
            finite(heights),
            0.95 * width,
            facecolor=colour,
            edgecolor=sheet.ink.page,
            hatch=_HATCHES[place % len(_HATCHES)],
            linewidth=0,
            label=drawable(name),
        )
    axes.axhline(0, color=sheet.ink.faint, linewidth=0.8 * sheet.unit)
    axes.set_xlim(-0.5, len(bars.labels) - 0.5)
    if bars.y_limits:
        axes.set_ylim(bars.y_limits)
    word_ticks(sheet, axes.xaxis, bars.labels, inner_width(sheet))
    number_ticks(axes.yaxis, *axes.get_ylim())
    open_frame(sheet, axes)
    axes.grid(visible=False, axis="x")
    legend(sheet, axes, names)

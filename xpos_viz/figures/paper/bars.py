"""Groups of bars on paper."""

import numpy as np
from matplotlib.axes import Axes

from xpos_viz.figures.description import Bars, Numbers
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
from xpos_viz.figures.paper.type import font, style
from xpos_viz.figures.spans import finite
from xpos_viz.theme import stroke

_GROUP = 0.8  # share of the distance of labels that a group of bars takes
_HATCHES = ("", "////", "....", "xxxx", "----", "++++")  # for greyscale, as dashes are of curves


def draw(sheet: Sheet, bars: Bars) -> None:
    """Draw one bar of each series at each label, with the legend above."""
    words = words_height(sheet, bars.labels, inner_width(sheet))
    axes = frame(sheet, bars, entries=bars.entries, below=words)
    width = _GROUP / len(bars.series)
    groups = np.arange(len(bars.labels), dtype=np.float64) - (_GROUP - width) / 2
    for place, (name, heights) in enumerate(bars.series):
        axes.bar(
            groups + place * width,
            finite(heights),
            0.95 * width,
            facecolor=[stroke(line)[0] for line in bars.places(place)],
            edgecolor=sheet.ink.page,
            hatch=_HATCHES[place % len(_HATCHES)],
            linewidth=0,
            label=drawable(name),
        )
    _whiskers(sheet, axes, bars, groups)
    axes.axhline(0, color=sheet.ink.faint, linewidth=0.8 * sheet.unit)
    axes.set_xlim(-0.5, len(bars.labels) - 0.5)
    if bars.y_limits:
        axes.set_ylim(bars.y_limits)
    word_ticks(sheet, axes.xaxis, bars.labels, inner_width(sheet))
    number_ticks(axes.yaxis, *axes.get_ylim())
    open_frame(sheet, axes)
    axes.grid(visible=False, axis="x")
    if bars.entries:
        legend(sheet, axes, bars.entries)
    _written(sheet, axes, bars, groups)


def _whiskers(sheet: Sheet, axes: Axes, bars: Bars, groups: Numbers) -> None:
    """Lines from low to high around the ends of the bars of the first series."""
    if bars.spans is not None:
        axes.vlines(groups, *bars.spans, color=sheet.ink.text, linewidth=1.2 * sheet.unit)


def _written(sheet: Sheet, axes: Axes, bars: Bars, groups: Numbers) -> None:
    """What stands above each bar of the first series."""
    ((_, heights), *_), (_, high) = bars.series, bars.spans or (None, None)
    tops = np.maximum(heights if high is None else high, 0.0)
    for x, y, lines in zip(groups, tops, bars.written, strict=False):
        axes.annotate(
            drawable("\n".join(lines)),
            (x, y),
            (0, 2 * sheet.unit),
            textcoords="offset points",
            ha="center",
            **style(font(sheet.size.tick), sheet.ink.text),
        )

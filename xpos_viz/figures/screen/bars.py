"""Groups of bars on a screen."""

from collections.abc import Iterator, Sequence

import numpy as np

from xpos_viz.figures.description import Bars, Numbers
from xpos_viz.figures.screen import Spec, apart, axis_style, legend, named, safe, sent, sheet
from xpos_viz.figures.screen.maps import worded
from xpos_viz.theme import Ink, stroke

_HEIGHT, _BELOW = 236, 70  # pixels of the axes, and of labels


def draw(bars: Bars, ink: Ink) -> Spec:
    """Draw one bar of each series at each label."""
    labels = apart(bars.labels)
    traces = [
        {
            "type": "bar",
            "x": labels,
            "y": sent(heights),
            "name": safe(name),
            "marker": {"color": [stroke(line)[0] for line in bars.places(place)]},
            "customdata": worded(heights),
            "hovertemplate": "%{customdata}",
        }
        | _whiskers(bars, heights, ink)
        for place, (name, heights) in enumerate(bars.series)
    ]
    style = axis_style(ink)
    across = {"title": named(bars.x, ink), "type": "category", "automargin": True}
    up = {"title": named(bars.y, ink), "zeroline": True, "zerolinecolor": ink.faint}
    up |= {"range": list(bars.y_limits)} if bars.y_limits else {}
    layout = sheet(ink, _HEIGHT, _BELOW) | {
        "barmode": "group",
        "bargap": 0.25,
        "bargroupgap": 0.05,
        "hovermode": "x unified",
        "legend": legend(ink, -0.36),
        "xaxis": style | across | {"showgrid": False},
        "yaxis": style | up,
    }
    if bars.written:
        layout["annotations"] = list(_written(bars, labels, ink))
    return {"data": traces, "layout": layout}


def _whiskers(bars: Bars, heights: Numbers, ink: Ink) -> Spec:
    """Lines from low to high around the ends of bars."""
    if bars.spans is None:
        return {}
    low, high = bars.spans
    ends = {"array": sent(high - heights), "arrayminus": sent(heights - low)}
    look = {"color": ink.text, "thickness": 1.5, "width": 5}
    return {"error_y": {"type": "data", "symmetric": False, **ends, **look}}


def _written(bars: Bars, labels: Sequence[str], ink: Ink) -> Iterator[Spec]:
    """What stands above each bar of the first series."""
    ((_, heights), *_), (_, high) = bars.series, bars.spans or (None, None)
    tops = np.maximum(heights if high is None else high, 0.0)
    for label, top, lines in zip(labels, tops.tolist(), bars.written, strict=True):
        yield {
            "text": "<br>".join(map(safe, lines)),
            "x": label,
            "y": top,
            "yanchor": "bottom",
            "yshift": 2,
            "showarrow": False,
            "font": {"color": ink.text, "size": 11},
        }

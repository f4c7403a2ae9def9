"""Groups of bars on a screen."""

from xpos_viz.figures.description import Bars
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
            "marker": {"color": stroke(place)[0]},
            "customdata": worded(heights),
            "hovertemplate": "%{customdata}",
        }
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
    return {"data": traces, "layout": layout}

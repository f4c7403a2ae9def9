"""Colours of cells on a screen, and the bars that say what they mean."""

from collections.abc import Sequence

import numpy as np

from xpos_viz.figures.description import Bar
from xpos_viz.figures.screen import Spec
from xpos_viz.figures.words import factors
from xpos_viz.theme import PALETTES, Ink

BAR = 52
"""Pixels that a colour bar takes."""

Span = tuple[float, float]
Frame = tuple[Span, Span]
"""Where a panel is, across and up, as shares of the inner sheet."""

_NUMBERED = 29  # pixels of them for the bar itself and its numbers
_EDGE = 0.004  # share of the colour range at either end that is for clipped values


def colour_axis(bar: Bar, ink: Ink, frames: Sequence[Frame], foot: int) -> Spec:
    """Return a colour axis, with room for clipped values, and its bar under some panels."""
    low = -bar.limit if bar.scale == "diverging" else 0.0
    room = _EDGE * (bar.limit - low)
    left, right = _ends(frames)
    ticks = factors(bar.limit) if bar.powers else {}
    return {
        "cmin": low - room if bar.scale == "diverging" else low,
        "cmax": bar.limit + room,
        "colorscale": _colorscale(bar),
        "colorbar": {
            "orientation": "h",
            "x": (left + right) / 2,
            "xanchor": "center",
            "len": (right - left) * 0.86,
            "y": frames[-1][1][0],
            "yanchor": "top",
            "ypad": foot,
            "thickness": 11,
            "outlinewidth": 1,
            "outlinecolor": ink.faint,
            "nticks": 4 + 2 * len({x for x, _ in frames}),
            "tickmode": "array" if ticks else "auto",
            "tickvals": list(ticks),
            "ticktext": list(ticks.values()),
            "tickangle": 0,
            "tickfont": {"color": ink.faint, "size": 11},
        },
    }


def bar_title(bar: Bar, ink: Ink, frames: Sequence[Frame], foot: int) -> Spec:
    """Return what a colour bar means, below its numbers; Plotly puts a short one among them."""
    left, right = _ends(frames)
    return {
        "text": bar.label,
        "x": (left + right) / 2,
        "y": frames[-1][1][0],
        "xref": "paper",
        "yref": "paper",
        "xanchor": "center",
        "yanchor": "top",
        "yshift": -foot - _NUMBERED,
        "showarrow": False,
        "font": {"color": ink.text, "size": 12},
    }


def _ends(frames: Sequence[Frame]) -> Span:
    """From where to where panels go, across."""
    return min(x[0] for x, _ in frames), max(x[1] for x, _ in frames)


def _colorscale(bar: Bar) -> list[tuple[float, str]]:
    """The stops of a scale, and a band at each end that can clip for what lies beyond it."""
    palette, scale = PALETTES[bar.colours], bar.scale
    stops, (below, above) = palette.scales[scale], palette.clipped[scale]
    ends = 2 if scale == "diverging" else 1
    room = _EDGE / (1 + ends * _EDGE)  # of the whole range, at each end
    start = room if scale == "diverging" else 0.0
    inner = zip(np.linspace(start, 1 - room, len(stops)), stops, strict=True)
    first = [(0.0, below), (0.9 * start, below)] if start else []
    return [*first, *((float(at), code) for at, code in inner), (1 - 0.9 * room, above), (1, above)]

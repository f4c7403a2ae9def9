"""The pen for notebooks and pages: a description as an interactive Plotly figure."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from xpos_viz.figures.description import Axis, Bar, Curves, Description, Heatmaps, Panel
from xpos_viz.figures.words import factors
from xpos_viz.theme import DASHES, INKS, LINES, PALETTES, Ink, Mode

_FONT = "'Source Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
_TITLE, _BAR, _LEFT, _RIGHT, _GAP = 78, 52, 62, 14, 40  # pixels around and between panels
_EDGE = 0.004  # share of the colour range at either end that is for clipped values
_TICK = 13  # pixels a token label needs along its axis
_NAMED = 128  # most tokens whose names travel with every cell; more would be megabytes
_LARGEST = np.finfo(np.float64).max

Span = tuple[float, float]


def draw(
    description: Description, *, mode: Mode = "light", width: int = 1040, stacked: bool = False
) -> go.Figure:
    """Draw a description.

    Parameters
    ----------
    description
        What to draw.
    mode
        "light" or "dark".
    width
        Width there will be, pixels; the height follows from it.
    stacked
        Whether panels stand one above the other, for a narrow screen.

    Returns
    -------
    plotly.graph_objects.Figure
        Independent of Plotly's default template.
    """
    if isinstance(description, Heatmaps):
        return _heatmaps(description, INKS[mode], width, stacked)
    return _curves(description, INKS[mode])


@dataclass(frozen=True)
class Sheet:
    """Where square panels stand on the sheet, in pixels inside its margins."""

    count: int
    width: int
    stacked: bool
    foot: int

    @property
    def size(self) -> float:
        """Side of a panel."""
        across = 1 if self.stacked else self.count
        return (self.inner_width - _GAP * (across - 1)) / across

    @property
    def inner_width(self) -> float:
        """Width between the margins."""
        return max(self.width - _LEFT - _RIGHT, 120.0)

    @property
    def step(self) -> float:
        """From one panel to the next."""
        return self.size + (_TITLE + self.foot + _BAR if self.stacked else _GAP)

    @property
    def inner_height(self) -> float:
        """Height between the margins."""
        return self.size + (self.count - 1) * self.step if self.stacked else self.size

    def frame(self, place: int) -> tuple[Span, Span]:
        """The spans of a panel across and up, as shares of the inner sheet."""
        whole = self.inner_height if self.stacked else self.inner_width
        low = place * self.step / whole
        high = min(low + self.size / whole, 1.0)  # rounding may end a hair beyond the sheet
        return ((0.0, 1.0), (1 - high, 1 - low)) if self.stacked else ((low, high), (0.0, 1.0))


def _heatmaps(maps: Heatmaps, ink: Ink, width: int, stacked: bool) -> go.Figure:
    """Panels whose axes follow each other, each group over its colour bar."""
    sheet = Sheet(len(maps.panels), width, stacked, 36 + _label_height(maps.axis))
    frames = [sheet.frame(place) for place in range(sheet.count)]
    figure = go.Figure(layout=_layout(ink, sheet))
    for place, (panel, (x, y)) in enumerate(zip(maps.panels, frames, strict=True), 1):
        figure.add_trace(_heatmap(panel, maps.bars[panel.bar], maps.axis, place))
        if panel.unknown.any():
            figure.add_trace(_unknown(panel, maps.axis, ink, place))
        figure.update_layout(_axes(maps.axis, ink, place, sheet))
        figure.add_annotation(_title(panel.title, ink, x[0], y[1]))
    for index, bar in enumerate(maps.bars):
        group = [f for p, f in zip(maps.panels, frames, strict=True) if p.bar == index]
        figure.update_layout({f"coloraxis{index + 1}": _colours(bar, ink, group, sheet.foot)})
    return figure


def _label_height(axis: Axis) -> int:
    """Pixels that the tick labels of the keys take below a panel."""
    return min(90, 10 + 6 * max(map(len, axis.labels))) if axis.labels else 14


def _heatmap(panel: Panel, bar: Bar, axis: Axis, place: int) -> go.Heatmap:
    """The cells of a panel that have a value; where there is none the ground is seen."""
    look = {"coloraxis": f"coloraxis{panel.bar + 1}"}
    if not bar.powers:
        return _trace(panel, axis, place, _cells(panel.values), "%{z:.6~g}", **look)
    words = np.vectorize(lambda size: f"{size:.6g}", otypes=[object])(np.exp2(panel.values))
    return _trace(panel, axis, place, _cells(panel.values), "%{text}", text=words, **look)


def _unknown(panel: Panel, axis: Axis, ink: Ink, place: int) -> go.Heatmap:
    """The cells of a panel that are seen and have no number."""
    scale = {"colorscale": [(0, ink.unknown), (1, ink.unknown)], "showscale": False}
    return _trace(panel, axis, place, np.where(panel.unknown, 0.0, np.nan), "–", **scale)


def _trace(
    panel: Panel, axis: Axis, place: int, z: NDArray[Any], value: str, **look: object
) -> go.Heatmap:
    """Cells at their places, with what is read at them."""
    named = 0 < len(axis.labels) <= _NAMED
    cell = _position("%{y:~g}", "%{x:~g}", "%{customdata}", axis)
    position = "%{customdata}" if named else cell
    return go.Heatmap(
        name=panel.title[0],
        x=axis.positions,
        y=axis.positions,
        z=z,
        customdata=_pairs(axis) if named else np.where(np.isnan(z), 0, _lags(axis)),
        hovertemplate=f"<b>{panel.title[0]}</b>  {value}<br>{position}<extra></extra>",
        hoverongaps=False,
        xaxis=f"x{place}",
        yaxis=f"y{place}",
        **look,
    )


def _cells(values: NDArray[np.float64]) -> NDArray[Any]:
    """Values as they are sent: ±inf as the largest number, single precision where it holds."""
    finite = np.where(np.isinf(values), np.copysign(_LARGEST, values), values)
    single = np.nan_to_num(np.abs(finite)).max(initial=0.0) < np.finfo(np.float32).max
    return finite.astype(np.float32) if single else finite


def _lags(axis: Axis) -> NDArray[Any]:
    """Lag of each cell: cells are equally spaced by whole tokens, so lags are whole."""
    lags = axis.positions[:, None] - axis.positions[None, :]
    return lags.astype(np.int16 if np.abs(lags).max(initial=0) < 2**15 else np.int32)


def _pairs(axis: Axis) -> NDArray[np.str_]:
    """Query, key and lag of each cell, with their tokens."""
    named = [f"{p:g} {_safe(t)}" for p, t in zip(axis.positions, axis.labels, strict=True)]
    lags = _lags(axis)
    return np.array(
        [
            [_position(q, k, f"{lag:g}", axis) for k, lag in zip(named, row, strict=True)]
            for q, row in zip(named, lags, strict=True)
        ]
    )


def _position(query: str, key: str, lag: str, axis: Axis) -> str:
    """Where a cell is, for the read-out."""
    return f"{axis.query} {query} · {axis.key} {key} · {axis.lag} {lag}"


def _axes(axis: Axis, ink: Ink, place: int, sheet: Sheet) -> dict[str, dict[str, Any]]:
    """The two axes of a panel: equal steps, queries down, following those of the first."""
    low, high = axis.span
    x, y = sheet.frame(place - 1)
    first, left = place == 1, place == 1 or sheet.stacked
    common = _axis_style(ink) | _ticks(axis, sheet.size) | {"showgrid": False}
    common |= {"constrain": "domain", "showline": True, "mirror": True}
    across = {"domain": x, "anchor": f"y{place}", "range": [low, high]}
    across |= {"title": _words(axis.keys, ink), "tickangle": -90 if axis.labels else 0}
    across |= {} if first else {"matches": "x"}
    down = {"domain": y, "anchor": f"x{place}", "range": [high, low], "showticklabels": left}
    down |= {"title": _words(axis.queries if left else "", ink)}
    down |= {"scaleanchor": "x"} if first else {"matches": "y"}
    return {f"xaxis{place}": common | across, f"yaxis{place}": common | down}


def _ticks(axis: Axis, size: float) -> dict[str, Any]:
    """Tokens as tick texts at their positions, thinned; numbers where there is no text."""
    if not axis.labels:
        return {"tickmode": "auto", "nticks": 7}
    step = math.ceil(len(axis.labels) * _TICK / size)
    return {
        "tickmode": "array",
        "tickvals": axis.positions[::step],
        "ticktext": [_safe(label) for label in axis.labels[::step]],
    }


def _safe(label: str) -> str:
    """A label that Plotly shows letter by letter and never reads as markup."""
    return html.escape(label, quote=False)


def _colours(bar: Bar, ink: Ink, frames: Sequence[tuple[Span, Span]], foot: int) -> dict[str, Any]:
    """A colour axis: its range and scale, with room for clipped values, and its bar."""
    low = -bar.limit if bar.scale == "diverging" else 0.0
    room = _EDGE * (bar.limit - low)
    left, right = frames[0][0][0], frames[-1][0][1]
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
            "outlinewidth": 0,
            "nticks": 4 + 2 * len(frames),
            "tickmode": "array" if ticks else "auto",
            "tickvals": list(ticks),
            "ticktext": list(ticks.values()),
            "tickangle": 0,
            "tickfont": {"color": ink.faint, "size": 11},
            "title": {"text": bar.label, "side": "bottom", "font": {"color": ink.text, "size": 12}},
        },
    }


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


def _title(lines: Sequence[str], ink: Ink, x: float, y: float) -> dict[str, Any]:
    """Lines above a panel, the first one strong."""
    rest = "".join(
        f"<br><span style='font-size:12px;color:{ink.faint}'>{line}</span>" for line in lines[1:]
    )
    return {
        "text": f"<b>{lines[0]}</b>{rest}",
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "align": "left",
        "showarrow": False,
        "font": {"size": 15, "color": ink.text},
    }


def _curves(curves: Curves, ink: Ink) -> go.Figure:
    """Lines over distance."""
    figure = go.Figure()
    for place, curve in enumerate(curves.curves):
        figure.add_trace(
            go.Scatter(
                x=curve.x.astype(np.float32),
                y=curve.y.astype(np.float32),
                name=curve.label,
                mode="lines",
                line={
                    "color": LINES[place % len(LINES)],
                    "width": 2,
                    "dash": DASHES[place % len(DASHES)],
                },
                hovertemplate="%{y:.5~g}",
            )
        )
    style = _axis_style(ink)
    figure.add_annotation(_title(curves.title, ink, 0.0, 1.0) | {"yshift": 10})
    figure.update_layout(
        _base(ink),
        plot_bgcolor=ink.page,
        height=380,
        margin={"l": 64, "r": 16, "t": 64, "b": 92},
        hovermode="x unified",
        legend={
            "orientation": "h",
            "x": 0,
            "y": -0.24,
            "yanchor": "top",
            "font": {"color": ink.text},
        },
        xaxis=style
        | {"title": _words(curves.x, ink), "type": "log" if curves.logarithmic else "linear"},
        yaxis=style
        | {"title": _words(curves.y, ink), "zeroline": True, "zerolinecolor": ink.faint},
    )
    return figure


def _layout(ink: Ink, sheet: Sheet) -> dict[str, Any]:
    """Size, margins and ground of the heatmaps."""
    below = sheet.foot + _BAR
    return _base(ink) | {
        "plot_bgcolor": ink.masked,
        "height": round(sheet.inner_height + _TITLE + below),
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _TITLE, "b": below, "autoexpand": False},
        "dragmode": "zoom",
    }


def _base(ink: Ink) -> dict[str, Any]:
    """What every figure shares; an empty template, so that nothing else restyles it."""
    return {
        "template": go.layout.Template(),
        "paper_bgcolor": ink.page,
        "font": {"family": _FONT, "size": 12, "color": ink.text},
        "hoverlabel": {"bgcolor": ink.page, "bordercolor": ink.faint, "font": {"color": ink.text}},
        "showlegend": True,
    }


def _axis_style(ink: Ink) -> dict[str, Any]:
    """An axis with quiet ticks."""
    return {
        "gridcolor": ink.grid,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": ink.faint,
        "tickfont": {"color": ink.faint, "size": 11},
        "linecolor": ink.faint,
    }


def _words(text: str, ink: Ink) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": text, "standoff": 8, "font": {"color": ink.text, "size": 12}}

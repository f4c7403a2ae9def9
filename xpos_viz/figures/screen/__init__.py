"""What all pictures on a screen share: type, ground, axes and titles, in pixels.

Each is a specification, the dictionary that Plotly draws.
"""

import html
import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xpos_viz.theme import Ink

Spec = dict[str, Any]
"""A figure, or a part of one, in Plotly's words."""

_FONT = "'Source Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
LEFT, RIGHT = 64, 28  # pixels beside what has one pair of axes
_LETTERS = 44, 58  # in the first and in other lines of a title, on the narrowest screen
_SINGLE = np.finfo(np.float32).max
_LINE, _ENTRY = 17, 19  # pixels of a line of a title, and of one of a legend
_BARE = {"data": {"scatter": [{"type": "scatter"}]}}  # an empty template, as Plotly writes it
_SECOND = 0.8  # type of other lines of a title, of that of the first
_FEW, _MANY = 2, 8  # powers of ten on a logarithmic axis


def sheet(ink: Ink, height: float, below: int = 52, left: int = LEFT, above: int = 16) -> Spec:
    """Return the layout of one pair of axes, with room around it."""
    return base(ink) | {
        "plot_bgcolor": ink.page,
        "height": height + above + below,
        "margin": {"l": left, "r": RIGHT, "t": above, "b": below},
    }


def framed(spec: Spec, title: Sequence[str], ink: Ink, entries: int) -> Spec:
    """Return what is drawn with its title above, and a legend of some entries below."""
    layout, lines = spec["layout"], _wrapped(title)
    margin = layout["margin"]
    above = 8 + _LINE * (len(lines) + "".join(lines).count("<br>"))
    below, more = (40, _ENTRY * max(0, entries - 2)) if entries else (0, 0)
    shift = {"yshift": margin["t"] - 6, "xshift": 6 - margin["l"]}
    room = {
        "height": layout["height"] + above + below + more,
        "margin": margin | {"t": margin["t"] + above, "b": margin["b"] + below},
        "annotations": [titled(lines, ink, 0.0, 1.0) | shift, *layout.get("annotations", [])],
        "showlegend": bool(entries),
    }
    return spec | {"layout": layout | room}


def base(ink: Ink) -> Spec:
    """Return what every figure shares; an empty template, so that nothing else restyles it."""
    return {
        "template": _BARE,
        "paper_bgcolor": ink.page,
        "font": {"family": _FONT, "size": 12, "color": ink.text},
        "hoverlabel": {"bgcolor": ink.page, "bordercolor": ink.faint, "font": {"color": ink.text}},
        "showlegend": False,
    }


def legend(ink: Ink, y: float = -0.24) -> Spec:
    """Return a legend below the axes."""
    font = {"color": ink.text}
    return {"orientation": "h", "x": 0, "y": y, "yanchor": "top", "font": font}


def axis_style(ink: Ink) -> Spec:
    """Return an axis with quiet ticks."""
    return {
        "gridcolor": ink.grid,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": ink.faint,
        "tickfont": {"color": ink.faint, "size": 11},
        "linecolor": ink.faint,
        "separatethousands": True,
        "exponentformat": "power",
        "minexponent": 6,
    }


def log_axis(low: float, high: float) -> Spec:
    """Return a logarithmic axis; where there is room it names the powers of ten alone.

    Where there are fewer than two of them it names what is 1, 2 and 5 times such a power, in full.
    """
    powers = math.log10(high / low) if 0 < low < high else 0.0
    few: Spec = {"dtick": "D2", "tickformat": ",~r"} if 0 < powers < _FEW else {}
    return {"type": "log"} | ({"dtick": 1} if _FEW <= powers <= _MANY else few)


def nth(name: str, place: int) -> str:
    """Return the name of an axis, counted from 1: the first one has no number."""
    return name if place == 1 else f"{name}{place}"


def named(text: str, ink: Ink) -> Spec:
    """Return the title of an axis."""
    return {"text": text, "standoff": 8, "font": {"color": ink.text, "size": 12}}


def titled(lines: Sequence[str], ink: Ink, x: float, y: float) -> Spec:
    """Return lines above a panel, the first one strong."""
    rest = "".join(
        f"<br><span style='font-size:{_SECOND}em;color:{ink.faint}'>{line}</span>"
        for line in lines[1:]
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


def safe(label: str) -> str:
    """Return a label that Plotly shows letter by letter and never reads as markup."""
    return html.escape(label, quote=False)


def transparent(colour: str, share: float) -> str:
    """Return a colour, #rrggbb, that covers so much of what is behind it.

    Examples
    --------
    >>> transparent("#0072b2", 0.18)
    'rgba(0,114,178,0.18)'
    """
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def words_width(places: object) -> int:
    """Return the pixels that the longest of words takes, within reason, or 0 for numbers."""
    return min(130, 6 * max(map(len, places))) if isinstance(places, tuple) else 0


def apart(words: Sequence[str]) -> list[str]:
    r"""Return words as categories: equal ones are told apart by letters without a width.

    Examples
    --------
    >>> apart(["a", "b", "a"])
    ['a', 'b', 'a\u200b']
    """
    seen: dict[str, int] = {}
    categories = []
    for word in words:
        categories.append(safe(word) + "\u200b" * seen.get(word, 0))
        seen[word] = seen.get(word, 0) + 1
    return categories


def sent(values: NDArray[np.float64]) -> NDArray[Any]:
    """Return values as they are sent: in single precision where it holds them."""
    sizes = np.abs(values[np.isfinite(values)])
    return values.astype(np.float32) if sizes.max(initial=0.0) < _SINGLE else values


def _wrapped(title: Sequence[str]) -> list[str]:
    """Lines broken to fit the narrowest screen."""
    shown = filter(None, title)
    return [_broken(safe(line), _LETTERS[place > 0]) for place, line in enumerate(shown)]


def _broken(line: str, letters: int) -> str:
    """A line in pieces of so many letters; one of Chinese is as wide as two."""
    wide = sum(ord(letter) > 0x2E80 for letter in line) > len(line) / 2
    return "<br>".join(textwrap.wrap(line, letters // 2 if wide else letters))

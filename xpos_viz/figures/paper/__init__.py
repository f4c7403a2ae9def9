"""The paper under the pen: one size of page, its type and its frames, in inches and points.

A page fits a 16:9 slide and, at 70 % of its size, the text width of a paper. Everything on it
is placed in inches from its upper left corner.
"""

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from xpos_viz.figures.fonts import FAMILIES, drawable, is_latin
from xpos_viz.figures.words import number
from xpos_viz.theme import INKS

PAGE = (10.0, 5.625)
"""Width and height of a page, inches."""

DPI = 288
"""Resolution of a PNG, which is then 2880 × 1620."""

INK = INKS["light"]
"""Paper is light."""

TITLE, BODY, TICK, SMALL_TICK, NOTE = 12.5, 10.0, 8.5, 7.0, 8.5
"""Sizes of type, points."""

LEADING = 1.4 / 72
"""Distance of lines, inches per point of type."""

MARGIN = 0.15
"""Around everything, inches."""


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Put axes on the page."""
    across, down = PAGE
    return figure.add_axes(
        (left / across, 1 - (top + height) / down, width / across, height / down)
    )


def rule(axes: Axes) -> None:
    """Make frame and ticks thin."""
    axes.tick_params(which="both", length=2.5, width=0.6, color=INK.faint)
    axes.spines[:].set(linewidth=0.6, edgecolor=INK.faint)


def write_title(
    figure: Figure, left: float, top: float, lines: Sequence[str], width: float
) -> None:
    """Write lines downwards from `top`: the first in larger type, the last one faint."""
    lines = [line for line in lines if line]
    for index, line in enumerate(lines):
        color = INK.faint if 0 < index == len(lines) - 1 else INK.text
        type_ = font(BODY) if index else _title_font(line)
        _write(figure, left, top + TITLE / 72 + index * BODY * LEADING, line, width, type_, color)


def title_height(*titles: Sequence[str]) -> float:
    """Return the height of the highest of titles, with the space under it, inches."""
    lines = max(sum(map(bool, title)) for title in titles)
    return TITLE / 72 + (lines - 1) * BODY * LEADING + 0.1


def write_notes(figure: Figure, left: float, top: float, notes: Sequence[str]) -> None:
    """Write small text downwards from `top`, one line each."""
    for index, note in enumerate(notes, 1):
        base, width = top + index * NOTE * LEADING - 0.04, PAGE[0] - left - MARGIN
        _write(figure, left, base, note, width, font(NOTE), INK.faint)


def notes_height(notes: Sequence[str]) -> float:
    """Return the height of notes, inches."""
    return len(notes) * NOTE * LEADING


def name_axis(label: Callable[..., object], text: str, width: float) -> None:
    """Write the title of an axis by the method that sets it, no longer than `width`."""
    shown = drawable(text)
    label(shown, rotation_mode="anchor", **style(_fitted(shown, font(BODY), width)))


def style(type_: FontProperties, color: str = INK.text) -> dict[str, Any]:
    """Return properties of text, which is never markup, nor has ligatures that no search finds."""
    return {
        "fontproperties": type_,
        "color": color,
        "fontfeatures": ("-liga",),
        "parse_math": False,
    }


def font(size: float) -> FontProperties:
    """Return the type at a size."""
    return FontProperties(family=list(FAMILIES), size=size)


def widest(words: Sequence[str], size: float) -> float:
    """Return the width of the widest of lines, inches."""
    type_ = font(size)
    return max(_width(word, type_) for word in words)


def written(value: float) -> str:
    """Write a number for a tick, with a real minus sign.

    Examples
    --------
    >>> written(-1200.0)
    '−1,200'
    """
    return number(value).replace("-", "−")


def _write(
    figure: Figure,
    left: float,
    base: float,
    text: str,
    width: float,
    type_: FontProperties,
    color: str,
) -> None:
    """A line of text on its base line, smaller where it would be wider than `width`."""
    x, y, shown = left / PAGE[0], 1 - base / PAGE[1], drawable(text)
    figure.text(x, y, shown, va="baseline", **style(_fitted(shown, type_, width), color))


def _title_font(text: str) -> FontProperties:
    """Bold, where all of the text can be: there is no bold Chinese."""
    if not is_latin(text):
        return font(TITLE)
    return FontProperties(family=FAMILIES[0], size=TITLE, weight="bold")


def _fitted(text: str, type_: FontProperties, width: float) -> FontProperties:
    """The type, smaller where the text would be wider than `width`."""
    fitted = type_.copy()
    fitted.set_size(type_.get_size_in_points() * min(1.0, width / _width(text, type_)))
    return fitted


def _width(text: str, type_: FontProperties) -> float:
    """Width of a line, inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, type_, False)
    return max(width, 1.0) / 72

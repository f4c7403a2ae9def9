"""Type: how wide words are, where lines break, and how they are handed to Matplotlib."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any
from unicodedata import category

from matplotlib.font_manager import FontProperties, get_font
from matplotlib.ft2font import LoadFlags

from xpos_viz.figures.fonts import FAMILIES, drawable, file_of

LEADING = 1.4 / 72
"""Distance of lines, inches per point of type."""

_HAN = 0x2E80  # where scripts begin that break between any two characters
_WHOLE = re.compile(r"[^\W\d] \d|[(（][^()（）]{1,13}[)）]")  # a name and its number, a unit


def font(size: float, *, bold: bool = False) -> FontProperties:
    """Return the type at a size."""
    families = [FAMILIES[0]] if bold else list(FAMILIES)
    return FontProperties(family=families, size=size, weight="bold" if bold else "normal")


def style(type_: FontProperties, color: str) -> dict[str, Any]:
    """Return properties of text, which is never markup, nor has ligatures that no search finds."""
    return {
        "fontproperties": type_,
        "color": color,
        "fontfeatures": ("-liga",),
        "parse_math": False,
    }


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a line, inches."""
    return size / 72 * sum(_advance(character, bold) for character in text)


def widest(words: Sequence[str], size: float) -> float:
    """Return the width of the widest of lines, inches."""
    return max(width_of(word, size) for word in words)


def broken(text: str, size: float, width: float, *, bold: bool = False) -> list[str]:
    """Break text, as it can be drawn, into lines that are no wider than `width`, inches.

    Examples
    --------
    >>> broken("raw scores q·k, causal mask", 10.0, 1.0)
    ['raw scores', 'q·k, causal', 'mask']
    >>> broken("γ 0.4, B 512 (no unit)", 10.0, 0.7)
    ['γ 0.4,', 'B 512', '(no unit)']
    >>> broken("原始分数，因果掩码", 10.0, 0.6)
    ['原始分', '数，因果', '掩码']
    """
    lines, used = [""], 0.0
    for piece in _pieces(drawable(text)):
        if lines[-1] and used + width_of(piece.rstrip(), size, bold=bold) > width:
            lines.append("")
            used = 0.0
        first, *others = _parts(piece, size, width, bold)
        lines[-1] += first
        lines += others
        used = (0.0 if others else used) + width_of([first, *others][-1], size, bold=bold)
    return [line.rstrip() for line in lines]


def _pieces(text: str) -> Iterator[str]:
    """What must stay in one line."""
    inside = {n for found in _WHOLE.finditer(text) for n in range(found.start() + 1, found.end())}
    start = 0
    for place, (before, after) in enumerate(pairwise(text), 1):
        if place not in inside and _breaks(before, after):
            yield text[start:place]
            start = place
    yield text[start:]


def _breaks(before: str, after: str) -> bool:
    """Whether a line may end between two characters."""
    if before == " ":
        return after != " "
    apart = max(ord(before), ord(after)) >= _HAN and after != " "
    opens, closes = category(before) in {"Ps", "Pi"}, category(after) in {"Pe", "Pf", "Po"}
    return apart and not (opens or closes)


def _parts(piece: str, size: float, width: float, bold: bool) -> Iterator[str]:
    """A piece, cut where it alone is wider than a line."""
    part, used = "", 0.0
    for character in piece:
        wide = width_of(character, size, bold=bold)
        if part and character != " " and used + wide > width:
            yield part
            part, used = "", 0.0
        part += character
        used += wide
    yield part


@cache
def _advance(character: str, bold: bool) -> float:
    """Width of a character, in sizes of its type."""
    face = get_font(file_of(character, bold=bold))
    glyph = face.load_char(ord(character), flags=LoadFlags.NO_SCALE)
    return glyph.horiAdvance / face.units_per_EM

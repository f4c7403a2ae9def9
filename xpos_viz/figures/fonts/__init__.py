"""The type of the figures on paper, the same on every machine.

Matplotlib's DejaVu Sans writes what it can, and a bundled subset of Noto Sans CJK SC writes
Chinese (README.md beside this file). No font of the system is ever needed.
"""

from functools import cache
from pathlib import Path

from matplotlib.font_manager import FontProperties, fontManager, get_font

HAN = Path(__file__).parent / "XPosVizHanSans-Regular.ttf"

FAMILIES: tuple[str, ...] = ("DejaVu Sans", "XPos Viz Han Sans")
"""Families in the order in which a glyph is looked for."""

fontManager.addfont(HAN)


def drawable(text: str) -> str:
    """Return the text with � for every character that no family has.

    Examples
    --------
    >>> drawable("ζᵢ 词 \U00013000")
    'ζᵢ 词 �'
    """
    known = _known()
    return "".join(character if ord(character) in known else "�" for character in text)


def is_latin(text: str) -> bool:
    """Return whether the first family has every character, bold too.

    Examples
    --------
    >>> is_latin("ζᵢ"), is_latin("词")
    (True, False)
    """
    return _latin().issuperset(map(ord, text))


def file_of(character: str, *, bold: bool = False) -> Path:
    """Return the file of the font that draws a character."""
    return face(bold=bold) if ord(character) in _characters(face(bold=bold)) else HAN


@cache
def face(*, bold: bool = False) -> Path:
    """Return the file of the first family."""
    weight = "bold" if bold else "normal"
    return Path(fontManager.findfont(FontProperties(family=FAMILIES[0], weight=weight)))


@cache
def _known() -> frozenset[int]:
    """Code points that some family has."""
    return _latin() | _characters(HAN)


@cache
def _latin() -> frozenset[int]:
    """Code points that the first family has in both weights."""
    return _characters(face()) & _characters(face(bold=True))


@cache
def _characters(path: Path) -> frozenset[int]:
    """Code points that a font has."""
    return frozenset(get_font(path).get_charmap())

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
    >>> drawable("ζᵢ 词 \U0001f600")
    'ζᵢ 词 �'
    """
    known = _characters()
    return "".join(character if ord(character) in known else "�" for character in text)


@cache
def _characters() -> frozenset[int]:
    """Code points that the families have, in both weights of the first."""
    regular, bold = (
        frozenset(get_font(fontManager.findfont(_latin(weight))).get_charmap())
        for weight in ("normal", "bold")
    )
    return (regular & bold) | frozenset(get_font(HAN).get_charmap())


def _latin(weight: str) -> FontProperties:
    """The first family."""
    return FontProperties(family=FAMILIES[0], weight=weight)

"""Colours and type, as data, for every pen.

A diverging scale is white at zero and a sequential one at no weight; all of them are safe
for colour-blind readers. Beyond its limit a value has the darker colour of its side, and
what is masked is grey, which no value is. Greyscale takes the sign from such a scale; that of
`navy_sand` is lighter the larger the value, grey at zero, and lighter still than the mask beyond.
"""

from dataclasses import dataclass
from typing import Literal

Mode = Literal["light", "dark"]

Scale = Literal["diverging", "sequential"]
"""Around zero, from −limit to limit; or from zero to limit."""


@dataclass(frozen=True)
class Palette:
    """Colours of both scales.

    Parameters
    ----------
    scales
        Colours from the lower to the upper limit, equally spaced.
    clipped
        Colours of values below and above the limits.
    sides
        Colours for less and for more, where they stand on their own on any ground.
    """

    scales: dict[Scale, tuple[str, ...]]
    clipped: dict[Scale, tuple[str, str]]
    sides: tuple[str, str]


SCALES: dict[Scale, tuple[str, ...]] = {
    "diverging": ("#2166ac", "#67a9cf", "#d1e5f0", "#ffffff", "#fddbc7", "#ef8a62", "#b2182b"),
    "sequential": ("#ffffff", "#d8ecf3", "#a3d1e1", "#5aaccb", "#2a83b4", "#175f98", "#0e3f77"),
}
"""The usual colours from the lower to the upper limit, equally spaced."""

CLIPPED: dict[Scale, tuple[str, str]] = {
    "diverging": ("#062a55", "#4d000f"),
    "sequential": ("#ffffff", "#071a38"),
}
"""The usual colours of values below and above the limits."""

PALETTES: dict[str, Palette] = {
    "blue_red": Palette(SCALES, CLIPPED, ("#2166ac", "#b2182b")),
    "purple_orange": Palette(
        {
            "diverging": (
                *("#542788", "#998ec3", "#d8daeb", "#ffffff"),
                *("#fee0b6", "#f1a340", "#b35806"),
            ),
            "sequential": (
                *("#ffffff", "#efedf5", "#d5d3e8", "#b1add3"),
                *("#8a82bc", "#6a51a3", "#4a1486"),
            ),
        },
        {"diverging": ("#250b45", "#4f2400"), "sequential": ("#ffffff", "#23063f")},
        ("#542788", "#b35806"),
    ),
    "teal_brown": Palette(
        {
            "diverging": (
                *("#01665e", "#5ab4ac", "#c7eae5", "#ffffff"),
                *("#f6e8c3", "#d8b365", "#8c510a"),
            ),
            "sequential": (
                *("#ffffff", "#ddf1ee", "#b0ddd7", "#73c0b8"),
                *("#35988f", "#01766d", "#01524b"),
            ),
        },
        {"diverging": ("#002b27", "#3f2200"), "sequential": ("#ffffff", "#00241f")},
        ("#01665e", "#8c510a"),
    ),
    "navy_sand": Palette(
        {
            "diverging": (
                *("#0b1f4b", "#273a68", "#4a5470", "#6e6e6e"),
                *("#988279", "#c0967c", "#e8ab80"),
            ),
            "sequential": (
                *("#ffffff", "#dfe5f1", "#b8c5df", "#8b9fc9"),
                *("#5f79ae", "#36518b", "#14306a"),
            ),
        },
        {"diverging": ("#000820", "#ffe9d6"), "sequential": ("#ffffff", "#04102e")},
        ("#2f55a4", "#a85f2e"),
    ),
}
"""All choices of colours, by name, the usual one first.

Three are ColorBrewer's RdBu, PuOr and BrBG; the last one is for greyscale.
"""

LINES: tuple[str, ...] = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#785aff", "#d2003c")
"""Colours of curves in order: four of Okabe and Ito 2008, and two that are as well told apart.

All have a contrast of 3 or more with light and with dark ground.
"""

WORDS: dict[Mode, tuple[str, ...]] = {
    "light": ("#0068a3", "#b34f00", "#00795a", "#a0487c", "#6a4be0", "#c20037"),
    "dark": ("#4aa8e0", "#f0853a", "#2fc497", "#dd96bd", "#a590ff", "#ff6b85"),
}
"""Colours of words and symbols that stand for a curve: its hue, with a contrast of 4.5 or more."""

DASHES: tuple[str, ...] = ("solid", "dash", "dot", "dashdot", "solid", "dash")
"""Strokes of curves in order, for greyscale."""

STROKES: tuple[str, ...] = (*dict.fromkeys(DASHES), "longdash", "longdashdot")
"""All strokes: two more, where one colour has many curves."""

LEVEL = -1
"""Place of a line that no encoding or format has, such as a limit: it is neutral."""

NEUTRAL = "#767b82"
"""Its colour, with a contrast of 4 or more on either ground."""

GROUND = 0.88
"""How much of the lines behind it the ground of a name covers."""


def stroke(place: int, dash: str = "") -> tuple[str, str]:
    """Return colour and dash of the curve at a place; after the last one they begin anew.

    Examples
    --------
    >>> stroke(7), stroke(7, "solid"), stroke(LEVEL, "dot")
    (('#d55e00', 'dash'), ('#d55e00', 'solid'), ('#767b82', 'dot'))
    """
    colour = NEUTRAL if place == LEVEL else LINES[place % len(LINES)]
    return colour, dash or DASHES[place % len(DASHES)]


@dataclass(frozen=True)
class Ink:
    """Colours of what is not data.

    Parameters
    ----------
    text, faint, grid, page
        Of letters, frames, grid lines and the ground.
    masked
        Cells that are not seen.
    unknown
        Cells that are seen and have no number, such as 0 / 0: like no value of any palette.
    """

    text: str
    faint: str
    grid: str
    page: str
    masked: str
    unknown: str


INKS: dict[Mode, Ink] = {
    "light": Ink("#1f2430", "#565d6b", "#dfe2e8", "#ffffff", "#d3d7de", "#c6ff00"),
    "dark": Ink("#e9ecf2", "#a9b1c0", "#3a414e", "#12161b", "#343b48", "#c6ff00"),
}
"""Ink of each mode; pictures for paper are light."""

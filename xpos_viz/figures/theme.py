"""Colours and type, as data, for every pen.

The diverging scale is white at zero and the sequential one at no weight; both are safe
for colour-blind readers. Beyond its limit a value has the darker colour of its side, and
what is masked is grey, which no value is.
"""

from dataclasses import dataclass
from typing import Literal

from xpos_viz.figures.description import Scale

Mode = Literal["light", "dark"]

SCALES: dict[Scale, tuple[str, ...]] = {
    "diverging": ("#2166ac", "#67a9cf", "#d1e5f0", "#ffffff", "#fddbc7", "#ef8a62", "#b2182b"),
    "sequential": ("#ffffff", "#d8ecf3", "#a3d1e1", "#5aaccb", "#2a83b4", "#175f98", "#0e3f77"),
}
"""Colours from the lower to the upper limit, equally spaced."""

CLIPPED: dict[Scale, tuple[str, str]] = {
    "diverging": ("#062a55", "#4d000f"),
    "sequential": ("#ffffff", "#071a38"),
}
"""Colours of values below and above the limits."""

LINES: tuple[str, ...] = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours of curves in order (Okabe and Ito 2008)."""

DASHES: tuple[str, ...] = ("solid", "dash", "dot", "dashdot", "solid", "dash")
"""Strokes of curves in order, for greyscale."""


@dataclass(frozen=True)
class Ink:
    """Colours of what is not data."""

    text: str
    faint: str
    grid: str
    page: str
    masked: str


INKS: dict[Mode, Ink] = {
    "light": Ink("#1f2430", "#565d6b", "#dfe2e8", "#ffffff", "#d3d7de"),
    "dark": Ink("#e9ecf2", "#a9b1c0", "#3a414e", "#12161d", "#343b48"),
}
"""Ink of each mode; pictures for paper are light."""

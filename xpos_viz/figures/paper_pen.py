"""The pen for paper: draws descriptions with Matplotlib, as PNG, SVG or PDF.

No browser takes part, nor Matplotlib's global state of open figures: any thread may draw.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from threading import RLock
from types import MappingProxyType
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure

from xpos_viz.figures.description import Bars, Curves, Description, Grid, Heatmaps, Plane
from xpos_viz.figures.paper import DPI, INK, PAGE, bars, curves, grid, maps, plane
from xpos_viz.figures.paper.cells import enlarge_bitmaps

KINDS: dict[str, str] = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
"""What :func:`save` writes, and its media type."""

_PARTS: Mapping[type, Callable[[Figure, Any], None]] = MappingProxyType(
    {
        Heatmaps: maps.draw,
        Curves: curves.draw,
        Grid: grid.draw,
        Bars: bars.draw,
        Plane: plane.draw,
    }
)
_LOCK = RLock()
_SETTINGS = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "xpos-viz",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # the PDF backend asks this one how many glyphs a font may have
    "image.composite_image": False,
}


def draw(description: Description) -> Figure:
    """Draw a description as a Matplotlib figure.

    Parameters
    ----------
    description
        What to draw.

    Returns
    -------
    Figure
        A page, which pyplot does not know of and which needs no closing.
    """
    with _settings():
        figure = Figure(figsize=PAGE, dpi=DPI, facecolor=INK.page)
        _PARTS[type(description)](figure, description)
    return figure


from dataclasses import dataclass as _dc


@_dc(frozen=True)
class Paper:
    size: str = "page"
    mode: str = "light"
    caption: str = ""


def recipe_of(content: bytes) -> str:
    raise ValueError("stub")


def save(description: Description, kind: str, paper=None, *, recipe: str = "") -> bytes:
    """Draw a description as the content of a file, the same bytes every time.

    Parameters
    ----------
    description
        What to draw.
    kind
        One of :data:`KINDS`.

    Returns
    -------
    bytes
        The file; the alternative text is in its metadata.

    Raises
    ------
    ValueError
        For another kind of file.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of file {kind!r}; use one of: {', '.join(KINDS)}.")
    figure, file = draw(description), BytesIO()
    if kind != "png":
        enlarge_bitmaps(figure)
    with _settings():
        figure.savefig(file, format=kind, **_options(description)[kind])
    if kind == "svg":  # for machines that have none of our families
        return re.sub(rb"font-family: '[^;<>\"]*'", rb"\g<0>, sans-serif", file.getvalue())
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's own defaults and ours, whatever the user's are; one thread at a time."""
    with _LOCK, matplotlib.style.context(["default", _SETTINGS]):
        yield


def _options(description: Description) -> dict[str, dict[str, Any]]:
    """Name and alternative text as each kind of file has them, no date, and fast packing."""
    title, alt = {"Title": description.name}, description.alt
    return {
        "png": {
            "metadata": {**title, "Description": alt},
            "pil_kwargs": {"compress_level": 3},
        },
        "svg": {"metadata": {**title, "Description": alt, "Date": None}},
        "pdf": {"metadata": {**title, "Subject": alt, "CreationDate": None}},
    }

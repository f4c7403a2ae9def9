"""The pen for paper: draws descriptions with Matplotlib, as PNG, SVG or PDF.

No browser takes part, nor Matplotlib's global state of open figures: any thread may draw.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from types import MappingProxyType
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from xpos_viz.figures.description import Bars, Curves, Description, Grid, Heatmaps, Plane
from xpos_viz.figures.files import KINDS, SIZES, Paper, check_kind
from xpos_viz.figures.paper import bars, curves, grid, maps, plane, writing
from xpos_viz.figures.paper.sheet import Sheet
from xpos_viz.theme import INKS

__all__ = ["KINDS", "Paper", "draw", "pixels", "save"]

_PARTS: Mapping[type, Callable[[Sheet, Any], None]] = MappingProxyType(
    {
        Heatmaps: maps.draw,
        Curves: curves.draw,
        Grid: grid.draw,
        Bars: bars.draw,
        Plane: plane.draw,
    }
)
_WRITERS: Mapping[str, Callable[[Figure, writing.Words], bytes]] = MappingProxyType(
    {"png": writing.png, "svg": writing.svg, "pdf": writing.pdf}
)
_PAPER = Paper()
_LOCK = RLock()
_SETTINGS = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "xpos-viz",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # the PDF backend asks this one how many glyphs a font may have
    "image.composite_image": False,
}


def draw(description: Description, paper: Paper = _PAPER) -> Figure:
    """Draw a description as a Matplotlib figure.

    Parameters
    ----------
    description
        What to draw.
    paper
        On what: its size, its ground and a caption.

    Returns
    -------
    Figure
        A sheet, which pyplot does not know of and which needs no closing.
    """
    size, ink = SIZES[paper.size], INKS[paper.mode]
    with _settings():
        extent = (size.width, size.height or size.width)
        figure = Figure(figsize=extent, dpi=size.dpi, facecolor=ink.page)
        _PARTS[type(description)](Sheet(figure, size, ink, paper.caption), description)
    return figure


def save(description: Description, kind: str, paper: Paper = _PAPER, recipe: str = "") -> bytes:
    """Draw a description as the content of a file, the same bytes every time.

    Parameters
    ----------
    description
        What to draw.
    kind
        One of :data:`KINDS`.
    paper
        On what.
    recipe
        What the picture was made from, for the metadata; :func:`xpos_viz.figures.recipes.recipe_of`
        reads it.

    Returns
    -------
    bytes
        The file; the alternative text is in its metadata, and the fonts are in it.

    Raises
    ------
    ValueError
        For another kind of file.
    """
    check_kind(kind)
    words = {"title": description.name, "alt": description.alt, "recipe": recipe}
    with _settings():
        return _WRITERS[kind](draw(description, paper), words)


def pixels(description: Description, width: int, paper: Paper = _PAPER) -> NDArray[np.uint8]:
    """Draw a description as pixels.

    Parameters
    ----------
    description
        What to draw.
    width
        Pixels.
    paper
        On what.

    Returns
    -------
    numpy.ndarray
        (height, width, 3), red, green and blue.
    """
    with _settings():
        figure = draw(description, paper)
        figure.dpi = width / figure.get_figwidth()
        return writing.pixels(figure)


@contextmanager
def _settings() -> Iterator[None]:
    """Matplotlib's own defaults and ours, whatever the user's are; one thread at a time."""
    with _LOCK, matplotlib.style.context(["default", _SETTINGS]):
        yield

"""Figures to draw on paper, and what is read from the files."""

import io
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from tests import drawn
from xpos_viz import Experiment
from xpos_viz.figures.compare import decay_curves
from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.files import SIZES
from xpos_viz.figures.paper_pen import KINDS
from xpos_viz.inputs import Expectation
from xpos_viz.results import curves
from xpos_viz.texts import texts
from xpos_viz.theme import INKS, PALETTES

each_kind = pytest.mark.parametrize("kind", KINDS)
SVG = "{http://www.w3.org/2000/svg}"
SIZE, INK = SIZES["page"], INKS["light"]
DPI, PAGE = SIZE.dpi, (10.0, 5.625)
SHADE = 3 / 255
"""Rounding of a colour to a byte, and again by a renderer."""


def line(y, *, label="a line", x=None, **options):
    """A description of a single curve."""
    y = np.asarray(y, dtype=np.float64)
    x = np.arange(len(y), dtype=np.float64) if x is None else np.asarray(x)
    described = {"title": ("Title", "assumption"), "x": "across", "y": "up", "logarithmic": False}
    return Curves(name="one", alt="One curve.", curves=(Curve(label, x, y),), **described | options)


def decay(language="en", **options):
    """The decay curves of the pair."""
    experiment = Experiment(drawn.PAIR, Expectation(2049))
    return decay_curves(curves(experiment), experiment, texts(language), **options)


def checkered(size):
    """A map whose neighbours are as different as can be."""
    return drawn.one_panel(2.0 - 4.0 * (np.indices((size, size)).sum(0) % 2))


def svg_texts(content):
    """The pieces of text of an SVG."""
    root = ElementTree.fromstring(content)
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def page(content, dpi=DPI):
    """The page of a PDF as an array of colours."""
    with pypdfium2.PdfDocument(content) as document:
        assert len(document) == 1
        scale: Any = dpi / 72
        picture = document[0].render(scale=scale).to_pil().convert("RGB")
    return np.asarray(picture) / 255


def png(content):
    """A PNG as an array of colours."""
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB")) / 255


def at_cells(pixels, axes, description):
    """The colours in the middle of all cells of a panel."""
    positions = description.axis.positions
    places = np.stack(np.meshgrid(positions, positions), -1).reshape(-1, 2)
    x, y = (axes.transData.transform(places) / DPI).T
    scale = pixels.shape[1] / PAGE[0]
    rows, columns = ((PAGE[1] - y) * scale).astype(int), (x * scale).astype(int)
    return pixels[rows, columns].reshape(len(positions), len(positions), 3)


def expected(values, limit, scale, colours="blue_red"):
    """The colours of values by the theme, written out."""
    values, palette = np.asarray(values), PALETTES[colours]
    stops = np.array([to_rgb(code) for code in palette.scales[scale]])
    low = -limit if scale == "diverging" else 0.0
    places = np.linspace(low, limit, len(stops))
    painted = np.stack([np.interp(values, places, stops[:, part]) for part in range(3)], -1)
    under, over = palette.clipped[scale]
    painted[values < low] = to_rgb(under)
    painted[values > limit] = to_rgb(over)
    painted[np.isnan(values)] = to_rgb(INK.masked)
    return painted

"""Cells of maps on paper: their colours, their edges, and what they are made of."""

import base64
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from tests import drawn
from tests.figures.paper.sheets import INK, SHADE, SVG, at_cells, checkered, expected, page, png
from xpos_viz import rope, xpos
from xpos_viz.comparison import KINDS as KINDS_OF_COMPARISON
from xpos_viz.figures.paper.cells import VECTOR_CELLS
from xpos_viz.figures.paper_pen import draw, save
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.theme import CLIPPED, PALETTES

HREF = "{http://www.w3.org/1999/xlink}href"
CELLS = [[0.0, 1.0, 1.1], [-1.0, np.nan, -1.1], [np.inf, -np.inf, 0.5]]


def rectangles(content):
    """Rectangles and rimmed rectangles of an SVG, counted by colour."""
    sharp, rimmed = {}, {}
    for path in ElementTree.fromstring(content).iterfind(
        f".//{SVG}g[@id='PathCollection_1']/{SVG}path"
    ):
        look = path.attrib.get("style", "")
        code = found.group(1) if (found := re.search(r"fill: (#\w+)", look)) else "#000000"
        (rimmed if "stroke" in look else sharp)[code] = path.attrib["d"].count("M")
    return sharp, rimmed


@pytest.mark.parametrize("scale", ["diverging", "sequential"])
@pytest.mark.parametrize("size", [3, 66])
def test_cells_have_the_colours_of_the_theme(size, scale):
    """In zero's white, at the limits, clipped, infinite, masked; as rectangles and as bitmap."""
    values = np.resize(CELLS, (size, size))
    values = abs(values) if scale == "sequential" else values
    maps = drawn.one_panel(2.5 * values, limit=2.5, scale=scale)
    colours = expected(values, 1.0, scale)
    panel = draw(maps).axes[0]
    for pixels in (png(save(maps, "png")), page(save(maps, "pdf"))):
        assert np.abs(at_cells(pixels, panel, maps) - colours).max() < SHADE
    assert to_hex(colours[0, 0]) == "#ffffff"
    assert to_hex(colours[1, 1]) == INK.masked


@pytest.mark.parametrize("size", [3, 70])
def test_cells_without_a_value_have_a_colour_of_their_own(size):
    values = np.resize([0.5, np.nan, np.nan, 0.0], (size, size))
    seen = ~np.isnan(values) | (np.indices((size, size)).sum(0) % 3 == 1)
    maps = drawn.one_panel(values, seen=seen)
    colours = expected(values, 1.0, "diverging")
    colours[np.isnan(values) & seen] = to_rgb(INK.unknown)
    assert np.isnan(values).sum() > (np.isnan(values) & seen).sum() > 0
    axes = draw(maps).axes[0]
    for pixels in (png(save(maps, "png")), page(save(maps, "pdf"))):
        assert np.abs(at_cells(pixels, axes, maps) - colours).max() < SHADE


@pytest.mark.parametrize("how", KINDS_OF_COMPARISON)
@pytest.mark.parametrize("colours", PALETTES)
def test_files_have_the_comparison_and_the_colours_that_are_shown(colours, how):
    """As the live map has them: its rule is written out here once more."""
    stage = "weights" if how == "plain" else "scores"
    result, maps = drawn.maps(Sample("pronoun", 8, 2), how=how, colours=colours, stage=stage)
    compared = drawn.maps(Sample("pronoun", 8, 2), stage="weights" if how == "weights" else stage)[
        0
    ]
    first, last = (measurement.values for measurement in compared.measurements)
    shown = np.log2(np.abs(last) / np.abs(first)) if how == "ratio" else last - first
    limit = np.quantile(np.abs(shown[result.seen]), 0.995, method="higher")
    own = "sequential" if stage == "weights" else "diverging"
    panels = [(measurement.values, result.limit, own) for measurement in result.measurements]
    panels.append((shown, limit, "diverging"))
    drawn_on = draw(maps).axes
    for pixels in (png(save(maps, "png")), page(save(maps, "pdf"))):
        for axes, panel in zip(drawn_on, panels, strict=False):
            wanted = expected(*panel, colours)
            assert np.abs(at_cells(pixels, axes, maps) - wanted).max() < 2 * SHADE


@pytest.mark.parametrize("inputs", [Sample("pronoun", 8, 2), Sample("chinese", 8, 3)], ids=repr)
def test_cells_of_a_run_are_drawn(inputs):
    result, maps = drawn.maps(inputs)
    panels = draw(maps).axes
    files = (png(save(maps, "png")), page(save(maps, "pdf")))
    for panel, axes in zip(maps.panels, panels, strict=False):
        colours = expected(panel.values, maps.bars[panel.bar].limit, "diverging")
        masked = np.abs(colours - to_rgb(INK.masked)).max(-1) < SHADE
        assert np.array_equal(masked, ~result.seen)
        for pixels in files:
            assert np.abs(at_cells(pixels, axes, maps) - colours).max() < 2 * SHADE


@pytest.mark.parametrize("size", [1, 7, VECTOR_CELLS])
def test_small_maps_are_rectangles(size):
    values = np.random.default_rng(0).normal(0, 0.5, (size, size))
    values[np.triu_indices(size, 1)] = np.nan
    content = save(drawn.one_panel(values), "svg")
    sharp, rimmed = rectangles(content)
    assert sum(sharp.values()) == size**2
    assert sharp == rimmed
    assert sharp.get(INK.masked, 0) == size * (size - 1) // 2
    assert not list(ElementTree.fromstring(content).iter(f"{SVG}image"))


@pytest.mark.parametrize("size", [VECTOR_CELLS + 1, 256])
def test_large_maps_are_bitmaps_enlarged_by_a_whole_factor(size):
    values = np.random.default_rng(0).normal(0, 0.5, (size, size))
    (image,) = ElementTree.fromstring(save(drawn.one_panel(values), "svg")).iter(f"{SVG}image")
    pixels = png(base64.b64decode(image.attrib[HREF].split(",")[1]))
    factor, rest = divmod(len(pixels), size)
    assert (rest, factor > 1) == (0, True)
    cells = pixels[::factor, ::factor]
    assert np.array_equal(cells.repeat(factor, 0).repeat(factor, 1), pixels)
    assert np.abs(cells - expected(values, 1.0, "diverging")).max() < 2 * SHADE
    assert "pixelated" in image.attrib["style"]


@pytest.mark.parametrize("dpi", [50, 72, 110, 301])
def test_no_seams_show_between_rectangles(dpi):
    """Where a renderer softens an edge it mixes the two cells, and not the ground between."""
    maps = checkered(33)
    box = draw(maps).axes[0].get_position()
    pixels = page(save(maps, "pdf"), dpi)
    rows, columns, _ = pixels.shape
    top, bottom = int((1 - box.y1) * rows) + 3, int((1 - box.y0) * rows) - 3
    inside = pixels[top:bottom, int(box.x0 * columns) + 3 : int(box.x1 * columns) - 3]
    first, last = (np.array(to_rgb(code)) for code in CLIPPED["diverging"])
    part = np.clip((inside - first) @ (last - first) / np.sum((last - first) ** 2), 0, 1)
    assert np.abs(inside - first - part[..., None] * (last - first)).max() < SHADE


@pytest.mark.parametrize("size", [20, 100])
def test_edges_of_cells_are_sharp(size):
    """Nearly all of a PNG's pixels within a panel have the colour of a cell."""
    maps = checkered(size)
    box = draw(maps).axes[0].bbox
    pixels = png(save(maps, "png"))[::-1]
    inside = pixels[int(box.y0) + 3 : int(box.y1) - 3, int(box.x0) + 3 : int(box.x1) - 3]
    ends = [to_rgb(code) for code in CLIPPED["diverging"]]
    far = np.min([np.abs(inside - end).max(-1) for end in ends], axis=0)
    assert (far < SHADE).all()


def test_panels_are_equal_squares_and_queries_run_down():
    result, maps = drawn.maps(Random(10), (rope(8), xpos(8)), cells=3)
    panels = draw(maps).axes[:3]
    assert len({tuple(np.round(axes.bbox.size, 6)) for axes in panels}) == 1
    for axes in panels:
        assert axes.bbox.width == pytest.approx(axes.bbox.height)
        assert axes.get_xlim() == (-0.5, 11.5)
        assert axes.get_ylim() == (11.5, -0.5)
    assert (result.block, maps.axis.positions.tolist()) == (4, [1.5, 5.5, 9.5])


@pytest.mark.parametrize("limit", [5e-324, 1e-310, 1e12, 1.7e308])
def test_a_limit_may_have_any_size(limit):
    maps = drawn.one_panel(np.array([[0.0, limit], [-limit, np.nan]]), limit=limit)
    colours = expected([[0.0, 1.0], [-1.0, np.nan]], 1.0, "diverging")
    pixels = png(save(maps, "png"))
    assert np.abs(at_cells(pixels, draw(maps).axes[0], maps) - colours).max() < SHADE


def test_expectation_maps_of_every_length_are_drawn():
    for length in (1, 2, 64, 65):
        _, maps = drawn.maps(Expectation(length), (rope(8), xpos(8)))
        assert save(maps, "svg")

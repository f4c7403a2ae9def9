"""Figures on paper: the files are opened, and their text, cells and colours looked at."""

import base64
import gc
import io
import re
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib.style
import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.colors import to_hex, to_rgb
from matplotlib.font_manager import get_font
from PIL import Image

from tests import drawn
from xpos_viz import Experiment, nope, rope, xpos
from xpos_viz.comparison import KINDS as KINDS_OF_COMPARISON
from xpos_viz.figures import fonts
from xpos_viz.figures.compare import decay_curves
from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.files import SIZES
from xpos_viz.figures.paper.cells import VECTOR_CELLS
from xpos_viz.figures.paper_pen import KINDS, draw, save
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.inputs.sample import SAMPLES, token_labels
from xpos_viz.results import curves
from xpos_viz.texts import LANGUAGES, catalogue, texts
from xpos_viz.theme import CLIPPED, DASHES, INKS, LINES, PALETTES

each_kind = pytest.mark.parametrize("kind", KINDS)
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
CELLS = [[0.0, 1.0, 1.1], [-1.0, np.nan, -1.1], [np.inf, -np.inf, 0.5]]
TRILLION = "\u00a0×\u00a010¹²"
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


# Files


@each_kind
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_draws_every_picture(kind, language):
    for description in (
        drawn.maps(language=language)[1],
        drawn.maps(Random(20), (nope(8), rope(8)), language=language, stage="weights")[1],
        decay(language),
        decay(language, logarithmic=True),
    ):
        content = save(description, kind)
        assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])


@each_kind
def test_the_same_picture_is_the_same_file(kind):
    """Whatever the user's own settings of Matplotlib are, and they stay."""
    pictures = (checkered(5), checkered(70), line([1.0, 2.0]))
    before = [save(picture, kind) for picture in pictures]
    theirs = {"text.usetex": True, "font.size": 30, "svg.fonttype": "path", "axes.grid": True}
    with matplotlib.style.context(["dark_background", theirs]):
        assert [save(picture, kind) for picture in pictures] == before
        assert matplotlib.rcParams["font.size"] == 30


def test_a_png_fits_a_slide():
    _, maps = drawn.maps()
    picture = Image.open(io.BytesIO(save(maps, "png")))
    assert picture.size == (2880, 1620)
    assert picture.info["dpi"] == pytest.approx((DPI, DPI), abs=1)
    assert picture.mode == "RGB"
    assert to_hex(png(save(maps, "png"))[0, 0]) == INK.page


def test_an_unknown_kind_lists_the_legal_ones():
    with pytest.raises(ValueError) as caught:
        save(line([1.0]), "jpg")
    assert str(caught.value) == "unknown kind of file 'jpg'; use one of: png, svg, pdf."


def test_files_carry_the_alternative_text_and_no_date():
    _, maps = drawn.maps(language="zh")
    picture = Image.open(io.BytesIO(save(maps, "png")))
    assert (picture.info["Title"], picture.info["Description"]) == ("scores", maps.alt)
    root = ElementTree.fromstring(save(maps, "svg"))
    described = [node.text for node in root.iter() if node.tag.endswith("description")]
    assert described == [maps.alt]
    assert not [node for node in root.iter() if node.tag.endswith("}date")]
    with pypdfium2.PdfDocument(save(maps, "pdf")) as document:
        metadata = document.get_metadata_dict()
    assert (metadata["Title"], metadata["Subject"]) == ("scores", maps.alt)
    assert not metadata["CreationDate"]


def test_threads_draw_at_the_same_time():
    jobs = [(picture, kind) for picture in (checkered(3), line([1.0, 2.0])) for kind in KINDS]
    alone = [save(*job) for job in jobs]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda job: save(*job), jobs * 2)) == alone * 2


def test_figures_do_not_pile_up():
    figure = draw(line([1.0, 2.0]))
    kept = weakref.ref(figure)
    assert not Gcf.figs
    del figure
    gc.collect()
    assert kept() is None


PROGRAM = """
import sys
import numpy as np
from xpos_viz.figures.description import Curve, Curves
from xpos_viz.figures.paper_pen import save
save(Curves("n", "alt", ("t",), "x", "y", False, (Curve("g", np.ones(2), np.ones(2)),)), "pdf")
print(*({"matplotlib.pyplot", "plotly", "kaleido", "streamlit"} & set(sys.modules)))
"""


def test_neither_pyplot_nor_a_browser_is_loaded():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert not done.stdout.strip()


# Text


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_of_maps_is_text(language):
    _, maps = drawn.maps(Sample("chinese", 8, 3), language=language)
    words = svg_texts(save(maps, "svg"))
    for line_ in (
        *(line_ for panel in maps.panels for line_ in panel.title),
        *(bar.label for bar in maps.bars),
        *maps.notes,
        *(maps.axis.queries, maps.axis.keys),
    ):
        assert line_ in words
    assert words.count(maps.axis.keys) == len(maps.panels)
    assert words.count(maps.axis.queries) == 1
    with pypdfium2.PdfDocument(save(maps, "pdf")) as document:
        text = document[0].get_textpage().get_text_range()
    for line_ in (*maps.panels[1].title, *maps.notes, maps.bars[1].label):
        assert line_ in text


@pytest.mark.parametrize("logarithmic", [False, True])
def test_text_of_curves_is_text(logarithmic):
    description = replace(decay(logarithmic=logarithmic), notes=("One note.", "Another note."))
    words = svg_texts(save(description, "svg"))
    ticks = ("1", "10", "100", "1,000") if logarithmic else ("500", "1,000", "2,000", "30")
    labels = [curve.label for curve in description.curves]
    for line_ in (*description.title, *labels, description.x, *description.notes):
        assert words.count(line_) == 1
    assert set(ticks) <= set(words)


def test_svg_names_a_last_resort_for_its_type():
    content = save(drawn.maps(language="zh")[1], "svg")
    for text in ElementTree.fromstring(content).iter(f"{SVG}text"):
        families = re.search("font-family: ([^;]*)", text.attrib["style"])
        assert families
        assert families.group(1).endswith("', sans-serif")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pdf_embeds_its_fonts_as_fonts(language):
    content = save(drawn.maps(Sample("chinese", 8, 3), language=language)[1], "pdf")
    names = set()
    with pypdfium2.PdfDocument(content) as document:
        for piece in document[0].get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT]):
            font = pdfium.FPDFTextObj_GetFont(piece.raw)
            assert pdfium.FPDFFont_GetIsEmbedded(font) == 1
            name = (pdfium.c_char * 100)()
            pdfium.FPDFFont_GetBaseFontName(font, name, 100)
            names.add(name.value.decode().split("+")[-1])
    assert names == {"DejaVuSans", "DejaVuSans-Bold", "XPosVizHanSans-Regular"}
    kinds = set(re.findall(rb"/Subtype /(Type3|CIDFontType\d)", content))
    assert kinds == {b"CIDFontType2"}


def test_labels_stay_text():
    strange = ("$x_1$", "<b>", "&amp;", r"\alpha", "a", "a", "\U00013000", "a\nb", "w" * 40)
    maps = drawn.one_panel(np.zeros((9, 9)), labels=strange)
    maps = replace(maps, panels=(replace(maps.panels[0], title=("$\\sum$", "{}", "%s")),))
    words = svg_texts(save(maps, "svg"))
    shown = ("$x_1$", "<b>", "&amp;", r"\alpha", "�", "a�b", "w" * 11 + "…", "$\\sum$", "{}", "%s")
    assert set(shown) <= set(words)
    assert words.count("a") == 4
    assert "$1$" in svg_texts(save(line([1.0, 2.0], label="$1$"), "svg"))


@pytest.mark.parametrize("tokens", [5, 28, 80])
def test_tokens_are_thinned_where_they_are_many(tokens):
    labels = tuple(f"t{place}" for place in range(tokens))
    axes = draw(drawn.one_panel(np.zeros((tokens, tokens)), labels=labels)).axes[0]
    places = axes.get_xticks()
    step = places[1] - places[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == list(labels[:: int(step)])
    assert (places == np.arange(0, tokens, step)).all()
    size = axes.get_xticklabels()[0].get_fontsize()
    height = axes.bbox.height / DPI * 72
    assert size <= step * height / tokens
    assert step == 1 or size > height / tokens


@pytest.mark.parametrize("first", [0, 999_000])
def test_numbers_of_ticks_do_not_touch(first):
    positions = first + np.arange(100.0)
    maps = drawn.one_panel(np.zeros((100, 100)), positions=positions)
    maps = replace(maps, panels=maps.panels * 3)
    figure = draw(maps)
    figure.draw_without_rendering()
    for axes in figure.axes[:3]:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert len(boxes) > 1
        for left, right in pairwise(boxes):
            assert left.x1 + 2 < right.x0


def test_every_line_stays_on_the_page():
    words = (
        "a very long line of words that goes on and on and does not end before the page does " * 3
    )
    _, maps = drawn.maps(Random(300), (nope(8), rope(8), xpos(8), xpos(8, scale_base=8.0)))
    maps = replace(maps, notes=(words, *maps.notes))
    for description in (maps, drawn.maps(language="zh")[1], replace(decay(), title=(words, words))):
        figure = draw(description)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        assert box.x0 > 0
        assert box.y0 > 0
        assert box.x1 < PAGE[0]
        assert box.y1 < PAGE[1]


# Type


def test_font_has_gb2312_and_is_small():
    cells = (bytes((row, cell)) for row in range(0xA1, 0xF8) for cell in range(0xA1, 0xFF))
    characters = "".join(cell.decode("gb2312", errors="ignore") for cell in cells)
    assert len(characters) == 7445
    assert fonts.drawable(characters) == characters
    own = get_font(fonts.HAN).get_charmap()
    assert all(own.get(ord(character)) for character in characters)
    assert fonts.HAN.stat().st_size < 3e6
    assert "SIL OPEN FONT LICENSE Version 1.1" in (fonts.HAN.parent / "OFL.txt").read_text("utf-8")


def test_every_word_of_the_package_can_be_drawn():
    """A character without a glyph would be a box, and Matplotlib's warning an error."""
    sentences = [*(words for code in LANGUAGES for words in catalogue(code).values())]
    labels = [label for name in SAMPLES for label in token_labels(name)]
    for words in (*sentences, *labels, "Σ θᵢ ζᵢ Δ λ − √ · × ± ½ ⅓ ⅔ ≥ ≤ → ∞"):
        assert fonts.drawable(words) == words


@each_kind
def test_greek_and_mathematics_are_drawn(kind):
    symbols = "Σ θᵢ ζᵢ Δ λ − √d q·k e^(λᵢΔ) ½ ⅓ 编码"
    content = save(line([1.0, 2.0], title=(symbols, symbols), notes=(symbols,)), kind)
    if kind == "svg":
        assert svg_texts(content).count(symbols) == 3
    if kind == "pdf":
        with pypdfium2.PdfDocument(content) as document:
            assert document[0].get_textpage().get_text_range().count(symbols) == 3


# Cells


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


# Colour bars


def test_a_bar_spans_the_panels_that_share_it():
    _, maps = drawn.maps()
    first, second, third, shared, own = (axes.get_position() for axes in draw(maps).axes)
    assert (shared.x0, shared.x1) == pytest.approx((first.x0, second.x1))
    assert (own.x0, own.x1) == pytest.approx((third.x0, third.x1))
    assert shared.y1 < first.y0
    assert own.y1 == pytest.approx(shared.y1)


@pytest.mark.parametrize(
    ("values", "points"),
    [
        ([[1.0, -1.0]] * 2, 0),
        ([[1.0, 1.1]] * 2, 1),
        ([[1.0, -np.inf]] * 2, 1),
        ([[1.1, -1.1]] * 2, 2),
        ([[np.nan, 0.0]] * 2, 0),
    ],
)
def test_a_bar_has_points_where_values_are_clipped(values, points):
    """Points are the only patches of a bar but its ground and outline."""
    axes = draw(drawn.one_panel(values)).axes[1]
    found = {to_hex(patch.get_facecolor()) for patch in axes.patches}
    assert len(found) == points
    assert found <= set(CLIPPED["diverging"])


@pytest.mark.parametrize(
    ("limit", "scale", "words"),
    [
        (1.0, "diverging", ["−1", "−0.5", "0", "0.5", "1"]),
        (27.3, "diverging", ["−20", "−10", "0", "10", "20"]),
        (0.056, "sequential", ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]),
        (
            2.5e12,
            "diverging",
            [f"−2{TRILLION}", "−10¹²", "0", "10¹²", f"2{TRILLION}"],
        ),
    ],
)
def test_a_bar_is_written_in_round_numbers(limit, scale, words):
    axes = draw(drawn.one_panel(np.zeros((2, 2)), limit=limit, scale=scale)).axes[1]
    assert [label.get_text() for label in axes.get_xticklabels()] == words
    assert axes.get_xlabel() == "value"
    low = -limit if scale == "diverging" else 0.0
    plain = [word.replace("−", "-").replace(TRILLION, "e12") for word in words]
    values = [float(word.replace("10¹²", "1e12")) for word in plain]
    assert axes.get_xticks() == pytest.approx([(v - low) / (limit - low) for v in values])


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (1e-9, ["1"]),
        (0.5, ["1/1.41", "1", "1.41"]),
        (2.5, ["1/4", "1/2", "1", "2", "4"]),
        (30.0, ["1/1,050,000", "1", "1,050,000"]),
    ],
)
def test_a_bar_of_a_ratio_is_written_in_factors(limit, words):
    maps = drawn.one_panel([[0.0]], limit=limit, powers=True)
    assert [label.get_text() for label in draw(maps).axes[1].get_xticklabels()] == words


@pytest.mark.parametrize("how", KINDS_OF_COMPARISON)
@pytest.mark.parametrize("stage", ["scores", "weights"])
@pytest.mark.parametrize("inputs", [Random(64, 0, "independent"), Expectation(512)], ids=repr)
def test_numbers_of_bars_stand_apart(inputs, stage, how):
    """Beside each other, within their bar, and away from those of the next bar."""
    maps = drawn.maps(inputs, (rope(64), xpos(64)), how=how, stage=stage)[1]
    figure = draw(maps)
    figure.draw_without_rendering()
    bars = figure.axes[len(maps.panels) :]
    boxes = [[label.get_window_extent() for label in bar.get_xticklabels()] for bar in bars]
    for bar, (first, *_, last) in zip(bars, boxes, strict=True):
        frame = bar.get_window_extent()
        assert frame.x0 - 1 < first.x0 < last.x1 < frame.x1 + 1
    for before, after in pairwise(chain(*boxes)):
        assert before.x1 + 4 < after.x0


@pytest.mark.parametrize("limit", [5e-324, 1e-310, 1e12, 1.7e308])
def test_a_limit_may_have_any_size(limit):
    maps = drawn.one_panel(np.array([[0.0, limit], [-limit, np.nan]]), limit=limit)
    colours = expected([[0.0, 1.0], [-1.0, np.nan]], 1.0, "diverging")
    pixels = png(save(maps, "png"))
    assert np.abs(at_cells(pixels, draw(maps).axes[0], maps) - colours).max() < SHADE


# Curves


@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_are_drawn_as_they_are_described(logarithmic):
    description = decay(logarithmic=logarithmic)
    axes = draw(description).axes[0]
    lines = axes.lines[: len(description.curves)]
    for place, (drawn_, curve) in enumerate(zip(lines, description.curves, strict=True)):
        assert np.array_equal(drawn_.get_xdata(), curve.x)
        assert np.array_equal(drawn_.get_ydata(), curve.y)
        assert drawn_.get_color() == LINES[place]
        assert (drawn_.get_linestyle() == "-") == (DASHES[place] == "solid")
    assert axes.get_xscale() == ("log" if logarithmic else "linear")
    assert axes.get_xlim() == pytest.approx((1 if logarithmic else 0, 2048))
    low, high = axes.get_ylim()
    assert low < min(0, *(curve.y.min() for curve in description.curves))
    assert high > max(curve.y.max() for curve in description.curves)


@pytest.mark.parametrize(
    "y",
    [
        [1, np.inf, -np.inf, np.nan, 2],
        [np.inf] * 3,
        [np.nan] * 3,
        [0.0] * 3,
        [1e308, -1e308, 1e299],
        [5e-324, 0.0],
        [1.0],
    ],
    ids=str,
)
def test_values_of_any_size_do_not_break_the_axes(y):
    whole = np.arange(1.0, len(y) + 1)
    for description in (line(y), line(y, x=whole, logarithmic=True)):
        assert save(description, "svg")
        assert np.isfinite(draw(description).axes[0].get_ylim()).all()


def test_gaps_stand_where_a_curve_is_infinite():
    (drawn_, _) = draw(line([1.0, np.inf, 3.0])).axes[0].lines
    assert np.array_equal(drawn_.get_ydata(), [1.0, np.nan, 3.0], equal_nan=True)


def test_more_curves_than_colours_begin_anew():
    curve = line([1.0, 2.0]).curves[0]
    description = replace(line([1.0]), curves=(curve,) * (len(LINES) + 1))
    lines = draw(description).axes[0].lines
    assert lines[len(LINES)].get_color() == LINES[0]
    assert svg_texts(save(description, "svg")).count("a line") == len(LINES) + 1


def test_expectation_maps_of_every_length_are_drawn():
    for length in (1, 2, 64, 65):
        _, maps = drawn.maps(Expectation(length), (rope(8), xpos(8)))
        assert save(maps, "svg")

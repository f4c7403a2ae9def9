"""Text on paper is text, in fonts that are embedded, and stays on the page."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from matplotlib.font_manager import get_font

from tests import drawn
from tests.figures.paper.sheets import DPI, PAGE, SVG, decay, each_kind, line, svg_texts
from xpos_viz import nope, rope, xpos
from xpos_viz.figures import fonts
from xpos_viz.figures.paper_pen import draw, save
from xpos_viz.inputs import Random, Sample
from xpos_viz.inputs.sample import SAMPLES, token_labels
from xpos_viz.texts import LANGUAGES, catalogue


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

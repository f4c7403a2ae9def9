"""Files of figures in every size: they are opened, and their recipe, type and fonts looked at."""

import io
import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
from fontTools.ttLib import TTFont
from matplotlib.backends import _backend_pdf_ps
from matplotlib.text import Text as Written
from PIL import Image

from tests import drawn, kinds, pages
from xpos_viz import nope, rope
from xpos_viz.figures.files import KINDS, SIZES, Paper
from xpos_viz.figures.fonts import drawable
from xpos_viz.figures.paper_pen import draw, save
from xpos_viz.figures.recipes import recipe_of
from xpos_viz.inputs import Random
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import INKS, LINES, PALETTES

SVG = "{http://www.w3.org/2000/svg}"
RECIPE = json.dumps(
    {"name": "ζᵢ 词元 \U0001f600", "path": r"C:\(a)\n", "x": "<&>\r\n]]>"}, indent=1
)
CAPTION = (
    "Figure 1: a caption that goes on and on until it is longer than any line. 图注：" + "词" * 60
)
ADDRESSES = {
    "compare": {"name": "pronoun"},
    "learn": {"lesson": "shift"},
    "decay": {"curves": "rope,xpos,alibi,yarn", "distance": "2000"},
    "pairs": {"pair_encoding": "yarn"},
    "tokens": {"name": "harbour", "query": "40"},
    "layers": {"name": "pronoun", "measure": "entropy"},
    "long": {"long_length": "4096", "compare_masks": "yes"},
    "precision": {"text_length": "256"},
    "neighbours": {"left": "yarn", "right": "alibi", "distance": "64"},
    "choose": {"name": "pronoun", "goal_length": "64", "second_goal": "disturbed"},
    "lab": {"lab_size": "quick"},
}
each_size = pytest.mark.parametrize("size", SIZES)
each_kind = pytest.mark.parametrize("kind", KINDS)
each_language = pytest.mark.parametrize("language", LANGUAGES)
each_page = pytest.mark.parametrize("page", PICTURES)


@cache
def pictures(page, language):
    """The descriptions of a page."""
    state, refused = from_address(ADDRESSES[page])
    assert not refused
    return [picture.description for picture in PICTURES[page](state, texts(language))]


def large():
    """A map too large for rectangles."""
    return drawn.maps(Random(512), (nope(8), rope(8)), cells=256)[1]


def shown(figure):
    """Pieces of text that are drawn, with their boxes, pixels."""
    figure.draw_without_rendering()
    texts_ = [*figure.texts]
    for axes in figure.axes:
        legend = axes.get_legend()
        texts_ += [*axes.texts, *(legend.get_texts() if legend else ())]
        for axis in (axes.xaxis, axes.yaxis):
            texts_ += [axis.label, *(tick.label1 for tick in axis._update_ticks())]
    return [(text.get_text(), text.get_window_extent()) for text in texts_ if text.get_text()]


def luminance(code):
    """How light a colour is in greyscale, of 255."""
    return np.dot([0.299, 0.587, 0.114], pages.channels(code))


# Sizes


@each_size
@each_language
@each_page
def test_words_stay_on_the_paper_and_apart(page, language, size):
    for description in pictures(page, language):
        figure = draw(description, Paper(size, caption=CAPTION))
        pieces = shown(figure)
        marks = {mark.label for mark in getattr(description, "marks", ())}
        for text, box in pieces:
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width, text
            assert 0 <= box.y0 < box.y1 <= figure.bbox.height, text
        settled = [(text, box) for text, box in pieces if text not in marks]
        names = [(text, box) for text, box in pieces if text in marks]
        for (one, first), (other, second) in [*combinations(settled, 2), *combinations(names, 2)]:
            across = min(first.x1, second.x1) - max(first.x0, second.x0)
            down = min(first.y1, second.y1) - max(first.y0, second.y0)
            slack = figure.dpi * SIZES[size].small / 72 * 0.35  # lines of one text stand close
            assert min(across, down) < slack, (one, other)


@each_size
@each_page
def test_no_type_is_smaller_than_that_of_the_paper(page, size):
    sizes = [
        float(text.get_fontsize())
        for description in pictures(page, "en")
        for text in draw(description, Paper(size)).findobj(Written)
        if text.get_text()
    ]
    least = {"page": 7.0, "slide": 12.0, "column": 6.0}[size]
    assert min(sizes) >= least
    assert max(sizes) <= SIZES[size].title


def test_sizes_are_exact():
    description = kinds.curves()
    sizes = {}
    for size in SIZES:
        with pypdfium2.PdfDocument(save(description, "pdf", Paper(size))) as document:
            sizes[size] = tuple(side / 72 for side in document[0].get_size())
        picture = Image.open(io.BytesIO(save(description, "png", Paper(size))))
        dpi = SIZES[size].dpi
        assert picture.size == pytest.approx([side * dpi for side in sizes[size]], abs=1)
        assert picture.info["dpi"] == pytest.approx((dpi, dpi), abs=1)
    assert sizes["page"] == pytest.approx((10, 5.625))
    assert sizes["slide"] == pytest.approx((13.333, 7.5), abs=1e-3)
    assert sizes["slide"][0] / sizes["slide"][1] == pytest.approx(16 / 9)
    assert sizes["column"][0] * 2.54 == pytest.approx(8.5)


@pytest.mark.parametrize("description", kinds.ALL.values(), ids=kinds.ALL)
def test_a_column_is_as_high_as_needed(description):
    """Nothing is written below, and no space is left."""
    for caption in ("", CAPTION):
        figure = draw(description, Paper("column", caption=caption))
        lowest = min(box.y0 for _, box in shown(figure)) / figure.dpi
        assert 0 < lowest < 0.3


@pytest.mark.parametrize(
    ("description", "words"), [(large(), 300), (kinds.curves(), 600)], ids=["maps", "curves"]
)
def test_a_column_is_no_higher_than_a_page(description, words):
    """A long caption makes the figure smaller, and its words stay apart from it."""
    whole, full = (
        draw(description, Paper("column", caption="word " * count)) for count in (0, words)
    )
    high, low = (
        figure.axes[0].get_position().height * figure.get_figheight() for figure in (whole, full)
    )
    assert whole.get_figheight() < 7
    assert full.get_figheight() == pytest.approx(23 / 2.54)
    assert 0.6 * high < low < high
    boxes = [box for text, box in shown(full) if text.startswith("word")]
    assert min(box.y0 for box in boxes) > 0
    assert max(box.y1 for box in boxes) < full.axes[0].get_window_extent().y0


def test_a_caption_stands_under_the_notes_in_lines_of_the_paper():
    figure = draw(kinds.bars(), Paper("column", caption="One line.\n" + CAPTION))
    words = [text.get_text() for text in figure.texts]
    start = words.index("One line.")
    assert words[start - 1] == "A note."
    joined = "".join(words[start + 1 :]).replace(" ", "")
    assert joined == CAPTION.replace(" ", "")
    assert len(words[start + 1 :]) > 2


def test_a_caption_may_be_too_long_for_a_slide():
    with pytest.raises(ValueError) as caught:
        draw(kinds.bars(), Paper("slide", caption="word " * 1000))
    assert str(caught.value) == (
        "the words around the figure leave 0.0 of 7.5 inches of height for it; use a shorter "
        "caption, show less, or use the size 'column', which may be 9.1 inches high."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "poster"}, "unknown size of paper 'poster'; use one of: page, slide, column."),
        ({"mode": "sepia"}, "unknown mode 'sepia'; use one of: light, dark."),
    ],
)
def test_unknown_paper_lists_what_is_known(options, message):
    with pytest.raises(ValueError) as caught:
        Paper(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize("description", kinds.ALL.values(), ids=kinds.ALL)
def test_paper_is_dark_only_if_asked(description):
    for paper in (Paper(), Paper(mode="dark")):
        mode = paper.mode
        content = save(description, "svg", paper).decode()
        assert f"fill: {INKS[mode].page}" in content
        assert f"fill: {INKS[mode].text}" in content
        other = INKS["dark" if mode == "light" else "light"]
        assert other.text not in content


# Recipes


@each_kind
@pytest.mark.parametrize("recipe", [RECIPE, "a", "x" * 100_000, "(\\", "词"], ids=list("abcde"))
def test_a_recipe_is_read_back_whole(kind, recipe):
    content = save(kinds.bars(), kind, recipe=recipe)
    assert recipe_of(content) == recipe
    assert save(kinds.bars(), kind, recipe=recipe) == content


def test_other_readers_find_the_recipe_too():
    png = Image.open(io.BytesIO(save(kinds.bars(), "png", recipe=RECIPE)))
    assert png.info["xpos_viz"] == RECIPE
    root = ElementTree.fromstring(save(kinds.bars(), "svg", recipe=RECIPE))
    assert [node.text for node in root.iter("{urn:xpos_viz}recipe")] == [RECIPE]
    with pypdfium2.PdfDocument(save(kinds.bars(), "pdf", recipe=RECIPE)) as document:
        assert document.get_metadata_dict()["Keywords"] == f"xpos_viz {RECIPE}"


@each_kind
def test_a_file_without_a_recipe_says_so(kind):
    with pytest.raises(ValueError) as caught:
        recipe_of(save(kinds.bars(), kind))
    assert str(caught.value) == (
        f"this {kind.upper()} has no recipe of xpos_viz in its metadata; use a file as xpos_viz "
        "wrote it: other programs may leave metadata out."
    )


@pytest.mark.parametrize("content", [b"", b"GIF89a and so on", b"\xff\xd8"])
def test_another_file_is_refused(content):
    with pytest.raises(ValueError) as caught:
        recipe_of(content)
    assert str(caught.value) == (
        f"neither PNG, SVG nor PDF: the file begins with {content!r}; use a figure that was saved "
        "by xpos_viz."
    )


def test_half_a_file_is_refused():
    for kind in KINDS:
        content = save(kinds.bars(), kind, recipe=RECIPE)
        with pytest.raises(ValueError):
            recipe_of(content[:100])
    with pytest.raises(ValueError, match="the SVG is damaged: "):
        recipe_of(b"<svg><metadata>")


# Type


@each_language
@each_page
def test_every_character_of_every_figure_has_a_glyph(page, language):
    for description in pictures(page, language):
        words = [text.get_text() for text in draw(description).findobj(Written)]
        assert "�" not in "".join(words)
        assert drawable("".join(words).replace("\n", "")) == "".join(words).replace("\n", "")


@each_language
@pytest.mark.parametrize("page", ["compare", "decay"])
def test_an_svg_has_the_glyphs_that_it_uses(page, language):
    for description in pictures(page, language):
        content = save(description, "svg").decode()
        rules = re.findall(
            r"@font-face\{font-family:'([^']*)';font-weight:(\w+);src:url\(data:font/woff;base64,"
            r"([^)]*)\) format\('woff'\)\}",
            content,
        )
        glyphs = {
            (family, weight): set(TTFont(io.BytesIO(b64decode(data))).getBestCmap() or ())
            for family, weight, data in rules
        }
        for text in ElementTree.fromstring(content).iter(f"{SVG}text"):
            weight = "bold" if "font-weight: 700" in text.attrib["style"] else "normal"
            own = [known for (_, kept), known in glyphs.items() if kept == weight]
            assert set(map(ord, text.text or "")) <= set().union(*own)
        used = {ord(character) for character in "".join(ElementTree.fromstring(content).itertext())}
        for known in glyphs.values():
            assert len(known - used) < 3  # parts of others: ≥ is made from ≤
        assert len("".join(data for *_, data in rules)) < 60_000


def test_a_pdf_has_the_glyphs_that_it_draws_and_leaves_matplotlib_as_it_was():
    before = _backend_pdf_ps.get_glyphs_subset
    content = save(pictures("compare", "zh")[0], "pdf")
    assert _backend_pdf_ps.get_glyphs_subset is before
    streams = [
        zlib.decompress(packed)
        for packed in re.findall(rb"stream\n(x.*?)\nendstream", content, re.DOTALL)
        if packed[:2] == b"x\x9c"
    ]
    fonts = [TTFont(io.BytesIO(data)) for data in streams if data[:4] == b"\0\1\0\0"]
    assert len(fonts) == 3  # regular, bold, Chinese
    for font in fonts:
        assert {"glyf", "loca", "head", "hmtx"} <= {*font.keys()}
        assert not {"GPOS", "GSUB", "kern"} & {*font.keys()}
        assert 1 < len(font.getGlyphOrder()) < 200


@pytest.mark.browser
def test_chromium_writes_an_svg_with_its_own_fonts_alone(chromium, tmp_path):
    """Whatever fonts the system has; and its cells have their colours."""
    path = tmp_path / "figure.svg"
    path.write_bytes(save(pictures("compare", "zh")[0], "svg", Paper("column", caption=CAPTION)))
    with pages.started(chromium) as browser:
        page = browser.new_page()
        page.goto(path.as_uri())
        pages.drawn(page)
        session = page.context.new_cdp_session(page)
        session.send("DOM.enable")
        session.send("CSS.enable")
        root = session.send("DOM.getDocument")["root"]["nodeId"]
        found = session.send("DOM.querySelectorAll", {"nodeId": root, "selector": "text"})
        fonts = [
            font
            for node in found["nodeIds"]
            for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        ]
    assert all(font["isCustomFont"] for font in fonts)
    assert {font["familyName"] for font in fonts} == {"DejaVu Sans", "XPos Viz Han Sans"}
    assert len(found["nodeIds"]) > 30


@each_size
def test_a_pdf_looks_like_the_png(size):
    """Away from edges, which each renderer softens in its own way."""
    for description in (large(), kinds.ALL["words"], kinds.bars()):
        png = Image.open(io.BytesIO(save(description, "png", Paper(size)))).convert("L")
        with pypdfium2.PdfDocument(save(description, "pdf", Paper(size))) as document:
            scale = png.width / document[0].get_width()
            page = document[0].render(scale=scale).to_pil().convert("L").resize(png.size)
        part = SIZES[size].dpi // 24
        one, other = (np.asarray(picture.reduce(part), np.float64) for picture in (png, page))
        assert np.abs(one - other).mean() < 2
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.97


@each_size
def test_bitmaps_have_600_dots_an_inch_and_whole_cells(size):
    figure_panel = draw(large(), Paper(size)).axes[0].get_position()
    inches = figure_panel.width * SIZES[size].width
    content = save(large(), "svg", Paper(size)).decode()
    images = re.findall(r'base64,([^"]*)"', content.split("</defs>", 1)[1])
    assert len(images) == 3
    for data in images:
        picture = Image.open(io.BytesIO(b64decode(data)))
        assert picture.width / inches >= 600
        assert picture.width % 256 == picture.height % 256 == 0


@pytest.mark.parametrize("logarithmic", [False, True])
def test_bitmaps_of_grids_are_as_fine(logarithmic):
    grid = kinds.ALL["grid"]
    columns = np.arange(1.0, 301)
    values = np.sin(np.outer(np.arange(1, 4), columns))
    grid = replace(grid, columns=columns, values=values, logarithmic=logarithmic)
    box = draw(grid).axes[0].get_position()
    (data,) = re.findall(r'image/png;base64,([^"]*)"', save(grid, "svg").decode())
    picture = Image.open(io.BytesIO(b64decode(data)))
    assert picture.width >= 600 * 10 * box.width - 1
    assert picture.height >= 600 * 5.625 * box.height - 1


# Greyscale


def test_bars_and_points_are_told_apart_without_colour():
    axes: Any = draw(kinds.bars()).axes[0]
    hatches = [container.patches[0].get_hatch() for container in axes.containers]
    assert len(set(hatches)) == len(hatches) == 2
    points: Any = draw(kinds.plane(24)).axes[0].lines[1::2]
    assert len({(point.get_color(), point.get_marker()) for point in points}) == 24
    assert len({point.get_marker() for point in points[: len(LINES)]}) == len(LINES)


def test_values_have_an_order_in_greyscale():
    """All weights, and where it is asked for scores too; what is masked is like none of them."""
    for palette in PALETTES.values():
        greys = [
            *map(luminance, palette.scales["sequential"]),
            luminance(palette.clipped["sequential"][1]),
        ]
        assert (np.diff(greys) < -10).all()
    palette = PALETTES["navy_sand"]
    below, above = palette.clipped["diverging"]
    greys = np.array([luminance(code) for code in (below, *palette.scales["diverging"], above)])
    assert (np.diff(greys) > 20).all()
    assert np.ptp(np.diff(greys)[1:-1]) < 4  # even steps: as far below zero as above
    assert np.abs(greys - luminance(INKS["light"].masked)).min() > 20


def test_a_sign_is_seen_in_greyscale():
    values = np.linspace(-1, 1, 9).reshape(3, 3)
    maps = drawn.one_panel(values, limit=1.0)
    maps = replace(maps, bars=[replace(bar, colours="navy_sand") for bar in maps.bars])
    for kind in ("png", "pdf"):
        content = save(maps, kind)
        if kind == "pdf":
            with pypdfium2.PdfDocument(content) as document:
                image = document[0].render(scale=4).to_pil().convert("L")
        else:
            image = Image.open(io.BytesIO(content)).convert("L")
        box = draw(maps).axes[0].get_position()
        x, y = (np.array([1, 3, 5]) / 6 * side for side in (box.width, box.height))
        greys = np.array(image)[
            ((1 - box.y1 + y) * image.height).astype(int)[:, None],
            ((box.x0 + x) * image.width).astype(int),
        ]
        assert (np.diff(greys.ravel().astype(int)) > 10).all(), kind


def test_lines_are_dark_enough_on_white_paper_in_greyscale():
    assert all(luminance(code) < 180 for code in LINES)

"""The dashboard's downloads are opened and checked."""

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pypdfium2
import pytest
from PIL import Image

from tests.dashboard.page import (
    SHORT,
    after,
    asked,
    choose,
    downloaded,
    parameters,
    press,
    settled,
    shows,
)
from tests.dashboard.server import becomes
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import GAMMAS
from xpos_viz.export import reproduce
from xpos_viz.figures.files import SIZES
from xpos_viz.results import curves
from xpos_viz.texts import texts
from xpos_viz.theme import PALETTES

pytestmark = pytest.mark.browser
HELD = """() => {
  HTMLAnchorElement.prototype.click = function () {
    window.link = this;
    const click = () => this.dispatchEvent(new MouseEvent("click"));
    addEventListener("keydown", click, { once: true });
  };
}"""
PAGE, DPI = (10.0, 5.625), SIZES["page"].dpi


def headed(table):
    """A table as a file has it, with units in its header."""
    return table.rename(columns={name: f"{name} [tokens]" for name in ("query", "key", "lag")})


def test_downloads_are_what_they_claim(visit):
    address = SHORT | {"stage": "weights"}
    page, result = visit(address), run(asked(address))
    text = texts("en")
    state = text(
        "figure.state", stage=text("figure.stage.weights"), mask=text("figure.mask.causal")
    )

    content, name = downloaded(page, "scores", "png")
    assert name.endswith(".png")
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size == tuple(round(side * DPI) for side in PAGE)
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)

    content, name = downloaded(page, "scores", "svg")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(content)
    words = [
        " ".join("".join(element.itertext()).split())
        for element in root.iter()
        if element.tag.endswith("}text")
    ]
    for title in ("RoPE", "XPos", "XPos − RoPE", "base 100,000, γ 0.4, B 8", state):
        assert title in words

    content, name = downloaded(page, "scores", "pdf")
    assert name.endswith(".pdf")
    assert content.startswith(b"%PDF")
    with pypdfium2.PdfDocument(content) as document:
        assert len(document) == 1
        assert document[0].get_size() == pytest.approx([72 * side for side in PAGE], abs=1)
        said = document[0].get_textpage().get_text_range()
        assert state in said
        pixels = np.asarray(document[0].render().to_numpy())
        assert pixels.mean() > 128
        assert pixels.std() > 10

    content, name = downloaded(page, "scores", "csv")
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), headed(compare(result).table()), check_exact=True
    )

    content, name = downloaded(page, "decay", "csv")
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), headed(curves(result.experiment)), check_exact=True
    )
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        assert downloaded(page, "decay", kind)[0].startswith(start)


def test_downloads_follow_what_was_moved_and_the_view_is_saved(visit):
    page = visit(SHORT)
    press(page, "gamma")
    shows(page, moved := SHORT | {"gamma": after(GAMMAS, 0.4)})
    choose(page, "difference", "ratio")
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    choose(page, "colours", "teal_brown")
    becomes(
        lambda: parameters(page),
        moved | {"difference": "ratio", "colours": "teal_brown"},
        "address",
    )
    settled(page)
    content, _ = downloaded(page, "scores", "csv")
    table = headed(compare(run(asked(moved)), "ratio").table())
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(content)), table, check_exact=True)
    content = downloaded(page, "scores", "svg")[0].decode()
    assert "|XPos| / |RoPE|" in content
    assert PALETTES["teal_brown"].clipped["diverging"][1] in content
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=texts("en")("livemap.png"), exact=True).click()
    assert download.value.suggested_filename == "xpos_viz-live.png"
    content = Path(download.value.path()).read_bytes()
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size[0] > page.locator(".lm-maps").bounding_box()["width"]
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_a_figure_is_set_for_a_paper_and_moves(visit):
    address = {"source": "random", "length": "4", "head_dim": "8"}
    page, text = visit(address), texts("en")
    downloaded(page, "scores", "png")
    for word in ("download.size_words.column", "download.mode_words.dark", "download.caption"):
        page.get_by_text(text(word), exact=True).click()
        settled(page)
    content, _ = downloaded(page, "scores", "png")
    with Image.open(BytesIO(content)) as image:
        assert image.width == int(SIZES["column"].width * SIZES["column"].dpi)
        assert np.asarray(image.convert("RGB"))[2, 2].max() < 60
    made = reproduce(content)
    paper = made.recipe.paper
    (drawn,) = made.pictures
    assert (paper.size, paper.mode, paper.caption) == ("column", "dark", drawn.description.alt)
    assert made.same
    page.locator(".st-key-scores-sweep").get_by_text(text("ui.length"), exact=True).click()
    settled(page)
    page.get_by_role("button", name=text("download.make"), exact=True).click()
    page.locator(".st-key-xpos_viz-scores-length-gif").wait_for()
    content, name = downloaded(page, "scores-length", "gif")
    assert name == "xpos_viz-scores-length.gif"
    made = reproduce(content)
    assert made.same
    assert made.moving is not None
    assert (made.moving.parameter, made.moving.values) == ("length", (2, 3, 4))
    content, _ = downloaded(page, "scores-length", "html")
    assert reproduce(content).same
    assert parameters(page) == address


def test_all_of_a_page_and_its_handout_are_shared(visit):
    page, text = visit(SHORT), texts("en")
    page.get_by_role("button", name=text("ui.sharing"), exact=True).click()
    for name in ("ui.bundle", "download.handout"):
        with page.expect_download() as download:
            page.get_by_role("button", name=text(name), exact=True).click()
        made = reproduce(Path(download.value.path()).read_bytes())
        assert made.same
        assert [each.name for each in made.pictures] == ["scores", "decay"]
        assert made.recipe.link.endswith("/?name=pronoun")


def test_a_motion_is_stopped_and_forgotten(visit):
    page, text = visit({}), texts("en")
    page.locator(".st-key-scores-files summary").click()
    make = page.get_by_role("button", name=text("download.make"), exact=True)
    stop = page.locator(".st-key-stop_motion").get_by_role("button")  # Streamlit has one, too
    make.press("Enter")  # by keys: what is drawn above may move a button from under the pointer
    stop.press("Enter")
    stop.wait_for(state="detached")
    settled(page)
    assert make.count() == 1
    assert not page.get_by_role("progressbar").count()
    assert not page.get_by_role("button", name="GIF", exact=True).count()
    assert parameters(page) == {}


def test_a_file_waits_for_its_reader_while_others_move_sliders(visit):
    page, other = visit(SHORT), visit(SHORT, number=1)
    downloaded(page, "scores", "svg")
    page.evaluate(HELD)  # a slow network: what is made is not fetched yet
    page.locator(".st-key-xpos_viz-scores-png").get_by_role("button").press("Enter")
    page.wait_for_function("window.link")
    for times in (1, 2, 3):
        press(other, "gamma")
        shows(other, SHORT | {"gamma": after(GAMMAS, 0.4, times)})
    with page.expect_download() as download:
        page.keyboard.press("x")
    assert download.value.suggested_filename == "xpos_viz-scores.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")

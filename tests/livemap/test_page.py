"""The live map as a part of a page: its words, its place, its end."""

import numpy as np
import pytest
from PIL import Image

from tests.livemap.page import SHORT, described, picture, point
from tests.pages import drawn, part
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_mounts_and_says_what_it_shows(language, visit):
    page = visit(described(SHORT, language))
    text = texts(language)
    state = text("figure.state", stage=text("figure.stage.scores"), mask=text("figure.mask.causal"))
    label = page.locator(".lm-maps").get_attribute("aria-label")
    assert label == text(
        "livemap.alt",
        names="RoPE (base 100,000), XPos (base 100,000, γ 0.4, B 8)",
        comparison="XPos − RoPE",
        state=state,
        start=0,
        stop=27,
    )
    for key in ("gamma", "scale_base"):
        assert page.get_by_label(text(f"ui.{key}"), exact=True).is_visible()
    assert page.get_by_label(text("ui.stages.weights"), exact=True).is_enabled()
    assert page.locator(".lm-place").inner_text() == text("livemap.hint")


@pytest.mark.parametrize("language", LANGUAGES)
def test_marks_beside_the_controls_tell_what_they_do(language, visit):
    page, text = visit(described(SHORT, language)), texts(language)
    page.get_by_text(text("livemap.more"), exact=True).click()
    controls = (
        *(f"ui.{name}_help" for name in ("base", "gamma", "scale_base")),
        *(f"livemap.help.{name}" for name in ("window", "stage", "mask", "difference", "axis")),
        "livemap.help.colours",
    )
    marks = page.get_by_role("note").all()
    assert [mark.get_attribute("aria-label") for mark in marks] == [text(key) for key in controls]
    for mark, key in zip(marks, controls, strict=True):
        assert mark.is_visible()
        assert mark.inner_text() == "?"
        assert mark.get_attribute("title") == text(key)
        mark.focus()
        assert mark.evaluate("(mark) => mark.getRootNode().activeElement === mark")


def test_the_page_scrolls_past_a_picture_without_focus(visit):
    page = visit(described(SHORT), height=400)
    page.mouse.move(200, 380)
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")
    assert part(page) == [0, 0, 28]


@pytest.mark.parametrize(("width", "language"), [(360, "en"), (390, "zh"), (700, "en")])
def test_small_screens_have_no_overflow(width, language, visit):
    page = visit(described(SHORT, language), width=width, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    rows, columns, _ = picture(page).shape
    assert (rows > 2.5 * columns) == (width < 640)
    for control in page.locator(".lm-root :is(input, select, button, summary)").all():
        box = control.bounding_box()
        if box and control.get_attribute("type") != "radio":
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width


def test_pairs_are_drawn_on_demand(visit):
    page = visit(described(SHORT))
    page.mouse.click(150, 450)
    assert page.locator(".lm-graph:visible").count() == 1
    page.get_by_role("button", name=texts("en")("livemap.pairs")).click()
    drawn(page)
    assert page.locator(".lm-graph:visible").count() == 2


def test_the_view_is_saved_on_white(visit):
    page = visit(described(SHORT, mode="dark"))
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    with page.expect_download() as download:
        page.get_by_text(texts("en")("livemap.png")).click()
    assert download.value.suggested_filename == "xpos_viz-live.png"
    with Image.open(download.value.path()) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.shape[1] == 2 * (page.locator(".lm-maps").evaluate("(e) => e.clientWidth") + 32)
    assert (pixels[2, 2] == 255).all()
    assert pixels.mean() > 180
    assert pixels[40:120].min() < 100  # there are titles


def test_hostile_labels_stay_text(visit):
    hostile = "<img src=x onerror=document.title='bad'>{m}"
    content = described(SHORT)
    page = visit(content | {"labels": [hostile] * len(content["labels"])})
    point(page, 150, 280)
    assert hostile in page.locator(".lm-place").inner_text()
    assert page.locator("img").count() == 0
    assert page.title() != "bad"


def test_it_leaves_nothing_behind(visit):
    page = visit(described(SHORT))
    page.evaluate("window.handle.destroy()")
    assert page.locator("#map > *").count() == 0

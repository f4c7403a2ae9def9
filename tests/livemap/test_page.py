"""The live map as a part of a page: its words, its place, its end."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.livemap.page import (
    SHORT,
    described,
    expect_reading,
    picture,
    point,
    reading,
    without_data,
)
from tests.pages import drawn, part
from xpos_viz.figures.words import label, listed
from xpos_viz.texts import LANGUAGES, texts

TYPE = "(e) => parseFloat(getComputedStyle(e).fontSize)"
SIZES = "(e) => [e.width, e.height, e.getBoundingClientRect().width]"

pytestmark = pytest.mark.browser

STOPS = (
    "input:not([type=radio]), :checked.lm-radio, select, button:not([hidden]), summary, "
    "[tabindex='0']"
)
FOCUS = """() => {
  const focus = document.activeElement;
  if (focus === document.body) return null;
  const shown = focus.matches(".lm-radio") ? focus.nextSibling : focus;
  return [focus.dataset.key ?? focus.className, getComputedStyle(shown).outlineStyle];
}"""  # the name of what has the focus, and the outline that shows it
NEEDS = """(select) => {
  const alone = select.cloneNode(true);
  alone.style.cssText = "position: absolute; max-width: none; width: auto;";
  document.body.append(alone);
  for (const name of ["font", "padding"]) alone.style[name] = getComputedStyle(select)[name];
  const width = alone.clientWidth;
  alone.remove();
  return width;
}"""  # the width of its widest option


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_mounts_and_says_what_it_shows(language, visit):
    page = visit(described(SHORT, language))
    text = texts(language)
    state = text("figure.state", stage=text("figure.stage.scores"), mask=text("figure.mask.causal"))
    names = listed([label(encoding, text) for encoding in SHORT.encodings], text)
    assert page.locator(".lm-maps").get_attribute("aria-label") == text(
        "livemap.alt",
        names=names,
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
    for mark, key in reversed(list(zip(marks, controls, strict=True))):  # the menu is still open
        assert mark.is_visible()
        assert mark.inner_text() == "?"
        assert mark.get_attribute("title") == text(key)
        mark.click()
        assert mark.evaluate("(mark) => mark.getRootNode().activeElement === mark")
        bubble = mark.evaluate("(mark) => getComputedStyle(mark, '::after').content")
        assert bubble == json.dumps(text(key), ensure_ascii=False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_controls_are_named_in_few_words_and_only_readings_are_spoken(language, visit):
    page, text = visit(described(SHORT, language)), texts(language)
    groups = page.get_by_role("group", name=text("ui.stage"), exact=True)
    assert groups.get_by_role("radio").count() == 4
    for key in ("base", "gamma", "scale_base"):
        name = text(f"ui.{key}")
        assert page.get_by_role("slider", name=name, exact=True).count() == 1
        play = text("livemap.play", name=name)
        assert page.get_by_role("button", name=play, exact=True).count() == 1
    for key in ("first", "last"):
        assert page.get_by_role("slider", name=text(f"livemap.{key}"), exact=True).count() == 1
    for key in ("mask", "difference", "axis"):
        name = text(f"ui.{key}")
        assert page.get_by_role("combobox", name=name, exact=True).count() == 1
    assert page.get_by_role("status").count() == 1


def test_the_tabulator_reaches_all_in_order_and_shows_where_it_is(visit):
    page = visit(described(SHORT))
    page.locator(".lm-menu").evaluate("(menu) => (menu.open = true)")
    reached = []
    while (focus := page.evaluate(FOCUS)) or not reached:
        if focus:
            name, outline = focus
            assert outline == "solid"
            reached.append(name)
        page.keyboard.press("Tab")
    stops = page.locator(f".lm-root :is({STOPS})").evaluate_all(
        "(all) => all.map((e) => e.dataset.key ?? e.className)"
    )
    assert reached == stops


def test_the_menu_closes_when_it_is_left(visit):
    page = visit(described(SHORT))
    menu = page.locator(".lm-menu")
    page.get_by_text(texts("en")("livemap.more"), exact=True).press("Enter")
    assert menu.get_attribute("open") is not None
    page.get_by_text(texts("en")("livemap.png")).focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className").startswith("lm-maps")
    assert menu.get_attribute("open") is None


def test_the_page_scrolls_past_a_picture_without_focus(visit):
    page = visit(described(SHORT), height=400)
    page.mouse.move(200, 380)
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")
    assert part(page) == [0, 0, 28]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [360, 390, 480, 520, 640, 768, 1024, 1440])
def test_every_width_has_room_for_all(width, language, visit):
    page = visit(described(SHORT, language), width=width, height=800)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    rows, columns, _ = picture(page).shape
    assert (rows > columns) == (width < 516)  # panels in a column, or in a row
    page.get_by_text(texts(language)("livemap.more"), exact=True).click()
    for control in page.locator(".lm-root :is(input, select, button, summary)").all():
        box = control.bounding_box()
        if box and control.get_attribute("type") != "radio":
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
    for select in page.locator(".lm-select").all():
        assert select.evaluate(NEEDS) <= select.evaluate("(select) => select.clientWidth")


def test_pairs_are_drawn_on_demand(visit):
    page = visit(described(SHORT))
    page.mouse.click(150, 450)
    assert page.locator(".lm-graph:visible").count() == 1
    page.get_by_role("button", name=texts("en")("livemap.pairs")).click()
    drawn(page)
    assert page.locator(".lm-graph:visible").count() == 2


def test_pairs_come_into_sight_with_a_cell_if_none_is_kept(visit):
    page = visit(described(SHORT), width=1024, height=700)
    bars = page.locator(".lm-graph").first
    button = page.get_by_role("button", name=texts("en")("livemap.pairs"))
    button.click()
    drawn(page)
    place, values = reading(page)
    assert place == "query 27 “.” · key 11 “it” · lag 16"
    assert len(values) == 3
    box = bars.bounding_box()
    assert box["height"] > 100
    assert 0 <= box["y"] <= box["y"] + box["height"] <= 700
    page.evaluate("scrollTo(0, 0)")
    page.locator(".lm-maps").evaluate("(maps) => maps.focus({ preventScroll: true })")
    page.keyboard.press("ArrowLeft")
    assert reading(page)[0] == "query 27 “.” · key 10 “because” · lag 17"
    assert page.evaluate("scrollY") == 0  # what follows the pointer does not scroll


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


def test_only_the_controls_that_are_named_are_shown(visit):
    page = visit(described(SHORT) | {"only": ["gamma", "mask", "layer"]})
    assert page.locator("[data-key]").evaluate_all("(all) => all.map((e) => e.dataset.key)") == [
        "gamma"
    ]
    assert page.get_by_role("combobox").count() == 1
    assert page.get_by_role("combobox", name=texts("en")("ui.mask"), exact=True).count() == 1
    assert page.get_by_role("radio").count() == 0
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    assert page.get_by_role("button", name=texts("en")("livemap.png"), exact=True).is_visible()
    assert page.get_by_role("combobox").count() == 1


def test_the_picture_grows_with_the_type_of_the_page(visit, host):
    page = visit(described(SHORT), width=1200)
    usual = page.locator(".lm-canvas").last.evaluate(SIZES)
    page.evaluate("document.documentElement.style.fontSize = '24px'")
    page.evaluate(f"told({host.offer(without_data(described(SHORT)))})")
    drawn(page)
    large = page.locator(".lm-canvas").last.evaluate(SIZES)
    assert large[2] == pytest.approx(usual[2], abs=3)  # as wide as before
    assert large[0] == pytest.approx(large[2], abs=1)  # and as sharp
    assert large[1] != usual[1]  # with larger titles
    assert page.locator(".lm-name").first.evaluate(TYPE) == pytest.approx(1.5 * 13)
    point(page, 120 * 1.5, 240 * 1.5)
    expect_reading(page, SHORT)

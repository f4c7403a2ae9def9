"""The dashboard's languages, themes and small screens."""

import numpy as np
import pytest

from tests.dashboard.page import (
    SHORT,
    boxes,
    has_the_colours,
    parameters,
    picture,
    place,
    reading,
    shown_on,
    shows,
)
from tests.dashboard.server import becomes
from tests.pages import grab
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.browser
FOLLOWED = """(maps) => Boolean(
  maps.compareDocumentPosition(maps.parentNode.querySelector(".lm-controls")) & 4  // following
)"""
LINES = """(element, words) => {
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), range = new Range();
  let node;
  while ((node = walk.nextNode()))
    if (node.data.includes(words)) {
      range.setStart(node, node.data.indexOf(words));
      range.setEnd(node, node.data.indexOf(words) + words.length);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    }
}"""
WORDED = """(items) => [
  ...items.querySelectorAll("[role=menuitemradio], [data-testid=stMainMenuItemLabel]"),
].map((item) => [getComputedStyle(item).fontSize, getComputedStyle(item, "::after").content])"""
MOVES_ALONE = """(maps) => [
  maps.scrollWidth > maps.clientWidth,
  document.body.scrollWidth <= innerWidth,
]"""


def test_the_language_follows_the_browser_and_the_address(visit):
    chinese, english = (texts(language)("pages.compare.title") for language in ("zh", "en"))
    page = visit(SHORT, locale="zh-CN")
    assert page.get_by_role("heading", name=chinese).is_visible()
    assert page.get_by_label(texts("zh")("ui.stages.weights"), exact=True).count() == 1
    assert texts("zh")("livemap.hint") == page.locator(".lm-place").inner_text()
    assert tongue(page) == "zh-Hans"
    page = visit(SHORT | {"lang": "en"}, locale="zh-CN")
    assert page.get_by_role("heading", name=english).is_visible()
    assert tongue(page) == "en"
    page.get_by_text(LANGUAGES["zh"], exact=True).click()
    page.get_by_role("heading", name=chinese).wait_for()
    becomes(lambda: parameters(page), SHORT | {"lang": "zh"}, "the address")
    hint = page.locator(".lm-place").inner_text
    becomes(hint, texts("zh")("livemap.hint"), "the words of the picture")
    becomes(lambda: tongue(page), "zh-Hans", "the language of the page")
    page.get_by_role("link", name=texts("zh")("pages.decay.link"), exact=True).click()
    page.get_by_role("heading", name=texts("zh")("pages.decay.title")).wait_for()
    assert tongue(page) == "zh-Hans"
    title = page.get_by_role("heading", name=texts("zh")("pages.decay.title"))
    before = title.bounding_box()
    for script in page.locator(":has(> [class*=st-key-script_])").all():
        script.evaluate("(hidden) => (hidden.style.display = 'none')")
    assert title.bounding_box() == before  # it takes no room
    page.get_by_text(LANGUAGES["en"], exact=True).click()
    becomes(lambda: tongue(page), "en", "the language of the page")


def tongue(page):
    """The language in which a reader of the screen is to read the page."""
    return page.evaluate("document.documentElement.lang")


def test_the_picture_is_as_dark_as_the_page_also_when_that_changes(visit):
    page = visit(SHORT, scheme="dark")
    has_the_colours(page, "dark")
    shows(page, SHORT, mode="dark")
    page.emulate_media(color_scheme="light")
    has_the_colours(page, "light")
    shows(page, SHORT)
    page.emulate_media(color_scheme="dark")
    has_the_colours(page, "dark")
    shows(page, SHORT, mode="dark")


@pytest.mark.parametrize(
    ("width", "language"), [(640, "zh"), (768, "en"), (900, "en"), (1024, "en")]
)
def test_panels_stay_side_by_side_and_lists_show_their_whole_words(width, language, visit):
    page = visit(SHORT | {"lang": language}, width=width)
    lefts, tops, _ = np.transpose(boxes(picture(page)))
    assert np.ptp(tops) == 0
    assert (np.diff(lefts) > 0).all()
    lists = page.get_by_test_id("stSelectbox").get_by_role("combobox")
    becomes(lists.count, 2, "lists")
    for words in lists.all():
        content, room = words.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert content <= room


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_narrow_screen_has_no_overflow_and_stacked_panels(language, visit):
    address = SHORT | {"lang": language, "gamma": "0.7"}
    page = visit(address, width=390, height=844)
    shows(page, address)
    lefts, tops, _ = np.transpose(boxes(picture(page)))
    assert np.ptp(lefts) == 0
    assert (np.diff(tops) > 0).all()
    fits(page)
    grab(page, "gamma", 0.9)
    page.mouse.up()
    shows(page, address | {"gamma": shown_on(page, "gamma")})
    page.locator(".lm-maps").evaluate("(maps) => maps.scrollIntoView(true)")
    page.mouse.click(*place(page, 0, 14, 4))
    _, values = reading(page)
    assert len(values) == 3
    box = page.locator(".lm-readout").bounding_box()
    assert 0 <= box["y"] <= 844 - box["height"]  # the reading stays in sight
    fits(page)


@pytest.mark.parametrize("address", [SHORT, SHORT | {"present": "yes"}])
def test_on_a_phone_the_picture_comes_first_and_its_controls_stay_at_the_foot(address, visit):
    page = visit(address, width=390, height=844)
    maps, controls = page.locator(".lm-maps"), page.locator(".lm-controls")
    assert maps.bounding_box()["y"] < controls.bounding_box()["y"] < 844 - 200
    foot = controls.evaluate("(controls) => controls.getBoundingClientRect().bottom")
    assert foot == pytest.approx(844, abs=1)
    assert maps.evaluate(FOLLOWED)  # keys come to the picture first, too
    page.set_viewport_size({"width": 1440, "height": 1000})
    becomes(lambda: maps.evaluate(FOLLOWED), False, "that controls come after the maps")
    assert controls.bounding_box()["y"] < maps.bounding_box()["y"]


def fits(page):
    """Nothing scrolls sideways, and no control is beyond an edge."""
    for element in (page.locator("html"), page.get_by_test_id("stMain")):
        content, room = element.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert content <= room
    for control in page.locator(".lm-root :is(input[type=range], select, button, canvas)").all():
        if box := control.bounding_box():
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize(
    ("name", "key"), [("tokens", "heads"), ("long", "long_maps"), ("neighbours", "scores")]
)
def test_on_a_phone_maps_side_by_side_move_sideways_and_the_page_does_not(name, key, visit):
    page = visit(SHORT, width=390)
    page.get_by_role("link", name=texts("en")(f"pages.{name}.link"), exact=True).click()
    maps = page.locator(f".st-key-wide_{key}")
    maps.locator(".js-plotly-plot").wait_for()
    becomes(lambda: maps.evaluate(MOVES_ALONE), [True, True], "maps that move")
    becomes(lambda: maps.get_attribute("tabindex"), "0", "a stop of the keys")
    maps.focus()
    page.keyboard.press("ArrowRight")
    becomes(lambda: maps.evaluate("(maps) => maps.scrollLeft > 0"), True, "maps that were moved")
    page.set_viewport_size({"width": 1440, "height": 1000})
    becomes(lambda: maps.get_attribute("tabindex"), None, "a stop of the keys")


@pytest.mark.parametrize(
    ("name", "element", "words"),
    [
        ("layers", "h1", "每一个头"),
        ("tokens", ".xv-passage p:nth-of-type(2)", "γ\u00a00.4"),
        ("tokens", ".xv-passage p:nth-of-type(3)", "（百分点）"),
    ],
)
def test_chinese_titles_and_passages_break_where_a_reader_pauses(name, element, words, visit):
    page = visit({"name": "harbour", "lang": "zh"}, width=390)
    page.get_by_role("link", name=texts("zh")(f"pages.{name}.link"), exact=True).click()
    title = texts("zh")(f"pages.{name}.title")
    page.get_by_role("heading", name=title, exact=True).wait_for()
    titled = page.locator(element).first
    titled.wait_for()
    assert titled.evaluate(LINES, words) == 1


def test_the_menu_is_in_words_of_the_page(visit):
    page, text = visit(SHORT | {"lang": "zh"}), texts("zh")
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    items = page.get_by_test_id("stMainMenuList")
    items.wait_for()
    shown = items.evaluate(WORDED)
    said = [text(f"ui.menu.{name}") for name in ("system", "light", "dark", "print", "record")]
    assert shown == [["0px", f'"{words}"'] for words in said]

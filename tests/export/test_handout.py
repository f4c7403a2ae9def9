"""The hand-out: a file that needs no network, with the live map as the core computes it."""

import json
import re
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.livemap.page import at, expect_reading, picture, point
from tests.pages import channels, drawn, offline, slider
from xpos_viz.encoding import REGISTRY
from xpos_viz.export.handout import handout
from xpos_viz.figures.words import encoding_words
from xpos_viz.inputs.sample import read_sample
from xpos_viz.state import State, from_address, opening
from xpos_viz.state.changes import with_moves
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import INKS

ENGLISH = texts("en")
SHORT = State(opening("sample", "pronoun"))
LINK = "https://example.org/compare?name=pronoun&lang=en"
RECIPE = json.dumps({"xpos_viz": {"link": LINK, "note": "</script><b>"}})
BELOW = (150, 270)  # pixels: below the diagonal of the first panel


@pytest.fixture
def visit(browser, tmp_path):
    """Open a hand-out as a file, without network."""
    path = tmp_path / "handout.html"

    with offline(browser) as opened:

        def visit(content, *, width=1000, **options):
            path.write_text(content, encoding="utf-8")
            page = opened(path, viewport={"width": width, "height": 1000}, **options)
            if options.get("java_script_enabled", True):
                page.locator(".lm-root[data-state=ready]").wait_for()
                drawn(page)
            return page

        yield visit


def moved_by_key(page, key, press="ArrowRight"):
    """Move a slider by a key, and return where it then is."""
    slider(page, key).press(press)
    drawn(page)
    return float(slider(page, key).get_attribute("aria-valuetext").replace(",", ""))


def test_a_slider_moved_by_keys_shows_what_the_core_computes(visit):
    page = visit(handout(SHORT, ENGLISH, RECIPE))
    before, curve = picture(page), picture(page, "graph")
    state = SHORT
    for key in ("scale_base", "gamma", "base"):
        state = with_moves(state, {key: moved_by_key(page, key)})
    assert state != SHORT
    point(page, *BELOW)
    m, n, _ = expect_reading(page, state.experiment)
    assert m[0] > n[0]
    assert (picture(page) != before).any()
    assert (picture(page, "graph") != curve).any()


def test_all_that_is_moved_stays_and_reset_undoes_it(visit):
    page = visit(handout(SHORT, ENGLISH))
    scale_base = moved_by_key(page, "scale_base", "End")
    page.get_by_text(ENGLISH("ui.stages.weights"), exact=True).click()
    gamma = moved_by_key(page, "gamma", "Home")
    page.emulate_media(color_scheme="dark")  # the host speaks, and knows what was moved
    drawn(page)
    moved = with_moves(SHORT, {"scale_base": scale_base, "gamma": gamma, "stage": "weights"})
    assert moved.experiment.encodings[1].parameters != SHORT.experiment.encodings[1].parameters
    point(page, *BELOW)
    expect_reading(page, moved.experiment)
    page.get_by_role("button", name="Reset").click()
    point(page, *BELOW)
    expect_reading(page, SHORT.experiment)


def test_bases_that_are_apart_have_a_slider_each(visit):
    state = with_moves(replace(SHORT, apart="yes"), {"xpos_base": 500.0})
    page = visit(handout(state, ENGLISH))
    state = with_moves(state, {"xpos_base": moved_by_key(page, "xpos_base")})
    assert state.experiment.encodings[1]["base"] == 700
    point(page, *BELOW)
    expect_reading(page, state.experiment)


def test_weights_of_many_tokens_are_computed_without_a_server(visit):
    state, refused = from_address({"source": "random", "length": "600", "head_dim": "8"})
    assert not refused
    state = with_moves(state, {"stage": "weights"})
    page = visit(handout(state, ENGLISH), width=900)
    scale_base = moved_by_key(page, "scale_base")
    page.locator(".lm-root[data-state=ready]").wait_for()
    point(page, *BELOW)
    moved = with_moves(state, {"scale_base": scale_base}).experiment
    expect_reading(page, at(moved, cells=200))


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_is_said_in_the_language(visit, language):
    text = texts(language)
    page = visit(handout(SHORT, text, RECIPE))
    assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-Hans"}[language]
    assert page.title() == text("pages.compare.title")
    seen = page.locator("body").inner_text()
    for key in ("pages.compare.question", "ui.formula_words", "ui.gamma_help", "export.settings"):
        assert text(key) in seen
    assert str(read_sample("pronoun")["text"]) in seen
    for row in (REGISTRY["rope"], REGISTRY["xpos"]):
        assert " ".join(encoding_words(row, text).split()) in seen
    assert "_i" not in seen
    assert page.locator("math").count() == 3
    assert page.get_by_role("link").get_attribute("href") == LINK
    assert json.loads(page.locator("#xpos_viz").text_content() or "") == json.loads(RECIPE)


@pytest.mark.parametrize("mode", INKS)
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_light_or_dark_as_the_reader_likes(visit, mode, width):
    page = visit(handout(SHORT, ENGLISH), width=width, color_scheme=mode)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.querySelector('.lm-root')).color")
    for shown, code in ((ground, INKS[mode].page), (ink, INKS[mode].text)):
        assert list(map(int, re.findall(r"\d+", shown))) == channels(code)
    masked = channels(INKS[mode].masked)
    cells = picture(page)[..., :3]
    assert (cells == masked).all(-1).mean() > 0.05
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []


def test_paper_is_light(visit):
    page = visit(handout(SHORT, ENGLISH), color_scheme="dark")
    page.emulate_media(media="print")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert not page.locator(".live").is_visible()
    assert [image.is_visible() for image in page.locator(".still img").all()] == [True, True]
    page.emulate_media(media="screen")
    assert not page.locator(".still").is_visible()


def test_a_light_map_fits_on_paper(visit):
    page = visit(handout(SHORT, ENGLISH), width=1200, color_scheme="light")
    drawn_on = page.locator("#map canvas").first
    wide = drawn_on.bounding_box()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 1000})
    narrow = drawn_on.bounding_box()
    assert narrow["width"] <= 700 < wide["width"]
    assert not page.locator(".lm-controls").is_visible()
    assert not page.locator(".still").is_visible()


def test_without_scripts_pictures_stand_still(visit):
    page = visit(handout(SHORT, ENGLISH), java_script_enabled=False)
    images = page.locator(".still img").all()
    assert [image.is_visible() for image in images] == [True, True]
    assert str(images[0].get_attribute("alt")).startswith("Heatmaps of RoPE (base 100,000)")
    said = page.locator("noscript p")
    assert said.is_visible()
    assert said.text_content() == ENGLISH("export.scripts")


def test_a_link_that_is_no_web_address_is_not_clicked():
    written = handout(SHORT, ENGLISH, json.dumps({"xpos_viz": {"link": "javascript:alert('<')"}}))
    assert "<a " not in written
    assert "javascript:alert(&#x27;&lt;&#x27;)" in written
    assert "/compare?name=pronoun" in handout(SHORT, ENGLISH)


@pytest.mark.parametrize("recipe", ["[]", '{"xpos_viz": 1}', '{"xpos_viz": {"link": 1}}'])
def test_a_recipe_without_a_link_leaves_the_address(recipe):
    assert "/compare?name=pronoun" in handout(SHORT, ENGLISH, recipe)


def test_a_recipe_that_is_no_json_is_named():
    with pytest.raises(ValueError) as caught:
        handout(SHORT, ENGLISH, "link")
    assert str(caught.value) == "recipe must be JSON, got 'link'; use json.dumps."


def test_a_page_names_no_other_file():
    written = handout(SHORT, ENGLISH)
    assert not re.search(r"https?:|(?:src|href)=\"(?!data:)|^import ", written, re.MULTILINE)
    assert "default-src 'none'" in written

"""The controls beside the picture."""

import pytest

from tests.dashboard.page import (
    SHORT,
    WHOLE,
    after,
    asked,
    beside,
    place,
    press,
    reading,
    select,
    shown_on,
    shows,
)
from tests.dashboard.server import becomes
from tests.pages import part, slider
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import BASES
from xpos_viz.state import from_address, opening, to_address
from xpos_viz.state.changes import with_encoding
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser


def test_sources_and_texts_bring_their_own_settings(visit):
    page = visit({})
    text = texts("en")
    for name in ("harbour", "chinese"):
        select(page, "name", text(f"ui.samples.{name}"))
        shows(page, {"name": name})
        becomes(lambda: page.get_by_text(text("ui.samples.tidebook")).count(), 0, "the old text")
    for source in ("expectation", "random"):
        select(page, "source", text(f"ui.sources.{source}"))
        shows(page, {"source": source})
        assert shown_on(page, "base") == f"{opening(source).encodings[0]['base']:,g}"
    seed = page.get_by_role("spinbutton", name=text("ui.seed"))
    seed.fill("7")
    seed.press("Enter")
    shows(page, {"source": "random", "seed": "7"})
    select(page, "keys", text("ui.keys_words.independent"))
    shows(page, address := {"source": "random", "seed": "7", "keys": "independent"})
    beside(page, "length").press("ArrowLeft")
    shows(page, address := address | {"length": "256"})
    beside(page, "head_dim").press("ArrowLeft")
    shows(page, address | {"head_dim": "32"})


def test_layer_and_head_change_the_data_under_the_picture(visit):
    page = visit(SHORT)
    page.get_by_role("radio", name="16", exact=True).click()
    shows(page, SHORT | {"layer": "16"})
    beside(page, "head").press("ArrowRight")
    shows(page, SHORT | {"layer": "16", "head": "3"})
    page.mouse.move(*place(page, 0, 20, 4))
    _, values = reading(page)
    result = run(asked(SHORT | {"layer": "16", "head": "3"}))
    tables = [*(measurement.values for measurement in result.measurements), compare(result).values]
    assert values == pytest.approx([table[20, 4] for table in tables], rel=1e-5, abs=1e-5)


def test_xpos_can_have_a_base_of_its_own(visit):
    page = visit(SHORT)
    assert slider(page, "xpos_base").count() == 0
    switch = page.get_by_text(texts("en")("ui.apart"), exact=True)
    switch.click()
    slider(page, "xpos_base").wait_for()
    shows(page, SHORT | {"apart": "yes"})
    press(page, "xpos_base")
    own = float(after(BASES, 1e5))
    apart = with_encoding(from_address(SHORT | {"apart": "yes"})[0], 1, "base", own)
    shows(page, address := to_address(apart))
    assert [encoding["base"] for encoding in asked(address).encodings] == [1e5, own]
    assert (shown_on(page, "base"), shown_on(page, "xpos_base")) == ("100,000", f"{own:,g}")
    switch.click()
    becomes(slider(page, "xpos_base").count, 0, "sliders of its own")
    shows(page, SHORT)


def test_reset_brings_the_opening_settings_back(visit):
    address = SHORT | {"gamma": "2", "scale_base": "64", "base": "1000", "stop": "20"}
    page = visit(address)
    shows(page, address)
    page.get_by_role("button", name=texts("en")("ui.reset"), exact=True).click()
    shows(page, SHORT)
    assert part(page) == WHOLE
    page.go_back()
    shows(page, address)


def test_reset_ends_the_playing(visit):
    page, text = visit(SHORT | {"scale_base": "64"}), texts("en")
    page.get_by_role("button", name=text("livemap.play", name="γ")).click()
    becomes(lambda: shown_on(page, "gamma") != "0.4", True, "γ moves")
    page.get_by_role("button", name=text("ui.reset"), exact=True).click()
    shows(page, SHORT)
    assert page.get_by_role("button", name=text("livemap.play", name="γ")).count() == 1

"""The dashboard's sliders are dragged, fast and slowly."""

import pytest

from tests.dashboard.page import (
    SHORT,
    after,
    asked,
    misfits,
    parameters,
    picture,
    press,
    settled,
    shown_on,
    shows,
)
from tests.dashboard.server import becomes
from tests.pages import grab
from xpos_viz.encoding.steps import GAMMAS, SCALE_BASES
from xpos_viz.livemap.message import LIVE_WEIGHTS

pytestmark = pytest.mark.browser


def test_a_drag_redraws_before_release_and_is_one_step_of_the_history(visit):
    page = visit(SHORT)
    shows(page, SHORT)
    entries, sent = page.evaluate("[history.length, window.sent]")
    before, gamma = picture(page), shown_on(page, "gamma")
    grab(page, "gamma", 0.8)
    held = shown_on(page, "gamma")
    assert held != gamma
    assert (picture(page) != before).any(-1).mean() > 0.02
    moved = SHORT | {"gamma": held}
    assert misfits(page, moved, held=SHORT) == [0, 0, 0]
    assert page.evaluate("[history.length, window.sent]") == [entries, sent]
    assert parameters(page) == SHORT
    page.mouse.up()
    shows(page, moved)
    assert page.evaluate("history.length") == entries + 1
    page.go_back()
    shows(page, SHORT)


def test_a_release_brings_what_changed_and_little_else(visit):
    """Marks of what the page says again, and neither the module of the picture nor its data."""
    page = visit({})
    press(page, "gamma")
    shows(page, moved := {"gamma": after(GAMMAS, 0.4)})
    settled(page)
    before = page.evaluate("window.received")
    press(page, "gamma")
    shows(page, moved | {"gamma": after(GAMMAS, 0.4, 2)})
    settled(page)
    assert 1_000 < page.evaluate("window.received") - before < 18_000


def test_long_weights_wait_while_dragging_and_are_the_core_s_on_release(visit):
    page = visit({"stage": "weights"})
    shows(page, {"stage": "weights"})
    assert asked({}).inputs.tokens > LIVE_WEIGHTS
    grab(page, "gamma", 0.8)
    assert page.locator(".lm-root").get_attribute("data-state") == "waiting"
    moved = {"stage": "weights", "gamma": shown_on(page, "gamma")}
    page.mouse.up()
    shows(page, moved)


def test_five_fast_drags_end_in_the_last_value(visit):
    page = visit(SHORT)
    entries = page.evaluate("history.length")
    for share in (0.2, 0.9, 0.3, 0.8, 0.6):
        grab(page, "gamma", share)
        page.mouse.up()
    last = SHORT | {"gamma": shown_on(page, "gamma")}
    assert float(last["gamma"]) > 0.5
    shows(page, last)
    assert entries < page.evaluate("history.length") <= entries + 5


def test_fast_key_presses_end_in_the_last_value(visit):
    page = visit(SHORT)
    press(page, "gamma", times=5)
    last = SHORT | {"gamma": after(GAMMAS, 0.4, 5)}
    becomes(lambda: parameters(page), last, "the last of five values")
    shows(page, last)
    press(page, "scale_base", times=3)
    press(page, "gamma", times=2)
    last = SHORT | {"gamma": after(GAMMAS, 0.4, 7), "scale_base": after(SCALE_BASES, 8, 3)}
    becomes(lambda: parameters(page), last, "the last of both values")
    shows(page, last)

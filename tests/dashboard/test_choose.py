"""Choosing γ and B in a browser: a sweep that goes on, and a setting that all pages take over."""

import pytest

from tests.dashboard.page import parameters, settled
from tests.dashboard.server import becomes
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

EN = texts("en")
FINE = {"source": "expectation", "head_dim": "8", "budget": "289", "second_goal": "smallest"}
PICTURES = 3  # two landscapes and their front


def turn(page, name):
    """Go to another page."""
    page.get_by_role("link", name=EN(f"pages.{name}.link"), exact=True).first.click()
    page.get_by_role("heading", name=EN(f"pages.{name}.title"), exact=True).wait_for()


def test_a_sweep_goes_on_when_the_page_is_left_and_its_best_is_taken_over(visit):
    page = visit(FINE)
    turn(page, "choose")
    page.get_by_role("button", name=EN("choose.begin", settings=289), exact=True).click()
    turn(page, "decay")
    settled(page)
    turn(page, "choose")
    charts = page.locator(".js-plotly-plot")
    becomes(charts.count, PICTURES, "pictures")
    becomes(page.get_by_role("progressbar").count, 0, "work that goes on")
    settled(page)
    grid = page.get_by_test_id("stDataFrame")
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box
    page.mouse.click(box["x"] + 20, box["y"] + 52)  # what marks the first row
    becomes(lambda: {"gamma", "scale_base"} <= {*parameters(page)}, True, "a setting")
    taken = {key: parameters(page)[key] for key in ("gamma", "scale_base")}
    written = {key: f"{float(value):,g}" for key, value in taken.items()}
    told = EN("choose.now", setting=EN("choose.setting", **written))
    page.get_by_text(told, exact=True).wait_for()
    turn(page, "decay")
    assert {key: parameters(page)[key] for key in taken} == taken


def test_two_ends_are_moved_by_keys(visit):
    page = visit({"source": "expectation", "head_dim": "8"})
    turn(page, "choose")
    settled(page)
    low, high = page.locator(".st-key-gammas").get_by_role("slider").all()
    low.press("ArrowRight")
    becomes(lambda: parameters(page).get("gammas", "").endswith(":3.2"), True, "a higher end")
    settled(page)
    high.press("ArrowLeft")
    becomes(lambda: "gammas" in parameters(page), True, "the ends")
    becomes(lambda: parameters(page)["gammas"].endswith(":3.2"), False, "a lower end")

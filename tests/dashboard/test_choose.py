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


def test_a_cell_and_a_point_of_the_front_are_chosen_by_a_click(visit):
    page = visit({"source": "expectation", "head_dim": "8", "second_goal": "headroom"})
    turn(page, "choose")
    charts = page.locator(".js-plotly-plot")
    becomes(charts.count, PICTURES, "pictures")
    settled(page)
    box = charts.first.locator(".nsewdrag").bounding_box()
    assert box
    for row, gamma in ((1, "0.0841"), (6, "1.13"), (1, "0.0841")):
        page.mouse.move(box["x"] + 0.96 * box["width"], box["y"] + (row + 0.2) / 9 * box["height"])
        charts.first.locator(".hoverlayer .hovertext").wait_for()
        page.mouse.down()
        page.mouse.up()
        becomes(lambda: parameters(page).get("gamma"), gamma, "the γ of a cell")
        assert parameters(page)["scale_base"] == "8192"
        settled(page)
    end = charts.nth(2).locator(".scatterlayer .trace").last.locator(".point").first
    end.scroll_into_view_if_needed()
    place = end.bounding_box()
    assert place
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    charts.nth(2).locator(".hoverlayer .hovertext").wait_for()
    page.mouse.down()
    page.mouse.up()
    becomes(lambda: parameters(page).get("gamma") != "0.0841", True, "a point of the front")


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

"""The page of long texts in a browser: its pictures, its files, and work that is stopped."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import downloaded, parameters, settled
from tests.dashboard.server import becomes
from xpos_viz import xpos
from xpos_viz.inputs import Expectation
from xpos_viz.studies.long import Long, long_maps, map_table
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser
TEXT = texts("en")
MASKS = ("causal", "sliding:4096", "blockwise:4096")


def opened(visit, address):
    """The page, by its link from the first one."""
    page = visit(address)
    link(page, "long").click()
    page.get_by_role("heading", name=TEXT("pages.long.title"), exact=True).wait_for()
    return page


def link(page, name):
    """The link to a page."""
    return page.get_by_role("link", name=TEXT(f"pages.{name}.link"), exact=True)


def length(page):
    """The slider of the length."""
    return page.get_by_role("group", name=TEXT("ui.long_length"), exact=True).get_by_role("slider")


def charts(page):
    """How many pictures are drawn."""
    return page.locator(".js-plotly-plot").count()


def test_a_longer_text_is_drawn_and_can_be_taken_along(visit):
    page = opened(visit, {"long_length": "8192", "compare_masks": "yes"})
    becomes(lambda: charts(page), 2, "pictures")
    length(page).press("ArrowRight")
    asked = {"long_length": "16384", "compare_masks": "yes"}
    becomes(lambda: parameters(page), asked, "the address")
    settled(page)
    page.get_by_text("among 16,384 tokens").wait_for()
    becomes(lambda: charts(page), 2, "pictures")
    content, name = downloaded(page, "long_maps", "csv")
    assert name == "xpos_viz-long_maps.csv"
    table = pd.read_csv(BytesIO(content))
    long = Long(Expectation(16384), (xpos(64, base=1e5),), MASKS)
    expected = map_table(long_maps(long, lambda _: None))
    ends = [name for name in expected if str(name).startswith(("query_", "key_"))]
    expected = expected.rename(columns={name: f"{name} [tokens]" for name in ends})
    pd.testing.assert_frame_equal(table, expected, rtol=1e-5)


def test_long_work_is_stopped_begun_again_and_left(visit):
    page = opened(visit, {"long_reduce": "max"})
    stop = page.locator(".st-key-stop_maps").get_by_role("button")
    page.get_by_role("progressbar").wait_for()
    stop.press("Enter")
    page.get_by_text(TEXT("work.stopped")).wait_for()
    assert not stop.count()
    page.get_by_role("button", name=TEXT("work.again"), exact=True).click()
    stop.wait_for()
    link(page, "compare").click()
    page.get_by_role("heading", name=TEXT("pages.compare.title"), exact=True).wait_for()
    settled(page)
    assert parameters(page) == {"long_reduce": "max"}
    link(page, "long").click()
    stop.wait_for()
    length(page).press("Home")
    becomes(lambda: parameters(page).get("long_length"), "4096", "a length")
    becomes(lambda: charts(page), 2, "pictures")
    assert not stop.count()

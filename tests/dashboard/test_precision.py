"""The page of number formats in a browser: reached by its link, read, moved, taken along."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, beside, downloaded, parameters, settled
from tests.dashboard.server import becomes
from xpos_viz import rope
from xpos_viz.studies.precision import angles
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser


def test_limits_are_read_moved_and_taken_along(visit):
    text = texts("en")
    page = visit(SHORT)
    page.get_by_role("link", name=text("pages.precision.link"), exact=True).click()
    pictures = page.locator(".js-plotly-plot")
    becomes(pictures.count, 2, "both pictures")
    marks = page.locator(".js-plotly-plot").first.locator(".annotation-text")
    assert "your length, 8,192" in marks.all_text_contents()
    rows = page.get_by_role("table").locator("tbody tr")
    assert rows.first.inner_text().split() == ["float16", "65,504", "71", "141", "367"]

    beside(page, "scale_base").focus()
    page.keyboard.press("ArrowRight")
    becomes(lambda: parameters(page), SHORT | {"scale_base": "12"}, "the address")
    becomes(lambda: rows.first.inner_text().split()[2], "107", "the safe length")

    table = pd.read_csv(BytesIO(downloaded(page, "angles", "csv")[0]))
    expected = angles(rope(64, base=100_000.0), "bfloat16", "angles", 8192).table()
    taken = table[table["format"] == "bfloat16"]
    assert taken["position [tokens]"].tolist() == expected["position"].tolist()
    assert taken["error"].to_numpy() == pytest.approx(expected["error"].to_numpy())


def test_what_the_browser_knows_is_not_sent_again_some_runs_later(visit):
    """A run that is asked for in a hurry may name it: a page stands still where it was let go."""
    page, text, told = visit(SHORT), texts("en"), []

    def listen(socket):
        socket.on("framereceived", lambda frame: told.append(len(frame)))

    def sent():
        told.clear()
        page.get_by_role("link", name=text("pages.precision.link"), exact=True).click()
        becomes(page.locator(".js-plotly-plot").count, 2, "both pictures")
        return sum(told)

    page.on("websocket", listen)
    page.reload()
    settled(page)
    first = sent()
    page.get_by_role("link", name=text("pages.learn.link"), exact=True).click()
    for teacher in ("yes", None, "yes", None):
        page.get_by_text(text("ui.teacher"), exact=True).click()
        becomes(lambda: parameters(page).get("teacher"), teacher, "the switch")
    assert sent() < first / 2

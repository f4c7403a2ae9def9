"""The page of neighbours in a browser: two others are chosen, and the table is taken along."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, parameters, select
from tests.dashboard.server import becomes
from xpos_viz.encoding import REGISTRY
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser
TEXT = texts("en")
TITLES = (
    "() => [...document.querySelectorAll('.js-plotly-plot .annotation-text')]"
    ".map((e) => e.querySelector('tspan')?.textContent ?? e.textContent)"
)


def test_two_others_are_chosen_and_the_table_is_taken_along(visit):
    page = visit(SHORT)
    page.get_by_role("link", name=TEXT("pages.neighbours.link"), exact=True).click()
    page.get_by_role("heading", name=TEXT("pages.neighbours.title"), exact=True).wait_for()
    becomes(lambda: page.evaluate(TITLES)[:3], ["RoPE", "XPos", "XPos − RoPE"], "titles")
    select(page, "right", "ALiBi")
    becomes(lambda: page.evaluate(TITLES)[:3], ["RoPE", "ALiBi", "ALiBi − RoPE"], "titles")
    page.get_by_text(TEXT("neighbours.later")).wait_for()
    select(page, "stage", TEXT("ui.stages.weights"))
    page.get_by_text(TEXT("neighbours.later")).wait_for(state="detached")
    asked = SHORT | {"right": "alibi", "stage": "weights"}
    becomes(lambda: parameters(page), asked, "the address")

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).last.click()
    assert download.value.suggested_filename == "xpos_viz-neighbours.csv"
    assert len(pd.read_csv(BytesIO(download.value.path().read_bytes()))) == len(REGISTRY)

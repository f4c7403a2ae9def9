"""The page on pairs in a browser: from the way in to a score that is taken apart."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, beside, downloaded, parameters, select, settled
from tests.dashboard.server import becomes
from xpos_viz.state import from_address
from xpos_viz.studies.pairs import parts
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser


def title(page, place):
    """What stands above a picture."""
    return page.locator("[class*=st-key-fit_]").nth(place).locator("strong").inner_text()


def test_pairs_turn_and_a_score_is_taken_apart(visit):
    page = visit(SHORT)
    page.get_by_role("link", name=texts("en")("pages.pairs.link"), exact=True).click()
    page.get_by_role("heading", name=texts("en")("pages.pairs.title")).wait_for()
    settled(page)
    assert parameters(page) == SHORT
    becomes(page.locator(".js-plotly-plot").count, 3, "pictures")

    select(page, "pair_encoding", "YaRN")
    becomes(lambda: [title(page, place)[:4] for place in (0, 1)], ["YaRN"] * 2, "pictures of")

    label = page.locator(".js-plotly-plot .slider-label").first
    assert label.text_content() == "Δ = 0"
    page.locator(".js-plotly-plot .updatemenu-button").click()
    becomes(label.text_content, "Δ = 27", "the last lag")
    keys = page.get_by_role("slider", name=texts("en")("figure.lag_axis"), exact=True)
    assert keys.evaluate("(input) => input.tabIndex") == 0
    keys.focus()
    becomes(lambda: keys.get_attribute("aria-valuetext"), "Δ = 27", "the lag that is read out")
    for key, lag in (("ArrowLeft", 26), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        becomes(label.text_content, f"Δ = {lag}", "the lag that is seen")
        becomes(lambda: keys.get_attribute("aria-valuetext"), f"Δ = {lag}", "the lag read out")

    beside(page, "key").focus()
    page.keyboard.press("ArrowRight")
    address = SHORT | {"pair_encoding": "yarn", "key": "1"}
    becomes(lambda: parameters(page), address, "the address")
    settled(page)
    becomes(lambda: "key 1 “trophy” · lag 26" in title(page, 2), True, "key 1 in the title")

    experiment = from_address(address)[0].experiment
    expected = parts(experiment.inputs, experiment.encodings, 27, 1)
    table = pd.read_csv(BytesIO(downloaded(page, "pairs_score", "csv")[0]))
    sums = table.groupby("encoding", sort=False)["share"].sum()
    assert sums.tolist() == pytest.approx(expected.scores.tolist(), rel=1e-12)

"""The page of trained models in a browser: blocks are turned on, and the numbers taken along."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, downloaded, parameters, settled
from tests.dashboard.server import becomes
from xpos_viz.studies.lab import Lab, spread
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser
EN = texts("en")
PAIR = ("rope", "xpos_half")


def test_blocks_rescue_and_the_numbers_can_be_taken_along(visit):
    page = visit(SHORT | {"lab_size": "quick", "models": ",".join(PAIR)})
    page.get_by_role("link", name=EN("pages.lab.link"), exact=True).click()
    page.get_by_text(EN("lab.read.whole"), exact=True).first.wait_for()
    page.get_by_text(EN("ui.blocks"), exact=True).click()
    becomes(lambda: parameters(page).get("blocks"), "yes", "the address")
    settled(page)
    assert page.get_by_text(EN("lab.read.blocks", size=32), exact=True).count() >= 3
    content, name = downloaded(page, "lab_excess", "csv")
    assert name == "xpos_viz-lab_excess.csv"
    table = pd.read_csv(BytesIO(content))
    expected = spread(Lab("quick", PAIR, blocks=True), "excess")
    assert table["encoding"].tolist() == expected["encoding"].tolist()
    assert {*table["mask"]} == {"blockwise:32"}
    values = next(column for column in table if str(column).startswith("value"))
    assert table[values].to_numpy() == pytest.approx(expected["value"].to_numpy(), rel=1e-5)

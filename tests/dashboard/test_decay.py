"""The page of decay in a browser: reached by its link, moved, and its numbers taken along."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from tests.dashboard.page import beside, downloaded, parameters, settled
from tests.dashboard.server import becomes
from xpos_viz import decay_curve, rope, xpos
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser
TEXT = texts("en")
NAMES = "() => [...document.querySelectorAll('.xv-legend li')].map((e) => e.textContent.trim())"


def test_curves_are_drawn_moved_and_taken_along(visit):
    page = visit("")
    page.get_by_role("link", name=TEXT("pages.decay.link"), exact=True).click()
    page.get_by_role("heading", name=TEXT("pages.decay.title"), exact=True).wait_for()
    pair = ["RoPE (base 100,000)", "XPos (base 100,000, γ\u00a00.4, B\u00a0512)"]
    becomes(lambda: page.evaluate(NAMES), pair, "the legend")

    beside(page, "distance").press("ArrowRight")
    becomes(lambda: parameters(page), {"distance": "8192"}, "the address")
    page.get_by_role("button", name="ALiBi", exact=True).click()
    biased = [*pair, *2 * ["ALiBi (slope 0.00390625)"]]
    becomes(lambda: page.evaluate(NAMES), biased, "the legends of two pictures")
    asked = {"distance": "8192", "curves": "rope,xpos,alibi"}
    becomes(lambda: parameters(page), asked, "the address")
    page.get_by_text("The first lag up to 8,192 tokens").wait_for()

    settled(page)
    content, name = downloaded(page, "decay", "csv")
    assert name == "xpos_viz-decay.csv"
    table = pd.read_csv(BytesIO(content))
    for encoding in (rope(64, base=100_000.0), xpos(64, base=100_000.0)):
        rows = table[table["encoding"] == repr(encoding)]
        assert rows["lag [tokens]"].iloc[-1] == 8192
        wanted = decay_curve(encoding, rows["lag [tokens]"].tolist()).numpy()
        np.testing.assert_allclose(rows["value"], wanted, atol=1e-9)

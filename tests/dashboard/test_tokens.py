"""The page of a text in a browser: reached by its link, read, moved, taken along."""

from io import BytesIO

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, beside, downloaded, parameters
from tests.dashboard.server import becomes
from tests.pages import channels
from xpos_viz.figures.passage import tint
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import read_sample
from xpos_viz.state import from_address
from xpos_viz.studies.tokens import read
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

STYLE = "(token, name) => getComputedStyle(token)[name]"


def reading(query):
    """What a query of SHORT reads at its opening."""
    state = from_address(SHORT)[0]
    inputs = state.experiment.inputs
    assert isinstance(inputs, Sample)
    return read(inputs, state.encoding("xpos"), query)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_text_is_read_moved_and_taken_along(visit, scheme):
    text = texts("en")
    page = visit(SHORT | {"query": "20"}, scheme=scheme)
    page.get_by_role("link", name=text("pages.tokens.link"), exact=True).click()
    passage = page.get_by_role("group").and_(page.locator(".xv-passage"))
    passage.wait_for()
    tokens = passage.locator(":scope > i")
    assert tokens.count() == 28
    said = passage.evaluate(
        "(e) => [...e.childNodes].filter((n) => n.nodeName !== 'P')"
        ".map((n) => n.firstChild?.data ?? n.data).join('')"
    )
    assert said == str(read_sample("pronoun")["text"])
    faded = f"rgb({', '.join(map(str, channels(tint(-4, 'blue_red', scheme))))})"
    assert tokens.first.evaluate(STYLE, "backgroundColor") == faded
    assert "dotted" in tokens.first.evaluate(STYLE, "textDecoration")
    assert tokens.nth(20).evaluate(STYLE, "outlineStyle") == "solid"
    assert "token 0" in (tokens.first.get_attribute("title") or "")

    beside(page, "query").focus()
    page.keyboard.press("ArrowRight")
    becomes(lambda: parameters(page), SHORT | {"query": "21"}, "the address")
    title = passage.locator("b")
    becomes(title.inner_text, "What “the” (token 21) reads", "the text of the query")
    becomes(page.locator(".js-plotly-plot").count, 2, "bars and maps")

    table = pd.read_csv(BytesIO(downloaded(page, "reading", "csv")[0]))
    expected = reading(21)
    assert table["key [tokens]"].tolist() == list(range(22))
    assert table[repr(expected.own)].to_numpy() == pytest.approx(expected.before.weights)
    assert table["change"].to_numpy() == pytest.approx(expected.change)

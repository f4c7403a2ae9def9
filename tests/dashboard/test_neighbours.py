"""The page of neighbours in a browser: two others are chosen, and the table is taken along."""

from http.client import HTTPConnection
from io import BytesIO
from urllib.parse import urlsplit

import pandas as pd
import pytest

from tests.dashboard.page import SHORT, parameters, select
from tests.dashboard.server import PATIENCE, becomes
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


@pytest.mark.parametrize(("width", "language"), [(1440, "en"), (390, "zh"), (390, "en")])
def test_all_words_of_the_encodings_are_seen(width, language, visit):
    page = visit(SHORT | {"lang": language}, width=width)
    text = texts(language)
    page.get_by_role("link", name=text("pages.neighbours.link"), exact=True).click()
    page.get_by_role("heading", name=text("neighbours.all"), exact=True).wait_for()
    table = page.get_by_test_id("stTable")
    table.locator("tbody tr").nth(len(REGISTRY) - 1).wait_for()
    families = page.get_by_role("listitem").filter(has=page.locator("strong"))
    becomes(families.count, len(REGISTRY), "encodings")
    for part in [table, *families.all()]:
        content, room = part.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert content <= room
    assert page.evaluate("document.body.scrollWidth") <= width


def test_what_is_sent_is_compressed_on_its_way(server):
    connection = HTTPConnection(urlsplit(server).netloc, timeout=PATIENCE)
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": server.rstrip("/")}
    headers |= {"Sec-WebSocket-Extensions": "permessage-deflate"}
    connection.request("GET", "/_stcore/stream", headers=headers)
    answer = connection.getresponse()
    assert answer.status == 101
    assert "permessage-deflate" in answer.getheader("Sec-WebSocket-Extensions", "")
    connection.close()

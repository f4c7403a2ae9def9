"""A text of one's own in a browser: typed, read by trained models, and opened elsewhere."""

import pytest

from tests.dashboard.page import parameters, settled
from tests.dashboard.server import becomes
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser
TEXT = texts("en")
SMALL = {"lab_size": "quick", "models": "rope,xpos_half", "reader": "xpos_half"}
TYPED = "<b>The tide</b>, é 潮, comes in & goes out\n" * 3


def test_a_text_is_typed_marked_and_opened_in_compare(visit):
    page = visit(SMALL)
    page.get_by_role("link", name=TEXT("pages.lab.link"), exact=True).click()
    field = page.get_by_role("textbox", name=TEXT("ui.passage"), exact=True)
    field.fill(TYPED)
    field.press("Control+Enter")
    becomes(lambda: parameters(page).get("passage"), TYPED, "the text in the address")
    passage = page.locator(".xv-passage")
    page.get_by_text(TEXT("reading.which.own", bytes=len(TYPED.encode()))).wait_for()
    assert "The tide" in passage.inner_text()
    assert passage.locator(":scope > b").count() == 0
    assert passage.locator(":scope > i.xv-query").count() == 1  # where the training length ends
    name = TEXT("pages.compare.link")
    page.get_by_role("button", name=name).click()
    page.get_by_role("heading", name=TEXT("pages.compare.title"), exact=True).wait_for()
    settled(page)
    found = parameters(page)
    assert (found["source"], found["passage"]) == ("capture", TYPED)
    assert "scale_base" not in found  # it opened with the model's own
    page.go_back()
    page.get_by_role("heading", name=TEXT("pages.lab.title"), exact=True).wait_for()
    becomes(field.input_value, TYPED, "the text in its field")

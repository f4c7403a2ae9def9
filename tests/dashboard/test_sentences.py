"""A sentence of one's own in a browser: read by a model, layers × heads, and on to Tokens."""

import re

import pytest

from tests.dashboard.page import asked, parameters, settled
from tests.dashboard.server import becomes, free_port, serving
from tests.models import tiny
from xpos_viz import xpos
from xpos_viz.inputs import Sample
from xpos_viz.limits import MODELS
from xpos_viz.models import capture
from xpos_viz.studies.changes import changes, of_text
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

TEXT = "to be or not to be"
EN = texts("en")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of models."""
    at = tmp_path_factory.mktemp("offered")
    tiny.build("llama", vocab_size=259).save_pretrained(at / "tiny-llama")
    tiny.tokenizer().save_pretrained(at / "tiny-llama")
    return at


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    """Address of a server whose operator offers that folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODELS, str(folder))
        with serving(free_port(), tmp_path_factory.mktemp("server") / "log.txt") as address:
            yield address


def heading(page, name):
    """The title of a page."""
    return page.get_by_role("heading", name=EN(f"pages.{name}.title"), exact=True)


def test_a_sentence_is_read_and_its_head_opened_in_tokens(visit, folder):
    page = visit({"name": "pronoun"})
    page.get_by_role("link", name=EN("pages.layers.link"), exact=True).click()
    heading(page, "layers").wait_for()
    page.locator(".js-plotly-plot").wait_for()
    page.locator(".st-key-sentence summary").click()
    field = page.get_by_role("textbox", name=EN("sentences.text"), exact=True)
    field.fill(TEXT)
    field.press("Control+Enter")
    page.get_by_text(re.compile(r"^19 tokens, layers kept: 4\. Reading takes about ")).wait_for()
    page.get_by_role("button", name=EN("sentences.read"), exact=True).click()
    expected = capture(folder / "tiny-llama", TEXT)
    address = {"source": "capture", "data": expected.hash}
    becomes(lambda: parameters(page), address, "the address")
    page.get_by_text(f"brought along (SHA-256 {expected.hash[:12]}…), 19 tokens.").wait_for()
    settled(page)

    scale_base = changes(expected, scale_base=8.0)
    layer, head = scale_base.largest[0]
    grid = page.get_by_test_id("stDataFrameResizable")
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 16, "y": 52})  # the box before the first row
    heading(page, "tokens").wait_for()
    becomes(lambda: chosen(page), (str(layer), str(head)), "the head that changes most")
    page.get_by_text("of 19 keys", exact=False).first.wait_for()


def test_what_was_typed_is_there_again_on_another_page(visit):
    page = visit({"name": "pronoun"})
    page.locator(".st-key-sentence summary").click()
    field = page.get_by_role("textbox", name=EN("sentences.text"), exact=True)
    field.fill(TEXT)
    for name in ("decay", "tokens"):  # the first has no place for it
        link = page.get_by_role("link", name=EN(f"pages.{name}.link"), exact=True)
        link.click(delay=80)  # milliseconds, as a finger: the field is left as it goes down
        heading(page, name).wait_for()
        settled(page)
    becomes(field.input_value, TEXT, "the text")


def chosen(page):
    """Layer and head of the address, those that an opening has left out being 0."""
    found = parameters(page)
    return found.get("layer", "0"), found.get("head", "0")


def test_the_way_to_tokens_is_reached_by_keys(visit):
    page = visit({"name": "pronoun"})
    page.get_by_role("link", name=EN("pages.layers.link"), exact=True).click()
    page.locator(".js-plotly-plot").wait_for()
    settled(page)
    link = page.get_by_role("link", name=EN("layers.open", layer=8, head=2), exact=False)
    link.focus()
    page.keyboard.press("Enter")
    heading(page, "tokens").wait_for()
    becomes(lambda: parameters(page), {"name": "pronoun"}, "the address")


def test_a_row_is_chosen_by_keys(visit):
    page = visit({"name": "pronoun", "gamma": "0.7"})
    page.get_by_role("link", name=EN("pages.layers.link"), exact=True).click()
    page.locator(".js-plotly-plot").wait_for()
    settled(page)
    page.get_by_role("link", name=EN("layers.open", layer=8, head=2), exact=False).focus()
    while focused(page) != "CANVAS":  # what stands before the cells of the table
        page.keyboard.press("Tab")
    becomes(lambda: focused(page, "id"), "glide-cell-1-0", "the first cell")
    page.keyboard.press("ArrowDown")
    becomes(lambda: focused(page, "id"), "glide-cell-1-1", "the cell below")
    page.keyboard.press("Shift+Space")
    heading(page, "tokens").wait_for()
    found = of_text(Sample("pronoun", 8, 2), xpos(64, base=1e5, gamma=0.7, scale_base=8.0))
    inputs = Sample("pronoun", *found.largest[1])
    becomes(lambda: asked(parameters(page)).inputs, inputs, "the second head")
    assert parameters(page)["gamma"] == "0.7"


def focused(page, what="tagName"):
    """What keys go to."""
    return page.evaluate(f"document.activeElement.{what}")

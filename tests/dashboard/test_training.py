"""Training on the page Lab in a browser, by a server on which it takes no time."""

from pathlib import Path

import pytest

from tests.dashboard.page import parameters, settled
from tests.dashboard.server import becomes, free_port, serving
from xpos_viz.figures.training import model_words, your_words
from xpos_viz.lab import load
from xpos_viz.studies.yours import Trained
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

EN = texts("en")
MODEL = Trained.parse("xpos:scale_base:64:seed:3")
APP = str(Path(__file__).with_name("tiny_app.py"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address of a server."""
    with serving(free_port(), tmp_path_factory.mktemp("server") / "log.txt", APP) as address:
        yield address


def test_a_model_is_trained_joins_the_charts_and_is_taken_along(visit, tmp_path):
    page = visit({"training": MODEL.text})
    page.get_by_role("link", name=EN("pages.lab.link"), exact=True).first.click()
    page.get_by_role("heading", name=EN("training.title"), exact=True).wait_for()
    settled(page)
    page.locator(".st-key-train").get_by_role("button").press("Enter")
    becomes(lambda: parameters(page).get("trained"), MODEL.text, "the address")
    named = page.get_by_text(your_words(MODEL, EN))
    becomes(lambda: named.count() > 0, True, "a model of one's own on the charts")
    settled(page)
    own = {"training": MODEL.text, "trained": MODEL.text, "lab_size": "quick"}
    assert parameters(page) == own
    button = page.get_by_role("button", name=EN("training.take", model=model_words(MODEL, EN)))
    with page.expect_download() as download:
        button.press("Enter")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "xpos_viz-xpos-scale_base-64-seed-3.safetensors"
    assert load(path).encoding == MODEL.encoding
    pills = page.locator(".st-key-trained").get_by_role("button")
    pills.filter(has_text=model_words(MODEL, EN)).press("Enter")
    becomes(lambda: "trained" in parameters(page), False, "a model of one's own")
    becomes(named.count, 0, "places of the model")

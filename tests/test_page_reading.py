"""A text of one's own on the page of trained models, without a browser."""

import pytest

from tests import apptest
from tests.apptest import address, again, alts, control, words
from tests.readings import HOSTILE, QUICK, untrained
from xpos_viz.figures.passage import markup
from xpos_viz.figures.reading import costs_curves, lost_words, shaded
from xpos_viz.studies.lab import MODELS, Lab
from xpos_viz.studies.reading import Read, costs
from xpos_viz.texts import LANGUAGES, texts

__all__ = ["untrained"]
SMALL = {"lab_size": "quick", "models": "rope,xpos_half"}
TEXT = "The tide, é 潮, comes in <b>\n" * 4
pytestmark = pytest.mark.usefixtures("steady", "untrained")


def opened(**more):
    """The page at an address."""
    return apptest.opened("lab", SMALL | more)


def shown(page):
    """The texts that are shown word by word."""
    return [part.proto.body for part in page.get("html") if "xv-passage" in part.proto.body]


def typed(page, text):
    """The page once a text is typed."""
    return again(page.text_area[0].set_value(text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_is_typed_read_and_kept_in_the_address(language):
    text, page = texts(language), opened(lang=language)
    assert texts(language)("reading.placeholder") == page.text_area[0].proto.placeholder
    page = typed(page, TEXT)
    read = Read(Lab("quick", ("rope", "xpos_half")), TEXT)
    found = costs(read)
    assert address(page)["passage"] == TEXT
    assert costs_curves(read, found, text).alt in alts(page)
    assert shown(page) == [markup(shaded(read, found[0], text))]
    said = words(page)
    assert all(sentence in said for sentence in lost_words(read, found, text))
    assert opened(**address(page)).text_area[0].value == TEXT


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_can_be_typed(text):
    page = typed(opened(), text)
    assert address(page)["passage"] == text
    assert not page.warning


def test_what_models_do_not_read_is_said():
    note = texts("en")("reading.cut", bytes="1,022")
    page = typed(opened(), "a" + "潮" * 340 + "é")
    assert not page.info
    page = typed(page, "é" + "潮" * 900)
    assert address(page)["passage"] == "é" + "潮" * 682  # what the larger ones read
    assert [info.value for info in page.info] == [note]
    page = typed(page, "é" + "潮" * 10)
    assert not page.info


def test_the_words_are_those_of_a_model_that_is_looked_at():
    page = typed(opened(), TEXT)
    page = again(control(page, "reader").set_value("xpos_half"))
    read = Read(Lab("quick", ("rope", "xpos_half")), TEXT)
    assert shown(page) == [markup(shaded(read, costs(read)[1], texts("en")))]
    page = opened(models="rope", reader="nope", passage=TEXT)
    assert "The text as RoPE reads it" in shown(page)[0]
    assert control(page, "reader").options == ["RoPE"]
    assert "nope" in MODELS


def test_a_text_that_no_address_may_have_is_left_out():
    page = opened(passage="a" * 2049)
    assert page.text_area[0].value == "a" * 2048
    assert len(page.warning) == 1


@pytest.mark.parametrize("place", ["compare", "tokens", "long"])
def test_what_a_model_computes_can_be_opened(place):
    page = typed(opened(reader="xpos_half"), TEXT)
    page = again(page.button(f"open_in_{place}").click())
    found = address(page)
    assert (found["source"], found["long_inputs"]) == ("capture", "text")
    assert (found["window_size"], found["block_size"]) == (str(QUICK.length), "32")
    assert "scale_base" not in found
    assert found["passage"] == TEXT

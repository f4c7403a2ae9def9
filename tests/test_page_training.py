"""Training on the page Lab, without a browser: asked for, waited for, cancelled, shown, refused."""

import time
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from tests import apptest
from tests.apptest import again, alts
from tests.tiny import shrink
from xpos_viz import limits
from xpos_viz.export.recipe import fingerprint
from xpos_viz.figures.training import model_words, your_words
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.studies.yours import Trained, lately, learned, normal
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import training
from xpos_viz.ui.training import TRAININGS

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")
QUICK = {"lab_size": "quick"}
MODEL = Trained.parse("xpos:scale_base:64:seed:3")
OWN = QUICK | {"trained": MODEL.text}
PATIENCE = 60  # seconds


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Training takes no time."""
    shrink(monkeypatch.setattr)


@pytest.fixture
def busy(monkeypatch):
    """Another model is trained, so that all that are begun wait."""
    monkeypatch.setattr(TRAININGS, "_waiting", SimpleQueue())


def opened(address, language="en"):
    return apptest.opened("lab", address | {"lang": language})


def button(page, key) -> Any:
    """A button of the page, if it is there."""
    found = [each for each in page.button if each.key == key]
    return found[0] if found else None


def trained(model=MODEL):
    """Wait until the server has trained a model."""
    end = time.monotonic() + PATIENCE
    while not ((run := TRAININGS.find(model)) and run.done):
        assert time.monotonic() < end
        time.sleep(0.02)
    return run


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_is_trained_and_stands_beside_the_others(language):
    text, address = texts(language), {"training": MODEL.text}
    page = opened(address, language)
    assert not any(your_words(MODEL, text) in alt for alt in alts(page))
    again(button(page, "train").click())
    assert trained().error is None
    assert apptest.address(page) == address | OWN | {"lang": language}
    again(page)
    named = [alt for alt in alts(page) if your_words(MODEL, text) in alt]
    assert len(named) == 4  # all but the paper's numbers and how it learned
    (course,) = (alt for alt in alts(page) if alt.startswith(text("training.alt", ends="")[:6]))
    assert model_words(MODEL, text) in course
    assert button(page, "train").disabled  # that one is here
    (taken,) = [each for each in page.get("download_button") if "safetensors" in each.proto.label]
    assert taken.proto.label == text("training.take", model=model_words(MODEL, text))


def test_it_is_taken_off_and_still_known():
    learned(MODEL)
    page = opened(OWN)
    chosen = apptest.control(page, "trained")
    assert chosen.value == [MODEL.text]
    again(chosen.set_value([]))
    assert apptest.address(page) == QUICK | {"lang": "en"}
    assert not any(your_words(MODEL, EN) in alt for alt in alts(page))
    assert any(your_words(MODEL, EN) in alt for alt in alts(opened(OWN)))


def test_a_link_to_a_model_that_is_not_known_offers_to_train_it():
    page = opened(OWN)
    offered = button(page, "train_0")
    assert offered.label == EN(
        "training.again", model=model_words(MODEL, EN), seconds=round(training.Training.lasted)
    )
    again(offered.click())
    trained()
    again(page)
    assert button(page, "train_0") is None
    assert any(your_words(MODEL, EN) in alt for alt in alts(page))


@pytest.mark.usefixtures("busy")
def test_one_that_waits_says_so_and_can_be_cancelled():
    page = opened({"training": MODEL.text})
    again(button(page, "train").click())
    (bar,) = page.get("progress")
    assert bar.proto.text == EN("training.waiting", model=model_words(MODEL, EN))
    other = opened(OWN)  # another session finds it
    assert len(other.get("progress")) == 1
    assert button(other, "train_0") is None
    again(button(page, "cancel_0").click())
    run = TRAININGS.find(MODEL)
    assert run is not None
    assert run.stopped
    assert "trained" not in apptest.address(page)
    assert len(page.get("progress")) == 0
    again(other)
    assert len(other.get("progress")) == 0
    assert button(other, "train_0") is not None


@pytest.mark.usefixtures("busy")
def test_how_far_it_is_is_shown_with_its_losses_so_far(monkeypatch):
    run = TRAININGS.begin(MODEL)
    run.begun = 100.0
    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=lambda: 110.0))
    run.progress = training.Progress((8.0,) * 12, 0.5)
    page = opened(OWN)
    (bar,) = page.get("progress")
    assert bar.proto.value == 50
    words = {"model": model_words(MODEL, EN), "left": 10}
    assert bar.proto.text == EN("training.progress", step=12, steps=25, **words)
    (alt,) = (alt for alt in alts(page) if alt.startswith("Training loss"))
    assert alt.endswith(f"{model_words(MODEL, EN)} goes from 8 to 8")
    run.progress = training.Progress((8.0,) * 25, 0.5)
    (bar,) = again(page).get("progress")
    assert bar.proto.text == EN("training.measuring", **words)


def test_an_error_is_told_where_it_was_asked_for(monkeypatch):
    def failing(*_):
        raise ValueError("no sources here")

    monkeypatch.setattr(training, "learned", failing)
    page = opened({"training": MODEL.text})
    again(button(page, "train").click())
    trained()
    again(page)
    (error,) = page.error
    named = model_words(MODEL, EN)
    assert error.value == EN("training.failed", model=named, reason="no sources here")
    assert button(page, "train_0") is not None


def test_a_server_that_has_enough_says_so(monkeypatch):
    monkeypatch.setattr(TRAININGS, "_most", 0)
    page = opened({"training": MODEL.text})
    again(button(page, "train").click())
    (error,) = page.error
    assert error.value.replace("\\", "") == EN(
        "training.failed",
        model=model_words(MODEL, EN),
        reason="this server trains at most 8 models, got one more; wait until one is done.",
    )


def test_no_more_than_some_stand_beside_the_others():
    page = opened(QUICK | {"trained": ",".join(map(normal, ("rope", "nope", "alibi")))})
    assert button(page, "train").disabled
    assert EN("training.full", most=3) in [caption.value for caption in page.caption]


def test_controls_set_what_is_trained_next():
    page = opened(QUICK)
    again(apptest.control(page, "training").select("alibi"))
    assert apptest.address(page)["training"] == "alibi:seed:0"
    assert not any((each.key or "").startswith("training.") for each in page.select_slider)
    again(apptest.control(page, "training_seed").set_value(7))
    assert apptest.address(page)["training"] == "alibi:seed:7"
    again(apptest.control(page, "training").select("xpos"))
    assert apptest.address(page)["training"] == "xpos:seed:7"
    again(apptest.control(page, "gamma").set_value(0.8))
    assert apptest.address(page)["training"] == "xpos:gamma:0.8:seed:7"


def test_what_cannot_be_trained_is_refused_beside_its_control():
    page = opened(QUICK | {"training": "xpos:scale_base:32:seed:0"})
    again(apptest.control(page, "scale_base").set_value(8.0))
    (warning,) = page.warning
    assert "an encoding must hold 1024 tokens in float32" in warning.value.replace("\\", "")
    assert apptest.address(page)["training"] == "xpos:scale_base:32:seed:0"
    assert apptest.control(page, "scale_base").value == 32.0


def test_an_address_that_cannot_be_read_is_told():
    page = opened(QUICK | {"training": "t5", "trained": "rope:seed:1,xpos:scale_base:2"})
    said = "\n".join(warning.value for warning in page.warning)
    assert "t5" in said
    assert "scale" in said
    assert button(page, "train_0") is not None
    assert button(page, "train_1") is None


def test_where_it_is_switched_off_it_says_so(monkeypatch):
    learned(MODEL)
    monkeypatch.setattr(limits, "TRAINS", False)
    page = opened(QUICK | {"trained": f"{MODEL.text},rope:seed:5"})
    assert [info.value for info in page.info] == [EN("training.off")]
    assert button(page, "train") is None
    assert button(page, "train_1") is None
    rope = model_words(Trained.parse("rope:seed:5"), EN)
    assert EN("training.unknown", model=rope) in [caption.value for caption in page.caption]
    assert any(your_words(MODEL, EN) in alt for alt in alts(page))


def test_the_larger_models_stand_alone():
    learned(MODEL)
    page = opened(OWN | {"lab_size": "main"})
    assert not any(your_words(MODEL, EN) in alt for alt in alts(page))


def test_pictures_of_a_state_train_what_is_not_known(monkeypatch):
    """So that a command, and a file that is made again, have the same numbers."""
    state, refused = from_address(OWN)
    assert not refused
    before = PICTURES["lab"](state, EN)
    assert before[-1].name == "learning"
    assert before[-1].table()["model"].unique().tolist() == [MODEL.text]
    shrink(monkeypatch.setattr)
    assert lately(MODEL) is None
    after = PICTURES["lab"](state, EN)
    first, second = (fingerprint([each.description for each in some]) for some in (before, after))
    assert first == second
    large, _ = from_address(OWN | {"lab_size": "main"})
    assert "learning" not in {picture.name for picture in PICTURES["lab"](large, EN)}

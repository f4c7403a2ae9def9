"""The page that chooses γ and B, without a browser: at once, in the background, and in words."""

import json
import time
from queue import SimpleQueue

import pytest

from tests import apptest
from tests.apptest import MADE, SHORT, again, alts
from xpos_viz.choosing import OBJECTIVES
from xpos_viz.pictures.choose import asked
from xpos_viz.state import from_address
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui.sweeps import SWEEPS

pytestmark = pytest.mark.usefixtures("steady")

EN = texts("en")
FINE = MADE | {"budget": "289", "goal": "first_negative"}
PATIENCE = 30  # seconds


def opened(parameters, language="en"):
    """The page at an address."""
    return apptest.opened("choose", parameters | {"lang": language})


def begin(page):
    """The button that begins a sweep, if it is there."""
    return [button for button in page.button if button.key == "begin_sweep"]


def finished(address):
    """Wait until the sweep of an address is done."""
    spec = asked(from_address(address)[0])
    assert spec is not None
    end = time.monotonic() + PATIENCE
    while not ((run := SWEEPS.find(spec)) and run.done):
        assert time.monotonic() < end
        time.sleep(0.02)
    return run


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("goal", OBJECTIVES)
def test_every_goal_is_drawn_and_named(goal, language):
    page, text = opened(SHORT | {"goal": goal}, language), texts(language)
    (alt,) = alts(page)
    window = {"window": "64"} if "window" in OBJECTIVES[goal].options else {}
    assert text(f"choose.goals.{goal}", **window) in alt
    said = "\n".join(element.value for element in page.markdown)
    assert text("choose.caution") in said
    assert f"`{OBJECTIVES[goal].formula}` ({OBJECTIVES[goal].source})" in "\n".join(
        caption.value for caption in page.caption
    )


def test_a_goal_of_a_text_needs_one():
    page = apptest.opened("choose", MADE | {"goal": "disturbed"})
    assert page.get("plotly_chart") == []
    assert [info.value for info in page.info] == [EN("tokens.no_text")]
    assert "source" in page.session_state["offered"]


def test_two_goals_have_a_front():
    page = opened(MADE | {"second_goal": "headroom"})
    assert [alt.split(" ", 1)[0] for alt in alts(page)] == ["Landscape", "Landscape", "Front"]
    (table,) = page.dataframe
    assert [*table.value.columns] == ["gamma", "scale_base", "half_life", "headroom", "front"]
    assert table.value["front"].any()
    assert len(table.value) == 12


def test_a_limit_and_weights_are_set_and_said():
    page = opened(MADE | {"goal": "envelope_left", "second_goal": "half_life"})
    assert page.session_state["offered"] >= {"goal_limit", "second_limit", "goal_weight", "gamma"}
    (first, second) = page.number_input
    assert first.label == "Only above: envelope left (of its start)"
    assert second.label == "Only above: half-life (tokens)"
    again(first.set_value(5.0))
    assert apptest.address(page)["goal_limit"] == "5"
    said = "\n".join(element.value for element in page.markdown)
    assert EN("choose.none_within") in said
    assert EN("choose.beyond", count="81") in said


def test_a_single_goal_has_no_front():
    page = opened(MADE)
    assert [*page.dataframe[0].value.columns] == ["gamma", "scale_base", "half_life"]
    assert "goal_weight" not in page.session_state["offered"]


def test_a_fine_landscape_is_computed_when_asked_and_found_again():
    page = apptest.opened("choose", FINE)
    assert EN("choose.meanwhile") in [caption.value for caption in page.caption]
    (chart,) = page.get("plotly_chart")
    (trace,) = json.loads(chart.proto.spec)["data"]
    assert len(trace["x"]) == len(trace["y"]) == 9
    assert not page.dataframe
    (button,) = begin(page)
    assert button.label == "Compute 289 settings"
    again(button.click())
    assert finished(FINE).error is None
    found = apptest.opened("choose", FINE)
    assert EN("choose.meanwhile") not in [caption.value for caption in found.caption]
    assert begin(found) == []
    assert len(alts(found)) == 1
    assert "γ" in alts(found)[0]


def test_a_server_that_has_enough_says_so(monkeypatch):
    monkeypatch.setattr(SWEEPS, "_most", 0)
    monkeypatch.setattr(SWEEPS, "_runs", {})
    address = FINE | {"goal_length": "77"}
    page = apptest.opened("choose", address)
    again(begin(page)[0].click())
    (error,) = page.error
    assert error.value.startswith("The landscape could not be computed: this server computes at")
    assert len(begin(page)) == 1


def test_a_sweep_that_waits_its_turn_can_be_stopped_and_begun_anew(monkeypatch):
    monkeypatch.setattr(SWEEPS, "_waiting", SimpleQueue())  # another sweep has its turn
    monkeypatch.setattr(SWEEPS, "_runs", {})
    page = apptest.opened("choose", FINE | {"goal_length": "78"})
    again(begin(page)[0].click())
    assert begin(page) == []
    (stop,) = (button for button in page.button if button.key == "stop_sweep")
    again(stop.click())
    assert len(begin(page)) == 1


def test_settings_are_refused_in_words():
    page = apptest.opened("choose", MADE | {"gammas": "3:1", "goal": "beauty"})
    said = "\n".join(warning.value for warning in page.warning)
    assert "gammas" in said
    assert "goal" in said

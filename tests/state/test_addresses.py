"""The state of a session as an address: whole, short, and in any order."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.state.states import OPENINGS, START, states
from xpos_viz import rope, xpos
from xpos_viz.inputs import Random, Sample
from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.state import Refusal, State, from_address, opening, to_address
from xpos_viz.state.changes import with_encoding, with_own, with_source, with_view
from xpos_viz.state.model import source_of


@given(states())
def test_an_address_restores_its_state(state):
    address = to_address(state)
    assert {type(part) for pair in address.items() for part in pair} <= {str}
    assert from_address(address) == (state, [])


@given(states(), st.randoms(use_true_random=False))
def test_the_order_of_an_address_does_not_matter(state, random):
    entries = list(to_address(state).items())
    random.shuffle(entries)
    assert from_address(dict(entries)) == (state, [])


@pytest.mark.parametrize(("source", "name"), OPENINGS)
def test_an_opening_has_a_short_address(source, name):
    state = State(opening(source, name or "tidebook"))
    expected = {"source": source} if source != "sample" else {"name": name}
    address = to_address(state)
    assert address == ({} if name == "tidebook" else expected)
    assert from_address(address) == (state, [])


def test_the_address_holds_what_differs():
    changed = with_view(with_encoding(START, 1, "gamma", 0.5), stage="weights")
    changed = replace(changed, language="zh", axis="log")
    assert to_address(changed) == {
        "gamma": "0.5",
        "stage": "weights",
        "axis": "log",
        "lang": "zh",
    }


def test_a_value_is_left_out_where_its_own_opening_has_it():
    """The scale base of a short text is not that of the long one."""
    pronoun = with_source(START, "sample", "pronoun")
    assert to_address(with_encoding(pronoun, 1, "scale_base", 512)) == {
        "name": "pronoun",
        "scale_base": "512",
    }
    assert to_address(with_encoding(pronoun, 1, "scale_base", 8)) == {"name": "pronoun"}


def test_an_empty_address_is_the_opening_and_the_browser_chooses_the_language():
    assert from_address({}) == (State(opening()), [])
    assert source_of(opening()) == "sample"
    assert from_address({"lang": ""}) == (START, [])


def test_the_opening_shows_where_xpos_matters():
    experiment = opening()
    assert experiment.encodings == (rope(64, base=100_000), xpos(64, base=100_000))
    assert isinstance(experiment.inputs, Sample)
    for name in SAMPLES[1:]:
        short = opening("sample", name)
        assert short.encodings[1]["scale_base"] < short.inputs.tokens / 2
        assert short.encodings[0]["base"] == 100_000


@pytest.mark.parametrize(
    ("address", "bases"),
    [
        ({}, (100_000, 100_000)),
        ({"base": "500"}, (500, 500)),
        ({"base.1": "500"}, (500, 100_000)),
        ({"base.2": "500"}, (100_000, 500)),
        ({"base.1": "500", "base.2": "700"}, (500, 700)),
        ({"base": "300", "base.2": "700"}, (300, 700)),
        ({"base": "300", "base.1": "500", "base.2": "700"}, (500, 700)),
        ({"base.1": "500", "base.2": "500"}, (500, 500)),
    ],
    ids=str,
)
def test_bases_together_and_apart(address, bases):
    state, refused = from_address(address)
    assert refused == []
    assert tuple(encoding["base"] for encoding in state.experiment.encodings) == bases
    assert from_address(to_address(state)) == (state, [])


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_masks_that_the_picture_draws_are_taken(mask):
    assert from_address({"mask": mask}) == (with_view(START, mask=mask), [])


def test_settings_are_taken_whatever_their_order():
    address = {"stop": "9", "start": "5", "length": "10", "source": "random", "layer": "3"}
    state, refused = from_address(address)
    assert state.experiment.inputs == Random(10)
    assert (state.experiment.view.start, state.experiment.view.stop) == (5, 9)
    assert [refusal.key for refusal in refused] == ["layer"]


def test_parameters_that_go_together_come_back_together():
    """Each alone would clash with the usual value of the other."""
    turns = {"llama3.low_turns": 8.0, "llama3.high_turns": 64.0}
    state = with_own(START, turns)
    assert state.encoding("llama3")["low_turns"] == 8
    assert from_address(to_address(state)) == (state, [])
    clash = {"llama3.low_turns": "8", "llama3.high_turns": "2", "yarn.factor": "8"}
    kept, refused = from_address(clash)
    assert dict(kept.own) == {"llama3.high_turns": 2.0, "yarn.factor": 8.0}
    assert refused == [Refusal("llama3.low_turns", "8", "1")]

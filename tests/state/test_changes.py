"""Changes of a state: each changes what it names, and the rest follows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.state.states import CAPTURES, START, states
from xpos_viz import rope, xpos
from xpos_viz.encoding import alibi, p_rope
from xpos_viz.experiment import View
from xpos_viz.inputs import Random
from xpos_viz.inputs.captured import keep
from xpos_viz.state import State, from_address, opening, to_address
from xpos_viz.state.changes import (
    with_encoding,
    with_head_dim,
    with_inputs,
    with_kept_curves,
    with_own,
    with_setting,
    with_source,
    with_view,
    with_window,
)
from xpos_viz.state.model import LOOKS, MAX_LENGTH, numbers


def test_kept_curves_stay_as_they_are_while_others_move_and_are_as_wide_as_they():
    state = with_kept_curves(with_setting("curves", START, ("xpos", "alibi", "p_rope")))
    assert state.kept_curves == ("xpos:base:100000", "alibi", "p_rope:base:100000")
    assert with_kept_curves(state) == state
    moved = with_own(with_encoding(state, None, "gamma", 0.8), {"alibi.slope": 0.5})
    wide = with_head_dim(with_source(moved, "expectation"), 8)
    assert wide.drawn_curves == (
        *(xpos(8, base=100_000.0), alibi(8), p_rope(8, base=100_000.0)),
        *(xpos(8, gamma=0.8), alibi(8, slope=0.5), p_rope(8)),
    )
    partial = from_address({"source": "capture", "data": keep(CAPTURES[1]), "kept_curves": "xpos"})
    assert partial[0].drawn_curves[0] == xpos(4).within(16)


def test_a_change_of_an_encoding():
    assert with_encoding(START, None, "base", 500).experiment.encodings == (
        rope(64, base=500),
        xpos(64, base=500),
    )
    assert with_encoding(START, 1, "base", 500).experiment.encodings == (
        rope(64, base=100_000),
        xpos(64, base=500),
    )
    assert with_encoding(START, None, "gamma", 2).experiment.encodings[1]["gamma"] == 2
    assert with_encoding(START, 0, "gamma", 2) == START


def test_another_source_opens_as_it_should_with_the_old_view_of_things():
    before = with_encoding(with_view(START, stage="weights", start=5, stop=50), 1, "gamma", 0.5)
    before = replace(before, language="zh", axis="log")
    after = with_source(before, "sample", "chinese")
    fresh = opening("sample", "chinese")
    assert after.experiment.inputs == fresh.inputs
    assert after.experiment.view == View("weights")
    assert after.experiment.encodings == (
        fresh.encodings[0],
        fresh.encodings[1].replace(gamma=0.5),
    )
    assert (after.language, after.axis) == ("zh", "log")


def test_another_head_keeps_the_window_and_another_length_does_not():
    windowed = with_window(START, 5, 50)
    assert with_inputs(windowed, head=4).experiment.view == windowed.experiment.view
    made = with_window(State(opening("random")), 5, 50)
    assert with_inputs(made, length=20).experiment.view == View()
    assert with_inputs(made, seed=2).experiment.view == made.experiment.view
    assert with_inputs(made, seed=2).experiment.inputs == Random(512, 2)


def test_another_width():
    changed = with_head_dim(State(opening("random")), 128).experiment.encodings
    assert changed == (rope(128), xpos(128))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ((5, 50), (5, 50)),
        ((5, 1002), (5, None)),
        ((0, 1002), (0, None)),
        ((5, 5), (5, 7)),
        ((0, 0), (0, 2)),
        ((1002, 1002), (1001, None)),
        ((1001, 1002), (1001, None)),
    ],
)
def test_a_window_is_never_empty(asked, shown):
    view = with_window(START, *asked).experiment.view
    assert (view.start, view.stop) == shown


@given(states(), st.integers(0, MAX_LENGTH), st.integers(0, MAX_LENGTH))
def test_any_window_of_a_slider_is_legal(state, one, other):
    tokens = state.experiment.inputs.tokens
    start, stop = sorted(min(end, tokens) for end in (one, other))
    changed = with_window(state, start, stop)
    assert from_address(to_address(changed)) == (changed, [])


@pytest.mark.parametrize("name", ["start", "stop"])
@pytest.mark.parametrize("end", ["5", None, 5.0, -1, True, []])
def test_a_window_has_whole_ends(name, end):
    with pytest.raises(ValueError) as caught:
        with_window(START, **({"start": 5, "stop": 50} | {name: end}))
    assert str(caught.value) == f"{name} must be an integer ≥ 0, got {end!r}; use 0 or more."


@pytest.mark.parametrize("axis", LOOKS["axis"])
def test_another_axis(axis):
    assert with_setting("axis", replace(START, axis="log"), axis) == replace(START, axis=axis)


@pytest.mark.parametrize("axis", ["", "Log", "symlog", None, 1, []])
def test_an_unknown_axis(axis):
    with pytest.raises(ValueError) as caught:
        with_setting("axis", START, axis)
    assert str(caught.value) == f"unknown axis {axis!r}; use one of: linear, log."


def test_the_numbers_of_the_sliders_beside_the_picture():
    state, _ = from_address({"source": "random", "base.2": "700", "length": "33"})
    assert numbers(state.experiment) == {"head_dim": [64], "length": [33]}

"""What the picture's own controls are moved to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import cases
from tests.state.states import START, legal_values, states
from xpos_viz import rope, xpos
from xpos_viz.experiment import STAGES
from xpos_viz.state import SETTINGS, from_address, to_address
from xpos_viz.state.changes import (
    with_apart,
    with_base,
    with_encoding,
    with_moves,
    with_view,
    with_window,
)
from xpos_viz.state.model import LOOKS, MAX_LENGTH, within_caps

APARTED = with_apart(START, "yes")
MOVES = [
    ("base", 500.0, {"base": "500"}),
    ("gamma", 0.5, {"gamma": "0.5"}),
    ("scale_base", 64.0, {"scale_base": "64"}),
    ("stage", "weights", {"stage": "weights"}),
    ("mask", "none", {"mask": "none"}),
    ("axis", "log", {"axis": "log"}),
    ("start", 7, {"start": "7"}),
    ("stop", 800, {"stop": "800"}),
    ("stop", 1002, {}),
]


@pytest.mark.parametrize(("key", "value", "address"), MOVES)
def test_every_move_changes_its_setting_alone(key, value, address):
    moved = with_moves(START, {key: value})
    assert to_address(moved) == address
    assert from_address(address) == (moved, [])
    assert with_moves(moved, {key: value}) == moved


def test_moves_in_one_go_are_those_one_by_one():
    whole = {key: value for key, value, _ in MOVES if value != 1002}
    one_by_one = START
    for key, value in whole.items():
        one_by_one = with_moves(one_by_one, {key: value})
    assert with_moves(START, whole) == one_by_one
    assert with_moves(START, dict(reversed(whole.items()))) == one_by_one
    expected = {key: part for _, value, address in MOVES for key, part in address.items()}
    assert to_address(one_by_one) == expected


def test_a_shared_base_is_that_of_both():
    changed = with_moves(START, {"base": 500})
    assert changed == with_base(START, 500)
    assert changed.experiment.encodings == (rope(64, base=500), xpos(64, base=500))


def test_bases_apart_are_moved_each_on_its_own():
    first = with_moves(APARTED, {"base": 500})
    assert first.experiment.encodings == (rope(64, base=500), xpos(64, base=100_000))
    second = with_moves(first, {"xpos_base": 50})
    assert second.experiment.encodings == (rope(64, base=500), xpos(64, base=50))
    assert with_moves(APARTED, {"xpos_base": 50, "base": 500}) == second
    assert to_address(second) == {"base.1": "500", "base.2": "50"}
    again = with_moves(second, {"xpos_base": 500})
    assert to_address(again) == {"base": "500", "apart": "yes"}
    assert from_address(to_address(again)) == (again, [])


def test_a_base_that_xpos_does_not_have_is_not_moved():
    """Its slider may be let go while the bases are being joined."""
    with pytest.raises(ValueError) as caught:
        with_moves(START, {"xpos_base": 50.0})
    assert str(caught.value) == ("the bases move together here, got 50.0 for XPos; use apart=yes.")


@pytest.mark.parametrize(
    ("moves", "shown"),
    [
        ({"start": 5, "stop": 50}, (5, 50)),
        ({"stop": 50, "start": 5}, (5, 50)),
        ({"start": 30}, (30, 40)),
        ({"stop": 30}, (20, 30)),
        ({"start": 60, "stop": 80}, (60, 80)),
        ({"start": 1, "stop": 10}, (1, 10)),
        ({"start": 39}, (39, 41)),
        ({"start": 60}, (60, 62)),
        ({"stop": 10}, (20, 22)),
        ({"stop": 1002}, (20, None)),
        ({"stop": 5000}, (20, None)),
        ({"start": 5000}, (1001, None)),
        ({"start": 0, "stop": 1002}, (0, None)),
    ],
    ids=str,
)
def test_the_ends_of_the_window_move_together(moves, shown):
    """Where both are moved, none is held against the old other; the last token is None."""
    view = with_moves(with_window(START, 20, 40), moves).experiment.view
    assert (view.start, view.stop) == shown


@pytest.mark.parametrize("stop", [None, 6, 1002])
def test_a_window_that_is_not_moved_is_left_as_it_is(stop):
    """Even one of a single token, which only an address can ask for."""
    before = with_view(START, start=5, stop=stop)
    assert with_moves(before, {"gamma": 0.5}) == with_encoding(before, None, "gamma", 0.5)
    assert with_moves(before, {}) == before


@pytest.mark.parametrize("key", ["cells", "head_dim", "source", "rope_base", "", "__class__"])
def test_a_move_of_something_else_is_left_out(key):
    assert with_moves(START, {key: "x"}) == START
    assert with_moves(START, {key: "x", "gamma": 0.5}) == with_moves(START, {"gamma": 0.5})


IMPOSSIBLE = [
    *(("base", value) for value in (0.5, -1, float("nan"), float("inf"), "500", None, [500.0])),
    *(("gamma", value) for value in (0, -0.4, float("nan"), 1e400, "0.5", True, [[1.0]])),
    *(("scale_base", value) for value in (0, -8, float("nan"), float("inf"), "8", None, {})),
    *(("stage", value) for value in ("softmax", "", None, 3, [])),
    *(("mask", value) for value in ("sliding:4", "blockwise:8", "", None, 3, True)),
    *((name, value) for name in LOOKS for value in ("ln", "", None, 0, [])),
    *(("start", value) for value in (-1, 0.5, "3", None, True, float("nan"), [])),
    *(("stop", value) for value in (-1, 50.0, "50", None, float("inf"))),
    ("xpos_base", 0.5),
]


@pytest.mark.parametrize(("key", "value"), IMPOSSIBLE, ids=str)
def test_an_impossible_move_is_refused_with_all_others(key, value):
    others = {"gamma": 0.5, "stage": "weights", "stop": 50}
    for moves in ({key: value}, others | {key: value}, {key: value} | others | {key: value}):
        with pytest.raises(ValueError, match=r"; (use|the usual) "):
            with_moves(APARTED, moves)


moves = st.fixed_dictionaries(
    {},
    optional={
        "base": cases.positive(1.0, 1e8),
        "gamma": cases.positive(1e-6, 1e3),
        "scale_base": cases.positive(1e-3, 1e9),
        "stage": st.sampled_from(STAGES),
        "mask": st.sampled_from(["causal", "none"]),
        **{name: legal_values(SETTINGS[name]) for name in LOOKS},
        "start": st.integers(0, MAX_LENGTH),
        "stop": st.integers(0, MAX_LENGTH),
    },
)


@given(states(), moves)
def test_any_move_of_any_state_has_an_address(state, moves):
    changed = with_moves(state, moves)
    assert from_address(to_address(changed)) == (changed, [])
    assert with_moves(changed, moves) == changed
    assert changed.experiment.inputs == state.experiment.inputs
    assert (changed.language, changed.apart) == (state.language, state.apart)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
)
names = ("base", "xpos_base", "gamma", "scale_base", "stage", "mask", *LOOKS, "start", "stop")


@given(states(), st.dictionaries(st.sampled_from(names), junk, max_size=4))
def test_no_move_does_harm(state, moves):
    """Whatever a browser says, the state is legal or kept, and nothing else is raised."""
    try:
        changed = with_moves(state, moves)
    except ValueError:
        return
    within_caps(changed.experiment)
    assert from_address(to_address(changed)) == (changed, [])

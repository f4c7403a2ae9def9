"""Captures that somebody brought: how they open, and what is said where they are not."""

import pytest

from tests.state.states import CAPTURES, START
from tests.test_capture import random
from xpos_viz import Capture, nope, rope, xpos
from xpos_viz.inputs import Captured
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.state import Refusal, State, from_address, opening, to_address
from xpos_viz.state.changes import (
    with_apart,
    with_base,
    with_encoding,
    with_inputs,
    with_source,
)


@pytest.mark.parametrize(
    ("capture", "base", "scale_base", "turned"),
    [
        (CAPTURES[0], 500.0, 2.0, 8),
        (CAPTURES[1], 10_000.0, 2.0, 4),
        (CAPTURES[2], 10_000.0, 12.0, 8),
        (sample_capture("tidebook"), 100_000.0, 384.0, 64),
    ],
    ids=["own base", "first columns", "not known", "long"],
)
def test_a_capture_opens_as_suits_it(capture, base, scale_base, turned):
    state = State(opening("capture", keep(capture)))
    first, second = state.experiment.encodings
    assert state.experiment.inputs == Captured(capture.hash, capture.layers[0], 0)
    assert (first["base"], second["base"], second["scale_base"]) == (base, base, scale_base)
    assert {each.rotary_width for each in (first, second, state.encoding("yarn"))} == {turned}
    assert to_address(state) == {"source": "capture", "data": capture.hash}
    assert from_address(to_address(state)) == (state, [])


def test_a_model_that_was_trained_with_xpos_opens_with_its_own_decay():
    """Whatever γ was set before; that of a model without one stays as it is."""
    own = xpos(8, gamma=0.7, scale_base=33.0)
    with_own, without = (
        keep(Capture(*random(), encodings=(each,), model="m")) for each in (own, nope(8))
    )
    moved = with_encoding(START, 1, "gamma", 0.9)
    state = with_source(moved, "capture", with_own)
    assert state.experiment.encodings == (rope(8), own)
    assert to_address(state) == {"source": "capture", "data": with_own}
    state = with_source(moved, "capture", without)
    assert state.experiment.encodings == (rope(8), xpos(8, gamma=0.9, scale_base=2.0))


def test_a_base_of_the_layer_s_own_stays_so():
    capture = Capture(*random(), encodings=(rope(8, base=500.0), rope(8, base=7e5)))
    start = State(opening("capture", keep(capture)))

    def bases(state):
        return [encoding["base"] for encoding in state.experiment.encodings]

    assert bases(with_inputs(start, layer=1)) == [7e5, 7e5]
    assert bases(with_inputs(with_base(start, 900.0), layer=1)) == [900.0, 900.0]
    apart = with_base(with_apart(start, "yes"), 900.0)
    assert bases(with_inputs(apart, layer=1)) == [900.0, 7e5]


def test_data_that_are_not_here_are_refused_and_asked_for():
    address = {"source": "capture", "data": "0" * 64, "layer": "9", "head": "1", "start": "3"}
    state, (refusal,) = from_address(address | {"gamma": "0.7"})
    assert state == with_encoding(START, 1, "gamma", 0.7)
    assert refusal == Refusal("data", "0" * 64, "")
    assert refusal.plain
    assert refusal.reason == (
        "this link asks for data with the hash 000000000000…, which are not here; use the file "
        "that it was made from: upload it again, or name it by --data."
    )


@pytest.mark.parametrize("data", ["", "x", "<script>", "0" * 63, "0" * 65, "G" * 64, None])
def test_a_name_of_data_that_is_none(data):
    state, (refusal,) = from_address(
        {"source": "capture"} | ({} if data is None else {"data": data})
    )
    assert state == START
    assert (refusal.key, refusal.used) == ("data", "")
    assert refusal.reason.startswith("data must be the hash of a capture, 64 of 0-9 and a-f, got")


def test_pages_need_a_query_of_every_token():
    data = keep(Capture(*random(queries=3)))
    _, (refusal,) = from_address({"source": "capture", "data": data})
    assert refusal.reason == (
        "pages show a query of every token, got 3 queries and 5 keys; capture the whole text at "
        "once, or use Capture.weights, which takes fewer queries."
    )

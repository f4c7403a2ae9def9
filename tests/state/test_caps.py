"""Nothing is larger than an operator allows."""

import tracemalloc

import pytest

from tests.state.states import START
from xpos_viz.inputs import SOURCES
from xpos_viz.state import State, from_address, opening
from xpos_viz.state import model as module
from xpos_viz.state.changes import with_encoding, with_head_dim, with_inputs, with_source
from xpos_viz.state.model import MAX_HEAD_DIM, MAX_LENGTH


@pytest.mark.parametrize("source", ["expectation", "random"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("length", str(MAX_LENGTH + 1)),
        ("length", "9" * 40),
        ("length", "9" * 4000),
        ("length", "0"),
        ("length", "-5"),
        ("length", "1e3"),
        ("head_dim", str(MAX_HEAD_DIM + 2)),
        ("head_dim", "9" * 4000),
        ("head_dim", "0"),
    ],
)
def test_lengths_and_widths_have_caps(source, key, value):
    state, refused = from_address({"source": source, key: value})
    assert state == State(opening(source))
    assert [refusal.key for refusal in refused] == [key]
    assert refused[0].used == {"length": "512", "head_dim": "64"}[key]


def test_at_the_caps_everything_is_taken():
    state, refused = from_address(
        {"source": "random", "length": str(MAX_LENGTH), "head_dim": str(MAX_HEAD_DIM)}
    )
    assert refused == []
    assert state.experiment.inputs.tokens == MAX_LENGTH
    assert state.experiment.encodings[0].head_dim == MAX_HEAD_DIM


def test_an_operator_may_lower_the_caps(monkeypatch):
    """What is made opens below them, and a sample, which is bundled, is not refused."""
    monkeypatch.setattr(module, "MAX_LENGTH", 100)
    monkeypatch.setattr(module, "MAX_HEAD_DIM", 32)
    for source in ("expectation", "random"):
        state, refused = from_address({"source": source})
        assert refused == []
        assert state.experiment.inputs.tokens <= 100
        assert state.experiment.encodings[0].head_dim <= 32
        state, refused = from_address({"source": source, "length": "101", "head_dim": "34"})
        assert [refusal.key for refusal in refused] == ["head_dim", "length"]
    state, refused = from_address({"gamma": "0.5"})
    assert refused == []
    assert state == with_encoding(START, 1, "gamma", 0.5)


def test_reading_an_address_makes_nothing_large(monkeypatch):
    def loaded(*_):
        raise AssertionError("an address was read, and vectors were made")

    for kind in SOURCES.values():
        monkeypatch.setattr(kind, "load", loaded)
    hostile = dict.fromkeys(("length", "head_dim", "seed", "stop", "cells", "base"), "9" * 4000)
    hostile |= {"source": "random", "x" * 100_000: "y" * 100_000}
    from_address(hostile)  # what is loaded once, such as the samples, is there now
    tracemalloc.start()
    try:
        from_address(hostile)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


def test_no_control_goes_beyond_the_caps(monkeypatch):
    monkeypatch.setattr(module, "MAX_LENGTH", 512)
    made = with_source(START, "expectation")
    with pytest.raises(ValueError, match="length must be at most 512 here, got 1002; use 512"):
        with_inputs(made, length=1002)
    monkeypatch.setattr(module, "MAX_HEAD_DIM", 64)
    with pytest.raises(ValueError, match="head_dim must be at most 64 here, got 128; use 64"):
        with_head_dim(made, 128)

"""Captures as inputs of an experiment: kept by their content, and asked for by links."""

import gc
import hashlib
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
import torch

from tests.test_capture import random
from xpos_viz import (
    Experiment,
    attention_logits,
    attention_scores,
    attention_weights,
    rope,
    run,
    xpos,
)
from xpos_viz.experiment import View
from xpos_viz.inputs import Capture, Captured, Sample
from xpos_viz.inputs.captured import Store, keep, lookup
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.limits import Limits, cap

NONE = hashlib.sha256(b"not kept").hexdigest()
PAIR = (rope(8), xpos(8, scale_base=16.0))


def message(function, *args):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args)
    return str(caught.value)


# An input of an experiment


def test_a_link_with_a_capture_is_read_again():
    data = keep(Capture(*random(), layers=(3, 9)))
    experiment = Experiment(PAIR, Captured(data, 9, 2))
    entries = experiment.to_dict()
    assert {name: entries[name] for name in ("source", "data", "layer", "head")} == {
        "source": "capture",
        "data": data,
        "layer": "9",
        "head": "2",
    }
    assert Experiment.from_dict(entries) == experiment
    assert hash(Experiment.from_dict(entries)) == hash(experiment)


def test_a_sample_that_is_brought_is_the_sample():
    brought = Captured(keep(sample_capture("pronoun")), 8, 2)
    encodings = (rope(64, base=1e5), xpos(64, base=1e5, scale_base=8.0))
    results = [run(Experiment(encodings, each)) for each in (brought, Sample("pronoun", 8, 2))]
    for one, other in zip(*(result.measurements for result in results), strict=True):
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert one.reach == other.reach
    assert brought.capture.labels == Sample("pronoun", 8, 2).capture.labels


def test_fewer_queries_than_keys_are_shown_where_they_are():
    q, k = random(queries=3, keys=9)
    inputs = Captured(keep(Capture(q, k)), 1, 3)
    assert (inputs.first, inputs.tokens, inputs.head_dim) == (6, 9, 8)
    vectors = inputs.load(8)
    assert vectors.q[:6].isnan().all()
    assert torch.equal(vectors.q[6:].float(), q[1, 3])
    assert torch.equal(vectors.k.float(), k[1, 1])
    result = run(Experiment(PAIR, inputs, View("weights", start=6)))
    for encoding, measured in zip(PAIR, result.measurements, strict=True):
        scores = attention_scores(q[1, 3].double(), k[1, 1].double(), encoding, layout="half")
        expected = attention_weights(attention_logits(scores, encoding))[:, 6:].numpy()
        seen = np.tril(np.ones((3, 3), bool))
        assert np.allclose(measured.values[seen], expected[seen], atol=1e-12)


def test_a_view_without_queries():
    inputs = Captured(keep(Capture(*random(queries=3, keys=9))))
    assert message(Experiment, PAIR, inputs) == (
        "the view must lie within the 3 tokens with a query, got 0 to None; use 6 to 9."
    )


def test_positions_may_begin_anywhere_but_not_skip():
    capture = Capture(*random())
    moved = replace(capture, key_positions=torch.arange(5) - 2, query_positions=torch.arange(5) - 2)
    assert Captured(keep(moved)).tokens == 5
    apart = replace(capture, key_positions=torch.tensor([0.0, 1.0, 2.0, 3.0, 9.0]))
    assert message(Captured, keep(apart)) == (
        "keys must stand at positions one by one, and queries at the last of them, got keys from "
        "0 to 9 and queries from 0 to 4; use Capture.weights, which knows any positions."
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((), "data must be the hash of a capture, 64 of 0-9 and a-f, got ''; use keep(capture)."),
        (
            ("<script>" * 10,),
            (
                "data must be the hash of a capture, 64 of 0-9 and a-f, got "
                "'<script><script><script><script><script; use keep(capture)."
            ),
        ),
        (
            (NONE,),
            (
                f"this link asks for data with the hash {NONE[:12]}…, which are not here; "
                "use the file that it was made from: upload it again, or name it by --data."
            ),
        ),
    ],
    ids=["none", "markup", "not kept"],
)
def test_data_that_are_not_here(given, text):
    assert message(Captured, *given) == text


def test_layers_heads_and_widths_that_are_not_there():
    data = keep(Capture(*random(), layers=(3, 9)))
    assert message(Captured, data) == "there is no layer 0; use one of: 3, 9."
    assert message(Captured, data, 3, 4) == "there is no head 4; use 0 to 3."
    assert message(Captured, data, 3, True) == "there is no head True; use 0 to 3."
    assert message(Captured(data, 3).load, 16) == "these data have head_dim 8, got 16; use 8."
    assert message(Experiment, (rope(16),), Captured(data, 3)) == (
        "these inputs have head_dim 8, got encodings of 16; use 8, or expectation or random inputs."
    )


# The store


def numbered(number):
    """A capture of 640 bytes, each its own."""
    x = torch.full((1, 1, 10, 8), float(number))
    return Capture(x, x)


def test_what_was_not_used_for_longest_is_dropped():
    store = Store(Limits(kept=3 * 640))
    hashes = [store.keep(numbered(number)) for number in range(3)]
    store.lookup(hashes[0])
    store.keep(numbered(1))
    hashes.append(store.keep(numbered(3)))
    assert [store.lookup(hashes[place]).q[0, 0, 0, 0] for place in (0, 1, 3)] == [0, 1, 3]
    assert message(store.lookup, hashes[2]).startswith("this link asks for data with the hash")


def test_a_capture_that_is_too_large_is_not_kept():
    assert message(Store(Limits(kept=639)).keep, numbered(0)) == (
        "a capture must be at most 639 bytes to be kept, got 640; "
        "use fewer layers or tokens, or set XPOS_VIZ_MAX_KEPT."
    )


def test_the_same_content_is_kept_once():
    store = Store(Limits(kept=2 * 640))
    first, other = numbered(1), numbered(2)
    store.keep(other)
    store.keep(first)
    assert store.lookup(store.keep(numbered(1))) is first
    assert store.lookup(other.hash) is other


def test_many_sessions_keep_at_once():
    store = Store(Limits(kept=5 * 640))
    captures = [numbered(number) for number in range(8)]
    threads = [Thread(target=lambda: [store.keep(each) for each in captures * 5]) for _ in range(4)]
    for step in (Thread.start, Thread.join):
        list(map(step, threads))
    hashes = [each.hash for each in captures]
    assert all(_kept(store, name) for name in hashes)  # while somebody uses them
    del captures, threads
    gc.collect()
    assert sum(_kept(store, name) for name in hashes) == 5


def _kept(store, name):
    """Whether a store has a capture."""
    try:
        return bool(store.lookup(name))
    except ValueError:
        return False


def test_a_process_has_one_store():
    data = keep(numbered(7))
    assert lookup(data).hash == data


# Limits


def test_an_operator_sets_limits(monkeypatch):
    assert Limits.set_by_operator() == Limits()
    monkeypatch.setenv("XPOS_VIZ_MAX_UPLOAD", "1000")
    monkeypatch.setenv("XPOS_VIZ_MAX_TOKENS", "7")
    assert Limits.set_by_operator() == Limits(upload=1000, tokens=7)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1e9", "٣", "9" * 17])
def test_limits_that_are_none(monkeypatch, text):
    monkeypatch.setenv("XPOS_VIZ_MAX_TOKENS", text)
    assert message(Limits.set_by_operator) == (
        f"XPOS_VIZ_MAX_TOKENS must be an integer ≥ 1, got {text!r}; use 4096."
    )


@pytest.mark.parametrize("text", ["0", "3", "x"])
def test_caps_that_are_even(monkeypatch, text):
    monkeypatch.setenv("XPOS_VIZ_MAX_LENGTH", text)
    with pytest.raises(ValueError) as caught:
        cap("LENGTH", 2048, step=2)
    assert str(caught.value) == (
        f"XPOS_VIZ_MAX_LENGTH must be an even integer ≥ 2, got {text!r}; use 2048."
    )

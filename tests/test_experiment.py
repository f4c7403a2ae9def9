"""Experiments as values: equal, hashable, written and read as a flat dict."""

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import cases
from tests.experiments import PAIR, SMALL, of
from xpos_viz import (
    Experiment,
    nope,
    rope,
    xpos,
)
from xpos_viz.encoding import PARAMETERS, REGISTRY, t5
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import SOURCES, Expectation, Random, Sample
from xpos_viz.inputs.sample import SAMPLES, layers_of
from xpos_viz.inputs.synthetic import MAX_SEED


def test_equal_experiments_are_one_key():
    one, same, other = (of(Random(9, seed)) for seed in (1, 1, 2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2
    assert of(Random(9), cells=3) != of(Random(9))
    assert of(Random(9), SMALL[::-1]) != of(Random(9))


@pytest.mark.parametrize("value", [of(Random(9)), View(), Random(9), Expectation(9), Sample()])
def test_a_description_is_frozen(value):
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, None)


samples = st.sampled_from(SAMPLES).flatmap(
    lambda name: st.builds(
        Sample, st.just(name), st.sampled_from(layers_of(name)), st.integers(0, 8)
    )
)
made = st.one_of(
    st.builds(Expectation, st.integers(1, 10**7)),
    st.builds(
        Random,
        st.integers(1, 10**7),
        st.integers(0, MAX_SEED),
        st.sampled_from(["same", "independent"]),
    ),
)


@st.composite
def experiments(draw):
    """Any legal experiment."""
    inputs = draw(samples | made)
    width = inputs.head_dim or draw(st.sampled_from([2, 6, 64, 256]))
    encodings = draw(st.lists(cases.encodings((width,), (1e-3, 1e12)), min_size=1, max_size=3))
    start = draw(st.integers(0, inputs.tokens - 1))
    stop = draw(st.none() | st.integers(start + 1, inputs.tokens))
    stage, mask = draw(st.sampled_from(STAGES)), draw(st.sampled_from(["causal", "none"]))
    view = View(stage, mask, start, stop, draw(st.integers(1, 4096)))
    return Experiment(tuple(encodings), inputs, view)


@given(experiments())
def test_a_round_trip_through_a_flat_dict_of_strings(original):
    entries = original.to_dict()
    assert {type(part) for pair in entries.items() for part in pair} == {str}
    assert Experiment.from_dict(entries) == original
    assert Experiment.from_dict(entries).to_dict() == entries


@pytest.mark.parametrize("encoding", [*cases.assorted(8), *cases.per_head(8)], ids=repr)
def test_every_family_survives_a_round_trip(encoding):
    for encodings in ((encoding,), (rope(8), encoding), (encoding, xpos(8, base=100.0))):
        original = of(Random(9), encodings)
        entries = original.to_dict()
        assert {type(part) for pair in entries.items() for part in pair} == {str}
        read = Experiment.from_dict(entries)
        assert read == original
        assert hash(read) == hash(original)
        assert list(map(repr, read.encodings)) == list(map(repr, encodings))


@pytest.mark.parametrize(
    ("encodings", "entries"),
    [
        ((rope(4).within(8),), {"rotary_width": "4"}),
        ((rope(4).within(8), xpos(4).within(8)), {"rotary_width": "4"}),
        ((rope(4).within(8), xpos(8)), {"rotary_width.1": "4", "rotary_width.2": "8"}),
        (SMALL, {}),
    ],
    ids=repr,
)
def test_a_part_of_the_columns_survives_a_round_trip(encodings, entries):
    original = of(Random(9), encodings)
    written = original.to_dict()
    assert {key: text for key, text in written.items() if "rotary_width" in key} == entries
    assert Experiment.from_dict(written) == original


def test_tuples_and_tables_are_written_with_commas_and_semicolons():
    row = cases.LEARNED
    for encoding, key, text in (
        (xpos(8, gamma=(0.2, 0.4, 1)), "gamma", "0.2,0.4,1"),
        (xpos(8, gamma=(0.2,)), "gamma", "0.2,"),
        (t5(8, table=row), "table", ",".join(map(repr, row)).replace("0.0,", "0,")),
        (t5(8, table=((1.5,) * 32,)), "table", ",".join(["1.5"] * 32) + ";"),
        (t5(8, table=((2.5,) * 32, (-0.0,) * 32)), "table", f"{'2.5,' * 31}2.5;{'-0,' * 31}-0"),
    ):
        entries = of(Random(9), (encoding,)).to_dict()
        assert entries[key] == text
        assert Experiment.from_dict(entries).encodings == (encoding,)


def test_no_parameter_has_the_name_of_another_setting():
    described = {entry.name for kind in (*SOURCES.values(), View) for entry in fields(kind)}
    assert described.isdisjoint(PARAMETERS)


def test_a_whole_dict_reads_well():
    view = View("weights", "none", 2, 20, 10)
    assert Experiment(PAIR, Sample("pronoun", 8, 2), view).to_dict() == {
        "encodings": "rope,xpos",
        "head_dim": "64",
        "base": "100000",
        "gamma": "0.4",
        "scale_base": "24",
        "source": "sample",
        "name": "pronoun",
        "layer": "8",
        "head": "2",
        "stage": "weights",
        "mask": "none",
        "start": "2",
        "stop": "20",
        "cells": "10",
    }


def test_bases_apart_stand_under_their_places():
    apart = of(Random(9), (rope(8), nope(8), xpos(8, base=500.0)))
    entries = apart.to_dict()
    assert {key: value for key, value in entries.items() if "base" in key} == {
        "base.1": "10000",
        "base.3": "500",
        "scale_base": "512",
    }
    assert Experiment.from_dict(entries) == apart


def test_what_a_dict_leaves_out_has_its_default():
    assert Experiment.from_dict({}) == Experiment((rope(64), xpos(64)), Sample())
    assert Experiment.from_dict({"source": "random", "gamma": "0.5"}) == Experiment(
        (rope(64), xpos(64, gamma=0.5)), Random()
    )


def test_its_own_parameter_goes_before_the_common_one():
    read = Experiment.from_dict({"base": "50", "base.2": "70"})
    assert [encoding["base"] for encoding in read.encodings] == [50, 70]


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (
            {"gama": "1"},
            (
                "unknown setting 'gama'; use: base, base.1, base.2, cells, gamma, gamma.2, head, "
                "layer, mask, name, rotary_width, rotary_width.1, rotary_width.2, scale_base, "
                "scale_base.2, stage, start, stop."
            ),
        ),
        (
            {"source": "random", "layer": "3"},
            (
                "unknown setting 'layer'; use: base, base.1, base.2, cells, gamma, gamma.2, keys, "
                "length, mask, rotary_width, rotary_width.1, rotary_width.2, scale_base, "
                "scale_base.2, seed, stage, start, stop."
            ),
        ),
        (
            {"source": "expectation", "encodings": "nope", "gamma": "1"},
            (
                "unknown setting 'gamma'; use: cells, length, mask, rotary_width, rotary_width.1, "
                "stage, start, stop."
            ),
        ),
        (
            {"source": "net"},
            "unknown source 'net'; use one of: sample, capture, expectation, random.",
        ),
        (
            {"encodings": "rope,alibi9"},
            f"unknown encoding 'alibi9'; use one of: {', '.join(REGISTRY)}.",
        ),
        ({"gamma": "0.2,much"}, "gamma must be a number, got 'much'; use 0.4 or 1e4."),
        ({"gamma": ","}, "gamma must be a number, got ''; use 0.4 or 1e4."),
        (
            {"gamma": "0.2,0"},
            ("gamma must be a finite number > 0, got 0.0 in (0.2, 0.0); the usual value is 0.4."),
        ),
        (
            {"gamma": "0.2;0.4"},
            (
                "gamma must be one number, or one for each head, got ((0.2,), (0.4,)); "
                "the usual value is 0.4."
            ),
        ),
        ({"gamma": "much"}, "gamma must be a number, got 'much'; use 0.4 or 1e4."),
        ({"gamma": "nan"}, "gamma must be a finite number > 0, got nan; the usual value is 0.4."),
        ({"base.2": "x"}, "base must be a number, got 'x'; use 0.4 or 1e4."),
        ({"layer": "3.5"}, "layer must be a whole number, got '3.5'; use 1, 2, 3 …"),
        ({"head_dim": ""}, "head_dim must be a whole number, got ''; use 1, 2, 3 …"),
        (
            {"stop": "9" * 100},
            f"the view must lie within 1002 tokens, got 0 to {'9' * 100}; use 0 to 1002.",
        ),
        (
            {"start": "y" * 100},
            f"start must be a whole number, got '{'y' * 39}; use 1, 2, 3 …",
        ),
    ],
    ids=str,
)
def test_what_a_dict_may_not_say(entries, text):
    with pytest.raises(ValueError) as caught:
        Experiment.from_dict(entries)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (
            {"stage": "logits"},
            "unknown stage 'logits'; use one of: scores, scaled, masked, weights.",
        ),
        (
            {"mask": None},
            (
                "unknown mask None; use one of: causal, none, sliding:size, blockwise:size "
                "(size ≥ 1 token), or a bool tensor."
            ),
        ),
        ({"start": -1}, "start must be an integer ≥ 0, got -1; use 0 or more."),
        ({"start": 1.5}, "start must be an integer ≥ 0, got 1.5; use 0 or more."),
        ({"start": 4, "stop": 4}, "stop must be an integer ≥ 5, got 4; use 5 or more."),
        ({"stop": True}, "stop must be an integer ≥ 1, got True; use 1 or more."),
        ({"cells": 0}, "cells must be an integer ≥ 1, got 0; use 1 or more."),
    ],
    ids=str,
)
def test_what_a_view_may_not_be(view, text):
    with pytest.raises(ValueError) as caught:
        View(**view)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            ((rope(8), xpos(4)), Random(9), View()),
            "the encodings must share one head_dim, got [4, 8]; use one width.",
        ),
        (
            ((), Random(9), View()),
            "an experiment needs an encoding, got none; use (rope(64), xpos(64)).",
        ),
        (
            (SMALL, Sample(), View()),
            (
                "these inputs have head_dim 64, got encodings of 8; "
                "use 64, or expectation or random inputs."
            ),
        ),
        (
            (SMALL, Random(9), View(start=9)),
            "the view must lie within 9 tokens, got 9 to None; use 0 to 9.",
        ),
        (
            (SMALL, Random(9), View(stop=10)),
            "the view must lie within 9 tokens, got 0 to 10; use 0 to 9.",
        ),
    ],
    ids=str,
)
def test_what_an_experiment_may_not_be(parts, text):
    with pytest.raises(ValueError) as caught:
        Experiment(*parts)
    assert str(caught.value) == text

"""Experiments as values, and their results against straight computation and brute force."""

import math
from dataclasses import FrozenInstanceError, fields, replace
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, tolerances
from xpos_viz import (
    Experiment,
    attention_logits,
    attention_scores,
    attention_weights,
    decay_table,
    measurements,
    nope,
    results,
    rope,
    run,
    xpos,
)
from xpos_viz.comparison import compare
from xpos_viz.encoding import PARAMETERS, REGISTRY, t5
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import SOURCES, Captured, Expectation, Random, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES, layers_of, sample_capture
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.measurements import attend, measure
from xpos_viz.results import (
    NEVER,
    SHIFT,
    curves,
    norm_error,
    rope_error,
    self_check,
    shift_error,
)

PAIR = (rope(64, base=100_000.0), xpos(64, base=100_000.0, scale_base=24.0))
SMALL = (rope(8), xpos(8, scale_base=16.0))
CACHED = (measure, attend, shift_error, norm_error, rope_error, results._curve)


def of(inputs, encodings=SMALL, **view):
    return Experiment(encodings, inputs, View(**view))


def forget():
    """Empty the caches."""
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def forgetful():
    """Empty the caches before a test and after it."""
    forget()
    yield
    forget()


# Values


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


def test_a_result_shows_one_head():
    experiment = of(Random(9), (xpos(8, gamma=(0.2, 0.4)),))
    with pytest.raises(ValueError) as caught:
        run(experiment)
    assert str(caught.value) == (
        "a result shows one head, got values for 2 in "
        "xpos(8, base=10000.0, gamma=(0.2, 0.4), scale_base=512.0); "
        "use one number for each parameter."
    )


def test_every_family_can_be_run():
    encodings = tuple(cases.assorted(8))
    result = run(of(Random(9), encodings, stage="weights"))
    assert all(np.isfinite(each.values[result.seen]).all() for each in result.measurements)
    check = self_check(of(Random(9), encodings))
    assert math.isfinite(check.shift)
    assert check.norm <= tolerances.EXACT


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


# Messages


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


# Results


def straight(inputs, encoding, stage, mask):
    """All values of a stage, whole, by the core functions alone; and which cells are seen."""
    vectors = inputs.load(encoding.head_dim)
    scores = attention_scores(vectors.q, vectors.k, encoding, layout=vectors.layout)
    logits = attention_logits(scores, encoding, mask=mask)
    seen = torch.ones_like(scores, dtype=torch.bool)
    values = {
        "scores": scores,
        "scaled": scores / math.sqrt(encoding.head_dim),
        "masked": logits,
        "weights": attention_weights(logits),
    }
    return values[stage].numpy(), (seen.tril() if mask == "causal" else seen).numpy()


def block_means(values, seen, block):
    """Means over the seen cells of each block, by loops; NaN where there are none."""
    blocks = range(math.ceil(len(values) / block))
    table = np.full((len(blocks), len(blocks)), np.nan)
    for row in blocks:
        for column in blocks:
            at = np.s_[row * block : (row + 1) * block, column * block : (column + 1) * block]
            if seen[at].any():
                table[row, column] = math.fsum(values[at][seen[at]]) / seen[at].sum()
    return table


def agree(actual, expected):
    """Whether all entries agree but for rounding; NaN only where NaN is expected."""
    allowed = tolerances.EXACT * np.nanmax(abs(expected), initial=1.0)
    return np.allclose(actual, expected, rtol=0, atol=allowed, equal_nan=True)


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("inputs", "encodings"),
    [
        (Sample("pronoun", 16, 7), PAIR),
        (Sample("chinese", 8, 3), (*PAIR, nope(64))),
        (Expectation(21), SMALL),
        (Random(37, 5, "independent"), SMALL),
    ],
    ids=repr,
)
def test_values_are_those_of_the_core(inputs, encodings, stage, mask):
    result = run(of(inputs, encodings, stage=stage, mask=mask))
    maps = []
    for encoding, measurement in zip(encodings, result.measurements, strict=True):
        values, seen = straight(inputs, encoding, stage, mask)
        maps.append(np.where(seen, values, np.nan))
        assert agree(measurement.values, maps[-1])
    assert agree(compare(result).values, maps[-1] - maps[0])
    assert np.array_equal(result.seen, ~np.isnan(maps[0]))
    assert result.block == 1
    assert np.array_equal(result.positions, np.arange(inputs.tokens))
    assert np.array_equal(result.lags, np.subtract.outer(result.positions, result.positions))


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("start", "stop", "cells"),
    [(0, 37, 10), (5, 36, 7), (0, 37, 1), (11, 30, 18), (30, 37, 3), (36, 37, 5)],
)
def test_a_window_in_blocks_is_its_means(start, stop, cells, stage, mask):
    """Sizes that do not divide; weights still see the keys before the window."""
    inputs = Random(37, 2, "independent")
    result = run(of(inputs, stage=stage, mask=mask, start=start, stop=stop, cells=cells))
    block = math.ceil((stop - start) / cells)
    assert result.block == block
    assert len(result.positions) <= cells
    for encoding, measurement in zip(SMALL, result.measurements, strict=True):
        values, seen = (x[start:stop, start:stop] for x in straight(inputs, encoding, stage, mask))
        assert agree(measurement.values, block_means(values, seen, block))
        assert np.array_equal(np.isnan(measurement.values), ~result.seen)
    edges = range(start, stop, block)
    centres = [edge + (block - 1) / 2 for edge in edges]
    assert result.positions.tolist() == centres


def test_blocks_of_weights_keep_the_whole_attention():
    inputs = Random(37, 2)
    result = run(of(inputs, stage="weights", cells=6))
    seen = np.tri(37, dtype=bool)
    counts = np.array(
        [[seen[r : r + 7, c : c + 7].sum() for c in range(0, 37, 7)] for r in range(0, 37, 7)]
    )
    for measurement in result.measurements:
        total = np.nansum(measurement.values * counts, axis=1)
        assert agree(total, np.array([7, 7, 7, 7, 7, 2.0]))


@pytest.mark.parametrize("stage", STAGES)
def test_limits_are_the_quantile_of_what_is_seen(stage):
    result = run(of(Sample("harbour", 8, 3), PAIR, stage=stage))
    maps = [measurement.values for measurement in result.measurements]
    comparison = compare(result)
    for limit, shown in ((result.limit, maps), (comparison.limit, [comparison.values])):
        magnitudes = sorted(abs(value) for table in shown for value in table[result.seen])
        assert limit == magnitudes[math.ceil(0.995 * (len(magnitudes) - 1))]
        assert limit < magnitudes[-1]


def test_where_nothing_differs_there_is_still_a_limit():
    result = run(of(Random(9), (rope(8),)))
    comparison = compare(result)
    assert np.array_equal(comparison.values[result.seen], np.zeros(45))
    assert comparison.limit == 1


def test_results_are_read_only():
    result = run(of(Random(9)))
    comparison = compare(result, "ratio")
    arrays = [result.seen, result.behind, result.positions, result.measurements[0].values]
    arrays += [comparison.values, comparison.shown]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_beyond_float64_values_are_infinite_and_their_difference_is_unknown():
    steep = tuple(xpos(8, scale_base=scale, gamma=1e-3) for scale in (0.5, 1.0))
    result = run(of(Expectation(300), steep, mask="none", cells=300))
    for measurement in result.measurements:
        assert np.isinf(measurement.values[0, 299])
    comparison = compare(result)
    assert np.isnan(comparison.values[0, 299])
    assert result.seen.all()
    assert math.isfinite(result.limit)
    assert math.isfinite(comparison.limit)
    assert np.isfinite(comparison.values[np.tri(300, dtype=bool)]).all()


def test_labels_are_those_of_the_window_or_none():
    sample = Sample("chinese", 8, 3)
    assert run(of(sample, PAIR, start=2, stop=7)).labels == ("置", "编 ⅓", "编 ⅔", "编 3/3", "码")
    assert run(of(sample, PAIR, cells=79)).labels == ()
    assert run(of(Random(9))).labels == ()


# The table


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_the_table_has_a_row_for_each_seen_cell(mask):
    result = run(of(Random(11), start=1, stop=10, cells=4, mask=mask))
    table = result.table()
    rope_name, xpos_name = map(repr, SMALL)
    assert table.columns.tolist() == ["query", "key", "lag", rope_name, xpos_name]
    rows = [
        (m, n, m - n, *(measurement.values[i, j] for measurement in result.measurements))
        for i, m in enumerate([2.0, 5.0, 8.0])
        for j, n in enumerate([2.0, 5.0, 8.0])
        if mask == "none" or j <= i
    ]
    assert list(table.iloc[:, :5].itertuples(index=False, name=None)) == rows


def test_the_table_survives_a_file():
    table = run(of(Sample("pronoun", 8, 2), PAIR, stage="weights")).table()
    assert len(table) == 28 * 29 / 2
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(table.to_csv(index=False).encode())),
        table,
        check_exact=True,
    )


# What is computed once


@pytest.fixture
def computed(monkeypatch):
    """The encodings whose scores are computed, in order; all tiles of one are one entry."""
    forget()
    calls = []

    def counted(inputs, encoding, *rest):
        if calls[-1:] != [encoding]:
            calls.append(encoding)
        return score_tiles(inputs, encoding, *rest)

    score_tiles = measurements.score_tiles
    for room in (measurements, results):
        monkeypatch.setattr(room, "score_tiles", counted)
    yield calls
    forget()


def test_rope_is_not_computed_again_when_gamma_moves(computed):
    inputs = Random(9)
    for gamma in (0.4, 0.5, 0.4):
        run(of(inputs, (rope(8), xpos(8, gamma=gamma))))
    assert computed == [rope(8), xpos(8), xpos(8, gamma=0.5)]


ANEW = [
    {"inputs": Random(9, seed=1)},
    {"inputs": Random(9, keys="independent")},
    {"inputs": Expectation(9)},
    {"view": View(start=1)},
    {"view": View(stop=8)},
    {"view": View(mask="none")},
    {"view": View(cells=4)},
]
SEEN_ANEW = [{"view": View(stage=stage)} for stage in STAGES[1:]]


@pytest.mark.parametrize("change", [*ANEW, *SEEN_ANEW], ids=str)
def test_what_a_value_depends_on_makes_it_new(change, computed):
    """Attention is computed again for other inputs, tokens, masks or blocks; not for a stage."""
    first = run(of(Random(9)))
    second = run(replace(first.experiment, **change))
    assert computed == [*SMALL, *SMALL] if change in ANEW else computed == [*SMALL]
    assert first.measurements[0].values.tolist() != second.measurements[0].values.tolist()


def test_checks_of_rope_are_not_computed_again_when_gamma_moves(monkeypatch, computed):
    turned = []

    def counted(q, k, encoding, **options):
        turned.append(encoding)
        return apply_encoding(q, k, encoding, **options)

    apply_encoding = results.apply_encoding
    monkeypatch.setattr(results, "apply_encoding", counted)
    self_check(of(Random(9), (rope(8), xpos(8))))
    assert turned.count(rope(8)) == 2
    del turned[:], computed[:]
    self_check(of(Random(9), (rope(8), xpos(8, gamma=0.5))))
    assert turned == [xpos(8, gamma=0.5)]
    assert computed == [xpos(8, gamma=0.5), xpos(8, gamma=0.5, scale_base=NEVER), rope(8)]


def test_numbers_are_not_computed_again_when_the_stage_changes():
    one, other = (measure(Random(9), SMALL[1], View(stage)) for stage in ("scores", "weights"))
    assert one.reach is other.reach


def test_curves_are_those_of_the_table():
    twice = of(Random(9), (rope(8), xpos(8), rope(8)))
    pd.testing.assert_frame_equal(curves(twice), decay_table([rope(8), xpos(8)], range(9)))
    shown = of(Random(9), (rope(8), xpos(8)), start=2, stop=6)
    assert curves(shown)["lag"].tolist() == [0, 1, 2, 3] * 2


def test_growth_ahead_of_the_query_does_not_set_the_colours():
    causal, whole = (
        run(of(Random(20), (rope(8), xpos(8, scale_base=1.0)), mask=mask))
        for mask in ("causal", "none")
    )
    assert whole.measurements[1].values.max() > 1e6 * causal.limit
    assert whole.limit == causal.limit
    assert compare(whole).limit == compare(causal).limit


def test_rows_of_the_table_stand_in_the_middle_of_their_tokens():
    """The last block has the tokens 8, 9 and 10, then 9 and 10 alone."""
    for tokens, middle in ((11, 9.0), (10, 8.5)):
        table = run(of(Random(tokens), cells=3)).table()
        assert table["query"].max() == middle
        assert (table["lag"] == table["query"] - table["key"]).all()


# Numbers


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


@pytest.mark.parametrize(("start", "stop"), [(0, 37), (0, 36), (10, 29), (5, 7)])
@pytest.mark.parametrize("mask", ["causal", "none"])
def test_numbers_of_a_measurement(start, stop, mask):
    """By loops over queries m of the window and all keys n."""
    inputs, encoding = Random(37, 3, "independent"), SMALL[1]
    actual = measure(inputs, encoding, View("scaled", mask, start, stop)).reach
    scores, seen = straight(inputs, encoding, "scores", mask)
    weights, _ = straight(inputs, encoding, "weights", mask)
    size = stop - start
    queries, keys = range(start, stop), range(37)
    far = [abs(scores[m, n]) for m in queries for n in keys if seen[m, n] and m - n >= size / 2]
    quarter = size // 4
    shares = [
        math.fsum(weights[m, n] for n in keys if m - n > quarter) for m in queries if m > quarter
    ]
    expected = (mean(far), mean(shares), mean(weights[m, 0] for m in queries if m > 0))
    numbers = (actual.far_magnitude, actual.far_share, actual.first_share)
    assert numbers == pytest.approx(expected, rel=tolerances.EXACT)


def test_one_token_has_no_distance():
    only = run(of(Expectation(1))).measurements[0]
    assert only.values.tolist() == [[8.0]]
    assert math.isnan(only.reach.far_magnitude)
    assert math.isnan(only.reach.far_share)
    assert math.isnan(only.reach.first_share)


# The self-check


def checked(inputs, encodings=PAIR, **view):
    return self_check(of(inputs, encodings, **view))


@pytest.mark.parametrize("source", SOURCES)
def test_the_check_holds(source):
    brought = Captured(keep(sample_capture("pronoun")), 8, 2)
    inputs = {
        "sample": Sample(),
        "capture": brought,
        "expectation": Expectation(100),
        "random": Random(100),
    }[source]
    check = checked(inputs)
    largest = float(np.nanmax(abs(straight(inputs, PAIR[0], "scores", "causal")[0])))
    assert 0 < check.shift <= 1e4 * tolerances.EXACT * largest  # angles grow by SHIFT radians
    assert check.norm <= tolerances.EXACT
    lag = inputs.tokens * math.log(3.5) / NEVER  # what the fastest pair still fades
    assert 0 < check.rope <= 64 * lag * largest


@pytest.mark.parametrize(("start", "stop"), [(0, 40), (7, 33)])
def test_the_numbers_of_the_check(start, stop):
    inputs = Random(40, 1, "independent")
    view = {"start": start, "stop": stop}
    check = checked(inputs, SMALL, **view)
    vectors = inputs.load(8)
    q, k = vectors.q[start:stop], vectors.k[start:stop]
    here, moved = range(start, stop), range(start + SHIFT, stop + SHIFT)
    never = SMALL[1].replace(scale_base=NEVER)
    shift = max(
        float((attention_scores(q, k, e, **cases.at(here)) - by_factors(q, k, e, moved, start))
        .tril().abs().max())
        for e in SMALL
    )  # fmt: skip
    rope_never = [attention_scores(q, k, e, **cases.at(here)) for e in (SMALL[0], never)]
    assert check.shift == pytest.approx(shift, abs=100 * tolerances.EXACT)
    assert check.rope == pytest.approx(
        float((rope_never[1] - rope_never[0]).tril().abs().max()), rel=1e-3
    )


def by_factors(q, k, encoding, positions, origin):
    turned = results.apply_encoding(q, k, encoding, **cases.at(positions), origin=float(origin))
    return turned[0] @ turned[1].mT


def conjugated(real):
    """Turn and scale keys as queries: scores then depend on m + n."""

    def wrong(q, k, encoding, **options):
        swapped = {
            name.replace("key_", "query_") if "key_" in name else name.replace("query_", "key_"): x
            for name, x in options.items()
        }
        return real(q, k, encoding, **options)[0], real(k, q, encoding, **swapped)[0]

    return wrong


def on_queries_only(real):
    def wrong(q, k, encoding, **options):
        return real(q, k, encoding, **options)[0], k

    return wrong


def other_layout(real):
    def wrong(q, k, encoding, **options):
        other = {"half": "interleaved", "interleaved": "half"}[options["layout"]]
        return real(q, k, encoding, **options | {"layout": other})

    return wrong


def own_origin(real):
    """A centre for the keys that differs by one from that of the queries."""

    def wrong(q, k, encoding, **options):
        other = options | {"origin": options.get("origin", 0.0) + 1}
        return real(q, k, encoding, **options)[0], real(q, k, encoding, **other)[1]

    return wrong


def backwards(real):
    """Positions that run the other way: decay becomes growth."""

    def wrong(q, k, encoding, **options):
        turned = {
            name: -value if name.endswith("positions") else value for name, value in options.items()
        }
        return real(q, k, encoding, **turned | {"origin": -options.get("origin", 0.0)})

    return wrong


WRONG = [conjugated, on_queries_only, other_layout, own_origin, backwards]


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("wrong", WRONG)
def test_the_check_catches_a_wrong_encoding(wrong, monkeypatch):
    right = checked(Sample("harbour", 8, 3)).shift
    shift_error.cache_clear()
    monkeypatch.setattr(results, "apply_encoding", wrong(results.apply_encoding))
    assert checked(Sample("harbour", 8, 3)).shift > 1e6 * right


@pytest.mark.usefixtures("forgetful")
def test_the_check_catches_a_turn_that_is_none(monkeypatch):
    def wrong(*args, **options):
        return [1.01 * x for x in real(*args, **options)]

    real = results.apply_encoding
    monkeypatch.setattr(results, "apply_encoding", wrong)
    assert checked(Random(9), SMALL).norm == pytest.approx(0.01)


def test_what_does_not_apply_is_not_a_number():
    check = checked(Random(9), (xpos(8),))
    assert math.isnan(check.norm)
    assert not math.isnan(check.rope)
    check = checked(Random(9), (rope(8), nope(8)))
    assert math.isnan(check.rope)
    assert check.norm <= tolerances.EXACT


@pytest.mark.parametrize("order", [1, -1], ids=["rope first", "xpos first"])
def test_a_shift_that_leaves_float64_is_not_hidden_by_another(order):
    steep = (rope(8), xpos(8, scale_base=1.0))[::order]
    assert not math.isfinite(checked(Random(900), steep).shift)

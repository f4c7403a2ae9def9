"""Comparisons: their values, limits, tables and stages, against plain loops."""

import math

import numpy as np
import pandas as pd
import pytest

from xpos_viz import Experiment, nope, rope, run, xpos
from xpos_viz.comparison import KINDS, compare
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.look import LOOKS, Look

PAIR = (rope(8), xpos(8, scale_base=16.0))


def result_of(inputs=None, encodings=PAIR, **view):
    """A result of the pair."""
    return run(Experiment(encodings, inputs or Random(40), View(**view)))


def number(how, first, last):
    """One cell's comparison, written out."""
    if how != "ratio":
        return last - first
    if first:
        return abs(last) / abs(first)
    return math.inf if last else math.nan


def quantile(values):
    """The 99.5 % quantile of finite magnitudes, the higher neighbour."""
    magnitudes = sorted(abs(value) for value in values if math.isfinite(value))
    return magnitudes[math.ceil(0.995 * (len(magnitudes) - 1))]


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("cells", [40, 9])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("how", KINDS)
def test_each_cell_of_the_last_map_is_compared_with_that_of_the_first(how, stage, cells, mask):
    result = result_of(stage=stage, cells=cells, mask=mask)
    comparison = compare(result, how)
    compared = result_of(stage="weights" if how == "weights" else stage, cells=cells, mask=mask)
    first, last = (measurement.values for measurement in compared.measurements)
    behind = []
    for row, column in np.ndindex(first.shape):
        value, shown = comparison.values[row, column], comparison.shown[row, column]
        if not result.seen[row, column]:
            assert math.isnan(value)
            assert math.isnan(shown)
            continue
        wanted = number(how, first[row, column], last[row, column])
        assert value == wanted
        assert shown == pytest.approx(math.log2(wanted) if how == "ratio" else wanted, rel=1e-12)
        block = result.block > 1  # on the diagonal it holds keys that are ahead
        ahead = mask == "none" and (column >= row if block else column > row)
        if not ahead:
            behind.append(shown)
    assert comparison.limit == quantile(behind)
    assert comparison.stage == ("weights" if how == "weights" else stage)
    assert comparison.result is result


def test_the_last_of_several_is_compared_with_the_first():
    result = result_of(encodings=(nope(8), *PAIR))
    first, _, last = (measurement.values for measurement in result.measurements)
    assert np.array_equal(compare(result).values, last - first, equal_nan=True)
    alone = result_of(encodings=PAIR[:1])
    assert set(compare(alone, "ratio").values[alone.seen]) == {1.0}
    assert compare(alone, "ratio").limit == 1


def test_nothing_over_nothing_has_no_value():
    """Weights fall below the smallest number: 0/0, and x/0 is beyond every limit."""

    def weights(*encodings):
        view = {"stage": "weights", "mask": "none", "cells": 300}
        return result_of(Expectation(300), encodings, **view)

    fading = xpos(2, scale_base=0.25, gamma=1e-3)
    (measured,) = weights(fading).measurements
    nothing = measured.values == 0
    assert 0 < nothing.sum() < nothing.size
    infinite, missing = (
        compare(weights(fading, rope(2)), "ratio"),
        compare(weights(fading), "ratio"),
    )
    assert np.array_equal(np.isposinf(infinite.values), nothing)
    assert np.array_equal(np.isposinf(infinite.shown), nothing)
    assert np.array_equal(np.isnan(missing.values), nothing)
    assert math.isfinite(infinite.limit)
    assert missing.limit == 1


def test_infinity_less_infinity_has_no_value():
    steep = (xpos(8, scale_base=0.5, gamma=1e-3), xpos(8, scale_base=1.0, gamma=1e-3))
    result = result_of(Expectation(300), steep, mask="none", cells=300)
    for how in ("plain", "ratio"):
        comparison = compare(result, how)
        assert np.isnan(comparison.values[0, 299])
        assert math.isfinite(comparison.limit)
        assert np.isfinite(comparison.values[np.tri(300, dtype=bool)]).all()


@pytest.mark.parametrize(
    ("how", "column"),
    [("plain", "difference"), ("ratio", "ratio"), ("weights", "weights_difference")],
)
def test_the_table_names_its_last_column_by_what_it_is(how, column):
    result = result_of(Sample("pronoun", 8, 2), (rope(64), xpos(64)), cells=9)
    comparison = compare(result, how)
    table = comparison.table()
    pd.testing.assert_frame_equal(table.iloc[:, :-1], result.table())
    assert table.columns[-1] == column
    assert table[column].tolist() == comparison.values[result.seen].tolist()
    first, last = table.columns[3:5]
    if how != "weights":
        wanted = [number(how, *pair) for pair in zip(table[first], table[last], strict=True)]
        assert table[column].tolist() == wanted


def test_an_unknown_comparison_lists_the_legal_ones():
    with pytest.raises(ValueError) as caught:
        compare(result_of(), "product")
    assert str(caught.value) == "unknown comparison 'product'; use one of: plain, ratio, weights."


def test_ways_to_look_are_checked_where_they_enter():
    assert all(Look(**{name: value}) for name, legal in LOOKS.items() for value in legal)
    assert Look() == Look(**{name: legal[0] for name, legal in LOOKS.items()})
    for name, value, legal in (
        ("difference", "product", "plain, ratio, weights"),
        ("axis", "square", "linear, log"),
        ("colours", "rainbow", "blue_red, purple_orange, teal_brown, navy_sand"),
    ):
        with pytest.raises(ValueError) as caught:
            Look(**{name: value})
        assert str(caught.value) == f"unknown {name} {value!r}; use one of: {legal}."

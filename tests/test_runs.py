"""Results of experiments against straight computation and brute force."""

import math
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from tests import cases, tolerances
from tests.experiments import PAIR, SMALL, of, straight
from xpos_viz import (
    decay_table,
    nope,
    rope,
    run,
    xpos,
)
from xpos_viz.comparison import compare
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.measurements import measure
from xpos_viz.results import (
    curves,
    self_check,
)


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

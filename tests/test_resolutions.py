"""Attention resolution; curves and resolution under masks; means along diagonals."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import attention_logits, attention_scores, decay_curve, nope, rope, xpos
from xpos_viz.curves import (
    NORMALISATIONS,
    diagonal_mean,
    expectation_resolution,
    lag_counts,
    masked_table,
    resolution,
    resolution_label,
    resolution_table,
    score_resolution,
)
from xpos_viz.masks import MASKS, Mask

each_kind = pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)
each_mask = pytest.mark.parametrize("mask", ["causal", "none", "sliding:5", "blockwise:4"])
RAW_OF_512, RAW_OF_64 = 0.420692, 0.484353


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "raw", "sqrt_d", "half_d"),
    [
        (rope(64), 0.41164, 1.28383e-4, 2.057e-6),
        (xpos(64), RAW_OF_512, 1.48365e-4, 1.819e-6),
        (xpos(64, scale_base=64.0), RAW_OF_64, 2.87095e-4, 2.165e-6),
    ],
    ids=repr,
)
def test_computed_resolutions(encoding, raw, sqrt_d, half_d):
    """Whether XPos resolves more than RoPE depends on the normalisation."""
    for name, expected in (("raw", raw), ("sqrt_d", sqrt_d), ("half_d", half_d)):
        found = expectation_resolution(encoding, tokens=1024, normalisation=name).item()
        assert found == pytest.approx(expected, abs=tolerances.RESOLUTION[name])


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.sampled_from([1e-6, 1.0, 50.0, 1e4, 1e6])
)
def test_resolution_is_that_of_eq_3_at_any_size(shape, size):
    """Against numbers of 40 digits and any exponent, for which eq. 3 needs no care."""
    curve = [size * x for x in shape]
    found = resolution(torch.tensor(curve, dtype=torch.float64)).item()
    with mpmath.workdps(40):
        exact = [mpmath.mpf(s) for s in curve]
        expected = reference.resolution(exact, mpmath.exp)
        whole = sum(mpmath.exp(s) for s in exact[:-1])
        largest = sum(mpmath.exp(a + max(a, b)) for a, b in itertools.pairwise(exact))
        scale = largest / whole**2  # of the terms: what rounding of the exponents multiplies
        if scale > 1e300:
            assert found == -math.inf or expected > -mpmath.mpf(1e308)
        else:
            error = abs(mpmath.mpf(found) - expected)
            assert error <= 10 * tolerances.EXACT * max(1.0, size) * scale + 1e-300
    assert found <= 1 + tolerances.EXACT


@given(st.floats(0.01, 30))
def test_resolution_of_a_line(step):
    """s = −c·i: R = (1 − r)²/(1 + r), r = e^(−c)."""
    r = math.exp(-step)
    curve = -step * torch.arange(math.ceil(40 / step) + 2, dtype=torch.float64)
    expected = (1 - r) ** 2 / (1 + r)
    assert resolution(curve).item() == pytest.approx(expected, rel=1e3 * tolerances.EXACT)


@pytest.mark.parametrize("value", [0.0, 1e300, -1e300, 1e-300])
def test_a_constant_curve_resolves_nothing(value):
    assert resolution(torch.full((1000,), value, dtype=torch.float64)).item() == 0
    assert resolution(torch.full((2,), value, dtype=torch.float64)).item() == 0


@given(st.floats(-1e3, 1e3), st.integers(0, 99))
def test_resolution_ignores_constants(constant, seed):
    curve = cases.normal(3, 20, seed=seed)
    assert torch.allclose(resolution(curve + constant), resolution(curve), atol=1e-11)


def test_resolution_of_many_curves_is_that_of_each():
    curves = cases.normal(2, 3, 10)
    found = resolution(curves)
    assert found.shape == (2, 3)
    assert found[1, 2].item() == pytest.approx(resolution(curves[1, 2]).item(), rel=1e-14)
    assert resolution(curves.float()).dtype == torch.float64
    assert resolution(torch.tensor([0.0, math.nan, 1.0])).isnan()


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (0,)], ids=str)
def test_a_curve_has_two_values(shape):
    assert message(resolution, torch.zeros(shape)) == (
        f"a curve must have at least two values, got shape {shape}; "
        "use the logits at lags 0, 1, … N + 1."
    )


def test_the_normalisation_is_in_the_label():
    assert [resolution_label(name) for name in NORMALISATIONS] == ["R(g)", "R(g/√d)", "R(g/(d/2))"]
    assert resolution_label("sqrt_d", "ŝ") == "R(ŝ/√d)"
    assert [row.divisor(64) for row in NORMALISATIONS.values()] == [1, 8, 32]
    assert [row.name for row in NORMALISATIONS.values()] == [*NORMALISATIONS]


@pytest.mark.parametrize(
    "call",
    [
        resolution_label,
        lambda name: expectation_resolution(rope(8), tokens=9, normalisation=name),
        lambda name: score_resolution(torch.zeros(3, 3), rope(8), normalisation=name),
        lambda name: resolution_table([rope(8)], tokens=9, normalisations=["raw", name]),
    ],
    ids=["label", "expectation", "scores", "table"],
)
def test_an_unknown_normalisation_lists_them(call):
    assert message(call, "/d") == ("unknown normalisation '/d'; use one of: raw, sqrt_d, half_d.")


@pytest.mark.parametrize("name", MASKS)
@settings(max_examples=40)
@given(tokens=st.integers(1, 24), size=st.integers(1, 12))
def test_lags_are_counted_as_they_are_seen(name, tokens, size):
    mask = Mask(name, size if MASKS[name].sized else None)
    at = torch.arange(tokens, dtype=torch.float64)
    seen = mask.visible(at, at)
    by_lag = reference.diagonals(seen, seen, range(tokens), range(tokens))
    lags, counts = lag_counts(mask, tokens)
    assert lags.tolist() == [*by_lag]
    assert counts.tolist() == [len(cells) for cells in by_lag.values()]


def test_a_blockwise_mask_shows_lags_of_less_than_two_blocks():
    lags, counts = lag_counts("blockwise:512", 4096)
    assert (lags[0], lags[-1]) == (0, 1023)
    assert counts[-1] == 4096 // 512 - 1
    assert len(lag_counts("blockwise:512", 10**6)[0]) == 1024


@pytest.mark.parametrize("tokens", [0, -1, 2.0, True, "8"])
def test_a_text_has_a_token(tokens):
    text = f"tokens must be an integer ≥ 1, got {tokens!r}; use 1024, for instance."
    assert message(lag_counts, "causal", tokens) == text
    options = {"tokens": tokens, "normalisation": "raw"}
    assert message(expectation_resolution, rope(8), **options) == text


def test_a_mask_is_a_mask():
    text = "unknown mask 'block'; use one of: causal, none, sliding:size, blockwise:size"
    assert message(lag_counts, "block", 4).startswith(text)


@each_kind
def test_a_curve_under_a_mask_has_the_lags_that_it_shows(encoding):
    masks = ["blockwise:4", Mask("sliding", 3), "none"]
    table = masked_table([encoding], masks, 20)
    assert table.columns.tolist() == ["encoding", "mask", "head", "lag", "count", "g"]
    assert [table[name].dtype.kind for name in ("head", "lag", "count", "g")] == ["i", "f"] * 2
    heads = encoding.rates.shape[:-1].numel()
    for mask in masks:
        rows = table[table["mask"] == str(mask)]
        lags, counts = lag_counts(mask, 20)
        assert rows["lag"].tolist() == lags.tolist() * heads
        assert rows["count"].tolist() == counts.tolist() * heads
        assert rows["head"].tolist() == [head for head in range(heads) for _ in lags]
        assert rows["g"].tolist() == decay_curve(encoding, lags).flatten().tolist()
    assert len(masked_table([], masks, 20)) == 0


def test_any_curve_may_be_seen_under_a_mask():
    encoding = cases.biased(8, 0.5, 0.25)
    table = masked_table([encoding], ["sliding:3"], 20, ["envelope", "bias"])
    assert table.columns.tolist()[4:] == ["count", "envelope", "bias"]
    assert table["bias"].tolist() == [0, -0.5, -1, 0, -0.25, -0.5]
    assert table["envelope"].tolist() == [4] * 6


def test_resolution_under_a_mask_ends_where_the_mask_does():
    options = {"tokens": 1024, "normalisation": "raw"}
    whole = expectation_resolution(xpos(64), **options)
    blocks = expectation_resolution(xpos(64), mask="blockwise:256", **options)
    window = expectation_resolution(xpos(64), mask="sliding:512", **options)
    assert blocks == window == resolution(decay_curve(xpos(64), range(512)))
    assert whole == resolution(decay_curve(xpos(64), range(1025)))
    assert expectation_resolution(xpos(64), mask="none", **options) == whole
    assert blocks != whole


def test_a_mask_of_one_lag_has_no_resolution():
    options = {"tokens": 9, "normalisation": "raw", "mask": "sliding:1"}
    assert "at least two values" in message(expectation_resolution, rope(8), **options)


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_bias_and_temperature_enter_as_in_logits(normalisation):
    """The bias is added, by head; and a temperature is a factor on g, not on the bias."""
    tokens, lags = 300, torch.arange(301, dtype=torch.float64)
    slopes = (0.5, 0.25)
    encoding = cases.biased(8, *slopes, temperature=1.5)
    g = 1.5 * decay_curve(rope(8), lags) / NORMALISATIONS[normalisation].divisor(8)
    expected = resolution(torch.stack([g - slope * lags for slope in slopes]))
    found = expectation_resolution(encoding, tokens=tokens, normalisation=normalisation)
    assert torch.allclose(found, expected, rtol=tolerances.EXACT)


def test_the_resolution_of_a_bias_alone_is_that_of_a_line():
    """Without rates the curve is constant, and ALiBi's −c·Δ gives (1 − r)²/(1 + r), r = e^(−c)."""
    zero = nope(8).theta
    alibi = cases.Given("alibi", 8, cases.Terms(zero, zero, lambda lags: -0.5 * lags))
    r = math.exp(-0.5)
    for name in NORMALISATIONS:
        found = expectation_resolution(alibi, tokens=200, normalisation=name).item()
        assert found == pytest.approx((1 - r) ** 2 / (1 + r), rel=100 * tolerances.EXACT)
        assert expectation_resolution(nope(8), tokens=200, normalisation=name).item() == 0


@each_kind
@each_mask
@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_real_logits_of_ones_have_the_resolution_of_the_curve(encoding, mask, normalisation):
    """q = 1, k = 1/2: the scores are g, and so are their diagonals."""
    ones = torch.ones(*encoding.rates.shape[:-1], 21, 8, dtype=torch.float64)
    scores = attention_scores(ones, ones / 2, encoding)
    found = score_resolution(scores, encoding, normalisation=normalisation, mask=mask)
    expected = expectation_resolution(encoding, tokens=20, normalisation=normalisation, mask=mask)
    assert torch.allclose(found, expected, atol=100 * tolerances.EXACT)


def test_the_paper_takes_the_mean_over_layers_first():
    scores = cases.normal(5, 12, 12)
    of_mean = score_resolution(scores.mean(0), rope(8), normalisation="sqrt_d")
    curve = diagonal_mean(attention_logits(scores, rope(8))).mean.mean(0)
    assert of_mean.item() == pytest.approx(resolution(curve).item(), rel=100 * tolerances.EXACT)


@pytest.mark.parametrize("shape", [(9, 9), (5, 9), (1, 9), (9, 1)], ids=str)
@each_mask
def test_means_along_diagonals_are_those_of_the_oracle(shape, mask):
    queries, keys = shape
    values = cases.normal(2, 3, *shape)
    m = torch.arange(max(queries, keys), dtype=torch.float64)[-queries:]
    n = torch.arange(keys, dtype=torch.float64)
    seen = Mask.of(mask).visible(m, n)
    found = diagonal_mean(values, mask, **cases.at(m, n))
    for matrix, means in zip(values.flatten(0, 1), found.mean.flatten(0, 1), strict=True):
        by_lag = reference.diagonals(matrix, seen, m.tolist(), n.tolist())
        assert found.lags.tolist() == [*by_lag]
        assert found.counts.tolist() == [len(cells) for cells in by_lag.values()]
        expected = [math.fsum(cells) / len(cells) for cells in by_lag.values()]
        assert means.tolist() == pytest.approx(expected, abs=tolerances.EXACT)


def test_positions_say_what_a_diagonal_is():
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    found = diagonal_mean(values, "none", **cases.at([10, 12.5], [10, 5, 12.5]))
    assert found.lags.tolist() == [-2.5, 0, 2.5, 5, 7.5]
    assert found.mean.tolist() == [3, 3.5, 4, 2, 5]
    assert found.counts.tolist() == [1, 2, 1, 1, 1]


@pytest.mark.parametrize("hidden", [math.inf, -math.inf, math.nan, 1e300])
def test_masked_cells_do_not_matter(hidden):
    values = cases.normal(6, 6)
    spoilt = values.masked_fill(torch.ones(6, 6).triu(1).bool(), hidden)
    assert torch.equal(diagonal_mean(spoilt).mean, diagonal_mean(values).mean)


def test_a_bool_mask_may_differ_between_heads():
    mask = torch.stack([torch.eye(3), torch.ones(3, 3).tril()]).bool()
    found = diagonal_mean(torch.ones(2, 3, 3), mask)
    assert found.lags.tolist() == [0, 1, 2]
    assert found.counts.tolist() == [[3, 0, 0], [3, 2, 1]]
    assert found.mean.isnan().tolist() == [[False, True, True], [False] * 3]


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 2), (5, 3, 3)], ids=str)
def test_a_mask_of_another_shape_is_refused(shape):
    mask = torch.ones(shape, dtype=torch.bool)
    assert message(diagonal_mean, torch.zeros(2, 3, 3), mask) == (
        f"mask must fit values of shape (2, 3, 3), got {shape}; "
        "use one row per query and one column per key."
    )


def test_a_mask_of_one_row_is_for_all_queries():
    values = cases.normal(4, 5)
    mask = torch.tensor([[True, False, True, True, False]])
    one, every = (diagonal_mean(values, m) for m in (mask, mask.expand(4, 5)))
    assert torch.equal(one.mean, every.mean)
    assert torch.equal(one.counts, every.counts)


def test_positions_of_a_batch_are_refused():
    positions = torch.zeros(2, 3)
    assert message(diagonal_mean, torch.zeros(2, 3, 3), **cases.at(positions)) == (
        "positions must have the shape (tokens,), got (2, 3) and (2, 3); "
        "use one call for each text of the batch."
    )


def test_a_table_of_resolutions():
    encodings, masks = [rope(8), cases.mixed_heads(8)], ["causal", Mask("blockwise", 4)]
    table = resolution_table(encodings, tokens=32, masks=masks)
    assert table.columns.tolist() == ["encoding", "mask", "head", "R(g)", "R(g/√d)", "R(g/(d/2))"]
    assert (
        table["mask"].tolist() == ["causal", "blockwise:4"] + ["causal"] * 3 + ["blockwise:4"] * 3
    )
    assert table["head"].tolist() == [0, 0, 0, 1, 2, 0, 1, 2]
    for name in NORMALISATIONS:
        expected = [
            expectation_resolution(encoding, tokens=32, normalisation=name, mask=mask).flatten()
            for encoding in encodings
            for mask in masks
        ]
        assert table[resolution_label(name)].tolist() == torch.cat(expected).tolist()
    one = resolution_table([rope(8)], tokens=32, normalisations=["half_d"])
    assert one.columns.tolist()[3:] == ["R(g/(d/2))"]
    assert resolution_table([], tokens=32)["R(g)"].dtype == np.float64


def test_lags_with_gaps_have_no_neighbours_to_compare():
    lags = torch.arange(8)[:, None] - torch.arange(8)
    even = (lags >= 0) & (lags % 2 == 0)
    with pytest.raises(ValueError) as caught:
        score_resolution(-2.0 * lags, rope(8), normalisation="raw", mask=even)
    assert str(caught.value) == (
        "the lags that are seen must be 0, 1, 2 … without a gap, got 4 of them up to 6; "
        "use diagonal_mean for lags with gaps."
    )

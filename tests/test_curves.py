"""Curves over distance: computed values, golden values, the oracle, the table."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import (
    attention_scores,
    decay_curve,
    decay_table,
    lag_response,
    nope,
    rope,
    xpos,
)

LAGS = [0, 1, 10, 100, 1024, 4096]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (rope(64), [32, 30.9168, 21.0516, 17.8747, 8.4136, 0.1119]),
        (xpos(64), [32, 30.8869, 20.9393, 16.6083, 5.8173, 1.128]),
        (nope(64), [32] * 6),
    ],
    ids=repr,
)
def test_computed_values_of_the_expectation_curve(encoding, expected):
    assert decay_curve(encoding, LAGS).tolist() == pytest.approx(expected, abs=tolerances.COMPUTED)


@pytest.mark.parametrize(("head_dim", "first"), [(64, 725), (128, 1707)])
def test_where_the_curve_of_rope_first_goes_negative(head_dim, first):
    negative = decay_curve(rope(head_dim), range(first + 1)) < 0
    assert negative.nonzero().flatten().tolist() == [first]


def test_the_curve_of_xpos_stays_positive_but_does_not_fall_everywhere():
    curve = decay_curve(xpos(64), range(2049))
    assert bool((curve > 0).all())
    assert bool((curve.diff() > 0).any())


@pytest.mark.parametrize("scale_base", ["none", "1", "64", "512", "2048"])
def test_golden_curves(scale_base):
    """Σ cos(Δθ_i) ζ_i^(Δ/B), computed elsewhere in float64."""
    encoding = rope(64) if scale_base == "none" else xpos(64, scale_base=float(scale_base))
    curve = decay_curve(encoding, cases.golden()["curves/lags"]).numpy()
    expected = cases.golden()[f"curves/g_d64_b10000_B{scale_base}"]
    assert abs(curve - expected).max() <= 32 * tolerances.EXACT


@given(
    cases.encodings(scale_bases=(32.0, 1e9)),
    st.lists(st.floats(-400, 2000, allow_subnormal=False), max_size=8),
)
def test_curve_and_response_are_those_of_the_oracle(encoding, lags):
    rates = cases.oracle_rates(encoding)
    curve, response = decay_curve(encoding, lags), lag_response(encoding, lags)
    assert curve.shape == (len(lags),)
    assert response.shape == (len(lags), len(rates))
    assert (curve.dtype, response.dtype) == (torch.float64, torch.complex128)
    for lag, value, row in zip(lags, curve.tolist(), response.tolist(), strict=True):
        sizes = [reference.times_exp(1.0, rate.real * lag) for rate in rates]
        expected = reference.decay_curve(rates, lag)
        assert abs(value - expected) <= 3 * tolerances.EXACT * sum(sizes)
        for rate, factor, size in zip(rates, row, sizes, strict=True):
            true = complex(np.cos(rate.imag * lag), np.sin(rate.imag * lag)) * size
            assert abs(factor - true) <= 3 * tolerances.EXACT * size


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("encoding", [*cases.assorted(8), xpos(64, scale_base=64.0)], ids=repr)
def test_expectation_is_the_score_of_ones(encoding, layout):
    """q = k = ones: the score is 2·g[m − n], in either layout."""
    ones = torch.ones(40, encoding.head_dim, dtype=torch.float64)
    scores = attention_scores(ones, ones, encoding, layout=layout)
    at = torch.arange(40)
    expected = 2 * decay_curve(encoding, at[:, None] - at)
    sizes = lag_response(encoding, (at[:, None] - at).flatten()).abs().sum(-1).view(40, 40)
    assert tolerances.within(scores, expected, tolerances.EXACT * 2 * sizes)


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
def test_responses_multiply_along_the_way(encoding):
    """exp(λ(a + b)) = exp(λa) exp(λb): the reason why positions can be split between q and k."""
    a, b = torch.tensor([3.0, 250.0, -17.5]), torch.tensor([40.0, -240.25, 17.5])
    product = lag_response(encoding, a) * lag_response(encoding, b)
    assert torch.allclose(product, lag_response(encoding, a + b), rtol=tolerances.EXACT, atol=0)


@pytest.mark.parametrize("lags", [7, 7.5, range(5), [[0, 1], [2, 3]], np.arange(3), []], ids=str)
def test_lags_may_have_any_shape(lags):
    shape = torch.as_tensor(np.asarray(lags)).shape
    assert decay_curve(xpos(8), lags).shape == shape
    assert lag_response(xpos(8), lags).shape == (*shape, 4)


def test_curves_end_as_they_should():
    """Far ahead everything has faded; far behind XPos has grown beyond float64."""
    steep = xpos(8, scale_base=1.0, gamma=1e-6)
    ahead, behind = decay_curve(steep, [2**53, -(2**53)]).tolist()
    assert ahead == 0
    assert abs(behind) == float("inf")
    assert decay_curve(steep, range(-3000, 3000)).isnan().sum() == 0
    assert lag_response(steep, [0]).tolist() == [[1, 1, 1, 1]]


def test_a_response_beyond_float64_is_infinite_and_not_nan():
    """Pair 0 grows by 3.5 per token: 600 tokens behind it is past the largest number."""
    response = lag_response(xpos(4, scale_base=1.0), [-600])[0, 0]
    assert response.abs() == torch.inf
    assert torch.view_as_real(response).sign().tolist() == [
        np.sign(np.cos(600)),
        -np.sign(np.sin(600)),
    ]


@pytest.mark.parametrize("count", [1, 70_000])
def test_a_long_curve_is_the_same_as_its_parts(count):
    curve = decay_curve(xpos(8), range(count))
    assert curve[-1] == decay_curve(xpos(8), [count - 1])
    assert len(curve) == count


def test_table_is_tidy():
    encodings = [rope(4), xpos(4), nope(4)]
    table = decay_table(encodings, [0, 10, -2.5])
    assert table.columns.tolist() == ["encoding", "head", "lag", "g"]
    assert table["encoding"].tolist() == [repr(e) for e in encodings for _ in range(3)]
    assert table["head"].tolist() == [0] * 9
    assert table["lag"].tolist() == [0, 10, -2.5] * 3
    expected = [g for e in encodings for g in decay_curve(e, [0, 10, -2.5]).tolist()]
    assert table["g"].tolist() == pytest.approx(expected, rel=tolerances.EXACT)
    kinds = [table[name].dtype.kind for name in ("head", "lag", "g")]
    assert kinds == ["i", "f", "f"]


@pytest.mark.parametrize(("encodings", "lags"), [([], [0, 1]), ([rope(4)], []), ([], [])])
def test_an_empty_table_has_its_columns(encodings, lags):
    table = decay_table(encodings, lags)
    assert len(table) == 0
    assert table.columns.tolist() == ["encoding", "head", "lag", "g"]

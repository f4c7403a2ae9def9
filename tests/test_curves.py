"""Curves over distance: computed values, golden values, the oracle, the tables."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
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
from xpos_viz.curves import (
    CURVES,
    bias_curve,
    bound_curve,
    curve_table,
    envelope,
    envelope_reach,
    first_negative_lag,
    running_mean,
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
    assert curve[-1].item() == pytest.approx(
        decay_curve(xpos(8), count - 1).item(), rel=tolerances.EXACT
    )
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


each_kind = pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)
LONG = 6000  # lags, so many that a curve is put together from two ladders


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


@each_kind
def test_envelope_and_bound_are_those_of_the_oracle(encoding):
    lags = [0, 1, 2.5, 100, 1024]
    for curve, oracle in ((envelope, reference.envelope), (bound_curve, reference.bound_curve)):
        values = curve(encoding, lags)
        assert values.shape == (*encoding.rates.shape[:-1], 5)
        for rates, row in zip(cases.heads_of(encoding), values.reshape(-1, 5), strict=True):
            expected = [oracle(rates, lag) for lag in lags]
            assert row.tolist() == pytest.approx(expected, abs=4 * tolerances.EXACT)


@each_kind
@pytest.mark.parametrize("name", ["g", "envelope", "bound"])
def test_ladders_change_no_curve(encoding, name):
    """e^{λ(a + b)} = e^{λa} e^{λb}: a long range of lags gives what its lags give alone."""
    lags = torch.arange(3, 3 + 7 * LONG, 7)
    some = [0, 1, 77, 78, LONG // 2, LONG - 1]
    curve, alone = CURVES[name](encoding, lags), CURVES[name](encoding, lags[some])
    assert curve.shape == (*encoding.rates.shape[:-1], LONG)
    sizes = envelope(encoding, lags[some]) + torch.finfo(torch.float64).tiny
    assert tolerances.within(curve[..., some], alone, 4 * tolerances.EXACT * sizes)


@pytest.mark.parametrize(
    "lags",
    [
        range(-LONG, LONG),
        range(LONG, 0, -1),
        torch.arange(LONG) / 3,
        [*range(LONG), 7],
        [5] * LONG,
        torch.arange(2 * LONG).reshape(2, 3, -1),
    ],
    ids=["behind", "falling", "real", "uneven", "equal", "shaped"],
)
def test_many_lags_of_any_kind(lags):
    lags = torch.as_tensor(np.asarray(lags))
    curve = decay_curve(xpos(8), lags)
    assert curve.shape == lags.shape
    for place in (0, 1, LONG // 2, -1):
        alone = decay_curve(xpos(8), lags.flatten()[place])
        assert curve.flatten()[place].item() == pytest.approx(alone.item(), rel=tolerances.EXACT)


@each_kind
def test_the_envelope_lies_above_the_curve_and_never_rises(encoding):
    lags = torch.arange(LONG)
    sizes, curve = envelope(encoding, lags), decay_curve(encoding, lags)
    allowed = tolerances.EXACT * sizes
    assert bool((curve.abs() <= sizes + allowed).all())
    assert bool((sizes.diff(dim=-1) <= allowed[..., 1:]).all())
    assert bool((sizes[..., 0] == encoding.rates.shape[-1]).all())


def test_the_envelope_of_rope_is_flat():
    assert envelope(rope(64), range(0, 10**6, 50)).tolist() == pytest.approx([32] * 20_000)


def test_behind_the_query_the_envelope_grows_beyond_float64():
    steep = xpos(8, scale_base=1.0)
    assert envelope(steep, [-1]) > 4
    assert envelope(steep, [-(2**53)]).item() == math.inf
    assert bound_curve(steep, [-1000, -(2**53)]).tolist() == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("lag", "expected"),
    [
        (0, 32.5),
        (1, 31.5382),
        (2, 28.956),
        (10, 17.9541),
        (50, 12.6295),
        (100, 10.2273),
        (128, 9.2729),
        (256, 6.5431),
    ],
)
def test_computed_values_of_the_bound(lag, expected):
    assert bound_curve(rope(128), lag).item() == pytest.approx(expected, abs=tolerances.BOUND)


def test_golden_bound():
    """RoFormer's bound, computed elsewhere in float64."""
    curve = bound_curve(rope(64), cases.golden()["curves/lags"]).numpy()
    expected = cases.golden()["curves/roformer_bound_d64_b10000"]
    assert abs(curve - expected).max() <= 32 * tolerances.EXACT


@each_kind
@pytest.mark.parametrize("lag", [0, 3, 250])
def test_the_bound_is_one(encoding, lag):
    """|Σ h_i e^{λ_i Δ}| ≤ d/2 · bound · max |h_{i+1} − h_i|, with h beyond the last pair zero."""
    h = torch.complex(*cases.normal(2, 4))
    response = lag_response(encoding, lag)
    steps = torch.cat([h, h[:1] * 0]).diff().abs().max()
    assert bool(((h * response).sum(-1).abs() <= 4 * bound_curve(encoding, lag) * steps).all())


@each_kind
def test_the_running_mean_is_a_mean(encoding):
    lags = [0, 1, 9, 200]
    means = running_mean(encoding, lags).reshape(-1, 4)
    for rates, row in zip(cases.heads_of(encoding), means, strict=True):
        curve = [reference.decay_curve(rates, lag) for lag in range(201)]
        expected = [math.fsum(curve[: lag + 1]) / (lag + 1) for lag in lags]
        assert row.tolist() == pytest.approx(expected, abs=4 * tolerances.EXACT)


def test_a_running_mean_is_carried_over_stretches():
    """Closed form: Σ_t cos(tθ) = sin((Δ + 1)θ/2)/sin(θ/2) · cos(Δθ/2), here with θ = 1."""
    lags = [65_535, 65_536, 200_000]
    expected = [math.sin((t + 1) / 2) / math.sin(0.5) * math.cos(t / 2) / (t + 1) for t in lags]
    assert running_mean(rope(2), lags).tolist() == pytest.approx(expected, abs=tolerances.EXACT)


@pytest.mark.parametrize(
    "lags", [range(5), range(4, -1, -1), [[3, 3], [0, 9]], 7, [], torch.arange(3)], ids=str
)
def test_a_running_mean_has_the_shape_and_the_order_of_the_lags(lags):
    places = torch.as_tensor(np.asarray(lags))
    means = running_mean(xpos(8), lags)
    assert means.shape == places.shape
    every = running_mean(xpos(8), range(10))
    assert torch.equal(means, every[places.long()])


@pytest.mark.parametrize(
    ("lags", "first"), [([-1], -1.0), ([0.5], 0.5), ([3, 1.5, 2.5], 1.5)], ids=str
)
def test_a_running_mean_counts_whole_lags(lags, first):
    assert message(running_mean, rope(8), lags) == (
        f"lags must be whole numbers ≥ 0 for a running mean, got {first}; "
        "use range(1024), for instance."
    )


@pytest.mark.parametrize(("head_dim", "first"), [(64, 725), (128, 1707)])
def test_the_first_negative_lag_of_rope(head_dim, first):
    assert first_negative_lag(rope(head_dim), limit=10**6) == first
    assert first_negative_lag(rope(head_dim), limit=first) == first
    assert first_negative_lag(rope(head_dim), limit=first - 1) is None


def test_the_first_negative_lag_beyond_the_first_stretch():
    """d = 2 with rates of one's own: cos(θΔ) falls below zero a quarter turn on."""
    theta = torch.tensor([math.pi / 2 / 150_000.5], dtype=torch.float64)
    slow = cases.Given("slow", 2, cases.Terms(theta, torch.zeros_like(theta)))
    assert first_negative_lag(slow, limit=150_000) is None
    assert first_negative_lag(slow, limit=10**6) == 150_001


def test_a_curve_that_is_never_negative_has_no_first_negative_lag():
    assert first_negative_lag(nope(64), limit=200_000) is None
    assert first_negative_lag(xpos(64), limit=2048) is None
    assert first_negative_lag(rope(64), limit=0) is None


def test_the_first_negative_lag_of_each_head():
    found = [first_negative_lag(cases.mixed_heads(64), limit=4096, head=head) for head in range(3)]
    alone = [xpos(64), xpos(64, base=100.0, scale_base=64.0), rope(64)]
    assert found == [first_negative_lag(encoding, limit=4096) for encoding in alone]
    assert found[2] == 725


@pytest.mark.parametrize("limit", [-1, 2.5, True, None, "9"])
def test_a_limit_is_a_whole_number(limit):
    assert message(first_negative_lag, rope(8), limit=limit) == (
        f"limit must be an integer ≥ 0, got {limit!r}; use 1024 tokens, for instance."
    )


@pytest.mark.parametrize(("encoding", "head"), [(rope(8), 1), (cases.mixed_heads(8), 3)], ids=repr)
def test_a_head_that_there_is_not(encoding, head):
    assert message(first_negative_lag, encoding, limit=9, head=head) == (
        f"head must be an integer ≥ 0, got {head}; use one below {head}, the number of heads."
    )


@settings(max_examples=25)
@given(cases.encodings(), st.floats(1e-6, 1))
def test_the_reach_is_the_last_lag_above_the_fraction(encoding, fraction):
    reach = envelope_reach(encoding, fraction).item()
    start = encoding.head_dim / 2
    if reach == math.inf:
        assert envelope(encoding, 2**53) >= fraction * start
    else:
        assert envelope(encoding, reach) >= fraction * start > envelope(encoding, reach + 1)


def test_reaches_of_known_encodings():
    assert envelope_reach(rope(64), 1.0).item() == math.inf
    assert envelope_reach(nope(64), 0.01).item() == math.inf
    assert envelope_reach(xpos(64), 1.0).item() == 0
    for fraction in (0.9, 0.5, 0.1):  # one pair: ζ^(Δ/B) = fraction
        expected = math.floor(512 * math.log(fraction) / math.log(0.4 / 1.4))
        assert envelope_reach(xpos(2), fraction).item() == expected


def test_heads_have_reaches_of_their_own():
    reaches = envelope_reach(cases.mixed_heads(8))
    alone = [xpos(8), xpos(8, base=100.0, scale_base=64.0), rope(8)]
    assert reaches.tolist() == [envelope_reach(encoding).item() for encoding in alone]


@pytest.mark.parametrize("fraction", [0, 1.5, -1, math.nan])
def test_a_fraction_is_a_share(fraction):
    assert message(envelope_reach, rope(8), fraction) == (
        f"fraction must be a number in (0, 1], got {fraction!r}; use 0.5 for one half."
    )


@pytest.mark.parametrize("lags", [[0, 1, 10], [[0, 1], [2, -3]], 7, []], ids=str)
def test_a_bias_is_a_curve_over_the_same_lags(lags):
    distance = torch.as_tensor(np.asarray(lags, dtype=float))
    assert torch.equal(bias_curve(cases.biased(8, 0.5), lags), -0.5 * distance.abs())
    by_head = bias_curve(cases.biased(8, 0.5, 0.25), lags)
    assert torch.equal(by_head, torch.stack([-0.5 * distance.abs(), -0.25 * distance.abs()]))
    assert torch.equal(bias_curve(xpos(8), lags), torch.zeros_like(distance))


@each_kind
def test_a_table_of_curves_holds_what_the_curves_give(encoding):
    lags = [0, 3, 10]
    table = curve_table([rope(8), encoding], lags)
    assert table.columns.tolist() == ["encoding", "head", "lag", *CURVES]
    table = table[3:]
    heads = len(table) // 3
    assert set(table["encoding"]) == {repr(encoding)}
    assert table["head"].tolist() == [head for head in range(heads) for _ in lags]
    assert table["lag"].tolist() == lags * heads
    for name, curve in CURVES.items():
        values = curve(encoding, lags).reshape(-1, 3)
        assert table[name].tolist() == values.expand(heads, 3).flatten().tolist()
    assert heads == max(len(curve(encoding, lags).reshape(-1, 3)) for curve in CURVES.values())


def test_a_table_has_the_curves_that_are_asked_for():
    assert curve_table([rope(8)], [0.5], ["envelope"]).columns.tolist()[3:] == ["envelope"]
    empty = curve_table([], [0.5])
    assert [empty[name].dtype.kind for name in ("head", "lag", "bias")] == ["i", "f", "f"]


def test_an_unknown_curve_lists_the_curves():
    assert message(curve_table, [rope(8)], [0], ["decay"]) == (
        "unknown curve 'decay'; use one of: g, envelope, running_mean, bound, bias."
    )


@pytest.mark.parametrize("encoding", [rope(8), xpos(8), xpos(8, scale_base=2.0)], ids=repr)
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_score_is_within_abels_bound(encoding, seed):
    """Also for q = k = ones, where only the step from the last pair to zero is not zero."""
    q, k = (torch.ones(8).double() if seed is None else cases.normal(8, seed=s) for s in (seed, 9))
    pairs = torch.view_as_complex(q.view(-1, 2)) * torch.view_as_complex(k.view(-1, 2)).conj()
    step = torch.cat([pairs, torch.zeros(1)]).diff().abs().max()
    lags = range(50)
    scores = attention_scores(q[None], k.expand(50, 8), encoding, **cases.at([49], range(50)))
    bound = 4 * bound_curve(encoding, lags) * step
    assert bool((scores[0].flip(0).abs() <= bound * (1 + tolerances.EXACT)).all())

"""Where numbers end: long texts, far offsets, fast decay, the growing side, gradients."""

import math

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import (
    apply_encoding,
    attention_logits,
    attention_scores,
    attention_weights,
    kernel,
    nope,
    rope,
    xpos,
)
from xpos_viz.kernel import SCORE_ERROR

each_dtype = pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
FAST = [
    xpos(8, scale_base=1.0),
    xpos(8, gamma=1e-6, scale_base=8.0),
    xpos(8, gamma=1e-6, scale_base=0.01),
]
HARSH = [*FAST, xpos(8, scale_base=16.0), xpos(2, scale_base=4.0), xpos(64, scale_base=1.0)]


def assert_true(score, q, k, lag, encoding, span, layout="interleaved"):
    """A score is its true value to within the promise, or ±inf of the true sign beyond the dtype.

    Where the terms of the sum exceed the dtype and yet cancel to a number, either will do.
    `span` is the longest distance between any two tokens of the same call.
    """
    rates = cases.oracle_rates(encoding)
    mantissa, exponent, size = reference.scaled_score(q, k, lag, rates, layout)
    assert not math.isnan(score)
    if size == 0:
        assert score == 0
        return
    limit = math.log(torch.finfo(q.dtype).max)
    unit = tolerances.allowance(q.dtype, rates, span, 1.0, SCORE_ERROR)
    sign_is_known = abs(mantissa) > unit * size
    if sign_is_known and math.log(abs(mantissa)) + exponent > limit + unit:
        assert score == math.copysign(math.inf, mantissa)
    elif math.isinf(score):
        assert math.log(size) + exponent > limit - math.log(4)
        assert math.copysign(1.0, score) == math.copysign(1.0, mantissa) or not sign_is_known
    else:
        true, sizes = (reference.times_exp(value, exponent) for value in (mantissa, size))
        allowed = tolerances.allowance(q.dtype, rates, span, sizes, SCORE_ERROR)
        assert abs(score - true) <= allowed


def assert_sampled_cells_are_true(scores, q, k, m, n, encoding, count=400):
    """Some cells against the oracle: the corners, the diagonal, and seeded others."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(len(m), (count,), generator=generator).tolist()
    columns = torch.randint(len(n), (count,), generator=generator).tolist()
    ends = [(row, column) for row in (0, len(m) - 1) for column in (0, len(n) - 1)]
    diagonal = [(i, i) for i in range(0, min(len(m), len(n)), max(1, len(n) // 40))]
    everywhere = [float(position) for position in (*m, *n)]
    span = max(everywhere) - min(everywhere)
    for row, column in [*ends, *diagonal, *zip(rows, columns, strict=True)]:
        lag = float(m[row]) - float(n[column])
        assert_true(scores[row, column].item(), q[row], k[column], lag, encoding, span)


@each_dtype
@pytest.mark.parametrize("encoding", HARSH, ids=repr)
def test_every_cell_is_true_or_infinite_with_the_true_sign(encoding, dtype):
    q, k = cases.normal(2, 600, encoding.head_dim, dtype=dtype)
    scores = attention_scores(q, k, encoding)
    assert not scores.isnan().any()
    assert scores.tril().isfinite().all()
    growth = -float(encoding.log_decay.min()) * 500
    assert scores.isinf().any() or growth < math.log(torch.finfo(dtype).max)
    at = torch.arange(600)
    assert_sampled_cells_are_true(scores, q, k, at, at, encoding)


@given(
    cases.encodings(head_dims=(2, 4, 8), scale_bases=(0.01, 1e6)),
    st.integers(1, 50),
    st.integers(0, 2**32 - 1),
    st.sampled_from(cases.DTYPES),
    st.integers(0, 4000),
    st.floats(0, 0.9),
)
def test_any_cell_is_true_or_infinite_with_the_true_sign(
    encoding, tokens, seed, dtype, spread, emptiness
):
    """At any positions, in any order, with any share of empty features."""
    q, k = cases.normal(2, tokens, encoding.head_dim, seed=seed, dtype=dtype)
    generator = torch.Generator().manual_seed(seed)
    for x in (q, k):
        x[torch.rand(x.shape, generator=generator) < emptiness] = 0
    m, n = torch.randint(spread + 1, (2, tokens), generator=generator)
    scores = attention_scores(q, k, encoding, **cases.at(m, n))
    assert_sampled_cells_are_true(scores, q, k, m, n, encoding, count=60)


@each_dtype
@pytest.mark.parametrize("silent", [[0], [0, 1, 2], range(1, 4), range(4)], ids=str)
@pytest.mark.parametrize("encoding", FAST, ids=repr)
def test_pairs_without_content_do_not_hide_the_others(encoding, silent, dtype):
    """Pair 0 grows fastest; where it is empty, the next one decides between value and ±inf."""
    q, k = cases.normal(2, 300, 8, dtype=dtype)
    for pair in silent:
        q[::2, 2 * pair : 2 * pair + 2] = 0
        k[::3, 2 * pair : 2 * pair + 2] = 0
    scores = attention_scores(q, k, encoding)
    at = torch.arange(300)
    assert_sampled_cells_are_true(scores, q, k, at, at, encoding)
    assert not scores.isnan().any()
    if len(silent) == 4:
        assert not scores[::2].any()
        assert not scores[:, ::3].any()


@each_dtype
def test_rows_of_zeros_give_zeros(dtype):
    """Padding: 0 times any growth is 0."""
    q, k = cases.normal(2, 100, 8, dtype=dtype)
    q[10], k[90] = 0, 0
    for encoding in (*HARSH[:4], xpos(8), rope(8), nope(8)):
        scores = attention_scores(q, k, encoding)
        assert not scores[10].any()
        assert not scores[:, 90].any()


def exact_score(q, k, lag, encoding):
    """s and Σ |q_i||k_i| ζ_i^(Δ/B) to 60 digits, the float64 rates taken as they are."""
    a, b = (reference.pairs(x, "interleaved") for x in (q, k))
    score, size = mpmath.mpf(0), mpmath.mpf(0)
    with mpmath.workdps(60):
        for content_q, content_k, rate in zip(a, b, encoding.rates.tolist(), strict=True):
            turned = mpmath.mpc(content_q) * mpmath.exp(mpmath.mpc(rate) * lag)
            term = turned * mpmath.mpc(content_k).conjugate()
            score, size = score + term.real, size + abs(term)
    return score, size


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9], ids="{:g}".format)
@pytest.mark.parametrize("encoding", [rope(16), xpos(16), xpos(16, scale_base=1e6)], ids=repr)
def test_float64_scores_keep_the_promise_at_any_distance(encoding, far):
    """At whole positions λ·Δ can be had to more than float64's digits, and 10^9 rad needs it."""
    q, k = cases.normal(2, 12, 16)
    spread = torch.rand(2, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    m, n = (spread * far).round().tolist()
    scores = attention_scores(q, k, encoding, **cases.at(m, n))
    limits = torch.finfo(torch.float64)
    for row, column in (torch.tensor(m)[:, None] >= torch.tensor(n)).nonzero().tolist():
        lag = mpmath.mpf(m[row]) - mpmath.mpf(n[column])
        true, size = exact_score(q[row], k[column], lag, encoding)
        allowed = SCORE_ERROR * limits.eps * size + limits.tiny
        assert abs(scores[row, column].item() - true) <= allowed


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e18], ids="{:g}".format)
def test_faint_and_loud_content(scale):
    """How large q and k are must not decide whether a product of factors overflows."""
    for encoding in (xpos(8, scale_base=16.0), xpos(8, scale_base=0.5), xpos(8)):
        q, k = scale * cases.normal(2, 200, 8, dtype=torch.float32)
        scores = attention_scores(q, k, encoding)
        at = torch.arange(200)
        assert_sampled_cells_are_true(scores, q, k, at, at, encoding)


def test_a_million_tokens():
    """B = 64 in float32: queries at both ends and in the middle against a million keys."""
    encoding, last = xpos(8, scale_base=64.0), 999_999
    k = cases.normal(last + 1, 8, dtype=torch.float32)
    q = cases.normal(3, 8, seed=1, dtype=torch.float32)
    m = [0, 500_000, last]
    scores = attention_scores(q, k, encoding, query_positions=m)
    assert not scores.isnan().any()
    for row, position in enumerate(m):
        assert scores[row, : position + 1].isfinite().all()
        for lag in (0, 1, 63, 4000, 20_000, 400_000, -1, -63, -4000, -20_000):
            if 0 <= position - lag <= last:
                score = scores[row, position - lag].item()
                assert_true(score, q[row], k[position - lag], lag, encoding, last)
    decoded = attention_scores(q[-1:], k, encoding)  # by default the query is the last token
    assert torch.allclose(decoded, scores[-1:], atol=tolerances.FLOAT32_WEIGHTS)


@each_dtype
@pytest.mark.parametrize("encoding", [rope(8), xpos(8), *HARSH[:4]], ids=repr)
@pytest.mark.parametrize("offset", [10**9, -(10**9), 2**40])
def test_an_offset_costs_nothing(encoding, offset, dtype):
    q, k = cases.normal(2, 80, 8, dtype=dtype)
    here = torch.arange(80)
    scores = attention_scores(q, k, encoding, **cases.at(here))
    there = cases.at(here + offset)
    assert torch.equal(scores, attention_scores(q, k, encoding, **there))
    if encoding == rope(8):
        expected = apply_encoding(q, k, encoding)
        moved = apply_encoding(q, k, encoding, origin=float(offset), **there)
        assert all(torch.equal(a, b) for a, b in zip(expected, moved, strict=True))


@each_dtype
def test_scattered_positions_in_one_batch(dtype):
    """Clusters far apart: packed texts, where positions jump and come back."""
    encoding = xpos(8, scale_base=2.0)
    at = torch.cat([torch.arange(40), 10**6 + torch.arange(40), torch.arange(40) + 20])
    q, k = cases.normal(2, 120, 8, dtype=dtype)
    scores = attention_scores(q, k, encoding, **cases.at(at))
    assert not scores.isnan().any()
    assert_sampled_cells_are_true(scores, q, k, at, at, encoding)


@pytest.mark.parametrize("encoding", HARSH, ids=repr)
def test_many_tokens_at_one_position(encoding):
    """Nothing to halve: every lag is 0 or one far jump."""
    q, k = cases.normal(2, 150, encoding.head_dim, dtype=torch.float32)
    at = torch.tensor([7] * 75 + [5000] * 75)
    scores = attention_scores(q, k, encoding, **cases.at(at))
    assert_sampled_cells_are_true(scores, q, k, at, at, encoding)


@pytest.mark.parametrize("heads", [(2,), (2, 3)], ids=str)
def test_overflow_in_one_head_does_not_touch_another(heads):
    encoding = xpos(8, scale_base=1.0)
    q, k = cases.normal(2, *heads, 150, 8, dtype=torch.float32)
    q[0] *= 1e-20
    scores = attention_scores(q, k, encoding).flatten(0, -3)
    at = torch.arange(150)
    for table, queries, keys in zip(scores, q.flatten(0, -3), k.flatten(0, -3), strict=True):
        assert_sampled_cells_are_true(table, queries, keys, at, at, encoding, count=100)


GRADED = [rope(4), xpos(4), xpos(4, scale_base=1.0), xpos(4, gamma=1e-6, scale_base=0.01)]


@pytest.mark.parametrize("encoding", GRADED, ids=repr)
def test_gradients_of_causal_scores(encoding):
    """Analytic against numerical gradients, with acausal cells beyond float64 in the last one."""
    q, k = (x.requires_grad_() for x in cases.normal(2, 2, 5, 4).unbind())
    torch.autograd.gradcheck(lambda q, k: attention_scores(q, k, encoding).tril(), (q, k))


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("function", [attention_scores, apply_encoding])
def test_gradients_of_grouped_heads(function, layout):
    q = cases.normal(4, 3, 4).requires_grad_()
    k = cases.normal(2, 3, 4, seed=1).requires_grad_()
    torch.autograd.gradcheck(lambda q, k: function(q, k, xpos(4), layout=layout), (q, k))


def causal_weights(q, k, rates):
    """Weights in lag form, written so that nothing can overflow: acausal lags count as 0."""
    lags = torch.arange(len(q), dtype=torch.float64)[:, None] - torch.arange(len(k))
    response = (torch.tensor(rates) * lags.clamp(min=0)[..., None]).exp()
    pairs_q, pairs_k = (torch.view_as_complex(x.unflatten(-1, (-1, 2))) for x in (q, k))
    scores = (pairs_q[:, None] * pairs_k.conj() * response).real.sum(-1) / q.shape[-1] ** 0.5
    return scores.masked_fill(lags < 0, -torch.inf).softmax(-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("encoding", FAST, ids=repr)
def test_gradients_of_weights_are_right_where_masked_cells_overflow(encoding, dtype):
    """The masked half is full of infinities; 0 · inf must not reach q and k."""
    values = cases.normal(2, 600, 8)
    values[:, ::7, :2] = 0
    upstream = cases.normal(600, 600, seed=2)
    q, k = (x.to(dtype).requires_grad_() for x in values.unbind())
    scores = attention_scores(q, k, encoding)
    assert scores.isinf().any()
    weights = attention_weights(attention_logits(scores, encoding))
    (weights * upstream.to(dtype)).sum().backward()
    slow_q, slow_k = (x.detach().double().requires_grad_() for x in (q, k))
    expected = causal_weights(slow_q, slow_k, cases.oracle_rates(encoding))
    (expected * upstream).sum().backward()
    assert torch.allclose(weights.double(), expected, rtol=0, atol=tolerances.FLOAT32_WEIGHTS * 5)
    for x, slow in ((q, slow_q), (k, slow_k)):
        assert cases.gradient(x).isfinite().all()
        assert torch.allclose(
            cases.gradient(x).double(), cases.gradient(slow), atol=tolerances.FLOAT32_WEIGHTS * 50
        )


def test_far_from_the_origin_a_factor_may_end_but_scores_do_not():
    """The reason for tiles: the plain factor form of float32 ends at 4532 tokens for B = 64."""
    encoding = xpos(4, scale_base=64.0)
    x = torch.tensor([[1.0, 0.0, 1.0, 0.0]])
    for turns, ends in ((721, False), (722, True)):  # whole turns of pair 0: its cosine is 1
        at = cases.at([turns * math.tau])
        _, turned = apply_encoding(x, x, encoding, **at)
        assert bool(turned.isfinite().all()) is not ends
        assert attention_scores(x, x, encoding, **at).item() == pytest.approx(2.0)


def test_keys_before_all_queries_are_one_product(monkeypatch):
    """The end of a long text: steep decay cuts what is near its queries, and no more."""
    taken = []

    def counted(q, k, rates, m, n):
        taken.append((len(m), len(n)))
        return product(q, k, rates, m, n)

    product = kernel._product
    monkeypatch.setattr(kernel, "_product", counted)
    encoding, where = xpos(8, scale_base=8.0), torch.arange(1792, 2048)
    q, k = (cases.normal(n, 8, seed=n, dtype=torch.float32) for n in (256, 2048))
    scores = attention_scores(q, k, encoding, **cases.at(where, torch.arange(2048)))
    assert [sizes for sizes in taken if min(sizes)] == [(256, 1793), (256, 255)]
    for row, column in ((0, 0), (255, 1792), (100, 1892)):
        lag = int(where[row]) - column
        pair = q[row].tolist(), k[column].tolist()
        expected = reference.score(*pair, lag, reference.xpos(8, scale_base=8.0))
        assert scores[row, column].item() == pytest.approx(expected, rel=1e-5)


def test_few_cells_are_summed_one_by_one_however_many_the_heads(monkeypatch):
    """Steep decay in many heads: a tile near the diagonal is cut until its cells are few."""
    taken = []

    def counted(q, k, rates, m, n):
        taken.append(len(q) * len(m) * len(n))
        return cell_by_cell(q, k, rates, m, n)

    cell_by_cell = kernel._cell_by_cell
    monkeypatch.setattr(kernel, "_cell_by_cell", counted)
    encoding = xpos(4, gamma=0.01, scale_base=0.02)
    q, k = cases.normal(2, 64, 48, 4)
    scores = attention_scores(q, k, encoding)
    assert 0 < max(taken) <= kernel._LEAF**2
    for head in (0, 63):
        alone = attention_scores(q[head], k[head], encoding)
        assert torch.allclose(scores[head], alone, rtol=1e-9, atol=1e-12, equal_nan=True)

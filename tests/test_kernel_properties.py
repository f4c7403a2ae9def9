"""Properties of the formula, for any encoding that hypothesis can think of."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import apply_encoding, attention_scores, nope, rope, xpos
from xpos_viz.encoding import decay
from xpos_viz.kernel import SCORE_ERROR

seeds = st.integers(0, 2**32 - 1)
layouts = st.sampled_from(cases.LAYOUTS)
dtypes = st.sampled_from(cases.DTYPES)
lengths = st.integers(1, 16)


def inputs(encoding, queries, keys, seed, dtype=torch.float64):
    """Queries and keys of that width."""
    both = cases.normal(queries + keys, encoding.head_dim, seed=seed, dtype=dtype)
    return both[:queries], both[queries:]


def bounds(q, k, encoding, m, n, layout="interleaved"):
    """Σ |q_i||k_i| ζ_i^(Δ/B) of every cell, by the oracle."""
    rates = cases.oracle_rates(encoding)
    return torch.from_numpy(reference.matrix(reference.bound, q, k, m, n, rates, layout))


def test_the_promised_error_is_a_small_one():
    """C counts roundings: two factors, two complex products, a sum. A large C proves nothing."""
    assert 1 <= SCORE_ERROR <= 16


@given(cases.encodings(), lengths, lengths, seeds, dtypes, layouts, st.integers(0, 10**6))
def test_error_of_causal_scores_is_within_the_promise(
    encoding, queries, keys, seed, dtype, layout, spread
):
    """|error| ≤ C·eps·Σ |q_i||k_i| ζ_i^(Δ/B), at lags up to a million."""
    q, k = inputs(encoding, queries, keys, seed, dtype)
    steps = torch.Generator().manual_seed(seed)
    n = torch.randint(0, spread + 1, (keys,), generator=steps).tolist()
    m = torch.randint(0, spread + 1, (queries,), generator=steps).tolist()
    scores = attention_scores(q, k, encoding, layout=layout, **cases.at(m, n)).double()
    assert not scores.isnan().any()
    rates = cases.oracle_rates(encoding)
    for row, column in torch.tensor(m).sub(torch.tensor(n)[:, None]).mT.ge(0).nonzero().tolist():
        cell = (q[row], k[column], m[row] - n[column], rates, layout)
        allowed = tolerances.allowance(dtype, rates, spread, reference.bound(*cell), SCORE_ERROR)
        assert abs(scores[row, column].item() - reference.score(*cell)) <= allowed


@given(cases.encodings(), lengths, seeds, st.integers(-(10**9), 10**9), layouts)
def test_shifting_all_positions_changes_nothing(encoding, tokens, seed, shift, layout):
    q, k = inputs(encoding, tokens, tokens, seed)
    here = torch.arange(tokens)
    still = attention_scores(q, k, encoding, layout=layout, **cases.at(here))
    moved = attention_scores(q, k, encoding, layout=layout, **cases.at(here + shift))
    assert torch.equal(still, moved)


@given(
    cases.encodings().filter(lambda encoding: not encoding.log_decay.any()),
    lengths,
    seeds,
    layouts,
    st.integers(0, 5000),
)
def test_what_does_not_decay_keeps_norms(encoding, tokens, seed, layout, origin):
    q, k = inputs(encoding, tokens, tokens, seed)
    turned = apply_encoding(q, k, encoding, layout=layout, origin=float(origin))
    for before, after in zip((q, k), turned, strict=True):
        assert torch.allclose(before.norm(dim=-1), after.norm(dim=-1), rtol=tolerances.EXACT)


@given(st.integers(1, 16), cases.positive(1.0, 1e7), cases.positive(0.01, 10.0), lengths, seeds)
def test_xpos_without_end_is_rope(pairs, base, gamma, tokens, seed):
    """ζ^(Δ/B) is 1 to within |ln ζ|·L/B, here below 5·16/10^16; and decay alone is nothing."""
    width = 2 * pairs
    for far, plain in (
        (xpos(width, base=base, gamma=gamma, scale_base=1e16), rope(width, base=base)),
        (decay(width, gamma=gamma, scale_base=1e16), nope(width)),
    ):
        q, k = inputs(plain, tokens, tokens, seed)
        sizes = q.norm(dim=-1)[:, None] * k.norm(dim=-1)
        limit, rotated = attention_scores(q, k, far), attention_scores(q, k, plain)
        assert tolerances.within(limit, rotated, tolerances.EXACT * sizes)


@given(cases.encodings(scale_bases=(0.01, 1e9)), lengths, seeds, layouts)
def test_at_lag_zero_a_score_is_the_product_of_query_and_key(encoding, tokens, seed, layout):
    q, k = inputs(encoding, tokens, tokens, seed)
    scores = attention_scores(q, k, encoding, layout=layout).diagonal()
    assert torch.allclose(scores, (q * k).sum(-1), rtol=0, atol=tolerances.EXACT * 16)


@given(cases.encodings(), lengths, lengths, seeds)
def test_half_is_interleaved_after_a_permutation_of_columns(encoding, queries, keys, seed):
    q, k = inputs(encoding, queries, keys, seed)
    columns = [*range(0, encoding.head_dim, 2), *range(1, encoding.head_dim, 2)]
    at = cases.at(range(queries), range(keys))
    plain = attention_scores(q, k, encoding, layout="interleaved", **at)
    half = attention_scores(q[:, columns], k[:, columns], encoding, layout="half", **at)
    sizes = bounds(q, k, encoding, range(queries), range(keys))
    assert tolerances.within(plain, half, tolerances.EXACT * sizes)
    turned = apply_encoding(q, k, encoding, layout="interleaved", **at)
    turned_half = apply_encoding(q[:, columns], k[:, columns], encoding, layout="half", **at)
    for x, x_half in zip(turned, turned_half, strict=True):
        assert torch.allclose(x[:, columns], x_half, rtol=tolerances.EXACT)


@given(cases.encodings(), lengths, seeds, st.randoms(use_true_random=False))
def test_the_order_of_tokens_does_not_matter_to_their_scores(encoding, tokens, seed, random):
    """Positions need not ascend, and may repeat."""
    q, k = inputs(encoding, tokens, tokens, seed)
    m, n = ([random.randrange(60) for _ in range(tokens)] for _ in "qk")
    rows, columns = (random.sample(range(tokens), tokens) for _ in "qk")
    scores = attention_scores(q, k, encoding, **cases.at(m, n))
    at = cases.at([m[i] for i in rows], [n[i] for i in columns])
    shuffled = attention_scores(q[rows], k[columns], encoding, **at)
    allowed = tolerances.EXACT * bounds(q, k, encoding, m, n)[rows][:, columns]
    assert tolerances.within(shuffled, scores[rows][:, columns], allowed)


@given(
    cases.encodings(scale_bases=(64.0, 1e9)),
    st.lists(st.floats(-500, 500, allow_subnormal=False), min_size=1, max_size=6),
    seeds,
)
def test_positions_may_be_real(encoding, positions, seed):
    q, k = inputs(encoding, len(positions), len(positions), seed)
    scores = attention_scores(q, k, encoding, **cases.at(positions))
    rates = cases.oracle_rates(encoding)
    expected = reference.matrix(reference.score, q, k, positions, positions, rates)
    allowed = tolerances.EXACT * bounds(q, k, encoding, positions, positions)
    assert tolerances.within(scores, torch.from_numpy(expected), allowed)


@given(cases.encodings(), lengths, seeds, st.sampled_from([0.25, 4.0, -2.0]))
def test_scores_are_linear_in_queries_and_in_keys(encoding, tokens, seed, factor):
    q, k = inputs(encoding, tokens, tokens, seed)
    expected = factor * attention_scores(q, k, encoding)
    allowed = tolerances.EXACT * abs(factor) * bounds(q, k, encoding, range(tokens), range(tokens))
    assert tolerances.within(attention_scores(factor * q, k, encoding), expected, allowed)
    assert tolerances.within(attention_scores(q, factor * k, encoding), expected, allowed)

"""What to expect of a score: closed forms against algebra and against random numbers."""

import math

import numpy as np
import pytest
import torch

from tests import cases, reference, tolerances
from xpos_viz import attention_scores, decay_curve, rope, xpos
from xpos_viz.curves import Captured, Normal, Ones, expected_table

each_kind = pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)
LAGS = [0, 1, 5, 200]


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def form(encoding, lag):
    """The matrix A of a score qᵀAk at one lag, (…, d, d): scores of all pairs of unit vectors."""
    heads = encoding.rates.shape[:-1]
    units = torch.eye(encoding.head_dim, dtype=torch.float64).expand(*heads, -1, -1)
    at = cases.at([lag] * encoding.head_dim, [0] * encoding.head_dim)
    return attention_scores(units, units, encoding, **at)


@each_kind
def test_ones_are_expected_to_give_their_score(encoding):
    expected = Ones().scores(encoding, LAGS)
    assert torch.equal(expected.mean, 2 * decay_curve(encoding, LAGS))
    assert not expected.deviation.any()
    assert expected.deviation.shape == expected.mean.shape
    assert expected.count.tolist() == [1] * 4
    for place, lag in enumerate(LAGS):
        score = form(encoding, lag).sum((-2, -1))
        assert torch.allclose(expected.mean[..., place], score, atol=16 * tolerances.EXACT)


@each_kind
@pytest.mark.parametrize("rho", [-1.0, -0.3, 0.0, 0.6, 1.0])
def test_moments_of_a_bilinear_form(encoding, rho):
    """For normal q and k = ρq + …: E qᵀAk = ρ tr A, Var = |A|² + ρ² tr A² (Isserlis 1918)."""
    expected = Normal(rho).scores(encoding, LAGS)
    assert expected.count.tolist() == [1] * 4
    for place, lag in enumerate(LAGS):
        a = form(encoding, lag)
        trace, square = (x.diagonal(dim1=-2, dim2=-1).sum(-1) for x in (a, a @ a))
        variance = a.square().sum((-2, -1)) + rho**2 * square
        mean, spread = expected.mean[..., place], expected.deviation[..., place]
        assert torch.allclose(mean, rho * trace, atol=32 * tolerances.EXACT)
        assert torch.allclose(spread.square(), variance, atol=32 * tolerances.EXACT)


@pytest.mark.parametrize("rho", [0.0, 0.6, -0.9])
@pytest.mark.parametrize("encoding", [rope(8), xpos(8, scale_base=64.0)], ids=repr)
@pytest.mark.parametrize("lag", [0, 3, 40])
def test_random_vectors_do_what_is_expected(encoding, rho, lag):
    """40,000 seeded pairs of vectors, scored by the oracle's rates."""
    draws = np.random.default_rng(lag).standard_normal((2, 40_000, 4, 2))
    q, other = draws[..., 0] + 1j * draws[..., 1]
    k = rho * q + math.sqrt(1 - rho**2) * other
    factors = np.exp(np.array(cases.oracle_rates(encoding)) * lag)
    scores = (q * k.conj() * factors).real.sum(-1)
    expected = Normal(rho).scores(encoding, lag)
    deviation = expected.deviation.item()
    error = tolerances.SAMPLES * deviation / math.sqrt(len(scores))
    assert scores.mean() == pytest.approx(expected.mean.item(), abs=error)
    assert scores.std() == pytest.approx(deviation, rel=tolerances.SPREAD)


def test_noise_of_rope_does_not_fall_and_that_of_xpos_does():
    """Independent vectors have no mean at any lag: a decay of their mean would be noise."""
    lags = torch.arange(0, 4096, 16)
    rope_noise, xpos_noise = (Normal().scores(e, lags) for e in (rope(64), xpos(64)))
    assert not rope_noise.mean.any()
    assert not xpos_noise.mean.any()
    assert rope_noise.deviation.tolist() == pytest.approx([8.0] * len(lags))
    assert bool((xpos_noise.deviation.diff() < 0).all())


def test_behind_the_query_noise_grows_beyond_float64_and_is_no_nan():
    expected = Normal(0.5).scores(xpos(8, scale_base=1.0), range(-2000, 0))
    assert not expected.deviation.isnan().any()
    assert expected.deviation[0] == math.inf
    assert not Normal().scores(xpos(8, scale_base=1.0), [-2000]).mean.any()


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@each_kind
def test_captured_scores_are_diagonals_of_the_matrix(encoding, layout):
    heads = (encoding.heads,) if encoding.heads else ()
    q, k = cases.normal(2, *heads, 9, 8), cases.normal(2, *heads, 12, 8, seed=1)
    lags = [0, 1, 5, 11, -2]
    expected = Captured(q, k, layout).scores(encoding, lags)
    scores = attention_scores(q, k, encoding, layout=layout)
    assert expected.mean.shape == expected.deviation.shape == (2, *heads, 5)
    matrices = scores.reshape(-1, 9, 12)
    for matrix, means, spreads in zip(
        matrices, expected.mean.reshape(-1, 5), expected.deviation.reshape(-1, 5), strict=True
    ):
        by_lag = reference.diagonals(matrix, np.ones((9, 12)), range(3, 12), range(12))
        for lag, mean, spread in zip(lags, means.tolist(), spreads.tolist(), strict=True):
            true = reference.mean_and_deviation(by_lag[lag])
            assert (mean, spread) == pytest.approx(true, abs=100 * tolerances.EXACT)
        assert expected.count.tolist() == [len(by_lag[lag]) for lag in lags]


def test_captured_key_heads_are_shared_and_half_precision_is_summed_in_float64():
    q, k = cases.normal(4, 6, 8, dtype=torch.float16), cases.normal(2, 6, 8, dtype=torch.float16)
    shared = Captured(q, k).scores(xpos(8), range(6))
    alone = Captured(q.double(), k.double().repeat_interleave(2, 0)).scores(xpos(8), range(6))
    assert torch.allclose(shared.mean, alone.mean, atol=1e-5)  # pairs are read as float32
    assert shared.mean.dtype == shared.deviation.dtype == torch.float64


def test_vectors_of_a_model_in_training_have_a_table_too():
    q = cases.normal(4, 8).requires_grad_()
    table = expected_table([rope(8)], [Captured(q, q)], [0])
    assert table["mean"].tolist() == pytest.approx([q.square().sum(-1).mean().item()])


def test_a_diagonal_that_there_is_not_is_nan():
    text = Captured(torch.ones(3, 8), torch.ones(5, 8))
    expected = text.scores(rope(8), [-3, -2, 4, 5, 10**9, -(10**9)])
    assert expected.mean.isnan().tolist() == [True, False, False, True, True, True]
    assert expected.deviation.isnan().tolist() == expected.mean.isnan().tolist()
    assert expected.count.tolist() == [0, 1, 1, 0, 0, 0]
    assert text.scores(rope(8), []).mean.shape == (0,)
    assert text.scores(rope(8), [[0, 1]]).mean.shape == (1, 2)
    assert text.scores(rope(8), 0).mean.shape == ()


def test_assumptions_say_themselves_in_words():
    text = Captured(torch.ones(3, 8), torch.ones(5, 8))
    assert [a.words for a in (Ones(), Normal(), Normal(0.0), Normal(-0.25), text)] == [
        "q = k = ones",
        "q and k standard normal, independent",
        "q and k standard normal, independent",
        "q and k standard normal with correlation ρ = -0.25",
        "captured q and k, averaged over 3 queries and 5 keys",
    ]


def test_assumptions_are_values():
    assert Ones() == Ones()
    assert len({Normal(), Normal(0.0), Normal(0.5), Ones()}) == 3


@pytest.mark.parametrize("rho", [1.5, -1.01, math.nan, math.inf])
def test_a_correlation_is_a_correlation(rho):
    assert message(Normal, rho) == (
        f"rho must be a correlation in [−1, 1], got {rho!r}; use 0.0 for independence."
    )


def test_captured_vectors_must_fit_and_have_whole_lags():
    wrong = Captured(torch.ones(3, 6), torch.ones(3, 6))
    assert "use an encoding of its width" in message(wrong.scores, rope(8), [0])
    right = Captured(torch.ones(3, 8), torch.ones(3, 8))
    assert message(right.scores, rope(8), [0.5]) == (
        "lags must be whole numbers for captured q and k, got 0.5; use range(1024), for instance."
    )


def test_a_table_of_expectations_is_tidy():
    text = Captured(cases.normal(3, 4, 8), cases.normal(3, 4, 8, seed=1), name="noise")
    encodings, assumptions = [rope(8), cases.mixed_heads(8)], [Normal(0.5), text]
    table = expected_table(encodings, assumptions, [0, 2])
    assert table.columns.tolist() == [
        "encoding",
        "assumption",
        "head",
        "lag",
        "mean",
        "deviation",
        "count",
    ]
    assert len(table) == 2 * (1 + 3 + 3 + 3)
    for encoding in encodings:
        for assumption in assumptions:
            rows = table[
                (table["encoding"] == repr(encoding)) & (table["assumption"] == assumption.words)
            ]
            expected = assumption.scores(encoding, [0, 2])
            assert rows["mean"].tolist() == expected.mean.flatten().tolist()
            assert rows["deviation"].tolist() == expected.deviation.flatten().tolist()
            assert rows["count"].tolist() == expected.count.tolist() * (len(rows) // 2)
            assert rows["head"].tolist() == [h for h in range(len(rows) // 2) for _ in range(2)]
            assert rows["lag"].tolist() == [0, 2] * (len(rows) // 2)
    empty = expected_table([], assumptions, [0])
    assert len(empty) == 0
    assert empty["mean"].dtype == np.float64

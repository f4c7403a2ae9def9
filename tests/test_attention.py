"""From scores to logits to weights; and the attention of a real model."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import xpos_viz
from tests import cases, reference, tolerances
from xpos_viz import (
    attention_logits,
    attention_scores,
    attention_weights,
    nope,
    rope,
    xpos,
)
from xpos_viz.encoding import alibi

SAMPLES = sorted((Path(xpos_viz.__file__).parent / "inputs" / "samples").glob("*.npz"))


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_logits_are_scores_over_the_root_of_the_width():
    scores = cases.normal(2, 5, 5)
    logits = attention_logits(scores, xpos(16), mask="none")
    assert torch.allclose(logits, scores / 4, rtol=tolerances.EXACT)


@pytest.mark.parametrize("scale", [1.0, 0.25, 3])
def test_a_scale_takes_the_place_of_the_root(scale):
    scores = cases.normal(5, 5)
    logits = attention_logits(scores, rope(16), mask="none", scale=scale)
    assert torch.equal(logits, scores * scale)


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_dtype_is_kept(dtype):
    logits = attention_logits(cases.normal(3, 3, dtype=dtype), rope(8))
    assert (logits.dtype, attention_weights(logits).dtype) == (dtype, dtype)


def test_the_causal_mask_hides_later_keys():
    logits = attention_logits(torch.ones(4, 4), nope(4))
    assert torch.equal(logits == -torch.inf, torch.ones(4, 4).triu(1).bool())
    assert torch.equal(logits.tril(), 0.5 * torch.ones(4, 4).tril())


def test_causal_is_the_default():
    scores = cases.normal(2, 3, 6, 6)
    assert torch.equal(
        attention_logits(scores, rope(8)), attention_logits(scores, rope(8), mask="causal")
    )


def test_the_causal_mask_of_a_cached_step_counts_from_the_end():
    """3 queries are the last of 5 tokens: the first of them sees 3 keys."""
    seen = attention_logits(torch.zeros(3, 5), rope(8)).isfinite()
    assert seen.sum(-1).tolist() == [3, 4, 5]


def test_the_causal_mask_reads_positions_and_not_indices():
    at = cases.at([10, 3, 7.5], [3, 7, 8, 10])
    seen = attention_logits(torch.zeros(3, 4), rope(8), **at).isfinite()
    assert seen.tolist() == [
        [True, True, True, True],
        [True, False, False, False],
        [True, True, False, False],
    ]


def test_every_text_of_a_batch_has_its_own_causal_mask():
    positions = torch.tensor([[0, 1, 2], [2, 1, 0]])
    seen = attention_logits(torch.zeros(2, 4, 3, 3), rope(8), **cases.at(positions)).isfinite()
    lower = torch.ones(3, 3).tril().bool()
    assert torch.equal(seen, torch.stack([lower, lower.T])[:, None].expand(2, 4, 3, 3))


@pytest.mark.parametrize("shape", [(4, 4), (1, 4), (3, 4, 4), (2, 1, 4, 4), (2, 3, 4, 4)], ids=str)
def test_a_bool_mask_says_what_may_be_attended_to(shape):
    """As in scaled_dot_product_attention: True takes part."""
    mask = cases.normal(*shape) > 0
    scores = cases.normal(2, 3, 4, 4, seed=1)
    logits = attention_logits(scores, rope(16), mask=mask)
    assert torch.equal(logits.isfinite(), mask.expand(2, 3, 4, 4))
    assert torch.equal(logits[logits.isfinite()], scores[mask.expand(2, 3, 4, 4)] / 4)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 999), st.floats(0, 1))
def test_weights_are_those_of_the_oracle(queries, keys, seed, share):
    scores = 5 * cases.normal(queries, keys, seed=seed)
    mask = torch.rand(queries, keys, generator=torch.Generator().manual_seed(seed)) < share
    at = range(queries)
    weights = attention_weights(attention_logits(scores, rope(4), mask=mask, query_positions=at))
    for row, allowed, result in zip(scores / 2, mask, weights, strict=True):
        expected = reference.softmax(row.tolist(), allowed.tolist())
        assert result.tolist() == pytest.approx(expected, abs=tolerances.EXACT)
        total = 1.0 if allowed.any() else 0.0
        assert result.sum().item() == pytest.approx(total, abs=tolerances.EXACT)
        assert bool((result[~allowed] == 0).all())


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_a_fully_masked_row_is_zero_and_so_is_its_gradient(dtype):
    scores = cases.normal(3, 4, dtype=dtype).requires_grad_()
    mask = torch.tensor([[True] * 4, [False] * 4, [True, False, True, False]])
    weights = attention_weights(attention_logits(scores, rope(4), mask=mask))
    assert weights[1].tolist() == [0, 0, 0, 0]
    (weights * cases.normal(3, 4, seed=1, dtype=dtype)).sum().backward()
    gradient = cases.gradient(scores)
    assert gradient.isfinite().all()
    assert not gradient[~mask].any()
    assert gradient[0].any()


def test_logits_that_were_masked_elsewhere_have_a_gradient_too():
    logits = torch.tensor([[-torch.inf, -torch.inf], [0.0, -torch.inf]], requires_grad=True)
    (attention_weights(logits) * torch.tensor([1.0, 2.0])).sum().backward()
    assert cases.gradient(logits).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_no_infinity_becomes_a_nan(mask):
    """Acausal scores may be ±inf: a mask puts −inf there, and weights stay weights."""
    q, k = cases.normal(2, 300, 8, dtype=torch.float32)
    scores = attention_scores(q, k, xpos(8, scale_base=1.0))
    assert scores.isinf().any()
    logits = attention_logits(scores, xpos(8, scale_base=1.0), mask=mask)
    weights = attention_weights(logits)
    assert not logits.isnan().any()
    assert torch.allclose(weights.sum(-1), torch.ones(300), atol=tolerances.FLOAT32_WEIGHTS * 10)
    if mask == "causal":
        assert bool((logits.triu(1) == torch.full((300, 300), -torch.inf).triu(1)).all())
        assert not weights.triu(1).any()


def test_empty_matrices_stay_empty():
    for shape in ((0, 0), (0, 5), (2, 0, 5)):
        logits = attention_logits(torch.zeros(shape), rope(8), mask="none")
        assert attention_weights(logits).shape == shape
    unseen = attention_logits(torch.zeros(3, 0), rope(8), query_positions=[0, 1, 2])
    assert attention_weights(unseen).shape == (3, 0)


def test_gradients_of_weights():
    scores = cases.normal(4, 4).requires_grad_()
    torch.autograd.gradcheck(
        lambda scores: attention_weights(attention_logits(scores, rope(4))), (scores,)
    )


@pytest.mark.parametrize("queries", [[0, 1, 2], [[0, 1, 2], [10, 11, 12]]], ids=str)
@pytest.mark.parametrize("keys", [[0, 1, 2], [[0, 1, 2], [20, 21, 22]]], ids=str)
def test_a_bias_follows_positions_of_either_side_in_batches(queries, keys):
    encoding, scores = alibi(4, slope=1.0), torch.zeros(2, 2, 3, 3)  # as many heads as a batch
    actual = attention_logits(
        scores, encoding, mask="none", query_positions=queries, key_positions=keys
    )
    for entry in range(2):
        m, n = (torch.tensor(p[entry] if isinstance(p[0], list) else p) for p in (queries, keys))
        lags = (m[:, None] - n[None, :]).abs().float()
        assert torch.equal(actual[entry], -lags.expand(2, 3, 3))


@pytest.mark.parametrize("mask", ["Causal", "", None, "blockwise?"])
def test_an_unknown_mask_lists_the_masks(mask):
    assert message(attention_logits, torch.zeros(2, 2), rope(8), mask=mask) == (
        f"unknown mask {mask!r}; use one of: causal, none, sliding:size, blockwise:size "
        "(size ≥ 1 token), or a bool tensor."
    )


def test_an_additive_mask_is_refused():
    mask = torch.zeros(2, 2)
    assert message(attention_logits, torch.zeros(2, 2), rope(8), mask=mask) == (
        "mask must be bool (True = may attend), got torch.float32; use mask.bool()."
    )


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (4, 2, 2), (5, 4, 2, 2)], ids=str)
def test_a_mask_of_another_shape_is_refused(shape):
    mask = torch.ones(shape, dtype=torch.bool)
    assert message(attention_logits, torch.zeros(3, 2, 2), rope(8), mask=mask) == (
        f"mask must fit scores of shape (3, 2, 2), got {shape}; "
        "use one row per query and one column per key."
    )


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf, "1"])
def test_an_impossible_scale_is_refused(scale):
    assert message(attention_logits, torch.zeros(2, 2), rope(8), scale=scale) == (
        f"scale must be a finite number > 0, got {scale!r}; use None for 1/√d."
    )


def test_positions_of_another_length_are_refused():
    scores = torch.zeros(2, 3)
    text = message(attention_logits, scores, rope(8), query_positions=[0, 1, 2])
    assert text == (
        "query_positions must have the shape (2,) or (batch, 2), got (3,); "
        "use one position per query."
    )


def test_the_samples_are_here():
    assert [path.stem for path in SAMPLES] == [
        *("bridge", "chinese", "harbour", "lantern", "pronoun", "tidebook", "translation")
    ]


def sample_layers():
    """(path, index of layer) of every sample."""
    counts = {path: len(np.load(path, allow_pickle=False)["layers"]) for path in SAMPLES}
    return [(path, index) for path, count in counts.items() for index in range(count)]


@pytest.mark.parametrize(
    ("path", "layer"), sample_layers(), ids=lambda value: getattr(value, "stem", str(value))
)
def test_rope_reproduces_the_attention_of_a_real_model(path, layer):
    """Base 100,000, half layout, /√64, causal: the model's own weights, every layer and head."""
    with np.load(path, allow_pickle=False) as stored:
        q, k, expected = (
            torch.from_numpy(stored[name][layer]).float() for name in ("q", "k", "weights_last4")
        )
    encoding = rope(64, base=100_000.0)
    scores = attention_scores(q, k, encoding, layout="half")
    weights = attention_weights(attention_logits(scores, encoding))
    assert (weights[:, -4:] - expected).abs().max() <= tolerances.SAMPLE
    decoded = attention_scores(q[:, -4:], k, encoding, layout="half")  # as a cached step would
    weights = attention_weights(attention_logits(decoded, encoding))
    assert (weights - expected).abs().max() <= tolerances.SAMPLE


def test_a_blind_row_has_a_gradient_of_zero():
    """A row with every key masked is no NaN on the way back either."""
    logits = torch.tensor([[-torch.inf, -torch.inf], [0.0, 1.0]], requires_grad=True)
    (attention_weights(logits) * torch.tensor([1.0, 2.0])).sum().backward()
    assert logits.grad is not None
    assert logits.grad[0].tolist() == [0.0, 0.0]
    assert logits.grad[1].abs().sum() > 0

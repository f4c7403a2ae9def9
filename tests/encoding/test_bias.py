"""The second term: what ALiBi and T5 add to the logits."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference
from tests.encoding.families import bias_of, message
from xpos_viz import attention_logits, xpos
from xpos_viz.encoding import alibi, t5, t5_bidirectional, t5_bucket, yarn


@given(st.floats(0, 2), st.lists(st.integers(-300, 300), min_size=1, max_size=5))
def test_alibi_falls_with_distance(slope, lags):
    bias = bias_of(alibi(8, slope=slope), torch.tensor(lags))
    assert bias.tolist() == [-slope * abs(lag) for lag in lags]


def test_buckets_are_those_of_exact_integers():
    lags = [*range(-3, 300), 2**20]
    for buckets in (16, 32):
        expected = [reference.t5_bucket(lag, buckets) for lag in lags]
        assert t5_bucket(torch.tensor(lags), buckets).tolist() == expected
    assert t5_bucket(torch.tensor([3.9, -0.5, -(2.0**53)])).tolist() == [3, 0, 0]


def test_t5_reads_its_table():
    lags = range(-40, 200)
    table, both = (
        bias_of(constructor(8, table=cases.LEARNED), torch.tensor(lags)).tolist()
        for constructor in (t5, t5_bidirectional)
    )
    assert table == [cases.LEARNED[reference.t5_bucket(lag)] for lag in lags]
    assert both == [
        cases.LEARNED[reference.t5_bucket(abs(lag), 16) + 16 * (lag < 0)] for lag in lags
    ]
    assert not bias_of(t5(8), torch.arange(-5, 5)).any()


BIASED = [
    alibi(8, slope=0.3),
    alibi(8, slope=cases.OWN["slope"]),
    t5(8, table=cases.LEARNED),
    t5(8, table=cases.OWN["table"]),
    t5_bidirectional(8, table=cases.OWN["table"]),
]


@pytest.mark.parametrize("shape", [(), (7,), (5, 6), (2, 5, 6), (4, 2, 5, 6)], ids=str)
@pytest.mark.parametrize("encoding", BIASED, ids=repr)
def test_a_bias_has_its_heads_before_the_matrix(encoding, shape):
    lags = torch.randint(-50, 50, shape, generator=torch.Generator().manual_seed(0))
    bias = bias_of(encoding, lags)
    assert bias.dtype == torch.float64
    if encoding.heads is None:
        assert bias.shape == shape
        return
    where = max(len(shape) - 2, 0)
    assert bias.shape == (*shape[:where], 3, *shape[where:])
    for head, alone in enumerate(cases.each_head(encoding)):
        assert torch.equal(bias.select(where, head), bias_of(alone, lags))


@pytest.mark.parametrize("encoding", BIASED, ids=repr)
def test_logits_are_scaled_scores_plus_bias(encoding):
    """By loops; for a matrix, heads, a batch, and positions of a batch."""
    at = torch.tensor([[0, 1, 2, 3], [7, 9, 30, 200]])
    heads = [encoding] if encoding.heads is None else list(cases.each_head(encoding))
    for shape, positions in (((4, 4), at[1]), ((3, 4, 4), at[1]), ((2, 3, 4, 4), at)):
        scores = cases.normal(*shape)
        logits = attention_logits(scores, encoding, mask="none", **cases.at(positions))
        many = len(heads) > 1 or len(shape) > 2
        assert logits.shape == ((3, 4, 4) if many and len(shape) == 2 else shape)
        tables = logits.reshape(-1, logits.shape[-3] if many else 1, 4, 4)
        whole = scores.reshape(len(tables), -1, 4, 4).expand(tables.shape)
        for batch, head, row, column in np.ndindex(tables.shape):
            own = positions if positions.ndim == 1 else positions[batch]
            bias = bias_of(heads[head % len(heads)], own[row] - own[column]).item()
            expected = whole[batch, head, row, column].item() / math.sqrt(8) + bias
            assert tables[batch, head, row, column].item() == pytest.approx(expected)


def test_a_mask_may_differ_by_head_where_the_encoding_does():
    encoding, scores = alibi(8, slope=(0.1, 0.2, 0.3)), cases.normal(4, 4)
    mask = torch.rand(3, 4, 4, generator=torch.Generator().manual_seed(0)) < 0.5
    logits = attention_logits(scores, encoding, mask=mask)
    assert torch.equal(logits == -torch.inf, ~mask)


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_logits_keep_their_dtype(dtype):
    scores = cases.normal(3, 4, 4, dtype=dtype)
    for encoding in (*cases.registered(8), *cases.per_head(8)):
        assert attention_logits(scores, encoding).dtype == dtype


def test_heads_that_do_not_fit_the_scores_are_refused():
    encoding = alibi(8, slope=(0.1, 0.2))
    assert message(attention_logits, torch.zeros(3, 4, 4), encoding) == (
        "the encoding has values for 2 heads, got scores of shape (3, 4, 4); "
        "use an encoding with as many heads, or scores[:, None]."
    )
    at = cases.at(torch.zeros(2, 4))
    assert message(attention_logits, torch.zeros(2, 4, 4), encoding, **at) == (
        "scores must have each dimension of the bias (batch, heads, L_q, L_k), got (2, 4, 4) "
        "and a bias (2, 2, 4, 4); use scores[:, None]."
    )
    assert attention_logits(torch.zeros(2, 1, 4, 4), encoding, **at).shape == (2, 2, 4, 4)
    with pytest.raises(ValueError, match="has values for 2 heads"):
        attention_logits(torch.zeros(3, 4, 4), yarn(8, factor=(1.0, 2.0)))
    rates_alone = xpos(8, gamma=(0.2, 0.4))  # its scores may be those of one head, by text
    assert attention_logits(torch.zeros(3, 4, 4), rates_alone).shape == (3, 4, 4)

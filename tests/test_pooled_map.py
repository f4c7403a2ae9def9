"""Maps of any length against the whole matrix, reduced in loops."""

import gc
import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import cases, tolerances
from xpos_viz import (
    attention_logits,
    attention_scores,
    attention_weights,
    nope,
    rope,
    xpos,
)
from xpos_viz.encoding import Terms
from xpos_viz.entry import Layout, token_positions
from xpos_viz.masks import MASKS, Mask
from xpos_viz.pooling import PooledMap, block_size, pooled_map
from xpos_viz.pooling.maps import MAP_STAGES, REDUCES

NAN, INF = math.nan, math.inf
WORDS = ("causal", "none", "sliding:30", "blockwise:50")
OVER = {"mean": torch.mean, "min": torch.amin, "max": torch.amax}
KINDS = list(itertools.product(MAP_STAGES, REDUCES))


def whole(q, k, encoding, stage, mask, layout: Layout = "interleaved", **at):
    """The whole matrix in float64, and which of its cells are visible."""
    scores = attention_scores(q.double(), k.double(), encoding, layout=layout, **at)
    m, n = token_positions(q.shape[-2], k.shape[-2], *at.values())
    visible = Mask.of(mask).visible(m, n)
    if stage == "scores":
        return scores, visible
    return attention_weights(attention_logits(scores, encoding, mask=mask, **at)), visible


def in_loops(values, visible, size, over):
    """Blocks of one head's matrix, reduced one by one, and their visible cells."""
    rows, columns = (range(0, length, block_size(length, size)) for length in values.shape)
    expected = np.full((len(rows), len(columns)), NAN)
    counts = np.zeros(expected.shape, dtype=np.int64)
    for (i, row), (j, column) in itertools.product(enumerate(rows), enumerate(columns)):
        here = np.s_[row : row + rows.step, column : column + columns.step]
        seen = values[here][visible[here]]
        counts[i, j] = len(seen)
        if len(seen):
            expected[i, j] = float(over(seen))
    return torch.from_numpy(expected), torch.from_numpy(counts)


def assert_is_reduced(picture, values, visible, size, reduce, sizes=None):
    """A map of one head is the reduced matrix, to within the magnitudes that were summed."""
    expected, counts = in_loops(values, visible, size, OVER[reduce])
    assert torch.equal(picture.counts, counts)
    assert torch.equal(picture.values.isnan(), expected.isnan())
    magnitudes = expected.abs() if sizes is None else in_loops(sizes, visible, size, torch.amax)[0]
    close = tolerances.within(
        picture.values.double().nan_to_num(0.0, INF, -INF),
        expected.nan_to_num(0.0, INF, -INF),
        tolerances.POOLED * magnitudes.nan_to_num(0.0) + torch.finfo(torch.float32).tiny,
    )
    assert close


def magnitudes(q, k, stage, encoding):
    """Σ |q_i||k_i| ζ_i^(Δ/B) for scores; 1 for weights, whose logits are moderate here."""
    if stage == "weights":
        return torch.ones(q.shape[-2], k.shape[-2], dtype=torch.float64)
    a, b = (torch.view_as_complex(x.double().unflatten(-1, (-1, 2))).abs().T for x in (q, k))
    m, n = token_positions(q.shape[-2], k.shape[-2])
    lags = m[:, None] - n
    rates = cases.oracle_rates(encoding)
    return sum(
        torch.outer(x, y) * (rate.real * lags).exp() for x, y, rate in zip(a, b, rates, strict=True)
    )


@pytest.mark.parametrize("mask", WORDS)
@pytest.mark.parametrize(("stage", "reduce"), KINDS)
@pytest.mark.parametrize(
    ("queries", "keys", "size"), [(97, 97, 10), (150, 333, 4), (1100, 1300, 3)], ids=str
)
def test_blocks_are_those_of_the_whole_matrix(queries, keys, size, stage, reduce, mask):
    q, k = (cases.normal(n, 8, seed=n, dtype=torch.float32) for n in (queries, keys))
    for encoding in (rope(8), xpos(8), xpos(8, gamma=0.1, scale_base=400.0)):
        picture = pooled_map(q, k, encoding, size=size, reduce=reduce, stage=stage, mask=mask)
        values, visible = whole(q, k, encoding, stage, mask)
        sizes = magnitudes(q, k, stage, encoding)
        assert_is_reduced(picture, values, visible, size, reduce, sizes)
        assert max(picture.values.shape) <= size


@pytest.mark.parametrize("mask", ["causal", "sliding:700"])
@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_blocks_larger_than_a_tile(stage, reduce, mask):
    q, k = cases.normal(2, 2300, 4, dtype=torch.float32)
    picture = pooled_map(q, k, xpos(4), size=2, reduce=reduce, stage=stage, mask=mask)
    values, visible = whole(q, k, xpos(4), stage, mask)
    sizes = magnitudes(q, k, stage, xpos(4))
    assert_is_reduced(picture, values, visible, 2, reduce, sizes)


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_many_tokens_of_many_blocks(stage, reduce):
    q, k = cases.normal(4000, 4, dtype=torch.float32), cases.normal(4096, 4, dtype=torch.float32)
    picture = pooled_map(q, k, xpos(4), size=90, reduce=reduce, stage=stage)
    values, visible = whole(q, k, xpos(4), stage, "causal")
    sizes = magnitudes(q, k, stage, xpos(4))
    assert_is_reduced(picture, values, visible, 90, reduce, sizes)


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
@pytest.mark.parametrize("layout", cases.LAYOUTS)
def test_positions_in_any_order(layout, stage, reduce):
    """Packed texts, gaps, real and repeated positions; blocks are of tokens all the same."""
    q, k = cases.normal(2, 120, 8)
    jumps = torch.cat([torch.arange(40), 900 + 1.5 * torch.arange(40), torch.arange(40).flip(0)])
    for at in (cases.at(jumps), cases.at(jumps + 0.25, jumps.flip(0) / 3)):
        options: dict[str, Any] = {"size": 7, "stage": stage, "reduce": reduce, "layout": layout}
        picture = pooled_map(q, k, xpos(8, scale_base=64.0), mask="sliding:300", **options, **at)
        values, visible = whole(
            q, k, xpos(8, scale_base=64.0), stage, "sliding:300", layout=layout, **at
        )
        assert_is_reduced(picture, values, visible, 7, reduce)
        spans = picture.query_spans
        first = at["query_positions"][:18]
        assert spans[0].tolist() == [float(first.min()), float(first.max())]


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_heads_in_front_are_maps_of_their_own(stage, reduce):
    q, k = cases.normal(2, 6, 50, 8), cases.normal(2, 3, 60, 8, seed=1)
    m = torch.stack([torch.arange(50), torch.arange(50) + 10])
    options: dict[str, Any] = {"size": 8, "stage": stage, "reduce": reduce}
    picture = pooled_map(q, k, xpos(8), **options, query_positions=m)
    assert picture.values.shape == picture.counts.shape == (2, 6, 8, 8)
    for batch, head in itertools.product(range(2), range(6)):
        one = pooled_map(
            q[batch, head],
            k[batch, head // 2],
            xpos(8),
            **options,
            query_positions=m[batch],
        )
        assert torch.equal(one.counts, picture.counts[batch, head])
        assert torch.allclose(one.values, picture.values[batch, head], equal_nan=True)


def by_head():
    """An encoding whose decay, bias and temperature differ from head to head."""
    terms = xpos(8).terms
    slopes = torch.tensor([0.01, 0.1]).double()
    decays = torch.stack([terms.log_decay, 3 * terms.log_decay])
    made = Terms(
        terms.theta.expand(2, -1),
        decays,
        lambda lags: -slopes[:, None, None] * lags,
        torch.tensor([1.5, 0.5]).double(),
    )
    return cases.Given("by_head", 8, made, 2)


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
@pytest.mark.parametrize("front", [(), (2,), (3, 2)], ids=str)
def test_rates_bias_and_temperature_of_each_head(front, stage, reduce):
    q, k = cases.normal(2, *front, 70, 8)
    picture = pooled_map(q, k, by_head(), size=6, stage=stage, reduce=reduce)
    values, visible = whole(q, k, by_head(), stage, "causal")
    assert picture.values.shape[:-2] == values.shape[:-2]
    for head in np.ndindex(values.shape[:-2]):
        one = PooledMap(
            picture.values[head],
            picture.counts[head],
            *(picture.query_edges, picture.key_edges, picture.query_spans, picture.key_spans),
        )
        assert_is_reduced(one, values[head], visible, 6, reduce)


@pytest.mark.parametrize("encoding", [*cases.registered(8), *cases.per_head(8)], ids=repr)
@pytest.mark.parametrize(("stage", "reduce"), [("scores", "mean"), ("weights", "mean")])
def test_every_family(encoding, stage, reduce):
    q, k = cases.normal(2, 3, 40, 8)
    picture = pooled_map(q, k, encoding, size=7, stage=stage, reduce=reduce)
    values, visible = whole(q, k, encoding, stage, "causal")
    for head in range(3):
        expected, counts = in_loops(values[head], visible, 7, OVER[reduce])
        assert torch.equal(picture.counts[head], counts)
        assert torch.allclose(picture.values[head], expected, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_dtype_is_kept_and_halves_are_computed_in_float32(stage, reduce, dtype):
    q, k = cases.normal(2, 90, 8, dtype=dtype)
    options: dict[str, Any] = {"size": 9, "stage": stage, "reduce": reduce}
    picture = pooled_map(q, k, xpos(8), **options)
    assert picture.values.dtype == dtype
    if dtype.itemsize == 2:
        wide = pooled_map(q.float(), k.float(), xpos(8), **options).values.to(dtype)
        assert torch.equal(picture.values.nan_to_num(), wide.nan_to_num())


HARSH = [xpos(8, scale_base=1.0, gamma=1e-6), xpos(8, scale_base=0.01), xpos(8, scale_base=16.0)]


@pytest.mark.parametrize("encoding", HARSH, ids=repr)
@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_fast_decay(encoding, stage, reduce):
    """The factors of the usual form end after a few tokens here."""
    q, k = cases.normal(2, 500, 8, dtype=torch.float32)
    picture = pooled_map(q, k, encoding, size=5, stage=stage, reduce=reduce)
    values, visible = whole(q, k, encoding, stage, "causal")
    sizes = (q.double().abs() @ k.double().abs().mT) if stage == "scores" else torch.ones(500, 500)
    assert_is_reduced(picture, values, visible, 5, reduce, sizes)


@pytest.mark.parametrize("encoding", HARSH[:2], ids=repr)
def test_means_that_grow_are_true_or_infinite_with_the_true_sign(encoding):
    """Acausal blocks: the corner with the smallest lag decides, and padding there is passed by."""
    q, k = cases.normal(2, 400, 8)
    q[200:203], k[299] = 0, 0
    values = pooled_map(q, k, encoding, size=4, mask="none").values
    assert not values.isnan().any()
    assert values.isinf().any()
    corner = attention_scores(q[203:204], k[298:299], encoding, **cases.at([203], [298]))
    assert values[2, 2].sign() == corner.sign() or corner.isfinite()
    for row, column in torch.isfinite(values).nonzero().tolist():
        block = attention_scores(
            q[100 * row : 100 * row + 100],
            k[100 * column : 100 * column + 100],
            encoding,
            **cases.at(range(100 * row, 100 * row + 100), range(100 * column, 100 * column + 100)),
        )
        assert values[row, column].item() == pytest.approx(block.mean().item(), rel=1e-9)


def test_a_million_tokens_that_fade_at_once():
    """B = 1 at γ = 10^−6: only the diagonal is left of the scores."""
    x = torch.ones(1 << 20, 2)
    picture = pooled_map(x, x, xpos(2, gamma=1e-6, scale_base=1.0), size=64)
    block, (share,) = 1 << 14, xpos(2, gamma=1e-6, scale_base=1.0).rates.exp()
    # Σ over 0 ≤ Δ < b of (b − Δ)·2·Re λ^Δ is 2b·Re 1/(1 − λ) but for two edge terms
    total = 2 * (block / (1 - share) - share * (1 - share**block) / (1 - share) ** 2).real
    diagonal = picture.values.diagonal()
    count = block * (block + 1) // 2
    assert diagonal.tolist() == pytest.approx([total.item() / count] * 64, rel=tolerances.POOLED)
    assert picture.counts.diagonal().tolist() == [count] * 64
    assert torch.equal(picture.values.tril(-2)[2:, 0], torch.zeros(62))


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
@given(
    encoding=cases.encodings(head_dims=(2, 4), scale_bases=(1.0, 1e6)),
    tokens=st.integers(1, 60),
    size=st.integers(1, 70),
    seed=st.integers(0, 99),
    offset=st.integers(-(10**9), 10**9),
)
@settings(max_examples=15)
def test_shifting_all_positions_changes_nothing(
    encoding, tokens, size, seed, offset, stage, reduce
):
    q, k = cases.normal(2, tokens, encoding.head_dim, seed=seed)
    at = torch.arange(tokens)
    options: dict[str, Any] = {"size": size, "stage": stage, "reduce": reduce}
    here, there = (
        pooled_map(q, k, encoding, **options, **cases.at(at + shift)) for shift in (0, offset)
    )
    assert torch.equal(here.values.nan_to_num(), there.values.nan_to_num())
    assert torch.equal(here.counts, there.counts)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("mask", WORDS)
@given(
    encoding=cases.encodings(head_dims=(2, 4), scale_bases=(16.0, 1e6)),
    tokens=st.integers(1, 40),
    spare=st.integers(0, 9),
    seed=st.integers(0, 99),
)
@settings(max_examples=15)
def test_one_token_a_block_gives_the_cells_themselves(encoding, tokens, spare, seed, mask, reduce):
    q, k = cases.normal(2, tokens, encoding.head_dim, seed=seed)
    for stage in MAP_STAGES:
        picture = pooled_map(
            q, k, encoding, size=tokens + spare, stage=stage, reduce=reduce, mask=mask
        )
        values, visible = whole(q, k, encoding, stage, mask)
        assert torch.equal(picture.counts, visible.long())
        assert torch.equal(picture.values.isnan(), ~visible)
        seen = picture.values[visible], values[visible]
        assert torch.allclose(*seen, rtol=1e-9, atol=tolerances.EXACT)


@given(
    st.integers(1, 200),
    st.integers(1, 200),
    st.integers(1, 30),
    st.sampled_from(sorted(MASKS)),
    st.integers(1, 90),
    st.floats(-3, 3),
)
@settings(max_examples=20)
def test_counts_are_of_visible_cells_and_a_constant_is_its_mean(
    queries, keys, size, name, width, value
):
    mask = Mask(name, width if MASKS[name].sized else None)
    q, k = torch.full((queries, 2), value, dtype=torch.float64), torch.ones(keys, 2).double()
    at = cases.at(range(queries), range(keys))
    m, n = (torch.arange(length).double() for length in (queries, keys))
    visible = mask.visible(m, n)
    for reduce in REDUCES:
        picture = pooled_map(q, k, rope(2), size=size, mask=mask, reduce=reduce, **at)
        assert int(picture.counts.sum()) == int(visible.sum())
        assert torch.equal(picture.counts == 0, picture.values.isnan())
    constant = pooled_map(q, k, nope(2), size=size, mask=mask, **at)
    seen = constant.values[constant.counts > 0]
    assert torch.allclose(seen, torch.full_like(seen, 2 * value), rtol=1e-12, atol=1e-300)


def test_queries_that_see_nothing_have_no_part():
    q, k = cases.normal(2, 8, 4)
    at = cases.at(range(8), range(4, 12))
    for reduce in REDUCES:
        picture = pooled_map(q, k, rope(4), size=2, stage="weights", reduce=reduce, **at)
        assert picture.values[0].isnan().all()
        assert picture.counts[0].tolist() == [0, 0]
        assert picture.counts[1].tolist() == [10, 0]


def test_weights_of_a_block_add_up():
    """Rows sum to 1, so means times counts over the rows of a block sum to its queries."""
    q, k = cases.normal(2, 3000, 8)
    picture = pooled_map(q, k, xpos(8), size=4, stage="weights")
    sums = (picture.values.nan_to_num() * picture.counts).sum(-1)
    assert torch.allclose(sums, torch.full_like(sums, 750.0))


@pytest.mark.parametrize("queries", [0, 3])
@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_empty_sequences_have_no_blocks(queries, stage, reduce):
    q, k = torch.zeros(2, queries, 4), torch.zeros(2, 0, 4)
    picture = pooled_map(q, k, xpos(4), stage=stage, reduce=reduce)
    assert picture.values.shape == picture.counts.shape == (2, queries, 0)
    assert picture.query_edges.tolist() == list(range(queries + 1))
    assert picture.key_edges.tolist() == [0]
    assert picture.key_spans.shape == (0, 2)


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_progress_rises_to_one(stage, reduce):
    shares = []
    x = cases.normal(2, 2500, 4)
    pooled_map(x, x, xpos(4), size=8, stage=stage, reduce=reduce, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 4
    assert shares[0] > 0
    assert shares[-1] == 1
    assert shares.count(1) == 1


class CancelError(Exception):
    """What a caller may raise to stop."""


@pytest.mark.parametrize(("stage", "reduce"), KINDS)
def test_raising_in_progress_cancels_and_leaves_nothing(stage, reduce):
    x = cases.normal(2, 2500, 4)

    def cancel(share):
        if share > 0.3:
            raise CancelError

    def tensors():
        gc.collect()
        return sum(type(thing) is torch.Tensor for thing in gc.get_objects())

    before = tensors()
    with pytest.raises(CancelError):
        pooled_map(x, x, xpos(4), size=8, stage=stage, reduce=reduce, progress=cancel)
    assert tensors() == before


X = torch.zeros(3, 4)
REFUSED = {
    "unknown reduce 'median'; use one of: mean, min, max.": {"reduce": "median"},
    "unknown stage 'logits'; use one of: scores, weights.": {"stage": "logits"},
    "size must be an integer ≥ 1, the rows and columns of the map at most, got 0; "
    "use 512, for instance.": {"size": 0},
    "size must be an integer ≥ 1, the rows and columns of the map at most, got 2.5; "
    "use 512, for instance.": {"size": 2.5},
    "size must be an integer ≥ 1, the rows and columns of the map at most, got True; "
    "use 512, for instance.": {"size": True},
    "unknown mask 'future'; use one of: causal, none, sliding:size, blockwise:size "
    "(size ≥ 1 token), or a bool tensor.": {"mask": "future"},
    "mask must be a word or a Mask, whose keys are an interval for each query, got a tensor of "
    "shape (3, 3); use one of: causal, none, sliding:size, blockwise:size, or block_mean for a "
    "matrix that fits into memory.": {"mask": torch.ones(3, 3).bool()},
    "unknown layout 'whole'; use one of: interleaved, half.": {"layout": "whole"},
    "progress must be a function of the share done, got 1; use None for no reports.": {
        "progress": 1
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_is_refused(message):
    with pytest.raises(ValueError) as caught:
        pooled_map(X, X, rope(4), **REFUSED[message])
    assert str(caught.value) == message

"""Numbers of attention weights, against slow loops and known cases."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import attention_logits, attention_weights, nope
from xpos_viz.statistics import (
    attention_distance,
    attention_entropy,
    attention_table,
    sink_share,
    total_variation,
    window_share,
)


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def weights_of(*shape, seed=0, mask="causal"):
    """Weights of random scores."""
    return attention_weights(
        attention_logits(3 * cases.normal(*shape, seed=seed), nope(4), mask=mask)
    )


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 99), st.integers(1, 7))
def test_statistics_are_those_of_loops(queries, more, seed, window):
    keys = queries + more
    weights = weights_of(2, queries, keys, seed=seed)
    found = (
        attention_entropy(weights),
        attention_distance(weights),
        window_share(weights, window),
        sink_share(weights),
    )
    for head in range(2):
        for row in range(queries):
            w, m = weights[head, row].tolist(), more + row
            expected = (
                reference.entropy(w),
                math.fsum(x * abs(m - n) for n, x in enumerate(w)),
                math.fsum(x for n, x in enumerate(w) if abs(m - n) < window),
                w[0],
            )
            values = [x[head, row].item() for x in found]
            assert values == pytest.approx(expected, abs=10 * tolerances.EXACT)


def test_known_cases():
    equal = weights_of(5, 5) * 0 + torch.ones(5, 5).tril() / torch.arange(1, 6)[:, None]
    assert attention_entropy(equal).tolist() == pytest.approx([math.log(n) for n in range(1, 6)])
    assert attention_distance(equal).tolist() == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert window_share(equal, 2).tolist() == pytest.approx([1, 1, 2 / 3, 2 / 4, 2 / 5])
    assert sink_share(equal).tolist() == pytest.approx([1 / n for n in range(1, 6)])
    itself = torch.eye(5)
    assert attention_entropy(itself).tolist() == [0] * 5
    assert attention_distance(itself).tolist() == [0] * 5
    assert window_share(itself, 1).tolist() == [1] * 5
    assert sink_share(itself).tolist() == [1, 0, 0, 0, 0]


@given(st.integers(1, 9), st.integers(0, 99))
def test_bounds(tokens, seed):
    weights = weights_of(tokens, tokens, seed=seed)
    at = torch.arange(tokens)
    entropy = attention_entropy(weights)
    assert bool((entropy >= 0).all())
    assert bool((entropy <= (at + 1).log() + tolerances.EXACT).all())
    assert bool((attention_distance(weights) <= at + tolerances.EXACT).all())
    shares = torch.stack([window_share(weights, w) for w in range(1, tokens + 1)])
    assert bool((shares.diff(dim=0) >= 0).all())
    assert torch.allclose(shares[-1], torch.ones(tokens).double())


@pytest.mark.parametrize("window", [1, 2, 3.5])
def test_a_window_is_what_the_sliding_mask_leaves(window):
    weights = weights_of(8, 8)
    seen = attention_logits(weights * 0, nope(4), mask=f"sliding:{math.ceil(window)}").isfinite()
    expected = weights.masked_fill(~seen, 0).sum(-1)
    assert torch.allclose(window_share(weights, window), expected)


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_a_query_without_keys_has_no_attention(dtype):
    weights = torch.tensor([[[0.5, 0.5], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]], dtype=dtype)
    for found in (
        attention_entropy(weights),
        attention_distance(weights),
        window_share(weights, 9),
        sink_share(weights),
    ):
        assert found.isnan().tolist() == [[False, True], [True, False]]
        assert found.dtype == torch.float64


def test_shifting_all_positions_changes_nothing():
    weights, at = weights_of(2, 7, 7), torch.arange(7)
    for statistic in (attention_distance, lambda w, **at: window_share(w, 3, **at)):
        moved = statistic(weights, **cases.at(at + 1000))
        assert torch.equal(moved, statistic(weights))
    assert torch.equal(sink_share(weights, key_positions=at + 1000), sink_share(weights))


def test_an_order_of_the_keys_changes_nothing():
    weights, order = weights_of(2, 7, 7), torch.tensor([3, 0, 6, 2, 1, 5, 4])
    at = {"query_positions": range(7), "key_positions": order}
    mixed = weights[..., order]
    assert torch.allclose(attention_distance(mixed, **at), attention_distance(weights))
    assert torch.allclose(window_share(mixed, 2, **at), window_share(weights, 2))
    assert torch.equal(sink_share(mixed, key_positions=order), sink_share(weights))


def test_every_text_of_a_batch_may_have_its_own_positions():
    weights = weights_of(2, 3, 4, 4, mask="none")
    positions = torch.tensor([[0, 1, 2, 3], [30, 20, 10, 0]])
    at = cases.at(positions)
    for text in range(2):
        alone = cases.at(positions[text])
        distance = attention_distance(weights[text], **alone)
        assert torch.equal(attention_distance(weights, **at)[text], distance)
        near = window_share(weights[text], 11, **alone)
        assert torch.equal(window_share(weights, 11, **at)[text], near)
        sink = sink_share(weights[text], key_positions=positions[text])
        assert torch.equal(sink_share(weights, key_positions=positions)[text], sink)
    assert torch.equal(sink_share(weights, key_positions=positions)[1], weights[1, ..., 3])


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (2, 3, 4, 5)], ids=str)
def test_a_table_has_a_row_for_each_query(shape):
    weights = weights_of(*shape)
    table = attention_table(weights, window=2)
    assert table.columns.tolist() == [
        "batch",
        "head",
        "query",
        "entropy",
        "distance",
        "window_share",
        "sink_share",
    ]
    whole = weights.reshape(*[1] * (4 - len(shape)), *shape)
    assert len(table) == whole.shape[:-1].numel()
    assert table["query"].tolist() == [1, 2, 3, 4] * (len(table) // 4)
    for statistic, values in {
        "entropy": attention_entropy(whole),
        "distance": attention_distance(whole),
        "window_share": window_share(whole, 2),
        "sink_share": sink_share(whole),
    }.items():
        rows = zip(table["batch"], table["head"], table["query"] - 1, table[statistic], strict=True)
        for batch, head, row, value in rows:
            assert values[batch, head, int(row)] == value


def test_a_table_of_a_batch_with_positions():
    weights = weights_of(2, 3, 4, 4, mask="none")
    positions = torch.tensor([[0, 1, 2, 3], [30, 20, 10, 0]])
    table = attention_table(weights, window=2, **cases.at(positions))
    assert table["query"].tolist() == [0, 1, 2, 3] * 3 + [30, 20, 10, 0] * 3


@pytest.mark.parametrize("window", [0, -1, math.nan])
def test_a_window_is_a_window(window):
    assert message(window_share, torch.eye(2), window) == (
        f"window must be a number of tokens > 0, got {window!r}; use 128."
    )


@pytest.mark.parametrize("shape", [(3,), (1, 1, 1, 2, 2)], ids=str)
def test_weights_of_other_dimensions_have_no_table(shape):
    assert message(attention_table, torch.ones(shape), window=2) == (
        "weights must have the shape (…, L_q, L_k) with batch and heads at most in front, "
        f"got {shape}; use one matrix, or flatten what stands in front."
    )


def test_weights_of_no_keys_have_no_sink():
    assert message(sink_share, torch.zeros(2, 0)) == (
        "weights must have at least one key, got shape (2, 0); "
        "use weights of keys that include the first token."
    )
    assert attention_entropy(torch.zeros(2, 0)).isnan().all()


def test_positions_that_do_not_fit():
    text = message(attention_distance, torch.eye(3), query_positions=[0, 1])
    assert text.startswith("query_positions must have the shape (3,) or (batch, 3), got (2,)")


def test_total_variation_is_half_of_what_moves():
    before, after = weights_of(6, 6), weights_of(6, 6, seed=1)
    expected = [
        sum(abs(a - b) for a, b in zip(*rows, strict=True)) / 2
        for rows in zip(before.tolist(), after.tolist(), strict=True)
    ]
    assert total_variation(before, after).tolist() == pytest.approx(expected)
    assert total_variation(before, before).tolist() == [0.0] * 6
    assert float(total_variation(before, before.flip(-1))[0]) == 1.0
    blind = torch.zeros(1, 6)
    assert bool(total_variation(blind, blind).isnan())
    with pytest.raises(ValueError) as caught:
        total_variation(before, after[:, :5])
    assert str(caught.value) == (
        "both weights must have one shape, got (6, 6) and (6, 5); use the same queries and keys."
    )

"""Large matrices as small pictures, against loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, tolerances
from xpos_viz.pooling import block_mean, block_size, robust_limit

NAN, INF = math.nan, math.inf
sizes = st.integers(1, 10**6)


@given(sizes, sizes)
def test_a_block_is_the_smallest_that_suffices(tokens, cells):
    block = block_size(tokens, cells)
    assert math.ceil(tokens / block) <= cells
    assert block == 1 or math.ceil(tokens / (block - 1)) > cells


@given(
    st.integers(1, 12), st.integers(1, 12), st.integers(1, 13), st.integers(0, 9), st.floats(0, 1)
)
def test_means_over_what_is_visible(rows, columns, block, seed, share):
    values = cases.normal(rows, columns, seed=seed)
    visible = torch.from_numpy(np.random.default_rng(seed).random((rows, columns)) < share)
    actual = block_mean(values, visible, block)
    assert actual.shape == (math.ceil(rows / block), math.ceil(columns / block))
    for (row, column), mean in np.ndenumerate(actual.numpy()):
        at = np.s_[row * block : (row + 1) * block, column * block : (column + 1) * block]
        seen = values[at][visible[at]].tolist()
        expected = math.fsum(seen) / len(seen) if seen else NAN
        assert mean == pytest.approx(expected, abs=10 * tolerances.EXACT, nan_ok=True)


def test_single_cells_are_themselves():
    values = cases.normal(5, 7)
    assert torch.equal(block_mean(values, torch.ones(5, 7).bool(), 1), values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_dtype_is_kept(dtype):
    values = torch.ones(3, 3, dtype=dtype)
    assert block_mean(values, values.bool(), 2).dtype == dtype


def test_what_is_hidden_has_no_part_in_a_mean():
    values = torch.tensor([[1.0, INF], [NAN, 3.0]])
    assert block_mean(values, torch.eye(2).bool(), 2).item() == 2


@pytest.mark.parametrize(
    ("cells", "mean"),
    [([INF, 1.0], INF), ([-INF, 1.0], -INF), ([INF, INF], INF), ([INF, -INF], NAN)],
    ids=str,
)
def test_means_of_infinite_cells(cells, mean):
    actual = block_mean(torch.tensor([cells, [0.0, 0.0]]), torch.ones(2, 2).bool(), 2)
    assert actual.item() == pytest.approx(mean, nan_ok=True)


def test_an_empty_matrix_has_no_blocks():
    empty = torch.zeros(0, 0)
    assert block_mean(empty, empty.bool(), 4).shape == (0, 0)


@pytest.mark.parametrize("count", [1, 2, 200, 201, 999])
def test_a_limit_leaves_out_half_a_percent(count):
    values = np.arange(1.0, count + 1)
    signed = np.where(values % 2 == 0, values, -values)
    limit = robust_limit(signed[: count // 2], signed[count // 2 :])
    assert limit in values
    assert (values <= limit).mean() >= 0.995
    assert (values < limit).mean() <= 0.995


def test_the_largest_outlier_does_not_set_the_range():
    table = np.ones((20, 20))
    table[0, 0] = -1e6
    assert robust_limit(table) == 1
    assert robust_limit(table, share=1.0) == 1e6


@pytest.mark.parametrize(
    ("table", "limit"),
    [([], 1), ([NAN], 1), ([INF, -INF], 1), ([0.0, 0.0], 1), ([NAN, -2.0, INF], 2)],
    ids=str,
)
def test_a_limit_is_a_positive_number(table, limit):
    assert robust_limit(np.array(table)) == limit

"""Blocks of a matrix: their size, what they are reduced to, and the colours' limits."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Reduction:
    """How cells become one: the value that changes nothing, over dimensions, and scattered."""

    neutral: float
    over: Callable[[Tensor, tuple[int, ...]], Tensor]
    scattered: str


REDUCTIONS = {
    "mean": Reduction(0.0, torch.sum, "sum"),  # divided by the number of cells at the end
    "min": Reduction(math.inf, torch.amin, "amin"),
    "max": Reduction(-math.inf, torch.amax, "amax"),
}

SUM = REDUCTIONS["mean"]
"""The reduction whose result is divided by the number of cells."""

COUNT = Reduction(0.0, partial(torch.sum, dtype=torch.int32), "sum")
"""How many cells there are: bools are added in 32 bits, which is several times as fast."""


def block_size(tokens: int, cells: int) -> int:
    """Return the smallest number of tokens a block must have for at most `cells` blocks."""
    return max(1, math.ceil(tokens / cells))


def block_edges(tokens: int, block: int) -> Int[Tensor, " edges"]:
    """Return the tokens at which blocks begin, and after them the number of tokens.

    Examples
    --------
    >>> block_edges(5, 2)
    tensor([0, 2, 4, 5])
    """
    return torch.tensor([*range(0, tokens, block), tokens])


def block_mean(
    values: Float[Tensor, "*batch rows columns"],
    visible: Bool[Tensor, "rows columns"],
    block: int,
) -> Float[Tensor, "*batch row_blocks column_blocks"]:
    """Mean of the visible cells of each block; NaN where a block has none.

    Parameters
    ----------
    values
        A matrix, or several with the same visible cells; any floating dtype.
    visible
        Which cells count.
    block
        Rows and columns of a block; the last ones may be shorter.

    Returns
    -------
    Tensor
        (…, ⌈rows/block⌉, ⌈columns/block⌉). A block with +inf and −inf is NaN as well: it has
        no mean.

    Examples
    --------
    >>> import torch
    >>> values = torch.tensor([[1.0, 9.0], [2.0, 3.0]])
    >>> block_mean(values, torch.tensor([[True, False], [True, True]]), 2)
    tensor([[2.]])
    """
    shown = torch.where(visible, values, 0.0)
    return _block_sum(shown, block) / _block_sum(visible.to(values), block)


def block_any(
    visible: Bool[Tensor, "rows columns"], block: int
) -> Bool[Tensor, "row_blocks column_blocks"]:
    """Whether a block has a visible cell."""
    return _block_sum(visible.float(), block) > 0


def robust_limit(*matrices: NDArray[np.float64], share: float = 0.995) -> float:
    """Return a colour limit: the `share` quantile of the finite magnitudes, 1 if they are zero.

    One outlier, such as an attention sink, then does not set the range of a picture.

    Examples
    --------
    >>> robust_limit(np.array([[-4.0, 2.0], [np.nan, np.inf]]), share=1.0)
    4.0
    """
    magnitudes = np.abs(np.concatenate([matrix.ravel() for matrix in matrices]))
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(np.quantile(finite, share, method="higher")) or 1.0 if len(finite) else 1.0


def _block_sum(values: Tensor, block: int) -> Tensor:
    """Sum over blocks; missing cells of the last blocks count as zero."""
    rows, columns = values.shape[-2:]
    padding = (0, -columns % block, 0, -rows % block)
    padded = torch.nn.functional.pad(values, padding)
    shape = (*values.shape[:-2], -(-rows // block), block, -(-columns // block), block)
    return padded.reshape(shape).sum((-3, -1))


def reduced(values: Tensor, dim: int, block: int, reduction: Reduction) -> Tensor:
    """Reduce each block along one dimension; the last may be shorter."""
    length = values.shape[dim]
    block = min(block, length)
    rest = length % block
    shape = *values.shape[:dim], length // block, block, *values.shape[dim + 1 :]
    if not rest:
        return reduction.over(values.reshape(shape), (dim + 1,))
    result = reduction.over(values.narrow(dim, 0, length - rest).reshape(shape), (dim + 1,))
    last = reduction.over(values.narrow(dim, length - rest, rest), (dim,))
    return torch.cat([result, last.unsqueeze(dim)], dim)

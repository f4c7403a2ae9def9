r"""Curves under a mask: a lag has a value only where the mask shows it, and so often.

A mask of positions (:mod:`xpos_viz.masks`) is an interval of keys for each query, so how often
each lag occurs follows from the ends of these intervals, without a matrix.
"""

from collections.abc import Sequence
from itertools import product

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.curves.decay import curves_of
from xpos_viz.curves.shared import head_numbers, tidy
from xpos_viz.encoding import Encoding
from xpos_viz.entry import check_whole
from xpos_viz.masks import Mask


def lag_counts(
    mask: Mask | str, tokens: int
) -> tuple[Float[Tensor, " lags"], Int[Tensor, " lags"]]:
    """The lags that a mask shows in a text, and how many query-key pairs have each.

    Under the blockwise mask of Sun et al. 2022, §3.3, these are 0 … 2·size − 1; the far ones
    are rare, for only the last query of a block sees as far.

    Parameters
    ----------
    mask
        A mask or its word, such as "causal" or "blockwise:512".
    tokens
        L: queries and keys stand at 0 … L − 1.

    Returns
    -------
    tuple of Tensor
        Lags Δ = m − n, ascending, tokens, float64; and counts ≥ 1, int64.

    Raises
    ------
    ValueError
        For a word that is no mask, or if `tokens` is no integer ≥ 1.

    Examples
    --------
    >>> lag_counts("sliding:2", 4)
    (tensor([0., 1.], dtype=torch.float64), tensor([4, 3]))
    >>> lag_counts("blockwise:2", 6)[1]
    tensor([6, 5, 4, 2])
    """
    check_whole("tokens", tokens, 1, "use 1024, for instance.")
    m = torch.arange(tokens, dtype=torch.float64)
    first, last = Mask.of(mask).ends(m)
    nearest = (m - last.floor().clamp(max=tokens - 1)).long() + tokens - 1
    farthest = (m - first.ceil().clamp(min=0)).long() + tokens - 1
    steps = torch.zeros(2 * tokens, dtype=torch.int64)
    steps.index_add_(0, nearest, torch.ones_like(nearest))
    steps.index_add_(0, farthest + 1, -torch.ones_like(farthest))
    counts = steps.cumsum(0)[:-1]
    shown = torch.nonzero(counts > 0).flatten()
    return (shown - (tokens - 1)).double(), counts[shown]


def masked_table(
    encodings: Sequence[Encoding],
    masks: Sequence[Mask | str],
    tokens: int,
    names: Sequence[str] = ("g",),
) -> pd.DataFrame:
    """Curves under masks: one row per encoding, mask, head and lag that is shown.

    Parameters
    ----------
    encodings, masks
        The encodings and the masks, or their words.
    tokens
        L: queries and keys stand at 0 … L − 1.
    names
        Keys of :data:`xpos_viz.curves.CURVES`, one column each.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), mask (its word), head, lag (tokens), count
        (query-key pairs at this lag) and one per name, as in
        :func:`xpos_viz.curves.curve_table`.

    Raises
    ------
    ValueError
        For a word that is no mask, an unknown curve, or if `tokens` is no integer ≥ 1.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> masked_table([rope(2, base=10.0)], ["sliding:2"], 4).round(4)
                encoding       mask  head  lag  count       g
    0  rope(2, base=10.0)  sliding:2     0  0.0      4  1.0000
    1  rope(2, base=10.0)  sliding:2     0  1.0      3  0.5403
    """
    blocks: list[dict[str, Tensor | str]] = []
    for encoding, mask in product(encodings, masks):
        lags, counts = lag_counts(mask, tokens)
        curves = curves_of(encoding, lags, names)
        blocks.append(
            {
                "encoding": repr(encoding),
                "mask": str(mask),
                "head": head_numbers([*curves.values()]),
                "lag": lags,
                "count": counts,
            }
            | curves
        )
    return tidy(["encoding", "mask", "head", "lag", "count", *names], blocks)

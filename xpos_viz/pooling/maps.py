"""Maps of any length: at most size × size blocks of scores or weights, in bounded memory."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.attention import logit_factor
from xpos_viz.choice import check_choice
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout, Positions, checked
from xpos_viz.masks import MASKS, Mask
from xpos_viz.pooling.blocks import REDUCTIONS, block_edges, block_size, reduced
from xpos_viz.pooling.linear import mean_scores
from xpos_viz.pooling.sides import Report, Side
from xpos_viz.pooling.streams import Bias, Tiles, score_map, weight_map

Reduce = Literal["mean", "min", "max"]
MapStage = Literal["scores", "weights"]

REDUCES: tuple[Reduce, ...] = get_args(Reduce)
"""What a block shows of its visible cells."""

MAP_STAGES: tuple[MapStage, ...] = get_args(MapStage)
"""What a map is of: scores q'·k', or weights, their softmax over the keys."""


@dataclass(frozen=True, eq=False)
class PooledMap:
    """A large matrix in blocks of tokens; rows are queries, columns are keys.

    Parameters
    ----------
    values
        (…, rows, columns): what each block was reduced to, of the dtype of q; NaN where the
        mask hides the whole block.
    counts
        (…, rows, columns), int64: visible cells of each block.
    query_edges, key_edges
        (rows + 1,) and (columns + 1,), int64: block i is of the tokens edges[i] … edges[i+1]−1.
    query_spans, key_spans
        (…, rows, 2) and (…, columns, 2), float64: the smallest and the largest position in
        each block, tokens.
    """

    values: Float[Tensor, "*batch rows columns"]
    counts: Int[Tensor, "*batch rows columns"]
    query_edges: Int[Tensor, " query_edges"]
    key_edges: Int[Tensor, " key_edges"]
    query_spans: Float[Tensor, "*query_batch rows ends"]
    key_spans: Float[Tensor, "*key_batch columns ends"]


def pooled_map(
    q: Float[Tensor, "*batch query_tokens head_dim"],
    k: Float[Tensor, "*key_batch key_tokens head_dim"],
    encoding: Encoding,
    *,
    size: int = 512,
    reduce: Reduce = "mean",
    stage: MapStage = "scores",
    mask: Mask | str = "causal",
    layout: Layout = "interleaved",
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
    progress: Callable[[float], object] | None = None,
) -> PooledMap:
    r"""Scores or weights of any number of tokens as at most size × size blocks.

    Each block is the mean, the smallest or the largest of its visible cells. The whole matrix
    is never formed: mean scores are linear in q' and in k', so their map takes time and memory
    in proportion to L (:mod:`xpos_viz.pooling.linear`); all others take tile after tile
    (:mod:`xpos_viz.pooling.streams`), in time L_q·L_k and memory in proportion to L.

    Parameters
    ----------
    q, k, encoding, layout, query_positions, key_positions
        As in :func:`xpos_viz.attention_scores`. Blocks are of tokens in the order given,
        wherever these stand.
    size
        Rows and columns of the map, at most; all blocks but the last have ⌈L/size⌉ tokens.
    reduce
        "mean", "min" or "max", over the visible cells of a block.
    stage
        "scores", as :func:`xpos_viz.attention_scores` gives them; or "weights", their softmax
        with the scale 1/√d, the encoding's temperature and its bias, as
        :func:`xpos_viz.attention_weights` gives them.
    mask
        A mask or its word: "causal", "none", "sliding:256", … (:mod:`xpos_viz.masks`).
    progress
        A function that is given the share of the work that is done, rising to 1. To cancel,
        raise an exception in it: that leaves `pooled_map` as it is, and nothing is kept.

    Returns
    -------
    PooledMap
        Values (…, rows, columns), counts of visible cells, the tokens and positions of blocks.
        There are no gradients.

    Raises
    ------
    ValueError
        For an unknown reduction, stage or mask, a mask that is a tensor, a size below 1, and
        for vectors or positions that do not fit.

    Notes
    -----
    Causal scores are as exact as :data:`xpos_viz.kernel.SCORE_ERROR` says, relative to the
    magnitudes summed, at every length, offset and parameter; halves are computed in float32.
    Where a query sees later keys (mask "none"), XPos grows: means are true, or ±inf of the
    true sign where the dtype ends, and NaN only where cells of +inf and −inf would have to be
    added. There, a pair that is empty in the outermost tokens of a block may be lost if the
    block spans more growth than float64 holds (e^708).

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> from xpos_viz.pooling import pooled_map
    >>> ones = torch.ones(4, 2)
    >>> picture = pooled_map(ones, ones, rope(2, base=1.0), size=2)
    >>> picture.values
    tensor([[ 1.6935,     nan],
            [-0.6410,  1.6935]])
    >>> picture.counts, picture.query_edges
    (tensor([[3, 0],
            [4, 3]]), tensor([0, 2, 4]))
    """
    _check_options(size, reduce, stage, progress)
    bounded = _bounded(mask)
    rates, m, n = checked(q, k, encoding, query_positions, key_positions, layout)
    bias = encoding.bias if stage == "weights" else None
    factors = torch.as_tensor(logit_factor(encoding), dtype=torch.float64).reshape(-1)
    batch = _batch(q, k, rates, bias)
    query_block, key_block = (block_size(x.shape[-2], size) for x in (q, k))
    query_edges, key_edges = (
        block_edges(x.shape[-2], block) for x, block in ((q, query_block), (k, key_block))
    )
    shape = *batch, len(query_edges) - 1, len(key_edges) - 1
    values = torch.empty(shape, dtype=q.dtype, device=q.device)
    counts = torch.zeros(shape, dtype=torch.int64)
    heads = list(np.ndindex(batch)) if values.numel() else []
    for done, head in enumerate(heads):
        queries, keys = (
            Side(_of_head(x.detach(), head, batch), _of_entry(at, head), block, layout, width)
            for width in [encoding.rotary_width]
            for x, at, block in ((q, m, query_block), (k, n, key_block))
        )
        head_rates = rates[head[-1]] if rates.ndim > 1 else rates
        report = _part_of(progress, done, len(heads))
        if stage == "weights":
            factor = float(factors[head[-1] if len(factors) > 1 else 0])
            tiles = Tiles(queries, keys, head_rates, bounded.ends, factor)
            mapped = weight_map(tiles, reduce, _bias_of_head(bias, head, batch), report)
        elif reduce == "mean":
            mapped = mean_scores(queries, keys, head_rates, bounded, report)
        else:
            mapped = score_map(Tiles(queries, keys, head_rates, bounded.ends), reduce, report)
        values[head], counts[head] = mapped
    if progress is not None:
        progress(1.0)
    spans = (_spans(m, query_block), _spans(n, key_block))
    return PooledMap(values, counts, query_edges, key_edges, *spans)


def _check_options(size: object, reduce: object, stage: object, progress: object) -> None:
    """Raise ValueError for an option that there is not."""
    for name, value, legal in (("reduce", reduce, REDUCES), ("stage", stage, MAP_STAGES)):
        check_choice(name, value, legal)
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise ValueError(
            f"size must be an integer ≥ 1, the rows and columns of the map at most, got "
            f"{size!r:.60}; use 512, for instance."
        )
    if progress is not None and not callable(progress):
        raise ValueError(
            f"progress must be a function of the share done, got {progress!r:.60}; "
            "use None for no reports."
        )


def _bounded(mask: object) -> Mask:
    """Return the mask as an interval of keys per query, or raise ValueError."""
    if isinstance(mask, Tensor):
        legal = ", ".join(kind.spelling for kind in MASKS.values())
        raise ValueError(
            f"mask must be a word or a Mask, whose keys are an interval for each query, got a "
            f"tensor of shape {tuple(mask.shape)}; use one of: {legal}, or block_mean for a "
            "matrix that fits into memory."
        )
    return Mask.of(mask)


def _batch(q: Tensor, k: Tensor, rates: Tensor, bias: Bias | None) -> tuple[int, ...]:
    """The dimensions of the map before its rows, heads last."""
    key_batch = (*k.shape[:-3], 1) if k.ndim > 2 else ()
    by_bias = () if bias is None else bias(rates.real.new_zeros(1, 1)).shape[:-2]
    return np.broadcast_shapes(q.shape[:-2], key_batch, rates.shape[:-1], by_bias)


def _of_head(x: Tensor, head: tuple[int, ...], batch: tuple[int, ...]) -> Tensor:
    """The vectors of one head, (tokens, d), a view; a key head serves its group."""
    if x.ndim == 2:
        return x
    whole = x.broadcast_to(*batch[:-1], *x.shape[-3:])
    return whole[(*head[:-1], head[-1] * x.shape[-3] // batch[-1])]


def _of_entry(positions: Tensor, head: tuple[int, ...]) -> Tensor:
    """The positions of one head's entry of the batch."""
    return positions[head[0]] if positions.ndim > 1 else positions


def _bias_of_head(bias: Bias | None, head: tuple[int, ...], batch: tuple[int, ...]) -> Bias | None:
    """The bias on the logits of one head."""
    if bias is None:
        return None
    return lambda lags: bias(lags).broadcast_to(*batch, *lags.shape)[head]


def _part_of(progress: Callable[[float], object] | None, done: int, heads: int) -> Report:
    """Report the share of one head as one of all heads, the end of the last one left out."""

    def report(share: float) -> None:
        if progress is not None and done + share < heads:
            progress((done + share) / heads)

    return report


def _spans(positions: Float[Tensor, "*batch tokens"], block: int) -> Float[Tensor, "..."]:
    """The smallest and the largest position of each block."""
    if not positions.numel():
        return positions[..., None].expand(*positions.shape, 2)
    extremes = (REDUCTIONS[name] for name in ("min", "max"))
    return torch.stack([reduced(positions, positions.ndim - 1, block, x) for x in extremes], -1)

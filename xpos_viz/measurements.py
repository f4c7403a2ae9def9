"""What one encoding gives on some inputs: its map, and how far its attention goes.

No matrix is formed whole: scores go by in tiles, and what is kept is small.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import logit_factor, root_scale, visible_keys
from xpos_viz.encoding import Encoding
from xpos_viz.experiment import View
from xpos_viz.inputs import Inputs, Vectors
from xpos_viz.masks import Mask
from xpos_viz.pooling import block_mean, block_size, pooled_map
from xpos_viz.pooling.sides import Side, parts
from xpos_viz.pooling.streams import KeyEnds, Tile, Tiles, weight_shares

Array = NDArray[np.float64]
Blocks = Float[Tensor, "blocks blocks"]
PerQuery = Float[Tensor, " query_tokens"]

_CELLS = 1 << 20  # cells of a bias that are formed at a time


@dataclass(frozen=True)
class Reach:
    """How far the attention of one encoding goes on some inputs, at whatever stage it is shown.

    Parameters
    ----------
    half, quarter
        Half the window, rounded up, and a quarter of it, rounded down, tokens.
    far_magnitude
        Mean |score| over seen cells at least `half` back.
    far_share
        Mean share of a query's attention on keys more than `quarter` back, over the queries
        that have such keys.
    first_share
        Mean share of a query's attention on token 0, over the later queries.
    """

    half: int
    quarter: int
    far_magnitude: float
    far_share: float
    first_share: float


@dataclass(frozen=True, eq=False)
class Measurement:
    """What one encoding gives on some inputs.

    Parameters
    ----------
    values
        (blocks, blocks), the stage's values, rows are queries; NaN where nothing is seen.
    reach
        How far its attention goes.
    """

    values: Array
    reach: Reach


@lru_cache(maxsize=64)
def measure(inputs: Inputs, encoding: Encoding, view: View) -> Measurement:
    """Compute what one encoding gives; the same arguments are computed once."""
    shown = range(view.start, inputs.tokens if view.stop is None else view.stop)
    weights, reach = attend(inputs, encoding, view.mask, shown, view.cells)
    if view.stage == "weights":
        return Measurement(weights, reach)
    values = _mean_scores(inputs, encoding, view, shown)
    if view.stage == "scaled":
        values = values * root_scale(encoding)
    if view.stage == "masked":
        values = values * logit_factor(encoding) + _mean_bias(encoding, view, shown)
    return Measurement(frozen(values.numpy()), reach)


@lru_cache(maxsize=64)
def attend(
    inputs: Inputs, encoding: Encoding, mask: str, shown: range, cells: int
) -> tuple[Array, Reach]:
    """Compute mean weights of blocks and how far they reach; the same arguments are computed once.

    One pass over the tiles gives both.
    """
    half, quarter = math.ceil(len(shown) / 2), len(shown) // 4
    m, ends, block = token_places(shown), Mask.of(mask).ends, block_size(len(shown), cells)
    within, *others = (
        score_tiles(inputs, encoding, ends, shown, keys, block)
        for keys in (shown, range(shown.start), range(shown.stop, inputs.tokens))
        if keys
    )
    factor = float(logit_factor(encoding))
    within, *others = (replace(tiles, factor=factor) for tiles in (within, *others))
    sums = (partial(_further, lag=quarter), _first)
    weights, shares = weight_shares(within, others, encoding.bias, sums)
    further, first = shares.unbind(1)
    return frozen(weights.numpy()), Reach(
        half=half,
        quarter=quarter,
        far_magnitude=_far_magnitude(inputs, encoding, ends, shown, half),
        far_share=float(further[m > quarter].mean()),
        first_share=float(first[m > 0].mean()),
    )


def score_tiles(
    inputs: Inputs, encoding: Encoding, ends: KeyEnds, queries: range, keys: range, block: int = 1
) -> Tiles:
    """Scores of some tokens' queries with some tokens' keys, float64, tile after tile."""
    if encoding.heads is not None:
        raise ValueError(
            f"a result shows one head, got values for {encoding.heads} in {encoding!r:.60}; "
            "use one number for each parameter."
        )
    vectors = load(inputs, encoding.head_dim)
    layout, width, tile = vectors.layout, encoding.rotary_width, _tile(len(queries))
    q, k = (
        Side(x[tokens.start : tokens.stop], token_places(tokens), block, layout, width, tile)
        for x, tokens in ((vectors.q, queries), (vectors.k, keys))
    )
    return Tiles(q, k, encoding.rates, ends)


@lru_cache(maxsize=2)
def load(inputs: Inputs, head_dim: int) -> Vectors:
    """Load inputs; the last ones are kept, for random ones take time."""
    return inputs.load(head_dim)


def token_places(tokens: range) -> Float[Tensor, " tokens"]:
    """Positions of tokens, float64."""
    return torch.arange(tokens.start, tokens.stop, dtype=torch.float64)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def _tile(tokens: int) -> int:
    """Tokens of a tile: at most 2 MiB of float64, and where it can, several beside the diagonal."""
    return min(512, max(256, tokens // 4))


def _further(tile: Tile, lag: int) -> PerQuery:
    """Add up what each query of a tile has on keys more than `lag` tokens back."""
    return tile.scores.tril(int(tile.q.low - tile.k.low) - lag - 1).sum(-1)


def _first(tile: Tile) -> PerQuery:
    """What each query of a tile has on token 0."""
    return tile.scores[:, 0] * (tile.k.low == 0)


def _far_magnitude(
    inputs: Inputs, encoding: Encoding, ends: KeyEnds, shown: range, lag: int
) -> float:
    """Mean |score| over the seen cells at least `lag` tokens back; NaN if there are none."""

    def far(m: Tensor) -> tuple[Tensor, Tensor]:
        first, last = ends(m)
        return first, torch.minimum(last, m - lag)

    total, cells = 0.0, 0
    for tile in score_tiles(inputs, encoding, far, shown, range(shown.stop)):
        total += float(tile.masked(0.0).abs_().sum())
        cells += tile.cells
    return total / cells if cells else math.nan


def _mean_scores(inputs: Inputs, encoding: Encoding, view: View, shown: range) -> Blocks:
    """Mean score over the seen cells of each block."""
    vectors = load(inputs, encoding.head_dim)
    q, k = (x[shown.start : shown.stop] for x in (vectors.q, vectors.k))
    return pooled_map(
        q,
        k,
        encoding,
        size=view.cells,
        mask=view.mask,
        layout=vectors.layout,
        query_positions=shown,
        key_positions=shown,
    ).values


def _mean_bias(encoding: Encoding, view: View, shown: range) -> Blocks | float:
    """Mean bias over the seen cells of each block; 0 where there is none."""
    if encoding.bias is None:
        return 0.0
    block, n = block_size(len(shown), view.cells), token_places(shown)
    rows = block * max(1, _CELLS // (block * len(n)))
    strips = (n[part] for part in parts(len(n), rows))
    return torch.cat(
        [
            block_mean(encoding.bias(m[:, None] - n), visible_keys(view.mask, m, n), block)
            for m in strips
        ]
    )

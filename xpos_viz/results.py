"""What an experiment gives: arrays with labels, and checks of what must hold.

:func:`run` turns an experiment into a :class:`Result`. What one encoding gives is computed
once (:func:`xpos_viz.measurements.measure`, :func:`shift_error`), whatever the other does.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.curves import decay_table
from xpos_viz.encoding import Encoding
from xpos_viz.experiment import Experiment
from xpos_viz.inputs import Inputs
from xpos_viz.kernel import apply_encoding
from xpos_viz.masks import Mask
from xpos_viz.measurements import (
    Array,
    Measurement,
    frozen,
    load,
    measure,
    score_tiles,
    token_places,
)
from xpos_viz.pooling import block_size, robust_limit
from xpos_viz.pooling.blocks import COUNT, reduced
from xpos_viz.pooling.streams import Tile, Tiles

SHIFT = 1000
"""Tokens by which the self-check moves every position."""

NEVER = 1e9
"""A scale base, tokens, at which XPos has all but become RoPE."""


@dataclass(frozen=True, eq=False)
class Result:
    """Arrays of an experiment with what is needed to label them.

    Parameters
    ----------
    experiment
        What was run.
    measurements
        One per encoding, in order.
    seen
        (blocks, blocks), bool: which cells are not masked.
    behind
        (blocks, blocks), bool: which cells have no visible key ahead of its query.
    limit
        Colour limit: the 99.5 % quantile of the magnitudes of all maps at those; where XPos
        grows, it would leave nothing else to be seen.
    block
        Tokens per cell side.
    positions
        The token at the centre of each row and column, counted from 0; equally spaced, as
        if the last block were full.
    labels
        One label per row and column where a cell is one token and there is text.
    """

    experiment: Experiment
    measurements: tuple[Measurement, ...]
    seen: NDArray[np.bool_]
    behind: NDArray[np.bool_]
    limit: float
    block: int
    positions: Array
    labels: tuple[str, ...]

    @property
    def lags(self) -> Array:
        """Lag Δ = m − n of each cell's centre, tokens, (blocks, blocks)."""
        return self.positions[:, None] - self.positions[None, :]

    @property
    def far_ratio(self) -> float:
        """The last encoding's mean far magnitude over the first one's; NaN where that is 0."""
        first, last = (self.measurements[place].reach.far_magnitude for place in (0, -1))
        return last / first if first else math.nan

    def table(self) -> pd.DataFrame:
        """Return the seen cells as rows: query, key, lag (tokens) and one value per map.

        Where a cell is a block, query and key are the middle of its tokens.
        """
        rows, columns = np.nonzero(self.seen)
        first = self.positions - (self.block - 1) / 2
        middle = (first + np.minimum(first + self.block - 1, self.experiment.window[-1])) / 2
        data: dict[str, NDArray[Any]] = {
            "query": middle[rows],
            "key": middle[columns],
            "lag": middle[rows] - middle[columns],
        }
        for encoding, measurement in zip(self.experiment.encodings, self.measurements, strict=True):
            data[repr(encoding)] = measurement.values[rows, columns]
        return pd.DataFrame(data)

    def _repr_html_(self) -> str:
        """Show settings and table in a notebook, without any package that draws."""
        settings = pd.DataFrame([self.experiment.to_dict()])
        return settings.to_html(index=False) + self.table().to_html(max_rows=10, index=False)


def run(experiment: Experiment) -> Result:
    """Compute an experiment.

    Parameters
    ----------
    experiment
        What to compute.

    Returns
    -------
    Result
        Read-only arrays, labels and limits.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, run, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> result = run(Experiment((rope(64), xpos(64)), Expectation(8)))
    >>> result.measurements[1].values[7, :2].round(2)
    array([46.31, 46.93])
    """
    inputs, view, window = experiment.inputs, experiment.view, experiment.window
    measurements = tuple(measure(inputs, encoding, view) for encoding in experiment.encodings)
    block = block_size(len(window), view.cells)
    edges: NDArray[np.int64] = np.arange(window.start, window.stop, block)
    positions: Array = edges + np.float64(block - 1) / 2
    seen, ahead = _seen_blocks(view.mask, window, block)
    labels = load(inputs, experiment.encodings[0].head_dim).labels if block == 1 else ()
    return Result(
        experiment=experiment,
        measurements=measurements,
        seen=seen,
        behind=frozen(~ahead),
        limit=robust_limit(*(measurement.values[~ahead] for measurement in measurements)),
        block=block,
        positions=frozen(positions),
        labels=labels[window.start : window.stop],
    )


def curves(experiment: Experiment) -> pd.DataFrame:
    """Return the expectation curve g of each encoding over the window (:func:`decay_table`)."""
    lags = len(experiment.window)
    return pd.concat(
        [_curve(encoding, lags) for encoding in dict.fromkeys(experiment.encodings)],
        ignore_index=True,
    )


@dataclass(frozen=True)
class SelfCheck:
    """Three things that must hold, measured on the data that is shown.

    Parameters
    ----------
    shift
        Largest change of a causal score when every position moves by :data:`SHIFT`.
    norm
        Largest relative change of a query's or key's norm under the encodings without
        decay; NaN if there is none.
    rope
        Largest difference of a causal score from RoPE's once the scale base is
        :data:`NEVER`; NaN if no encoding has one.
    """

    shift: float
    norm: float
    rope: float


def self_check(experiment: Experiment) -> SelfCheck:
    """Measure the invariants on the queries and keys of an experiment.

    The shift is measured in factor form about one fixed origin, where a wrong scale or
    sign would show; NaN or inf there means that the factor form itself left float64.
    """
    inputs, window = experiment.inputs, experiment.window
    span = (window.start, window.stop)
    pure = [e for e in experiment.encodings if not e.log_decay.any()]
    scaled = {
        encoding.replace(scale_base=NEVER)
        for encoding in experiment.encodings
        if {"base", "scale_base"} <= dict(encoding.parameters).keys()
    }
    return SelfCheck(
        shift=_worst(shift_error(inputs, encoding, *span) for encoding in experiment.encodings),
        norm=_worst(norm_error(inputs, encoding) for encoding in pure),
        rope=_worst(rope_error(inputs, encoding, *span) for encoding in scaled),
    )


def _worst(errors: Iterable[float]) -> float:
    """The largest error; NaN if one is, or if there is none."""
    return float(np.max(list(errors) or [np.nan]))


@lru_cache(maxsize=256)
def shift_error(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> float:
    """Return the largest change of a causal score when every position moves by SHIFT."""
    vectors = load(inputs, encoding.head_dim)
    moved = torch.arange(start, stop) + SHIFT
    q, k = apply_encoding(
        vectors.q[start:stop],
        vectors.k[start:stop],
        encoding,
        query_positions=moved,
        key_positions=moved,
        layout=vectors.layout,
        origin=float(start),
    )
    return _worst(
        _error(tile, q[tile.q.tokens] @ k[tile.k.tokens].mT)
        for tile in _causal_tiles(inputs, encoding, start, stop)
    )


@lru_cache(maxsize=256)
def norm_error(inputs: Inputs, encoding: Encoding) -> float:
    """Return the largest relative change of a norm when vectors are encoded."""
    vectors = load(inputs, encoding.head_dim)
    before = (vectors.q[inputs.first :], vectors.k)
    after = apply_encoding(*before, encoding, layout=vectors.layout)
    old, new = (torch.cat(vectors).square().sum(-1).sqrt() for vectors in (before, after))
    return float((new / old - 1).abs().max())


@lru_cache(maxsize=256)
def rope_error(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> float:
    """Return the largest difference of a causal score from RoPE's of the same base."""
    rope = Encoding("rope", (("head_dim", encoding.head_dim), ("base", encoding["base"])))
    both = (_causal_tiles(inputs, each, start, stop) for each in (encoding, rope))
    return _worst(_error(tile, other.scores) for tile, other in zip(*both, strict=True))


def _causal_tiles(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> Tiles:
    """The causal scores of the shown tokens with each other."""
    shown = range(start, stop)
    return score_tiles(inputs, encoding, Mask("causal").ends, shown, shown)


def _error(tile: Tile, others: Tensor) -> float:
    """The largest difference of a tile's visible scores, which are used up, from others."""
    tile.scores.sub_(others)
    low, high = torch.aminmax(tile.masked(0.0))
    return float(torch.maximum(-low, high))


@lru_cache(maxsize=64)
def _curve(encoding: Encoding, lags: int) -> pd.DataFrame:
    """The rows of one encoding; the same encoding is computed once."""
    return decay_table([encoding], range(lags))


@lru_cache(maxsize=64)
def _seen_blocks(
    mask: str, window: range, block: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which blocks have a cell that is seen, and which have one that lies ahead of its query."""
    m = token_places(window)
    first, last = Mask.of(mask).ends(m)
    return (
        _meeting(first, last, window, block),
        _meeting(torch.maximum(first, m + 1), last, window, block),
    )


def _meeting(first: Tensor, last: Tensor, window: range, block: int) -> NDArray[np.bool_]:
    """Which blocks have a token between the ends of a query's keys, (blocks, blocks)."""
    low = token_places(window)[::block]
    high = (low + block - 1).clamp(max=window[-1])
    nearest, furthest = torch.maximum(first[:, None], low), torch.minimum(last[:, None], high)
    return frozen((reduced(nearest.ceil() <= furthest.floor(), 0, block, COUNT) > 0).numpy())

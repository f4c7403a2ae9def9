"""What an experiment gives: arrays with labels, and checks of what must hold.

:func:`run` turns an experiment into a :class:`Result`. What one encoding gives is computed
once (:func:`measure`, :func:`shift_error`), whatever the other does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights, visible_keys
from xpos_viz.curves import decay_table
from xpos_viz.encoding import Encoding
from xpos_viz.experiment import Experiment, Stage, View
from xpos_viz.inputs import Inputs
from xpos_viz.kernel import apply_encoding, attention_scores
from xpos_viz.pooling import block_any, block_mean, block_size, robust_limit

Array = NDArray[np.float64]

SHIFT = 1000
"""Tokens by which the self-check moves every position."""

NEVER = 1e9
"""A scale base, tokens, at which XPos has all but become RoPE."""


@dataclass(frozen=True)
class Reach:
    """How far the attention of one encoding goes on some inputs, at whatever stage it is shown.

    Parameters
    ----------
    far_magnitude
        Mean |score| over seen cells at least half the window back.
    far_share
        Mean share of a query's attention on keys more than a quarter of the window back,
        over the queries that have such keys.
    first_share
        Mean share of a query's attention on token 0, over the later queries.
    """

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
    visible = visible_keys(view.mask, _tokens(window), _tokens(window))
    behind = ~block_any(visible.triu(1), block).numpy()
    labels = inputs.load(experiment.encodings[0].head_dim).labels if block == 1 else ()
    return Result(
        experiment=experiment,
        measurements=measurements,
        seen=_frozen(block_any(visible, block).numpy()),
        behind=_frozen(behind),
        limit=robust_limit(*(measurement.values[behind] for measurement in measurements)),
        block=block,
        positions=_frozen(positions),
        labels=labels[window.start : window.stop],
    )


@lru_cache(maxsize=64)
def measure(inputs: Inputs, encoding: Encoding, view: View) -> Measurement:
    """Compute what one encoding gives; the same arguments are computed once."""
    shown = range(view.start, inputs.tokens if view.stop is None else view.stop)
    scores, seen = _scores(inputs, encoding, shown), _visible(inputs, view.mask, shown)
    stages: dict[Stage, Callable[[], Tensor]] = {
        "scores": lambda: scores,
        "scaled": lambda: scores * encoding.head_dim**-0.5,
        "masked": lambda: _logits(scores, encoding, seen, shown),
        "weights": lambda: attention_weights(_logits(scores, encoding, seen, shown)),
    }
    values = stages[view.stage]()
    square = slice(shown.start, shown.stop)
    pooled = block_mean(values[:, square], seen[:, square], block_size(len(shown), view.cells))
    return Measurement(_frozen(pooled.numpy()), reach(inputs, encoding, view.mask, shown))


@lru_cache(maxsize=64)
def reach(inputs: Inputs, encoding: Encoding, mask: str, shown: range) -> Reach:
    """Compute how far attention goes; the same arguments are computed once."""
    scores, seen = _scores(inputs, encoding, shown), _visible(inputs, mask, shown)
    weights = attention_weights(_logits(scores, encoding, seen, shown))
    m, n = _tokens(shown), _tokens(range(inputs.tokens))
    lags, tokens = m[:, None] - n, len(shown)
    further = weights.masked_fill(lags <= tokens // 4, 0.0)[m > tokens // 4]
    return Reach(
        far_magnitude=float(scores[seen & (2 * lags >= tokens)].abs().mean()),
        far_share=float(further.sum(-1).mean()),
        first_share=float(weights[m > 0, 0].mean()),
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
    vectors = inputs.load(encoding.head_dim)
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
    scores = _scores(inputs, encoding, range(start, stop))[:, start:stop]
    return float((q @ k.mT - scores).tril().abs().max())


@lru_cache(maxsize=256)
def norm_error(inputs: Inputs, encoding: Encoding) -> float:
    """Return the largest relative change of a norm when vectors are encoded."""
    vectors = inputs.load(encoding.head_dim)
    before = (vectors.q, vectors.k)
    after = apply_encoding(*before, encoding, layout=vectors.layout)
    old, new = (torch.cat(vectors).square().sum(-1).sqrt() for vectors in (before, after))
    return float((new / old - 1).abs().max())


@lru_cache(maxsize=256)
def rope_error(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> float:
    """Return the largest difference of a causal score from RoPE's of the same base."""
    head_dim, shown = encoding.head_dim, range(start, stop)
    limit = _scores(inputs, encoding, shown)
    rope = _scores(
        inputs, Encoding("rope", (("head_dim", head_dim), ("base", encoding["base"]))), shown
    )
    return float((limit - rope)[:, start:stop].tril().abs().max())


@lru_cache(maxsize=64)
def _curve(encoding: Encoding, lags: int) -> pd.DataFrame:
    """The rows of one encoding; the same encoding is computed once."""
    return decay_table([encoding], range(lags))


@lru_cache(maxsize=6)
def _scores(inputs: Inputs, encoding: Encoding, shown: range) -> Tensor:
    """Scores of the shown queries with all keys, float64; few are kept, for they are large."""
    if encoding.heads is not None:
        raise ValueError(
            f"a result shows one head, got values for {encoding.heads} in {encoding!r:.60}; "
            "use one number for each parameter."
        )
    vectors = inputs.load(encoding.head_dim)
    return attention_scores(
        vectors.q[shown.start : shown.stop],
        vectors.k,
        encoding,
        query_positions=shown,
        layout=vectors.layout,
    )


def _visible(inputs: Inputs, mask: str, shown: range) -> Tensor:
    """Which of all keys each of the shown queries sees."""
    return visible_keys(mask, _tokens(shown), _tokens(range(inputs.tokens)))


def _logits(scores: Tensor, encoding: Encoding, seen: Tensor, shown: range) -> Tensor:
    """Logits of the shown queries with all keys."""
    return attention_logits(scores, encoding, mask=seen, query_positions=_tokens(shown))


def _tokens(tokens: range) -> Tensor:
    """Positions of tokens, float64."""
    return torch.arange(tokens.start, tokens.stop, dtype=torch.float64)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only."""
    array.flags.writeable = False
    return array

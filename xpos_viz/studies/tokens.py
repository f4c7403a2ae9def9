"""What the heads of a real model read of a text under its RoPE, and what they would under XPos.

The queries and keys were learnt under RoPE; XPos on them shows what its decay would take and
give, not what a model trained with it would read.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights, visible_keys
from xpos_viz.encoding import Encoding, rope
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE, layer_vectors, token_labels
from xpos_viz.kernel import attention_scores
from xpos_viz.measurements import frozen, load, token_places
from xpos_viz.pooling import block_mean, block_size, robust_limit
from xpos_viz.statistics import attention_distance, attention_entropy, sink_share

Array = NDArray[np.float64]

ROPE = rope(HEAD_DIM, base=MODEL_BASE)
"""The encoding of the model whose queries and keys the samples are."""

CELLS = 64
"""Most cells a side of the map of one head."""

PIECE = 160
"""Most tokens of a text that are read around a query."""

STILL = 1e-6
"""A change of weight below which nothing is said to change."""

_AFTER = 12  # of them, most after the query
_STRIP = 128  # queries whose weights are formed at a time: whole blocks of every sample


@dataclass(frozen=True, eq=False)
class Row:
    """What one query reads under one encoding.

    Parameters
    ----------
    logits, weights
        (query + 1,): of the keys 0 … query.
    entropy, distance, sink
        Of the weights (:mod:`xpos_viz.statistics`): nats, tokens, share on token 0.
    """

    logits: Array
    weights: Array
    entropy: float
    distance: float
    sink: float


@dataclass(frozen=True, eq=False)
class Reading:
    """What one query reads under RoPE and under another encoding.

    Parameters
    ----------
    sample, query
        The head, and the token whose query it is.
    encoding
        What RoPE is compared with.
    before, after
        Under RoPE, and under the encoding.
    """

    sample: Sample
    query: int
    encoding: Encoding
    before: Row
    after: Row

    @cached_property
    def change(self) -> Array:
        """What each key gains, or loses if below 0, as a share of 1."""
        return self.after.weights - self.before.weights

    @cached_property
    def limit(self) -> float:
        """The 90 % quantile of the changes' magnitudes: few keys, or one sink, lie beyond."""
        return max(STILL, robust_limit(self.change, share=0.9))

    @property
    def still(self) -> bool:
        """Whether nothing changes: the query sees itself alone, or the encoding is all but RoPE."""
        return bool(np.abs(self.change).max() < STILL)

    @property
    def piece(self) -> range:
        """The tokens of the text around the query that are read, at most :data:`PIECE`."""
        stop = min(self.sample.tokens, max(self.query + 1 + _AFTER, PIECE))
        return range(max(0, stop - PIECE), stop)

    def strongest(self, count: int) -> NDArray[np.int64]:
        """The keys with the largest weights under either encoding, in the order of the text."""
        weights = np.maximum(self.before.weights, self.after.weights)
        return np.sort(np.argsort(-weights, kind="stable")[:count])

    def table(self) -> pd.DataFrame:
        """Return one row per key: its place, token, and weight under both and their change."""
        keys = np.arange(self.query + 1)
        return pd.DataFrame(
            {
                "query": self.query,
                "key": keys,
                "token": token_labels(self.sample.name)[: len(keys)],
                repr(ROPE): self.before.weights,
                repr(self.encoding): self.after.weights,
                "change": self.change,
            }
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """What all heads of a layer read under one encoding.

    Parameters
    ----------
    weights
        (heads, blocks, blocks): mean weight of the visible cells of each block; NaN where
        none is.
    entropy, distance, sink
        (heads,), means over the queries after the first, which can read nothing but itself:
        nats, tokens, share on token 0.
    """

    weights: Array
    entropy: Array
    distance: Array
    sink: Array


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads of a layer under RoPE and under another encoding.

    Parameters
    ----------
    sample
        The layer, and the head that is chosen.
    encoding
        What RoPE is compared with.
    before, after
        Under RoPE, and under the encoding.
    """

    sample: Sample
    encoding: Encoding
    before: Layer
    after: Layer

    @property
    def block(self) -> int:
        """Tokens per cell side."""
        return block_size(self.sample.tokens, CELLS)

    @property
    def positions(self) -> Array:
        """The token at the centre of each row and column, as if the last block were full."""
        return np.arange(0, self.sample.tokens, self.block) + np.float64(self.block - 1) / 2

    @property
    def still(self) -> bool:
        """Whether no cell of any map changes: the encoding is all but RoPE."""
        return bool(np.nanmax(np.abs(self.maps("change"))) < STILL)

    def maps(self, shown: str) -> Array:
        """The map of each head: "rope", "xpos", or the "change" from the one to the other."""
        if shown == "change":
            return self.after.weights - self.before.weights
        return (self.before if shown == "rope" else self.after).weights

    def table(self) -> pd.DataFrame:
        """Return one row per head and cell: the tokens at its middle, and both mean weights."""
        heads, rows, columns = np.nonzero(~np.isnan(self.before.weights))
        edges = np.arange(0, self.sample.tokens, self.block)
        middle = (edges + np.minimum(edges + self.block, self.sample.tokens) - 1) / 2
        return pd.DataFrame(
            {
                "head": heads,
                "query": middle[rows],
                "key": middle[columns],
                repr(ROPE): self.before.weights[heads, rows, columns],
                repr(self.encoding): self.after.weights[heads, rows, columns],
            }
        )


def read(sample: Sample, encoding: Encoding, query: int) -> Reading:
    """Compute what a query reads under RoPE and under an encoding.

    Parameters
    ----------
    sample
        A head of a captured text.
    encoding
        Such as XPos with the model's base.
    query
        A token; a later one than the last is the last.

    Returns
    -------
    Reading
        Read-only arrays.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> reading = read(Sample("pronoun", 8, 2), xpos(64, base=1e5, scale_base=8.0), 11)
    >>> reading.before.weights.shape, bool(abs(reading.change.sum()) < 1e-12)
    ((12,), True)
    """
    query = min(query, sample.tokens - 1)
    before, after = (_row(sample, each, query) for each in (ROPE, encoding))
    return Reading(sample, query, encoding, before, after)


def all_heads(sample: Sample, encoding: Encoding) -> Heads:
    """Compute what all heads of a layer read under RoPE and under an encoding.

    Parameters
    ----------
    sample
        Any head of the layer.
    encoding
        Such as XPos with the model's base.

    Returns
    -------
    Heads
        Read-only arrays.
    """
    before, after = (_layer(sample.name, sample.layer, each) for each in (ROPE, encoding))
    return Heads(sample, encoding, before, after)


@lru_cache(maxsize=256)
def _row(sample: Sample, encoding: Encoding, query: int) -> Row:
    """What one query reads; the same arguments are computed once."""
    vectors, queries = load(sample, encoding.head_dim), range(query, query + 1)
    logits = _logits(vectors.q, vectors.k, encoding, queries)
    weights = attention_weights(logits)
    numbers = _statistics(weights, queries)[:, 0].tolist()
    return Row(frozen(logits[0].numpy()), frozen(weights[0].numpy()), *numbers)


@lru_cache(maxsize=64)
def _layer(name: str, layer: int, encoding: Encoding) -> Layer:
    """What the heads of a layer read, strip after strip of queries in float32; computed once."""
    q, k = layer_vectors(name, layer)
    tokens = q.shape[1]
    block = block_size(tokens, CELLS)
    maps, numbers = [], []
    for start in range(0, tokens, _STRIP):
        queries = range(start, min(start + _STRIP, tokens))
        weights = attention_weights(_logits(q, k, encoding, queries))
        numbers.append(_statistics(weights, queries))
        maps.append(_block_means(weights, queries, block, tokens))
    means = torch.cat(numbers, -1)[..., 1:].mean(-1)
    whole = torch.cat(maps, 1).double()
    return Layer(frozen(whole.numpy()), *(frozen(mean.numpy()) for mean in means))


def _logits(q: Tensor, k: Tensor, encoding: Encoding, queries: range) -> Float[Tensor, "..."]:
    """Logits of some queries over all keys that the last of them sees."""
    m, n = token_places(queries), token_places(range(queries.stop))
    scores = attention_scores(
        q[..., queries.start : queries.stop, :],
        k[..., : queries.stop, :],
        encoding,
        query_positions=m,
        key_positions=n,
        layout="half",
    )
    return attention_logits(scores, encoding, query_positions=m, key_positions=n)


def _statistics(weights: Tensor, queries: range) -> Float[Tensor, "numbers ... query_tokens"]:
    """Entropy, mean distance and sink share of each query."""
    distance = attention_distance(weights, query_positions=queries)
    return torch.stack([attention_entropy(weights), distance, sink_share(weights)])


def _block_means(
    weights: Tensor, queries: range, block: int, tokens: int
) -> Float[Tensor, "heads rows columns"]:
    """Mean weight of each block of some queries; NaN where nothing is seen."""
    visible = visible_keys("causal", token_places(queries), token_places(range(queries.stop)))
    means = block_mean(weights, visible, block)
    unseen = -(-tokens // block) - means.shape[-1]
    return torch.nn.functional.pad(means, (0, unseen), value=math.nan)

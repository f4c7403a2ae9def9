"""What the heads of a real model read of a text under its own encoding, and what under another.

The queries and keys were learnt under the model's own encoding; XPos on them shows what its
decay would take and give, not what a model trained with it would read.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import attention_weights, visible_keys
from xpos_viz.encoding import Encoding, Value, rope
from xpos_viz.inputs import Capture, Computed
from xpos_viz.masks import Mask
from xpos_viz.measurements import frozen, token_places
from xpos_viz.pooling import block_mean, block_size
from xpos_viz.pooling.sides import Report
from xpos_viz.statistics import attention_distance, attention_entropy, sink_share

Array = NDArray[np.float64]

CELLS = 64
"""Most cells a side of the map of one head."""

PIECE = 160
"""Most tokens of a text that are read around a query."""

STILL = 1e-6
"""A change of weight below which nothing is said to change."""

_AFTER = 12  # of them, most after the query
_STRIP = 128  # queries whose weights are formed at a time, as whole blocks
_MOST = 1 << 21  # weights that are formed at a time: 8 MiB of float32


@dataclass(frozen=True, eq=False)
class Row:
    """What one query reads under one encoding.

    Parameters
    ----------
    logits, weights
        Of the keys from the first to the last that is seen; of causal attention 0 … query.
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
    """What one query reads under the model's own encoding and under another.

    Parameters
    ----------
    inputs, query
        The head, and the token whose query it is.
    own, encoding
        The model's own (:func:`own_encoding`), and what it is compared with.
    before, after
        Under the one, and under the other.
    """

    inputs: Computed
    query: int
    own: Encoding
    encoding: Encoding
    before: Row
    after: Row

    @cached_property
    def change(self) -> Array:
        """What each key gains, or loses if below 0, as a share of 1."""
        return self.after.weights - self.before.weights

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """The keys that the query sees, in the order of the text."""
        return np.flatnonzero(~np.isneginf(self.before.logits))

    @property
    def still(self) -> bool:
        """Whether nothing changes: the query sees one key, or the encodings are all but equal."""
        return bool(np.abs(self.change).max() < STILL)

    @property
    def piece(self) -> range:
        """The tokens of the text around the query that are read, at most :data:`PIECE`."""
        stop = min(self.inputs.tokens, max(self.query + 1 + _AFTER, PIECE))
        return range(max(0, stop - PIECE), stop)

    def strongest(self, count: int) -> NDArray[np.int64]:
        """The keys with the largest weights under either encoding, in the order of the text."""
        weights = np.maximum(self.before.weights, self.after.weights)[self.seen]
        return np.sort(self.seen[np.argsort(-weights, kind="stable")[:count]])

    def table(self) -> pd.DataFrame:
        """Return one row per seen key: place, token, weight under both encodings and change."""
        labels = token_names(self.inputs.capture)
        return pd.DataFrame(
            {
                "query": self.query,
                "key": self.seen,
                "token": [labels[key] for key in self.seen.tolist()],
                repr(self.own): self.before.weights[self.seen],
                repr(self.encoding): self.after.weights[self.seen],
                "change": self.change[self.seen],
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
        (heads,), means over the queries after the first, which can read nothing but itself
        where attention is causal: nats, tokens, share on token 0.
    """

    weights: Array
    entropy: Array
    distance: Array
    sink: Array


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads of a layer under the model's own encoding and under another.

    Parameters
    ----------
    inputs
        The layer, and the head that is chosen.
    own, encoding
        The model's own (:func:`own_encoding`), and what it is compared with.
    before, after
        Under the one, and under the other.
    """

    inputs: Computed
    own: Encoding
    encoding: Encoding
    before: Layer
    after: Layer

    @property
    def block(self) -> int:
        """Tokens per cell side."""
        return block_size(self.inputs.tokens, CELLS)

    @property
    def positions(self) -> Array:
        """The token at the centre of each row and column, as if the last block were full."""
        return np.arange(0, self.inputs.tokens, self.block) + np.float64(self.block - 1) / 2

    @property
    def still(self) -> bool:
        """Whether no cell of any map changes: the encodings are all but equal."""
        return bool(np.nanmax(np.abs(self.maps("change"))) < STILL)

    def maps(self, shown: str) -> Array:
        """The map of each head: "rope", "xpos", or the "change" from the one to the other."""
        if shown == "change":
            return self.after.weights - self.before.weights
        return (self.before if shown == "rope" else self.after).weights

    def table(self) -> pd.DataFrame:
        """Return one row per head and cell: the tokens at its middle, and both mean weights."""
        heads, rows, columns = np.nonzero(~np.isnan(self.before.weights))
        edges = np.arange(0, self.inputs.tokens, self.block)
        middle = (edges + np.minimum(edges + self.block, self.inputs.tokens) - 1) / 2
        return pd.DataFrame(
            {
                "head": heads,
                "query": middle[rows],
                "key": middle[columns],
                repr(self.own): self.before.weights[heads, rows, columns],
                repr(self.encoding): self.after.weights[heads, rows, columns],
            }
        )


def token_names(capture: Capture) -> tuple[str, ...]:
    """Return what each token is called: its label, or its number where there is no text."""
    return capture.labels or tuple(map(str, range(capture.k.shape[-2])))


def own_encoding(inputs: Computed, encoding: Encoding) -> Encoding:
    """Return the encoding of the layer in its model, or where that is not known, a RoPE.

    That RoPE has the base of the encoding that it is compared with, and turns as many columns.
    """
    capture = inputs.capture
    known = capture.encodings[capture.place(inputs.layer)]
    if known is not None:
        return known
    return rope(encoding.rotary_width, base=encoding["base"]).within(encoding.head_dim)


def beside(inputs: Computed, encoding: Encoding) -> Encoding:
    """Return an encoding with the base of the layer's own, if it has one, and its columns.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> from xpos_viz.inputs import Sample
    >>> beside(Sample("pronoun", 8, 2), xpos(64, base=500.0))
    xpos(64, base=100000.0, gamma=0.4, scale_base=512.0)
    """
    own = own_encoding(inputs, encoding)
    base = {name: value for name, value in own.parameters if name == "base"}
    return encoding.replace(**base, rotary_width=own.rotary_width)


def read(inputs: Computed, encoding: Encoding, query: int) -> Reading:
    """Compute what a query reads under the model's own encoding and under another.

    Mask, scale and cap of the logits are the layer's own.

    Parameters
    ----------
    inputs
        A head of a captured text.
    encoding
        Such as XPos :func:`beside` the model's own.
    query
        A token; a later one than the last is the last.

    Returns
    -------
    Reading
        Read-only arrays.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> from xpos_viz.inputs import Sample
    >>> reading = read(Sample("pronoun", 8, 2), xpos(64, base=1e5, scale_base=8.0), 11)
    >>> reading.before.weights.shape, bool(abs(reading.change.sum()) < 1e-12)
    ((12,), True)
    """
    query, own = min(query, inputs.tokens - 1), own_encoding(inputs, encoding)
    before, after = (_row(inputs, each, query) for each in (own, encoding))
    return Reading(inputs, query, own, encoding, before, after)


def all_heads(inputs: Computed, encoding: Encoding, report: Report = lambda _: None) -> Heads:
    """Compute what all heads of a layer read under the model's own encoding and under another.

    Mask, scale and cap of the logits are the layer's own.

    Parameters
    ----------
    inputs
        Any head of the layer.
    encoding
        Such as XPos :func:`beside` the model's own.
    report
        Is told the share of the work that is done; raises to end it.

    Returns
    -------
    Heads
        Read-only arrays.
    """
    own, any_head = own_encoding(inputs, encoding), replace(inputs, head=0)
    before, after = (
        _layer(any_head, each, _Told(lambda share, half=half: report((half + share) / 2)))
        for half, each in enumerate((own, encoding))
    )
    return Heads(inputs, own, encoding, before, after)


@lru_cache(maxsize=256)
def _row(inputs: Computed, encoding: Encoding, query: int) -> Row:
    """What one query reads; the same arguments are computed once."""
    capture, queries = inputs.capture, range(query, query + 1)
    vectors, head = capture.vectors(inputs.layer, inputs.head), inputs.head
    own = _of_heads(encoding, range(head, head + 1))
    logits = _logits(inputs, own, vectors.q[None], vectors.k[None], queries)[0]
    weights = attention_weights(logits)
    numbers = _statistics(weights, queries)[:, 0].tolist()
    return Row(frozen(logits[0].numpy()), frozen(weights[0].numpy()), *numbers)


@dataclass(frozen=True)
class _Told:
    """Who is told how far the work is, on which nothing depends."""

    report: Report = field(compare=False)


@lru_cache(maxsize=64)
def _layer(inputs: Computed, encoding: Encoding, told: _Told) -> Layer:
    """What the heads of a layer read; computed once."""
    parts = [_of_part(inputs, encoding, heads, told) for heads in _head_parts(inputs)]
    whole, numbers = zip(*parts, strict=True)
    maps, means = torch.cat(whole), torch.cat(numbers, -1)
    return Layer(frozen(maps.numpy()), *(frozen(mean.numpy()) for mean in means))


def _of_part(
    inputs: Computed, encoding: Encoding, heads: range, told: _Told
) -> tuple[Tensor, Tensor]:
    """Maps and mean numbers of some heads, strip after strip of queries in float32."""
    q, k = inputs.capture.layer_vectors(inputs.layer)
    first, last = (head * len(k) // len(q) for head in (heads[0], heads[-1]))
    q, k, own = q[heads.start : heads.stop], k[first : last + 1], _of_heads(encoding, heads)
    block = block_size(inputs.tokens, CELLS)
    maps: list[Tensor] = []
    numbers: list[Tensor] = []
    for start in range(0, inputs.tokens, strip := block * max(1, _STRIP // block)):
        queries = range(start, min(start + strip, inputs.tokens))
        weights = attention_weights(_logits(inputs, own, q, k, queries))
        numbers.append(_statistics(weights, queries))
        maps.append(_block_means(inputs, weights, queries, block))
        done = heads.start + len(heads) * queries.stop / inputs.tokens
        told.report(done / inputs.capture.heads)
    later = slice(1, None) if inputs.tokens > 1 else slice(None)
    return torch.cat(maps, 1).double(), torch.cat(numbers, -1)[..., later].mean(-1)


def _head_parts(inputs: Computed) -> Iterator[range]:
    """Heads whose weights are formed together: of whole groups, or within one."""
    capture = inputs.capture
    group = capture.heads // capture.key_heads
    most = max(1, _MOST // (_STRIP * inputs.tokens))
    within = max(size for size in range(1, group + 1) if size <= most and group % size == 0)
    size = most // group * group or within
    for start in range(0, capture.heads, size):
        yield range(start, min(start + size, capture.heads))


def _of_heads(encoding: Encoding, heads: range) -> Encoding:
    """The encoding of some heads, where they differ."""
    rows = encoding.family.parameters
    own: dict[str, Value] = {
        name: value[heads.start : heads.stop]
        for name, value in encoding.parameters
        if isinstance(value, tuple) and rows[name].heads(value) is not None
    }
    return encoding.replace(**own)


def _logits(
    inputs: Computed, encoding: Encoding, q: Tensor, k: Tensor, queries: range
) -> Float[Tensor, "heads queries keys"]:
    """Logits of some queries over all keys up to the last that one of them sees."""
    keys = _keys(inputs, queries)
    q, k = q[:, queries.start : queries.stop], k[:, : keys.stop]
    places = (_places(inputs, tokens) for tokens in (queries, keys))
    return inputs.capture.logits(inputs.layer, encoding, q, k, *places)


def _keys(inputs: Computed, queries: range) -> range:
    """The keys up to the last that some queries see."""
    first, last = _places(inputs, range(1)), _mask(inputs).ends(_places(inputs, queries))[1]
    return range(min(inputs.tokens, int(min(float(last.max() - first), inputs.tokens)) + 1))


def _places(inputs: Computed, tokens: range) -> Float[Tensor, " tokens"]:
    """Where tokens stand in what the model read: what comes before them may be left out."""
    return inputs.capture.key_positions[tokens.start : tokens.stop]


def _mask(inputs: Computed) -> Mask:
    """The mask of the layer."""
    return Mask.of(inputs.capture.masks[inputs.capture.place(inputs.layer)])


def _statistics(weights: Tensor, queries: range) -> Float[Tensor, "numbers *heads queries"]:
    """Entropy, mean distance and sink share of each query."""
    at = {"query_positions": token_places(queries)}
    at |= {"key_positions": token_places(range(weights.shape[-1]))}
    distance = attention_distance(weights, **at)
    return torch.stack([attention_entropy(weights), distance, sink_share(weights)])


def _block_means(
    inputs: Computed, weights: Tensor, queries: range, block: int
) -> Float[Tensor, "heads rows columns"]:
    """Mean weight of each block of some queries; NaN where nothing is seen."""
    m, n = (_places(inputs, tokens) for tokens in (queries, range(weights.shape[-1])))
    means = block_mean(weights, visible_keys(_mask(inputs), m, n), block)
    unseen = -(-inputs.tokens // block) - means.shape[-1]
    return torch.nn.functional.pad(means, (0, unseen), value=math.nan)

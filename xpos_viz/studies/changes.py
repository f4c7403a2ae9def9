r"""What would XPos do to a model: how the weights of every layer and head of a capture change.

XPos is RoPE with a decay, :math:`\lambda_i = \mathrm{i}\theta_i + \ln(\zeta_i)/B`. Here the
decay is added to the model's own rotation, whichever that is: for RoPE this is XPos, for a
stretched RoPE XPos with its angles, and layers that turn nothing stay as they are. The model was
not trained with it: this shows what the decay would take and give, not what a model trained
with XPos would read.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import attention_weights, visible_keys
from xpos_viz.encoding import Encoding, decay, nope
from xpos_viz.inputs import Capture, Computed
from xpos_viz.kernel import apply_encoding
from xpos_viz.measurements import frozen
from xpos_viz.statistics import (
    attention_distance,
    attention_entropy,
    sink_share,
    total_variation,
)
from xpos_viz.studies.kept import Kept
from xpos_viz.studies.tokens import own_encoding

Array = NDArray[np.float64]

Progress = Callable[[float], None]
"""What is told the share of the work that is done."""

MEASURES: tuple[str, ...] = ("variation", "entropy", "distance")
"""How a change is measured: total variation, or what is added to entropy or to mean distance."""

_CELLS = 1 << 22  # weights of a layer that are formed at a time
_AT_ONCE = 2  # strips that are computed at a time, each in a thread
_STRIP = 128  # most queries of them: what none of these sees is not formed
_WEIGHTS = 1 << 26  # bytes of weights with own encodings that are kept, of all texts
_VECTORS = 1 << 25  # bytes of vectors after their own rotation that are kept, of all texts
_TEXTS = 64  # texts whose numbers are kept


@dataclass(frozen=True, eq=False)
class Changes:
    """How the weights of a model change; all arrays are (layers, heads).

    Parameters
    ----------
    layers
        The numbers of the layers.
    owns
        What their own encodings are, to which the decay is added.
    gamma, scale_base
        γ and B of the decay.
    total_variation
        Share of a query's attention that moves, in [0, 1].
    entropy_before, entropy_after
        Of a query's attention, nats.
    distance_before, distance_after
        Mean distance of a query's attention, tokens.
    sink_before, sink_after
        Share of a query's attention on the first token.

    Notes
    -----
    Numbers are means over the queries that see more than one key, since the others have no
    choice; NaN where there is none.
    """

    layers: tuple[int, ...]
    owns: tuple[Encoding, ...]
    gamma: float
    scale_base: float
    total_variation: Array
    entropy_before: Array
    entropy_after: Array
    distance_before: Array
    distance_after: Array
    sink_before: Array
    sink_after: Array

    @property
    def largest(self) -> list[tuple[int, int]]:
        """Layer and head of each row and column, those that change most first."""
        order = np.argsort(-self.total_variation, axis=None, kind="stable")
        rows, heads = np.unravel_index(order, self.total_variation.shape)
        return [(self.layers[row], int(head)) for row, head in zip(rows, heads, strict=True)]

    def measured(self, measure: str) -> Array:
        """Return one of :data:`MEASURES` of each layer and head."""
        if measure == "variation":
            return self.total_variation
        return getattr(self, f"{measure}_after") - getattr(self, f"{measure}_before")

    def table(self) -> pd.DataFrame:
        """Return one row per layer and head, in the order of the model."""
        rows, heads = np.indices(self.total_variation.shape).reshape(2, -1)
        numbers = {name: getattr(self, name).ravel() for name in _NUMBERS}
        return pd.DataFrame({"layer": np.array(self.layers)[rows], "head": heads, **numbers})


_NUMBERS = (
    *("total_variation", "entropy_before", "entropy_after"),
    *("distance_before", "distance_after"),
    *("sink_before", "sink_after"),
)


def changes(
    capture: Capture,
    *,
    gamma: float = 0.4,
    scale_base: float = 512.0,
    own: Encoding | None = None,
    progress: Progress | None = None,
) -> Changes:
    r"""Compute how all weights of a capture change when its rotation also fades.

    Parameters
    ----------
    capture
        Layers and heads of a model, with mask, factor and cap of each layer.
    gamma, scale_base
        γ and B of XPos, as in :func:`xpos_viz.xpos`.
    own
        What takes the place of the model's own encodings; None is those, which must be known.
    progress
        What is told the share of the work that is done.

    Returns
    -------
    Changes
        Read-only arrays.

    Raises
    ------
    ValueError
        For a γ or B out of range, an encoding that is not known, or one that fades already.

    Notes
    -----
    Weights are formed for some queries of a layer at a time, so memory does not grow with the
    layers.

    Examples
    --------
    >>> from xpos_viz.inputs.sample import sample_capture
    >>> found = changes(sample_capture("pronoun"), scale_base=64.0)
    >>> found.total_variation.shape, found.largest[0]
    ((5, 9), (8, 7))
    >>> found.table().columns[:4].tolist()
    ['layer', 'head', 'total_variation', 'entropy_before']
    """
    owns = tuple(capture.encoding(layer, own) for layer in capture.layers)
    return _changes(capture, owns, gamma, scale_base, progress or (lambda _: None))


def of_text(inputs: Computed, encoding: Encoding, progress: Progress | None = None) -> Changes:
    r"""Compute how all weights of a text change with the γ and B of an XPos.

    Where a layer's own encoding is not known, :func:`xpos_viz.studies.tokens.own_encoding`
    takes its place. What was computed lately is kept.

    Parameters
    ----------
    inputs
        Any head of the text.
    encoding
        An XPos.
    progress
        As in :func:`changes`.

    Raises
    ------
    ValueError
        For a model whose encoding fades already.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> from xpos_viz.inputs import Sample
    >>> of_text(Sample("pronoun", 8, 2), xpos(64, scale_base=64.0)).largest[0]
    (8, 7)
    """
    capture = inputs.capture
    any_head = replace(inputs, layer=capture.layers[0], head=0)
    owns = own_encodings(inputs, encoding)
    gamma, scale_base = encoding["gamma"], encoding["scale_base"]
    key = (any_head, owns, gamma, scale_base)
    found = _kept.get(key)
    if found is None:
        found = _changes(capture, owns, gamma, scale_base, progress or (lambda _: None))
        _kept.put(key, found)
    return found


def own_encodings(inputs: Computed, encoding: Encoding) -> tuple[Encoding, ...]:
    """Return the encoding of each layer of a text, or what takes the place of an unknown one."""
    places = (replace(inputs, layer=layer) for layer in inputs.capture.layers)
    return tuple(own_encoding(place, encoding) for place in places)


def fades(encoding: Encoding) -> bool:
    """Return whether an encoding shrinks anything already."""
    return bool(encoding.log_decay.any())


def _changes(
    capture: Capture,
    owns: tuple[Encoding, ...],
    gamma: float,
    scale_base: float,
    report: Progress,
) -> Changes:
    """The numbers of all layers, one after the other, some strips of each at a time."""
    fading = decay(capture.head_dim, gamma=gamma, scale_base=scale_base)
    rows, count = list[Tensor](), len(capture.layers)
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        for done, (layer, own) in enumerate(zip(capture.layers, owns, strict=True)):
            strips, parts = _strips(capture, layer, own, fading), list[Tensor]()
            for part in pool.map(lambda strip: strip(), strips):
                parts.append(part)
                report((done + len(parts) / len(strips)) / count)
            rows.append(torch.cat(parts, -1).nanmean(-1))
    finally:
        pool.shutdown(cancel_futures=True)
    numbers = (frozen(each.numpy()) for each in torch.stack(rows, 1))
    return Changes(capture.layers, owns, gamma, scale_base, *numbers)


def _strips(
    capture: Capture, layer: int, own: Encoding, fading: Encoding
) -> list[Callable[[], Float[Tensor, "numbers heads queries"]]]:
    """What computes the numbers of a layer, some queries at a time."""
    if fades(own):
        raise ValueError(
            f"the encoding of layer {layer} fades already, got {own!r:.120}; "
            "use rope or another that does not, or compare weights of a capture."
        )
    if own.theta.any():  # its own rotation first: what is applied next is added to that
        vectors = _turned(capture, layer, own)
        both = (nope(own.head_dim), fading.replace(rotary_width=own.rotary_width))
    else:
        vectors, both = capture.layer_vectors(layer), (own, own)
    queries, keys = len(capture.query_positions), len(capture.key_positions)
    size = max(1, min(_STRIP, _CELLS // (capture.heads * keys)))
    parts = (slice(start, start + size) for start in range(0, queries, size))
    return [partial(_strip, capture, layer, own, both, *vectors, part) for part in parts]


def _strip(
    capture: Capture,
    layer: int,
    own: Encoding,
    encodings: tuple[Encoding, Encoding],
    q: Tensor,
    k: Tensor,
    queries: slice,
) -> Float[Tensor, "numbers heads queries"]:
    """The numbers of some queries of a layer; NaN for one that sees a single key."""
    m, n = capture.query_positions[queries], capture.key_positions
    mask = capture.masks[capture.place(layer)]
    seen = visible_keys(mask, m, n)
    keys = slice(_last(seen.any(0)) + 1)

    def read(encoding: Encoding) -> _Read:
        at = (q[:, queries], k[:, keys], m, n[keys])
        return _Read.of(attention_weights(capture.logits(layer, encoding, *at)), m, n[keys])

    key = (capture.hash, layer, own, queries.start, queries.stop)
    before = _own.get(key)
    if before is None:
        before = read(encodings[0])
        _own.put(key, before)
    after = read(encodings[1])
    pairs = zip(before.numbers, after.numbers, strict=True)
    moved = total_variation(before.weights, after.weights)
    numbers = torch.stack([moved, *(number for pair in pairs for number in pair)])
    return numbers.masked_fill(seen.sum(-1) < 2, torch.nan)


@dataclass(frozen=True, eq=False)
class _Read:
    """What some queries read: their weights, and entropy, mean distance and share of the sink."""

    weights: Float[Tensor, "heads queries keys"]
    numbers: tuple[Tensor, Tensor, Tensor]

    @classmethod
    def of(cls, weights: Tensor, m: Tensor, n: Tensor) -> "_Read":
        """Take the numbers of weights of queries at m and keys at n."""
        distance = attention_distance(weights, query_positions=m, key_positions=n)
        sink = sink_share(weights, key_positions=n)
        return cls(weights, (attention_entropy(weights), distance, sink))


def _turned(capture: Capture, layer: int, own: Encoding) -> tuple[Tensor, Tensor]:
    """Queries and keys of a layer after its own rotation, and its temperature."""
    key = (capture.hash, layer, own)
    found = _rotated.get(key)
    if found is None:
        m, n = capture.query_positions, capture.key_positions
        q, k = capture.layer_vectors(layer)
        q, k = apply_encoding(q, k, own, query_positions=m, key_positions=n, layout=capture.layout)
        found = (q * own.temperature).to(q), k
        _rotated.put(key, found)
    return found


def _last(keys: Bool[Tensor, " keys"]) -> int:
    """The last key that is seen; the first if there is none."""
    return int((keys * torch.arange(len(keys))).amax())


_kept: Kept[Changes] = Kept(_TEXTS)
_rotated: Kept[tuple[Tensor, Tensor]] = Kept(_VECTORS, lambda both: sum(x.nbytes for x in both))
_own: Kept[_Read] = Kept(_WEIGHTS, lambda read: read.weights.nbytes)

"""What one head of a captured text reads under an encoding, some queries at a time.

Mask, scale and cap of the logits are those of the layer in its model. Where weights are to be
compared with the model's own, the same strips of these are formed once and kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from xpos_viz.attention import attention_weights, visible_keys
from xpos_viz.encoding import Encoding
from xpos_viz.inputs import Computed, Inputs
from xpos_viz.studies.kept import Kept

_CELLS = 1 << 19  # logits of a strip, which is 4 MiB
_KEPT = 1 << 26  # bytes of logits that are kept, of all heads


@dataclass(frozen=True, eq=False)
class Strip:
    """What some queries read.

    Parameters
    ----------
    logits
        (queries, keys), float64, up to the last key that is seen; −∞ where one is not.
    query_positions, key_positions
        Where they stand, tokens.
    """

    logits: Float[Tensor, "queries keys"]
    query_positions: Float[Tensor, " queries"]
    key_positions: Float[Tensor, " keys"]

    @property
    def places(self) -> dict[str, Tensor]:
        """The positions as functions of :mod:`xpos_viz.statistics` take them."""
        return {
            "query_positions": self.query_positions,
            "key_positions": self.key_positions,
        }

    @cached_property
    def seen(self) -> Bool[Tensor, "queries keys"]:
        """Which keys are seen."""
        return ~self.logits.isneginf()

    @cached_property
    def weights(self) -> Float[Tensor, "queries keys"]:
        """The attention."""
        return attention_weights(self.logits)

    def near(self, window: int) -> Bool[Tensor, "queries keys"]:
        """Which keys are seen with |m − n| < window."""
        lags = self.query_positions[:, None] - self.key_positions
        return self.seen & (lags.abs() < window)

    def within(self, window: int) -> Float[Tensor, "queries keys"]:
        """The attention if no other keys than these were seen."""
        return attention_weights(self.logits.where(self.near(window), -torch.inf))

    def choosing(self, numbers: Float[Tensor, " queries"]) -> Float[Tensor, " queries"]:
        """Numbers of the queries that see more than one key, and NaN of the others."""
        return numbers.masked_fill(self.seen.sum(-1) < 2, torch.nan)


def mean_of_queries(
    inputs: Inputs, encodings: Sequence[Encoding], number: Callable[..., Float[Tensor, " queries"]]
) -> Float[Tensor, ""]:
    """Return the mean of a number over the queries of a text that have one.

    Parameters
    ----------
    inputs
        A head of a captured text.
    encodings
        Those under which it is read.
    number
        A function of a :class:`Strip` for each encoding; NaN of a query that does not count.

    Raises
    ------
    ValueError
        If the inputs are no text, or none of its queries counts.
    """
    if not isinstance(inputs, Computed):
        raise ValueError(f"this is read of a captured text, got {inputs!r}; use Sample().")
    read = (strips(inputs, encoding) for encoding in encodings)
    numbers = torch.cat([number(*each) for each in zip(*read, strict=True)])
    if bool(numbers.isnan().all()):
        raise ValueError(
            f"no query of {inputs.tokens} tokens has a choice of such keys; use a longer text, or "
            "another window."
        )
    return numbers.nanmean()


def strips(inputs: Computed, encoding: Encoding) -> Iterator[Strip]:
    """Read a head of a text, some queries at a time."""
    if encoding.heads is not None:
        raise ValueError(
            f"one head is read, got values for {encoding.heads} in {encoding!r:.60}; "
            "use one number for each parameter."
        )
    capture = inputs.capture
    queries, keys = len(capture.query_positions), len(capture.key_positions)
    size = max(1, _CELLS // keys)
    for start in range(0, queries, size):
        yield _strip(inputs, encoding, slice(start, start + size))


def _strip(inputs: Computed, encoding: Encoding, queries: slice) -> Strip:
    """Read some queries; what was read lately is kept if it is the model's own."""
    capture = inputs.capture
    own = encoding == capture.encodings[capture.place(inputs.layer)]
    key = (inputs, encoding, queries.start, queries.stop)
    found = _own.get(key) if own else None
    if found is None:
        found = _formed(inputs, encoding, queries)
        if own:
            _own.put(key, found)
    return found


def _formed(inputs: Computed, encoding: Encoding, queries: slice) -> Strip:
    """Form the logits of some queries."""
    capture = inputs.capture
    vectors = capture.vectors(inputs.layer, inputs.head)
    m, n = capture.query_positions[queries], capture.key_positions
    seen = visible_keys(capture.masks[capture.place(inputs.layer)], m, n).any(0)
    last = int(torch.nonzero(seen).max()) if bool(seen.any()) else 0
    q, k, n = vectors.q[queries], vectors.k[: last + 1], n[: last + 1]
    return Strip(capture.logits(inputs.layer, encoding, q, k, m, n), m, n)


_own: Kept[Strip] = Kept(_KEPT, lambda strip: strip.logits.nbytes)

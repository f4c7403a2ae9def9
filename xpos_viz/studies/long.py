"""Maps of long texts, up to a million tokens, under masks.

Maps of mean scores take time in proportion to the length L. Smallest and largest values, and
all weights, need every visible score, so L is cut where that would be too many. Whoever waits
is told how far the work is, and may end it by raising an exception in that.
"""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray

from xpos_viz.curves import lag_counts
from xpos_viz.encoding import Encoding
from xpos_viz.inputs import Computed, Expectation, Random, Vectors
from xpos_viz.measurements import frozen
from xpos_viz.pooling import block_size, pooled_map
from xpos_viz.pooling.maps import MapStage, Reduce
from xpos_viz.pooling.sides import Report
from xpos_viz.studies.kept import Kept

Panel = tuple[Encoding, str]
"""What one map is of: an encoding and the word of a mask."""

CELLS = 128
"""Rows and columns of a map, at most."""

MOST_SCORES = 5_000_000_000
"""Most scores that are formed one by one for a picture: about half a minute of one core."""

MOST_NUMBERS = 1 << 26
"""Most numbers of the queries, and of the keys: 256 MiB of float32 each."""

_LIGHT = 1 << 22, 1 << 27  # numbers and scores of a picture that waits for no other
_MAPS = 24  # maps that are kept
_POLL = 0.2  # seconds between two looks at whether somebody still waits
_turn = threading.Semaphore(1)


@dataclass(frozen=True)
class Beginning:
    """The first tokens of a text that a model read.

    Parameters
    ----------
    of
        A head that read it.
    length
        Tokens.
    """

    of: Computed
    length: int

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return self.length

    def load(self, head_dim: int, dtype: torch.dtype) -> Vectors:
        """Return their vectors, which have a width of their own."""
        found = self.of.load(head_dim)
        q, k = (vectors[: self.length].to(dtype) for vectors in (found.q, found.k))
        return replace(found, q=q, k=k)


@dataclass(frozen=True)
class Long:
    """A picture of a long text: a map for each encoding under each mask.

    Parameters
    ----------
    inputs
        Queries and keys, and how many.
    encodings
        Encodings of one width.
    masks
        Words of masks.
    stage
        "scores" or "weights".
    reduce
        What a block shows of its visible cells: "mean", "min" or "max".
    """

    inputs: Expectation | Random | Beginning
    encodings: tuple[Encoding, ...]
    masks: tuple[str, ...]
    stage: MapStage = "scores"
    reduce: Reduce = "mean"

    @property
    def tokens(self) -> int:
        """L."""
        return self.inputs.tokens

    @property
    def numbers(self) -> int:
        """Numbers of the queries."""
        return self.tokens * self.encodings[0].head_dim

    @property
    def linear(self) -> bool:
        """Whether the time grows with L, and not with its square."""
        return self.stage == "scores" and self.reduce == "mean"

    @property
    def scores(self) -> int:
        """How many scores are formed one by one."""
        if self.linear:
            return 0
        return len(self.encodings) * sum(visible_pairs(mask, self.tokens) for mask in self.masks)

    @property
    def light(self) -> bool:
        """Whether it is so little that several may be computed at once."""
        numbers, scores = _LIGHT
        return self.numbers <= numbers and self.scores <= scores


@dataclass(frozen=True, eq=False)
class LongMap:
    """One map.

    Parameters
    ----------
    encoding, mask
        What it is of.
    values
        (blocks, blocks), rows are queries; NaN where the mask hides the whole block.
    counts
        (blocks, blocks), visible cells of each block.
    block
        Tokens of a block; the last may have fewer.
    tokens
        L.
    """

    encoding: Encoding
    mask: str
    values: Float[NDArray[np.float64], "blocks blocks"]
    counts: Int[NDArray[np.int64], "blocks blocks"]
    block: int
    tokens: int

    @property
    def positions(self) -> Float[NDArray[np.float64], " blocks"]:
        """Position of each block's middle, tokens."""
        return np.arange(len(self.values)) * self.block + np.float64(self.block - 1) / 2

    @property
    def near(self) -> float:
        """Mean size of a cell of blocks that are less than an eighth of L apart."""
        return self._size(self._apart < self.tokens / 8)

    @property
    def far(self) -> float:
        """Mean size of a cell of blocks at least half of L apart; NaN if none is visible."""
        return self._size(self._apart >= self.tokens / 2)

    @property
    def _apart(self) -> Int[NDArray[np.int64], "blocks blocks"]:
        """How far the key block of a cell lies behind its query block, tokens."""
        place = np.arange(len(self.values)) * self.block
        return place[:, None] - place

    def _size(self, chosen: NDArray[np.bool_]) -> float:
        """Mean |value| of the visible cells of some blocks."""
        counts = np.where(chosen, self.counts, 0)
        seen = counts > 0
        total = counts.sum()
        return (
            float((counts[seen] * np.abs(self.values[seen])).sum() / total) if total else math.nan
        )


@lru_cache(maxsize=64)
def visible_pairs(mask: str, tokens: int) -> int:
    """How many pairs of a query and a key a mask leaves visible among so many tokens."""
    return int(lag_counts(mask, tokens)[1].sum())


def fitting(asked: Long) -> Long:
    """Return what is asked, of half the tokens, a quarter … where it is too much for a server.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> asked = Long(Expectation(1 << 20), (xpos(64),), ("causal",), reduce="max")
    >>> fitting(asked).tokens, fitting(replace(asked, reduce="mean")).tokens
    (65536, 1048576)
    """
    if asked.numbers <= MOST_NUMBERS and asked.scores <= MOST_SCORES:
        return asked
    return fitting(_of_length(asked, asked.tokens // 2))


def long_maps(long: Long, report: Report) -> tuple[LongMap, ...]:
    """Compute the maps, encoding after encoding; those that were computed lately are kept.

    Parameters
    ----------
    long
        What is asked; of a length that :func:`fitting` gives.
    report
        Is told the share that is done; 0 while others have their turn.
    """
    what = replace(long, encodings=(), masks=())
    panels = list(product(long.encodings, long.masks))
    found = {panel: _kept.get((what, panel)) for panel in panels}
    if None in found.values():
        with nullcontext() if long.light else _taking_turns(report):
            found = {panel: _kept.get((what, panel)) for panel in panels}  # by others, meanwhile
            missing = [panel for panel, known in found.items() if known is None]
            for panel, computed in zip(missing, _computed(long, missing, report), strict=True):
                _kept.put((what, panel), computed)
                found[panel] = computed
    return tuple(known for known in found.values() if known is not None)


def map_table(maps: Sequence[LongMap]) -> pd.DataFrame:
    """Return one row per block that a mask shows.

    Columns are encoding (the call that makes it), mask, query_first, query_last, key_first and
    key_last (tokens, included), cells (visible ones) and value.
    """
    return pd.concat([_rows(each) for each in maps], ignore_index=True)


def _rows(each: LongMap) -> pd.DataFrame:
    """The rows of one map."""
    row, column = np.nonzero(each.counts)
    return pd.DataFrame(
        {
            "encoding": repr(each.encoding),
            "mask": each.mask,
            "query_first": row * each.block,
            "query_last": np.minimum((row + 1) * each.block, each.tokens) - 1,
            "key_first": column * each.block,
            "key_last": np.minimum((column + 1) * each.block, each.tokens) - 1,
            "cells": each.counts[row, column],
            "value": each.values[row, column],
        }
    )


def _of_length(asked: Long, tokens: int) -> Long:
    """The same of another length."""
    return replace(asked, inputs=replace(asked.inputs, length=tokens))


@contextmanager
def _taking_turns(report: Report) -> Iterator[None]:
    """Wait until no other large picture is computed, or until nobody waits for this one."""
    while not _turn.acquire(timeout=_POLL):
        report(0.0)
    try:
        yield
    finally:
        _turn.release()


def _computed(long: Long, panels: list[Panel], report: Report) -> Iterator[LongMap]:
    """Compute some of the maps; their queries and keys are loaded once, and let go after."""
    vectors = long.inputs.load(long.encodings[0].head_dim, torch.float32)
    for done, (encoding, mask) in enumerate(panels):
        picture = pooled_map(
            vectors.q,
            vectors.k,
            encoding,
            layout=vectors.layout,
            size=CELLS,
            reduce=long.reduce,
            stage=long.stage,
            mask=mask,
            progress=lambda share, done=done: report((done + share) / len(panels)),
        )
        values, counts = picture.values.double().numpy(), picture.counts.numpy()
        block = block_size(long.tokens, CELLS)
        yield LongMap(encoding, mask, frozen(values), frozen(counts), block, long.tokens)


_kept: Kept[LongMap] = Kept(_MAPS)

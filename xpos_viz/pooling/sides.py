"""One head's queries or keys as they enter a map: vectors, positions and blocks of tokens."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from xpos_viz.entry import Layout, Pairs, Rates, to_pairs
from xpos_viz.kernel import turn_pairs

Report = Callable[[float], None]
"""Is told the share of the work that is done."""

TILE = 1024
"""Queries and keys of a tile, at most: float32 scores of 4 MiB, which stay near the processor."""


@dataclass(frozen=True, eq=False)
class Side:
    """Queries or keys of one head, in blocks of so many tokens; the last may be shorter.

    `tile` is how many of them a tile has at most.
    """

    vectors: Float[Tensor, "tokens head_dim"]
    positions: Float[Tensor, " tokens"]
    block: int
    layout: Layout
    width: int
    tile: int = TILE

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return len(self.positions)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return math.ceil(self.tokens / self.block)

    def pairs(self, tokens: slice | Tensor) -> Pairs:
        """Those tokens as complex pairs, in float32 at least."""
        return to_pairs(self.vectors[tokens], self.layout, self.width)

    def groups(
        self, starts: Int[Tensor, " groups"], size: int
    ) -> tuple[Pairs, Int[Tensor, "groups size"], Bool[Tensor, "groups size"]]:
        """Pairs and indices of `size` tokens from each start, and which are of its block.

        Tokens that are not have zeros for pairs.
        """
        tokens = starts[:, None] + torch.arange(size, device=starts.device)
        ends = (starts // self.block * self.block + self.block).clamp(max=self.tokens)
        own = tokens < ends[:, None]
        tokens = tokens.clamp(max=self.tokens - 1)
        first, last = int(starts[0]), int(starts[-1]) + size
        if last - first == tokens.numel() and last <= self.tokens:  # one piece: no copy
            pairs = self.pairs(slice(first, last))
        else:
            pairs = self.pairs(tokens.flatten().to(self.vectors.device))
        pairs = pairs.reshape(-1, size, pairs.shape[-1])
        if not bool(own.all()):
            pairs = pairs.masked_fill(~own[..., None].to(pairs.device), 0)
        return pairs, tokens, own


def parts(count: int, size: int) -> Iterator[slice]:
    """Cut 0 … count into slices of at most `size`."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def turned_alike(pairs: Pairs, rates: Rates, offsets: Float[Tensor, "nodes tokens"]) -> Pairs:
    """Turn each row of tokens by its offsets; rows of equal offsets share a table."""
    result = turn_pairs(pairs, rates, offsets[0])
    other = (offsets != offsets[0]).any(-1).nonzero().squeeze(-1)
    if len(other):
        result[other] = turn_pairs(pairs[other], rates, offsets[other])
    return result

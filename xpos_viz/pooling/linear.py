r"""Block means of scores by linearity: time and memory grow with L, not with its square.

Where every query of a block sees every key of another, their mean score is the score of two
*nodes*: the mean of the queries, each turned to the block's first position o, and that of the
keys, each turned to the block's last position p,

.. math:: \operatorname{mean}_{m, n} s(m, n) = \operatorname{Re} \sum_i
   \operatorname{mean}_m \bigl[q_i(m)\, e^{\lambda_i (m - o)}\bigr]\,
   \overline{\operatorname{mean}_n \bigl[k_i(n)\, e^{\bar\lambda_i (p - n)}\bigr]}\,
   e^{\lambda_i (o - p)}

so the kernel's own formula is used again, and both factors inside are ≤ 1 at every length. A
block that the mask cuts is a map of smaller nodes, and so on down to a few tokens a side,
whose cells are summed one by one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Bool, Complex, Float, Int
from torch import Tensor

from xpos_viz.entry import Rates
from xpos_viz.kernel import pair_scores
from xpos_viz.masks import Mask
from xpos_viz.pooling.sides import Report, Side, parts, turned_alike

Index = Int[Tensor, "..."]

_LEAF = 32  # tokens of the smallest node: cells between two of them are summed one by one
_BRANCH = 64  # children of a larger node
_TOKENS = 1 << 13  # tokens turned at a time
_CELLS = 1 << 18  # cells summed at a time; both keep temporaries in the processor's cache


@dataclass(frozen=True, eq=False)
class Nodes:
    """Groups of tokens: the sums of their turned pairs, and what they see or where they stand.

    `least` and `greatest` are taken over a node's tokens, of the two ends of what a query sees,
    or of a key's position, twice. A node without tokens has zeros, ∞ and −∞.
    """

    sums: Complex[Tensor, "*nodes pairs"]
    origins: Float[Tensor, "*nodes"]
    tokens: Int[Tensor, "*nodes"]
    least: Float[Tensor, "*nodes ends"]
    greatest: Float[Tensor, "*nodes ends"]

    @property
    def means(self) -> Complex[Tensor, "*nodes pairs"]:
        """The means of the turned pairs."""
        return self.sums / self.tokens[..., None].to(self.sums.device)

    def at(self, index: Index) -> "Nodes":
        """Return the nodes of these indices, in the shape of the index."""
        return Nodes(*(value[index] for value in vars(self).values()))


@dataclass(frozen=True, eq=False)
class _Tree:
    """Nodes of one side, the blocks first, then their children; below the last are tokens."""

    side: Side
    ends: Float[Tensor, "tokens ends"]
    levels: list[Nodes]
    branches: list[int]

    def below(self, level: int, nodes: Index) -> tuple[Index, Nodes]:
        """Return the children of some nodes: their indices and themselves, (nodes, branch)."""
        if level == len(self.levels) - 1:
            in_block, leaf = math.prod(self.branches[:-1]), self.branches[-1]
            starts = nodes // in_block * self.side.block + nodes % in_block * leaf
            return nodes, _tokens(self.side, self.ends, starts, leaf)
        branch = self.branches[level]
        index = nodes[:, None] * branch + torch.arange(branch, device=nodes.device)
        return index, self.levels[level + 1].at(index)


@dataclass(frozen=True, eq=False)
class _CutBlocks:
    """Sums over the blocks that a mask cuts, to which ever smaller nodes add theirs."""

    queries: _Tree
    keys: _Tree
    rates: Rates
    scores: Float[Tensor, " blocks"]
    cells: Int[Tensor, " blocks"]

    def add(self, level: int, rows: Index, columns: Index, blocks: Index) -> Iterator[float]:
        """Add what is visible between pairs of nodes to their blocks; say what share is done."""
        size = self.queries.branches[level] * self.keys.branches[level]
        for part in parts(len(rows), max(1, _CELLS // size)):
            for share in self._add(level, rows[part], columns[part], blocks[part]):
                yield (part.start + share * (part.stop - part.start)) / len(rows)

    def _add(self, level: int, rows: Index, columns: Index, blocks: Index) -> Iterator[float]:
        """Add children that see all of each other, then go on with those that the mask cuts."""
        (row, q), (column, k) = self.queries.below(level, rows), self.keys.below(level, columns)
        full, cut = _meeting(q, k)
        scores = _tiles(q, k, self.rates).masked_fill(~full.to(q.sums.device), 0)
        sums = scores.sum((-2, -1), dtype=torch.float64)
        cells = ((full * k.tokens[..., None, :]).sum(-1) * q.tokens).sum(-1)
        self.scores.index_add_(0, blocks, sums.to(self.scores))
        self.cells.index_add_(0, blocks, cells)
        if level + 1 < len(self.queries.levels):
            pair, i, j = cut.nonzero(as_tuple=True)
            yield from self.add(level + 1, row[pair, i], column[pair, j], blocks[pair])
        else:
            yield 1.0


def mean_scores(
    q: Side, k: Side, rates: Rates, mask: Mask, report: Report
) -> tuple[Float[Tensor, "rows columns"], Int[Tensor, "rows columns"]]:
    """Mean score over the visible cells of each block, float64, and how many those are."""
    sizes = _sizes(max(q.block, k.block))
    queries = _tree(q, rates, torch.stack(mask.ends(q.positions), -1), sizes, 1.0)
    report(0.2)
    keys = _tree(k, rates.conj(), k.positions[:, None].expand(-1, 2), sizes, -1.0)
    report(0.4)
    rows, columns = queries.levels[0], keys.levels[0]
    full, cut = _meeting(rows, columns)
    means = pair_scores(rows.means, columns.means, rates, rows.origins, columns.origins)
    counts = full * (rows.tokens[:, None] * columns.tokens)
    row, column = cut.nonzero(as_tuple=True)
    cells = counts.new_zeros(len(row))
    blocks = _CutBlocks(queries, keys, rates, means.new_zeros(len(row)), cells)
    for share in blocks.add(0, row, column, torch.arange(len(row), device=row.device)):
        report(0.4 + 0.6 * share)
    means[row, column], counts[row, column] = blocks.scores / cells, cells
    return means.masked_fill(counts == 0, math.nan), counts


def _sizes(longest: int) -> list[int]:
    """Tokens of the nodes below blocks of that many, in falling order."""
    sizes: list[int] = []
    size = _LEAF
    while size < longest:
        sizes, size = [size, *sizes], size * _BRANCH
    return sizes


def _tree(
    side: Side, rates: Rates, ends: Float[Tensor, "tokens ends"], sizes: list[int], direction: float
) -> _Tree:
    """Nodes of one side; keys are turned as queries at −n would be by the conjugate rates."""
    sizes = [side.block, *(min(size, side.block) for size in sizes)]
    branches = [math.ceil(size / below) for size, below in pairwise(sizes)]
    levels = [_leaves(side, rates, ends, sizes[-1], math.prod(branches), direction)]
    for branch in reversed(branches):
        index = torch.arange(len(levels[0].tokens)).view(-1, branch)
        levels.insert(0, _gathered(levels[0].at(index), rates, direction))
    return _Tree(side, ends, levels, [*branches, sizes[-1]])


def _leaves(
    side: Side,
    rates: Rates,
    ends: Float[Tensor, "tokens ends"],
    size: int,
    in_block: int,
    direction: float,
) -> Nodes:
    """The smallest nodes, so many in each block; where they are too many, some have no tokens."""
    firsts = torch.arange(0, side.block, size, device=ends.device)
    blocks = torch.arange(side.blocks, device=ends.device)[:, None]
    starts = (blocks * side.block + firsts).flatten()
    index = (blocks * in_block + torch.arange(len(firsts), device=ends.device)).flatten()
    count = len(blocks) * in_block
    nodes = Nodes(
        rates.new_zeros(count, rates.shape[-1]),
        ends.new_zeros(count),
        index.new_zeros(count),
        ends.new_full((count, 2), math.inf),
        ends.new_full((count, 2), -math.inf),
    )
    for part in parts(len(starts), max(1, _TOKENS // size)):
        some = _gathered(_tokens(side, ends, starts[part], size), rates, direction)
        for field, value in vars(nodes).items():
            value[index[part]] = vars(some)[field]
    origins = nodes.origins.view(-1, in_block)
    origins[:, len(firsts) :] = origins[:, len(firsts) - 1 : len(firsts)]
    return nodes


def _tokens(side: Side, ends: Float[Tensor, "tokens ends"], starts: Index, size: int) -> Nodes:
    """Return tokens as nodes of one token each, (starts, size)."""
    pairs, tokens, own = side.groups(starts, size)
    least, greatest = (
        ends[tokens].masked_fill(~own[..., None], empty) for empty in (math.inf, -math.inf)
    )
    return Nodes(pairs, side.positions[tokens], own.int(), least, greatest)


def _gathered(nodes: Nodes, rates: Rates, direction: float) -> Nodes:
    """One node of each row of nodes, turned to the first that has content (of keys: the last)."""
    at = nodes.origins * direction
    some = (nodes.tokens > 0).any(-1, keepdim=True)
    first = at.masked_fill((nodes.tokens == 0) & some, math.inf).min(-1, keepdim=True)
    origins = first.values
    if not bool((nodes.sums.take_along_dim(first.indices[..., None], -2) != 0).any(-1).all()):
        spoken = (nodes.sums != 0).any(-1).to(at.device)
        content = at.masked_fill(~spoken, math.inf).amin(-1, keepdim=True)
        origins = torch.where(spoken.any(-1, keepdim=True), content, origins)
    sums = turned_alike(nodes.sums, rates, (at - origins).clamp(min=0.0)).sum(-2)
    return Nodes(
        sums.to(rates),
        origins.squeeze(-1) * direction,
        nodes.tokens.sum(-1),
        nodes.least.amin(-2),
        nodes.greatest.amax(-2),
    )


def _meeting(q: Nodes, k: Nodes) -> tuple[Bool[Tensor, "..."], Bool[Tensor, "..."]]:
    """Which pairs of nodes see each other whole, and which of them the mask may cut."""
    (least_first, least_last), (greatest_first, greatest_last) = (
        ends[..., :, None, :].unbind(-1) for ends in (q.least, q.greatest)
    )
    low, high = k.least[..., None, :, 0], k.greatest[..., None, :, 1]
    full = (low >= greatest_first) & (high <= least_last)
    return full, (high >= least_first) & (low <= greatest_last) & ~full


def _tiles(q: Nodes, k: Nodes, rates: Rates) -> Float[Tensor, "tiles query_nodes key_nodes"]:
    """Scores of each row of nodes with another; rows spaced alike share their tables."""
    start = q.origins[:, :1]
    m, n = q.origins - start, k.origins - start
    scores = pair_scores(q.sums, k.sums, rates, m[0], n[0])
    other = ((m != m[0]).any(-1) | (n != n[0]).any(-1)).nonzero().squeeze(-1)
    if len(other):
        at = (x[other] for x in (m, n))
        scores[other] = pair_scores(q.sums[other], k.sums[other], rates, *at)
    return scores

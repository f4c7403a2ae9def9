r"""What is not linear, by streaming: extremes of scores, and weights, tile after tile.

Queries and keys are cut into strips. Each is turned once, to an origin of its own (queries to
their first position, keys to their last), and only the step between two origins is left to a
tile: its factors are ≤ 1 wherever keys lie before queries, at every length. Tiles that grow
beyond the dtype are left to :func:`xpos_viz.kernel.pair_scores`.

Weights take one pass. A tile's softmax is formed with the tile's own row maxima μ and summed
over key blocks; once a strip of queries has met all keys, each sum is multiplied by
:math:`e^{\mu - \max\mu}` and divided by the row's total.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from xpos_viz.entry import Pairs, Rates
from xpos_viz.kernel import longest_span, pair_scores, turn_pairs, turned_product
from xpos_viz.masks import PositionTensor
from xpos_viz.pooling.blocks import COUNT, REDUCTIONS, SUM, Reduction, reduced
from xpos_viz.pooling.sides import Report, Side, parts, turned_alike

Bias = Callable[[Tensor], Tensor]

KeyEnds = Callable[[PositionTensor], tuple[PositionTensor, PositionTensor]]
"""The first and the last key position that queries see: :meth:`xpos_viz.masks.Mask.ends`."""

_TURNED = 16  # strips turned at a time


@dataclass(frozen=True, eq=False)
class Strip:
    """A piece of one side: its tokens, turned to their own origin, and where they stand."""

    tokens: slice
    blocks: slice
    sizes: Int[Tensor, " blocks"]
    turned: Pairs
    origin: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Hidden:
    """Cells of a tile that are not visible, and how many of them each block has."""

    cells: Bool[Tensor, "query_tokens key_tokens"]
    blocks: Int[Tensor, "query_blocks key_blocks"]


@dataclass(frozen=True, eq=False)
class Tile:
    """Scores of a strip of queries with one of keys; `hidden` is None where no cell is.

    The scores stand in memory that the next tile overwrites.
    """

    q: Strip
    k: Strip
    scores: Float[Tensor, "query_tokens key_tokens"]
    hidden: Hidden | None

    @property
    def cells(self) -> int:
        """How many cells are not hidden."""
        return self.scores.numel() - (0 if self.hidden is None else int(self.hidden.blocks.sum()))

    def masked(self, value: float) -> Float[Tensor, "query_tokens key_tokens"]:
        """Return the scores themselves, with that value in hidden cells."""
        if self.hidden is None:
            return self.scores
        hidden, filler = self.hidden.cells.to(self.scores.device), self.scores.new_tensor(value)
        return torch.where(hidden, filler, self.scores, out=self.scores)  # sooner than masked_fill_


@dataclass(frozen=True, eq=False)
class Tiles:
    """The tiles of one head in which anything is visible, scores multiplied by a factor."""

    q: Side
    k: Side
    rates: Rates
    ends: KeyEnds
    factor: float = 1.0

    def __iter__(self) -> Iterator[Tile]:
        """All tiles, one after the other."""
        return chain.from_iterable(along for _, along in self.strips(_unheard))

    @cached_property
    def keys(self) -> list[Strip]:
        """The strips of keys."""
        return list(_strips(self.k, self.rates.conj(), -1.0))

    @cached_property
    def memory(self) -> Float[Tensor, " cells"]:
        """Where the scores of each tile are formed: new memory costs as much as half of them."""
        cells = min(self.q.tile, self.q.tokens) * min(self.k.tile, self.k.tokens)
        return self.keys[0].turned.real.new_empty(cells)

    @cached_property
    def longest(self) -> float:
        """The longest span, tokens, whose growth fits one product."""
        if not bool(self.rates.real.any()):
            return math.inf
        q, k = (side.pairs(slice(None)) for side in (self.q, self.k))
        return longest_span(q, k, self.rates)

    def strips(self, report: Report) -> Iterator[tuple[Strip, Iterator[Tile]]]:
        """The strips of queries and their tiles; reports when the next one is asked for."""
        work = [
            (rows.stop - rows.start) * sum(key.tokens.stop - key.tokens.start for key in seen)
            for rows in _cuts(self.q)
            for seen in [self._seen(*self.ends(self.q.positions[rows]))]
        ]
        done = 0
        for cells, q in zip(work, _strips(self.q, self.rates, 1.0), strict=True):
            yield q, self._along(q)
            done += cells
            report(done / max(sum(work), 1))

    def _seen(self, first: Tensor, last: Tensor) -> list[Strip]:
        """The strips of keys of which queries that see first … last may see some."""
        low, high = float(first.min()), float(last.max())
        return [key for key in self.keys if key.high >= low and key.low <= high]

    def _along(self, q: Strip) -> Iterator[Tile]:
        """The tiles of one strip of queries."""
        first, last = self.ends(self.q.positions[q.tokens])
        low, high = float(first.max()), float(last.min())
        seen = self._seen(first, last)
        shifts = torch.tensor([q.origin - k.origin for k in seen], dtype=torch.float64)
        ones = q.turned.new_full((len(seen), q.turned.shape[-1]), self.factor)
        steps = turn_pairs(ones, self.rates, shifts.to(self.rates.device))
        for k, step in zip(seen, steps, strict=True):
            cuts = k.low < low, k.high > high
            hidden = self._hidden(k, first, last, cuts) if any(cuts) else None
            yield Tile(q, k, self._scores(q, k, step), hidden)

    @cached_property
    def _latest(self) -> dict[tuple[bool, bool, int, int], tuple[Tensor, Hidden]]:
        """Where cells were hidden last, and which, by the ends that cut and the tile's sides."""
        return {}

    def _hidden(
        self, k: Strip, first: PositionTensor, last: PositionTensor, cuts: tuple[bool, bool]
    ) -> Hidden:
        """What a tile hides: mostly what the one before on its diagonal did, a step further."""
        n = self.k.positions[k.tokens]
        at = torch.cat([n, *[first] * cuts[0], *[last] * cuts[1]])
        where = at - n[0]
        lossless = torch.equal(where + n[0], at)  # then their order is that of the positions
        kind = *cuts, len(last), len(n)
        places, hidden = self._latest.get(kind, (where, None))
        if lossless and hidden is not None and torch.equal(places, where):
            return hidden
        cells = (n < first[:, None]) | (n > last[:, None])
        by_row_block = reduced(cells, 0, self.q.block, COUNT)
        hidden = Hidden(cells, reduced(by_row_block, 1, self.k.block, COUNT))
        if lossless:
            self._latest[kind] = where, hidden
        return hidden

    def _scores(self, q: Strip, k: Strip, step: Tensor) -> Float[Tensor, "..."]:
        """The scores of one tile."""
        if q.origin >= k.origin or max(q.high, k.high) - min(q.low, k.low) <= self.longest:
            rows, columns = q.turned.shape[0], k.turned.shape[0]
            scores = self.memory[: rows * columns].view(rows, columns)
            return turned_product(q.turned * step, k.turned, scores)
        pairs = self.q.pairs(q.tokens), self.k.pairs(k.tokens)
        positions = self.q.positions[q.tokens], self.k.positions[k.tokens]
        return pair_scores(*pairs, self.rates, *positions) * self.factor


@dataclass(frozen=True, eq=False)
class _Map:
    """Blocks to which pieces of a matrix are added, and how many visible cells they have."""

    tiles: Tiles
    reduction: Reduction
    values: Float[Tensor, "rows columns"]
    counts: Int[Tensor, "rows columns"]

    @classmethod
    def empty(cls, tiles: Tiles, reduction: Reduction) -> "_Map":
        """A map of which no cell has been seen."""
        shape = [side.blocks for side in (tiles.q, tiles.k)]
        values = torch.full(shape, reduction.neutral, dtype=torch.float64)
        return cls(tiles, reduction, values, torch.zeros(shape, dtype=torch.int64))

    def add(self, q: Strip, by_key_block: Iterable[tuple[Strip, Tensor]]) -> None:
        """Add what queries (rows) have on the key blocks (columns) of strips, and their cells."""
        strips = list(by_key_block)
        if not strips:
            return
        keys, values = zip(*strips, strict=True)
        by_block = reduced(torch.cat(values, 1), 0, self.tiles.q.block, self.reduction)
        _scatter(self.values[q.blocks], keys, by_block, self.reduction)
        cells = torch.outer(q.sizes, torch.cat([k.sizes for k in keys]))
        _scatter(self.counts[q.blocks], keys, cells, SUM)

    def hide(self, tile: Tile) -> None:
        """Do not count the hidden cells of a tile."""
        if tile.hidden is not None:
            _scatter(self.counts[tile.q.blocks], [tile.k], -tile.hidden.blocks, SUM)

    def result(self) -> tuple[Tensor, Tensor]:
        """The values, NaN where no cell is visible, and the counts."""
        values = self.values / self.counts if self.reduction is SUM else self.values
        return values.masked_fill(self.counts == 0, math.nan), self.counts


def score_map(tiles: Tiles, reduce: str, report: Report) -> tuple[Tensor, Tensor]:
    """Reduce the scores of each block over its visible cells, and count those."""
    reduction = REDUCTIONS[reduce]
    result = _Map.empty(tiles, reduction)
    for q, along in tiles.strips(report):
        result.add(q, _by_key_block(result, along))
    return result.result()


def _by_key_block(result: _Map, along: Iterator[Tile]) -> Iterator[tuple[Strip, Tensor]]:
    """Reduce the scores of tiles over each key block."""
    for tile in along:
        result.hide(tile)
        scores = tile.masked(result.reduction.neutral)
        yield tile.k, reduced(scores, 1, result.tiles.k.block, result.reduction)


def weight_map(
    tiles: Tiles, reduce: str, bias: Bias | None, report: Report
) -> tuple[Tensor, Tensor]:
    """Reduce the weights of each block over its visible cells, and count those."""
    result = _Map.empty(tiles, REDUCTIONS[reduce])
    for q, along in tiles.strips(report):
        pieces: list[_Piece] = []
        for tile in along:
            result.hide(tile)
            pieces.append(_piece(tile, tiles, bias, REDUCTIONS[reduce]))
        result.add(q, _weights(pieces, REDUCTIONS[reduce]))
    return result.result()


def weight_shares(
    tiles: Tiles,
    others: Sequence[Tiles],
    bias: Bias | None,
    sums: Sequence[Callable[[Tile], Float[Tensor, " query_tokens"]]],
) -> tuple[Float[Tensor, "rows columns"], Float[Tensor, "query_tokens sums"]]:
    """Mean weights of each block, and each query's shares of attention on keys that are chosen.

    `others` are tiles of the same queries with the keys outside of the map. Each of `sums` is
    given the e^logit of a tile, but for a factor, and adds those of a query's chosen keys.
    """
    result, every, count = _Map.empty(tiles, SUM), (tiles, *others), len(sums)
    shares = result.values.new_zeros(tiles.q.tokens, count)
    for strips in zip(*(each.strips(_unheard) for each in every), strict=True):
        pieces: list[_Piece] = []
        for each, (_, along) in zip(every, strips, strict=True):
            for tile in along:
                piece = _piece(tile, each, bias, SUM)
                blocks = piece.blocks[:, : None if each is tiles else 0]
                chosen = torch.stack([chosen_sum(tile) for chosen_sum in sums], 1)
                pieces.append(replace(piece, blocks=torch.cat([chosen, blocks], 1)))
                if each is tiles:
                    result.hide(tile)
        q, weights = strips[0][0], list(_weights(pieces, SUM))
        for _, of_piece in weights:
            shares[q.tokens] += of_piece[:, :count]
        result.add(q, [(k, of_k[:, count:]) for k, of_k in weights if of_k.shape[1] > count])
    return result.result()[0], shares


@dataclass(frozen=True, eq=False)
class _Piece:
    """A tile's softmax, by itself.

    `peak` is a query's largest logit, `total` the sum of its e^(logit − peak), and `blocks`
    that sum over each key block, or the smallest or largest logit there.
    """

    k: Strip
    peak: Float[Tensor, " query_tokens"]
    total: Float[Tensor, " query_tokens"]
    blocks: Float[Tensor, "query_tokens key_blocks"]


def _piece(tile: Tile, tiles: Tiles, bias: Bias | None, reduction: Reduction) -> _Piece:
    """Form the softmax of one tile for itself; its logits are used up."""
    block = tiles.k.block
    if bias is not None:
        m, n = tiles.q.positions[tile.q.tokens], tiles.k.positions[tile.k.tokens]
        tile.scores.add_(bias(m[:, None] - n).to(tile.scores))
    largest = torch.finfo(tile.scores.dtype).max
    peak = tile.masked(-math.inf).amax(-1)
    if bool((peak == math.inf).any()):
        tile.scores.clamp_(max=largest)  # logits of +inf share the whole weight
    peak = peak.clamp(-largest, largest)
    if reduction is not SUM:
        blocks = reduced(tile.masked(reduction.neutral), 1, block, reduction)
        total = tile.masked(-math.inf).sub_(peak[:, None]).exp_().sum(-1)
        return _Piece(tile.k, peak, total, blocks)
    blocks = reduced(tile.scores.sub_(peak[:, None]).exp_(), 1, block, SUM)
    return _Piece(tile.k, peak, blocks.sum(-1), blocks)


def _weights(pieces: list[_Piece], reduction: Reduction) -> Iterator[tuple[Strip, Tensor]]:
    """The weights of key blocks, once a strip of queries has met all its keys."""
    if not pieces:
        return
    peak = torch.stack([piece.peak for piece in pieces]).amax(0)
    shares = [(piece.peak - peak).exp() for piece in pieces]
    totals = [piece.total * share for piece, share in zip(pieces, shares, strict=True)]
    total = (
        torch.stack(totals).sum(0).clamp(min=1.0)
    )  # 0 where a query sees nothing, and at least 1 elsewhere
    for piece, share in zip(pieces, shares, strict=True):
        if reduction is SUM:
            yield piece.k, piece.blocks * (share / total)[:, None]
        else:
            yield piece.k, (piece.blocks - peak[:, None]).exp() / total[:, None]


def _scatter(into: Tensor, keys: Sequence[Strip], values: Tensor, reduction: Reduction) -> None:
    """Reduce values of the key blocks of strips into those columns; strips can share a block."""
    columns = torch.cat([torch.arange(k.blocks.start, k.blocks.stop) for k in keys])
    index = columns.to(into.device).expand(values.shape)
    into.scatter_reduce_(1, index, values.to(into), reduction.scattered)


def _unheard(_: float) -> None:
    """Report to nobody."""


def _cuts(side: Side) -> list[slice]:
    """Strips of whole blocks, or pieces of one block, of at most a tile's tokens."""
    if side.block <= side.tile:
        return list(parts(side.tokens, side.tile // side.block * side.block))
    return [
        slice(start + piece.start, start + piece.stop)
        for start in range(0, side.tokens, side.block)
        for piece in parts(min(side.block, side.tokens - start), side.tile)
    ]


def _strips(side: Side, rates: Rates, direction: float) -> Iterator[Strip]:
    """Cut one side into strips; keys are turned as in :func:`xpos_viz.pooling.linear`."""
    for length, run in groupby(_cuts(side), lambda tokens: tokens.stop - tokens.start):
        cuts = list(run)
        for part in parts(len(cuts), _TURNED):
            group = cuts[part]
            tokens = slice(group[0].start, group[-1].stop)
            positions = side.positions[tokens].view(-1, length)
            pairs = side.pairs(tokens)
            pairs = pairs.reshape(-1, length, pairs.shape[-1])
            at = positions * direction
            first = at.amin(-1, keepdim=True)
            ends = zip(first.squeeze(-1), positions.amin(-1), positions.amax(-1), strict=True)
            rows = turned_alike(pairs, rates, at - first)
            tokens_each = positions.new_ones(length, dtype=torch.int64)
            sizes = reduced(tokens_each, 0, side.block, SUM)
            for cut, row, (origin, low, high) in zip(group, rows, ends, strict=True):
                blocks = slice(cut.start // side.block, (cut.stop - 1) // side.block + 1)
                here = direction * float(origin), float(low), float(high)
                yield Strip(cut, blocks, sizes, row, *here)

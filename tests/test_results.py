"""Results in tiles against whole matrices, whatever the mask, the window and the stage."""

import math

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests import cases, tolerances
from xpos_viz import (
    Experiment,
    attention_logits,
    attention_scores,
    attention_weights,
    measurements,
    results,
    rope,
    run,
    xpos,
)
from xpos_viz.attention import visible_keys
from xpos_viz.encoding import alibi, t5, yarn
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import Expectation, Random
from xpos_viz.measurements import attend, measure
from xpos_viz.pooling import block_any, block_mean
from xpos_viz.results import NEVER, rope_error, shift_error

ENCODINGS = (
    rope(8),
    xpos(8, scale_base=16.0),
    yarn(8, factor=4.0, train_length=64),  # has a temperature
    alibi(8, slope=0.25),
    t5(8, table=cases.LEARNED),
)
MASKS = ("causal", "none", "sliding:9", "blockwise:11")
TOKENS = 50
WINDOWS = [(0, 50, 50), (0, 50, 7), (13, 50, 12), (0, 31, 9), (17, 42, 6), (21, 22, 1)]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of a few tokens, so that strips, keys before the window and after it are many."""
    monkeypatch.setattr(measurements, "_tile", lambda _: 16)
    monkeypatch.setattr(measurements, "_CELLS", 200)
    for function in (measure, attend, shift_error, rope_error):
        function.cache_clear()
    yield
    for function in (measure, attend, shift_error, rope_error):
        function.cache_clear()


def whole(inputs, encoding, mask, start, stop):
    """All values of the shown queries by the core's verbs alone, by stage, and what is seen."""
    vectors = inputs.load(encoding.head_dim)
    m, n = (torch.arange(*ends, dtype=torch.float64) for ends in ((start, stop), (0, TOKENS)))
    scores = attention_scores(vectors.q[start:stop], vectors.k, encoding, query_positions=m)
    seen = visible_keys(mask, m, n)
    logits = attention_logits(scores, encoding, mask=mask, query_positions=m)
    scaled = scores / math.sqrt(encoding.head_dim)
    values = scores, scaled, logits, attention_weights(logits)
    return dict(zip(STAGES, values, strict=True)), seen, m[:, None] - n


def agree(actual, expected):
    """Whether all entries agree but for rounding; NaN only where NaN is expected."""
    allowed = tolerances.EXACT * max(1.0, float(expected.abs().nan_to_num(0.0).max()))
    return np.allclose(actual, expected, rtol=0, atol=allowed, equal_nan=True)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.name)
def test_tiles_give_what_whole_matrices_give(encoding, window, mask):
    inputs, (start, stop, cells) = Random(TOKENS, 4, "independent"), window
    block, tokens = math.ceil((stop - start) / cells), stop - start
    values, seen, lags = whole(inputs, encoding, mask, start, stop)
    for stage in STAGES:
        result = run(Experiment((encoding,), inputs, View(stage, mask, start, stop, cells)))
        square = np.s_[:, start:stop]
        expected = block_mean(values[stage][square].nan_to_num(neginf=0.0), seen[square], block)
        assert agree(result.measurements[0].values, expected)
        assert np.array_equal(result.seen, block_any(seen[square], block))
    weights, m = values["weights"], torch.arange(start, stop)
    expected = (
        values["scores"][seen & (2 * lags >= tokens)].abs().mean(),
        (weights * (lags > tokens // 4)).sum(-1)[m > tokens // 4].mean(),
        weights[m > 0, 0].mean(),
    )
    reach = run(Experiment((encoding,), inputs, View("weights", mask, start, stop, cells)))
    reach = reach.measurements[0].reach
    actual = (reach.far_magnitude, reach.far_share, reach.first_share)
    assert actual == pytest.approx([float(x) for x in expected], rel=1e-11, nan_ok=True)
    assert (reach.half, reach.quarter) == (math.ceil(tokens / 2), tokens // 4)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("start", "stop", "cells"), WINDOWS)
def test_which_blocks_are_seen_and_which_lie_ahead(mask, start, stop, cells):
    window, block = range(start, stop), math.ceil((stop - start) / cells)
    tokens = torch.arange(start, stop, dtype=torch.float64)
    visible = visible_keys(mask, tokens, tokens)
    seen, ahead = results._seen_blocks(mask, window, block)
    assert np.array_equal(seen, block_any(visible, block))
    assert np.array_equal(ahead, block_any(visible.triu(1), block))


@pytest.mark.parametrize(("start", "stop"), [(0, 50), (9, 47)])
def test_checks_see_every_causal_cell(start, stop, monkeypatch):
    """An error in any one cell is found, and one ahead of the query is none."""
    inputs, encoding = Random(TOKENS, 4, "independent"), xpos(8, scale_base=16.0)
    never = encoding.replace(scale_base=NEVER)
    vectors = inputs.load(8)
    q, k = vectors.q[start:stop], vectors.k[start:stop]
    limit, turned = (attention_scores(q, k, each) for each in (never, rope(8)))
    expected = float((limit - turned).tril().abs().max())
    assert rope_error(inputs, never, start, stop) == pytest.approx(expected, rel=1e-4)
    assert shift_error(inputs, encoding, start, stop) < 1e3 * tolerances.EXACT
    real = results.score_tiles
    for row, column in ((0, 0), (stop - start - 1, 0), (20, 19), (20, 21), (30, 30)):

        def wrong(*args, cell=(row, column)):
            return Wrong(real(*args), cell)

        monkeypatch.setattr(results, "score_tiles", wrong)
        shift_error.cache_clear()
        found = shift_error(inputs, encoding, start, stop)
        assert found == pytest.approx(0.5 if column <= row else 0.0, abs=1e-8)


class Wrong:
    """Tiles of which one cell is half too large."""

    def __init__(self, tiles, cell):
        self.tiles, self.cell = tiles, cell

    def __iter__(self):
        for tile in self.tiles:
            rows, columns = tile.q.tokens, tile.k.tokens
            row, column = self.cell
            if rows.start <= row < rows.stop and columns.start <= column < columns.stop:
                tile.scores[row - rows.start, column - columns.start] += 0.5
            yield tile


def test_the_far_ratio_is_of_the_last_to_the_first():
    result = run(Experiment((rope(8), xpos(8, scale_base=16.0)), Expectation(TOKENS)))
    first, last = (measurement.reach.far_magnitude for measurement in result.measurements)
    assert result.far_ratio == last / first < 1
    assert math.isnan(run(Experiment((rope(8),), Expectation(1))).far_ratio)


def test_no_matrix_is_formed_whole(monkeypatch):
    """Whatever is asked for, no tensor has more cells than a few tiles."""
    largest = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                largest.append(result.numel())
            return result

    tokens = 2000
    monkeypatch.setattr(measurements, "_tile", lambda _: 100)
    encodings = (rope(8), xpos(8, scale_base=16.0))
    with Watch():
        for stage in STAGES:
            run(Experiment(encodings, Random(tokens), View(stage, cells=20)))
        results.self_check(Experiment(encodings, Random(tokens)))
    assert 0 < max(largest) < tokens**2 / 20

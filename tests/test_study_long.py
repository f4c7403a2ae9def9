"""Long texts as numbers: maps against loops, what is too much, turns, and resolutions."""

import math
import threading
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from tests import reference
from tests.test_capture import random
from xpos_viz import Capture, nope, rope, xpos
from xpos_viz.inputs import Captured, Expectation, Random
from xpos_viz.inputs.captured import keep
from xpos_viz.studies import long as module
from xpos_viz.studies.kept import Kept
from xpos_viz.studies.long import (
    MOST_NUMBERS,
    MOST_SCORES,
    Beginning,
    Long,
    fitting,
    long_maps,
    map_table,
    visible_pairs,
)
from xpos_viz.studies.resolving import Course, resolution_of, resolutions

PAIR = (rope(8), xpos(8, scale_base=16.0))
RATES = {"rope": reference.rope(8), "xpos": reference.xpos(8, scale_base=16.0)}
MASKS = ("causal", "sliding:7", "blockwise:6")
SEEN = {
    "causal": lambda m, n: n <= m,
    "sliding:7": lambda m, n: m - 7 < n <= m,
    "blockwise:6": lambda m, n: (m // 6 - 1) * 6 <= n <= m,
}
OVER = {"mean": np.mean, "min": np.min, "max": np.max}


@pytest.fixture
def few(monkeypatch):
    """Maps of eight blocks a side, of which none is kept from before."""
    monkeypatch.setattr(module, "CELLS", 8)
    monkeypatch.setattr(module, "_kept", Kept(24))


def unheard(_):
    """A report that nobody reads."""


def dense(long, encoding, mask):
    """All values in loops, NaN where the mask hides them."""
    vectors = long.inputs.load(8, torch.float32)
    q, k, positions = vectors.q.double().numpy(), vectors.k.double().numpy(), range(long.tokens)
    rates = RATES[encoding.name]
    scores = np.array(
        [[reference.score(q[m], k[n], m - n, rates) for n in positions] for m in positions]
    )
    seen = np.array([[SEEN[mask](m, n) for n in positions] for m in positions])
    if long.stage == "weights":
        rows = zip(scores / math.sqrt(8), seen, strict=True)
        scores = np.array([reference.softmax(row, allowed) for row, allowed in rows])
    return np.where(seen, scores, np.nan)


# Maps


@pytest.mark.parametrize(
    ("stage", "reduce"), [("scores", "mean"), ("scores", "min"), ("weights", "max")]
)
@pytest.mark.parametrize("inputs", [Expectation(40), Random(40, 3, "independent")], ids=str)
@pytest.mark.usefixtures("few")
def test_maps_are_those_of_loops(inputs, stage, reduce):
    long = Long(inputs, PAIR, MASKS, stage, reduce)
    maps = long_maps(long, unheard)
    assert [(each.encoding, each.mask) for each in maps] == [
        (encoding, mask) for encoding in PAIR for mask in MASKS
    ]
    for each in maps:
        values = dense(long, each.encoding, each.mask)
        blocks = values.reshape(8, 5, 8, 5).swapaxes(1, 2).reshape(8, 8, 25)
        counts = (~np.isnan(blocks)).sum(-1)
        np.testing.assert_array_equal(each.counts, counts, strict=True)
        for place in np.ndindex(8, 8):
            seen = blocks[place][~np.isnan(blocks[place])]
            expected = OVER[reduce](seen) if len(seen) else np.nan
            close = pytest.approx(expected, rel=1e-4, abs=1e-5, nan_ok=True)
            assert each.values[place] == close
        assert not each.values.flags.writeable


@pytest.mark.usefixtures("few")
def test_maps_of_a_text_are_those_of_its_head():
    """In the layout that they were captured in, and of half the text where all is too much."""
    capture = Capture(*random(heads=2, queries=40, keys=40), layers=(0, 4))
    text = Beginning(Captured(keep(capture), 4, 1), 40)
    (causal,) = long_maps(Long(text, PAIR[1:], ("causal",), "scores", "max"), unheard)
    pairs = [0, 4, 1, 5, 2, 6, 3, 7]  # "half" as columns that stand side by side
    q, k = (x[1, 1][:, pairs].double().numpy() for x in (capture.q, capture.k))
    scores = [
        [reference.score(q[m], k[n], m - n, RATES["xpos"]) for n in range(5)] for m in range(35, 40)
    ]
    assert causal.values[7, 0] == pytest.approx(np.max(scores), rel=1e-4)
    long = Long(text, PAIR, ("causal",))
    large = replace(long, inputs=Beginning(text.of, MOST_NUMBERS // 8 + 8))
    assert fitting(large).inputs == Beginning(text.of, MOST_NUMBERS // 16 + 4)
    vectors = replace(text, length=3).load(8, torch.float32)
    assert (vectors.q.shape, vectors.k.dtype, vectors.layout) == ((3, 8), torch.float32, "half")


@pytest.mark.usefixtures("few")
def test_sizes_are_means_of_blocks_near_and_far():
    causal, window, _ = long_maps(Long(Expectation(40), PAIR[1:], MASKS), unheard)
    size, counts = np.abs(np.nan_to_num(causal.values)), causal.counts
    assert causal.near == pytest.approx((np.diag(size) * np.diag(counts)).sum() / (8 * 15))
    far = [(row, column) for row in range(4, 8) for column in range(row - 3)]
    assert causal.far == pytest.approx(np.mean([size[place] for place in far]))
    assert causal.far < causal.near
    assert math.isnan(window.far)


def test_a_text_of_one_token_has_a_map():
    (only,) = long_maps(Long(Expectation(1), PAIR[:1], ("causal",)), unheard)
    assert (only.values.tolist(), only.counts.tolist(), only.block) == ([[8.0]], [[1]], 1)
    assert only.positions.tolist() == [0.0]
    assert only.near == 8.0
    assert math.isnan(only.far)


def test_a_table_has_a_row_for_each_block_that_is_seen():
    long = Long(Expectation(300), PAIR, ("sliding:7",))
    maps = long_maps(long, unheard)
    table = map_table(maps)
    assert len(table) == sum(int((each.counts > 0).sum()) for each in maps)
    assert list(dict.fromkeys(table["encoding"])) == [repr(encoding) for encoding in PAIR]
    assert table["cells"].sum() == 2 * visible_pairs("sliding:7", 300)
    last = table.iloc[-1]
    assert (last["query_first"], last["query_last"], last["mask"]) == (297, 299, "sliding:7")
    assert maps[0].positions[:2].tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("mask", "pairs"),
    [("causal", 5050), ("sliding:7", 100 * 7 - 21), ("blockwise:10", 10 * 55 + 9 * 100)],
)
def test_visible_pairs_are_counted(mask, pairs):
    assert visible_pairs(mask, 100) == pairs


# What is too much


def test_mean_scores_are_computed_at_every_length():
    long = Long(Expectation(1 << 20), (rope(64), xpos(64)), ("causal",))
    assert fitting(long) == long
    assert long.scores == 0


@pytest.mark.parametrize(
    ("changes", "masks", "tokens"),
    [
        ({"reduce": "max"}, ("causal",), 1 << 16),
        ({"stage": "weights"}, ("causal",), 1 << 16),
        ({"stage": "weights"}, ("sliding:512",), 1 << 20),
        ({"stage": "weights"}, ("causal", "sliding:65536"), 1 << 15),
    ],
    ids=str,
)
def test_what_needs_every_score_is_cut(changes, masks, tokens):
    pair = (rope(64), xpos(64))
    cut = fitting(Long(Random(1 << 20, 5, "independent"), pair, masks, **changes))
    assert cut.inputs == Random(tokens, 5, "independent")
    assert (cut.encodings, cut.masks) == (pair, masks)
    seen = sum(visible_pairs(mask, tokens) for mask in masks)
    assert cut.scores == 2 * seen <= MOST_SCORES


def test_wide_heads_are_cut_by_their_memory():
    cut = fitting(Long(Expectation(1 << 20), (rope(512), xpos(512)), ("causal",)))
    assert cut.tokens == 1 << 17
    assert cut.numbers == MOST_NUMBERS


# What is kept, told and waited for


@pytest.mark.usefixtures("few")
def test_only_what_is_new_is_computed(monkeypatch):
    long, computed = Long(Expectation(64), PAIR, ("causal",)), []
    pooled = module.pooled_map

    def spy(*args, **options):
        computed.append(args[2])
        return pooled(*args, **options)

    monkeypatch.setattr(module, "pooled_map", spy)
    first = long_maps(long, unheard)
    assert long_maps(long, unheard) == first
    other = replace(long, encodings=(PAIR[0], xpos(8, scale_base=32.0)))
    assert long_maps(other, unheard)[0] is first[0]
    assert computed == [*PAIR, other.encodings[1]]
    for changes in ({"inputs": Expectation(65)}, {"reduce": "max"}, {"stage": "weights"}):
        assert long_maps(replace(long, **changes), unheard)[0] is not first[0]


def test_few_maps_are_kept_and_the_last_used_stay():
    kept = Kept(2)
    long = Long(Expectation(2), PAIR[:1], MASKS)
    one, two, three = long_maps(long, unheard)
    kept.put("one", one)
    kept.put("two", two)
    assert kept.get("one") is one
    kept.put("three", three)
    assert [kept.get(key) for key in ("one", "two", "three")] == [one, None, three]


@pytest.mark.usefixtures("few")
def test_progress_rises_over_all_maps():
    shares = []
    long_maps(Long(Expectation(64), PAIR, MASKS, "scores", "max"), shares.append)
    assert shares == sorted(shares)
    assert len(set(shares)) >= 6
    assert shares[-1] == 1.0


class EndedError(Exception):
    """Whoever waited has gone."""


def end(_):
    """A report of somebody who has gone."""
    raise EndedError


@pytest.mark.usefixtures("few")
def test_large_pictures_take_turns_and_whoever_has_gone_gives_up(monkeypatch):
    monkeypatch.setattr(module, "_LIGHT", (0, 0))
    monkeypatch.setattr(module, "_POLL", 0.001)
    turn = threading.Semaphore(1)
    monkeypatch.setattr(module, "_turn", turn)
    long = Long(Expectation(64), PAIR, ("causal",))
    with turn, pytest.raises(EndedError):
        long_maps(long, end)  # while another one has its turn
    with pytest.raises(EndedError):
        long_maps(long, end)  # while its own maps are computed
    assert turn.acquire(blocking=False)
    turn.release()
    waited = []

    def report(share):
        waited.append(share)
        if len(waited) == 3:
            turn.release()

    turn.acquire()
    assert len(long_maps(long, report)) == 2
    assert waited[:3] == [0.0, 0.0, 0.0]


def test_vectors_of_another_dtype():
    q = Random(50, 3, "independent").load(4, torch.float32)
    assert (q.q.dtype, q.k.dtype) == (torch.float32, torch.float32)
    assert not torch.equal(q.q, q.k)
    again = Random(50, 3, "independent").load(4, torch.float32)
    assert torch.equal(q.q, again.q)
    assert Expectation(3).load(2, torch.float32).q.dtype == torch.float32


# Resolution


def slow_resolution(rates, lags, divisor):
    """Eq. 3 of Sun et al. 2022, term by term."""
    s = [reference.decay_curve(rates, lag) / divisor for lag in lags]
    terms = [math.exp(a) * (math.exp(a) - math.exp(b)) for a, b in pairwise(s)]
    return sum(terms) / sum(math.exp(a) for a in s[:-1]) ** 2


@pytest.mark.parametrize(("mask", "last"), [("causal", 100), ("sliding:7", 6), ("blockwise:6", 11)])
@pytest.mark.parametrize(("normalisation", "divisor"), [("sqrt_d", math.sqrt(8)), ("half_d", 4)])
def test_resolution_is_that_of_the_lags_that_are_seen(mask, last, normalisation, divisor):
    for encoding in PAIR:
        expected = slow_resolution(RATES[encoding.name], range(last + 1), divisor)
        seen = resolution_of(encoding, mask, 100, normalisation)
        assert seen == pytest.approx(expected, rel=1e-9)


def test_steps_are_powers_of_two_and_the_length():
    course = Course(PAIR, MASKS, 1000, "sqrt_d")
    assert course.steps == [64, 128, 256, 512, 1000]
    assert replace(course, tokens=128).steps == [64, 128]
    assert replace(course, tokens=1).steps == [1]
    bases = replace(course, over="scale_base").steps
    assert (bases[0], bases[1], bases[-1]) == (16, 32, 65536)


def test_resolutions_over_the_length():
    course, shares = Course(PAIR, MASKS, 300, "half_d"), []
    table = resolutions(course, shares.append)
    assert len(table) == 2 * 3 * 4
    assert shares == [place / 24 for place in range(24)]
    assert list(table["scale_base"].fillna(0).unique()) == [0.0, 16.0]
    for row in table.to_dict("records"):
        encoding = PAIR[int(row["encoding"] == "xpos")]
        assert row["resolution"] == resolution_of(encoding, row["mask"], row["length"], "half_d")
    window = table[table["mask"] == "sliding:7"]
    assert window.groupby("encoding")["resolution"].nunique().tolist() == [1, 1]


def test_resolutions_over_the_scale_base():
    course = Course((nope(8), *PAIR), ("causal",), 300, "sqrt_d", "scale_base")
    table = resolutions(course, unheard)
    assert set(table["length"]) == {300}
    still = table[table["encoding"] != "xpos"].groupby("encoding")["resolution"].nunique()
    assert still.tolist() == [1, 1]
    moved = table[table["encoding"] == "xpos"]
    assert moved["scale_base"].tolist() == course.steps
    expected = slow_resolution(reference.xpos(8, scale_base=64.0), range(301), math.sqrt(8))
    assert moved["resolution"].iloc[2] == pytest.approx(expected, rel=1e-9)


def test_whoever_has_gone_ends_the_resolutions():
    with pytest.raises(EndedError):
        resolutions(Course(PAIR, MASKS, 300, "sqrt_d"), end)

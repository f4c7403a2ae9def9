"""Many clocks: claims of the third chapter."""

import math

import numpy as np
import pytest

from tests import reference, tolerances
from tests.lessons.steps import places, see

PLACES = places("hands")
LAGS = places("cancel")
COUNTS = places("added")
BASES = places("base")
PRINTED = {0: 32, 1: 30.9168, 10: 21.0516, 100: 17.8747, 1024: 8.4136, 4096: 0.1119}
"""g of RoPE, d = 64, by lag, to four decimals."""


def off(angle):
    """How far a hand is from its start, in degrees."""
    return math.degrees(abs(math.remainder(angle, 2 * math.pi)))


@pytest.mark.parametrize("m", PLACES)
def test_hands_turn_at_their_speeds(m):
    numbers = see("hands", m).numbers
    assert numbers["fast_off"] == pytest.approx(off(m), abs=1e-9)
    assert numbers["slow_off"] == pytest.approx(off(0.1 * m), abs=1e-9)
    assert numbers["fast_turns"] == pytest.approx(m / (2 * math.pi))
    assert numbers["slow_turns"] == pytest.approx(m / (20 * math.pi))


def test_each_hand_confuses_what_the_other_tells_apart():
    near, far, both = (see("hands", m).numbers for m in (1.0, 44.0, 63.0))
    assert near["slow_off"] < 6 < 50 < near["fast_off"]
    assert far["fast_off"] < 2 < 100 < far["slow_off"]
    assert max(both["fast_off"], both["slow_off"]) < 10


@pytest.mark.parametrize("lag", LAGS)
def test_bars_are_the_cosines_of_32_pairs(lag):
    seen = see("cancel", lag)
    cosines = [math.cos(lag * 10_000 ** (-i / 32)) for i in range(32)]
    assert seen.shown.series["cosine"] == pytest.approx(cosines, abs=tolerances.EXACT)
    assert seen.numbers["sum"] == pytest.approx(math.fsum(cosines), abs=tolerances.EXACT * 32)
    assert seen.numbers["high"] == sum(cosine > 0.5 for cosine in cosines)
    assert seen.numbers["against"] == sum(cosine < 0 for cosine in cosines)


@pytest.mark.parametrize("lag", PRINTED)
def test_their_sum_is_the_printed_one(lag):
    numbers = see("cancel", float(lag)).numbers
    assert numbers["sum"] == pytest.approx(PRINTED[lag], abs=tolerances.COMPUTED)


def test_the_sum_falls_while_its_parts_do_not():
    seen = [see("cancel", lag) for lag in LAGS]
    parts = [np.abs(step.shown.series["cosine"]).max() for step in seen]
    assert min(parts) > 0.99
    high = [step.numbers["high"] for step in seen]
    assert high == sorted(high, reverse=True)
    sums = [step.numbers["sum"] for step in seen]
    assert sums != sorted(sums, reverse=True)  # it wobbles
    assert sums[-1] < sums[0] / 100


@pytest.mark.parametrize("pairs", COUNTS)
def test_the_mean_is_that_of_so_many_cosines(pairs):
    shown = see("added", pairs).shown
    rates = reference.rope(2 * int(pairs))
    for place in (0, 1, 77, 1200):
        mean = reference.decay_curve(rates, shown.x[place]) / pairs
        assert shown.lines["mean"][place] == pytest.approx(mean, abs=tolerances.EXACT)


def test_more_pairs_come_back_less_and_never_fall_smoothly():
    seen = [see("added", pairs) for pairs in COUNTS]
    most = [step.numbers["most"] for step in seen]
    assert most[0] > 0.999
    assert most == sorted(most, reverse=True)
    assert most[-1] < 0.5
    assert all((np.diff(step.shown.lines["mean"]) > 0).any() for step in seen)


def test_the_base_slows_the_slow_pairs_alone():
    seen = [see("base", base).numbers for base in BASES]
    assert [step["fastest"] for step in seen] == pytest.approx([2 * math.pi] * len(BASES))
    slowest = [2 * math.pi * base ** (31 / 32) for base in BASES]
    assert [step["slowest"] for step in seen] == pytest.approx(slowest)
    turns = [sum(base ** (i / 32) * 2 * math.pi > 16_384 for i in range(32)) for base in BASES]
    assert [step["unfinished"] for step in seen] == turns


def test_a_larger_base_fades_later_but_not_always():
    negative = dict(
        zip(BASES, (see("base", base).numbers["negative"] for base in BASES), strict=True)
    )
    assert negative[1e4] == 725
    upto = [negative[base] for base in BASES if base <= 5e5]
    assert upto == sorted(upto)
    assert negative[1e6] < negative[5e5]
    for base, lag in negative.items():
        before, there = (
            reference.decay_curve(reference.rope(64, base), at) for at in (lag - 1, lag)
        )
        assert there < 0 <= before


def test_the_usual_base_is_drawn_beside_the_chosen_one():
    usual, other = (see("base", base).shown.lines for base in (1e4, 1e6))
    assert np.array_equal(usual["usual"], usual["moved"])
    assert np.array_equal(usual["usual"], other["usual"])
    assert other["moved"].mean() > other["usual"].mean() + 0.1

"""A vector turns: claims of the first chapter, in Python's own complex numbers."""

import cmath
import math
from itertools import combinations

import pytest

from tests import tolerances
from tests.lessons.steps import places, see

START = 0.8 + 0.6j
PLACES = places("turn")
SPEEDS = places("speed")


def near(value):
    """Approximately a value."""
    return pytest.approx(value, rel=tolerances.EXACT, abs=tolerances.EXACT)


def nearest(angles):
    """The smallest angle between any two of some arrows, in degrees."""
    turn = 2 * math.pi
    gaps = ((one - other) % turn for one, other in combinations(angles, 2))
    return math.degrees(min(min(gap, turn - gap) for gap in gaps))


@pytest.mark.parametrize("m", PLACES)
def test_a_pair_turns_by_its_position_and_keeps_its_length(m):
    seen = see("turn", m)
    assert seen.shown.ends["start"] == near(START)
    assert seen.shown.ends["end"] == near(START * cmath.exp(1j * m))
    assert seen.numbers["length"] == near(seen.numbers["before"]) == near(1.0)
    assert seen.numbers["angle"] == near(180 * m / math.pi)


@pytest.mark.parametrize("n", PLACES)
def test_two_turns_are_one_by_the_sum_and_not_by_the_product(n):
    seen = see("compose", n)
    ends = seen.shown.ends
    assert ends["once"] == near(START * cmath.exp(3j))
    assert ends["twice"] == near(START * cmath.exp(1j * (3 + n)))
    assert seen.numbers["error"] < tolerances.EXACT
    assert ends["times"] == near(START * cmath.exp(3j * n))
    assert seen.numbers["off"] == near(nearest([3 + n, 3 * n]))
    assert seen.numbers["off"] > 8  # degrees: 3 + n and 3 · n never lead to one place


@pytest.mark.parametrize("theta", SPEEDS)
def test_six_tokens_at_a_speed(theta):
    seen = see("speed", theta)
    ends = [START * cmath.exp(1j * m * theta) for m in range(6)]
    assert list(seen.shown.ends.values()) == near(ends)
    assert seen.numbers["nearest"] == near(nearest([m * theta for m in range(6)]))
    assert seen.numbers["tokens"] == (near(2 * math.pi / theta) if theta else math.inf)


def test_a_middle_speed_tells_six_tokens_apart_best():
    found = [see("speed", theta).numbers["nearest"] for theta in SPEEDS]
    best = found.index(max(found))
    assert SPEEDS[best] == 1.0
    assert found[: best + 1] == sorted(found[: best + 1])
    assert max(found[best + 1 :]) < found[best] / 3

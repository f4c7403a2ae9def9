"""γ and B: which pairs fade first, what γ and B do, and RoPE at the end."""

import math

import numpy as np
import pytest

from tests import reference
from tests.lessons.steps import places, see
from tests.tolerances import COMPUTED, EXACT
from xpos_viz.lessons import fading


def life(pair, gamma=0.4, scale_base=512.0):
    """The half-life of a pair of 32."""
    zeta = (2 * pair / 64 + gamma) / (1 + gamma)
    return scale_base * math.log(2) / -math.log(zeta)


def test_fast_pairs_fade_first():
    for lag in places("halves")[1:]:
        assert np.all(np.diff(fading.kept(lag).numpy()) > 0)
        left = [((2 * i / 64 + 0.4) / 1.4) ** (lag / 512) for i in range(32)]
        assert fading.kept(lag).tolist() == pytest.approx(left, rel=EXACT)
        numbers = see("halves", lag).numbers
        assert numbers["faded"] == sum(life(i) <= lag for i in range(32))
    assert see("halves", 512.0).numbers["faded"] == 10


def test_half_lives_are_those_of_the_facts():
    numbers = see("halves", 0.0).numbers
    assert (numbers["soon"], numbers["late"]) == pytest.approx((283.3, 15_721), rel=1e-3)
    assert (numbers["faded"], numbers["first"], numbers["last"]) == (0, 1, 1)


@pytest.mark.parametrize("gamma", places("gamma"))
def test_half_lives_by_the_definition(gamma):
    lives = [life(i, gamma) for i in range(32)]
    assert fading.lives(gamma).tolist() == pytest.approx(lives, rel=EXACT)
    low, high = see("gamma", gamma).shown.limits
    assert low < lives[0] < lives[-1] < high


def test_more_gamma_is_less_fading_and_pair_0_gains_most():
    lives = np.array([fading.lives(gamma).numpy() for gamma in places("gamma")])
    assert np.all(np.diff(lives, axis=0) > 0)
    gains = lives[1:] / lives[:-1]
    assert np.all(gains.argmax(1) == 0)
    ratios = [see("gamma", gamma).numbers["ratio"] for gamma in places("gamma")]
    assert np.all(np.diff(ratios) < 0)
    assert ratios[-1] > 32  # however large γ is, the pairs do not become alike


@pytest.mark.parametrize("scale_base", places("reach"))
def test_the_reach_is_where_one_half_is_left(scale_base):
    rates = reference.xpos(64, scale_base=scale_base)
    reach = fading.reach(scale_base)
    assert reference.envelope(rates, reach) >= 16 > reference.envelope(rates, reach + 1)
    seen = see("reach", scale_base)
    near = reference.envelope(rates, 10.0) / 32
    assert seen.numbers["near"] == pytest.approx(near, rel=EXACT)
    [(at, height)] = seen.shown.marks.values()
    assert (at, height) == pytest.approx((reach, reference.envelope(rates, reach) / 32))


def test_the_reach_is_as_many_times_larger_as_the_scale_base():
    assert fading.reach(512.0) == 831
    for scale_base in places("reach"):
        assert abs(fading.reach(8 * scale_base) - 8 * fading.reach(scale_base)) < 8


def test_too_small_a_scale_base_leaves_the_nearest_only():
    nears = [see("reach", scale_base).numbers["near"] for scale_base in places("reach")]
    assert np.all(np.diff(nears) > 0)
    assert fading.reach(1.0) == 1
    assert nears[0] < 0.15 < 0.98 < nears[places("reach").index(512.0)]


def test_the_curves_are_those_of_the_facts():
    numbers = see("limit", 512.0).numbers
    assert numbers["fading"] == pytest.approx(5.8173, abs=COMPUTED)
    assert numbers["steady"] == pytest.approx(8.4136, abs=COMPUTED)
    lines = see("limit", 64.0).shown
    rates = reference.xpos(64, scale_base=64.0)
    for place in (0, 7, 511):
        expected = reference.decay_curve(rates, lines.x[place])
        assert lines.lines["xpos"][place] == pytest.approx(expected, rel=1e-9)


def test_without_end_it_is_rope_and_not_the_plain_product():
    aparts = [see("limit", scale_base).numbers["apart"] for scale_base in places("limit")]
    assert np.all(np.diff(aparts[1:]) < 0)  # below B = 16 the whole curve is gone
    assert aparts[-1] < 1e-4
    assert fading.apart(1e9).item() == aparts[-1]
    lines = see("limit", 1e9).shown.lines
    assert lines["xpos"][0] - lines["xpos"][-1] > 20  # positions still count

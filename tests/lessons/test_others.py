"""Other ways: what multiplying, subtracting and stretching do, and what γ cannot."""

import numpy as np
import pytest

from tests.lessons.steps import see
from xpos_viz.encoding import interpolation, rope, xpos
from xpos_viz.lessons import STEPS
from xpos_viz.lessons.others import near

PAIR = 2 * np.arange(32) / 64
THETA = 1e4**-PAIR
ZETA = (PAIR + 0.4) / 1.4


@pytest.mark.parametrize("content", STEPS["subtract"].control.values)
def test_xpos_multiplies_and_alibi_subtracts(content):
    numbers = see("subtract", content).numbers
    assert numbers["multiplied"] == pytest.approx(content * (ZETA**2).mean())  # 1,024 is 2 B
    assert numbers["subtracted"] == pytest.approx(content - 1024 / 256)


def test_a_key_that_does_not_fit_rises_with_xpos_and_falls_with_alibi():
    lines = see("subtract", -4.0).shown.lines
    assert (np.diff(lines["multiplied"]) > 0).all()
    assert (np.diff(lines["subtracted"]) < 0).all()
    assert (lines["multiplied"] < 0).all()


def test_a_key_that_fits_falls_with_both():
    lines = see("subtract", 4.0).shown.lines
    assert all((np.diff(line) < 0).all() for line in lines.values())


@pytest.mark.parametrize("factor", STEPS["stretch"].control.values)
def test_interpolation_moves_neighbors_closer(factor):
    numbers = see("stretch", factor).numbers
    step = 32 - np.cos(THETA / factor).sum()
    assert numbers["even_step"] == pytest.approx(step)
    assert numbers["rope_step"] == pytest.approx(32 - np.cos(THETA).sum())
    assert numbers["even_step"] <= numbers["yarn_step"] <= numbers["rope_step"]


def test_interpolation_has_no_angle_that_is_new():
    angles = interpolation(64, factor=8.0).theta * 8 * 2048
    assert angles.numpy() == pytest.approx((rope(64).theta * 2048).numpy())


def test_yarn_keeps_fast_pairs_and_slows_slow_ones():
    lines = see("stretch", 8.0).shown.lines
    assert lines["yarn"][0] == 1
    assert lines["yarn"][-1] == pytest.approx(1 / 8)
    turns = 2048 * THETA / (2 * np.pi)
    assert see("stretch", 8.0).numbers["kept"] == (turns >= 32).sum()
    assert lines["interpolation"] == pytest.approx(np.full(32, 1 / 8))


@pytest.mark.parametrize("lag", STEPS["fit"].control.values)
def test_a_key_that_fits_far_away_has_its_full_score_there_with_rope_alone(lag):
    numbers = see("fit", lag).numbers
    assert (numbers["rope_at"], numbers["xpos_at"]) == (lag, lag)
    assert numbers["rope_most"] == pytest.approx(64)
    assert numbers["xpos_most"] == pytest.approx(2 * (ZETA ** (lag / 512)).sum())
    assert numbers["left"] == pytest.approx(numbers["xpos_most"] / 64)


def test_equal_numbers_fall_but_another_key_does_not():
    falling, fitting = (see("fit", lag).shown.lines["rope"] for lag in (0.0, 1000.0))
    assert falling[1000] < falling[0] / 2
    assert fitting[1000] > 2 * fitting[0]


def test_gamma_moves_both_curves_and_leaves_the_bargain():
    gammas = STEPS["choose"].control.values
    found = [see("choose", gamma).numbers for gamma in gammas]
    assert [each["left"] for each in found] == pytest.approx([0.5] * len(gammas), abs=1e-4)
    bases = [each["base"] for each in found]
    assert bases == sorted(bases, reverse=True)
    assert bases[0] > 6 * bases[-1]
    gains = [each["near"] for each in found]
    assert max(gains) < 1.04 * min(gains)


def test_half_is_left_where_the_sum_of_pairs_says():
    base = see("choose", 0.4).numbers["base"]
    assert (ZETA ** (1024 / base)).mean() == pytest.approx(0.5, abs=1e-5)


def test_small_b_gains_near_and_loses_far():
    lines = see("choose", 0.4).shown.lines
    assert (np.diff(lines["near"]) < 0).all()
    assert (np.diff(lines["far"]) > 0).all()
    assert float(near(xpos(64, scale_base=1e9))) == pytest.approx(1, abs=1e-6)

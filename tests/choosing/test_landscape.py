"""Goals over γ and B: computed once, laid out by their places, and known part by part."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests import reference
from xpos_viz.choosing import Batch, Goal, Spec, frame
from xpos_viz.choosing.landscape import BUDGETS, GOALS, WANTED, known, landscape, lately, steps
from xpos_viz.choosing.objectives import OBJECTIVES
from xpos_viz.choosing.spec import Text
from xpos_viz.choosing.working import work

GAMMAS, SCALE_BASES = (0.2, 0.4, 0.8), (64.0, 256.0)
GRID = (("gamma", GAMMAS), ("scale_base", SCALE_BASES))
HALF = Goal("half_life", wanted=500.0)
LEFT = Goal("envelope_left")


def spec(*goals, head_dim=8, length=100, **more):
    """A small grid."""
    return Spec(parameters=GRID, goals=goals, head_dim=head_dim, lengths=(length,), **more)


def left(gamma, scale_base, length=100, head_dim=8):
    """What is left of the envelope, pair by pair."""
    zetas = reference.zeta(head_dim, gamma)
    return sum(zeta ** (length / scale_base) for zeta in zetas) / len(zetas)


def computed(asked, points):
    """Some points, as a sweep has them."""
    batch = work(asked, points)
    assert isinstance(batch, Batch)
    return frame(asked, [batch])


def test_a_cell_is_a_setting():
    found = landscape(spec(LEFT))
    expected = [[left(gamma, scale_base) for scale_base in SCALE_BASES] for gamma in GAMMAS]
    np.testing.assert_allclose(found.values(LEFT), expected, rtol=1e-12)
    assert (found.gammas, found.scale_bases) == (GAMMAS, SCALE_BASES)
    best = np.unravel_index(np.argmax(expected), (3, 2))
    assert found.places(found.allowed.head(1)) == [best]


def test_what_is_not_known_yet_is_no_number():
    asked = spec(LEFT, HALF)
    whole = landscape(asked)
    found = known(asked, [computed(asked, points) for points in (range(2), range(4, 6))])
    places = [(0, 0), (0, 1), (2, 0), (2, 1)]
    values = found.values(HALF)
    assert np.isnan(values).sum() == 2
    assert all(values[place] == whole.values(HALF)[place] for place in places)
    kept = lately(asked)
    assert kept is not None
    assert kept.points is whole.points


def test_a_landscape_is_computed_once_and_says_how_far_it_is():
    asked, shares = spec(HALF, length=101), []
    first = landscape(asked, shares.append)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares == sorted(shares)
    shares.clear()
    assert landscape(spec(HALF, length=101), shares.append).points is first.points
    wanted = landscape(spec(Goal("half_life", wanted=9.0), length=101), shares.append)
    assert wanted.points is first.points
    assert wanted.places(wanted.allowed) != first.places(first.allowed)
    assert shares == []


def test_work_that_is_ended_is_not_kept():
    def end(_):
        raise InterruptedError

    asked = spec(HALF, length=102)
    with pytest.raises(InterruptedError):
        landscape(asked, end)
    assert lately(asked) is None


def test_the_front_is_what_no_other_setting_beats():
    found = landscape(spec(HALF, LEFT, length=300))
    loss = found.values(HALF)
    pairs = [
        (math.log2(loss[row, column] / 500) ** 2, -left(gamma, scale_base, 300), row, column)
        for row, gamma in enumerate(GAMMAS)
        for column, scale_base in enumerate(SCALE_BASES)
    ]
    front = {
        (row, column)
        for a, b, row, column in pairs
        if not any(c <= a and d <= b and (c, d) != (a, b) for c, d, *_ in pairs)
    }
    assert {*found.places(found.front)} == front
    assert 0 < len(front) < 6
    assert found.front["half_life"].is_monotonic_increasing


def test_the_best_of_two_goals_counts_each_from_its_best_to_its_worst():
    found = landscape(spec(HALF, LEFT, length=300))
    losses = [np.log2(found.values(HALF) / 500) ** 2, -found.values(LEFT)]
    shares = np.sum([(loss - loss.min()) / np.ptp(loss) for loss in losses], axis=0)
    order = np.argsort(shares.ravel(), kind="stable")
    assert [row * 2 + column for row, column in found.places(found.allowed)] == order.tolist()
    assert np.unravel_index(order[0], (3, 2)) in found.places(found.front)


def test_the_best_follows_the_weights():
    for few, many in ((0.02, 1.98), (1.98, 0.02)):
        weighed = (replace(HALF, weight=few), replace(LEFT, weight=many))
        found = landscape(spec(*weighed, length=300))
        alone = landscape(spec(LEFT if many > few else HALF, length=300))
        assert found.allowed["setting"].iloc[0] == alone.allowed["setting"].iloc[0]


def test_what_is_beyond_a_limit_is_barred_and_is_not_the_best():
    free = landscape(spec(HALF, LEFT, length=300))
    middle = float(np.median(free.values(LEFT)))
    asked = spec(HALF, replace(LEFT, above=middle), length=300)
    found = landscape(asked)
    assert found.points is free.points
    within = np.argwhere(free.values(LEFT) > middle).tolist()
    assert sorted(map(list, found.places(found.allowed))) == within
    beyond = np.argwhere(free.values(LEFT) <= middle).tolist()
    assert sorted(map(list, found.places(found.barred))) == beyond
    assert {*found.places(found.front)} <= {*found.places(found.allowed)}
    assert free.barred.empty


def test_a_setting_is_known_by_its_values():
    found = landscape(spec(LEFT))
    assert [found.setting(*found.values_of(n).values()) for n in range(6)] == [*range(6)]
    assert found.values_of(3) == {"gamma": 0.4, "scale_base": 256.0}
    assert found.setting(0.4, 300.0) is None
    assert found.setting(0.3, 64.0) is None


def test_what_is_infinite_counts_as_the_best_or_the_worst():
    asked = spec(HALF, LEFT, length=301)
    points = landscape(asked).points.copy()
    others = points["half_life"].drop(1)
    order = []
    for value in (np.inf, max(others, key=lambda value: math.log2(value / 500) ** 2)):
        points.loc[1, "half_life"] = value
        order.append(known(asked, [points]).allowed["setting"].tolist())
    assert order[0] == order[1]
    points["half_life"] = np.inf  # all alike: the other goal decides
    (best,) = known(asked, [points]).allowed.head(1)["setting"]
    assert points["envelope_left"].argmax() == best


def test_a_goal_of_a_text_is_read_of_its_head():
    goal = Goal("entropy")
    found = landscape(spec(goal, head_dim=64, texts=(Text("pronoun", layers=(8,), heads=(2,)),)))
    other = landscape(spec(goal, head_dim=64, texts=(Text("pronoun", layers=(0,), heads=(2,)),)))
    assert np.isfinite(found.values(goal)).all()
    assert (found.values(goal) != other.values(goal)).all()


@pytest.mark.parametrize("count", BUDGETS.values())
@pytest.mark.parametrize("ends", [(0.05, 3.2), (32.0, 8192.0), (0.001, 100.0)])
def test_steps_rise_by_like_factors_from_end_to_end(ends, count):
    low, high = ends
    found = np.array(steps(low, high, count))
    assert len(found) == count
    assert (found[0], found[-1]) == pytest.approx(ends, rel=0.005)
    factors = found[1:] / found[:-1]
    assert factors == pytest.approx((high / low) ** (1 / (count - 1)), rel=0.02)
    for step, exact in zip(found, np.geomspace(low, high, count), strict=True):
        whole = math.isclose(exact, round(exact), rel_tol=1e-12)
        assert step == (round(exact) if whole else float(f"{exact:.3g}"))


def test_near_ends_have_more_digits():
    assert steps(1.0, 1.005, 3) == (1.0, 1.002, 1.005)
    assert steps(1.0, float(np.nextafter(1.0, 2.0)), 9) == (1.0, float(np.nextafter(1.0, 2.0)))


def test_every_objective_may_be_a_goal():
    assert {*GOALS} == {*OBJECTIVES}
    assert GOALS[0] in WANTED
    assert {OBJECTIVES[name].unit for name in WANTED} == {"tokens"}

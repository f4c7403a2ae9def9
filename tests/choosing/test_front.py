"""What is best is best, within the limits, and a front is a front."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.choosing.specs import MIXED, spec, swept
from xpos_viz.choosing import Goal, best, ranked
from xpos_viz.choosing.front import pareto
from xpos_viz.choosing.landscape import Landscape

GRID = {
    "gamma": (0.1, 0.4, 1.6),
    "scale_base": (64.0, 256.0, 1024.0),
}


def of(*goals, **rest):
    return spec(*goals, parameters=tuple(GRID.items()), **rest)


NEAR = Goal("envelope_left", (("lag", 64),), label="near")
FAR = Goal("envelope_left", (("lag", 1024),), direction="smaller", label="far")


def slow_front(losses):
    """Which rows nobody beats, each compared with each."""
    return [
        place
        for place, row in enumerate(losses)
        if not any(
            all(a <= b for a, b in zip(other, row, strict=True)) and tuple(other) != tuple(row)
            for other in losses
        )
    ]


@pytest.mark.parametrize("goals", [1, 2, 3])
def test_a_front_is_what_nobody_beats(goals):
    chance = np.random.default_rng(goals)
    for rows in (1, 2, 40):
        losses = chance.integers(0, 6, (rows, goals)).astype(float)
        assert pareto(losses).tolist() == slow_front(losses.tolist())
    assert pareto(np.empty((0, goals))).tolist() == []


def test_a_front_holds_what_is_infinite():
    losses = np.array([[math.inf, 0.0], [1.0, math.inf], [math.inf, 1.0], [2.0, math.inf]])
    assert pareto(losses).tolist() == [0, 1]


def share(loss):
    """A loss from 0 at the best to 1 at the worst."""
    return (loss - loss.min()) / (loss.max() - loss.min())


def test_a_loss_is_the_sum_of_what_goals_count_from_their_best_to_their_worst(tmp_path):
    wanted = of(Goal("half_life", weight=2.0, wanted=500.0), NEAR, FAR)
    found = ranked(swept(wanted, tmp_path), wanted)
    losses = 2.0 * share(np.log2(found["half_life"] / 500.0) ** 2)
    losses += share(-found["near"]) + share(found["far"])
    assert np.allclose(found["loss"], losses, rtol=1e-12)
    assert found["loss"].is_monotonic_increasing
    assert found["allowed"].all()
    front = slow_front(
        [*zip(np.log2(found["half_life"] / 500.0) ** 2, -found["near"], found["far"], strict=True)]
    )
    assert found.index[found["front"]].tolist() == front
    assert best(swept(wanted, tmp_path, resume=True), wanted).iloc[0].equals(found.iloc[0])


def test_limits_come_first(tmp_path):
    wanted = of(FAR, Goal("envelope_left", (("lag", 64),), 0, above=0.7, below=0.95, label="kept"))
    found = ranked(swept(wanted, tmp_path), wanted)
    within = (found["kept"] > 0.7) & (found["kept"] < 0.95)
    assert 0 < within.sum() < 9
    assert found["allowed"].tolist() == within.tolist() == sorted(within, reverse=True)
    assert not found["front"][~within].any()
    assert found["front"].sum() == 1  # of one goal with a weight
    assert best(swept(wanted, tmp_path, resume=True), wanted)["far"].tolist() == [
        found["far"][within].min()
    ]


def test_each_length_has_a_best_and_a_worst_of_its_own(tmp_path):
    goals = (Goal("resolution"), Goal("smallest", direction="larger"))
    wanted = of(*goals, lengths=(64, 4096))
    found = ranked(swept(wanted, tmp_path), wanted)
    for length in (64, 4096):
        rows = found[found["length"] == length]
        losses = share(-rows["resolution"]) + share(-rows["smallest"])
        assert np.allclose(rows["loss"], losses, rtol=1e-9)


def test_command_and_page_rank_alike(tmp_path):
    wanted = of(Goal("half_life", wanted=500.0), NEAR, FAR)
    points = swept(wanted, tmp_path)
    assert best(points, wanted).iloc[0].equals(Landscape(wanted, points).allowed.iloc[0])


def test_what_is_beyond_a_limit_sets_no_measure_and_goes_on_by_it(tmp_path):
    wanted = of(NEAR, replace(FAR, below=0.3))
    found = ranked(swept(wanted, tmp_path), wanted)
    within = found[found["allowed"]]
    assert 1 < len(within) < 9
    losses = 0.0
    for loss in (-found["near"], found["far"]):
        inside = loss[found["allowed"]]
        losses += (loss - inside.min()) / (inside.max() - inside.min())
    assert np.allclose(found["loss"], losses, rtol=1e-12)


def test_a_value_at_a_limit_is_not_within():
    goal = Goal("smallest", below=1.0, above=0.0)
    assert goal.allowed(np.array([0.0, 0.5, 1.0, math.nan])).tolist() == [
        *(False, True, False, False),
    ]
    assert goal.beyond(np.array([-1.0, 0.5, 3.0])).tolist() == [1.0, -0.5, 2.0]


def test_each_length_has_a_best_and_heads_are_averaged(tmp_path):
    points = swept(MIXED, tmp_path)
    found = ranked(points, MIXED)
    assert len(found) == 2 * 35
    heads = points[points["text"].notna()].groupby("setting")["disturbed(window=8)"]
    for setting, length in itertools.product((0, 17, 34), (64, 256)):
        [row] = found[(found["setting"] == setting) & (found["length"] == length)].to_dict(
            "records"
        )
        [resolution] = points[(points["setting"] == setting) & (points["length"] == length)][
            "resolution"
        ]
        assert row["resolution"] == resolution
        assert row["disturbed(window=8)"] == heads.mean()[setting]
        assert row["allowed"] == (row["disturbed(window=8)"] < 0.2)
    chosen = best(points, MIXED)
    assert chosen["length"].tolist() == [64, 256]
    for length in (64, 256):
        allowed = found[found["allowed"] & (found["length"] == length)]
        assert chosen[chosen["length"] == length]["loss"].tolist() == [allowed["loss"].min()]


def test_settings_count_once_all_their_points_are_there(tmp_path):
    points = swept(MIXED, tmp_path)
    found = ranked(points[points["point"] < 4 * 20 + 3], MIXED)
    assert set(found["setting"]) == {*range(20)}
    with pytest.raises(ValueError) as refused:
        best(points[:3], MIXED)
    assert str(refused.value) == (
        "no setting has all its points yet, so none is the best; resume the sweep."
    )


def test_settings_that_failed_are_not_allowed(tmp_path):
    points = swept(MIXED, tmp_path)
    points.loc[points["point"] == 4 * 7 + 2, "disturbed(window=8)"] = math.nan
    found = ranked(points, MIXED)
    failed = found[found["setting"] == 7]
    assert failed["disturbed(window=8)"].isna().all()
    assert not failed["allowed"].any()


@pytest.mark.parametrize(
    ("goals", "said"),
    [([Goal("smallest", above=1.0)], ("no setting has smallest above 1, the nearest has {most}; "
      "use another limit, or a wider range.")),
     ([Goal("half_life", below=100.0), Goal("envelope_left", above=0.5)],
      "no setting is within all limits at once; use fewer or other limits, or a wider range."),
     ([Goal("pair_half_life", (("pair", 99),))],
      "pair_half_life(pair=99) failed at every setting; look at the errors of the points.")],
)  # fmt: skip
def test_where_nothing_is_allowed_it_is_said_why(goals, said, tmp_path):
    wanted = of(*goals)
    points = swept(wanted, tmp_path)
    with pytest.raises(ValueError) as refused:
        best(points, wanted)
    most = f"{points[goals[0].label].max():.4g}"
    assert str(refused.value) == said.format(most=most)


INFINITE = {  # direction, values of settings 0, 1, 2: which is the best
    "smaller": ((math.inf, 5.0, math.inf), 1),
    "larger": ((1.0, math.inf, 2.0), 1),
}


@pytest.mark.parametrize("direction", INFINITE)
@pytest.mark.parametrize("limit", [None, 0.0])
def test_what_is_infinite_comes_before_or_after_what_is_equal(direction, limit):
    values, first = INFINITE[direction]
    goal = Goal("half_life", direction=direction, below=limit)
    wanted = spec(goal, parameters=(("gamma", (0.1, 0.4, 1.6)),))
    points = pd.DataFrame(
        {"point": range(3), "setting": range(3), "gamma": (0.1, 0.4, 1.6), "half_life": values}
    ).assign(length=math.nan, text="", layer=-1, head=-1, error=None)
    found = ranked(points, wanted)
    assert found["setting"][0] == first
    assert found["front"][0] == (limit is None)

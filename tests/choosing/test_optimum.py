"""Known optima are found: by a grid, a Sobol sequence, TPE and the gradient."""

import math
from concurrent.futures import BrokenExecutor

import numpy as np
import pandas as pd
import pytest
import torch
from optuna import create_study
from optuna.trial import TrialState

from tests import reference
from tests.choosing.specs import Deadly, spec, swept
from tests.choosing.test_objectives import crossing
from xpos_viz.choosing import (
    SAMPLERS,
    Goal,
    Span,
    Spec,
    SweepError,
    Text,
    best,
    descend,
    ranked,
    search,
)
from xpos_viz.choosing.gradient import _loss
from xpos_viz.choosing.search import _tell

WANTED = 1000.0
PAIR = Goal("pair_half_life", wanted=WANTED)
"""The half-life of pair 0 is B·ln 2/ln((1 + γ)/γ), which can be solved for B, and for γ."""

OF_SCALE_BASE = ("scale_base", Span(32.0, 32768.0, log=True))
OF_GAMMA = ("gamma", Span(0.01, 4.0, log=True))


def scale_base(gamma):
    return WANTED * math.log((1 + gamma) / gamma) / math.log(2)


def gamma(scale_base):
    return 1 / (2 ** (scale_base / WANTED) - 1)


def half_life(gamma, scale_base):
    return scale_base * math.log(2) / math.log((1 + gamma) / gamma)


def only(found):
    assert len(found) == 1
    return found.iloc[0]


def test_a_grid_finds_its_nearest_step(tmp_path):
    span = Span(32.0, 32768.0, steps=61, log=True)
    wanted = spec(PAIR, parameters=(("scale_base", span), ("gamma", (0.4,))))
    found = only(best(swept(wanted, tmp_path), wanted))
    nearest = min(span.grid, key=lambda step: abs(math.log(step / scale_base(0.4))))
    assert found["scale_base"] == nearest
    assert found["pair_half_life"] == pytest.approx(half_life(0.4, nearest))
    assert found["loss"] == 0.0


def test_a_sobol_sequence_comes_as_near_as_it_is_dense(tmp_path):
    wanted = spec(PAIR, parameters=(OF_SCALE_BASE,), points=256)
    found = only(best(swept(wanted, tmp_path), wanted))
    steps = abs(math.log2(found["scale_base"] / scale_base(0.4))) / (10 / 256)
    assert steps <= 1
    both = spec(PAIR, parameters=(OF_SCALE_BASE, OF_GAMMA), points=256)
    found = only(best(swept(both, tmp_path / "both"), both))
    assert found["pair_half_life"] == pytest.approx(WANTED, rel=0.05)


def test_tpe_finds_it():
    wanted = spec(PAIR, parameters=(OF_SCALE_BASE,))
    found = only(best(search(wanted, trials=60), wanted))
    assert found["scale_base"] == pytest.approx(scale_base(0.4), rel=0.02)


@pytest.mark.parametrize("start", [40.0, None, 30000.0])
def test_the_gradient_finds_the_scale_base(start):
    given = {} if start is None else {"scale_base": start}
    found = descend(spec(PAIR, parameters=(OF_SCALE_BASE, ("gamma", 0.7))), start=given)
    assert found.encoding["scale_base"] == pytest.approx(scale_base(0.7), rel=1e-4)
    assert found.encoding["gamma"] == 0.7
    assert found.values["pair_half_life"] == pytest.approx(WANTED, rel=1e-4)
    assert found.loss == found.path["loss"].min() < 1e-8 < found.path["loss"][0]


def test_the_gradient_finds_gamma():
    found = descend(spec(PAIR, parameters=(OF_GAMMA, ("scale_base", 2000.0))))
    assert found.encoding["gamma"] == pytest.approx(gamma(2000.0), rel=1e-4)


def test_the_half_life_of_all_pairs_grows_with_the_scale_base():
    """Rates are those of B = 1 divided by B, so the half-life of any γ is B times that."""
    wanted = spec(Goal("half_life", wanted=WANTED), parameters=(OF_SCALE_BASE, ("gamma", 0.3)))
    of_4096 = crossing(reference.xpos(64, gamma=0.3, scale_base=4096.0))
    found = descend(wanted)
    assert found.encoding["scale_base"] == pytest.approx(4096.0 * WANTED / of_4096, rel=1e-5)


def test_two_goals_are_met_by_both_parameters():
    """Pairs 0 and 16 of 32 have the half-lives 300 and 1500 at one γ and B, that are found."""
    gamma_there, scale_base_there = 0.35, 700.0
    zeta = reference.zeta(64, gamma_there)
    lives = [-scale_base_there * math.log(2) / math.log(zeta[pair]) for pair in (0, 16)]
    goals = [
        Goal("pair_half_life", (("pair", pair),), wanted=life)
        for pair, life in zip((0, 16), lives, strict=True)
    ]
    found = descend(spec(*goals, parameters=(OF_GAMMA, OF_SCALE_BASE)), steps=200)
    assert found.encoding["gamma"] == pytest.approx(gamma_there, rel=1e-3)
    assert found.encoding["scale_base"] == pytest.approx(scale_base_there, rel=1e-3)


TEXT = (Text("pronoun", layers=(8,), heads=(2,)),)
SMOOTH = {
    "resolution": Goal("resolution", (("normalisation", "raw"),)),
    "envelope_left": Goal("envelope_left", (("lag", 300),)),
    "half_life": Goal("half_life", wanted=500.0),
    "pair_half_life": Goal("pair_half_life", (("pair", 3),), wanted=500.0),
    "smallest": Goal("smallest"),
    "disturbed": Goal("disturbed", (("window", 9),)),
    "beyond": Goal("beyond", (("window", 9),)),
    "entropy": Goal("entropy"),
    "distance": Goal("distance"),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_those_of_small_steps(name):
    wanted = Spec(
        parameters=(("base", 1e5), OF_GAMMA, ("scale_base", Span(8.0, 512.0, log=True))),
        goals=(SMOOTH[name],), lengths=(100, 5000) if name == "resolution" else (200,), texts=TEXT,
    )  # fmt: skip
    at = torch.tensor([0.31, 61.0], dtype=torch.float64, requires_grad=True)

    def loss(values):
        return _loss(wanted, dict(zip(("gamma", "scale_base"), values, strict=True)))

    [found] = torch.autograd.grad(loss(at), at)
    for place, step in enumerate((1e-6, 1e-4)):
        near = at.detach().clone().repeat(2, 1)
        near[:, place] += torch.tensor([step, -step])
        ahead, behind = (loss(each.requires_grad_()).item() for each in near)
        slope = (ahead - behind) / (2 * step)
        assert found[place].item() == pytest.approx(slope, rel=2e-5, abs=1e-12)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [(spec(parameters=(("gamma", 0.4),)), ("a descent needs a parameter that can move, got none; "
      "use a span, such as { from = 0.1, to = 1 }.")),
     (spec(parameters=(OF_GAMMA, ("base", (1e4, 1e5)))),
      "base cannot move bit by bit; use one number, or search."),
     (Spec("dynamic_ntk", (("train_length", Span(512, 4096)),), (Goal("smallest"),)),
      "train_length cannot move bit by bit; use one number, or search."),
     (spec(Goal("smallest", above=0.0), parameters=(OF_GAMMA,)),
      "a descent knows no limits, got one for smallest; use search."),
     (spec(Goal("first_negative"), parameters=(OF_GAMMA,)),
      "first_negative has no gradient here, got 1024; use search.")],
)  # fmt: skip
def test_what_cannot_be_followed_is_said(wanted, said):
    with pytest.raises(ValueError) as refused:
        descend(wanted)
    assert str(refused.value) == said


def test_a_start_outside_is_refused():
    with pytest.raises(ValueError) as refused:
        descend(spec(parameters=(OF_GAMMA,)), start={"gamma": 5.0})
    assert str(refused.value) == ("a start must lie within its span, got 5.0; use 0.01 to 4.")


BOTH = spec(
    Goal("envelope_left", (("lag", 256),)),
    Goal("envelope_left", (("lag", 2048),), direction="smaller"),
    parameters=(OF_GAMMA, OF_SCALE_BASE),
    seed=4,
)
"""Keep what is near and lose what is far: the one costs the other."""


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_seed_gives_the_same_search_whoever_computes_it(sampler):
    options = {"trials": 24, "sampler": sampler, "at_once": 3}
    first, again = search(BOTH, **options), search(BOTH, **options)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    other = search(spec(*BOTH.goals, parameters=BOTH.parameters, seed=5), **options)
    assert not np.array_equal(first["gamma"], other["gamma"])
    assert first["point"].tolist() == [*range(24)]


@pytest.mark.parametrize("sampler", ["tpe_front", "nsga2"])
def test_a_search_for_the_front_spreads_along_it(sampler):
    found = ranked(search(BOTH, trials=60, sampler=sampler), BOTH)
    front = found[found["front"]].sort_values("envelope_left(lag=256)")
    assert len(front) > 5
    assert front["envelope_left(lag=2048)"].is_monotonic_increasing
    near = front["envelope_left(lag=256)"]
    assert near.max() - near.min() > 0.3


def test_a_search_keeps_to_limits():
    limited = spec(
        Goal("envelope_left", (("lag", 2048),), direction="smaller"),
        Goal("envelope_left", (("lag", 256),), weight=0, above=0.9),
        parameters=(("scale_base", Span(32.0, 32768.0, log=True)),),
    )
    found = only(best(search(limited, trials=60), limited))
    assert 0.9 < found["envelope_left(lag=256)"] < 0.91  # as near as it may


def test_a_search_asks_for_whole_numbers_and_words_that_there_are():
    ways = (("train_length", Span(512, 4096)), ("factor", (1.0, 2.0, 4.0)))
    wanted = Spec("yarn", ways, (Goal("smallest"),), lengths=(512,))
    found = search(wanted, trials=12)
    assert (found["train_length"] % 1 == 0).all()
    assert set(found["factor"]) <= {1.0, 2.0, 4.0}
    assert found["error"].isna().all()


def test_a_search_outlives_trials_that_fail():
    ways = (("low_turns", Span(0.0, 64.0)),)
    wanted = Spec("yarn", ways, (Goal("smallest"),), lengths=(64,))
    found = search(wanted, trials=20)
    failed = found["error"].notna()
    assert 0 < failed.sum() < 20
    assert (found["low_turns"][failed] >= 32.0).all()
    assert only(best(found, wanted))["low_turns"] < 32.0


def told(wanted, *rows):
    """What a study is told of trials that gave this."""
    study = create_study()
    asked = [study.ask() for _ in range(len(rows) // len(wanted.cases))]
    points = pd.DataFrame(rows, columns=["setting", "length", *(g.label for g in wanted.goals)])
    points = points.assign(point=points.index, text=None, scale_base=64.0)
    _tell(wanted, study, asked, points, SAMPLERS["tpe"])
    return study.trials


SMALL = Goal("smallest", direction="smaller", below=0.5)


def test_a_trial_that_fails_at_one_length_has_failed():
    two = spec(SMALL, parameters=(OF_SCALE_BASE,), lengths=(64, 128))
    failed, whole = told(two, (0, 64, 0.1), (0, 128, math.nan), (1, 64, 0.3), (1, 128, 0.4))
    assert failed.state is TrialState.FAIL
    assert (whole.state, whole.value) == (TrialState.COMPLETE, pytest.approx(0.35))


def test_a_limit_of_a_search_holds_at_each_length():
    two = spec(SMALL, parameters=(OF_SCALE_BASE,), lengths=(64, 128))
    beyond, within = told(two, (0, 64, 0.1), (0, 128, 0.6), (1, 64, 0.3), (1, 128, 0.4))
    assert beyond.constraints["smallest"] == pytest.approx(0.1)
    assert within.constraints["smallest"] == pytest.approx(-0.1)


def test_a_search_outlives_a_trial_that_ends_its_workers():
    wanted = spec(PAIR, parameters=(OF_SCALE_BASE,))
    deadly = Deadly(4)
    found = search(wanted, trials=9, at_once=3, executor=deadly)
    assert [points.start for points in deadly.asked] == [0, 1, 2, 3, 4, 5, 4, 4, 6, 7, 8]
    assert found["error"][4] == "its worker ended 3 times; there may be too little memory for it"
    assert found["pair_half_life"].isna().tolist() == [place == 4 for place in range(9)]


def test_a_search_outlives_its_first_trial_where_others_are_computed_beside_it():
    deadly = Deadly(0)
    found = search(spec(PAIR, parameters=(OF_SCALE_BASE,)), trials=6, at_once=3, executor=deadly)
    assert found["error"].notna().tolist() == [True, *[False] * 5]


class Broken(Deadly):
    """Takes nothing more once it has ended, as pools of processes do."""

    def submit(self, fn, /, *args, **kwargs):
        if any(self.deadly in points for points in self.asked):
            raise BrokenExecutor("a child process terminated abruptly")
        return super().submit(fn, *args, **kwargs)


def test_a_search_whose_executor_breaks_is_said():
    with pytest.raises(SweepError) as failed:
        search(spec(PAIR, parameters=(OF_SCALE_BASE,)), trials=9, executor=Broken(4))
    assert str(failed.value) == (
        "the executor takes no more work, got BrokenExecutor: a child process terminated "
        "abruptly; what was kept is kept: resume with another, such as Processes()."
    )


def test_a_search_whose_workers_never_live_is_said():
    with pytest.raises(SweepError) as failed:
        search(spec(PAIR, parameters=(OF_SCALE_BASE,)), trials=9, executor=Deadly(0))
    assert str(failed.value) == (
        "no worker lives long enough to compute anything, got BrokenExecutor: a child process "
        "terminated abruptly; use fewer workers if memory is short, and in a script of your own "
        'start a sweep under `if __name__ == "__main__":`.'
    )


def test_what_cannot_be_searched_is_said():
    with pytest.raises(ValueError) as refused:
        search(BOTH, sampler="random")
    assert str(refused.value) == "unknown sampler 'random'; use one of: tpe, tpe_front, nsga2."
    with pytest.raises(ValueError) as refused:
        search(spec(Goal("smallest", weight=0, above=0.0)))
    assert str(refused.value) == (
        "a search needs an objective with a weight, got none; use weight = 1."
    )

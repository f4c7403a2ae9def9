"""What articles get wrong: the wrong version breaks an invariant, and the right one keeps it."""

from typing import Any

import numpy as np
import pytest
import torch

from tests import reference, tolerances
from tests.lessons.steps import see
from xpos_viz import attention_scores, rope, xpos
from xpos_viz.inputs.sample import MODEL_BASE, sample_capture
from xpos_viz.lessons.mistakes import (
    LAG,
    LATER,
    PLACES,
    TRIED,
    both,
    departures,
    in_place,
    off,
    printed,
    stopped,
    together,
    tried,
    weighted,
)
from xpos_viz.lessons.toy import XPOS, Q
from xpos_viz.wrong import CHECKS

TOY: Any = {"base": 100.0, "gamma": 0.4, "scale_base": 6.0}
VECTOR = [1.0, 0.0, 1.0, 0.0]
CHECKED = ("by_importance", "same_way", "mixed")


def right(lag):
    """The score of two of the toy's tokens, by the slow oracle."""
    return reference.score(VECTOR, VECTOR, lag, reference.xpos(4, **TOY))


def wrong(name, m, n):
    """The same as a mistake has it."""
    return reference.wrong_score(name, VECTOR, VECTOR, m, n, **TOY)


@pytest.mark.parametrize("name", CHECKED)
def test_the_wrong_version_departs_and_the_right_one_does_not(name):
    assert see(name, "wrong").numbers["departure"] > 1
    assert see(name, "right").numbers["departure"] < tolerances.KEPT


def test_diagonals_hold_one_number_only_where_it_is_right():
    table = weighted("right").numpy()
    assert all(np.ptp(table.diagonal(lag)) < tolerances.KEPT for lag in range(-5, 6))
    near = weighted("wrong").diagonal(-1)
    assert near.tolist() == pytest.approx([wrong("by_importance", m, m - 1) for m in range(1, 6)])
    assert float(near[0]) > 2 * float(near[-1])


def test_the_same_scale_fades_by_place_and_not_by_distance():
    expected = [wrong("same_direction", n + LAG, n) for n in PLACES.tolist()]
    assert together("wrong").tolist() == pytest.approx(expected)
    assert expected[-1] < expected[0] / 10
    assert together("right").tolist() == pytest.approx([right(LAG)] * len(PLACES))


def test_linear_growth_makes_two_curves_of_one():
    lags = range(13)
    early, late = both("wrong").tolist()
    assert early == pytest.approx([wrong("linear_growth", lag, 0) for lag in lags])
    assert late == pytest.approx([wrong("linear_growth", lag + LATER, LATER) for lag in lags])
    peaks = [at for at in lags if early[at] > 1]
    assert all(late[at] > 2 * early[at] for at in peaks)
    for curve in both("right").tolist():
        assert curve == pytest.approx([right(lag) for lag in lags])


def test_the_weights_of_a_model_refute_a_claim():
    assert float(off("right").max()) < tolerances.SAMPLE
    assert float(off("wrong").min()) > 10 * tolerances.SAMPLE
    assert set(sample_capture("tidebook").encodings) == {rope(64, base=MODEL_BASE)}


def test_two_layouts_mixed_turn_nothing():
    expected = [wrong("mixed_layouts", m, m) for m in PLACES.tolist()]
    assert in_place("wrong").tolist() == pytest.approx(expected)
    assert expected[0] == pytest.approx(2.0)  # q·k: a single token shows nothing
    assert abs(expected[1] - 2.0) > 0.5
    assert in_place("right").tolist() == pytest.approx([2.0] * len(PLACES))


def test_the_printed_code_stops_and_says_why():
    with pytest.raises(RuntimeError) as caught:
        printed(Q, Q, XPOS)
    assert tried("printed") == stopped(printed) == str(caught.value)
    assert "must match" in str(caught.value)
    assert see("printed", "printed").numbers["passed"] == 0


def test_the_printed_code_runs_where_the_example_is_too_small():
    x = torch.ones(3, 2, dtype=torch.float64)
    assert printed(x, x, xpos(2)).shape == (3, 3)


@pytest.mark.parametrize(("how", "passed"), [("patched", 4), ("right", 6)])
def test_code_that_runs_is_right_only_if_checks_pass(how, passed):
    assert stopped(TRIED[how]) == ""
    numbers = see("printed", how).numbers
    assert (numbers["passed"], numbers["checks"]) == (passed, len(CHECKS))
    assert bool((departures(TRIED[how]) < tolerances.KEPT).all()) is (how == "right")
    assert TRIED["right"] is attention_scores

"""From scores to weights: what the steps say holds, and is what independent sums give."""

import math

import numpy as np
import pytest

from tests import reference
from tests.lessons.steps import see
from xpos_viz.inputs.sample import layer_vectors
from xpos_viz.lessons import STEPS
from xpos_viz.lessons.attention import AFTER, BEFORE, logits_of, products, shares

WIDTHS = STEPS["root"].control.values


def softmax(values):
    """Softmax by its definition."""
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def test_undivided_scores_give_one_key_nearly_everything():
    most = [see("root", d).numbers["raw_most"] for d in WIDTHS]
    assert most == sorted(most)
    assert most[0] < 0.5
    assert most[-1] > 0.999


def test_divided_scores_keep_their_spread():
    for d in WIDTHS:
        seen = see("root", d).numbers
        assert 0.7 < seen["spread"] / seen["by"] < 1.3
        assert 0.2 < seen["root_most"] < 0.4


@pytest.mark.parametrize("d", WIDTHS)
def test_bars_are_the_softmax_of_the_scores(d):
    scores = products(d)[0].tolist()
    series = see("root", d).shown.series
    raw, root = (softmax(scores), softmax(score / math.sqrt(d) for score in scores))
    assert series["raw"] == pytest.approx(raw, abs=1e-12)
    assert series["root"] == pytest.approx(root, abs=1e-12)


def test_a_zero_is_a_logit_as_any_other():
    """Query 0 meets itself with the logit 2/√4 = 1, and five later keys with the logit 0."""
    assert see("hidden", 0.0).numbers["first"] == pytest.approx(5 / (5 + math.e))


def test_only_minus_infinity_hides_what_comes_later():
    later = [see("hidden", hidden).numbers["first"] for hidden in STEPS["hidden"].control.values]
    assert later == sorted(later, reverse=True)
    assert all(share > 0 for share in later[:-1])
    assert later[-1] == 0


@pytest.mark.parametrize("hidden", STEPS["hidden"].control.values)
def test_rows_of_weights_add_up_to_one_whatever_stands_in_the_cells(hidden):
    assert see("hidden", hidden).shown.values.sum(-1) == pytest.approx(np.ones(6))


def test_zeros_after_softmax_would_leave_rows_that_do_not_add_up():
    assert np.tril(see("hidden", 0.0).shown.values).sum(-1)[0] < 0.4


def test_the_same_change_of_a_logit_takes_most_in_the_middle():
    leads = STEPS["lead"].control.values
    lost = {lead: see("lead", lead).numbers["loss"] for lead in leads}
    assert lost[6.0] == pytest.approx(1 / (1 + math.exp(-6)) - 1 / (1 + math.exp(-5)))
    assert max(lost, key=lost.__getitem__) in (0.0, 1.0)
    assert lost[0.0] > 40 * lost[6.0]


def test_a_change_of_all_logits_takes_nothing():
    assert max(see("lead", lead).numbers["same"] for lead in STEPS["lead"].control.values) < 1e-15
    assert shares(0.0).tolist() == [0.5, 0.5]


def test_logits_of_heads_are_those_of_slow_sums():
    q, k = (x.double() for x in layer_vectors("harbour", 16))
    for encoding, rates in (
        (BEFORE, reference.rope(64, 1e5)),
        (AFTER, reference.xpos(64, 1e5, scale_base=64.0)),
    ):
        logits = logits_of(16, encoding)[8]
        for m, n in ((85, 0), (85, 80), (20, 20)):
            score = reference.score(q[8, m].tolist(), k[2, n].tolist(), m - n, rates, "half")
            assert float(logits[m, n]) == pytest.approx(score / 8, abs=1e-12)


def test_the_head_whose_logits_change_most_is_not_the_one_whose_weights_move_most():
    seen = see("heads", 16).numbers
    assert seen["head"] != seen["mover"]
    assert seen["change"] > 4 * seen["less"]
    assert seen["moved"] < seen["most"] / 3
    assert seen["near_share"] > 0.8


def test_bars_of_heads_are_shares_of_the_largest():
    for layer in STEPS["heads"].control.values:
        series = see("heads", layer).shown.series
        assert [max(bars) for bars in series.values()] == [1.0, 1.0]
        assert min(map(min, series.values())) > 0
        assert {bars.dtype for bars in series.values()} == {np.dtype(np.float64)}

"""Scaling: two factors whose product knows the distance alone, unless both go the same way."""

import math

import numpy as np
import pytest
import torch

from tests import reference
from tests.lessons.steps import places, see
from tests.tolerances import EXACT
from xpos_viz import apply_encoding
from xpos_viz.lessons import scaling
from xpos_viz.lessons.toy import XPOS, K, M, Q

ZETA = [0.4 / 1.4, 0.9 / 1.4]
B = 6.0
RATES = {
    "turned": reference.rope(4, 100.0),
    "shrunk": reference.decay(4, 0.4, B),
    "both": reference.xpos(4, 100.0, 0.4, B),
}
ways = pytest.mark.parametrize("way", RATES)


def test_the_product_of_both_factors_stays():
    left = [z ** (scaling.APART / B) for z in ZETA]
    for n in places("product"):
        assert scaling.kept(n).tolist() == pytest.approx(left, rel=EXACT)


def test_each_factor_alone_does_not_stay():
    shown = [see("product", n).shown.series for n in places("product")]
    for pair in range(2):
        assert np.all(np.diff([series["query"][pair] for series in shown]) < 0)
        assert np.all(np.diff([series["key"][pair] for series in shown]) > 0)
    assert max(series["key"].max() for series in shown) <= see("product", 0.0).shown.limits[1]


def test_the_factors_are_those_of_queries_and_keys():
    n = 3.0
    query, key = apply_encoding(
        Q[:1], K[:1], XPOS, query_positions=[n + scaling.APART], key_positions=[n]
    )
    series = see("product", n).shown.series
    for turned, name in ((query, "query"), (key, "key")):
        sizes = turned.reshape(2, 2).norm(dim=-1)
        assert sizes.tolist() == pytest.approx(series[name].tolist(), rel=EXACT)


@ways
def test_scores_by_the_oracle(way):
    scores = scaling.scores(way).numpy()
    at = M.tolist()
    expected = reference.matrix(
        reference.score, Q.tolist(), K.tolist(), at, at, RATES[way], "interleaved"
    )
    np.testing.assert_allclose(scores, expected, rtol=EXACT, atol=EXACT)
    shown = see("shrink", way).shown.values
    assert np.array_equal(np.isnan(shown), np.triu(np.ones((6, 6), bool), 1))
    np.testing.assert_array_equal(np.tril(np.nan_to_num(shown)), np.tril(scores))


@ways
def test_a_diagonal_holds_one_number(way):
    scores = scaling.scores(way)
    for lag in range(-5, 6):
        assert float(np.ptp(scores.diagonal(lag).numpy())) < EXACT


def test_the_farthest_score_is_the_smallest_if_pairs_are_shrunk_alone():
    shrunk = see("shrink", "shrunk").shown.values
    assert np.unravel_index(np.nanargmin(shrunk), shrunk.shape) == (5, 0)
    assert np.all(np.diff(shrunk[5]) > 0)
    assert np.all(np.diff(see("shrink", "shrunk").shown.values.diagonal()) == 0)
    for way in ("turned", "both"):  # turning brings scores back
        assert np.nanargmin(see("shrink", way).shown.values) != 30
    turned, both = (scaling.scores(way).tril() for way in ("turned", "both"))
    assert both[5, 0] < turned[5, 0]


def test_the_right_scores_know_the_distance_alone():
    numbers = see("same", "right").numbers
    assert (numbers["first"], numbers["last"]) == pytest.approx((2.0, 2.0), rel=EXACT)
    assert numbers["moved"] < EXACT


@pytest.mark.parametrize(("way", "factors"), [("same", 2), ("query", 1)])
def test_wrong_scores_know_the_place(way, factors):
    own = [math.fsum(z ** (factors * n / B) for z in ZETA) for n in range(6)]
    scores = scaling.scaled(way)
    assert scores.diagonal().tolist() == pytest.approx(own, rel=EXACT)
    assert np.all(np.diff(own) < 0)
    moved = own[0] - math.fsum(z ** (factors * B / B) for z in ZETA)
    assert see("same", way).numbers["moved"] == pytest.approx(moved, rel=EXACT)


def test_a_score_with_oneself_fades_faster_with_both_factors():
    both, one = (scaling.scaled(way).diagonal() for way in ("same", "query"))
    assert torch.all(both[1:] < one[1:])

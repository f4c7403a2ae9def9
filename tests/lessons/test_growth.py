"""The other side: growth after the query, overflow by format, and counting from the middle."""

import math

import numpy as np
import pytest
import torch

from tests import reference
from tests.lessons.steps import places, see
from tests.tolerances import EXACT
from xpos_viz import apply_encoding, attention_scores
from xpos_viz.lessons import growth
from xpos_viz.lessons.toy import XPOS, K, Q

FACTS = {  # by B: the last position in float16, bfloat16, float32 and float64
    64.0: [566, 4532, 4532, 36260],
    512.0: [4532, 36259, 36260, 290085],
    2048.0: [18129, 145039, 145042, 1160343],
}
ENDS = (65504.0, 3.4028e38, 1.7976e308)
HALF_DIGITS = 3 * 2 * torch.finfo(torch.float16).eps
"""Absolute: factors, product and sum of scores of at most 2, each rounded to float16."""


def logit(lag):
    """The logit of two tokens of the toy case, which are shrunk and not turned, B = 3."""
    return sum(z ** (lag / 3) for z in (0.4 / 1.4, 0.9 / 1.4)) / 2


def test_keys_after_the_query_grow():
    shown = see("side", "none").shown
    expected = [[logit(m - n) for n in range(6)] for m in range(6)]
    np.testing.assert_allclose(shown.values, expected, rtol=EXACT)
    assert np.all(np.diff(shown.values) > 0)
    assert shown.values[0, 5] < shown.limit


def test_without_a_mask_most_attention_goes_to_the_farthest_later_key():
    weights = reference.softmax([logit(-n) for n in range(6)], [True] * 6)
    numbers = see("side", "none").numbers
    assert (numbers["itself"], numbers["last"]) == pytest.approx((weights[0], weights[5]))
    assert numbers["last"] > 0.5


def test_a_causal_mask_hides_them():
    seen = see("side", "causal")
    assert np.array_equal(np.isnan(seen.shown.values), np.triu(np.ones((6, 6), bool), 1))
    assert np.nanmax(seen.shown.values) == seen.shown.values[0, 0]
    numbers = seen.numbers
    assert (numbers["itself"], numbers["last"], numbers["after"]) == (1, 0, -math.inf)


def test_scores_stay_and_are_then_lost():
    right = attention_scores(Q, K, XPOS)
    for start in places("overflow"):
        lost = see("overflow", start).numbers["lost"]
        if start + 5 <= 53:  # ⌊6 ln 65520 / ln 3.5⌋
            assert lost == 0
            error = (growth.in_float16(start).double() - right).abs().max()
            assert error < HALF_DIGITS
        else:
            assert lost >= 6
    assert see("overflow", 0.0).numbers["reach"] == 53
    assert see("overflow", places("overflow")[-1]).numbers["lost"] == 36


def test_the_largest_factor_of_a_key():
    for start in places("overflow"):
        factor = see("overflow", start).numbers["factor"]
        assert factor == pytest.approx(3.5 ** ((start + 5) / 6), rel=EXACT)


def test_the_tool_has_no_such_limit():
    at = torch.arange(6) + places("overflow")[-1]
    half = growth.HALF
    scores = attention_scores(half, half, XPOS, query_positions=at, key_positions=at)
    right = attention_scores(Q, K, XPOS)
    assert (scores.double() - right).abs().max() < HALF_DIGITS


@pytest.mark.parametrize("scale_base", FACTS)
def test_formats_end_where_the_facts_say(scale_base):
    assert growth.reaches(scale_base).tolist() == FACTS[scale_base]
    shown = see("formats", scale_base).shown
    digits = shown.x / scale_base * math.log10(3.5)
    np.testing.assert_allclose(shown.lines["digits"], digits, rtol=EXACT)
    for (n, power), end in zip(shown.marks.values(), ENDS, strict=True):
        assert power == pytest.approx(math.log10(end), abs=1e-4)
        assert n / scale_base * math.log10(3.5) == pytest.approx(power, rel=2e-3)


def test_formats_of_16_bits_differ_and_bfloat16_is_as_float32():
    for scale_base in places("formats"):
        half, brain, single, _ = growth.reaches(scale_base).tolist()
        assert single - brain <= 4
        assert see("formats", scale_base).numbers["ratio"] == brain / half > 7.9


def test_the_middle_is_best():
    sizes = [float(growth.largest(origin)) for origin in places("origin")]
    expected = [3.5 ** (max(origin, 8192 - origin) / 512) for origin in places("origin")]
    assert sizes == pytest.approx(expected, rel=1e-9)
    held = [see("origin", origin).numbers["held"] for origin in places("origin")]
    assert held == ["over", "over", "fits", "over", "over"]


def test_counting_from_the_middle_doubles_the_length():
    numbers = see("origin", 0.0).numbers
    assert (numbers["start"], numbers["centred"]) == (4533, 9065)


def test_queries_and_keys_overflow_on_opposite_sides():
    first, last = see("origin", 0.0).shown.lines, see("origin", 8192.0).shown.lines
    limit = first["limit"][0]
    assert first["key"].max() > limit > first["query"].max()
    assert last["query"].max() > limit > last["key"].max()
    for lines in (first, last):
        np.testing.assert_allclose(lines["query"] * lines["key"], 1, rtol=EXACT)


def test_scores_do_not_depend_on_the_origin():
    right = attention_scores(Q, K, XPOS)
    for origin in (0.0, 2.5, 5.0):
        query, key = apply_encoding(Q, K, XPOS, origin=origin)
        assert (query @ key.mT - right).abs().max() < EXACT
    query, _ = apply_encoding(Q, K, XPOS, origin=0.0)  # counted from different tokens
    _, key = apply_encoding(Q, K, XPOS, origin=3.0)
    assert (query @ key.mT - right).tril().abs().max() > 0.1

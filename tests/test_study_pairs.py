"""What the page on pairs shows, as numbers: against loops that import nothing of ours."""

import cmath
import math

import numpy as np
import pytest
import torch

from tests import cases
from xpos_viz import attention_scores, rope, xpos
from xpos_viz.encoding import REGISTRY, Encoding, p_rope, retnet
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.masks import Mask
from xpos_viz.studies.pairs import (
    COLUMNS,
    FAMILIES,
    STEPS,
    TRAILS,
    in_motion,
    over_text,
    parts,
    place,
    rows,
    visible,
)

PRONOUN = Sample("pronoun", 8, 2)
BOTH = (rope(64, base=1e5), xpos(64, base=1e5, scale_base=8.0))


def test_families_are_those_whose_pairs_turn_or_fade():
    assert FAMILIES[:3] == ("xpos", "rope", "p_rope")
    assert set(REGISTRY) - set(FAMILIES) == {"nope", "alibi", "t5", "t5_bidirectional"}


# Over the text


@pytest.mark.parametrize("axis", ["linear", "log"])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_left_of_a_pair_is_the_exponential_of_its_rate(name, axis):
    encoding = Encoding(name, (("head_dim", 8),))
    response = over_text(encoding, 300, axis)
    (rates,) = cases.heads_of(encoding)
    expected = [[cmath.exp(rate * int(lag)) for lag in response.lags] for rate in rates]
    np.testing.assert_allclose(response.values, expected, rtol=1e-9, atol=1e-12)
    assert response.pairs.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(response.left, [abs(row[-1]) for row in expected], rtol=1e-9)


@pytest.mark.parametrize(
    ("tokens", "axis", "first", "last", "count"),
    [
        (1, "linear", 0, 0, 1),
        (1, "log", 0, 0, 1),
        (2, "linear", 0, 1, 2),
        (2, "log", 1, 1, 1),
        (28, "linear", 0, 27, 28),
        (28, "log", 1, 27, 27),
        (512, "linear", 0, 511, 512),
        (1002, "linear", 0, 1000, 501),
    ],
)
def test_lags_are_those_of_the_text(tokens, axis, first, last, count):
    lags = over_text(xpos(4), tokens, axis).lags
    assert (lags[0], lags[-1], len(lags)) == (first, last, count)
    assert (np.diff(lags) > 0).all()


def test_lags_of_a_long_text_are_few_and_evenly_spread():
    linear, log = (over_text(xpos(4), 2048, axis).lags for axis in ("linear", "log"))
    assert len(linear) == COLUMNS
    assert set(np.diff(linear)) == {4}
    assert len(log) < COLUMNS
    far = np.diff(np.log(log[log > 300]))
    assert far.max() < 1.5 * far.min()
    assert log[-1] == 2047


def test_a_response_as_a_table_has_a_row_for_each_pair_and_lag():
    response = over_text(rope(4), 3, "linear")
    table = response.table()
    assert list(table.columns) == ["encoding", "pair", "lag", "real", "imaginary"]
    assert table["encoding"].unique().tolist() == ["rope(4, base=10000.0)"]
    assert table[["pair", "lag"]].to_numpy().tolist() == [
        *([0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2])
    ]
    np.testing.assert_allclose(table["real"], np.cos([0, 1, 2, 0, 0.01, 0.02]))
    np.testing.assert_allclose(table["imaginary"], np.sin([0, 1, 2, 0, 0.01, 0.02]))


# In motion


@pytest.mark.parametrize(("head_dim", "count"), [(2, 1), (4, 2), (12, 6), (64, 6), (512, 6)])
def test_all_pairs_move_and_few_have_paths_from_the_fastest_to_the_slowest(head_dim, count):
    response = in_motion(xpos(head_dim), 50)
    assert response.pairs.tolist() == list(range(head_dim // 2))
    assert len(response.values) == head_dim // 2
    few = response.few
    assert len(few) == count <= TRAILS
    assert (few[0], few[-1]) == (0, head_dim // 2 - 1)
    steps = np.diff(few)
    assert count == 1 or steps.max() - steps.min() <= 1


@pytest.mark.parametrize(("tokens", "last"), [(1, 0), (2, 1), (28, 27), (65, 64), (1002, 64)])
def test_pairs_move_lag_by_lag(tokens, last):
    response = in_motion(xpos(64), tokens)
    assert response.lags.tolist() == list(range(last + 1))
    assert last <= STEPS
    assert response.values[:, 0].tolist() == [1] * 32
    slowest = cmath.exp(last * (1j * 1e4 ** (-62 / 64) + math.log((62 / 64 + 0.4) / 1.4) / 512))
    assert response.values[-1, -1] == pytest.approx(slowest, rel=1e-12)


# Rows


def test_rows_are_wavelength_half_life_and_turns():
    table = rows(xpos(4), 100)
    assert table["pair"].tolist() == [0, 1]
    assert table["wavelength"].tolist() == pytest.approx([2 * math.pi, 200 * math.pi])
    zetas = (0.4 / 1.4, 0.9 / 1.4)
    halves = [512 * math.log(0.5) / math.log(zeta) for zeta in zetas]
    assert table["half_life"].tolist() == pytest.approx(halves)
    assert table["turns"].tolist() == pytest.approx([50 / math.pi, 0.5 / math.pi])


def test_rows_of_what_stands_still_or_keeps_its_size_are_without_end():
    assert rows(p_rope(8, share=0.5), 10)["wavelength"].tolist()[2:] == [math.inf] * 2
    assert rows(rope(8), 10)["half_life"].tolist() == [math.inf] * 4
    assert len(set(rows(retnet(8), 10)["half_life"])) == 1


# One score


@pytest.mark.parametrize(
    ("inputs", "mask", "asked", "found"),
    [
        (Expectation(28), "causal", (900, 0), (27, 0)),
        (Expectation(28), "causal", (900, 900), (27, 27)),
        (Expectation(28), "causal", (20, 3), (20, 3)),
        (Expectation(28), "causal", (5, 9), (5, 5)),
        (Expectation(28), "none", (5, 9), (5, 9)),
        (Expectation(28), "none", (5, 900), (5, 27)),
        (Expectation(28), "sliding:4", (20, 3), (20, 17)),
        (Expectation(28), "blockwise:4", (21, 3), (21, 16)),
        (Expectation(1), "causal", (2047, 2047), (0, 0)),
        (PRONOUN, "causal", (999, 28), (27, 27)),
    ],
    ids=str,
)
def test_what_is_not_there_is_the_nearest_that_is(inputs, mask, asked, found):
    assert place(inputs, mask, *asked) == found


@pytest.mark.parametrize("mask", ["causal", "none", "sliding:3", "blockwise:4"])
def test_visible_keys_are_those_of_the_mask(mask):
    everything = np.arange(12.0)
    for query in range(12):
        seen = visible(Expectation(12), mask, query)
        positions = torch.tensor([float(query)]).double()
        keys = torch.from_numpy(everything)
        expected = Mask.of(mask).visible(positions, keys)[0].numpy()
        assert list(seen) == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize(
    ("inputs", "encodings"),
    [
        (PRONOUN, BOTH),
        (Random(28, 5, "independent"), (rope(8), xpos(8, scale_base=16.0))),
        (Expectation(28), (rope(2), xpos(2))),
    ],
    ids=["sample", "random", "one pair"],
)
@pytest.mark.parametrize(("query", "key"), [(27, 0), (20, 20), (3, 25)])
def test_shares_sum_to_the_score(inputs, encodings, query, key):
    found = parts(inputs, encodings, query, key)
    vectors = inputs.load(encodings[0].head_dim)
    assert found.lag == query - key
    for encoding, shares, score in zip(encodings, found.shares, found.scores, strict=True):
        q, k = vectors.q[[query]], vectors.k[[key]]
        exact = attention_scores(
            q,
            k,
            encoding,
            query_positions=[query],
            key_positions=[key],
            layout=vectors.layout,
        )
        assert score == pytest.approx(exact.item(), rel=1e-9, abs=1e-9)
        assert score == shares.sum()
        assert len(shares) == encoding.head_dim // 2


def test_the_longest_bar_and_what_the_slow_pairs_have():
    found = parts(PRONOUN, BOTH, 27, 0)
    for place_ in (0, 1):
        shares = found.shares[place_].tolist()
        total = sum(map(abs, shares))
        assert abs(shares[found.longest[place_]]) == max(map(abs, shares))
        assert found.sizes[place_].tolist() == pytest.approx([abs(s) / total for s in shares])
    thetas = [1e5 ** (-2 * i / 64) for i in range(32)]
    slow = [28 * theta / (2 * math.pi) < 1 for theta in thetas]
    assert found.slow.tolist() == [slow, slow]
    assert 0 < sum(slow) < 32
    table = found.table()
    assert table["share"].tolist() == found.shares.ravel().tolist()
    assert table["pair"].tolist() == [*range(32)] * 2
    assert table["encoding"].unique().tolist() == [repr(encoding) for encoding in BOTH]
    assert set(table["query"]) == {27}
    assert set(table["key"]) == {0}


def test_tokens_are_named_where_there_is_text():
    assert parts(PRONOUN, BOTH, 27, 1).words == (".", "trophy")
    assert parts(Expectation(4), (rope(8),), 2, 1).words == ()


def test_beyond_float64_shares_are_infinite_and_their_sizes_have_no_number():
    found = parts(Expectation(64), (rope(4), xpos(4, scale_base=1e-3)), 0, 63)
    assert np.isinf(found.shares[1]).all()
    assert np.isnan(found.sizes[1]).all()
    assert np.isfinite(found.sizes[0]).all()

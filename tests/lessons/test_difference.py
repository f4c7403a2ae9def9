"""Only the difference counts: claims of the second chapter."""

import math

import numpy as np
import pytest

from tests import reference, tolerances
from tests.lessons.steps import places, see
from xpos_viz.inputs.sample import read_sample
from xpos_viz.texts import LANGUAGES, texts

SHIFTS = places("shift")
MOVES = places("alone")


def toy(lag):
    """A score of the toy: two pairs, one radian and a tenth of one per token."""
    return math.cos(lag) + math.cos(0.1 * lag)


def table(places):
    """All scores of six tokens."""
    return np.array([[toy(m - n) for n in places] for m in places])


@pytest.mark.parametrize("shift", SHIFTS)
def test_tokens_that_move_together_keep_their_scores(shift):
    seen = see("shift", shift)
    assert seen.shown.values == pytest.approx(table(range(6)), abs=tolerances.EXACT)
    assert seen.numbers["moved"] < tolerances.EXACT
    assert seen.numbers["score"] == pytest.approx(toy(2), abs=tolerances.EXACT)
    assert seen.numbers["again"] == pytest.approx(toy(2), abs=tolerances.EXACT)
    assert seen.shown.rows == seen.shown.columns
    assert seen.shown.rows[3] == f"{int(seen.numbers['query']):,}"


@pytest.mark.parametrize("shift", MOVES)
def test_a_token_that_moves_alone_changes_its_row_and_its_column(shift):
    seen = see("alone", shift)
    change = table([0, 1, 2, 3, 4, 5 + shift]) - table(range(6))
    assert seen.shown.values == pytest.approx(change, abs=1e-8)
    crossed = np.zeros((6, 6), bool)
    crossed[5, :5] = crossed[:5, 5] = shift > 0
    assert np.array_equal(seen.shown.values != 0, crossed)
    assert seen.numbers["changed"] == crossed.sum()
    assert seen.numbers["rest"] == 0
    assert seen.numbers["before"] == pytest.approx(toy(2), abs=tolerances.EXACT)
    assert seen.numbers["after"] == pytest.approx(toy(2 + shift), abs=tolerances.EXACT)
    assert np.abs(seen.shown.values).max() < seen.shown.limit


def spreads(values):
    """How far apart the numbers of each diagonal are."""
    size = len(values)
    return [np.ptp(np.diagonal(values, offset)) for offset in range(1 - size, size)]


def test_one_content_everywhere_gives_each_diagonal_one_number():
    seen = see("content", "same")
    assert max(spreads(seen.shown.values)) < tolerances.EXACT * seen.shown.limit
    assert set(seen.shown.rows) == {"brown"}


def test_contents_of_their_own_do_not():
    seen = see("content", "own")
    by_lag = spreads(seen.shown.values)
    assert min(by_lag[1:-1]) > 1  # all diagonals but those of one cell
    assert seen.numbers["spread"] == by_lag[len(by_lag) // 2 - 3]
    assert seen.numbers["spread"] == seen.numbers["most"] - seen.numbers["least"]


@pytest.mark.parametrize("whose", ["same", "own"])
def test_scores_of_a_sentence_are_those_of_the_formula_wherever_it_stands(whose):
    seen = see("content", whose)
    assert seen.numbers["moved"] < tolerances.EXACT * seen.shown.limit
    arrays = read_sample("pronoun")
    layer = list(arrays["layers"]).index(29)
    q, k = (arrays[name][layer, head].astype(float) for name, head in (("q", 3), ("k", 1)))
    m, n = 20, 12
    query, key = (q[m], k[n]) if whose == "own" else (q[7], k[7])
    score = reference.score(query, key, m - n, reference.rope(64, 100_000.0), "half")
    assert seen.shown.values[m, n] == pytest.approx(score, rel=tolerances.EXACT)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_choice_names_the_token(language):
    token = see("content", "same").shown.rows[0]
    assert f"“{token}”" in texts(language)("learn.content.same")

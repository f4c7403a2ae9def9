"""Landscapes and fronts as data: values, colours, marks and words."""

import numpy as np
import pytest

from xpos_viz.choosing.landscape import landscape
from xpos_viz.figures.choose import (
    BARRED,
    BEST,
    FRONT,
    best_words,
    edge_words,
    front_curve,
    goal_map,
)
from xpos_viz.figures.words import listed
from xpos_viz.pictures.choose import asked
from xpos_viz.state import from_address
from xpos_viz.texts import LANGUAGES, texts

EN = texts("en")
SMALL = {"goal_length": "256"}


def found(**address):
    """What an address asks for."""
    state, refused = from_address(SMALL | address)
    assert not refused
    spec = asked(state)
    assert spec is not None
    return landscape(spec)


def test_a_wanted_value_is_the_middle_of_the_colours():
    shown = found()
    grid = goal_map(shown, 0, EN)
    goal = shown.spec.goals[0]
    assert np.array_equal(grid.values, np.log2(shown.values(goal) / 1024))
    assert (grid.bar.scale, grid.bar.powers) == ("diverging", True)
    assert grid.bar.limit == np.abs(grid.values).max()
    assert grid.bar.label == "times the wanted 1,024 tokens"
    assert (grid.name, grid.title) == ("landscape", ("Half-life of the envelope", "256 tokens"))
    assert (grid.x, grid.y) == ("scale base B (tokens)", "γ")
    assert grid.columns == ("32", "64", "128", "256", "512", "1,024", "2,048", "4,096", "8,192")
    assert grid.rows[::4] == ("0.05", "0.4", "3.2")


@pytest.mark.parametrize(("goal", "scale"), [("smallest", "diverging"), ("headroom", "sequential")])
def test_other_values_are_shown_as_they_are(goal, scale):
    shown = found(goal=goal, base="100")
    grid = goal_map(shown, 0, EN)
    assert np.array_equal(grid.values, shown.values(shown.spec.goals[0]))
    assert (grid.values.min() < 0) == (scale == "diverging")
    assert (grid.bar.scale, grid.bar.powers) == (scale, False)


def test_the_best_setting_and_the_front_are_marked():
    shown = found(second_goal="resolution")
    one, other = (goal_map(shown, place, EN) for place in (0, 1))
    assert one.written == other.written
    marks = [mark for row in one.written for mark in row]
    assert marks.count(BEST) == 1
    assert marks.count(FRONT) == len(shown.front) - 1
    row, column = shown.places(shown.allowed)[0]
    assert one.written[row][column] == BEST
    assert other.name == "other_landscape"
    single = goal_map(found(), 0, EN).written
    assert {mark for row in single for mark in row} == {"", BEST}


def test_the_best_setting_is_said_with_what_it_reaches():
    shown = found(second_goal="envelope_left")
    best = shown.allowed.iloc[0]
    words = best_words(shown, EN)
    assert words.startswith(
        f"The best setting tried is γ {best['gamma']:g}, B {best['scale_base']:g}: half-life"
    )
    assert words in goal_map(shown, 0, EN).alt


def test_a_front_goes_from_one_goal_to_the_other():
    shown = found(second_goal="envelope_left", goal="headroom")
    curves = front_curve(shown, EN)
    (line,) = curves.curves
    assert line.x.tolist() == shown.front["headroom"].tolist()
    assert line.y.tolist() == shown.front["envelope_left"].tolist()
    assert (np.diff(line.x) >= 0).all()
    assert (np.diff(line.y) <= 0).all()
    assert [(mark.x, mark.y) for mark in curves.marks] == [*zip(line.x, line.y, strict=True)]
    assert 1 <= len(curves.named) <= 3
    assert curves.x == "float16 headroom (lengths)"
    assert curves.y == "envelope left (of its start)"


def test_what_is_set_now_has_a_ring_and_a_dot_beside_the_front():
    shown = found(second_goal="envelope_left")
    beaten = next(n for n in shown.table["setting"] if n not in set(shown.front["setting"]))
    assert goal_map(shown, 0, EN).ringed is None
    assert goal_map(shown, 1, EN, chosen=beaten).ringed == divmod(beaten, 9)
    assert goal_map(shown, 1, EN, chosen=beaten).notes[-1] == EN("choose.ringed")
    curves = front_curve(shown, EN, beaten)
    _, dot = curves.curves
    row = shown.table.set_index("setting").loc[beaten]
    assert (dot.label, dot.x, dot.y) == ("set now", row["half_life"], row["envelope_left"])
    assert {mark.line for mark in curves.marks} == {0}
    marks = front_curve(shown, EN, int(shown.front["setting"][1])).marks
    assert [mark.line for mark in marks[:3]] == [0, 1, 0]
    assert all(mark.read.startswith(("γ ", "★ γ ")) for mark in marks)


def test_the_best_setting_is_marked_on_the_front():
    shown = found(second_goal="envelope_left")
    best, curves = shown.allowed.iloc[0], front_curve(shown, EN)
    (starred,) = (mark for mark in curves.named if mark.label.startswith(f"{BEST} "))
    assert (starred.x, starred.y) == (best["half_life"], best["envelope_left"])
    assert starred.label == f"{BEST} γ {best['gamma']:g}, B {best['scale_base']:,g}"
    assert curves.notes == (EN("choose.front_note"), EN("choose.mark", best=BEST))


@pytest.mark.parametrize(
    ("address", "ends"),
    [
        ({}, ""),
        ({"goal": "resolution"}, "smallest γ 0.05, smallest B 32"),
        ({"goal": "envelope_left"}, "largest γ 3.2, largest B 8,192"),
    ],
    ids=str,
)
def test_a_best_setting_at_an_end_of_what_was_tried_is_told(address, ends):
    said = f"That lies at an end of what was tried ({ends}), so a better one may lie beyond it."
    assert edge_words(found(**address), EN) == [said] * bool(ends)


def test_what_is_beyond_a_limit_is_crossed_out_and_said():
    shown = found(goal="envelope_left", goal_limit="0.5")
    grid, values = goal_map(shown, 0, EN), shown.values(shown.spec.goals[0])
    crossed = np.array(grid.written) == BARRED
    assert np.array_equal(crossed, values <= 0.5)
    assert (
        "× marks what is beyond a limit; allowed is: envelope that is left at the length"
        in (grid.notes[1])
    )
    assert grid.notes[1].endswith("above 0.5 (of its start).")
    none = found(goal="envelope_left", goal_limit="2")
    assert best_words(none, EN) == EN("choose.none_within")


JUDGED = {
    "en": ("256 tokens", "layer 8, head 2 of the text (28 tokens)"),
    "zh": ("256 个词元", "该文本（28 个词元）的第 8 层第 2 头"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_and_of_what_goals_are_judged_is_said(language):
    shown = found(goal="beyond", second_goal="half_life", name="pronoun", goal_window="8")
    text, (length, head) = texts(language), JUDGED[language]
    one, other = (goal_map(shown, place, text) for place in (0, 1))
    assert (one.title[1], other.title[1]) == (head, length)
    assert "8" in one.title[0]
    assert front_curve(shown, text).title[1] == listed([length, head], text)

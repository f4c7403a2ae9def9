"""The controls of the page Compare: what each changes, and what two at once do."""

import pytest

from tests.apptest import MADE, SHORT, address, control
from tests.compare_page import (
    again,
    changed,
    check,
    move,
    opened,
    release,
    sent,
    shown,
    spoken,
    unchanged,
)
from xpos_viz.texts import texts

pytestmark = pytest.mark.usefixtures("steady")


# What a control changes


CHANGES = [
    ("gamma", 0.5, {"gamma": "0.5"}, {"encodings"}),
    ("scale_base", 64.0, {"scale_base": "64"}, {"encodings"}),
    ("base", 1000.0, {"base": "1000"}, {"encodings"}),
    ("stage", "weights", {"stage": "weights"}, {"view"}),
    ("mask", "none", {"mask": "none"}, {"view"}),
    ("start", 3, {"start": "3"}, {"view"}),
    ("stop", 20, {"stop": "20"}, {"view"}),
    ("axis", "log", {"axis": "log"}, {"view"}),
    ("head", 5, {"head": "5"}, {"data", "q", "k"}),
    ("layer", 16, {"layer": "16"}, {"data", "q", "k"}),
    ("apart", True, {"apart": "yes"}, {"sliders"}),
]


@pytest.mark.parametrize(("key", "value", "parameters", "parts"), CHANGES)
def test_a_control_changes_its_parts_and_the_address(key, value, parameters, parts):
    page = move(opened(SHORT), key, value)
    assert changed(SHORT, page) == parts
    assert address(page) == SHORT | parameters
    check(sent(page), SHORT | parameters)
    assert shown(page, key) == value
    page = again(control(page, "reset").click())
    assert changed(SHORT, page) == set()
    assert address(page) == SHORT


def test_both_ends_of_the_window_move_at_once():
    page = release(opened(SHORT | {"start": "3", "stop": "9"}), start=12, stop=20)
    assert address(page) == SHORT | {"start": "12", "stop": "20"}
    page = release(page, start=4, stop=28)
    assert address(page) == SHORT | {"start": "4"}
    page = release(page, start=0)
    assert address(page) == SHORT


@pytest.mark.parametrize(
    ("key", "value", "parameters", "parts"),
    [
        ("seed", 5, {"seed": "5"}, {"data", "q", "k"}),
        ("keys", "independent", {"keys": "independent"}, {"data", "k"}),
        ("length", 64, {"length": "64"}, {"data", "q", "k", "tokens", "view"}),
        ("head_dim", 16, {"head_dim": "16"}, {"data", "q", "k", "head_dim"}),
    ],
)
def test_controls_of_what_is_made(key, value, parameters, parts):
    page = move(opened(MADE), key, value)
    assert changed(MADE, page) == parts
    assert address(page) == MADE | parameters
    check(sent(page), MADE | parameters)


@pytest.mark.parametrize(
    ("key", "value", "parameters"),
    [
        ("source", "random", {"source": "random"}),
        ("source", "expectation", {"source": "expectation"}),
        ("name", "chinese", {"name": "chinese"}),
        ("name", "tidebook", {}),
    ],
)
def test_another_source_opens_with_its_own_settings(key, value, parameters):
    page = move(opened(SHORT), key, value)
    assert address(page) == parameters
    check(sent(page), parameters)
    page = again(control(page, "reset").click())
    assert address(page) == parameters


def test_bases_move_together_until_they_are_unlocked():
    page = move(opened(SHORT), "apart", True)
    assert shown(page, "xpos_base") == shown(page, "base") == 100_000
    page = release(page, base=1000.0)
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "100000"}
    page = release(page, xpos_base=50.0)
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "50"}
    check(sent(page), address(page))
    page = move(page, "apart", False)
    assert address(page) == SHORT | {"base": "1000"}
    page = release(page, base=500.0)
    assert address(page) == SHORT | {"base": "500"}
    check(sent(page), address(page))


def test_another_language_changes_words_alone():
    page = move(opened(SHORT), "language", "zh")
    assert address(page) == SHORT | {"lang": "zh"}
    assert page.title[0].value == texts("zh")("pages.compare.title")
    assert changed(SHORT, page) == {"text", "stages", "choices", "sliders", "symbols"}
    sliders = zip(unchanged(**SHORT)["sliders"], sent(page)["sliders"], strict=True)
    differ = {key for old, new in sliders for key in old if old[key] != new[key]}
    assert differ == {"label", "help"}
    page = again(control(page, "language", "zh").set_value("en"))
    assert page.title[0].value == texts("en")("pages.compare.title")
    assert address(page) == SHORT | {"lang": "en"}
    assert changed(SHORT, page) == set()


def test_reset_keeps_the_source_and_the_language():
    page = opened(SHORT | {"lang": "zh", "gamma": "0.5", "stage": "weights", "start": "3"})
    page = again(control(page, "reset", "zh").click())
    assert address(page) == SHORT | {"lang": "zh"}
    check(sent(page), SHORT, "zh")


def test_a_value_between_the_steps_stays_on_its_slider():
    page = opened(MADE | {"gamma": "0.4321", "base": "12345", "length": "33", "head_dim": "10"})
    for key, value in (("gamma", 0.4321), ("base", 12345), ("length", 33), ("head_dim", 10)):
        assert shown(page, key) == value
    page = move(page, "length", 64)
    page = move(page, "length", 33)
    assert address(page)["length"] == "33"
    page = release(page, gamma=0.5)
    page = release(page, gamma=0.4321)
    assert address(page)["gamma"] == "0.4321"


def test_going_back_restores_what_was():
    """The browser runs the page again with the address of before."""
    page = release(opened(SHORT), gamma=0.5)
    page = release(page, stage="weights")
    page = move(page, "head", 5)
    page.query_params.clear()
    page.query_params.update(SHORT)
    page.run()
    assert not page.exception
    assert changed(SHORT, page) == set()
    assert control(page, "head").value == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("stage", "weights"), ("mask", "none"), ("axis", "log"), ("apart", True), ("head", 5)),
        *(("difference", "ratio"), ("colours", "purple_orange")),
    ],
)
def test_a_quick_second_change_does_not_undo_the_first(key, value):
    """It may be sent before the browser has the address of the first, so with the old one."""
    page = release(opened(SHORT), gamma=0.5)
    written = address(page)
    page.query_params.clear()
    page.query_params.update(SHORT)
    if key in ("difference", "colours"):
        page = release(page, **{key: value})
    else:
        page = move(page, key, value)
    assert shown(page, key) == value
    assert shown(page, "gamma") == 0.5
    page.query_params.update(written)
    page.run()
    assert shown(page, "gamma") == 0.5


def test_a_quick_move_that_changes_nothing_does_not_undo_the_one_before():
    """Then no address is written, and the old one that the browser sends is not read."""
    page = again(control(opened(SHORT), "language").set_value("zh"))
    page.query_params.clear()
    page.query_params.update(SHORT)
    page = again(control(page, "reset", "zh").click())
    assert control(page, "language", "zh").value == "zh"


# Two at once


@pytest.mark.parametrize(
    ("before", "one", "other", "after"),
    [
        (SHORT, ("name", "tidebook"), ("layer", 24), {}),
        (MADE, ("source", "sample"), ("length", 64), {}),
        ({}, ("source", "random"), ("head", 5), {"source": "random"}),
    ],
    ids=str,
)
def test_two_quick_moves_in_one_run_do_no_harm(before, one, other, after):
    """The second control was drawn for a state that the first one has left."""
    page = opened(before)
    control(page, one[0]).set_value(one[1])
    page = again(control(page, other[0]).set_value(other[1]))
    kept = {key: value for key, value in address(page).items() if key in ("source", "name")}
    assert kept == after


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("before", "one", "moves", "after"),
    [
        ({}, ("name", "pronoun"), {"start": 0, "stop": 800}, {"name": "pronoun"}),
        ({}, ("name", "pronoun"), {"start": 700}, {"name": "pronoun"}),
        ({}, ("source", "random"), {"gamma": 0.5, "stop": 1000}, {"source": "random"}),
        ({"apart": "yes"}, ("apart", False), {"xpos_base": 50.0}, {}),
    ],
    ids=str,
)
def test_a_move_in_the_picture_and_one_beside_it_do_no_harm(before, one, moves, after, last):
    """Either may be the first to be heard."""
    page = opened(before)
    control(page, one[0]).set_value(one[1])
    states = page._tree.get_widget_states()
    moved = {key: [value, 1] for key, value in moves.items()}
    said = spoken(page, {"moved": moved, "number": 1, "holds": []})
    states.widgets.insert(len(states.widgets) if last else 0, said)
    page._run(states)
    assert not page.exception
    kept = {key: value for key, value in address(page).items() if key in ("source", "name")}
    assert kept == after
    check(sent(page), address(page))

"""The live map and its page: what it says is heard once, and what it holds is not sent again."""

from typing import cast

import pytest
import streamlit as st
from starlette.responses import Response
from streamlit.proto.WidgetStates_pb2 import WidgetStates

from tests.apptest import SHORT, address, control, fresh
from tests.compare_page import (
    KNOWN,
    WORDS,
    again,
    changed,
    check,
    heard,
    move,
    opened,
    picture,
    release,
    say,
    sent,
    spoken,
    told,
)
from xpos_viz.livemap import source
from xpos_viz.livemap.message import LIVE_WEIGHTS
from xpos_viz.ui import livemap

pytestmark = pytest.mark.usefixtures("steady")

HELD = {"q", "k", "labels"}  # what a browser keeps


# What the picture says


def test_a_move_is_taken_once():
    page = release(opened(SHORT), gamma=0.5)
    page = again(control(page, "reset").click())
    page = say(page, heard(page) | {"holds": []})  # it asks for data
    assert address(page) == SHORT
    page = release(page, stage="weights")
    assert heard(page)["moved"] == {"gamma": [0.5, 1], "stage": ["weights", 2]}
    assert address(page) == SHORT | {"stage": "weights"}
    assert sent(page)["echo"] == 2


def test_several_moves_may_arrive_in_one_run():
    """Only the last thing said arrives; it tells of all that was moved."""
    moved = {"gamma": [0.5, 1], "stage": ["weights", 2], "start": [3, 4], "stop": [20, 4]}
    moved |= {"axis": ["log", 3], "difference": ["ratio", 3]}
    page = say(opened(SHORT), {"moved": moved, "number": 4, "holds": []})
    asked = {"gamma": "0.5", "stage": "weights", "axis": "log", "start": "3", "stop": "20"}
    asked |= {"difference": "ratio"}
    assert address(page) == SHORT | asked
    check(sent(page), SHORT | asked)
    assert sent(page)["echo"] == 4


@pytest.mark.parametrize(
    "moves",
    [
        *({"gamma": -1.0}, {"base": 0.5}, {"stage": "softmax"}, {"mask": "sliding:4"}),
        *({"axis": "ln"}, {"start": "3"}, {"xpos_base": 50.0}),
        *({"difference": "product"}, {"colours": "rainbow"}),
        {"scale_base": 64.0, "gamma": 0},
        {"unknown": 1},
    ],
    ids=str,
)
def test_an_impossible_move_leaves_all_as_it_is_and_is_answered(moves):
    page = release(opened(SHORT), **moves)
    assert changed(SHORT, page) == set()
    assert address(page) == SHORT
    assert sent(page)["echo"] == 1
    page = release(page, gamma=0.5)
    assert address(page) == SHORT | {"gamma": "0.5"}


def test_how_the_picture_is_looked_at_is_in_the_address():
    """It stays when another source is shown."""
    look = {"difference": "ratio", "colours": "purple_orange"}
    page = release(opened(SHORT), difference="ratio")
    assert address(page) == SHORT | {"difference": "ratio"}
    page = release(page, colours="purple_orange")
    assert address(page) == SHORT | look
    check(sent(page), SHORT | look)
    check(sent(opened(SHORT | look)), SHORT | look)
    page = move(page, "name", "chinese")
    check(sent(page), {"name": "chinese"} | look)
    page = release(page, difference="plain", colours="blue_red")
    assert address(page) == {"name": "chinese"}


FORGED = [
    *(None, 3, "said", ["moved"], {"moved": 3}, {"moved": [["gamma", 1]], "number": 2}),
    *({"moved": {"gamma": 0.5}, "number": 1}, {"moved": {"gamma": [0.5]}, "number": 1}),
    *({"moved": {"gamma": [0.5, "1"]}, "number": 1}, {"moved": {"gamma": [0.5, True]}}),
    *({"moved": {"gamma": [[0.5], 1]}, "number": 1}, {"moved": {"gamma": [{}, 1]}}),
    *({"moved": {"colours": ["x", 1]}, "number": 1}, {"moved": {}, "number": 2**70}),
    *({"moved": {}, "number": "9", "holds": "q"}, {"moved": {}, "number": -1}),
]


@pytest.mark.parametrize("said", FORGED, ids=str)
def test_what_no_picture_says_is_not_heard(said):
    page = say(opened(SHORT), said)
    assert address(page) == SHORT
    page = say(page, {"moved": {"gamma": [0.5, 3]}, "number": 3, "holds": []})
    assert address(page) == SHORT | {"gamma": "0.5"}


def test_a_session_that_begins_anew_takes_no_old_moves():
    """A browser that comes back says again what it said; the address holds what came of it."""
    page = release(opened(SHORT), gamma=0.5, stage="weights")
    said = heard(page) | {"echo": 1}
    page, known = fresh(SHORT), sent(page)
    KNOWN[page] = known
    page._run(WidgetStates(widgets=[spoken(opened(SHORT), said)]))
    assert not page.exception
    assert heard(page) == said
    check(sent(page), SHORT)
    assert sent(page)["echo"] == 1
    page = release(page, mask="none")
    assert heard(page)["moved"].keys() == {"gamma", "stage", "mask"}
    assert address(page) == SHORT | {"mask": "none"}


def test_a_session_that_begins_anew_takes_the_move_that_no_server_heard():
    """The server was renewed under an open page, and a control was let go meanwhile."""
    page = release(opened(SHORT), gamma=0.5)
    moved = heard(page)["moved"] | {"scale_base": [64.0, 2]}
    said = heard(page) | {"moved": moved, "number": 2, "echo": 1}
    page, known = fresh(address(page)), sent(page)
    KNOWN[page] = known
    page._run(WidgetStates(widgets=[spoken(opened(SHORT), said)]))
    assert not page.exception
    assert address(page) == SHORT | {"gamma": "0.5", "scale_base": "64"}
    check(sent(page), address(page))
    assert sent(page)["echo"] == 2


# What is sent, and what not again


def test_parts_are_sent_once_the_picture_is_there():
    page = opened(SHORT)
    assert told(page).keys() >= HELD | WORDS
    page.run()
    assert told(page).keys() >= HELD | WORDS
    page = release(page, gamma=0.5)
    assert told(page).keys().isdisjoint(HELD | WORDS)
    page = again(control(page, "head").set_value(5))
    assert told(page).keys() & (HELD | WORDS) == HELD
    check(sent(page), SHORT | {"gamma": "0.5", "head": "5"})
    page = again(control(page, "language").set_value("zh"))
    assert told(page).keys() & (HELD | WORDS) == WORDS


def test_a_part_that_did_not_arrive_is_sent_when_it_is_asked_for():
    page = release(opened(SHORT), gamma=0.5)
    page = again(control(page, "apart").set_value(True))
    assert HELD.isdisjoint(told(page))
    for needs in (1, 2):
        page = say(page, heard(page) | {"holds": [], "needs": needs})
        assert told(page).keys() >= HELD | WORDS
    page = again(control(page, "apart").set_value(False))
    assert HELD.isdisjoint(told(page))


def test_a_release_of_what_is_held_sends_little():
    page = release(opened(), gamma=0.5)
    assert changed({}, page) == {"encodings"}
    assert told(page).keys() == sent(page).keys() - HELD - WORDS - {"streamed"}
    assert len(picture(page).bytes) < 1500


def test_the_module_of_the_picture_is_fetched_and_not_sent_with_the_runs():
    """Each answer is new: the middleware that compresses it changes it."""
    served = livemap.route()
    answers = [cast("Response", served.endpoint(None)) for _ in range(2)]
    assert answers[0] is not answers[1]
    assert {bytes(answer.body).decode() for answer in answers} == {source()}
    assert answers[0].headers["content-type"].startswith("text/javascript")
    assert answers[0].headers["cache-control"].endswith("immutable")
    script = picture(opened(SHORT)).js_content
    assert f".{served.path}" in script
    assert len(script) < len(source()) / 50


@pytest.mark.parametrize(("base", "folder"), [("", ""), ("tools/xpos", "/tools/xpos")])
def test_the_module_lies_beside_the_page(base, folder, monkeypatch):
    path = livemap.route().path
    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": base}.get)
    assert livemap.route().path == folder + path


def test_what_is_not_changed_is_sent_as_it_was():
    """The same bytes, so that only their hash travels; the same module, so that it stays."""
    page = opened(SHORT)
    before = picture(page)
    page.run()
    assert picture(page).SerializeToString() == before.SerializeToString()
    page = move(page, "language", "zh")
    page = move_in(page, "zh", "name", "chinese")
    after = picture(page)
    assert after.bytes != before.bytes
    assert (after.id, after.js_content) == (before.id, before.js_content)


def move_in(page, language, key, value):
    """Run the page in a language after a control beside the picture was moved."""
    return again(control(page, key, language).set_value(value))


def test_weights_of_many_tokens_are_sent_when_they_are_asked_for():
    page = opened()
    assert sent(page)["tokens"] > LIVE_WEIGHTS
    assert sent(page)["streamed"] is None
    for moves, streamed in (
        ({"stage": "masked"}, False),
        ({"difference": "weights"}, True),
        ({"difference": "ratio"}, False),
        ({"stage": "weights"}, True),
        ({"gamma": 0.5}, True),
        ({"start": 100, "stop": 300}, True),
        ({"stage": "scores"}, False),
    ):
        page = release(page, **moves)
        told = sent(page)
        assert (told["streamed"] is not None) == streamed
        check(told, address(page))


def test_weights_that_the_browser_has_are_not_sent_again():
    page = release(opened(), stage="weights")
    page = release(page, gamma=0.5)
    assert told(page)["streamed"] is not None
    page = again(control(page, "language").set_value("zh"))
    assert "streamed" not in told(page)
    page = say(page, heard(page) | {"holds": [], "needs": 1})
    assert told(page)["streamed"] is not None

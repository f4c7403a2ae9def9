"""The live map's host in Streamlit: what it is sent, and what it says."""

import json

from streamlit.testing.v1 import AppTest

from tests.livemap.page import SHORT, described, names, unpacked
from xpos_viz.livemap import packed
from xpos_viz.ui import livemap as ui

HOSTED = """
import streamlit as st
from tests.livemap.page import SHORT
from xpos_viz.look import Look
from xpos_viz.texts import texts
from xpos_viz.ui.livemap import show

show(SHORT, texts("en"), "light", Look(), st.session_state.setdefault("told", []).append)
"""


def said(changes, number, holds):
    """What the component says on a release: all that was moved so far."""
    return {"said": {"moved": changes, "number": number, "echo": 0, "holds": holds}}


def test_the_host_passes_on_each_change_once(monkeypatch):
    told, session = [], {}
    monkeypatch.setattr(ui.st, "session_state", session)
    held = names(described(SHORT))
    session["livemap"] = said({"gamma": [1.0, 1]}, 1, held)
    ui._take(told.append)
    session["livemap"] = said({"gamma": [1.0, 1], "base": [3e4, 2], "stop": [9, 3]}, 3, held)
    ui._take(told.append)
    ui._take(told.append)
    session["livemap"] = said({"gamma": [1.0, 1], "difference": ["ratio", 4]}, 4, held)
    ui._take(told.append)
    session["livemap"] = said({"gamma": [1.0, 1]}, 4, [])  # it asks for data
    ui._take(told.append)
    assert told == [{"gamma": 1.0}, {"base": 3e4, "stop": 9}, {"difference": "ratio"}]


def test_the_host_sends_data_until_they_are_held():
    app = AppTest.from_string(HOSTED, default_timeout=30).run()
    assert not app.exception
    sent = unpacked(app.get("bidi_component")[0].proto.bytes)
    assert json.dumps(sent, default=list) == json.dumps(
        unpacked(packed(described(SHORT) | {"echo": 0, "resets": 0, "only": ()})), default=list
    )
    app.session_state["livemap"] = said({}, 0, names(sent))
    app.run()
    assert not app.exception
    assert not app.session_state["told"]
    again = unpacked(app.get("bidi_component")[0].proto.bytes)
    assert again.keys() == {
        *("data", "words", "streaming", "tokens", "head_dim", "encodings", "view"),
        *("live_weights", "echo", "resets", "only"),
    }

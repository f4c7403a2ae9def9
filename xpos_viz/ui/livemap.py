"""The live map on a page: a component that draws by itself and reports what was moved.

Its module mounts once and is updated on every run, so zoom and focus stay. While a control is
dragged it sends nothing; on release it sets its state to what changed, the number of that
release, and which data it holds, so that data go to the browser once.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from xpos_viz import livemap
from xpos_viz.experiment import Experiment
from xpos_viz.livemap import Look
from xpos_viz.texts import Text
from xpos_viz.theme import Mode
from xpos_viz.ui.session import heard

Moves = dict[str, Any]
"""New values by key: base, xpos_base, gamma, scale_base, stage, mask, axis, start and stop."""

_HOST = """
// shared with the module of a server that was renewed while the page stayed open
const mounted = (globalThis[Symbol.for("xpos_viz.livemap")] ??= new WeakMap());

export default function ({ data, parentElement, setStateValue }) {
  const known = mounted.get(parentElement);
  if (known?.start === start) {
    known.update(data);
  } else {
    known?.destroy();
    mounted.set(parentElement, { ...start(data, parentElement, setStateValue), start });
  }
  return () => {
    mounted.get(parentElement)?.destroy();
    mounted.delete(parentElement);
  };
}

function start(data, parentElement, setStateValue) {
  const handle = mount(parentElement, data);
  const moved = {}; // key → [value, number of the release]; a run may see several at once
  let said = { moved, number: 0, holds: null };
  const say = (news) => setStateValue("said", (said = { ...said, ...news }));
  handle.on("commit", ({ changes, number, holds }) => {
    for (const [key, value] of Object.entries(changes)) moved[key] = [value, number];
    say({ number, holds });
  });
  handle.on("need", () => say({ holds: null }));
  return handle;
}
"""
_KEY, _SAID, _TAKEN, _CHOSEN = "livemap", "said", "livemap_taken", "livemap_chosen"
_component = component("xpos_viz_livemap", js=f"{livemap.source()}\n{_HOST}")


def show(
    experiment: Experiment,
    text: Text,
    mode: Mode,
    look: Look,
    on_commit: Callable[[Moves], None],
) -> None:
    """Draw the live map of an experiment.

    Parameters
    ----------
    experiment
        What is shown.
    text
        Sentences of one language.
    mode
        "light" or "dark".
    look
        How it is looked at; its difference and colours are those of the session.
    on_commit
        Called with what was changed when a control is let go, before the run that follows.
    """
    described = livemap.payload(experiment, text, mode, replace(look, **_chosen()))
    described["echo"] = st.session_state.get(_TAKEN, 0)
    if _said().get("holds") == described["data"]:
        described = livemap.without_data(described)
    _component(
        key=_KEY,
        data=livemap.packed(described),
        default={_SAID: None},
        on_said_change=lambda: _take(on_commit),
    )
    if _TAKEN not in st.session_state:  # what was said before this session is in its address
        st.session_state[_TAKEN] = _said().get("number", 0)
        if st.session_state[_TAKEN]:
            st.rerun()  # and the picture goes back to that


def _take(on_commit: Callable[[Moves], None]) -> None:
    """Pass on what was moved since the last time, once; the look is kept here."""
    heard(_KEY)
    said, taken = _said(), st.session_state.get(_TAKEN, 0)
    news = {key: value for key, (value, at) in said.get("moved", {}).items() if at > taken}
    st.session_state[_TAKEN] = max(taken, said.get("number", 0))
    chosen = _chosen() | {key: news.pop(key) for key in ("difference", "colours") if key in news}
    with suppress(ValueError, TypeError):  # of what is no name
        Look(**chosen)
        st.session_state[_CHOSEN] = chosen
    if news:
        on_commit(news)


def _said() -> dict[str, Any]:
    """What the component said last."""
    return (st.session_state.get(_KEY) or {}).get(_SAID) or {}


def _chosen() -> dict[str, Any]:
    """How the picture is looked at in this session."""
    return st.session_state.get(_CHOSEN, {})

"""The live map on a page: a component that draws by itself and reports what was moved.

Its module mounts once and is updated on every run, so zoom and focus stay. While a control is
dragged it sends nothing; on release it sets its state to what changed, the number of that
release, and which data it holds, so that data go to the browser once.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit.components.v2 import component

from xpos_viz import livemap
from xpos_viz.experiment import Experiment
from xpos_viz.look import Look
from xpos_viz.texts import Text
from xpos_viz.theme import Mode
from xpos_viz.ui.session import heard

Moves = dict[str, Any]
"""New values by key: those of the sliders, stage, mask, start, stop, and the ways to look."""

_HOST = """
const { mount } = await import(new URL("./$path", document.baseURI).href);

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
_KEY, _SAID, _TAKEN, _STREAMED = "livemap", "said", "livemap_taken", "livemap_streamed"
_MODULE = livemap.source().encode()
_PATH = f"xpos_viz-{hashlib.sha256(_MODULE).hexdigest()[:16]}.js"  # another text, another name
_component = component("xpos_viz_livemap", js=_HOST.replace("$path", _PATH))


def route() -> Route:
    """Return where the browser gets the module of the picture, once and for all visits.

    Streamlit would send it with every run.
    """
    base = st.get_option("server.baseUrlPath").strip("/")
    return Route(f"/{base}/{_PATH}".replace("//", "/"), _module)


def _module(_: Request) -> Response:
    """The module, which a browser may keep."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_MODULE, media_type="text/javascript", headers=headers)


def show(
    experiment: Experiment,
    text: Text,
    mode: Mode,
    look: Look,
    on_commit: Callable[[Moves], None],
    own: tuple[str, ...] = (),
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
        How it is looked at.
    on_commit
        Called with what was changed when a control is let go, before the run that follows.
    own
        Parameters for which each encoding has a slider of its own.
    """
    described = livemap.payload(experiment, text, mode, look, own)
    described["echo"] = st.session_state.get(_TAKEN, 0)
    streamed = described["streamed"] and described["streamed"]["name"]
    if _said().holds == described["data"]:
        described = livemap.without_data(described)
        if streamed and streamed == st.session_state.get(_STREAMED):
            described.pop("streamed")
    st.session_state[_STREAMED] = streamed
    _component(
        key=_KEY,
        data=livemap.packed(described),
        default={_SAID: None},
        on_said_change=lambda: _take(on_commit),
    )
    if _TAKEN not in st.session_state:  # what was said before this session is in its address
        st.session_state[_TAKEN] = _said().number
        if st.session_state[_TAKEN]:
            st.rerun()  # and the picture goes back to that


def _take(on_commit: Callable[[Moves], None]) -> None:
    """Pass on what was moved since the last time, once."""
    heard(_KEY)
    said, taken = _said(), st.session_state.get(_TAKEN, 0)
    news = {key: value for key, (value, at) in said.moved.items() if at > taken}
    st.session_state[_TAKEN] = max(taken, said.number)
    if news:
        on_commit(news)


@dataclass(frozen=True)
class Said:
    """What the component said: each control's last value and release, and the data it holds."""

    moved: dict[str, tuple[str | float, int]] = field(default_factory=dict[str, tuple[Any, int]])
    number: int = 0
    holds: str | None = None

    @classmethod
    def of(cls, said: object) -> "Said":
        """Return what a browser said, without what no live map says."""
        if not isinstance(said, Mapping):
            return cls()
        heard = cast("Mapping[str, Any]", said)
        moved, holds = heard.get("moved"), heard.get("holds")
        entries = cast("Mapping[str, Any]", moved).items() if isinstance(moved, Mapping) else ()
        return cls(
            {key: tuple(entry) for key, entry in entries if _is_move(entry)},
            heard["number"] if _is_release(heard.get("number")) else 0,
            holds if isinstance(holds, str) else None,
        )


def _is_move(entry: Any) -> bool:  # noqa: ANN401 - whatever a browser sends
    """Whether that is a value and the number of its release."""
    if not (isinstance(entry, list | tuple) and len(cast("list[Any]", entry)) == 2):
        return False
    return isinstance(entry[0], str | int | float) and _is_release(entry[1])


def _is_release(number: object) -> bool:
    """Whether that can be the number of a release."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**31


def _said() -> Said:
    """What the component said last."""
    state = st.session_state.get(_KEY)
    return Said.of(state.get(_SAID) if isinstance(state, Mapping) else None)

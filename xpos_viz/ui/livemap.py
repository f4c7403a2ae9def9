"""The live map on a page: a component that draws by itself and reports what was moved.

Its module mounts once and is updated on every run, so zoom and focus stay. While a control is
dragged it sends nothing; on release it sets its state to what changed, the number of that
release, and which parts it holds, so that they go to the browser once.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
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
from xpos_viz.ui.session import heard, resets

Moves = dict[str, Any]
"""New values by key: those of the sliders, stage, mask, start, stop, and the ways to look."""

_HOST = """
const { mount } = await fetched(new URL("./$path", document.baseURI).href);

// again and again, for the connection may be lost; under other names, for a failure is remembered
async function fetched(href, attempt = 0) {
  try {
    return await import(attempt ? `${href}?${attempt}` : href);
  } catch (error) {
    if (attempt === $attempts) throw error;
    await new Promise((done) => setTimeout(done, 1000));
    return fetched(href, attempt + 1);
  }
}

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
  let said = { moved, number: 0, echo: 0, holds: [], needs: 0 };
  const say = (news) => setStateValue("said", (said = { ...said, ...news }));
  handle.on("commit", ({ changes, number, echo, holds }) => {
    for (const [key, value] of Object.entries(changes)) moved[key] = [value, number];
    say({ number, echo, holds });
  });
  handle.on("need", () => say({ holds: [], needs: said.needs + 1 }));
  return handle;
}
"""
_KEY, _SAID, _TAKEN, _SENT = "livemap", "said", "livemap_taken", "livemap_sent"
_MODULE = livemap.source().encode()
_PATH = f"xpos_viz-{hashlib.sha256(_MODULE).hexdigest()[:16]}.js"  # another text, another name
_ATTEMPTS = 60  # once a second
_SCRIPT = _HOST.replace("$path", _PATH).replace("$attempts", str(_ATTEMPTS))
_component = component("xpos_viz_livemap", js=_SCRIPT)


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
    only: tuple[str, ...] = (),
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
    only
        The controls that are shown; none named is all of them.
    """
    described = livemap.payload(experiment, text, mode, look, own, _held())
    st.session_state[_SENT] = [described[name] for name in livemap.PARTS]
    known = {"echo": st.session_state.get(_TAKEN, 0), "resets": resets(), "only": only}
    _component(
        key=_KEY,
        data=livemap.packed(described | known),
        default={_SAID: None},
        on_said_change=lambda: _take(on_commit),
    )
    if _TAKEN not in st.session_state:  # what an earlier session heard is in the address
        st.session_state[_TAKEN] = _said().echo
        if _said().number:
            _take(on_commit)
            st.rerun()


def _held() -> Sequence[str]:
    """Names of the parts that the browser has: those it was sent last, or says that it holds.

    Until it has said something, nobody knows that it is there.
    """
    if not st.session_state.get(_KEY, {}).get(_SAID):
        return ()
    return st.session_state.get(_SENT) or _said().holds


def _take(on_commit: Callable[[Moves], None]) -> None:
    """Pass on what was moved since the last time, once."""
    heard(_KEY)
    said, taken = _said(), st.session_state.get(_TAKEN, 0)
    if not said.holds:  # a part did not arrive
        st.session_state[_SENT] = []
    news = {key: value for key, (value, at) in said.moved.items() if at > taken}
    st.session_state[_TAKEN] = max(taken, said.number)
    if news:
        on_commit(news)


@dataclass(frozen=True)
class Said:
    """What the component said.

    Parameters
    ----------
    moved
        Each control's last value, and the number of its release.
    number, echo
        Of the last release, and of the last one that it knows to be heard.
    holds
        Names of the parts that need not be sent.
    """

    moved: dict[str, tuple[str | float, int]] = field(default_factory=dict[str, tuple[Any, int]])
    number: int = 0
    echo: int = 0
    holds: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: object) -> "Said":
        """Return what a browser said, without what no live map says."""
        if not isinstance(said, Mapping):
            return cls()
        heard = cast("Mapping[str, Any]", said)
        moved, holds = heard.get("moved"), heard.get("holds")
        entries = cast("Mapping[str, Any]", moved).items() if isinstance(moved, Mapping) else ()
        names = cast("list[Any]", holds) if isinstance(holds, list) else []
        return cls(
            {key: tuple(entry) for key, entry in entries if _is_move(entry)},
            heard["number"] if _is_release(heard.get("number")) else 0,
            heard["echo"] if _is_release(heard.get("echo")) else 0,
            tuple(name for name in names if isinstance(name, str)),
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

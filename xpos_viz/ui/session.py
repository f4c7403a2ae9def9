"""The state of a session and its address, kept the same.

The state is the only truth: controls show it and change it through :func:`commit`, which
writes the address once, so each change is one step of the browser's history. An address
that is not the one last written was typed, shared or gone back to, and is read.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from xpos_viz.inputs import Capture, Captured
from xpos_viz.state import Refusal, State, from_address, to_address
from xpos_viz.state.model import numbers
from xpos_viz.texts import LANGUAGES, Text, texts

_STATE, _ADDRESS, _REFUSALS, _LOADED = "state", "address", "refusals", "loaded"
_CALLED, _MOVED, _RESETS = "called", "moved", "resets"


def begin() -> Text:
    """Read the address if it is new, and return the sentences of the session's language."""
    called = _CALLED in st.session_state  # then what the browser sends as its address is old
    st.session_state[_MOVED] = st.session_state.pop(_CALLED, None)
    address = {key: st.query_params[key] for key in st.query_params}
    if not called and st.session_state.get(_ADDRESS) != address:
        if _ADDRESS in st.session_state:  # a link to the same page leaves the browser's as it was
            st.query_params.from_dict(address)
        st.session_state[_STATE], st.session_state[_REFUSALS] = from_address(address)
        st.session_state[_ADDRESS] = address
        st.session_state[_LOADED] = numbers(state().experiment)
    elif isinstance(state().experiment.inputs, Captured) and capture() is None:
        st.session_state[_STATE], st.session_state[_REFUSALS] = from_address(
            st.session_state[_ADDRESS]
        )
    return texts(language())


def state() -> State:
    """Return what is set now."""
    return st.session_state[_STATE]


def capture() -> Capture | None:
    """Return the capture that is shown, if one is and it is still kept.

    Whoever holds it can be sure of it, whatever others bring meanwhile.
    """
    inputs = state().experiment.inputs
    try:
        return inputs.capture if isinstance(inputs, Captured) else None
    except ValueError:
        return None


def refusals() -> list[Refusal]:
    """Return what the address, or a move since, asked for and did not get."""
    return st.session_state[_REFUSALS]


def loaded(name: str) -> list[float]:
    """Return the values of a number in the address that was last read.

    A slider keeps them among its steps, so that its steps do not change under the finger.
    """
    return st.session_state[_LOADED].get(name, [])


def language() -> str:
    """Return the chosen language, or the browser's."""
    spoken = (st.context.locale or "").split("-")[0].lower()
    return state().language or (spoken if spoken in LANGUAGES else "en")


def link(shared: State) -> str:
    """Return the address of this page with that state, as a whole."""
    parts = urlsplit(st.context.url or "")
    path, query = parts.path or "/", urlencode(to_address(shared), safe=",:")
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))


def moved() -> str | None:
    """Return the key of the control whose move started this run."""
    return st.session_state[_MOVED]


def heard(key: str | None) -> None:
    """Note the control that starts a run: what the browser sends as its address may be older."""
    st.session_state[_CALLED] = key


def resets() -> int:
    """Return how often the session was reset: it ends what plays, even where nothing changes."""
    return st.session_state.get(_RESETS, 0)


def reset(change: Callable[[State], State]) -> None:
    """Change the state by a reset."""
    st.session_state[_RESETS] = resets() + 1
    commit(change)


def commit(
    change: Callable[[State], State],
    key: str | None = None,
    asked: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Change the state, by the control `key`, and write it to the address in one step.

    Where that cannot be, all stays as it is, and what was `asked` is noted as refused: of two
    quick moves in one run the first may take the second's ground away.
    """
    heard(key)
    try:
        changed = change(state())
        address = to_address(changed)
    except ValueError as error:
        heard(None)
        st.session_state[_REFUSALS] = [
            *(refusal for refusal in refusals() if refusal.key not in asked),
            *(Refusal.of(name, value, "", error) for name, value in asked.items()),
        ]
        return
    if changed == state():
        return
    st.session_state[_STATE], st.session_state[_REFUSALS] = changed, []
    st.session_state[_ADDRESS] = address
    st.query_params.from_dict(address)

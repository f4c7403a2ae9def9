"""Widgets that show the state and commit what they are moved to, and which of them are shown."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import streamlit as st

from xpos_viz.figures.words import number
from xpos_viz.state import State
from xpos_viz.texts import Text, texts
from xpos_viz.ui import notices
from xpos_viz.ui.session import commit, language, loaded, moved, state

_OFFERED = "offered"

Change = Callable[[State, Any], State]
"""The state that follows when a widget is moved to a value."""


def offer_none() -> None:
    """Begin a page, of which no control is drawn yet."""
    st.session_state[_OFFERED] = set()


def offer(*keys: str) -> None:
    """Note controls that the page has, whether or not the address shows them."""
    st.session_state[_OFFERED].update(keys)


def offered() -> set[str]:
    """Return the controls that the page has."""
    return st.session_state[_OFFERED]


def is_shown(key: str) -> bool:
    """Return whether a control of the page is among those that the address shows."""
    offer(key)
    return not state().show or key in state().show


def choice(
    text: Text, key: str, options: tuple[str, ...], value: str, change: Change, names: str
) -> None:
    """A choice among a few names."""
    control(
        st.selectbox,
        key,
        text(f"ui.{key}"),
        value,
        change,
        options=options,
        format_func=lambda option: text(f"{names}.{option}"),
        help=text(f"ui.{key}_help"),
    )


def series(
    text: Text,
    name: str,
    steps: Iterable[float],
    value: float,
    cap: int | None,
    change: Change,
    key: str | None = None,
) -> None:
    """A slider over steps of a series, and over the value that the address brought."""
    offered = {*steps, *loaded(name)}
    options = sorted({*(step for step in offered if cap is None or step <= cap), value})
    help_text = text(f"ui.{name}_help", cap=cap) if cap else text(f"ui.{name}_help")
    if len(options) > 1:
        control(
            st.select_slider,
            key or name,
            text(f"ui.{name}"),
            value,
            change,
            options=options,
            format_func=number,
            help=help_text,
        )


def control(
    widget: Callable[..., object],
    key: str,
    label: str,
    value: object,
    change: Change,
    **options: object,
) -> None:
    """Draw a widget that shows `value`, and commit `change` of the state when it is moved.

    The value is sent anew on every run, since a run that was overtaken may not have arrived;
    only the widget that was just moved is left alone, so that a quick hand is not pulled back.
    """
    if is_shown(key):
        always(widget, key, label, value, change, **options)
        notices.beside(texts(language()), key)


def always(
    widget: Callable[..., object],
    key: str,
    label: str,
    value: object,
    change: Change,
    **options: object,
) -> None:
    """Draw a widget, whatever the address shows."""
    if key != moved() or st.session_state.get(key) != value:
        st.session_state[key] = value
    widget(label, key=key, on_change=partial(_take, key, change), **options)


def _take(key: str, change: Change) -> None:
    """Set what a widget was moved to."""
    new = st.session_state[key]
    commit(lambda old: change(old, new), key, {key: new})

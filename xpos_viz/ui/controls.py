"""The controls beside the picture: what is shown in it; each commits what it is moved to."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from xpos_viz.encoding import PARAMETERS, REGISTRY, Family
from xpos_viz.experiment import STAGES, Experiment
from xpos_viz.figures.words import family_name, number, tokens
from xpos_viz.livemap.message import MASKED
from xpos_viz.look import LOOKS
from xpos_viz.state import OWN, SETTINGS, State
from xpos_viz.state.changes import (
    with_apart,
    with_moves,
    with_own,
    with_setting,
    with_view,
    with_window,
)
from xpos_viz.state.model import SHARED, SWITCH, opened
from xpos_viz.state.settings import Several, Words
from xpos_viz.texts import LANGUAGES, Text
from xpos_viz.ui import notices, session, sources, widgets
from xpos_viz.ui.session import language, state
from xpos_viz.ui.widgets import Change


def show(text: Text) -> None:
    """Draw what the comparison has beside its picture's own controls."""
    sources.source(text)
    _encodings(text, state().experiment)
    reset(text)


def reset(text: Text) -> None:
    """Draw the way back to the opening settings."""
    if not widgets.is_shown("reset"):
        return
    st.button(
        text("ui.reset"),
        key="reset",
        icon=":material/restart_alt:",
        help=text("ui.reset_help"),
        on_click=lambda: session.reset(_reset),
        width="stretch",
    )


def parameters(text: Text, *names: str) -> None:
    """Draw sliders of parameters that the encodings share."""
    first, second = state().experiment.encodings
    for name in names:
        value = first[name] if name in dict(first.parameters) else second[name]
        widgets.series(text, name, PARAMETERS[name].steps, value, None, _moved(name))
        if name == "base" and state().apart == "yes":
            steps = PARAMETERS[name].steps
            widgets.series(text, "xpos_base", steps, second["base"], None, _moved("xpos_base"))


def own(text: Text, family: Family) -> None:
    """Draw sliders of the parameters that are a family's own."""
    encoding = state().encoding(family.name)
    for name in family.defaults:
        key = f"{family.name}.{name}"
        if key in OWN:
            steps = PARAMETERS[name].steps
            widgets.series(text, name, steps, encoding[name], None, _with_own(key), key=key)


def families(text: Text, *names: str) -> None:
    """Draw the parameters of some families: each one's own, folded away, and what they share."""
    rows = [REGISTRY[name] for name in dict.fromkeys(names)]
    taken = {name for row in rows for name in row.defaults}
    for row in rows:
        keys = [f"{row.name}.{name}" for name in row.defaults]
        if any(key in OWN and widgets.is_shown(key) for key in keys):
            with st.expander(family_name(row, text), expanded=bool(notices.concerning(*keys))):
                own(text, row)
    parameters(text, *(name for name in SHARED if name in taken))


def stage(text: Text) -> None:
    """Draw the choice of what maps show, from raw products to attention."""
    widgets.choice(text, "stage", STAGES, state().experiment.view.stage, _with_stage, "ui.stages")


def mask(text: Text) -> None:
    """Draw the choice of which keys a query sees."""
    widgets.control(
        st.selectbox,
        "mask",
        text("ui.mask"),
        state().experiment.view.mask,
        lambda old, new: with_view(old, mask=new),
        options=MASKED,
        format_func=lambda mask: text(f"figure.mask.{mask}"),
        help=text("livemap.help.mask"),
    )


def window(text: Text) -> None:
    """Draw the choice of which tokens are shown, where there are several."""
    shown, last = state().experiment.window, state().experiment.inputs.tokens - 1
    if last:
        widgets.control(
            st.slider,
            "window",
            text("ui.window"),
            (shown.start, shown.stop - 1),
            lambda old, new: with_window(old, new[0], new[1] + 1),
            min_value=0,
            max_value=last,
            format="localized",
            help=text("livemap.help.window"),
        )


def colours(text: Text) -> None:
    """Draw the choice of the colours of maps."""
    widgets.control(
        st.selectbox,
        "colours",
        text("ui.colours"),
        state().colours,
        _set("colours"),
        options=LOOKS["colours"],
        format_func=lambda palette: text(f"livemap.palettes.{palette}"),
        help=text("livemap.help.colours"),
    )


def choose(text: Text, name: str, names: Callable[[str], str] | None = None) -> None:
    """Draw the choice of a setting that is one of some words, or any of them.

    The words are labelled by `names`, or by the sentences `ui.<name>_words.<word>`.
    """
    setting, value = SETTINGS[name], getattr(state(), name)
    widget = st.selectbox
    if isinstance(setting, Several):
        widget, value = partial(st.pills, selection_mode="multi", wrap=True), list(value)
    widgets.control(
        widget,
        name,
        text(f"ui.{name}"),
        value,
        _set(name),
        options=cast("Words | Several", setting).legal,
        format_func=names or (lambda word: text(f"ui.{name}_words.{word}")),
        help=text(f"ui.{name}_help"),
    )


def switch(text: Text, name: str) -> None:
    """Draw a switch of a setting that is off or on."""
    widgets.control(
        st.toggle,
        name,
        text(f"ui.{name}"),
        getattr(state(), name) == "yes",
        lambda old, new: with_setting(name, old, SWITCH[new]),
        help=text(f"ui.{name}_help"),
    )


def slide(text: Text, name: str, steps: Iterable[int]) -> None:
    """Draw a slider of a setting that is a whole number, over some of its values."""
    widgets.series(text, name, steps, getattr(state(), name), None, _set(name))


def kept(text: Text, name: str, words: Callable[[str], str]) -> None:
    """Draw what is kept under a name, of which each can be let go."""
    items = getattr(state(), name)
    if widgets.is_shown(name) and items:
        widgets.always(
            partial(st.pills, selection_mode="multi", wrap=True),
            name,
            text(f"ui.{name}"),
            list(items),
            partial(with_setting, name),
            options=items,
            format_func=words,
            help=text(f"ui.{name}_help"),
        )
    notices.beside(text, name)


def query(text: Text) -> None:
    """Draw a slider over the tokens, for the one whose query is looked at."""
    tokens = range(state().experiment.inputs.tokens)
    _token(text, "query", tokens, min(state().query, tokens[-1]))


def key(text: Text, seen: range, shown: int) -> None:
    """Draw a slider over the keys that a query sees, for the one that is looked at."""
    _token(text, "key", seen, shown)


def present_switch(text: Text) -> None:
    """Draw the switch to large type and lines."""
    widgets.always(
        st.toggle,
        "present",
        text("ui.present"),
        state().present == "yes",
        lambda old, new: replace(old, present=SWITCH[new]),
        help=text("ui.present_help"),
    )


def language_switch(text: Text) -> None:
    """Draw the choice of language."""
    widgets.always(
        st.segmented_control,
        "lang",
        text("ui.language"),
        language(),
        lambda old, new: replace(old, language=new),
        options=tuple(LANGUAGES),
        required=True,
        format_func=lambda code: LANGUAGES[code],
        label_visibility="collapsed",
    )


def _encodings(text: Text, experiment: Experiment) -> None:
    """Whether the encodings have bases of their own, and when B is long for the text."""
    widgets.control(
        st.toggle,
        "apart",
        text("ui.apart"),
        state().apart == "yes",
        lambda old, new: with_apart(old, SWITCH[new]),
        help=text("ui.apart_help"),
    )
    scale_base, length = experiment.encodings[1]["scale_base"], experiment.inputs.tokens
    if length < scale_base / 2:
        st.caption(text("ui.long_scale", scale=number(scale_base), tokens=tokens(length, text)))


def _token(text: Text, name: str, tokens: range, value: int) -> None:
    """A slider over tokens, where there are several."""
    if len(tokens) > 1:
        widgets.control(
            st.slider,
            name,
            text(f"ui.{name}"),
            value,
            _set(name),
            min_value=tokens[0],
            max_value=tokens[-1],
            format="localized",
            help=text(f"ui.{name}_help"),
        )


def _moved(name: str) -> Change:
    """The change of a parameter that encodings share."""
    return lambda old, new: with_moves(old, {name: new})


def _with_own(key: str) -> Change:
    """The change of a parameter that is a family's own."""
    return lambda old, new: with_own(old, {key: new})


def _with_stage(old: State, new: str) -> State:
    """The change of the stage."""
    return with_view(old, stage=new)


def _set(name: str) -> Change:
    """The change of a setting."""
    return partial(with_setting, name)


def _reset(old: State) -> State:
    """Return to the opening settings of the source."""
    return State(opened(old.experiment), old.language, present=old.present, show=old.show)

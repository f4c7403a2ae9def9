"""The controls beside the picture: what is shown in it; each commits what it is moved to."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from xpos_viz.encoding import PARAMETERS, REGISTRY, Family
from xpos_viz.experiment import STAGES, Experiment
from xpos_viz.figures.words import family_name, number, tokens
from xpos_viz.inputs import SOURCES, Captured, Computed, Expectation, Random, Sample
from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.livemap.message import MASKED
from xpos_viz.look import LOOKS
from xpos_viz.state import OWN, SETTINGS, State
from xpos_viz.state.changes import (
    with_apart,
    with_head_dim,
    with_inputs,
    with_moves,
    with_own,
    with_setting,
    with_source,
    with_view,
    with_window,
)
from xpos_viz.state.model import MAX_HEAD_DIM, MAX_LENGTH, SHARED, SWITCH, opened, source_of
from xpos_viz.state.settings import Several, Words
from xpos_viz.texts import LANGUAGES, Text, texts
from xpos_viz.ui import notices, session, upload
from xpos_viz.ui.session import commit, language, loaded, moved, state

LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
HEAD_DIMS: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512)

_FEW = 8  # layers that stand side by side
_OFFERED = "offered"

Change = Callable[[State, Any], State]


def show(text: Text) -> None:
    """Draw what the comparison has beside its picture's own controls."""
    source(text)
    _encodings(text, state().experiment)
    reset(text)


def source(text: Text) -> None:
    """Draw where queries and keys come from."""
    _source(text, state().experiment)


def reset(text: Text) -> None:
    """Draw the way back to the opening settings."""
    if not is_shown("reset"):
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
        _series(text, name, PARAMETERS[name].steps, value, None, _moved(name))
        if name == "base" and state().apart == "yes":
            steps = PARAMETERS[name].steps
            _series(text, "xpos_base", steps, second["base"], None, _moved("xpos_base"))


def own(text: Text, family: Family) -> None:
    """Draw sliders of the parameters that are a family's own."""
    encoding = state().encoding(family.name)
    for name in family.defaults:
        key = f"{family.name}.{name}"
        if key in OWN:
            steps = PARAMETERS[name].steps
            _series(text, name, steps, encoding[name], None, _with_own(key), key=key)


def families(text: Text, *names: str) -> None:
    """Draw the parameters of some families: each one's own, folded away, and what they share."""
    rows = [REGISTRY[name] for name in dict.fromkeys(names)]
    taken = {name for row in rows for name in row.defaults}
    for row in rows:
        keys = [f"{row.name}.{name}" for name in row.defaults]
        if any(key in OWN and is_shown(key) for key in keys):
            with st.expander(family_name(row, text), expanded=bool(notices.concerning(*keys))):
                own(text, row)
    parameters(text, *(name for name in SHARED if name in taken))


def stage(text: Text) -> None:
    """Draw the choice of what maps show, from raw products to attention."""
    _choice(text, "stage", STAGES, state().experiment.view.stage, _with_stage, "ui.stages")


def mask(text: Text) -> None:
    """Draw the choice of which keys a query sees."""
    _control(
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
        _control(
            st.slider,
            "window",
            text("ui.window"),
            (shown.start, shown.stop - 1),
            lambda old, new: with_window(old, new[0], new[1] + 1),
            min_value=0,
            max_value=last,
            help=text("livemap.help.window"),
        )


def colours(text: Text) -> None:
    """Draw the choice of the colours of maps."""
    _control(
        st.selectbox,
        "colours",
        text("ui.colours"),
        state().colours,
        _set("colours"),
        options=LOOKS["colours"],
        format_func=lambda palette: text(f"livemap.palettes.{palette}"),
        help=text("livemap.help.colours"),
    )


def width(text: Text) -> None:
    """Draw the width of a head, where it is not that of a model."""
    if not isinstance(state().experiment.inputs, Computed):
        value = state().experiment.encodings[0].head_dim
        _series(text, "head_dim", HEAD_DIMS, value, MAX_HEAD_DIM, with_head_dim)


def choose(text: Text, name: str, names: Callable[[str], str] | None = None) -> None:
    """Draw the choice of a setting that is one of some words, or any of them.

    The words are labelled by `names`, or by the sentences `ui.<name>_words.<word>`.
    """
    setting, value = SETTINGS[name], getattr(state(), name)
    widget = st.selectbox
    if isinstance(setting, Several):
        widget, value = partial(st.pills, selection_mode="multi", wrap=True), list(value)
    _control(
        widget,
        name,
        text(f"ui.{name}"),
        value,
        _set(name),
        options=cast("Words | Several", setting).legal,
        format_func=names or (lambda word: text(f"ui.{name}_words.{word}")),
        help=text(f"ui.{name}_help"),
    )


def slide(text: Text, name: str, steps: Iterable[int]) -> None:
    """Draw a slider of a setting that is a whole number, over some of its values."""
    _series(text, name, steps, getattr(state(), name), None, _set(name))


def query(text: Text) -> None:
    """Draw a slider over the tokens, for the one whose query is looked at."""
    tokens = range(state().experiment.inputs.tokens)
    _token(text, "query", tokens, min(state().query, tokens[-1]))


def key(text: Text, seen: range, shown: int) -> None:
    """Draw a slider over the keys that a query sees, for the one that is looked at."""
    _token(text, "key", seen, shown)


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


def present_switch(text: Text) -> None:
    """Draw the switch to large type and lines."""
    _always(
        st.toggle,
        "present",
        text("ui.present"),
        state().present == "yes",
        lambda old, new: replace(old, present=SWITCH[new]),
        help=text("ui.present_help"),
    )


def language_switch(text: Text) -> None:
    """Draw the choice of language."""
    _always(
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


def _source(text: Text, experiment: Experiment) -> None:
    """Where queries and keys come from."""
    inputs = experiment.inputs
    brought = isinstance(inputs, Captured) or upload.known() is not None
    sources = tuple(source for source in SOURCES if source != "capture" or brought)
    _choice(text, "source", sources, source_of(experiment), _with_source, "ui.sources")
    if is_shown("data"):
        upload.show(text)
    if isinstance(inputs, Sample):
        _name(text, inputs)
    if isinstance(inputs, Computed):
        _head(text, inputs)
    if isinstance(inputs, Expectation | Random):
        _series(text, "length", LENGTHS, inputs.length, MAX_LENGTH, with_inputs_named("length"))
        width(text)
    if isinstance(inputs, Random):
        _choice(
            text,
            "keys",
            ("same", "independent"),
            inputs.keys,
            with_inputs_named("keys"),
            "ui.keys_words",
        )
        _control(
            st.number_input,
            "seed",
            text("ui.seed"),
            inputs.seed,
            with_inputs_named("seed"),
            min_value=0,
            max_value=MAX_SEED,
            step=1,
            help=text("ui.seed_help"),
        )


def _with_source(old: State, new: str) -> State:
    """The change of the source."""
    return upload.with_brought(old) if new == "capture" else with_source(old, new)


def _name(text: Text, inputs: Sample) -> None:
    """Which text."""
    _choice(
        text,
        "name",
        SAMPLES,
        inputs.name,
        lambda old, new: with_source(old, "sample", new),
        "ui.samples",
    )


def _head(text: Text, inputs: Computed) -> None:
    """Which layer and head."""
    capture = inputs.capture
    few = len(capture.layers) <= _FEW
    _control(
        partial(st.segmented_control, required=True) if few else st.selectbox,
        "layer",
        text("ui.layer"),
        inputs.layer,
        with_inputs_named("layer"),
        options=capture.layers,
        help=text("ui.layer_help"),
    )
    _series(text, "head", range(capture.heads), inputs.head, None, with_inputs_named("head"))


def _encodings(text: Text, experiment: Experiment) -> None:
    """Whether the encodings have bases of their own, and when B is long for the text."""
    _control(
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


def _choice(
    text: Text, key: str, options: tuple[str, ...], value: str, change: Change, names: str
) -> None:
    """A choice among a few names."""
    _control(
        st.selectbox,
        key,
        text(f"ui.{key}"),
        value,
        change,
        options=options,
        format_func=lambda option: text(f"{names}.{option}"),
        help=text(f"ui.{key}_help"),
    )


def _series(
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
        _control(
            st.select_slider,
            key or name,
            text(f"ui.{name}"),
            value,
            change,
            options=options,
            format_func=number,
            help=help_text,
        )


def _token(text: Text, name: str, tokens: range, value: int) -> None:
    """A slider over tokens, where there are several."""
    if len(tokens) > 1:
        _control(
            st.slider,
            name,
            text(f"ui.{name}"),
            value,
            _set(name),
            min_value=tokens[0],
            max_value=tokens[-1],
            help=text(f"ui.{name}_help"),
        )


def _control(
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
        _always(widget, key, label, value, change, **options)
        notices.beside(texts(language()), key)


def _always(
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


def with_inputs_named(name: str) -> Change:
    """Return the change of one setting of the inputs."""
    return lambda old, new: with_inputs(old, **{name: new})


def _reset(old: State) -> State:
    """Return to the opening settings of the source."""
    return State(opened(old.experiment), old.language, present=old.present, show=old.show)

"""Changes of a state: each returns another one, or raises ValueError and leaves all as it was."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from xpos_viz.encoding import Encoding
from xpos_viz.entry import check_whole
from xpos_viz.experiment import written_encoding
from xpos_viz.inputs import Computed, Inputs
from xpos_viz.look import LOOKS
from xpos_viz.state.model import (
    OWN,
    SETTINGS,
    State,
    base_of,
    has_gamma,
    opening,
    with_gamma,
    within_caps,
)


def with_source(state: State, source: str, name: str = "tidebook") -> State:
    """Return the state on another source or text as it opens, with stage and mask kept.

    So is γ, unless a model has its own.
    """
    fresh = opening(source, name)
    if not has_gamma(fresh.inputs):
        fresh = with_gamma(fresh, state.experiment.encodings[1]["gamma"])
    view = replace(state.experiment.view, start=0, stop=None)
    return replace(state, experiment=replace(fresh, view=view))


def with_encoding(state: State, place: int | None, name: str, value: float) -> State:
    """Return the state with a parameter of one encoding changed, or of all that have it."""
    encodings = tuple(
        encoding.replace(**{name: value})
        if name in dict(encoding.parameters) and place in (None, index)
        else encoding
        for index, encoding in enumerate(state.experiment.encodings)
    )
    return replace(state, experiment=replace(state.experiment, encodings=encodings))


def with_base(state: State, base: float) -> State:
    """Return the state with another base of RoPE, and of XPos unless the bases are apart."""
    return with_encoding(state, 0 if state.apart == "yes" else None, "base", base)


def with_apart(state: State, apart: str) -> State:
    """Return the state with bases that may differ, or with RoPE's base for both again."""
    joined = with_encoding(state, 1, "base", state.experiment.encodings[0]["base"])
    return replace(state if apart == "yes" else joined, apart=apart)


def with_inputs(state: State, **changes: int | str) -> State:
    """Return the state with another layer, head, length, seed … and the whole window.

    Where layers of a model have bases of their own, a base that was the layer's stays so.

    Raises
    ------
    ValueError
        If the inputs have no such setting, or not with that value.
    """
    known = {entry.name for entry in fields(state.experiment.inputs)}
    if unknown := [name for name in changes if name not in known]:
        raise ValueError(f"these inputs have no {unknown[0]!r}; use one of: {', '.join(known)}.")
    inputs = replace(state.experiment.inputs, **changes)
    view = state.experiment.view
    if inputs.tokens != state.experiment.inputs.tokens:
        view = replace(view, start=0, stop=None)
    old = state.experiment
    encodings = tuple(_following(each, old.inputs, inputs) for each in old.encodings)
    experiment = replace(old, encodings=encodings, inputs=inputs, view=view)
    return replace(state, experiment=within_caps(experiment))


def _following(encoding: Encoding, old: Inputs, new: Inputs) -> Encoding:
    """An encoding with the base of another layer, if it had that of the old one."""
    if isinstance(old, Computed) and isinstance(new, Computed) and encoding["base"] == base_of(old):
        return encoding.replace(base=base_of(new))
    return encoding


def with_head_dim(state: State, head_dim: int) -> State:
    """Return the state with heads of another width."""
    encodings = tuple(e.replace(head_dim=head_dim) for e in state.experiment.encodings)
    experiment = replace(state.experiment, encodings=encodings)
    return replace(state, experiment=within_caps(experiment))


def with_view(state: State, **changes: int | str | None) -> State:
    """Return the state with another stage, mask or window."""
    view = replace(state.experiment.view, **changes)
    return replace(state, experiment=replace(state.experiment, view=view))


def with_window(state: State, start: int, stop: int) -> State:
    """Return the state showing tokens start ≤ t < stop; the last token is written as None.

    A window that reaches beyond the text ends with it.

    Raises
    ------
    ValueError
        If an end is no integer ≥ 0.
    """
    check_whole("start", start, 0)
    check_whole("stop", stop, 0)
    tokens = state.experiment.inputs.tokens
    stop = min(max(stop, start + 2), tokens)
    start = min(start, stop - 1)
    return with_view(state, start=start, stop=None if stop == tokens else stop)


def with_moves(state: State, moves: Mapping[str, Any]) -> State:
    """Return the state with what the picture's own controls were moved to, by their names.

    Raises
    ------
    ValueError
        If any of the values is not legal; then none of them is taken.
    """
    for name, value in moves.items():
        if name in _MOVES:
            state = _MOVES[name](state, value)
    if not moves.keys().isdisjoint(("start", "stop")):
        window = state.experiment.window
        state = with_window(state, moves.get("start", window.start), moves.get("stop", window.stop))
    within_caps(state.experiment)
    return state


def with_xpos_base(state: State, base: float) -> State:
    """Return the state with another base of XPos, where it has one of its own."""
    if state.apart != "yes":
        raise ValueError(f"the bases move together here, got {base!r} for XPos; use apart=yes.")
    return with_encoding(state, 1, "base", base)


def with_setting(name: str, state: State, value: object) -> State:
    """Return the state with another value of one of :data:`SETTINGS`.

    Raises
    ------
    ValueError
        If the value is not legal.
    """
    return replace(state, **{name: SETTINGS[name].check(name, value)})


def with_kept_curves(state: State) -> State:
    """Return the state with the curves of its encodings kept as they are set.

    Raises
    ------
    ValueError
        If they are too many.
    """
    new = (written_encoding(state.encoding(name)) for name in state.curves)
    return with_setting("kept_curves", state, (*state.kept_curves, *new))


def with_answer(state: State, step: str, option: str) -> State:
    """Return the state with an answer to the question of a step, in place of any before."""
    others = (answer for answer in state.answers if not answer.startswith(f"{step}-"))
    return with_setting("answers", state, (*others, f"{step}-{option}"))


def with_lesson(state: State, step: str) -> State:
    """Return the state at the start of a step."""
    return replace(with_setting("lesson", state, step), at=-1)


def with_own(state: State, values: Mapping[str, float]) -> State:
    """Return the state with other values of some of :data:`OWN`, such as "yarn.factor".

    Raises
    ------
    ValueError
        If they are not legal beside the family's others.
    """
    own = dict(state.own) | dict(values)
    other = {key: value for key, value in own.items() if value != OWN[key]}
    changed = replace(state, own=tuple(sorted(other.items())))
    for key in values:
        changed.encoding(key.partition(".")[0])  # raises if they do not go together
    return changed


_MOVES: Mapping[str, Callable[[State, Any], State]] = {
    "base": with_base,
    "xpos_base": with_xpos_base,
    "gamma": lambda state, value: with_encoding(state, None, "gamma", value),
    "scale_base": lambda state, value: with_encoding(state, None, "scale_base", value),
    "stage": lambda state, value: with_view(state, stage=value),
    "mask": lambda state, value: with_view(state, mask=value),
    **{name: partial(with_setting, name) for name in LOOKS},
}

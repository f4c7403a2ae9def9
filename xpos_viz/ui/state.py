"""What is set: one immutable value, which is the address of the page.

The address holds only what differs from the opening settings of its source, so it stays
short; what in it cannot be used is left out with a notice and never reaches a control.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from xpos_viz.encoding import PARAMETERS, REGISTRY, Encoding, lookup, rope, xpos
from xpos_viz.entry import check_whole
from xpos_viz.experiment import Experiment
from xpos_viz.inputs import SOURCES, Expectation, Inputs, Random, Sample
from xpos_viz.inputs.sample import MODEL_BASE, SAMPLES
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.livemap.message import MASKED
from xpos_viz.look import LOOKS, Look
from xpos_viz.pooling.maps import MAP_STAGES, REDUCES
from xpos_viz.studies.decay import ASSUMPTIONS, READINGS
from xpos_viz.studies.pairs import FAMILIES
from xpos_viz.studies.precision import FORMATS, PARTS
from xpos_viz.studies.resolving import WAYS
from xpos_viz.texts import LANGUAGES
from xpos_viz.ui.settings import Setting, Words, settings, several, whole, words

SWITCH: tuple[str, ...] = ("no", "yes")
"""Off and on."""

LONG_INPUTS: tuple[str, ...] = ("expectation", "same", "independent")
"""Queries and keys of a long text: ones, or random, with keys the same or drawn apart."""

LONG_MASKS: tuple[str, ...] = ("causal", "sliding", "blockwise")
"""Kinds of masks of a long text."""

CONTROLS: tuple[str, ...] = (
    *("source", "name", "layer", "head", "length", "head_dim", "keys", "seed", "apart"),
    *("base", "xpos_base", "gamma", "scale_base", "window", "stage", "mask"),
    *("difference", "axis", "colours", "reset"),
    *("curves", "distance", "reading", "assumption", "rho"),
    *("pair_encoding", "query", "key", "panels"),
    *("long_inputs", "long_length", "long_seed", "long_stage", "long_reduce"),
    *("compare_masks", "long_mask", "window_size", "block_size"),
    *("normalisation", "resolution_over"),
    *("formats", "kept", "k_max", "text_length", "left", "right"),
)
"""The controls of which an address may choose those that are shown."""

SHARED: tuple[str, ...] = ("base", "gamma", "scale_base")
"""Parameters that all encodings of a session share; the others are each family's own."""


def _cap(variable: str, usual: int) -> int:
    """Read a cap that the operator may set, an even integer ≥ 2."""
    text = os.environ.get(variable, str(usual))
    if not text.isdecimal() or int(text) < 2 or int(text) % 2:
        raise ValueError(f"{variable} must be an even integer ≥ 2, got {text!r}; use {usual}.")
    return int(text)


MAX_LENGTH = _cap("XPOS_VIZ_MAX_LENGTH", 2048)
"""Most tokens of a made input; the operator may set XPOS_VIZ_MAX_LENGTH."""

MAX_LONG_LENGTH = _cap("XPOS_VIZ_MAX_LONG_LENGTH", 1 << 20)
"""Most tokens of a long text; the operator may set XPOS_VIZ_MAX_LONG_LENGTH."""

MAX_HEAD_DIM = _cap("XPOS_VIZ_MAX_HEAD_DIM", 512)
"""Largest width of a head; the operator may set XPOS_VIZ_MAX_HEAD_DIM."""

_LAST = max(MAX_LENGTH, 2048) - 1  # of the tokens: no cap holds for samples
_SCALE_BASES = {"tidebook": 512.0, "harbour": 24.0, "pronoun": 8.0, "chinese": 24.0}
_HEADS = {"tidebook": (3, 0), "harbour": (8, 3), "pronoun": (8, 2), "chinese": (8, 3)}
_HIDDEN = ("encodings", "cells")  # fixed on this page
_PLAIN = re.compile(r"[\w.,+-]{1,40}", re.ASCII)


@dataclass(frozen=True)
class State:
    """All settings of a session; a page reads those that concern it.

    Parameters
    ----------
    experiment
        RoPE and XPos, the queries and keys, and the window, stage and mask.
    language
        A chosen language; None follows the browser.
    own
        Parameters of families that are not :data:`SHARED`, as ("yarn.factor", 8.0), where
        they are not usual.
    apart
        Whether RoPE and XPos have bases of their own.
    axis, difference, colours
        How the live map is looked at (:class:`xpos_viz.look.Look`).
    query
        The token whose query is looked at; the last one where there are fewer.
    panels
        What the panels of all heads show.
    pair_encoding
        The encoding whose pairs are shown.
    key
        The token whose key is looked at; the nearest one that the query sees.
    long_inputs, long_length, long_seed, long_stage, long_reduce
        What the maps of a long text are of (:class:`xpos_viz.studies.long.Long`).
    compare_masks, long_mask, window_size, block_size
        Whether they show masks side by side, or else which; sizes in tokens.
    normalisation, resolution_over
        How resolution is followed (:class:`xpos_viz.studies.resolving.Course`).
    formats, kept, k_max, text_length
        Number formats, what is kept in them, the largest key, and tokens, whose precision is
        looked at (:mod:`xpos_viz.studies.precision`).
    present
        Whether type and lines are large, for a projector.
    show
        The controls that are shown; none named is all of them.
    curves, distance, reading, assumption, rho
        Decay: of which encodings, up to how many tokens, what is read of them, what is assumed
        of q and k, and their correlation, percent.
    left, right
        Neighbours: which two encodings stand side by side.
    """

    experiment: Experiment
    language: str | None = None
    own: tuple[tuple[str, float], ...] = ()
    apart: str = words(SWITCH)
    axis: str = words(LOOKS["axis"])
    difference: str = words(LOOKS["difference"])
    colours: str = words(LOOKS["colours"])
    query: int = whole(20, 0, _LAST)
    panels: str = words(("change", "rope", "xpos"))
    pair_encoding: str = words(FAMILIES)
    key: int = whole(0, 0, _LAST)
    long_inputs: str = words(LONG_INPUTS)
    long_length: int = whole(min(1 << 16, MAX_LONG_LENGTH), 1, MAX_LONG_LENGTH)
    long_seed: int = whole(0, 0, MAX_SEED)
    long_stage: str = words(MAP_STAGES)
    long_reduce: str = words(REDUCES)
    compare_masks: str = words(SWITCH)
    long_mask: str = words(LONG_MASKS)
    window_size: int = whole(4096, 2, 1 << 20)
    block_size: int = whole(4096, 2, 1 << 20)
    normalisation: str = words(("sqrt_d", "half_d", "raw"))
    resolution_over: str = words(WAYS)
    formats: tuple[str, ...] = several(FORMATS, FORMATS)
    kept: str = words(PARTS)
    k_max: int = whole(1, 1, 65_504)
    text_length: int = whole(8192, 2, 1 << 20)
    curves: tuple[str, ...] = several(REGISTRY, ("rope", "xpos"))
    distance: int = whole(4096, 1, 1_000_000)
    reading: str = words(READINGS)
    assumption: str = words(ASSUMPTIONS)
    rho: int = whole(50, -100, 100)
    left: str = words(sorted(REGISTRY, key="rope".__ne__))
    right: str = words(sorted(REGISTRY, key="xpos".__ne__))
    present: str = words(SWITCH)
    show: tuple[str, ...] = several(CONTROLS, ())

    @property
    def look(self) -> Look:
        """How the picture is looked at."""
        return Look(**{name: getattr(self, name) for name in LOOKS})

    def encoding(self, name: str) -> Encoding:
        """Return an encoding of the registry with the shared parameters and its own.

        Raises
        ------
        ValueError
            For an unknown name, or parameters that do not go together.
        """
        first, second = self.experiment.encodings
        shared = {
            **dict(second.parameters),
            **dict((second if name == "xpos" else first).parameters),
        }
        own = {
            key.partition(".")[2]: value for key, value in self.own if key.startswith(f"{name}.")
        }
        given = {key: shared[key] for key in lookup(name).defaults if key in shared} | own
        return Encoding(name, (("head_dim", first.head_dim), *given.items()))


SETTINGS = settings(State)
"""The settings beside the experiment, by name."""

OWN: Mapping[str, float] = {
    f"{family.name}.{name}": value
    for family in REGISTRY.values()
    for name, value in family.defaults.items()
    if name not in SHARED and PARAMETERS[name].steps and isinstance(value, int | float)
}
"""The parameters that are a family's own, with their usual values."""


@dataclass(frozen=True)
class Refusal:
    """A setting of an address that was not taken, its value, and what is used instead.

    That is "" for a setting that is usually left out, and None for one that does not exist.
    """

    key: str
    value: str
    used: str | None = None


def opening(source: str = "sample", name: str = "tidebook") -> Experiment:
    """Return the settings that a source opens with.

    A sample brings the base of its model, a head on which XPos matters, and a scale base
    that suits its length.
    """
    if source == "sample":
        layer, head = _HEADS[name]
        return _pair(Sample(name, layer, head), MODEL_BASE, _SCALE_BASES[name])
    made = {"expectation": Expectation, "random": Random}[source](length=min(512, MAX_LENGTH))
    return _pair(made, 10_000.0, 512.0, min(64, MAX_HEAD_DIM))


def to_address(state: State) -> dict[str, str]:
    """Return what of a state differs from its opening, as the parameters of an address."""
    entries = state.experiment.to_dict()
    source, name = entries["source"], entries.get("name", "")
    known = opening(source, name or "tidebook").to_dict()
    parameters = {"source": source} if source != "sample" else {}
    parameters |= {"name": name} if name not in ("", "tidebook") else {}
    parameters |= {
        key: value
        for key, value in entries.items()
        if key not in ("source", "name", *_HIDDEN) and value != known.get(key)
    }
    bases = {encoding["base"] for encoding in state.experiment.encodings}
    parameters |= {
        name: setting.written(getattr(state, name))
        for name, setting in SETTINGS.items()
        if getattr(state, name) != setting.usual and (name, len(bases)) != ("apart", 2)
    }
    parameters |= {name: repr(value).removesuffix(".0") for name, value in state.own}
    parameters |= {"lang": state.language} if state.language else {}
    return parameters


def from_address(parameters: Mapping[str, str]) -> tuple[State, list[Refusal]]:
    """Return the state that an address describes, and the settings that were refused.

    Every setting is tried on its own, after those it depends on; one that does not
    parse, is not legal, or exceeds a cap leaves the opening value in place.
    """
    address = _Address(dict(parameters))
    source = address.take("source", Words(("sample", *SOURCES)))
    sample = source == "sample"
    name = address.take("name", Words(("tidebook", *SAMPLES))) if sample else "tidebook"
    language = address.take("lang", Words(("", *LANGUAGES))) or None
    chosen = {key: address.take(key, setting) for key, setting in SETTINGS.items()}
    own = {key: address.left.pop(key) for key in OWN if key in address.left}
    experiment = address.take_experiment(opening(source, name))
    if len({encoding["base"] for encoding in experiment.encodings}) > 1:
        chosen["apart"] = "yes"
    state = address.take_own(State(experiment, language, **chosen), own)
    return state, address.refused


@dataclass(frozen=True)
class _Address:
    """What is left to be read of an address, and what of it was refused."""

    left: dict[str, str]
    refused: list[Refusal] = field(default_factory=list[Refusal])

    def refuse(self, key: str, text: str, used: str | None) -> None:
        """Note a setting that cannot be used."""
        self.refused.append(Refusal(key, _shown(text), used))

    def take(self, key: str, setting: Setting) -> Any:  # noqa: ANN401 - word, words or number
        """Read a setting; the usual value where there is none, or none that is legal."""
        text = self.left.pop(key, None)
        try:
            return setting.usual if text is None else setting.parse(key, text)
        except ValueError:
            self.refuse(key, text or "", setting.written(setting.usual))
            return setting.usual

    def take_experiment(self, experiment: Experiment) -> Experiment:
        """Read all that is left into an experiment."""
        entries = experiment.to_dict()
        for key in sorted(self.left, key=lambda key: (key in ("start", "stop"), key)):
            text = self.left.pop(key)
            if key not in _settings(entries):
                self.refuse(_shown(key), text, None)
                continue
            candidate = _with(entries, key, text)
            try:
                experiment = within_caps(Experiment.from_dict(candidate))
            except ValueError:
                self.refuse(key, text, entries.get(key, ""))
            else:
                entries = candidate
        return experiment

    def take_own(self, state: State, own: Mapping[str, str]) -> State:
        """Read parameters that are a family's own: together, else those that can be used."""
        for name in dict.fromkeys(key.partition(".")[0] for key in own):
            group = {key: text for key, text in own.items() if key.partition(".")[0] == name}
            try:
                state = with_own(state, {key: float(text) for key, text in group.items()})
            except ValueError:
                state = self._take_each(state, group)
        return state

    def _take_each(self, state: State, own: Mapping[str, str]) -> State:
        """Read a family's own parameters one by one."""
        for key, text in own.items():
            try:
                state = with_own(state, {key: float(text)})
            except ValueError:
                self.refuse(key, text, f"{OWN[key]:g}")
        return state


def _settings(entries: Mapping[str, str]) -> set[str]:
    """The settings of this page: those of the experiment, its window, and a base for each."""
    return {*entries, "base", "base.1", "base.2", "start", "stop"} - {*_HIDDEN, "source", "name"}


def within_caps(experiment: Experiment) -> Experiment:
    """Return the experiment, or raise ValueError if it is more than the page may show."""
    for name, value, cap in (
        ("length", experiment.inputs.tokens, MAX_LENGTH),
        ("head_dim", experiment.encodings[0].head_dim, MAX_HEAD_DIM),
    ):
        if value > cap and not isinstance(experiment.inputs, Sample):
            raise ValueError(f"{name} must be at most {cap} here, got {value}; use {cap}.")
    if experiment.view.mask not in MASKED:
        raise ValueError(
            f"mask must be one of {', '.join(MASKED)} here, got {experiment.view.mask!r}; "
            f"use {MASKED[0]}."
        )
    for encoding in experiment.encodings:
        if encoding.heads is not None:
            raise ValueError(f"this page shows one head, got {encoding.heads}; use one number.")
    return experiment


def source_of(experiment: Experiment) -> str:
    """Return the name of the source of an experiment."""
    return experiment.to_dict()["source"]


def with_source(state: State, source: str, name: str = "tidebook") -> State:
    """Return the state on another source or text as it opens, with γ, stage and mask kept."""
    fresh = opening(source, name)
    view = replace(state.experiment.view, start=0, stop=None)
    gamma = state.experiment.encodings[1]["gamma"]
    first, second = fresh.encodings
    encodings = (first, second.replace(gamma=gamma))
    return replace(state, experiment=Experiment(encodings, fresh.inputs, view))


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
    experiment = replace(state.experiment, inputs=inputs, view=view)
    return replace(state, experiment=within_caps(experiment))


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


def numbers(experiment: Experiment) -> dict[str, list[float]]:
    """Return the numbers that sliders show, by the name of the slider."""
    return {
        "head_dim": [experiment.encodings[0].head_dim],
        "length": [experiment.inputs.tokens],
    }


def _pair(inputs: Inputs, base: float, scale_base: float, head_dim: int = 64) -> Experiment:
    """RoPE and XPos on some inputs."""
    encodings = (rope(head_dim, base=base), xpos(head_dim, base=base, scale_base=scale_base))
    return Experiment(encodings, inputs)


def _with(entries: Mapping[str, str], key: str, value: str) -> dict[str, str]:
    """Entries with one more; a parameter for one place gives the other its old value."""
    merged = {**entries, key: value}
    name, _, place = key.partition(".")
    if place and name in merged:
        common = merged.pop(name)
        merged = {f"{name}.1": common, f"{name}.2": common} | merged
    return merged


def _shown(text: str) -> str:
    """A piece of an address as it may be shown: plain characters, or nothing of it."""
    return text if _PLAIN.fullmatch(text) else "…"

"""A state as the parameters of an address, and back.

An address holds only what differs from the opening settings of its source, so it stays
short; what in it cannot be used is left out and named.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from xpos_viz.experiment import Experiment, parse_number
from xpos_viz.inputs import SOURCES, Captured
from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.livemap.message import MASKED
from xpos_viz.state.changes import with_own
from xpos_viz.state.model import OWN, SETTINGS, State, opened, opening, within_caps
from xpos_viz.state.settings import Setting, Whole, Words
from xpos_viz.texts import LANGUAGES

_HIDDEN = ("encodings", "cells")  # they are always the same
_NAMES = ("source", "name", "data")  # what an opening is of
_PLAIN = re.compile(r"[\w.,:+-]{1,40}|[0-9a-f]{64}", re.ASCII)
_HIDING = "…"
_LEGAL = {"mask": Words(MASKED)}  # what pages show of what the core knows
_TOKENS = ("query", "key")  # settings that name a token


@dataclass(frozen=True)
class Refusal:
    """A setting that was asked for and not taken, its value, and what is used instead.

    That is "" for a setting that is usually left out, and None for one that does not exist.
    The reason is the message of the error, with the value and a way out. What is not
    :attr:`plain` is "…".
    """

    key: str
    value: str
    used: str | None = None
    reason: str = field(default="", compare=False)

    @classmethod
    def of(cls, key: str, value: object, used: str | None, error: object = "") -> "Refusal":
        """Return the refusal of a value that may hold anything."""
        return cls(_shown(key), _shown(str(value)), used, str(error))

    @property
    def plain(self) -> bool:
        """Whether the value, and so the reason, holds no more than may be shown."""
        return self.value != _HIDING


def to_address(state: State) -> dict[str, str]:
    """Return what of a state differs from its opening, as the parameters of an address."""
    entries = _entries(state.experiment)
    named = {key: entries[key] for key in _NAMES if key in entries}
    known = _entries(opened(state.experiment))
    parameters = {key: value for key, value in named.items() if value not in ("sample", "tidebook")}
    parameters |= {
        key: value
        for key, value in entries.items()
        if key not in (*_NAMES, *_HIDDEN) and value != known.get(key)
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


def recorded(state: State) -> dict[str, str]:
    """Return all of a state, usual settings too, as parameters that :func:`from_address` reads.

    Unlike an address they mean the same where another version opens with other settings.
    """
    entries = _entries(state.experiment)
    known = {key: value for key, value in entries.items() if key not in _HIDDEN}
    return known | {
        **{name: setting.written(getattr(state, name)) for name, setting in SETTINGS.items()},
        **{name: repr(value).removesuffix(".0") for name, value in state.own},
        **({"lang": state.language} if state.language else {}),
    }


def from_address(parameters: Mapping[str, str]) -> tuple[State, list[Refusal]]:
    """Return the state that an address describes, and the settings that were refused.

    Every setting is tried on its own, after those it depends on; one that does not
    parse, is not legal, or exceeds a cap leaves the opening value in place.
    """
    address = _Address(dict(parameters))
    opened = address.take_opening()
    language = address.take("lang", Words(("", *LANGUAGES))) or None
    chosen = {key: address.take(key, setting) for key, setting in SETTINGS.items()}
    own = {key: address.left.pop(key) for key in OWN if key in address.left}
    experiment = address.take_experiment(opened)
    if len({encoding["base"] for encoding in experiment.encodings}) > 1:
        chosen["apart"] = "yes"
    state = address.take_own(State(experiment, language, **chosen), own)
    return state, [_of_text(each, experiment.inputs.tokens) for each in address.refused]


@dataclass(frozen=True)
class _Address:
    """What is left to be read of an address, and what of it was refused."""

    left: dict[str, str]
    refused: list[Refusal] = field(default_factory=list[Refusal])

    def refuse(self, key: str, text: str, used: str | None, error: object = "") -> None:
        """Note a setting that cannot be used."""
        self.refused.append(Refusal.of(key, text, used, error))

    def take(self, key: str, setting: Setting) -> Any:  # noqa: ANN401 - word, words or number
        """Read a setting; the usual value where there is none, or none that is legal."""
        text = self.left.pop(key, None)
        if text is None:
            return setting.usual
        try:
            return setting.parse(key, text)
        except ValueError as error:
            value, lost = setting.parted(text)
            used = setting.written(value) if value == setting.usual else ""  # or the rest of it
            self.refuse(key, lost, used, error)
            return value

    def take_opening(self) -> Experiment:
        """Read where queries and keys come from; data that are not here leave the usual ones."""
        source = self.take("source", Words(tuple(SOURCES)))
        if source == "sample":
            return opening(source, self.take("name", Words(SAMPLES)))
        if source != "capture":
            return opening(source)
        data = self.left.pop("data", "")
        try:
            return opening(source, data)
        except ValueError as error:
            self.refuse("data", data, "", error)
        for key in ("layer", "head", "start", "stop"):
            self.left.pop(key, None)
        return opening()

    def take_experiment(self, experiment: Experiment) -> Experiment:
        """Read all that is left into an experiment."""
        entries = _entries(experiment)
        for key in sorted(self.left, key=lambda key: (key in ("start", "stop"), key)):
            text = self.left.pop(key)
            if key not in _settings(entries):
                self.refuse(key, text, None)
                continue
            candidate = _with(entries, key, text)
            try:
                if key in _LEGAL:
                    _LEGAL[key].check(key, text)
                experiment = within_caps(Experiment.from_dict(candidate))
            except ValueError as error:
                self.refuse(key, text, entries.get(key, ""), error)
            else:
                entries = candidate
        return experiment

    def take_own(self, state: State, own: Mapping[str, str]) -> State:
        """Read parameters that are a family's own: together, else those that can be used."""
        for name in dict.fromkeys(key.partition(".")[0] for key in own):
            group = {key: text for key, text in own.items() if key.partition(".")[0] == name}
            try:
                state = with_own(
                    state, {key: parse_number(key, text) for key, text in group.items()}
                )
            except ValueError:
                state = self._take_each(state, group)
        return state

    def _take_each(self, state: State, own: Mapping[str, str]) -> State:
        """Read a family's own parameters one by one."""
        for key, text in own.items():
            try:
                state = with_own(state, {key: parse_number(key, text)})
            except ValueError as error:
                self.refuse(key, text, f"{OWN[key]:g}", error)
        return state


def _of_text(refusal: Refusal, tokens: int) -> Refusal:
    """A refusal of a token with the last one of the text, in place of the last of the longest."""
    if refusal.key not in _TOKENS:
        return refusal
    usual = min(SETTINGS[refusal.key].usual, tokens - 1)
    reason = Whole(usual, 0, tokens - 1).refusal(refusal.key, refusal.value)
    return replace(refusal, used=str(usual), reason=reason)


def _entries(experiment: Experiment) -> dict[str, str]:
    """All of an experiment; of a capture, also that all columns are turned, if they are."""
    entries = experiment.to_dict()
    if isinstance(experiment.inputs, Captured) and not any("rotary" in key for key in entries):
        entries["rotary_width"] = entries["head_dim"]
    return entries


def _settings(entries: Mapping[str, str]) -> set[str]:
    """The settings of this page: those of the experiment, its window, and a base for each."""
    return {*entries, "base", "base.1", "base.2", "start", "stop"} - {*_HIDDEN, *_NAMES}


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
    return text if _PLAIN.fullmatch(text) else _HIDING

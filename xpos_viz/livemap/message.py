"""An experiment as the browser is told it."""

import hashlib
import json
from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, replace
from typing import Any

import torch
from torch import Tensor

from xpos_viz.comparison import KINDS
from xpos_viz.encoding import PARAMETERS, Encoding
from xpos_viz.entry import Layout, to_pairs
from xpos_viz.experiment import STAGES, Experiment
from xpos_viz.look import LOOKS, Look
from xpos_viz.results import run
from xpos_viz.texts import Text
from xpos_viz.theme import DASHES, INKS, LINES, PALETTES, Mode

LIVE_WEIGHTS = 512
"""Most tokens whose softmax is computed while a control is dragged."""

DRAWN: tuple[str, ...] = ("nope", "rope", "xpos")
"""The encodings that the browser can compute."""

MASKED: tuple[str, ...] = ("causal", "none")
"""The masks that the browser can compute."""

_BYTES = "$bytes"
_SENTENCES = (
    *("alt", "hint", "cell", "token", "lag", "masked", "waiting", "play", "stop", "first", "last"),
    *("hint_touch", "more", "png", "whole", "pairs", "pairs_title", "pairs_axis"),
    "no_number",
)
_HELPED = ("stage", "mask", "difference", "axis", "colours", "window")
_CHOICES = ("mask", "difference", "axis", "colours")
_FIGURE_SENTENCES = (
    *("queries", "keys", "state", "list", "clauses", "label"),
    *("limits", "same", "ratio_note", "block", "growing", "masked", "unknown"),
    *("lag_axis", "g_axis", "decay_title", "assumption", "decay_alt", "curve_alt"),
)


PARTS: tuple[str, ...] = ("data", "words", "streaming")
"""The keys that name what a browser keeps."""


def payload(
    experiment: Experiment,
    text: Text,
    mode: Mode,
    look: Look | None = None,
    own: tuple[str, ...] = (),
    held: Container[str] = (),
) -> dict[str, Any]:
    """Describe an experiment to the browser.

    Parameters
    ----------
    experiment
        What is shown; its first and last encodings are compared.
    text
        Sentences of one language (:func:`xpos_viz.texts.texts`).
    mode
        "light" or "dark".
    look
        How it is looked at.
    own
        Parameters for which each encoding has a slider of its own.
    held
        Names of the parts that the browser has, and that are left out.

    Returns
    -------
    dict
        JSON values, and bytes for arrays: q and k, float32, (tokens, head_dim), interleaved
        pairs; labels are text, never markup. `streamed` is None, or the core's weights where
        the browser does not compute them. Each of :data:`PARTS` names what comes with it, by
        all that it depends on: `data` q, k and labels; `words` sliders, choices, stages,
        symbols, theme and text; `streaming` streamed.

    Raises
    ------
    ValueError
        For an encoding or a mask that the browser cannot compute.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> from xpos_viz.texts import texts
    >>> described = payload(Experiment((rope(4), xpos(4)), Expectation(3)), texts("en"), "light")
    >>> described["tokens"], len(described["q"]), described["view"]["stage"]
    (3, 48, 'scores')
    """
    look = look or Look()
    encodings = (experiment.encodings[0], experiment.encodings[-1])
    _check(experiment, encodings)
    head_dim, turned = encodings[0].head_dim, encodings[0].rotary_width
    words = _words(encodings, own, text, mode)
    weights = _weights(experiment, look)
    named: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
        "data": (f"{experiment.inputs!r} {head_dim} {turned}", lambda: _data(experiment, turned)),
        "words": (_digest(words), lambda: words),
        "streaming": (f"{weights!r}", lambda: {"streamed": _streamed(weights)}),
    }
    described = {
        "tokens": experiment.inputs.tokens,
        "head_dim": head_dim,
        "encodings": [_encoding(encoding) for encoding in encodings],
        "view": _view(experiment) | asdict(look),
        "live_weights": LIVE_WEIGHTS,
    }
    for key, (name, part) in named.items():
        described |= {key: name} | ({} if name in held else part())
    return described


def packed(described: Mapping[str, Any]) -> bytes:
    """Return a payload as bytes: the length of its JSON, the JSON, and the arrays behind it.

    In the JSON an array is its place among the arrays, `{"$bytes": [start, length]}`; every
    part begins at a multiple of four bytes.
    """
    arrays: list[bytes] = []

    def placed(value: object) -> dict[str, list[int]]:
        if not isinstance(value, bytes):
            raise TypeError(f"a payload holds JSON and bytes, got {type(value).__name__}.")
        start = sum(map(len, arrays))
        arrays.append(value + bytes(-len(value) % 4))
        return {_BYTES: [start, len(value)]}

    head = json.dumps(described, default=placed, allow_nan=False).encode()
    head += b" " * (-len(head) % 4)
    return b"".join([len(head).to_bytes(4, "little"), head, *arrays])


def _check(experiment: Experiment, encodings: tuple[Encoding, Encoding]) -> None:
    """Raise ValueError for what the browser cannot compute."""
    asked = [(encoding.name, DRAWN) for encoding in encodings]
    for name, legal in (*asked, (experiment.view.mask, MASKED)):
        if name not in legal:
            raise ValueError(
                f"the live map draws {', '.join(legal)}, got {name!r}; use xpos_viz.figures for it."
            )


def _pairs(vectors: Tensor, layout: Layout, turned: int) -> bytes:
    """Vectors as float32 bytes, the columns of a pair side by side."""
    pairs = torch.view_as_real(to_pairs(vectors, layout, turned))
    return pairs.numpy().astype("<f4").tobytes()


def _encoding(encoding: Encoding) -> dict[str, Any]:
    """An encoding by name and parameters."""
    return {
        "name": encoding.name,
        "label": encoding.family.label,
        "parameters": dict(encoding.parameters[1:]),
    }


def _view(experiment: Experiment) -> dict[str, Any]:
    """What is shown of it."""
    view, window = experiment.view, experiment.window
    return {
        "stage": view.stage,
        "mask": view.mask,
        "start": window.start,
        "stop": window.stop,
        "cells": view.cells,
    }


def _sliders(
    encodings: tuple[Encoding, ...], own_names: tuple[str, ...], text: Text
) -> list[dict[str, Any]]:
    """A slider for each parameter; one for each encoding where they differ."""
    names = dict.fromkeys(name for e in encodings for name in e.family.defaults)
    sliders: list[dict[str, Any]] = []
    for name in names:
        places = [place for place, e in enumerate(encodings) if name in dict(e.parameters)]
        values = {encodings[place][name] for place in places}
        shared = len(values) == 1 and name not in own_names
        groups = [places] if shared else [[place] for place in places]
        for group in groups:
            first, own = group[0] == places[0], encodings[group[0]]
            label = text(f"ui.{name}")
            owned = text("livemap.own", parameter=label, encoding=own.family.label)
            sliders.append(
                {
                    "key": name if first else f"{own.name}_{name}",
                    "label": label if first else owned,
                    "help": text(f"ui.{name}_help"),
                    "parameter": name,
                    "places": group,
                    "steps": list(PARAMETERS[name].steps),
                }
            )
    return sliders


def _choices(text: Text) -> dict[str, list[dict[str, str]]]:
    """What can be chosen, by the name of the choice."""
    options = {
        "stage": {stage: text(f"ui.stages.{stage}") for stage in STAGES},
        "mask": {word: text(f"figure.mask.{word}") for word in MASKED},
        "difference": {name: text(f"livemap.differences.{name}") for name in LOOKS["difference"]},
        "axis": {name: text(f"livemap.axes.{name}") for name in LOOKS["axis"]},
        "colours": {name: text(f"livemap.palettes.{name}") for name in LOOKS["colours"]},
    }
    return {
        name: [{"value": value, "label": label} for value, label in values.items()]
        for name, values in options.items()
    }


def _theme(mode: Mode) -> dict[str, Any]:
    """All colours; a saved picture is light whatever the mode."""
    return {
        "mode": mode,
        "inks": {name: asdict(ink) for name, ink in INKS.items()},
        "palettes": {name: asdict(palette) for name, palette in PALETTES.items()},
        "lines": LINES,
        "dashes": DASHES,
    }


def _text(text: Text) -> dict[str, Any]:
    """The sentences that the browser fills in."""
    sentences = {name: text(f"livemap.{name}") for name in _SENTENCES}
    return sentences | {
        "figure": {name: text(f"figure.{name}") for name in _FIGURE_SENTENCES},
        "controls": {"stage": text("ui.stage"), "window": text("ui.window")},
        "choices": {name: text(f"ui.{name}") for name in _CHOICES},
        "help": {name: text(f"livemap.help.{name}") for name in _HELPED},
        "comparison": {name: text(f"figure.comparison.{name}") for name in KINDS},
        "comparison_value": {name: text(f"figure.comparison_value.{name}") for name in KINDS},
    }


def _data(experiment: Experiment, turned: int) -> dict[str, Any]:
    """Queries, keys and what their tokens are called."""
    vectors = experiment.inputs.load(experiment.encodings[0].head_dim)
    return {
        "q": _pairs(vectors.q, vectors.layout, turned),
        "k": _pairs(vectors.k, vectors.layout, turned),
        "labels": list(vectors.labels),
    }


def _words(
    encodings: tuple[Encoding, ...], own: tuple[str, ...], text: Text, mode: Mode
) -> dict[str, Any]:
    """All that is said and coloured, and the controls."""
    return {
        "sliders": _sliders(encodings, own, text),
        "choices": _choices(text),
        "stages": {
            stage: {"title": text(f"figure.stage.{stage}"), "value": text(f"figure.value.{stage}")}
            for stage in STAGES
        },
        "symbols": {name: text(f"symbols.{name}") for name in PARAMETERS},
        "theme": _theme(mode),
        "text": _text(text),
    }


def _digest(described: Mapping[str, Any]) -> str:
    """A name for JSON values that no others have."""
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]


def _weights(experiment: Experiment, look: Look) -> Experiment | None:
    """What the core computes, where weights are shown that the browser does not compute."""
    shown = "weights" in (experiment.view.stage, look.difference)
    if not shown or experiment.inputs.tokens <= LIVE_WEIGHTS:
        return None
    return replace(experiment, view=replace(experiment.view, stage="weights"))


def _streamed(experiment: Experiment | None) -> dict[str, Any] | None:
    """The core's weights, if there are any to be sent."""
    if experiment is None:
        return None
    result = run(experiment)
    maps = (result.measurements[0], result.measurements[-1])
    return {
        "start": experiment.window.start,
        "stop": experiment.window.stop,
        "block": result.block,
        "maps": [measurement.values.astype("<f4").tobytes() for measurement in maps],
    }

"""The page Compare without a browser: what its live map is told, says, and must be told."""

import json
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from tests import apptest
from tests.apptest import control
from xpos_viz import run
from xpos_viz.encoding import PARAMETERS
from xpos_viz.experiment import STAGES
from xpos_viz.livemap import PARTS
from xpos_viz.livemap.message import LIVE_WEIGHTS, MASKED
from xpos_viz.look import LOOKS
from xpos_viz.state import from_address
from xpos_viz.texts import catalogue, texts

OWN = ("base", "xpos_base", "gamma", "scale_base", "stage", "mask", "axis", "start", "stop")
KNOWN: WeakKeyDictionary[AppTest, dict[str, Any]] = WeakKeyDictionary()
WORDS = {"sliders", "choices", "stages", "symbols", "theme", "text"}


def opened(address=None, **context):
    """The page at an address, run once."""
    page = apptest.opened("compare", address, **context)
    sent(page)
    return page


def again(moved):
    """Run the page after a widget was moved."""
    page = apptest.again(moved)
    sent(page)
    return page


def read(data):
    """What a packed payload holds, by the description of its format."""
    length = int.from_bytes(data[:4], "little")
    head, arrays = data[4 : 4 + length], data[4 + length :]

    def taken(value):
        if "$bytes" not in value:
            return value
        start, size = value["$bytes"]
        assert start % 4 == 0
        return arrays[start : start + size]

    return json.loads(head, object_hook=taken)


def picture(page):
    """The live map as it is sent."""
    protos = (component.proto for component in page.get("bidi_component"))
    (found,) = (proto for proto in protos if proto.component_name == "xpos_viz_livemap")
    return found


def told(page):
    """What the live map is told by the last run."""
    return read(picture(page).bytes)


def sent(page):
    """What the live map knows: what it was told, and what it keeps."""
    KNOWN.setdefault(page, {}).update(told(page))
    return dict(KNOWN[page])


def heard(page):
    """What the live map said last."""
    return page.session_state["livemap"]["said"] or {"moved": {}, "number": 0, "holds": []}


def say(page, said):
    """Run the page after its picture said something, along with what was moved beside it."""
    states = page._tree.get_widget_states()
    states.widgets.append(spoken(page, said))
    page._run(states)
    assert not page.exception
    sent(page)
    return page


def spoken(page, said):
    """What the live map says, as it arrives."""
    return WidgetState(id=picture(page).id, json_value=json.dumps({"said": said}))


def release(page, **changes):
    """Run the page after controls in its picture were let go."""
    before, known = heard(page), sent(page)
    number = before["number"] + 1
    moved = before["moved"] | {key: [value, number] for key, value in changes.items()}
    held = [known[name] for name in PARTS]
    return say(page, {"moved": moved, "number": number, "echo": known["echo"], "holds": held})


def move(page, key, value):
    """Run the page after a control was moved, in the picture or beside it."""
    if key in OWN:
        return release(page, **{key: value})
    return again(control(page, key).set_value(value))


def shown(page, key):
    """Where a control stands."""
    told = sent(page)
    names = {slider["key"]: slider for slider in told["sliders"]}
    if key in names:
        first, parameter = names[key]["places"][0], names[key]["parameter"]
        return told["encodings"][first]["parameters"][parameter]
    return told["view"][key] if key in told["view"] else control(page, key).value


def columns(array, layout):
    """Vectors with the two features of each pair side by side, one by one."""
    array, half = array.numpy(), array.shape[1] // 2
    if layout == "half":
        order = [feature for pair in range(half) for feature in (pair, half + pair)]
        array = array[:, order]
    return array.astype(np.float32)


def leaves(value):
    """All strings of nested tables."""
    if isinstance(value, str):
        return [value]
    return [leaf for part in value.values() for leaf in leaves(part)]


def check(told, parameters, language="en"):
    """Whether the picture is told what an address asks for, and in which words."""
    state, refused = from_address(parameters)
    assert not refused
    check_data(told, state.experiment)
    check_settings(told, state)
    check_words(told, language)
    check_weights(told, state.experiment)


def check_data(told, experiment):
    """Queries, keys and labels."""
    tokens, width = experiment.inputs.tokens, experiment.encodings[0].head_dim
    assert (told["tokens"], told["head_dim"]) == (tokens, width)
    vectors = experiment.inputs.load(width)
    assert told["labels"] == list(vectors.labels)
    for name in ("q", "k"):
        values = np.frombuffer(told[name], "<f4").reshape(tokens, width)
        expected = columns(getattr(vectors, name), vectors.layout)
        np.testing.assert_array_equal(values, expected, strict=True)


def check_settings(told, state):
    """Encodings, their sliders and the view."""
    (rope, xpos), window = state.experiment.encodings, state.experiment.window
    parameters = [{"base": rope["base"]}]
    parameters += [{name: xpos[name] for name in ("base", "gamma", "scale_base")}]
    assert told["encodings"] == [
        {"name": name, "label": label, "parameters": own}
        for name, label, own in zip(("rope", "xpos"), ("RoPE", "XPos"), parameters, strict=True)
    ]
    apart = state.apart == "yes"
    bases = {"base": [0], "xpos_base": [1]} if apart else {"base": [0, 1]}
    places = bases | {"gamma": [1], "scale_base": [1]}
    assert {slider["key"]: slider["places"] for slider in told["sliders"]} == places
    for slider in told["sliders"]:
        assert slider["parameter"] == slider["key"].removeprefix("xpos_")
        assert slider["steps"] == list(PARAMETERS[slider["parameter"]].steps)
    view = state.experiment.view
    assert told["view"] == {
        "stage": view.stage,
        "mask": view.mask,
        "start": window.start,
        "stop": window.stop,
        "cells": 256,
        "axis": state.axis,
        "difference": state.difference,
        "colours": state.colours,
    }


def check_words(told, language):
    """Every sentence is of one catalogue, and each thing has its own."""
    text, sentences = texts(language), set(catalogue(language).values())
    assert set(leaves(told["text"])) <= sentences
    assert told["text"]["hint"] == text("livemap.hint")
    assert told["text"]["figure"]["queries"] == text("figure.queries")
    assert told["stages"] == {
        stage: {"title": text(f"figure.stage.{stage}"), "value": text(f"figure.value.{stage}")}
        for stage in STAGES
    }
    names = {"stage": "ui.stages", "mask": "figure.mask", "difference": "livemap.differences"}
    names |= {"axis": "livemap.axes", "colours": "livemap.palettes"}
    options = {"stage": STAGES, "mask": MASKED, **LOOKS}
    assert told["choices"] == {
        key: [{"value": value, "label": text(f"{names[key]}.{value}")} for value in legal]
        for key, legal in options.items()
    }
    labels = {slider["key"]: slider["label"] for slider in told["sliders"]}
    own = text("livemap.own", parameter=text("ui.base"), encoding="XPos")
    for key, label in labels.items():
        assert label == (own if key == "xpos_base" else text(f"ui.{key}"))


def check_weights(told, experiment):
    """Weights of many tokens are computed here, and only where they are seen."""
    view = told["view"]
    seen = "weights" in (view["stage"], view["difference"])
    if not seen or told["tokens"] <= LIVE_WEIGHTS:
        assert told["streamed"] is None
        return
    changed = experiment.to_dict() | {"stage": "weights"}
    result = run(type(experiment).from_dict(changed))
    streamed = told["streamed"]
    window = experiment.window
    assert (streamed["start"], streamed["stop"]) == (window.start, window.stop)
    assert streamed["block"] == result.block
    for data, measurement in zip(streamed["maps"], result.measurements, strict=True):
        values = np.frombuffer(data, "<f4").reshape(measurement.values.shape)
        np.testing.assert_array_equal(values, measurement.values.astype(np.float32))


@cache
def unchanged(**parameters):
    """What the picture is told at an address that nobody has moved a control of."""
    return sent(opened(parameters))


def changed(before, page):
    """Which parts of what the picture knows differ, and names of parts and counts do not count."""
    old, new = unchanged(**before), sent(page)
    assert old.keys() == new.keys()
    aside = ("echo", "resets", "words", "streaming")
    return {part for part in new if part not in aside and old[part] != new[part]}

"""The page without a browser: every language, source and stage, and what each control changes."""

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pytest
import streamlit as st
from starlette.responses import Response
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.encoding import PARAMETERS
from xpos_viz.experiment import STAGES
from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.figures.words import tiny
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.livemap import PARTS, source
from xpos_viz.livemap.message import LIVE_WEIGHTS, MASKED
from xpos_viz.look import LOOKS
from xpos_viz.results import curves, self_check
from xpos_viz.state import from_address, opening
from xpos_viz.texts import LANGUAGES, catalogue, texts
from xpos_viz.ui import downloads, livemap

APP = Path(__file__).parent.parent / "app.py"
SHORT = {"name": "pronoun"}
MADE = {"source": "random", "length": "32", "head_dim": "8", "scale_base": "16"}
OPENINGS = [{}, SHORT, *({"name": name, "stop": "24"} for name in ("harbour", "chinese"))]
OPENINGS += [MADE, MADE | {"source": "expectation"}]
OWN = ("base", "xpos_base", "gamma", "scale_base", "stage", "mask", "axis", "start", "stop")
KNOWN: WeakKeyDictionary[AppTest, dict[str, Any]] = WeakKeyDictionary()
HELD = {"q", "k", "labels"}  # what a browser keeps
WORDS = {"sliders", "choices", "stages", "symbols", "theme", "text"}


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """What the application puts into the environment ends with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@cache
def components():
    """The components of all installed packages; each page would look for them anew."""
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


def fresh(address=None):
    """The page at an address, before it is run."""
    page = AppTest.from_file(str(APP), default_timeout=60)
    page._bidi_component_manager = components()
    page.query_params.update(address or {})
    return page


def opened(address=None, **context):
    """The page at an address, run once."""
    page = fresh(address)
    page.context.update(context)
    page.run()
    assert not page.exception
    sent(page)
    return page


def again(widget):
    """Run the page after a widget was moved."""
    page = widget.run()
    assert not page.exception
    sent(page)
    return page


def address(page):
    """The parameters that the address now has."""
    return dict(page.query_params)


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
    (component,) = page.get("bidi_component")
    return component.proto


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


def control(page, key, language="en") -> Any:
    """A control beside the picture by the words beside it."""
    kinds = ("selectbox", "select_slider", "slider", "toggle", "number_input", "button_group")
    widgets = [widget for kind in kinds for widget in page.get(kind)] + list(page.button)
    label = texts(language)(f"ui.{key}")
    (found,) = [widget for widget in widgets if widget.proto.label == label]
    return found


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


def words(page):
    """All that the page says in sentences, as a reader sees signs that are escaped."""
    said = "\n".join(element.value for element in (*page.markdown, *page.caption, *page.warning))
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", said)


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


# What is drawn


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("opening", OPENINGS, ids=lambda o: "-".join(o.values()) or "opening")
def test_every_source_and_stage_is_drawn_as_it_was_computed(opening, language):
    page = opened(opening | {"lang": language})
    text = texts(language)
    for stage in STAGES:
        if stage != STAGES[0]:
            page = release(page, stage=stage)
        check(sent(page), opening | {"stage": stage}, language)
        experiment = from_address(opening | {"stage": stage})[0].experiment
        for line in score_maps(compare(run(experiment)), text).about:
            assert line in words(page)
    assert page.title[0].value == text("pages.compare.title")
    assert text("pages.compare.question") in words(page)
    assert not page.warning


@pytest.mark.parametrize(
    "parameters",
    [
        SHORT | {"mask": "none", "stage": "weights", "start": "3", "stop": "20", "axis": "log"},
        MADE | {"base.1": "50", "base.2": "700", "gamma": "0.013", "seed": "77"},
        MADE | {"keys": "independent", "mask": "none", "stage": "scaled"},
        MADE | {"apart": "yes", "axis": "log"},
        {"start": "100", "stop": "400", "layer": "16", "head": "5"},
        {"source": "random", "length": "1", "head_dim": "2"},
        {"source": "expectation", "length": "2"},
    ],
    ids=str,
)
def test_an_address_is_drawn(parameters):
    page = opened(parameters)
    check(sent(page), parameters)
    assert not page.warning
    assert address(page) == parameters


@pytest.mark.parametrize(
    "parameters",
    [
        MADE | {"gamma": "5e-324"},
        MADE | {"gamma": "1e308", "scale_base": "1e308", "base": "1e308"},
        MADE | {"scale_base": "5e-324", "mask": "none"},
        MADE | {"scale_base": "5e-324", "mask": "none", "stage": "weights"},
        MADE | {"base": "1", "scale_base": "1"},
        {"source": "random", "scale_base": "0.5", "mask": "none", "seed": str(MAX_SEED)},
        {"source": "random", "head_dim": "74"},
    ],
    ids=str,
)
def test_settings_at_the_ends_of_what_is_legal(parameters):
    page = opened(parameters)
    assert not page.warning
    check(sent(page), parameters)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_picture_has_the_colours_of_the_page(mode):
    assert sent(opened(SHORT, theme=mode))["theme"]["mode"] == mode


@pytest.mark.parametrize(("locale", "language"), [("zh-CN", "zh"), ("de-DE", "en"), ("en", "en")])
def test_the_language_is_the_browsers_until_one_is_chosen(locale, language):
    page = opened(SHORT, locale=locale)
    check(sent(page), SHORT, language)
    assert page.title[0].value == texts(language)("pages.compare.title")
    assert address(page) == SHORT


# What is said


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("parameters", [SHORT, {}], ids=["pronoun", "opening"])
def test_what_to_notice_is_computed(parameters, language):
    page = opened(parameters | {"lang": language})
    experiment = from_address(parameters)[0].experiment
    rope, xpos = (measurement.reach for measurement in run(experiment).measurements)
    said = words(page)
    for number in (rope.far_magnitude, xpos.far_magnitude):
        assert f"{number:.3g}" in said
    shares = (xpos.far_magnitude / rope.far_magnitude, rope.far_share, xpos.far_share)
    for share in (*shares, rope.first_share, xpos.first_share):
        assert f"{100 * share:.1f}" in said
    check = self_check(experiment)
    for number in (check.shift, check.norm, check.rope):
        assert tiny(number) in said
    assert check.shift < 1e-9


PAIR_OF_ONE = {"source": "expectation", "head_dim": "2", "length": "2"}
# a score of q = k = (1, 1) at lag 1 is 2 cos 1 = 1.0806, and under XPos 3.5^(−1/512) of that
EDGES = {
    ("en", "two tokens, one pair"): """
- For keys 1 token or more back, the mean size of a score is 1.08 under RoPE and 1.08 under \
XPos: that is 99.8\u00a0% of RoPE's.
- A query gives 34.3\u00a0% of its attention to keys at least 1 token back under RoPE, and \
34.3\u00a0% under XPos.
- The only pair halves every 283 tokens: this is what γ and B set.
""",
    ("zh", "two tokens, one pair"): """
- 对至少 1 个词元以前的键，分数的平均大小在 RoPE 下为 1.08，在 XPos 下为 1.08：\
是 RoPE 的 99.8\u00a0%。
- 一个查询分给至少 1 个词元以前各键的注意力：RoPE 下为 34.3\u00a0%，XPos 下为 34.3\u00a0%。
- 唯一的一对每 283 个词元减半：这就是 γ 与 B 所决定的。
""",
    ("en", "one token"): """
- Token 0 alone is shown, and no key lies behind it: a longer window shows what distance does.
""",
    ("zh", "one token"): """
- 只显示词元 0，它之前没有键：窗口更长才能看到距离的作用。
""",
}
SAID_OF = {"two tokens, one pair": PAIR_OF_ONE, "one token": SHORT | {"stop": "1"}}


@pytest.mark.parametrize("mask", MASKED)
@pytest.mark.parametrize(("language", "edge"), EDGES)
def test_what_to_notice_reads_well_at_the_edges(language, edge, mask):
    page = opened(SAID_OF[edge] | {"lang": language, "mask": mask, "axis": "log"})
    assert EDGES[language, edge].strip() in [m.value for m in page.markdown]
    assert not page.exception
    said = words(page)
    span = {"en": ("token 0", "tokens 0 to 1"), "zh": ("词元 0", "词元 0 到 1")}[language]
    assert span[edge != "one token"] in said
    assert not re.search(r"\b1 tokens|tokens (\d+) to \1\b|– ", said)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "B = 512 is long against 1 token: over this text XPos hardly fades."),
        ("zh", "B = 512 相对于 1 个词元很长：在这段文本上 XPos 几乎不衰减。"),
    ],
)
def test_one_token_is_short(language, line):
    assert line in words(opened({"source": "random", "length": "1", "lang": language}))


def test_a_shift_that_cannot_be_measured_is_said_to_be_that():
    parameters = {"source": "random", "scale_base": "1"}
    page, check = opened(parameters), self_check(from_address(parameters)[0].experiment)
    numbers = {"norm": tiny(check.norm), "rope": tiny(check.rope)}
    assert texts("en")("ui.checks_overflow", **numbers) in words(page)


def test_a_scale_base_that_is_long_for_the_text_is_explained():
    line = texts("en")("ui.long_scale", scale="512", tokens="28 tokens")
    assert line not in words(opened(SHORT))
    assert line in words(opened(SHORT | {"scale_base": "512"}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_has_a_line_of_help(language):
    text = texts(language)
    for parameters, own in (
        (SHORT, ("name", "layer", "head")),
        (MADE | {"base.1": "50"}, ("length", "head_dim", "seed", "keys")),
    ):
        page = opened(parameters | {"lang": language})
        for key in ("source", "apart", "reset", *own):
            said = control(page, key, language).proto.help
            assert said
            assert said.split("{")[0] in (text(f"ui.{key}_help", cap=c) for c in (2048, 512))
        told = sent(page)
        for slider in told["sliders"]:
            assert slider["help"] == text(f"ui.{slider['parameter']}_help")
        for key in (*told["choices"], "window"):
            assert told["text"]["help"][key] == text(f"livemap.help.{key}")


# What a control changes


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


CHANGES = [
    ("gamma", 0.5, {"gamma": "0.5"}, {"encodings"}),
    ("scale_base", 64.0, {"scale_base": "64"}, {"encodings"}),
    ("base", 1000.0, {"base": "1000"}, {"encodings"}),
    ("stage", "weights", {"stage": "weights"}, {"view"}),
    ("mask", "none", {"mask": "none"}, {"view"}),
    ("start", 3, {"start": "3"}, {"view"}),
    ("stop", 20, {"stop": "20"}, {"view"}),
    ("axis", "log", {"axis": "log"}, {"view"}),
    ("head", 5, {"head": "5"}, {"data", "q", "k"}),
    ("layer", 16, {"layer": "16"}, {"data", "q", "k"}),
    ("apart", True, {"apart": "yes"}, {"sliders"}),
]


@pytest.mark.parametrize(("key", "value", "parameters", "parts"), CHANGES)
def test_a_control_changes_its_parts_and_the_address(key, value, parameters, parts):
    page = move(opened(SHORT), key, value)
    assert changed(SHORT, page) == parts
    assert address(page) == SHORT | parameters
    check(sent(page), SHORT | parameters)
    assert shown(page, key) == value
    page = again(control(page, "reset").click())
    assert changed(SHORT, page) == set()
    assert address(page) == SHORT


def test_both_ends_of_the_window_move_at_once():
    page = release(opened(SHORT | {"start": "3", "stop": "9"}), start=12, stop=20)
    assert address(page) == SHORT | {"start": "12", "stop": "20"}
    page = release(page, start=4, stop=28)
    assert address(page) == SHORT | {"start": "4"}
    page = release(page, start=0)
    assert address(page) == SHORT


@pytest.mark.parametrize(
    ("key", "value", "parameters", "parts"),
    [
        ("seed", 5, {"seed": "5"}, {"data", "q", "k"}),
        ("keys", "independent", {"keys": "independent"}, {"data", "k"}),
        ("length", 64, {"length": "64"}, {"data", "q", "k", "tokens", "view"}),
        ("head_dim", 16, {"head_dim": "16"}, {"data", "q", "k", "head_dim"}),
    ],
)
def test_controls_of_what_is_made(key, value, parameters, parts):
    page = move(opened(MADE), key, value)
    assert changed(MADE, page) == parts
    assert address(page) == MADE | parameters
    check(sent(page), MADE | parameters)


@pytest.mark.parametrize(
    ("key", "value", "parameters"),
    [
        ("source", "random", {"source": "random"}),
        ("source", "expectation", {"source": "expectation"}),
        ("name", "chinese", {"name": "chinese"}),
        ("name", "tidebook", {}),
    ],
)
def test_another_source_opens_with_its_own_settings(key, value, parameters):
    page = move(opened(SHORT), key, value)
    assert address(page) == parameters
    check(sent(page), parameters)
    page = again(control(page, "reset").click())
    assert address(page) == parameters


def test_bases_move_together_until_they_are_unlocked():
    page = move(opened(SHORT), "apart", True)
    assert shown(page, "xpos_base") == shown(page, "base") == 100_000
    page = release(page, base=1000.0)
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "100000"}
    page = release(page, xpos_base=50.0)
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "50"}
    check(sent(page), address(page))
    page = move(page, "apart", False)
    assert address(page) == SHORT | {"base": "1000"}
    page = release(page, base=500.0)
    assert address(page) == SHORT | {"base": "500"}
    check(sent(page), address(page))


def test_another_language_changes_words_alone():
    page = move(opened(SHORT), "language", "zh")
    assert address(page) == SHORT | {"lang": "zh"}
    assert page.title[0].value == texts("zh")("pages.compare.title")
    assert changed(SHORT, page) == {"text", "stages", "choices", "sliders", "symbols"}
    sliders = zip(unchanged(**SHORT)["sliders"], sent(page)["sliders"], strict=True)
    differ = {key for old, new in sliders for key in old if old[key] != new[key]}
    assert differ == {"label", "help"}
    page = again(control(page, "language", "zh").set_value("en"))
    assert page.title[0].value == texts("en")("pages.compare.title")
    assert address(page) == SHORT | {"lang": "en"}
    assert changed(SHORT, page) == set()


def test_reset_keeps_the_source_and_the_language():
    page = opened(SHORT | {"lang": "zh", "gamma": "0.5", "stage": "weights", "start": "3"})
    page = again(control(page, "reset", "zh").click())
    assert address(page) == SHORT | {"lang": "zh"}
    check(sent(page), SHORT, "zh")


def test_a_value_between_the_steps_stays_on_its_slider():
    page = opened(MADE | {"gamma": "0.4321", "base": "12345", "length": "33", "head_dim": "10"})
    for key, value in (("gamma", 0.4321), ("base", 12345), ("length", 33), ("head_dim", 10)):
        assert shown(page, key) == value
    page = move(page, "length", 64)
    page = move(page, "length", 33)
    assert address(page)["length"] == "33"
    page = release(page, gamma=0.5)
    page = release(page, gamma=0.4321)
    assert address(page)["gamma"] == "0.4321"


def test_going_back_restores_what_was():
    """The browser runs the page again with the address of before."""
    page = release(opened(SHORT), gamma=0.5)
    page = release(page, stage="weights")
    page = move(page, "head", 5)
    page.query_params.clear()
    page.query_params.update(SHORT)
    page.run()
    assert not page.exception
    assert changed(SHORT, page) == set()
    assert control(page, "head").value == 2


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("stage", "weights"), ("mask", "none"), ("axis", "log"), ("apart", True), ("head", 5)),
        *(("difference", "ratio"), ("colours", "purple_orange")),
    ],
)
def test_a_quick_second_change_does_not_undo_the_first(key, value):
    """It may be sent before the browser has the address of the first, so with the old one."""
    page = release(opened(SHORT), gamma=0.5)
    written = address(page)
    page.query_params.clear()
    page.query_params.update(SHORT)
    if key in ("difference", "colours"):
        page = release(page, **{key: value})
    else:
        page = move(page, key, value)
    assert shown(page, key) == value
    assert shown(page, "gamma") == 0.5
    page.query_params.update(written)
    page.run()
    assert shown(page, "gamma") == 0.5


def test_a_quick_move_that_changes_nothing_does_not_undo_the_one_before():
    """Then no address is written, and the old one that the browser sends is not read."""
    page = again(control(opened(SHORT), "language").set_value("zh"))
    page.query_params.clear()
    page.query_params.update(SHORT)
    page = again(control(page, "reset", "zh").click())
    assert control(page, "language", "zh").value == "zh"


# What the picture says


def test_a_move_is_taken_once():
    page = release(opened(SHORT), gamma=0.5)
    page = again(control(page, "reset").click())
    page = say(page, heard(page) | {"holds": []})  # it asks for data
    assert address(page) == SHORT
    page = release(page, stage="weights")
    assert heard(page)["moved"] == {"gamma": [0.5, 1], "stage": ["weights", 2]}
    assert address(page) == SHORT | {"stage": "weights"}
    assert sent(page)["echo"] == 2


def test_several_moves_may_arrive_in_one_run():
    """Only the last thing said arrives; it tells of all that was moved."""
    moved = {"gamma": [0.5, 1], "stage": ["weights", 2], "start": [3, 4], "stop": [20, 4]}
    moved |= {"axis": ["log", 3], "difference": ["ratio", 3]}
    page = say(opened(SHORT), {"moved": moved, "number": 4, "holds": []})
    asked = {"gamma": "0.5", "stage": "weights", "axis": "log", "start": "3", "stop": "20"}
    asked |= {"difference": "ratio"}
    assert address(page) == SHORT | asked
    check(sent(page), SHORT | asked)
    assert sent(page)["echo"] == 4


@pytest.mark.parametrize(
    "moves",
    [
        *({"gamma": -1.0}, {"base": 0.5}, {"stage": "softmax"}, {"mask": "sliding:4"}),
        *({"axis": "ln"}, {"start": "3"}, {"xpos_base": 50.0}),
        *({"difference": "product"}, {"colours": "rainbow"}),
        {"scale_base": 64.0, "gamma": 0},
        {"unknown": 1},
    ],
    ids=str,
)
def test_an_impossible_move_leaves_all_as_it_is_and_is_answered(moves):
    page = release(opened(SHORT), **moves)
    assert changed(SHORT, page) == set()
    assert address(page) == SHORT
    assert sent(page)["echo"] == 1
    page = release(page, gamma=0.5)
    assert address(page) == SHORT | {"gamma": "0.5"}


def test_how_the_picture_is_looked_at_is_in_the_address():
    """It stays when another source is shown."""
    look = {"difference": "ratio", "colours": "purple_orange"}
    page = release(opened(SHORT), difference="ratio")
    assert address(page) == SHORT | {"difference": "ratio"}
    page = release(page, colours="purple_orange")
    assert address(page) == SHORT | look
    check(sent(page), SHORT | look)
    check(sent(opened(SHORT | look)), SHORT | look)
    page = move(page, "name", "chinese")
    check(sent(page), {"name": "chinese"} | look)
    page = release(page, difference="plain", colours="blue_red")
    assert address(page) == {"name": "chinese"}


FORGED = [
    *(None, 3, "said", ["moved"], {"moved": 3}, {"moved": [["gamma", 1]], "number": 2}),
    *({"moved": {"gamma": 0.5}, "number": 1}, {"moved": {"gamma": [0.5]}, "number": 1}),
    *({"moved": {"gamma": [0.5, "1"]}, "number": 1}, {"moved": {"gamma": [0.5, True]}}),
    *({"moved": {"gamma": [[0.5], 1]}, "number": 1}, {"moved": {"gamma": [{}, 1]}}),
    *({"moved": {"colours": ["x", 1]}, "number": 1}, {"moved": {}, "number": 2**70}),
    *({"moved": {}, "number": "9", "holds": "q"}, {"moved": {}, "number": -1}),
]


@pytest.mark.parametrize("said", FORGED, ids=str)
def test_what_no_picture_says_is_not_heard(said):
    page = say(opened(SHORT), said)
    assert address(page) == SHORT
    page = say(page, {"moved": {"gamma": [0.5, 3]}, "number": 3, "holds": []})
    assert address(page) == SHORT | {"gamma": "0.5"}


def test_a_session_that_begins_anew_takes_no_old_moves():
    """A browser that comes back says again what it said; the address holds what came of it."""
    page = release(opened(SHORT), gamma=0.5, stage="weights")
    said = heard(page) | {"echo": 1}
    page, known = fresh(SHORT), sent(page)
    KNOWN[page] = known
    page._run(WidgetStates(widgets=[spoken(opened(SHORT), said)]))
    assert not page.exception
    assert heard(page) == said
    check(sent(page), SHORT)
    assert sent(page)["echo"] == 1
    page = release(page, mask="none")
    assert heard(page)["moved"].keys() == {"gamma", "stage", "mask"}
    assert address(page) == SHORT | {"mask": "none"}


def test_a_session_that_begins_anew_takes_the_move_that_no_server_heard():
    """The server was renewed under an open page, and a control was let go meanwhile."""
    page = release(opened(SHORT), gamma=0.5)
    moved = heard(page)["moved"] | {"scale_base": [64.0, 2]}
    said = heard(page) | {"moved": moved, "number": 2, "echo": 1}
    page, known = fresh(address(page)), sent(page)
    KNOWN[page] = known
    page._run(WidgetStates(widgets=[spoken(opened(SHORT), said)]))
    assert not page.exception
    assert address(page) == SHORT | {"gamma": "0.5", "scale_base": "64"}
    check(sent(page), address(page))
    assert sent(page)["echo"] == 2


# What is sent, and what not again


def test_parts_are_sent_once_the_picture_is_there():
    page = opened(SHORT)
    assert told(page).keys() >= HELD | WORDS
    page.run()
    assert told(page).keys() >= HELD | WORDS
    page = release(page, gamma=0.5)
    assert told(page).keys().isdisjoint(HELD | WORDS)
    page = again(control(page, "head").set_value(5))
    assert told(page).keys() & (HELD | WORDS) == HELD
    check(sent(page), SHORT | {"gamma": "0.5", "head": "5"})
    page = again(control(page, "language").set_value("zh"))
    assert told(page).keys() & (HELD | WORDS) == WORDS


def test_a_part_that_did_not_arrive_is_sent_when_it_is_asked_for():
    page = release(opened(SHORT), gamma=0.5)
    page = again(control(page, "apart").set_value(True))
    assert HELD.isdisjoint(told(page))
    for needs in (1, 2):
        page = say(page, heard(page) | {"holds": [], "needs": needs})
        assert told(page).keys() >= HELD | WORDS
    page = again(control(page, "apart").set_value(False))
    assert HELD.isdisjoint(told(page))


def test_a_release_of_what_is_held_sends_little():
    page = release(opened(), gamma=0.5)
    assert changed({}, page) == {"encodings"}
    assert told(page).keys() == sent(page).keys() - HELD - WORDS - {"streamed"}
    assert len(picture(page).bytes) < 1500


def test_the_module_of_the_picture_is_fetched_and_not_sent_with_the_runs():
    """Each answer is new: the middleware that compresses it changes it."""
    served = livemap.route()
    answers = [cast("Response", served.endpoint(None)) for _ in range(2)]
    assert answers[0] is not answers[1]
    assert {bytes(answer.body).decode() for answer in answers} == {source()}
    assert answers[0].headers["content-type"].startswith("text/javascript")
    assert answers[0].headers["cache-control"].endswith("immutable")
    script = picture(opened(SHORT)).js_content
    assert f".{served.path}" in script
    assert len(script) < len(source()) / 50


@pytest.mark.parametrize(("base", "folder"), [("", ""), ("tools/xpos", "/tools/xpos")])
def test_the_module_lies_beside_the_page(base, folder, monkeypatch):
    path = livemap.route().path
    monkeypatch.setattr(st, "get_option", {"server.baseUrlPath": base}.get)
    assert livemap.route().path == folder + path


def test_what_is_not_changed_is_sent_as_it_was():
    """The same bytes, so that only their hash travels; the same module, so that it stays."""
    page = opened(SHORT)
    before = picture(page)
    page.run()
    assert picture(page).SerializeToString() == before.SerializeToString()
    page = move(page, "language", "zh")
    page = move_in(page, "zh", "name", "chinese")
    after = picture(page)
    assert after.bytes != before.bytes
    assert (after.id, after.js_content) == (before.id, before.js_content)


def move_in(page, language, key, value):
    """Run the page in a language after a control beside the picture was moved."""
    return again(control(page, key, language).set_value(value))


def test_weights_of_many_tokens_are_sent_when_they_are_asked_for():
    page = opened()
    assert sent(page)["tokens"] > LIVE_WEIGHTS
    assert sent(page)["streamed"] is None
    for moves, streamed in (
        ({"stage": "masked"}, False),
        ({"difference": "weights"}, True),
        ({"difference": "ratio"}, False),
        ({"stage": "weights"}, True),
        ({"gamma": 0.5}, True),
        ({"start": 100, "stop": 300}, True),
        ({"stage": "scores"}, False),
    ):
        page = release(page, **moves)
        told = sent(page)
        assert (told["streamed"] is not None) == streamed
        check(told, address(page))


def test_weights_that_the_browser_has_are_not_sent_again():
    page = release(opened(), stage="weights")
    page = release(page, gamma=0.5)
    assert told(page)["streamed"] is not None
    page = again(control(page, "language").set_value("zh"))
    assert "streamed" not in told(page)
    page = say(page, heard(page) | {"holds": [], "needs": 1})
    assert told(page)["streamed"] is not None


# Hostile addresses


def notice_en(key, value, used, reason=""):
    """What is said of a refused setting."""
    if used is None:
        return f"The address has a setting `{key}` that does not exist here; it is ignored."
    instead = f"; `{used}` is used instead." if used else " and is left out."
    because = f" The reason: `{reason}`" if reason else ""
    return f"`{key} = {value}` cannot be used{instead}{because}"


def notice_zh(key, value, used, reason=""):
    """The same in Chinese."""
    if used is None:
        return f"地址中的设置 `{key}` 在这里不存在，已忽略。"
    instead = f"；改用 `{used}`。" if used else "，已忽略。"
    because = f"原因（英文）：`{reason}`" if reason else ""
    return f"`{key} = {value}` 无法使用{instead}{because}"


ENDLESS = (
    "scale_base must be a finite number > 0, got inf; the usual value is 512 tokens, "
    "and rope() is the limit without decay."
)
NOTICES = {"en": notice_en, "zh": notice_zh}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("hostile", "refused"),
    [
        (
            {"gamma": "nan"},
            (
                *("gamma", "nan", "0.4"),
                "gamma must be a finite number > 0, got nan; the usual value is 0.4.",
            ),
        ),
        ({"scale_base": "1e309"}, ("scale_base", "1e309", "8", ENDLESS)),
        ({"head": "-1"}, ("head", "-1", "2", "pronoun has no head -1; use 0 to 8.")),
        ({"stage": "<script>alert(1)</script>"}, ("stage", "…", "scores")),
        ({"layer": "![x](http://example.org)"}, ("layer", "…", "8")),
        ({"base": ""}, ("base", "…", "100000")),
        ({"lang": "fr"}, ("lang", "fr", "", "unknown lang 'fr'; use one of: en, zh.")),
        ({"stop": "9" * 5000}, ("stop", "…", "")),
        ({"<b>x</b>": "1"}, ("…", "1", None)),
        ({"base.3": "500"}, ("base.3", "500", None)),
        ({"mask": "sliding:4"}, ("mask", "…", "causal")),
        (
            {"axis": "symlog"},
            ("axis", "symlog", "linear", "unknown axis 'symlog'; use one of: linear, log."),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hostile_address_gives_a_notice_and_safe_values(hostile, refused, language):
    page = opened(SHORT | {"lang": language} | hostile)
    language = "en" if "lang" in hostile else language
    (notice,) = [warning.value for warning in page.warning]
    assert notice == NOTICES[language](*refused)
    assert "<" not in notice
    assert changed(SHORT | {"lang": language}, page) == set()


@pytest.mark.parametrize("value", ["2049", "9" * 40])
def test_a_length_beyond_the_cap_is_not_allocated(value):
    page = opened({"source": "random", "length": value})
    assert len(page.warning) == 1
    assert control(page, "length").value == opening("random").inputs.tokens


def test_the_last_of_a_repeated_setting_counts():
    page = opened(SHORT | {"gamma": ["nan", "0.5"]})
    assert sent(page)["encodings"][1]["parameters"]["gamma"] == 0.5


def test_a_notice_leaves_when_something_is_changed():
    page = opened(SHORT | {"gamma": "nan", "what": "1"})
    assert len(page.warning) == 2
    page = release(page, stage="weights")
    assert not page.warning
    assert address(page) == SHORT | {"stage": "weights"}


# Downloads


def test_files_are_offered_for_both_figures_when_they_are_asked_for():
    page, text = opened(SHORT), texts("en")
    whole = [text("ui.bundle"), text("download.handout")]
    assert [button.proto.label for button in page.get("download_button")] == whole
    for figure in ("scores", "decay"):
        page.session_state[f"{figure}-files"] = True
    page = again(page)
    labels = [button.proto.label for button in page.get("download_button")]
    forms = ["PNG", "SVG", "PDF", "CSV", "PARQUET", "NPZ"]
    assert sorted(labels) == sorted([*forms * 2, *whole])
    assert address(page) == SHORT
    for button in page.get("download_button"):
        assert button.proto.help


def test_a_page_without_a_picture_says_so_instead_of_offering_files():
    page = opened(SHORT)
    page._page_hash = calc_hash("decay")
    for chosen, offered in (("", 0), ("xpos", 1)):
        page.query_params["curves"] = chosen
        page.run()
        assert not page.exception
        assert len(page.get("download_button")) == offered
        said = [caption.value for caption in page.caption]
        assert (texts("en")("download.nothing") in said) == (not offered)


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_are_of_what_is_shown(language, monkeypatch):
    """The figures on paper and their tables follow every control, the axis too."""
    offered = []
    show = downloads.show

    def spy(shown, text):
        offered.append((plain(shown.description), shown.table()))
        show(shown, text)

    monkeypatch.setattr(downloads, "show", spy)
    page = opened(SHORT | {"lang": language})
    moves = {"gamma": 0.5, "stage": "masked", "start": 3, "axis": "log"}
    asked = SHORT | {"gamma": "0.5", "stage": "masked", "start": "3", "axis": "log"}
    page = release(page, **moves)
    looks = [{"difference": "ratio", "colours": "purple_orange"}, {"difference": "weights"}]
    for look in looks:
        page = release(page, **look)
    shown = [SHORT, asked, asked | looks[0], asked | looks[0] | looks[1]]
    assert len(offered) == 2 * len(shown)
    for parameters, figures in zip(
        shown, zip(offered[::2], offered[1::2], strict=True), strict=True
    ):
        state, _ = from_address(parameters)
        experiment, text = state.experiment, texts(language)
        comparison, table = compare(run(experiment), state.difference), curves(experiment)
        logarithmic = state.axis == "log"
        descriptions = (
            score_maps(comparison, text, state.colours),
            decay_curves(table, experiment, text, logarithmic=logarithmic),
        )
        for figure, description, rows in zip(
            figures, descriptions, (comparison.table(), table), strict=True
        ):
            assert figure[0] == plain(description)
            assert figure[1].equals(rows)
        assert (figures[0][1]["query"] >= figures[0][1]["key"]).all()  # no masked cell
    columns = [figures[1].columns[-1] for figures in offered[::2]]
    assert columns == ["difference", "difference", "ratio", "weights_difference"]


def plain(description):
    """A description as text, arrays by their numbers."""
    return json.dumps(asdict(description), default=lambda array: array.tolist())


# Set-up

SPY = """
import os, sys

class Spy:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("OMP_NUM_THREADS"))
            sys.exit()

sys.meta_path.insert(0, Spy())
import app
"""


@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("3", "3")])
def test_torch_is_imported_with_one_thread_a_session(chosen, threads):
    environment = {**os.environ, "PYTHONPATH": str(APP.parent)} | {"OMP_NUM_THREADS": chosen or ""}
    if not chosen:
        del environment["OMP_NUM_THREADS"]
    done = subprocess.run(
        [sys.executable, "-c", SPY],
        cwd=APP.parent,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.split() == [threads]


# Two at once


@pytest.mark.parametrize(
    ("before", "one", "other", "after"),
    [
        (SHORT, ("name", "tidebook"), ("layer", 24), {}),
        (MADE, ("source", "sample"), ("length", 64), {}),
        ({}, ("source", "random"), ("head", 5), {"source": "random"}),
    ],
    ids=str,
)
def test_two_quick_moves_in_one_run_do_no_harm(before, one, other, after):
    """The second control was drawn for a state that the first one has left."""
    page = opened(before)
    control(page, one[0]).set_value(one[1])
    page = again(control(page, other[0]).set_value(other[1]))
    kept = {key: value for key, value in address(page).items() if key in ("source", "name")}
    assert kept == after


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("before", "one", "moves", "after"),
    [
        ({}, ("name", "pronoun"), {"start": 0, "stop": 800}, {"name": "pronoun"}),
        ({}, ("name", "pronoun"), {"start": 700}, {"name": "pronoun"}),
        ({}, ("source", "random"), {"gamma": 0.5, "stop": 1000}, {"source": "random"}),
        ({"apart": "yes"}, ("apart", False), {"xpos_base": 50.0}, {}),
    ],
    ids=str,
)
def test_a_move_in_the_picture_and_one_beside_it_do_no_harm(before, one, moves, after, last):
    """Either may be the first to be heard."""
    page = opened(before)
    control(page, one[0]).set_value(one[1])
    states = page._tree.get_widget_states()
    moved = {key: [value, 1] for key, value in moves.items()}
    said = spoken(page, {"moved": moved, "number": 1, "holds": []})
    states.widgets.insert(len(states.widgets) if last else 0, said)
    page._run(states)
    assert not page.exception
    kept = {key: value for key, value in address(page).items() if key in ("source", "name")}
    assert kept == after
    check(sent(page), address(page))

"""The page without a browser: every language, source and stage, and what each control changes."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests import drawn
from xpos_viz import run
from xpos_viz.experiment import STAGES
from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.figures.plotly_pen import draw
from xpos_viz.figures.words import tiny
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.results import curves, self_check
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui.state import from_address, opening

APP = Path(__file__).parent.parent / "app.py"
SHORT = {"name": "pronoun"}
MADE = {"source": "random", "length": "32", "head_dim": "8", "scale_base": "16"}
OPENINGS = [{}, SHORT, *({"name": name, "stop": "24"} for name in ("harbour", "chinese"))]
OPENINGS += [MADE, MADE | {"source": "expectation"}]


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """What the application puts into the environment ends with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def opened(address=None):
    """The page at an address, run once."""
    page = AppTest.from_file(str(APP), default_timeout=60)
    page.query_params.update(address or {})
    page.run()
    assert not page.exception
    return page


def again(widget):
    """Run the page after a widget was moved."""
    page = widget.run()
    assert not page.exception
    return page


def address(page):
    """The parameters that the address now has."""
    return dict(page.query_params)


def figures(page):
    """The maps and the curves as they are sent."""
    maps, decay = (chart.proto for chart in page.get("plotly_chart"))
    return json.loads(maps.spec), json.loads(decay.spec)


def control(page, key, language="en") -> Any:
    """A control by the words beside it."""
    kinds = ("selectbox", "select_slider", "slider", "toggle", "number_input", "button_group")
    widgets = [widget for kind in kinds for widget in page.get(kind)] + list(page.button)
    label = texts(language)(f"ui.{key}")
    (found,) = [widget for widget in widgets if widget.proto.label == label]
    return found


def words(page):
    """All that the page says in sentences."""
    return "\n".join(element.value for element in (*page.markdown, *page.caption, *page.warning))


def expected(parameters, language="en"):
    """The figures that an address asks for."""
    state, refused = from_address(parameters)
    assert not refused
    text, experiment = texts(language), state.experiment
    return (
        score_maps(run(experiment), text),
        decay_curves(curves(experiment), experiment, text, logarithmic=state.axis == "log"),
    )


def essence(spec):
    """What a figure shows, whatever its width: traces, limits, ranges and words."""
    layout = spec["layout"]
    return {
        "data": spec["data"],
        "titles": [note["text"] for note in layout["annotations"]],
        "axes": {
            name: (axis["title"]["text"], axis.get("range"), axis.get("type"))
            for name, axis in layout.items()
            if name[1:].startswith("axis")
        },
        "limits": {
            name: (axis["cmin"], axis["cmax"], axis["colorscale"], axis["colorbar"]["title"])
            for name, axis in layout.items()
            if name.startswith("coloraxis")
        },
        "ink": (layout["paper_bgcolor"], layout["plot_bgcolor"], layout["font"]["color"]),
    }


# What is drawn


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("opening", OPENINGS, ids=lambda o: "-".join(o.values()) or "opening")
def test_every_source_and_stage_is_drawn_as_it_was_computed(opening, language):
    page = opened(opening | {"lang": language})
    text = texts(language)
    for stage in STAGES:
        if stage != STAGES[0]:
            page = again(control(page, "stage", language).set_value(stage))
        descriptions = expected(opening | {"stage": stage}, language)
        protos = [chart.proto for chart in page.get("plotly_chart")]
        assert len(protos) == 2
        for proto, description in zip(protos, descriptions, strict=True):
            assert essence(json.loads(proto.spec)) == essence(drawn.spec(draw(description)))
            assert proto.alt == description.alt
            assert proto.theme == ""
        for note in (*descriptions[0].notes, *descriptions[1].notes):
            assert note in words(page)
    assert page.title[0].value == text("ui.title")
    assert text("ui.question") in words(page)
    assert not page.warning


@pytest.mark.parametrize(
    "parameters",
    [
        SHORT | {"mask": "none", "stage": "weights", "start": "3", "stop": "20", "axis": "log"},
        MADE | {"base.1": "50", "base.2": "700", "gamma": "0.013", "seed": "77"},
        MADE | {"keys": "independent", "mask": "none", "stage": "scaled"},
        {"start": "100", "stop": "400", "layer": "16", "head": "5"},
        {"source": "random", "length": "1", "head_dim": "2"},
        {"source": "expectation", "length": "2"},
    ],
    ids=str,
)
def test_an_address_is_drawn(parameters):
    page = opened(parameters)
    for spec, description in zip(figures(page), expected(parameters), strict=True):
        assert essence(spec) == essence(drawn.spec(draw(description)))
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
    for spec, description in zip(figures(page), expected(parameters), strict=True):
        assert essence(spec) == essence(drawn.spec(draw(description)))


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


def test_a_shift_that_cannot_be_measured_is_said_to_be_that():
    parameters = {"source": "random", "scale_base": "1"}
    page, check = opened(parameters), self_check(from_address(parameters)[0].experiment)
    numbers = {"norm": tiny(check.norm), "rope": tiny(check.rope)}
    assert texts("en")("ui.checks_overflow", **numbers) in words(page)


def test_a_scale_base_that_is_long_for_the_text_is_explained():
    line = texts("en")("ui.long_scale", scale="512", tokens=28)
    assert line not in words(opened(SHORT))
    assert line in words(opened(SHORT | {"scale_base": "512"}))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_control_has_a_line_of_help(language):
    text = texts(language)
    common = ("source", "stage", "mask", "base", "apart", "gamma", "scale_base", "window", "reset")
    for parameters, own in (
        (SHORT, ("name", "layer", "head")),
        (MADE | {"base.1": "50"}, ("length", "head_dim", "seed", "keys", "xpos_base")),
    ):
        page = opened(parameters | {"lang": language})
        for key in (*common, *own):
            said = control(page, key, language).proto.help
            assert said
            assert said.split("{")[0] in (text(f"ui.{key}_help", cap=c) for c in (2048, 512))


# What a control changes


@cache
def unchanged(**parameters):
    """The figures of an address that nobody has moved a control of."""
    return figures(opened(parameters))


def changed(before, page):
    """Which parts of the page differ: the maps by their number, and the curves."""
    (maps, decay), (new_maps, new_decay) = unchanged(**before), figures(page)
    parts = {
        place
        for place, (old, new) in enumerate(zip(maps["data"], new_maps["data"], strict=True))
        if old != new
    }
    return parts | ({"curves"} if decay != new_decay else set())


BOTH = {0, 1, 2}
CHANGES = [
    ("gamma", 0.5, {"gamma": "0.5"}, {1, 2, "curves"}),
    ("scale_base", 64.0, {"scale_base": "64"}, {1, 2, "curves"}),
    ("base", 1000.0, {"base": "1000"}, {*BOTH, "curves"}),
    ("stage", "weights", {"stage": "weights"}, BOTH),
    ("mask", False, {"mask": "none"}, BOTH),
    ("window", (3, 20), {"start": "3", "stop": "20"}, BOTH),
    ("window", (3, 28), {"start": "3"}, BOTH),
    ("head", 5, {"head": "5"}, BOTH),
    ("layer", 16, {"layer": "16"}, BOTH),
    ("log_axis", True, {"axis": "log"}, {"curves"}),
    ("apart", True, {"apart": "yes"}, set()),
]


@pytest.mark.parametrize(("key", "value", "parameters", "parts"), CHANGES)
def test_a_control_changes_its_parts_and_the_address(key, value, parameters, parts):
    page = again(control(opened(SHORT), key).set_value(value))
    assert changed(SHORT, page) == parts
    assert address(page) == SHORT | parameters
    assert control(page, key).value == value
    page = again(control(page, "reset").click())
    if key == "log_axis":
        page = again(control(page, key).set_value(False))
    assert changed(SHORT, page) == set()
    assert address(page) == SHORT


@pytest.mark.parametrize(
    ("key", "value", "parameters", "parts"),
    [
        ("seed", 5, {"seed": "5"}, BOTH),
        ("keys", "independent", {"keys": "independent"}, BOTH),
        ("length", 64, {"length": "64"}, BOTH),
        ("head_dim", 16, {"head_dim": "16"}, {*BOTH, "curves"}),
    ],
)
def test_controls_of_what_is_made(key, value, parameters, parts):
    page = again(control(opened(MADE), key).set_value(value))
    assert changed(MADE, page) == parts
    assert address(page) == MADE | parameters


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
    page = again(control(opened(SHORT), key).set_value(value))
    assert address(page) == parameters
    for spec, description in zip(figures(page), expected(parameters), strict=True):
        assert essence(spec) == essence(drawn.spec(draw(description)))
    page = again(control(page, "reset").click())
    assert address(page) == parameters


def test_bases_move_together_until_they_are_unlocked():
    page = again(control(opened(SHORT), "apart").set_value(True))
    assert control(page, "xpos_base").value == control(page, "base").value == 100_000
    page = again(control(page, "base").set_value(1000.0))
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "100000"}
    page = again(control(page, "xpos_base").set_value(50.0))
    assert address(page) == SHORT | {"base.1": "1000", "base.2": "50"}
    page = again(control(page, "apart").set_value(False))
    assert address(page) == SHORT | {"base": "1000"}
    page = again(control(page, "base").set_value(500.0))
    assert address(page) == SHORT | {"base": "500"}


def test_what_is_not_changed_is_sent_again_as_it_was():
    """The same text of the figure, so that only its hash travels."""
    page = opened(SHORT)
    _, decay = (chart.proto.spec for chart in page.get("plotly_chart"))
    page = again(control(page, "stage").set_value("weights"))
    maps, same = (chart.proto.spec for chart in page.get("plotly_chart"))
    assert same == decay
    page = again(control(page, "log_axis").set_value(True))
    same, other = (chart.proto.spec for chart in page.get("plotly_chart"))
    assert same == maps
    assert other != decay


def test_another_language_changes_words_alone():
    page = again(control(opened(SHORT), "language").set_value("zh"))
    assert address(page) == SHORT | {"lang": "zh"}
    assert page.title[0].value == texts("zh")("ui.title")
    for old, new in zip(unchanged(**SHORT), figures(page), strict=True):
        for trace, other in zip(old["data"], new["data"], strict=True):
            for part in ("x", "y", "z"):
                assert trace.get(part) == other.get(part)
    page = again(control(page, "language", "zh").set_value("en"))
    assert page.title[0].value == texts("en")("ui.title")
    assert address(page) == SHORT | {"lang": "en"}


def test_reset_keeps_the_source_and_the_language():
    page = opened(SHORT | {"lang": "zh", "gamma": "0.5", "stage": "weights", "start": "3"})
    page = again(control(page, "reset", "zh").click())
    assert address(page) == SHORT | {"lang": "zh"}
    assert control(page, "gamma", "zh").value == 0.4
    assert control(page, "window", "zh").value == (0, 28)


def test_a_value_between_the_steps_stays_on_its_slider():
    page = opened(MADE | {"gamma": "0.4321", "base": "12345", "length": "33", "head_dim": "10"})
    for key, value in (("gamma", 0.4321), ("base", 12345), ("length", 33), ("head_dim", 10)):
        assert control(page, key).value == value
    page = again(control(page, "gamma").set_value(0.5))
    page = again(control(page, "gamma").set_value(0.4321))
    assert address(page)["gamma"] == "0.4321"


def test_going_back_restores_what_was():
    """The browser runs the page again with the address of before."""
    page = again(control(opened(SHORT), "gamma").set_value(0.5))
    page = again(control(page, "stage").set_value("weights"))
    page.query_params.clear()
    page.query_params.update(SHORT)
    page.run()
    assert not page.exception
    assert changed(SHORT, page) == set()
    assert control(page, "gamma").value == 0.4
    assert control(page, "stage").value == "scores"


@pytest.mark.parametrize(("key", "value"), [("stage", "weights"), ("mask", False), ("apart", True)])
def test_a_quick_second_change_does_not_undo_the_first(key, value):
    """It may be sent before the browser has the address of the first, so with the old one."""
    page = again(control(opened(SHORT), "gamma").set_value(0.5))
    written = address(page)
    page.query_params.clear()
    page.query_params.update(SHORT)
    page = again(control(page, key).set_value(value))
    assert control(page, "gamma").value == 0.5
    assert address(page).items() >= written.items()


# Hostile addresses


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("hostile", "refused"),
    [
        ({"gamma": "nan"}, ("gamma", "nan", "0.4")),
        ({"scale_base": "1e309"}, ("scale_base", "1e309", "8")),
        ({"head": "-1"}, ("head", "-1", "2")),
        ({"stage": "<script>alert(1)</script>"}, ("stage", "…", "scores")),
        ({"layer": "![x](http://example.org)"}, ("layer", "…", "8")),
        ({"base": ""}, ("base", "…", "100000")),
        ({"lang": "fr"}, ("lang", "fr", "–")),
        ({"stop": "9" * 5000}, ("stop", "…", "–")),
        ({"<b>x</b>": "1"}, ("…", "1", "")),
        ({"base.3": "500"}, ("base.3", "500", "")),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hostile_address_gives_a_notice_and_safe_values(hostile, refused, language):
    page = opened(SHORT | {"lang": language} | hostile)
    language = "en" if "lang" in hostile else language
    text = texts(language)
    key, value, used = refused
    (notice,) = [warning.value for warning in page.warning]
    assert notice == text("ui.refused" if used else "ui.unknown", key=key, value=value, used=used)
    assert "<" not in notice
    assert changed(SHORT | {"lang": language}, page) == set()


@pytest.mark.parametrize("value", ["2049", "9" * 40])
def test_a_length_beyond_the_cap_is_not_allocated(value):
    page = opened({"source": "random", "length": value})
    assert len(page.warning) == 1
    assert control(page, "length").value == opening("random").inputs.tokens


def test_the_last_of_a_repeated_setting_counts():
    page = opened(SHORT | {"gamma": ["nan", "0.5"]})
    assert control(page, "gamma").value == 0.5


def test_a_notice_leaves_when_something_is_changed():
    page = opened(SHORT | {"gamma": "nan", "what": "1"})
    assert len(page.warning) == 2
    page = again(control(page, "stage").set_value("weights"))
    assert not page.warning
    assert address(page) == SHORT | {"stage": "weights"}


# Downloads


def test_files_are_offered_for_both_figures():
    page = opened(SHORT)
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == ["PNG", "SVG", "PDF", "CSV"] * 2
    for button in page.get("download_button"):
        assert button.proto.help


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


def test_cells_that_are_masked_stay_empty_on_the_page():
    maps, _ = figures(opened(SHORT))
    for trace in maps["data"]:
        assert np.array_equal(np.isnan(drawn.array(trace["z"])), ~np.tri(28, dtype=bool))


@pytest.mark.parametrize(
    ("before", "one", "other", "after"),
    [
        ({}, ("name", "pronoun"), ("window", (0, 800)), {"name": "pronoun"}),
        ({}, ("name", "pronoun"), ("layer", 3), {"name": "pronoun"}),
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

"""The page of number formats without a browser: what each control changes, in both languages."""

import json
import re

import numpy as np
import pytest

from tests import apptest
from tests.apptest import address, again, alts, control
from tests.drawn import spec
from xpos_viz.encoding.steps import GAMMAS, SCALE_BASES
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.precision import angle_curves, overflow_curves
from xpos_viz.state import PRESETS, from_address
from xpos_viz.studies.precision import Angles, angles, overflow
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui.precision import _angle

pytestmark = pytest.mark.usefixtures("steady")


def opened(**address):
    """The page at an address."""
    return apptest.opened("precision", address)


def wanted(parameters, language="en"):
    """Both pictures of an address."""
    state, text = from_address(parameters)[0], texts(language)
    large, rope = state.encoding("xpos"), state.encoding("rope")
    study = overflow(large, float(state.k_max), state.text_length)
    lost = {n: angles(rope, n, state.kept, state.text_length) for n in state.formats}
    return [
        overflow_curves(study, large, state.formats, state.text_length, text),
        angle_curves(lost, rope, state.kept, text),
    ]


def notices(page):
    """What is to be noticed."""
    (said,) = (m.value for m in page.markdown if m.value.startswith("- "))
    return [sentence.removeprefix("- ") for sentence in said.split("\n")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_opens_with_the_encoding_of_the_session(language):
    page = opened(lang=language)
    described = wanted({}, language)
    assert alts(page) == [each.alt for each in described]
    for chart, each in zip(page.get("plotly_chart"), described, strict=True):
        assert json.loads(chart.proto.spec)["data"] == spec(plotly_pen.sketch(each))["data"]
    (table,) = page.table
    assert table.value.index.tolist() == ["float16", "bfloat16", "float32", "float64"]
    assert table.value.to_numpy().tolist() == [
        ["65,504", "4,533", "9,065", "367"],
        ["3.39\u00a0×\u00a010³⁸", "36,260", "72,519", "38"],
        ["3.4\u00a0×\u00a010³⁸", "36,261", "72,521", "≥\u00a08,192"],
        ["1.8\u00a0×\u00a010³⁰⁸", "290,086", "580,171", "≥\u00a08,192"],
    ]


def test_lengths_of_any_size_are_short():
    page = opened(gamma="1e308", scale_base="1e308", base="1e308")
    lengths = {cell for row in page.table[0].value.to_numpy()[:, 1:3] for cell in row}
    assert lengths == {"9.01\u00a0×\u00a010¹⁵", "1.8\u00a0×\u00a010¹⁶"}
    assert not re.search(r"\d{5}|\de[+-]?\d", " ".join(notices(page) + alts(page)))


def test_what_to_notice_is_computed():
    overflow, origin, lost, _ = notices(opened())
    assert overflow == (
        "In a text of 8,192 tokens the factors overflow in float16 if positions are counted from "
        "the first token, and in none of these formats if they are counted from the middle."
    )
    assert origin == (
        "Counted from the middle float16 holds 9,065 tokens, counted from the first token 4,533 "
        "tokens. The authors' code counts from the middle; the paper does not say."
    )
    assert lost == (
        "Range is not accuracy: the first angle is lost in bfloat16, at position 38. "
        "There a pair is off by more than 0.1 of its size."
    )
    kept = notices(opened(kept="table", scale_base="64", text_length="65536"))
    assert kept[0] == (
        "In a text of 65,536 tokens the factors overflow in float16, bfloat16, float32, float64 if "
        "positions are counted from the first token, and in float16, bfloat16, float32 if they are "
        "counted from the middle."
    )
    assert kept[2] == (
        "Within 65,536 tokens, a pair is off by more than 0.1 of its size in none of these formats."
    )


def test_formats_that_lose_an_angle_at_one_position_are_all_named():
    early, late = (Angles(np.arange(3), np.array(errors)) for errors in ([0, 0.2, 1], [0, 0, 1]))
    assert _angle({"float16": early, "bfloat16": late, "float32": early}, 3, texts("en")) == (
        "Range is not accuracy: the first angle is lost in float16, float32, at position 1. "
        "There a pair is off by more than 0.1 of its size."
    )


def test_a_format_that_ends_is_described_as_far_as_it_goes():
    *_, described = alts(opened(kept="positions", text_length="1048576", formats="float16"))
    assert described.endswith("positions alone. float16 at most 2.")


@pytest.mark.parametrize(
    ("key", "value", "parameters", "changed"),
    [
        ("gamma", GAMMAS[0], {"gamma": f"{GAMMAS[0]:g}"}, [True, False]),
        ("scale_base", SCALE_BASES[0], {"scale_base": f"{SCALE_BASES[0]:g}"}, [True, False]),
        ("base", 10_000.0, {"base": "10000"}, [False, True]),  # only the title of the first
        ("k_max", 100, {"k_max": "100"}, [True, False]),
        ("text_length", 1 << 14, {"text_length": "16384"}, [True, True]),
        ("kept", "theta", {"kept": "theta"}, [False, True]),
        ("formats", ["float32"], {"formats": "float32"}, [True, True]),
    ],
)
def test_a_control_changes_its_pictures_and_the_address(key, value, parameters, changed):
    page = opened()
    before = [chart.proto.spec for chart in page.get("plotly_chart")]
    page = again(control(page, key).set_value(value))
    assert address(page) == parameters
    assert alts(page) == [each.alt for each in wanted(parameters)]
    after = [chart.proto.spec for chart in page.get("plotly_chart")]
    assert [new != old for old, new in zip(before, after, strict=True)] == changed


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_format_there_is_nothing_to_draw(language):
    page = opened(formats="", lang=language)
    assert [info.value for info in page.info] == [texts(language)("precision.no_format")]
    assert alts(page) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "parameters",
    [
        {"text_length": "2", "scale_base": "1"},
        {"k_max": "65504"},
        {"scale_base": "1\u00a0×\u00a010¹²"},
        {"text_length": "1048576", "kept": "positions"},
        {"source": "random", "head_dim": "2", "length": "2"},
    ],
    ids=str,
)
def test_sentences_read_well_at_the_edges(parameters, language):
    page = opened(**parameters, lang=language)
    assert len(notices(page)) == 4
    for sentence in (*notices(page), *alts(page)):
        assert "nan" not in sentence
        assert "inf" not in sentence
        assert "{" not in sentence


def test_the_preset_overflows_unless_it_is_centred():
    name, parameters = PRESETS["fp16"]
    assert name == "precision"
    assert notices(opened(**parameters))[0] == (
        "In a text of 2,048 tokens the factors overflow in float16 if positions are counted from "
        "the first token, and in none of these formats if they are counted from the middle."
    )

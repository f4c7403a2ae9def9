"""The page on pairs without a browser: what it shows and says, and what each control changes."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import apptest, reference
from tests.apptest import MADE, SHORT, address, again, control, words
from xpos_viz.encoding import REGISTRY
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.pairs import motion, response_map, score_parts
from xpos_viz.figures.words import family_formula
from xpos_viz.state import from_address
from xpos_viz.studies.pairs import in_motion, over_text, parts, place
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.usefixtures("steady")

ROOT = Path(__file__).parent.parent


def visited(address=None):
    """The page at an address."""
    return apptest.opened("pairs", address)


def pictures(page):
    """What is drawn, as the browser gets it."""
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def wanted(parameters):
    """What is to be drawn at an address."""
    state, _ = from_address(parameters)
    text, experiment = texts(state.language or "en"), state.experiment
    encoding, tokens = state.encoding(state.pair_encoding), experiment.inputs.tokens
    query, key = place(experiment.inputs, experiment.view.mask, state.query, state.key)
    response = over_text(encoding, tokens, state.axis)
    return [
        response_map(response, text, state.colours, logarithmic=state.axis == "log"),
        motion(in_motion(encoding, tokens), text),
        score_parts(parts(experiment.inputs, experiment.encodings, query, key), text),
    ]


def check(page, parameters):
    """Whether the page shows what an address asks for, and has that address."""
    described = wanted(parameters)
    drawn = [json.loads(str(plotly_pen.sketch(d).to_json())) for d in described]
    assert pictures(page) == drawn
    assert [chart.proto.alt for chart in page.get("plotly_chart")] == [d.alt for d in described]
    assert address(page) == parameters
    for line in (line for description in described for line in description.notes):
        assert line in words(page)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("parameters", [{}, SHORT, MADE | {"axis": "log"}], ids=str)
def test_what_is_asked_for_is_drawn(parameters, language):
    parameters = parameters | {"lang": language}
    page, text = visited(parameters), texts(language)
    check(page, parameters)
    assert page.title[0].value == text("pages.pairs.title")
    assert text("pages.pairs.question") in words(page)
    assert not page.warning


SAID = {
    "en": (
        "- Pairs that turn less than once within 28 tokens: {slow} of 32 under XPos. "
        "The fastest turns {most:.3g} times.\n"
        "- Pairs that lose half of their size within 28 tokens: {faded} of 32 under XPos. "
        "Half-lives go from {first:.3g} tokens to {last:.3g} tokens.\n"
        "- At lag 27 the score is 44.2 under RoPE and 27.4 under XPos: "
        "each is exactly the sum of its bars.\n"
    ),
    "zh": (
        "- 在 28 个词元之内转不满一圈的对：XPos 下 32 对中有 {slow} 对。"
        "最快的一对转 {most:.3g} 圈。\n"
        "- 在 28 个词元之内失去一半大小的对：XPos 下 32 对中有 {faded} 对。"
        "半衰距离从 {first:.3g} 个词元到 {last:.3g} 个词元。\n"
        "- 在位置差 27 处，分数在 RoPE 下为 44.2，在 XPos 下为 27.4：各自恰好是其各柱之和。\n"
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_to_notice_is_computed(language):
    page = visited(SHORT | {"query": "27", "lang": language})
    rates = reference.xpos(64, 1e5, 0.4, 8.0)
    turns = [28 * rate.imag / math.tau for rate in rates]
    halves = [math.log(0.5) / rate.real for rate in rates]
    expected = SAID[language].format(
        slow=sum(turn < 1 for turn in turns),
        most=turns[0],
        faded=sum(half <= 28 for half in halves),
        first=halves[0],
        last=halves[-1],
    )
    said = words(page)
    assert expected in said
    table = page.dataframe[0].value
    assert table["pair"].tolist() == list(range(32))
    assert table["wavelength"].tolist() == pytest.approx([math.tau / r.imag for r in rates])
    assert table["half_life"].tolist() == pytest.approx(halves)
    assert table["turns"].tolist() == pytest.approx(turns)


@pytest.mark.parametrize(
    ("key", "value", "parameters"),
    [
        ("pair_encoding", "yarn", {"pair_encoding": "yarn"}),
        ("axis", "log", {"axis": "log"}),
        ("base", 1000.0, {"base": "1000"}),
        ("gamma", 0.5, {"gamma": "0.5"}),
        ("scale_base", 64.0, {"scale_base": "64"}),
        ("head", 5, {"head": "5"}),
        ("query", 20, {"query": "20"}),
        ("key", 3, {"key": "3"}),
    ],
)
def test_a_control_changes_the_picture_and_the_address(key, value, parameters):
    page = again(control(visited(SHORT), key).set_value(value))
    check(page, SHORT | parameters)
    assert control(page, key).value == value
    page = again(control(page, "reset").click())
    check(page, SHORT)


def test_a_family_brings_its_own_parameters():
    page = visited(SHORT | {"pair_encoding": "interpolation"})
    page = again(control(page, "factor").set_value(8.0))
    check(page, SHORT | {"pair_encoding": "interpolation", "interpolation.factor": "8"})
    page = again(control(page, "pair_encoding").set_value("rope"))
    said = words(page)
    assert "No pair fades under RoPE: all keep their size" in said
    assert family_formula(REGISTRY["rope"]) in said
    assert np.isinf(page.dataframe[0].value["half_life"]).all()


def test_what_the_text_does_not_have_is_the_nearest_that_it_has():
    page = visited({"query": "900", "key": "901"})
    assert (control(page, "query").value, control(page, "key").value) == (900, 900)
    page = again(control(page, "name").set_value("pronoun"))
    assert address(page) == SHORT | {"query": "900", "key": "901"}
    assert (control(page, "query").value, control(page, "key").value) == (27, 27)
    assert "At lag 0 the score is" in words(page)
    page = again(control(page, "key").set_value(5))
    assert "At lag 22 the score is" in words(page)
    page = again(control(page, "query").set_value(3))
    assert control(page, "key").value == 3
    check(page, SHORT | {"query": "3", "key": "5"})


def test_without_a_mask_keys_may_lie_ahead():
    page = visited(SHORT | {"mask": "none", "query": "20", "key": "25"})
    assert "At lag −5 the score is" in words(page)
    assert control(page, "key").value == 25


SMALL = """
import json
from tests.test_page_pairs import visited
pages = [visited({"source": "random", "length": length}) for length in "21"]
sliders = [{slider.key: slider.value for slider in page.slider} for page in pages]
print(json.dumps(sliders))
"""


def test_a_server_may_allow_few_tokens():
    done = subprocess.run(
        [sys.executable, "-c", SMALL],
        env={**os.environ, "XPOS_VIZ_MAX_LENGTH": "2", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    two, one = json.loads(done.stdout)
    assert (two["query"], two["key"]) == (1, 0)
    assert {"query", "key"}.isdisjoint(one)


@pytest.mark.parametrize("name", ["decay", "retnet", "longrope", "llama3"])
def test_other_families_are_shown(name):
    parameters = MADE | {"pair_encoding": name}
    page = visited(parameters)
    check(page, parameters)
    assert f"under {REGISTRY[name].label}" in words(page)


ALONE = {"source": "expectation", "length": "1", "head_dim": "2", "axis": "log"}
AHEAD = {"source": "expectation", "mask": "none", "query": "20", "scale_base": "5e-324"} | {
    "key": "511"
}
EDGES = {
    ("en", "one token, one pair"): """
- Pairs that turn less than once within 1 token: 1 of 1 under XPos. The fastest turns 0.159 times.
- Pairs that lose half of their size within 1 token: 0 of 1 under XPos. The half-life is 283 tokens.
- At lag 0 the score is 2 under RoPE and 2 under XPos: each is exactly the sum of its bars.
- The longest bar under RoPE is that of pair 0, 100.0\u00a0% of the lengths of all bars, and under \
XPos that of pair 0, 100.0\u00a0%.
- The pairs that turn less than once have 100.0\u00a0% of the lengths of all bars under RoPE, and \
100.0\u00a0% under XPos.
""",
    ("zh", "one token, one pair"): """
- 在 1 个词元之内转不满一圈的对：XPos 下 1 对中有 1 对。最快的一对转 0.159 圈。
- 在 1 个词元之内失去一半大小的对：XPos 下 1 对中有 0 对。半衰距离为 283 个词元。
- 在位置差 0 处，分数在 RoPE 下为 2，在 XPos 下为 2：各自恰好是其各柱之和。
- RoPE 下最长的柱是第 0 对，占所有柱总长的 100.0\u00a0%；XPos 下是第 0 对，占 100.0\u00a0%。
- 转不满一圈的各对在所有柱的总长中，RoPE 下占 100.0\u00a0%，XPos 下占 100.0\u00a0%。
""",
    ("en", "beyond float64"): """
- At lag −491 the key lies ahead of the query, where XPos does not fade but grows: here beyond \
1.8\u00a0×\u00a010³⁰⁸, the end of float64, so that its score has no number.
""",
    ("zh", "beyond float64"): """
- 位置差 −491 处的键在查询之后，XPos 在那里不衰减而增长：这里超出 float64 \
的上限 1.8\u00a0×\u00a010³⁰⁸，因此它的分数没有数值。
""",
}
AT = {"one token, one pair": ALONE, "beyond float64": AHEAD}


@pytest.mark.parametrize(("language", "edge"), EDGES)
def test_what_to_notice_reads_well_at_the_edges(language, edge):
    page = visited(AT[edge] | {"lang": language})
    assert EDGES[language, edge].strip() in words(page)
    assert not page.warning


def test_what_hardly_fades_does_so_for_ever():
    page = visited({"source": "expectation", "length": "32", "scale_base": "1e308"})
    assert re.search(r"Half-lives go from [\d.]+\u00a0×\u00a010³⁰⁷ tokens to ∞ tokens", words(page))

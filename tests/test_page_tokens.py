"""The page of a text that is read, without a browser: what is shown, said, and changed."""

import json
import re

import pytest
import torch

from tests import apptest
from tests.apptest import MADE, SHORT, address, again, control, words
from tests.drawn import spec
from xpos_viz import xpos
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.passage import markup
from xpos_viz.figures.tokens import bars, head_maps, tinted
from xpos_viz.inputs import Capture, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES, token_labels
from xpos_viz.state import from_address
from xpos_viz.studies.tokens import all_heads, read
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui.plain import plain

pytestmark = pytest.mark.usefixtures("steady")

ALONE = {
    "en": "Token 0 sees no key but itself, so its weight is 1 under any encoding: choose a later "
    "query.",
    "zh": "词元 0 只看到自身，因此在任何编码下权重都是 1：请选择靠后的查询。",
}
STILL = {
    "en": "For query 20 no weight changes by more than 0.0001 percentage points: "
    "XPos (base 100,000, γ 0.4, B 10¹²) is all but RoPE here.",
    "zh": "对查询 20，没有权重的变化超过 0.0001 个百分点：此时 "
    "XPos（底数 100,000，γ 0.4，B 10¹²）几乎就是 RoPE。",
}
ITSELF = {
    "en": "For query 4 no weight changes: XPos (base 10,000, γ 0.4, B 64) is the model's own "
    "encoding. Move γ or B to see what another decay would change.",
    "zh": "对查询 4，没有权重变化：XPos（底数 10,000，γ 0.4，B 64）就是模型自己的编码。"
    "移动 γ 或 B，可以看到另一种衰减会改变什么。",
}
HEADS_STILL = {
    "en": "In the maps of the 9 heads of layer 8 nothing changes by more than 0.0001 percentage "
    "points.",
    "zh": "第 8 层 9 个头的图中，变化都不超过 0.0001 个百分点。",
}


def opened(address=SHORT):
    """The page at an address."""
    return apptest.opened("tokens", address)


def found(parameters):
    """What the study finds at an address."""
    state = from_address(parameters)[0]
    sample, encoding = state.experiment.inputs, state.encoding("xpos")
    assert isinstance(sample, Sample)
    return read(sample, encoding, state.query), all_heads(sample, encoding)


def passage(page):
    """The tinted text, as HTML."""
    (html,) = (html.proto.body for html in page.get("html") if "<i class" in html.proto.body)
    return html


def charts(page):
    """The figures as they are sent."""
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def said(page):
    """What is to be noticed, sentence by sentence."""
    (notice,) = (text.value for text in page.markdown if text.value.startswith("- "))
    return [line.removeprefix("- ") for line in notice.splitlines()]


@pytest.mark.parametrize(
    ("name", "language"), [*((name, "en") for name in SAMPLES), ("chinese", "zh")]
)
def test_every_text_is_shown_as_it_was_computed(name, language):
    parameters = {"name": name} if name != "tidebook" else {"query": "700"}
    page, text = opened(parameters | {"lang": language}), texts(language)
    reading, heads = found(parameters)
    assert page.title[0].value == text("pages.tokens.title")
    assert passage(page) == markup(tinted(reading, text))
    drawn = bars(reading, text), head_maps(heads, "change", text)
    assert charts(page) == [spec(plotly_pen.sketch(description)) for description in drawn]
    for description in drawn:
        assert "  \n".join(description.notes) in words(page)
    (table,) = page.table
    assert len(table.value) == 9
    assert len(said(page)) == 5
    assert not re.search(r"\b(nan|inf)\b", words(page))
    assert not page.warning


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_to_notice_is_computed(language):
    parameters = SHORT | {"query": "20"}
    page, text = opened(parameters | {"lang": language}), texts(language)
    reading, heads = found(parameters)
    lines = said(page)
    before, after = reading.before, reading.after
    for key in (6, 0):
        for number in (f"{100 * row.weights[key]:.1f}\u00a0%" for row in (before, after)):
            assert number in lines[0]
        assert f"{100 * abs(reading.change[key]):.3g}" in lines[0]
    for number in (before.entropy, after.entropy, before.distance, after.distance):
        assert f"{number:.3g}" in lines[1]
    for share in (before.sink, after.sink, heads.before.sink[2], heads.after.sink[2]):
        assert f"{100 * share:.1f}\u00a0%" in lines[2]
    gaining = reading.change > 0
    wanted = text("tokens.negative", gaining="{}", keys="21", negative="{}").format(
        gaining.sum(), (gaining & (before.logits < 0)).sum()
    )
    assert lines[3] == wanted
    assert "9" in lines[4]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_opens_at_its_last_token(name):
    page = opened({"name": name})
    last = len(token_labels(name)) - 1
    assert control(page, "query").value == last
    page = again(control(page, "query").set_value(last - 1))
    assert address(page)["query"] == str(last - 1)


def test_the_table_has_the_means_of_all_heads():
    (table,) = opened().table
    _, heads = found(SHORT)
    assert list(table.value) == [
        "Entropy (nats), RoPE → XPos",
        "Mean distance (tokens)",
        "Share on token 0",
    ]
    assert list(table.value.index) == ["0", "1", "**2\u00a0◂**", *"345678"]
    pairs = zip(heads.before.sink, heads.after.sink, strict=True)
    shares = [
        f"{100 * before:.1f}\u00a0%\u00a0→ {100 * after:.1f}\u00a0%" for before, after in pairs
    ]
    assert table.value["Share on token 0"].tolist() == shares


@pytest.mark.parametrize(
    ("key", "value", "parameters", "parts"),
    [
        ("query", 11, {"query": "11"}, {"passage", "bars", "said"}),
        ("gamma", 0.9, {"gamma": "0.9"}, {"passage", "bars", "heads", "table", "said"}),
        ("scale_base", 64.0, {"scale_base": "64"}, {"passage", "bars", "heads", "table", "said"}),
        ("panels", "rope", {"panels": "rope"}, {"heads"}),
        ("head", 5, {"head": "5"}, {"passage", "bars", "heads", "table", "said"}),
        ("layer", 16, {"layer": "16"}, {"passage", "bars", "heads", "table", "said"}),
        ("name", "chinese", {"name": "chinese"}, {"passage", "bars", "heads", "table", "said"}),
    ],
)
def test_a_control_changes_its_parts_and_the_address(key, value, parameters, parts):
    def seen(page):
        drawn = dict(zip(("bars", "heads"), charts(page), strict=True))
        table = page.table[0].value.to_csv()
        return drawn | {"passage": passage(page), "table": table, "said": said(page)}

    page = opened()
    before = seen(page)
    page = again(control(page, key).set_value(value))
    after = seen(page)
    assert {part for part in after if after[part] != before[part]} == parts
    assert address(page) == SHORT | parameters


def test_reset_returns_to_the_opening():
    page = opened(SHORT | {"query": "5", "gamma": "0.9", "panels": "xpos"})
    assert address(again(control(page, "reset").click())) == SHORT


def test_a_query_beyond_the_text_is_its_last_token():
    page = opened(SHORT | {"query": "500"})
    assert passage(page) == passage(opened(SHORT | {"query": "27"}))
    assert control(page, "query").value == 27
    assert address(page) == SHORT | {"query": "500"}


def test_the_base_is_the_models_own():
    other = opened(SHORT | {"base": "500", "query": "9"})
    assert passage(other) == passage(opened(SHORT | {"query": "9"}))


@pytest.mark.parametrize("language", ALONE)
def test_the_first_token_reads_itself(language):
    lines = said(opened(SHORT | {"query": "0", "lang": language}))
    assert (len(lines), lines[0]) == (2, ALONE[language])


@pytest.mark.parametrize("language", STILL)
def test_an_encoding_that_is_all_but_rope(language):
    page = opened(SHORT | {"scale_base": "1e12", "query": "20", "lang": language})
    still, heads = said(page)
    assert (still, heads) == (STILL[language], HEADS_STILL[language])
    assert "xv-gain-" not in passage(page).split("</p>")[-1]


@pytest.mark.parametrize("language", ITSELF)
def test_an_encoding_that_is_the_models_own(language):
    q, k = torch.randn(2, 1, 2, 6, 8, generator=torch.Generator().manual_seed(3))
    data = keep(Capture(q, k, encodings=(xpos(8, scale_base=64.0),)))
    given = {"source": "capture", "data": data, "query": "4", "lang": language}
    same, _ = said(opened(given | {"scale_base": "64"}))
    assert same == ITSELF[language]
    assert len(said(opened(given | {"scale_base": "32"}))) == 5


@pytest.mark.parametrize("parameters", [{"gamma": "5e-324"}, {"scale_base": "5e-324"}], ids=str)
def test_settings_at_the_ends_of_what_is_legal(parameters):
    page = opened(SHORT | parameters)
    assert len(said(page)) == 5
    assert not re.search(r"\b(nan|inf)\b", words(page))


@pytest.mark.parametrize("language", LANGUAGES)
def test_made_inputs_have_no_text_and_a_way_to_one(language):
    page, text = opened(MADE | {"lang": language}), texts(language)
    assert [info.value for info in page.info] == [text("tokens.no_text")]
    assert not page.get("plotly_chart")
    (button,) = (button for button in page.button if button.label == text("tokens.open"))
    page = again(button.click())
    assert address(page) == {"lang": language}
    assert len(charts(page)) == 2


def test_a_token_in_a_sentence_is_no_markdown():
    assert plain("“*_`[a](b) :red[x] $y$” 旋 ½") == (r"“\*\_\`\[a\]\(b\) \:red\[x\] \$y\$” 旋 ½")

"""The page Compare: every language, source and stage as it was computed, and what is said."""

import re

import pytest

from tests.apptest import MADE, SHORT, address, control, words
from tests.compare_page import (
    check,
    opened,
    release,
    sent,
)
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.experiment import STAGES
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.words import tiny
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.livemap.message import MASKED
from xpos_viz.results import self_check
from xpos_viz.state import from_address
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.usefixtures("steady")

OPENINGS = [{}, SHORT, *({"name": name, "stop": "24"} for name in ("harbour", "chinese"))]
OPENINGS += [MADE, MADE | {"source": "expectation"}]


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

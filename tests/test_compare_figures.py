"""The pictures of a comparison as data: values, limits, titles, notes, alternative texts."""

import re

import numpy as np
import pytest

from tests import cases, drawn
from xpos_viz import Experiment, decay_curve, nope, rope, xpos
from xpos_viz.comparison import compare
from xpos_viz.encoding import longrope, t5
from xpos_viz.experiment import STAGES
from xpos_viz.figures.compare import decay_curves
from xpos_viz.figures.words import (
    factors,
    label,
    many,
    number,
    percent,
    portion,
    rounded,
    settings,
    span,
    tokens,
)
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.results import curves
from xpos_viz.texts import texts

each_language = pytest.mark.parametrize("language", ["en", "zh"])
TRIPLE = (nope(8), rope(8), xpos(8, scale_base=16.0))
STATES = {
    ("en", "scores", "causal"): "raw scores q·k, causal mask",
    ("en", "scaled", "none"): "scores / √d, no mask",
    ("en", "masked", "causal"): "logits, causal mask",
    ("en", "weights", "none"): "softmax weights, no mask",
    ("zh", "scores", "causal"): "原始分数\u00a0q·k，因果掩码",
    ("zh", "weights", "none"): "softmax 权重，无掩码",
}


def all_words(description):
    """Everything that a reader of a description sees or hears."""
    if hasattr(description, "panels"):
        axis = description.axis
        yield from (axis.queries, axis.keys, axis.query, axis.key, axis.lag)
        yield from (line for panel in description.panels for line in panel.title)
        yield from (bar.label for bar in description.bars)
    else:
        yield from (*description.title, description.x, description.y)
        yield from (curve.label for curve in description.curves)
    yield from (description.alt, *description.notes)


def decay(*encodings, language="en", **options):
    """The decay curves of some encodings."""
    experiment = Experiment(encodings, Expectation(2049))
    return decay_curves(curves(experiment), experiment, texts(language), **options)


# Numbers


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "−2.5"),
        (0.4, "0.4"),
        (1 / 3, "0.3333333333333333"),
        (1e5, "100,000"),
        (500_000.25, "500,000.25"),
        (999_999_999.0, "999,999,999"),
        (1e9, "10⁹"),
        (-1e12, "−10¹²"),
        (-0.0, "0"),
        (-1e-300, "−10⁻³⁰⁰"),
        (np.nan, "–"),
        (-np.inf, "−∞"),
        (2.5e12, "2.5\u00a0×\u00a010¹²"),
        (1e-3, "0.001"),
        (1e-6, "10⁻⁶"),
        (np.inf, "∞"),
        (1000, "1,000"),
    ],
)
def test_numbers_for_a_reader(value, words):
    assert number(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (40.3257, "40.3"),
        (1234.5, "1,230"),
        (0.012345, "0.0123"),
        (2.0, "2"),
        (1.23456e-5, "1.23\u00a0×\u00a010⁻⁵"),
    ],
)
def test_measured_numbers_have_three_digits(value, words):
    assert rounded(value) == words


@pytest.mark.parametrize(
    ("share", "one", "digits"),
    [
        (0.4857, "48.6\u00a0%", "48.6\u00a0%"),
        (-0.0, "0.0\u00a0%", "0\u00a0%"),
        (-1e-300, "0.0\u00a0%", "−10⁻²⁹⁸\u00a0%"),
        (-0.012, "−1.2\u00a0%", "−1.2\u00a0%"),
        (0.000123, "0.0\u00a0%", "0.0123\u00a0%"),
        (np.nan, "–", "–\u00a0%"),
    ],
)
def test_shares_have_a_percent_sign_that_stays_with_them(share, one, digits):
    assert percent(share) == one
    assert portion(share) == digits


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (9999, "9,999", "9,999"),
        (43_000, "43,000", "4.3\u00a0万"),
        (4_300_000_000, "4.3\u00a0billion", "43\u00a0亿"),
        (1_100_000_000_000, "1.1\u00a0trillion", "1.1\u00a0万亿"),
        (550_000_000_000, "550\u00a0billion", "5,500\u00a0亿"),
    ],
)
def test_large_counts_have_the_words_of_a_language(count, english, chinese):
    assert many(count, texts("en")) == english
    assert many(count, texts("zh")) == chinese


@pytest.mark.parametrize(
    ("limit", "ticks"),
    [
        (1e-6, {0: "1"}),
        (0.25, {-0.25: "1/1.19", 0: "1", 0.25: "1.19"}),
        (1.0, {-1: "1/2", 0: "1", 1: "2"}),
        (3.2, {-2: "1/4", 0: "1", 2: "4"}),
        (12.0, {-10: "1/1,020", -5: "1/32", 0: "1", 5: "32", 10: "1,020"}),
        (1074.0, {-1000: "9.33\u00a0×\u00a010⁻³⁰²", -500: "3.05\u00a0×\u00a010⁻¹⁵¹", 0: "1"}),
    ],
)
def test_exponents_are_written_as_factors(limit, ticks):
    shown = factors(limit)
    assert dict(list(shown.items())[: len(ticks)]) == ticks
    assert list(shown) == [-place for place in reversed(shown)]
    assert len(factors(limit, 2)) <= 3


@pytest.mark.parametrize(
    ("count", "english", "chinese"),
    [
        (1, "1 token", "1 个词元"),
        (2, "2 tokens", "2 个词元"),
        (1002, "1,002 tokens", "1,002 个词元"),
        (2**54, "1.8\u00a0×\u00a010¹⁶ tokens", "1.8\u00a0×\u00a010¹⁶ 个词元"),
        (np.inf, "∞ tokens", "∞ 个词元"),
        (0.999999, "1 token", "1 个词元"),
        (0.25, "0.25 tokens", "0.25 个词元"),
        (1234.5, "1,230 tokens", "1,230 个词元"),
    ],
)
def test_tokens_are_counted_in_words(count, english, chinese):
    assert tokens(count, texts("en")) == english
    assert tokens(count, texts("zh")) == chinese


def test_a_window_of_one_token_is_named_by_it():
    assert span(range(5, 6), texts("en")) == "token 5"
    assert span(range(5, 9), texts("en")) == "tokens 5 to 8"
    assert span(range(5, 6), texts("zh")) == "词元 5"
    assert span(range(5, 9), texts("zh")) == "词元 5 到 8"


def test_an_encoding_is_written_with_its_parameters():
    encoding, text = xpos(64, base=1e5, gamma=0.25, scale_base=1024.0), texts("en")
    assert settings(encoding, text) == "base 100,000, γ 0.25, B 1,024"
    assert label(encoding, text) == "XPos (base 100,000, γ 0.25, B 1,024)"
    assert settings(rope(8), text) == "base 10,000"
    assert label(rope(8), text) == "RoPE (base 10,000)"
    assert (settings(nope(8), text), label(nope(8), text)) == ("", "NoPE")
    assert settings(encoding, texts("zh")) == "底数 100,000，γ 0.25，B 1,024"
    assert label(rope(8).within(32), text) == "RoPE (base 10,000, 8 of 32 columns)"
    assert label(nope(8).within(32), text) == "NoPE (8 of 32 columns)"
    assert settings(rope(8).within(32), texts("zh")) == "底数 10,000，32 列中的 8 列"


LEARNED = tuple(bucket / 4 - 2 for bucket in range(32))


@pytest.mark.parametrize(
    ("encoding", "english", "chinese"),
    [
        (
            xpos(8, gamma=(0.8, 0.2, 0.4)),
            "base 10,000, γ 0.2 … 0.8 in 3 heads, B 512",
            "底数 10,000，γ 0.2 … 0.8，共 3 个头，B 512",
        ),
        (
            longrope(8, factors=(1.0, 1.5, 2.5, 4.0)),
            "base 10,000, e 1 … 4 in 4 pairs, s 4, L₀ 2,048",
            "底数 10,000，e 1 … 4，共 4 对，s 4，L₀ 2,048",
        ),
        (t5(8, table=LEARNED), "table −2 … 5.75 in 32 buckets", "表 −2 … 5.75，共 32 个桶"),
        (t5(8, table=(LEARNED,) * 3), "table −2 … 5.75 in 3 heads", "表 −2 … 5.75，共 3 个头"),
    ],
    ids=["heads", "pairs", "buckets", "heads of buckets"],
)
def test_several_values_are_written_as_their_range(encoding, english, chinese):
    assert settings(encoding, texts("en")) == english
    assert settings(encoding, texts("zh")) == chinese


@each_language
def test_every_family_can_be_written(language):
    text = texts(language)
    for encoding in cases.assorted(8):
        words = label(encoding, text)
        assert words.startswith(text(f"families.{encoding.name}"))
        assert all(text(f"symbols.{name}") in words for name in encoding.family.parameters)


# Maps


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize("stage", STAGES)
def test_panels_show_the_run(stage, mask):
    result, maps = drawn.maps(Random(40), TRIPLE, stage=stage, mask=mask)
    shown = [*(measurement.values for measurement in result.measurements), compare(result).values]
    assert [panel.bar for panel in maps.panels] == [0, 0, 0, 1]
    for panel, values in zip(maps.panels, shown, strict=True):
        assert np.array_equal(panel.values, values, equal_nan=True)
        assert np.array_equal(np.isnan(values), ~result.seen)
    assert [bar.limit for bar in maps.bars] == [result.limit, compare(result).limit]
    own = "sequential" if stage == "weights" else "diverging"
    assert [bar.scale for bar in maps.bars] == [own, "diverging"]


def test_axes_are_those_of_the_run():
    result, maps = drawn.maps(Sample("chinese", 8, 3), start=3, stop=43)
    assert maps.name == "scores"
    assert maps.axis.positions is result.positions
    assert maps.axis.block == 1
    assert maps.axis.labels == result.labels
    assert (len(maps.axis.labels), maps.axis.labels[0]) == (40, "编 ⅓")
    _, blocks = drawn.maps(Sample("chinese", 8, 3), cells=30)
    assert (blocks.axis.block, blocks.axis.labels) == (3, ())


@pytest.mark.parametrize(("language", "stage", "mask"), STATES)
def test_titles_name_encoding_parameters_stage_and_mask(language, stage, mask):
    _, maps = drawn.maps(language=language, stage=stage, mask=mask)
    comma, base = {"en": (", ", "base"), "zh": ("，", "底数")}[language]
    state = STATES[language, stage, mask]
    assert [panel.title for panel in maps.panels] == [
        ("RoPE", f"{base} 100,000", state),
        ("XPos", f"{base} 100,000{comma}γ 0.4{comma}B 24", state),
        ("XPos − RoPE", f"{base} 100,000{comma}γ 0.4{comma}B 24", state),
    ]


COMPARED = {
    ("en", "plain"): ("XPos − RoPE", "raw scores q·k", "difference of score q·k (no unit)"),
    ("en", "ratio"): ("|XPos| / |RoPE|", "raw scores q·k", "ratio of the shown means"),
    ("en", "weights"): (
        "XPos − RoPE, weights",
        "softmax weights",
        "difference of weight (share of 1)",
    ),
    ("zh", "plain"): ("XPos − RoPE", "原始分数\u00a0q·k", "分数\u00a0q·k（无单位）之差"),
    ("zh", "ratio"): ("|XPos| / |RoPE|", "原始分数\u00a0q·k", "所显示平均值之比"),
    ("zh", "weights"): ("XPos − RoPE（权重）", "softmax 权重", "权重（占比）之差"),
}


@pytest.mark.parametrize(("language", "how"), COMPARED)
def test_the_last_panel_is_the_comparison_that_is_asked_for(language, how):
    result, maps = drawn.maps(language=language, how=how, colours="teal_brown")
    comparison, title = compare(result, how), COMPARED[language, how]
    comma, base = {"en": (", ", "base"), "zh": ("，", "底数")}[language]
    mask = {"en": "causal mask", "zh": "因果掩码"}[language]
    panel, bar = maps.panels[-1], maps.bars[-1]
    parameters = comma.join((f"{base} 100,000", "γ 0.4", "B 24"))
    assert panel.title == (title[0], parameters, f"{title[1]}{comma}{mask}")
    assert np.array_equal(panel.values, comparison.shown, equal_nan=True)
    assert (bar.label, bar.limit, bar.scale) == (title[2], comparison.limit, "diverging")
    assert [bar.powers for bar in maps.bars] == [False, how == "ratio"]
    assert {bar.colours for bar in maps.bars} == {"teal_brown"}
    plain = drawn.maps(language=language)[1]
    assert [panel.title for panel in maps.panels[:2]] == [panel.title for panel in plain.panels[:2]]
    for own, usual in zip(maps.panels[:2], plain.panels[:2], strict=True):
        assert np.array_equal(own.values, usual.values, equal_nan=True)
    assert title[0] in maps.alt


def test_a_ratio_is_said_to_be_that_of_the_shown_means():
    end = "Colours end at the 99.5\u00a0% quantile of the magnitudes at Δ ≥ 0, "
    result, maps = drawn.maps(how="ratio")
    limit, own = (
        rounded(result.limit),
        [rounded(compare(result, how).limit) for how in ("plain", "weights")],
    )
    assert maps.notes[-1] == (
        f"{end}{limit}; the ratio is that of the shown means, on a logarithmic scale whose middle "
        "is 1."
    )
    for how, difference in zip(("plain", "weights"), own, strict=True):
        assert drawn.maps(how=how)[1].notes[-1] == (
            f"{end}{limit}, and {difference} for the difference; cells beyond have "
            "the colours of the bar's tips."
        )


@each_language
def test_cells_without_a_value_are_counted_and_not_masked(language):
    fading = xpos(2, scale_base=0.25, gamma=1e-3)
    view = {"cells": 300, "language": language}
    result, maps = drawn.maps(Expectation(300), (fading, fading), how="ratio", **view)
    nothing = result.measurements[0].values == 0
    assert [panel.unknown.sum() for panel in maps.panels] == [0, 0, nothing.sum()]
    assert np.array_equal(maps.panels[-1].unknown, nothing)
    assert 0 < nothing.sum() < result.seen.sum() < result.seen.size
    said = {
        "en": "Cells that have no number (0 / 0 or ∞ − ∞) are lime green: {}.",
        "zh": "没有数值（0 / 0 或 ∞ − ∞）的格子显示为黄绿色：{} 格。",
    }[language].format(f"{nothing.sum():,}")
    assert maps.notes[-1] == said
    assert said not in drawn.maps(Expectation(300), (fading, fading), **view)[1].notes


def test_words_of_axes_and_bars():
    _, maps = drawn.maps(stage="weights")
    assert maps.axis.queries == "query position m (tokens)"
    assert maps.axis.keys == "key position n (tokens)"
    assert [bar.label for bar in maps.bars] == [
        "weight (share of 1)",
        "difference of weight (share of 1)",
    ]
    _, maps = drawn.maps(language="zh")
    assert (maps.axis.query, maps.axis.key, maps.axis.lag) == ("查询", "键", "位置差")
    assert [bar.label[:6] for bar in maps.bars] == ["分数\u00a0q·k"] * 2
    assert maps.bars[1].label.endswith("之差")


@each_language
def test_notes_say_what_the_cells_are(language):
    text = texts(language)

    def notes(**view):
        return drawn.maps(Random(40), TRIPLE, language=language, **view)[1].notes

    plain = notes()
    assert len(plain) == 2
    assert notes(cells=8)[1] == text("figure.block", block=5)
    assert notes(mask="none")[-1] == text("figure.growing")
    assert text("figure.growing") not in plain
    steep = (rope(8), xpos(8, scale_base=0.25, gamma=1e-3))
    _, maps = drawn.maps(Expectation(300), steep, language=language, mask="none", cells=300)
    assert maps.about[-1] == text("figure.infinite")
    assert maps.notes[: len(maps.about)] == maps.about
    split = drawn.maps(Sample("chinese", 8, 3), language=language)[1]
    assert split.about[1:] == (text("figure.pieces"),)
    assert (
        text("figure.pieces") not in drawn.maps(Sample("pronoun", 8, 2), language=language)[1].notes
    )


def test_notes_name_the_data_and_the_limits():
    result, maps = drawn.maps(Sample("pronoun", 8, 2))
    data, limits = maps.notes
    assert data == (
        "Queries and keys of SmolLM2-135M-Instruct, layer 8, head 2, "
        "on the text “Pronoun (sentence, 28 tokens)”, tokens 0 to 27."
    )
    for limit in (result.limit, compare(result).limit):
        assert rounded(limit) in limits


@each_language
def test_alternative_text_of_maps_has_their_numbers(language):
    result, maps = drawn.maps(Sample("harbour", 8, 1), language=language, start=2, stop=50)
    text = texts(language)
    numbers = [rounded(measurement.reach.far_magnitude) for measurement in result.measurements]
    assert numbers[0] != numbers[1]
    for words in (
        *numbers,
        *(label(encoding, text) for encoding in drawn.PAIR),
        *("2", "49"),
        text("figure.stage.scores"),
        text("figure.mask.causal"),
    ):
        assert words in maps.alt


def test_alternative_text_of_one_token_leaves_out_what_there_is_not():
    _, maps = drawn.maps(Expectation(1), (rope(2), xpos(2)), how="ratio")
    labels = "RoPE (base 10,000), XPos (base 10,000, γ 0.4, B 512)"
    state = "raw scores q·k, causal mask"
    assert maps.alt == f"Heatmaps of {labels}, |XPos| / |RoPE|; {state}; token 0."
    assert maps.notes[0] == "q = k = ones, head dimension 2, token 0: a score is 2·g[m − n]."
    _, maps = drawn.maps(Expectation(2), (rope(2), xpos(2)))
    assert maps.alt == (
        f"Heatmaps of {labels}, XPos − RoPE; {state}; tokens 0 to 1. Mean score magnitude at least "
        "half the window back: 1.08 for the first, 1.08 for the last."
    )
    _, maps = drawn.maps(Expectation(2), (rope(2),), language="zh")
    assert maps.alt == (
        "RoPE（底数 10,000）的热图；原始分数\u00a0q·k，因果掩码；词元 0 到 1。"
        "距离不小于窗口一半处分数绝对值的平均：第一个为 1.08，最后一个为 1.08。"
    )


@each_language
def test_where_nothing_differs_no_limit_of_a_difference_is_named(language):
    _, maps = drawn.maps(Expectation(1), (rope(2), xpos(2)), language=language)
    said = {
        "en": "Colours end at the 99.5\u00a0% quantile of the magnitudes at Δ ≥ 0, 2; the "
        "difference is 0 in every cell.",
        "zh": "颜色到 Δ ≥ 0 处数值绝对值的 99.5\u00a0% 分位数为止：2；所有格子的差值都是 0。",
    }
    assert said[language] in maps.notes


# Curves


def test_one_token_has_a_curve_on_either_axis():
    experiment = Experiment((rope(8), xpos(8)), Expectation(1))
    for logarithmic in (False, True):
        shown = decay_curves(curves(experiment), experiment, texts("en"), logarithmic=logarithmic)
        assert not shown.logarithmic
        assert [(curve.x.tolist(), curve.y.tolist()) for curve in shown.curves] == [([0], [4])] * 2


@each_language
@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_are_g_of_each_encoding(logarithmic, language):
    shown = decay(*drawn.PAIR, language=language, logarithmic=logarithmic)
    assert (shown.name, shown.logarithmic) == ("decay", logarithmic)
    labels = [label(encoding, texts(language)) for encoding in drawn.PAIR]
    assert [curve.label for curve in shown.curves] == labels
    lags = np.arange(1 if logarithmic else 0, 2049)
    for curve, encoding in zip(shown.curves, drawn.PAIR, strict=True):
        assert np.array_equal(curve.x, lags)
        assert np.array_equal(curve.y, decay_curve(encoding, lags).numpy())


def test_curves_state_their_assumption():
    shown = decay(*drawn.PAIR)
    assert shown.title == (
        "Expectation curve g[Δ] = Σ cos(Δθᵢ) ζᵢ^(Δ/B)",
        "assumes q = k = ones: no content",
    )
    assert (shown.x, shown.y) == ("lag Δ = m − n (tokens)", "g[Δ] (no unit)")


def test_alternative_text_of_curves_has_their_ends():
    # the facts: g is 32 at lag 0, 8.4136 and 5.8173 at 1024
    shown = decay(rope(64), xpos(64))
    last = [rounded(curve.y[-1]) for curve in shown.curves]
    assert shown.alt == (
        "Expectation curves g over the lag in tokens, up to 2,048. "
        f"RoPE (base 10,000) goes from 32 to {last[0]}; "
        f"XPos (base 10,000, γ 0.4, B 512) goes from 32 to {last[1]}."
    )
    assert [curve.y[1024] for curve in shown.curves] == pytest.approx([8.4136, 5.8173], abs=6e-5)


def test_clauses_are_parted_as_a_language_does():
    shown = decay(rope(64), xpos(64), language="zh")
    last = [rounded(curve.y[-1]) for curve in shown.curves]
    assert shown.alt == (
        "期望曲线 g 随距离的变化，直到 2,048 个词元。"
        f"RoPE（底数 10,000）从 32 变到 {last[0]}；"
        f"XPos（底数 10,000，γ 0.4，B 512）从 32 变到 {last[1]}。"
    )


def test_equal_encodings_are_one_curve():
    assert len(decay(rope(8), rope(8)).curves) == 1


# Languages


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("mask", ["causal", "none"])
def test_both_languages_are_complete(stage, mask):
    """No placeholder is left, and no sentence stays English in a Chinese picture."""
    pictures = {
        language: (
            drawn.maps(Random(40), language=language, stage=stage, mask=mask, cells=9)[1],
            decay(*drawn.PAIR, language=language),
        )
        for language in ("en", "zh")
    }
    for english, chinese in zip(*pictures.values(), strict=True):
        pairs = list(zip(all_words(english), all_words(chinese), strict=True))
        assert not any(set("{}") & set(words) for pair in pairs for words in pair)
        for words, translated in pairs:
            assert words != translated or not re.search("[a-z]{2} [a-z]{2}", words)
        assert sum(words != translated for words, translated in pairs) >= len(pairs) // 2

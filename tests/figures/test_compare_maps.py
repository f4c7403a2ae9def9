"""The maps of a comparison as data: values, limits, titles, notes, alternative texts."""

import numpy as np
import pytest

from tests import drawn
from tests.figures.comparing import each_language
from xpos_viz import nope, rope, xpos
from xpos_viz.comparison import compare
from xpos_viz.experiment import STAGES
from xpos_viz.figures.words import label, rounded
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.texts import texts

TRIPLE = (nope(8), rope(8), xpos(8, scale_base=16.0))
STATES = {
    ("en", "scores", "causal"): "raw scores q·k, causal mask",
    ("en", "scaled", "none"): "scores / √d, no mask",
    ("en", "masked", "causal"): "logits, causal mask",
    ("en", "weights", "none"): "softmax weights, no mask",
    ("zh", "scores", "causal"): "原始分数\u00a0q·k，因果掩码",
    ("zh", "weights", "none"): "softmax 权重，无掩码",
}


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

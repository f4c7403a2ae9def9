"""The pictures of pairs as data: values, axes, titles, notes, alternative texts."""

import cmath
import json

import numpy as np
import pytest

from tests import drawn
from xpos_viz import rope, xpos
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.pairs import cell_words, motion, response_map, score_parts
from xpos_viz.inputs import Expectation, Sample
from xpos_viz.studies.pairs import in_motion, over_text, parts
from xpos_viz.texts import texts

EN, ZH = texts("en"), texts("zh")
XPOS = xpos(8, scale_base=16.0)
LABEL = "XPos (base 10,000, γ 0.4, B 16)"
LABEL_ZH = "XPos（底数 10,000，γ 0.4，B 16）"
LEFT = [(zeta / 1.4) ** (27 / 16) for zeta in (0.4, 1.15)]  # ζ^(Δ/B) of pairs 0 and 3 at lag 27


def test_the_map_has_what_is_left_of_each_pair():
    grid = response_map(over_text(XPOS, 28, "linear"), EN)
    assert grid.name == "pairs_map"
    assert grid.title == (LABEL, "what the distance does to each pair")
    assert (grid.x, grid.y) == ("lag Δ = m − n (tokens)", "pair i, from fast to slow")
    assert list(grid.columns) == list(range(28))
    assert list(grid.rows) == [0, 1, 2, 3]
    assert grid.values[0, 27] == pytest.approx(LEFT[0] * np.cos(27))
    assert grid.values[3, 27] == pytest.approx(LEFT[1] * np.cos(0.027))
    assert (grid.bar.label, grid.bar.limit) == ("Re exp(λᵢΔ) (no unit)", 1.0)
    assert (grid.bar.scale, grid.bar.colours) == ("diverging", "blue_red")
    assert grid.notes == ()
    assert not grid.logarithmic
    assert grid.alt == (
        f"Heatmap of Re exp(λᵢΔ) of all pairs under {LABEL}, up to lag 27. There, "
        f"pair 0 keeps {100 * LEFT[0]:.1f}\u00a0% of its size, "
        f"pair 3 keeps {100 * LEFT[1]:.1f}\u00a0% of its size."
    )


def test_the_map_in_chinese():
    grid = response_map(over_text(XPOS, 28, "linear"), ZH, "teal_brown")
    assert grid.title == (LABEL_ZH, "距离对每一对的作用")
    assert grid.bar.colours == "teal_brown"
    assert grid.alt == (
        f"{LABEL_ZH}下所有各对的 Re exp(λᵢΔ) 的热图，直到位置差 27。在那里，"
        f"第 0 对保留 {100 * LEFT[0]:.1f}\u00a0% 的大小，"
        f"第 3 对保留 {100 * LEFT[1]:.1f}\u00a0% 的大小。"
    )


@pytest.mark.parametrize(("tokens", "logarithmic"), [(1, False), (2, True), (28, True)])
def test_a_logarithmic_map_has_no_lag_0_if_there_are_others(tokens, logarithmic):
    response = over_text(XPOS, tokens, "log")
    assert response_map(response, EN, logarithmic=True).logarithmic is logarithmic


def test_lags_that_are_left_out_are_counted():
    grid = response_map(over_text(XPOS, 1002, "linear"), EN)
    assert grid.notes == (
        "501 of 1,001 lags are drawn: between two of them, fast pairs turn further than it looks.",
    )


def test_one_pair_is_named_once():
    grid = response_map(over_text(rope(2), 5, "linear"), EN)
    assert grid.alt.endswith("There, pair 0 keeps 100.0\u00a0% of its size.")
    assert grid.values.shape == (1, 5)


def test_pairs_move_from_one():
    plane = motion(in_motion(XPOS, 28), EN)
    assert plane.name == "pairs_plane"
    assert plane.title == (LABEL, "where each pair is at lag Δ")
    assert (plane.x, plane.y) == ("real part (no unit)", "imaginary part (no unit)")
    assert plane.labels == ("pair 0", "pair 1", "pair 2", "pair 3")
    assert plane.steps[:2] == ("Δ = 0", "Δ = 1")
    assert plane.steps[-1] == "Δ = 27"
    assert plane.paths.shape == (4, 28)
    assert plane.paths[0, 27] == pytest.approx(LEFT[0] * cmath.exp(27j))
    (note,) = plane.notes
    assert note.endswith("Lags 0 to 27, one by one.")
    assert plane.trails == (0, 1, 2, 3)
    assert plane.alt == (
        f"Points of 4 pairs in the complex plane under {LABEL}, moving from 1 at lag 0 to lag 27. "
        f"There, pair 0 keeps {100 * LEFT[0]:.1f}\u00a0% of its size, "
        f"pair 3 keeps {100 * LEFT[1]:.1f}\u00a0% of its size. Paths are drawn of: 0, 1, 2, 3."
    )
    alone = motion(in_motion(rope(2), 1), ZH)
    assert alone.steps == ("Δ = 0",)
    assert "下 1 对在复平面上的点" in alone.alt


def test_of_many_pairs_few_have_paths_and_all_have_points():
    plane = motion(in_motion(xpos(64), 1002), EN)
    assert plane.paths.shape == (32, 65)
    assert plane.labels[-1] == "pair 31"
    assert plane.trails == (0, 6, 12, 19, 25, 31)
    assert plane.notes[1:] == ("Grey: the pairs whose paths are not drawn.",)
    assert plane.alt.endswith("Paths are drawn of: 0, 6, 12, 19, 25, 31.")


@pytest.mark.parametrize(("head_dim", "most"), [(64, 60_000), (128, 90_000)])
def test_what_a_change_of_the_plane_sends_is_little(head_dim, most):
    plane = motion(in_motion(xpos(head_dim), 1002), EN)
    assert len(json.dumps(drawn.spec(plotly_pen.draw(plane)))) < most


def test_the_parts_of_a_score_are_bars():
    both = (rope(64, base=1e5), xpos(64, base=1e5, scale_base=8.0))
    found = parts(Sample("pronoun", 8, 2), both, 27, 0)
    bars = score_parts(found, EN)
    assert bars.name == "pairs_score"
    assert bars.title == (
        "query 27 “.” · key 0 “The” · lag 27",
        "what each pair adds to q·k; sums: RoPE 44.2, XPos 27.4",
    )
    assert (bars.x, bars.y) == ("pair i, from fast to slow", "part of the score q·k (no unit)")
    assert bars.labels == tuple(map(str, range(32)))
    assert [name for name, _ in bars.series] == [
        "RoPE (base 100,000)",
        "XPos (base 100,000, γ 0.4, B 8)",
    ]
    for (_, heights), score in zip(bars.series, found.scores, strict=True):
        assert heights.sum() == score
    assert bars.notes == ()
    assert bars.alt == (
        "Bars of what each pair adds to the score of query 27 “.” · key 0 “The” · lag 27. "
        "Sums: RoPE 44.2, XPos 27.4. Longest bars: RoPE pair 26, 11.2, XPos pair 30, 8.84."
    )


def test_made_tokens_have_no_words():
    found = parts(Expectation(4), (rope(8), XPOS), 2, 3)
    assert cell_words(found, EN) == "query 2 · key 3 · lag −1"
    assert cell_words(found, ZH) == "查询 2 · 键 3 · 位置差 −1"


def test_bars_that_leave_float64_are_said_to_do_so():
    found = parts(Expectation(64), (rope(4), xpos(4, scale_base=1e-3)), 0, 63)
    bars = score_parts(found, EN)
    assert bars.notes == (EN("figure.infinite"),)
    assert "XPos" in bars.title[1]

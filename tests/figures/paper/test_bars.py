"""Colour bars on paper: where they stand, their tips and their numbers."""

from itertools import chain, pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from tests import drawn
from xpos_viz import rope, xpos
from xpos_viz.comparison import KINDS as KINDS_OF_COMPARISON
from xpos_viz.figures.paper_pen import draw
from xpos_viz.inputs import Expectation, Random
from xpos_viz.theme import CLIPPED

TRILLION = "\u00a0×\u00a010¹²"


def test_a_bar_spans_the_panels_that_share_it():
    _, maps = drawn.maps()
    first, second, third, shared, own = (axes.get_position() for axes in draw(maps).axes)
    assert (shared.x0, shared.x1) == pytest.approx((first.x0, second.x1))
    assert (own.x0, own.x1) == pytest.approx((third.x0, third.x1))
    assert shared.y1 < first.y0
    assert own.y1 == pytest.approx(shared.y1)


@pytest.mark.parametrize(
    ("values", "points"),
    [
        ([[1.0, -1.0]] * 2, 0),
        ([[1.0, 1.1]] * 2, 1),
        ([[1.0, -np.inf]] * 2, 1),
        ([[1.1, -1.1]] * 2, 2),
        ([[np.nan, 0.0]] * 2, 0),
    ],
)
def test_a_bar_has_points_where_values_are_clipped(values, points):
    """Points are the only patches of a bar but its ground and outline."""
    axes = draw(drawn.one_panel(values)).axes[1]
    found = {to_hex(patch.get_facecolor()) for patch in axes.patches}
    assert len(found) == points
    assert found <= set(CLIPPED["diverging"])


@pytest.mark.parametrize(
    ("limit", "scale", "words"),
    [
        (1.0, "diverging", ["−1", "−0.5", "0", "0.5", "1"]),
        (27.3, "diverging", ["−20", "−10", "0", "10", "20"]),
        (0.056, "sequential", ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]),
        (
            2.5e12,
            "diverging",
            [f"−2{TRILLION}", "−10¹²", "0", "10¹²", f"2{TRILLION}"],
        ),
    ],
)
def test_a_bar_is_written_in_round_numbers(limit, scale, words):
    axes = draw(drawn.one_panel(np.zeros((2, 2)), limit=limit, scale=scale)).axes[1]
    assert [label.get_text() for label in axes.get_xticklabels()] == words
    assert axes.get_xlabel() == "value"
    low = -limit if scale == "diverging" else 0.0
    plain = [word.replace("−", "-").replace(TRILLION, "e12") for word in words]
    values = [float(word.replace("10¹²", "1e12")) for word in plain]
    assert axes.get_xticks() == pytest.approx([(v - low) / (limit - low) for v in values])


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (1e-9, ["1"]),
        (0.5, ["1/1.41", "1", "1.41"]),
        (2.5, ["1/4", "1/2", "1", "2", "4"]),
        (30.0, ["1/1,050,000", "1", "1,050,000"]),
    ],
)
def test_a_bar_of_a_ratio_is_written_in_factors(limit, words):
    maps = drawn.one_panel([[0.0]], limit=limit, powers=True)
    assert [label.get_text() for label in draw(maps).axes[1].get_xticklabels()] == words


@pytest.mark.parametrize("how", KINDS_OF_COMPARISON)
@pytest.mark.parametrize("stage", ["scores", "weights"])
@pytest.mark.parametrize("inputs", [Random(64, 0, "independent"), Expectation(512)], ids=repr)
def test_numbers_of_bars_stand_apart(inputs, stage, how):
    """Beside each other, within their bar, and away from those of the next bar."""
    maps = drawn.maps(inputs, (rope(64), xpos(64)), how=how, stage=stage)[1]
    figure = draw(maps)
    figure.draw_without_rendering()
    bars = figure.axes[len(maps.panels) :]
    boxes = [[label.get_window_extent() for label in bar.get_xticklabels()] for bar in bars]
    for bar, (first, *_, last) in zip(bars, boxes, strict=True):
        frame = bar.get_window_extent()
        assert frame.x0 - 1 < first.x0 < last.x1 < frame.x1 + 1
    for before, after in pairwise(chain(*boxes)):
        assert before.x1 + 4 < after.x0

"""Curves on paper, as they are described, whatever the values."""

from dataclasses import replace

import numpy as np
import pytest

from tests.figures.paper.sheets import decay, line, svg_texts
from xpos_viz.figures.paper_pen import draw, save
from xpos_viz.theme import DASHES, LINES


@pytest.mark.parametrize("logarithmic", [False, True])
def test_curves_are_drawn_as_they_are_described(logarithmic):
    description = decay(logarithmic=logarithmic)
    axes = draw(description).axes[0]
    lines = axes.lines[: len(description.curves)]
    for place, (drawn_, curve) in enumerate(zip(lines, description.curves, strict=True)):
        assert np.array_equal(drawn_.get_xdata(), curve.x)
        assert np.array_equal(drawn_.get_ydata(), curve.y)
        assert drawn_.get_color() == LINES[place]
        assert (drawn_.get_linestyle() == "-") == (DASHES[place] == "solid")
    assert axes.get_xscale() == ("log" if logarithmic else "linear")
    assert axes.get_xlim() == pytest.approx((1 if logarithmic else 0, 2048))
    low, high = axes.get_ylim()
    assert low < min(0, *(curve.y.min() for curve in description.curves))
    assert high > max(curve.y.max() for curve in description.curves)


@pytest.mark.parametrize(
    "y",
    [
        [1, np.inf, -np.inf, np.nan, 2],
        [np.inf] * 3,
        [np.nan] * 3,
        [0.0] * 3,
        [1e308, -1e308, 1e299],
        [5e-324, 0.0],
        [1.0],
    ],
    ids=str,
)
def test_values_of_any_size_do_not_break_the_axes(y):
    whole = np.arange(1.0, len(y) + 1)
    for description in (line(y), line(y, x=whole, logarithmic=True)):
        assert save(description, "svg")
        assert np.isfinite(draw(description).axes[0].get_ylim()).all()


def test_gaps_stand_where_a_curve_is_infinite():
    (drawn_, _) = draw(line([1.0, np.inf, 3.0])).axes[0].lines
    assert np.array_equal(drawn_.get_ydata(), [1.0, np.nan, 3.0], equal_nan=True)


def test_more_curves_than_colours_begin_anew():
    curve = line([1.0, 2.0]).curves[0]
    description = replace(line([1.0]), curves=(curve,) * (len(LINES) + 1))
    lines = draw(description).axes[0].lines
    assert lines[len(LINES)].get_color() == LINES[0]
    assert svg_texts(save(description, "svg")).count("a line") == len(LINES) + 1

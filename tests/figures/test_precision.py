"""The pictures of number formats as descriptions, and as both pens draw them."""

import numpy as np
import pytest

from tests.drawn import spec
from xpos_viz import rope, xpos
from xpos_viz.figures import paper_pen, plotly_pen
from xpos_viz.figures.precision import angle_curves, overflow_curves
from xpos_viz.studies.precision import FORMATS, TOLERANCE, angles, overflow
from xpos_viz.texts import texts
from xpos_viz.theme import LEVEL

EN = texts("en")


def large(formats=FORMATS, length=8192, language="en", **parameters):
    """The picture of the largest number."""
    encoding = xpos(64, **parameters)
    study = overflow(encoding, 1.0, length)
    return overflow_curves(study, encoding, formats, length, texts(language))


def lost(formats=FORMATS, kept="angles", length=8192, language="en"):
    """The picture of the angles."""
    studies = {name: angles(rope(64), name, kept, length) for name in formats}
    return angle_curves(studies, rope(64), kept, texts(language))


def test_two_lines_rise_and_formats_are_level():
    described = large()
    labels = [curve.label for curve in described.curves]
    assert labels == ["counted from the first token", "counted from the middle", *FORMATS]
    assert [(curve.line, curve.dash) for curve in described.curves[:2]] == [
        (1, "dash"),
        (1, "solid"),
    ]
    for curve in described.curves[:2]:
        assert (np.diff(curve.y) > 0).all()
    assert len({curve.dash for curve in described.curves[2:]}) == len(FORMATS)  # for greyscale
    for curve, digits in zip(described.curves[2:], (4.816, 38.53, 38.53, 308.25), strict=True):
        assert curve.y == pytest.approx(digits, abs=0.01)
    assert described.logarithmic
    assert described.logarithmic_y


def test_ends_of_formats_are_marked_once():
    marks = large().marks
    assert [(mark.label, mark.x) for mark in marks] == [
        ("290,086", 290_086),
        ("36,260", 36_260),
        ("4,533", 4533),
        ("580,171", 580_171),
        ("72,519", 72_519),
        ("9,065", 9065),
        ("your length, 8,192", 8192),
    ]
    assert {mark.line for mark in marks} == {1}
    curve = large().curves[0]
    assert marks[-1].y == curve.y[curve.x == 8192]


def test_a_length_beyond_the_picture_is_not_marked():
    assert [mark.label for mark in large(length=2).marks][-1] == "9,065"


def test_a_format_keeps_its_colour_whichever_are_chosen():
    every = {
        curve.label: place for curve, place in zip(large().curves, large().places, strict=True)
    }
    for described in (large(("float64",)), lost(("float64",)), lost()):
        places = dict(zip((c.label for c in described.curves), described.places, strict=True))
        assert places["float64"] == every["float64"]


def test_the_alternative_text_has_the_lengths():
    assert large(("float16",)).alt == (
        "Digits of the largest factor of XPos (base 10,000, γ 0.4, B 512) over the length of a "
        "text: float16 holds 4,533 tokens counted from the first, 9,065 tokens from the middle."
    )


def test_angles_have_a_tolerance_and_a_mark_where_they_pass_it():
    described = lost(kept="positions")
    *lines, level = described.curves
    assert [line.label for line in lines] == list(FORMATS)
    assert level.y.tolist() == [TOLERANCE, TOLERANCE]
    assert level.line == LEVEL  # the colour of no encoding
    assert [(mark.label, mark.x, mark.y) for mark in described.marks] == [
        ("float16: 2,049", 2049, TOLERANCE),
        ("bfloat16: 257", 257, TOLERANCE),
    ]
    for line in lines:
        assert line.x.min() > 0
        assert (np.diff(line.y) >= 0).all()
    assert "bfloat16 at most 2" in described.alt
    assert described.title[-1] == "kept in the format: positions alone"


@pytest.mark.parametrize(
    ("kept", "length", "language"),
    [("angles", 2, "en"), ("table", 1 << 20, "zh"), ("positions", 100_000, "en")],
)
def test_both_pens_draw_the_edges(kept, length, language):
    for described in (
        large(length=length, language=language, scale_base=1.0),
        lost(kept=kept, length=length, language=language),
    ):
        assert spec(plotly_pen.draw(described))["layout"]["xaxis"]["type"] == "log"
        figure = paper_pen.draw(described)
        figure.draw_without_rendering()
        assert figure.axes[0].get_yscale() == "log"

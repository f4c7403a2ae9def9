"""The pictures of decay as data: curves, bands, marks, titles, notes."""

import math

import numpy as np
import pytest

from xpos_viz import decay_curve, rope, xpos
from xpos_viz.encoding import REGISTRY, Encoding, alibi, t5, yarn
from xpos_viz.figures.decay import bias_curves, decay_curves
from xpos_viz.inputs import Sample
from xpos_viz.studies.decay import READINGS, Averaged, Chance, Reading
from xpos_viz.texts import LANGUAGES, texts

EN = texts("en")
DRAWN = (
    "There are more lags than points: of the values in each 1/500 of the axis the first, last, "
    "smallest and largest are drawn, so that none of their swings is lost"
)
ALL = tuple(Encoding(name, (("head_dim", 16),)) for name in REGISTRY)


def test_curves_have_labels_values_and_marks():
    drawn = decay_curves((rope(64), xpos(64)), Reading(), 1000, EN)
    assert drawn.title == ("Expectation curve g[Δ]", "assumes q = k = ones: no content")
    assert (drawn.x, drawn.y) == ("lag Δ = m − n (tokens)", "g[Δ] (no unit)")
    assert [c.label for c in drawn.curves] == [
        "RoPE (base 10,000)",
        "XPos (base 10,000, γ 0.4, B 512)",
    ]
    assert all(curve.band is None for curve in drawn.curves)
    assert [(m.x, m.label, m.line) for m in drawn.marks] == [
        (725, "g < 0: 725", 0),
        (831, "half envelope: 831", 1),
    ]
    for mark, encoding in zip(drawn.marks, (rope(64), xpos(64)), strict=True):
        assert math.isclose(mark.y, float(decay_curve(encoding, [mark.x])))
    assert drawn.alt == (
        "Expectation curve g[Δ], over the lag in tokens up to 1,000. RoPE (base 10,000) goes from "
        f"32 to {float(decay_curve(rope(64), [1000])):.3g}; XPos (base 10,000, γ 0.4, B 512) goes "
        f"from 32 to {float(decay_curve(xpos(64), [1000])):.3g}."
    )


def test_marks_beyond_the_end_are_left_out():
    assert decay_curves((rope(64), xpos(64)), Reading(), 700, EN).marks == ()


def test_many_curves_are_told_apart_and_their_marks_have_no_names():
    drawn = decay_curves(ALL, Reading(), 2000, EN)
    assert len({(curve.line, curve.dash) for curve in drawn.curves}) == 16
    assert drawn.marks
    assert {mark.label for mark in drawn.marks} == {""}


def test_a_logarithmic_axis_has_no_lag_0():
    drawn = decay_curves((rope(64),), Reading(), 100, EN, logarithmic=True)
    assert drawn.logarithmic
    assert drawn.curves[0].x[0] == 1


@pytest.mark.parametrize(
    ("subject", "assumed"),
    [
        (Chance(), "assumes standard normal q and k, independent"),
        (Chance(-0.5), "assumes standard normal q and k with correlation ρ = −0.5"),
        (Averaged(Sample("pronoun", 8, 2)), "given q and k, averaged over their positions"),
    ],
)
def test_scores_have_a_band_and_say_what_is_assumed(subject, assumed):
    drawn = decay_curves((xpos(64),), subject, 20, EN)
    assert drawn.title[1] == assumed
    assert drawn.y == "score q·k (no unit)"
    (curve,) = drawn.curves
    assert curve.band is not None
    low, high = curve.band
    np.testing.assert_allclose((low + high) / 2, curve.y, atol=1e-9)
    assert (high > low).any()
    assert "The band is one standard deviation of a single score." in drawn.notes


def test_notes_say_what_is_drawn_and_what_is_not():
    assert decay_curves((rope(64),), Reading(), 100, EN).notes == ()
    far = decay_curves((rope(2), alibi(2), yarn(2)), Reading("envelope"), 100_000, EN)
    assert [note.split(".")[0] for note in far.notes] == [
        "Computed at every whole lag below 65,536, and beyond it at 32,768 lags of each doubling",
        DRAWN,
        "ALiBi and T5 do not turn or shrink q and k",
        "LongRoPE and YaRN also multiply all logits by a constant, which is left out here",
    ]
    short = decay_curves((rope(64),), Averaged(Sample("pronoun", 8, 2)), 100, EN)
    assert short.notes[0].startswith("Queries and keys of SmolLM2-135M-Instruct, layer 8, head 2")
    assert "The text ends at a lag of 27 tokens." in short.notes


def test_a_bias_has_a_picture_of_its_own_with_the_colours_of_the_other():
    drawn = bias_curves((rope(4), alibi(4, slope=0.25)), 64, EN)
    (curve,) = drawn.curves
    both = decay_curves((rope(4), alibi(4, slope=0.25)), Reading(), 64, EN).curves
    assert (curve.line, curve.dash) == (both[1].line, both[1].dash)
    assert (curve.y[-1], drawn.y) == (-16, "bias (logits)")
    assert drawn.notes == ()
    assert bias_curves((t5(4),), 64, EN).notes == (
        "T5 learns its bias. Without the table of a model it is zero, as here.",
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", READINGS)
def test_every_reading_has_its_words(name, language):
    drawn = decay_curves((rope(4),), Reading(name), 8, texts(language))
    other = decay_curves((rope(4),), Reading("g"), 8, texts(language))
    assert (drawn.title[0] == other.title[0]) == (name == "g")
    assert (drawn.y == other.y) == (name == "g")

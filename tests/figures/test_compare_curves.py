"""The curves beside a comparison as data, and their alternative texts."""

import numpy as np
import pytest

from tests import drawn
from tests.figures.comparing import decay, each_language
from xpos_viz import Experiment, decay_curve, rope, xpos
from xpos_viz.figures.compare import decay_curves
from xpos_viz.figures.words import label, rounded
from xpos_viz.inputs import Expectation
from xpos_viz.results import curves
from xpos_viz.texts import texts


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

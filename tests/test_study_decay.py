"""Decay as numbers: what is drawn are values of the curve, and all that a picture could show."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests import reference
from xpos_viz import rope, xpos
from xpos_viz.curves import CURVES
from xpos_viz.encoding import alibi
from xpos_viz.inputs import Expectation, Random
from xpos_viz.studies.decay import (
    ASSUMPTIONS,
    PARTS,
    READINGS,
    Averaged,
    Chance,
    Reading,
    at,
    landmarks,
    subject,
    table,
    trace,
)

FAR = 19_997  # a prime, so that no lag is on an edge of a part
XPOS: dict[str, Any] = {"base": 1000.0, "gamma": 0.3, "scale_base": 4096.0}


def g(lags, base=10_000.0, gamma=None, scale_base=512.0):
    """The curve by plain cosines."""
    theta = np.array(reference.theta(16, base))
    zeta = np.array(reference.zeta(16, gamma)) if gamma else np.ones(8)
    lags = np.asarray(lags, float)[..., None]
    return (np.cos(lags * theta) * zeta ** (lags / scale_base)).sum(-1)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_what_is_drawn_are_values_of_the_curve_with_its_swings(logarithmic):
    """In each part of the axis the first, last, smallest and largest of all values."""
    drawn = trace(xpos(16, **XPOS), Reading(), FAR, logarithmic=logarithmic)
    lags = np.arange(1 if logarithmic else 0, FAR + 1)
    assert drawn.computed == len(lags)
    assert len(lags) > 3 * len(drawn.lags)
    np.testing.assert_allclose(drawn.values, g(drawn.lags, **XPOS), atol=1e-10)
    edges = np.geomspace(1, FAR, PARTS + 1) if logarithmic else np.linspace(0, FAR, PARTS + 1)
    whole = g(lags, **XPOS)
    for low, high in pairwise([0.0, *edges[1:-1], FAR + 1.0]):
        inner = whole[(lags >= low) & (lags < high)]
        seen = drawn.values[(drawn.lags >= low) & (drawn.lags < high)]
        if len(inner):
            assert math.isclose(inner.min(), seen.min(), abs_tol=1e-10)
            assert math.isclose(inner.max(), seen.max(), abs_tol=1e-10)


def test_a_short_curve_is_drawn_whole():
    drawn = trace(rope(16), Reading(), PARTS, logarithmic=False)
    assert drawn.lags.tolist() == list(range(PARTS + 1))
    assert trace(rope(16), Reading(), PARTS, logarithmic=True).lags[0] == 1


def test_far_lags_are_half_of_those_before_in_each_doubling():
    """All below 2^16, then every second, every fourth … and the last one."""
    drawn = trace(rope(2), Reading("envelope"), 300_001, logarithmic=False)
    assert drawn.computed == 2**16 + 2**15 + 2**15 + math.ceil((300_002 - 2**18) / 8) + 1
    assert drawn.lags[-1] == 300_001


@pytest.mark.parametrize("name", READINGS)
def test_readings_are_those_of_the_core(name):
    drawn = trace(xpos(16), Reading(name), 64, logarithmic=False)
    np.testing.assert_array_equal(drawn.values, CURVES[name](xpos(16), range(65)).numpy())
    assert not drawn.deviation.any()


def test_chance_has_a_mean_and_a_band():
    lags, rho = np.arange(65), 0.5
    drawn = trace(rope(16), Chance(rho), 64, logarithmic=False)
    np.testing.assert_allclose(drawn.values, 2 * rho * g(lags))
    np.testing.assert_allclose(drawn.deviation**2, 2 * (8 + rho**2 * g(2 * lags)))


def test_given_vectors_are_averaged_over_all_their_positions():
    inputs = Random(12, seed=3, keys="independent")
    vectors = inputs.load(4)
    q, k = vectors.q.numpy(), vectors.k.numpy()
    rates = np.array(reference.rope(4))
    turned = [x[:, ::2] + 1j * x[:, 1::2] for x in (q, k)]
    drawn = trace(rope(4), Averaged(inputs), 4096, logarithmic=False)
    assert drawn.lags.tolist() == list(range(12))
    for lag, value, deviation in zip(range(12), drawn.values, drawn.deviation, strict=True):
        pairs = turned[0][lag:] * turned[1][: 12 - lag].conj() * np.exp(rates * lag)
        scores = pairs.sum(1).real
        assert math.isclose(value, scores.mean(), abs_tol=1e-12)
        assert math.isclose(deviation, scores.std(), abs_tol=1e-6)


def test_one_token_has_one_lag_on_either_axis():
    for logarithmic in (False, True):
        drawn = trace(rope(4), Averaged(Expectation(1)), 64, logarithmic=logarithmic)
        assert (drawn.lags.tolist(), drawn.values.tolist()) == ([0], [4])


def test_landmarks_are_where_the_curve_and_its_envelope_pass():
    rope_g, xpos_g = g(range(FAR + 1)), g(range(FAR + 1), **XPOS)
    found = landmarks(rope(16), FAR)
    assert found.negative == np.flatnonzero(rope_g < 0)[0]
    assert found.half == math.inf
    assert math.isclose(found.left, rope_g[-1] / 8)
    found = landmarks(xpos(16, **XPOS), FAR)
    sizes = np.array(reference.zeta(16, 0.3)) ** (np.arange(FAR + 1)[:, None] / 4096)
    assert found.half == np.flatnonzero(sizes.sum(1) >= 4)[-1]
    assert math.isclose(found.left, xpos_g[-1] / 8)
    assert landmarks(rope(16), 1).negative is None


def test_one_value_is_that_of_the_curve():
    assert math.isclose(at(rope(16), Reading(), 77), g(77))
    assert at(alibi(16, slope=0.5), Reading("bias"), 8) == -4


def test_subjects_are_named_and_depend_on_what_they_need():
    made = {name: subject(name, "bound", 0.3, Expectation(9)) for name in ASSUMPTIONS}
    assert made == {
        "ones": Reading("bound"),
        "independent": Chance(0.0),
        "correlated": Chance(0.3),
        "captured": Averaged(Expectation(9)),
    }


def test_the_table_has_a_row_for_each_point():
    traces = [trace(e, Chance(), 16, logarithmic=False) for e in (rope(4), xpos(4))]
    rows = table(traces)
    assert list(rows.columns) == ["encoding", "lag", "value", "deviation"]
    assert len(rows) == 34
    assert rows["deviation"][0] == 2
    assert set(rows["encoding"]) == {repr(rope(4)), repr(xpos(4))}
    assert table([]).empty

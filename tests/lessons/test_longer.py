"""Longer than trained: resolution, blocks, the paper's tables and the cost."""

import cmath
import math
from functools import partial
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.lessons.steps import see
from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.curves import resolution
from xpos_viz.encoding import nope, rope, xpos
from xpos_viz.kernel import attention_scores
from xpos_viz.lessons import STEPS, longer
from xpos_viz.lessons.longer import PAPER, attend


@pytest.mark.parametrize(
    ("divisor", "plain", "fading"),
    [(1.0, 0.41164, 0.420692), (8.0, 1.28383e-4, 1.48365e-4), (32.0, 2.057e-6, 1.819e-6)],
)
def test_resolutions_are_the_known_ones(divisor, plain, fading):
    seen = see("divided", divisor).numbers
    assert seen["rope"] == pytest.approx(plain, rel=2e-4)
    assert seen["xpos"] == pytest.approx(fading, rel=2e-4)


def test_the_divisor_decides_whose_resolution_is_larger():
    gains = {divisor: see("divided", divisor).numbers["gain"] for divisor in (1.0, 8.0, 16.0, 32.0)}
    assert gains[1.0] > 1
    assert gains[8.0] > 1.1
    assert gains[16.0] < 1
    assert gains[32.0] < 0.9


def test_what_is_left_at_a_large_divisor_are_small_steps_which_xpos_smooths():
    """R·(Σa)² is (a_0² − a_N²)/2 plus half of all squared steps of a = e^s."""
    steps = {}
    for name, decay in (("rope", 0.0), ("xpos", 1 / 512)):
        pair = 2 * np.arange(32) / 64
        lags = np.arange(1025)[:, None]
        waves = np.cos(lags * 1e4**-pair) * ((pair + 0.4) / 1.4) ** (lags * decay)
        a = np.exp(waves.sum(1) / 32)
        steps[name] = ((a[1:] - a[:-1]) ** 2).sum() / 2
        whole = (a[0] ** 2 - a[-1] ** 2) / 2 + steps[name]
        assert see("divided", 32.0).numbers[name] == pytest.approx(whole / a[:-1].sum() ** 2)
    assert steps["rope"] > 3 * steps["xpos"]


@pytest.mark.parametrize("size", STEPS["blocks"].control.values)
def test_cells_are_those_of_the_own_and_the_last_block(size):
    lags = see("blocks", size).shown.values
    for m in range(16):
        for n in range(16):
            seen = n <= m and m // size - n // size <= 1
            assert lags[m, n] == (m - n if seen else pytest.approx(np.nan, nan_ok=True))


def test_half_of_the_training_length_is_the_largest_block_without_a_new_distance():
    new = {size: see("blocks", size).numbers["new"] for size in STEPS["blocks"].control.values}
    assert {size for size, count in new.items() if count == 0} == {2, 4}
    assert [see("blocks", size).numbers["far"] for size in (2, 4, 8, 16)] == [3, 7, 15, 15]


def test_no_curve_has_a_resolution_above_one_but_a_table_has():
    curves = torch.randn(100, 64, generator=torch.Generator().manual_seed(0)) * 30
    assert float(resolution(curves).max()) <= 1
    seen = see("tables", "resolved").numbers
    assert seen["other"] == 1
    assert seen["one"] > seen["other"]


def test_two_tables_disagree_on_blocks():
    """Table 2 has for RoPE what table 5 has without blocks, and for LeX what it has with them."""
    assert PAPER["perplexity"]["rope"][-2:] == PAPER["parts"]["rope"]
    assert PAPER["perplexity"]["lex"][-2:] == PAPER["parts"]["lex"]
    assert see("tables", "parts").numbers["one"] == 294.45
    assert see("tables", "parts").numbers["other"] == 25.65


def test_perplexity_of_rope_is_more_than_ten_times_as_much_and_that_of_lex_falls():
    seen = see("tables", "perplexity").numbers
    assert (seen["one"], seen["other"]) == (25.52, 294.45)
    assert seen["other"] > 10 * seen["one"]
    lex = PAPER["perplexity"]["lex"]
    assert list(lex) == sorted(lex, reverse=True)


def turned(x, sign, xi, theta, n):
    """A pair of equation 6: both signs of its exponent, or one, are those of the argument."""
    return x * cmath.exp(complex(sign.real * xi, sign.imag * theta) * n)


def printed(k, xi, theta, n):
    """The first pair of a key in equation 10, whose second row has a minus as its first one has."""
    cos, sin = (turn(n * theta) * math.exp(-n * xi) for turn in (math.cos, math.sin))
    return complex(k.real * cos - k.imag * sin, k.imag * cos - k.real * sin)


def test_with_the_signs_of_equations_6_and_10_a_score_depends_on_more_than_the_difference():
    q, k, pair = 0.8 + 0.6j, 0.3 - 1.0j, (-0.1, 1.0)
    keys = {
        "right": partial(turned, k, -1 + 1j, *pair),
        "equation 6": partial(turned, k, -1 - 1j, *pair),
        "equation 10": partial(printed, k, *pair),
    }
    moved = {}
    for name, key in keys.items():
        near, far = (
            (turned(q, 1 + 1j, *pair, n + 2) * key(n).conjugate()).real for n in (1.0, 4.0)
        )
        moved[name] = abs(far - near)
    assert moved["right"] < 1e-12
    assert min(moved["equation 6"], moved["equation 10"]) > 0.05


@pytest.mark.parametrize("table", PAPER)
def test_tables_have_a_number_for_each_length(table):
    shown = see("tables", table).shown
    assert {len(line) for line in shown.lines.values()} == {len(shown.x)}
    assert longer.rows(table).shape == (len(PAPER[table]), len(shown.x))


@pytest.mark.parametrize(
    ("name", "encoding"), [("plain", nope(64)), ("rope", rope(64)), ("xpos", xpos(64))]
)
def test_what_is_timed_is_attention(name, encoding):
    q, k, v = longer.VECTORS[..., :64, :].double()
    weights = attention_weights(attention_logits(attention_scores(q, k, encoding), encoding))
    assert torch.allclose(attend(name, 64).double(), weights @ v, atol=1e-5)


def test_times_are_compared_by_the_shortest_of_each(monkeypatch):
    rounds = iter([{"plain": 0.02, "rope": 0.02, "xpos": 0.021}])
    later = {"plain": 0.01, "rope": 0.03, "xpos": 0.04}
    times = {}

    def took(name, tokens):
        assert tokens == 64
        if name == "plain":
            times.update(next(rounds, later))
        return times[name]

    monkeypatch.setattr(longer, "timed", took)
    monkeypatch.setattr(longer, "_BUDGET", 0.01)
    longer.measured.cache_clear()
    seen = see("cost", 64).numbers
    longer.measured.cache_clear()
    assert (seen["plain"], seen["rope"], seen["xpos"]) == (10.0, 20.0, 21.0)
    assert seen["over_plain"] == pytest.approx(2.1)
    assert seen["over_rope"] == pytest.approx(1.05)


def test_a_measurement_leaves_the_cores_to_others():
    cores = torch.get_num_threads()
    assert longer.timed("rope", 64) > 0
    assert torch.get_num_threads() == cores


def test_picture_and_sentence_of_a_minute_are_of_one_measurement(monkeypatch):
    clock = SimpleNamespace(monotonic=lambda: 60.0, perf_counter=perf_counter)
    monkeypatch.setattr(longer, "time", clock)
    assert see("cost", 64).numbers == see("cost", 64).numbers
    assert min(see("cost", 64).numbers[name] for name in ("plain", "rope", "xpos")) > 0

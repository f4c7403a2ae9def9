"""What it loses: the same bytes at every length, and errors by texts."""

import math

import numpy as np
import pytest
import torch

from tests.cases import normal
from xpos_viz import rope, xpos
from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.evaluation import Mean, paired_excess, reading, windowed, windows
from xpos_viz.lab.model import Setting, Transformer

TINY = Setting("tiny", length=4, layers=2, width=32, batch=2, steps=3, rate=1e-3)
HELD_OUT = torch.randint(256, (1000,), generator=torch.Generator().manual_seed(0)).byte()
CORPUS = Corpus("noise", torch.empty(0).byte(), HELD_OUT)


def test_windows_are_held_out_bytes_and_spread_over_them():
    texts = windows(CORPUS, TINY, most=5)
    assert texts.shape == (5, 65)
    assert texts[0].tolist() == HELD_OUT[:65].tolist()
    assert texts[-1].tolist() == HELD_OUT[-65:].tolist()
    assert len(windows(CORPUS, TINY)) == 1000 // 65
    end = 20_000_001
    long = Corpus("long", CORPUS.train, torch.arange(end, dtype=torch.int64).to(torch.uint8))
    assert windows(long, TINY, most=3)[-1, -1] == (end - 1) % 256
    with pytest.raises(ValueError, match=r"at least 65 bytes held out, got 64"):
        windows(Corpus("short", CORPUS.train, HELD_OUT[:64]), TINY)


@pytest.mark.parametrize("mask", ["causal", "blockwise:2", "sliding:4"])
@pytest.mark.parametrize("length", [4, 16, 64])
def test_a_byte_costs_what_its_piece_says(length, mask):
    model, texts = Transformer(TINY, xpos(16, scale_base=8.0), seed=0), windows(CORPUS, TINY)
    costs = reading(model, texts, length, mask)
    assert costs.shape == (15, 64)
    for text, place in ((0, 0), (3, 17), (14, 63)):
        start = place - place % length
        piece = texts[text : text + 1, start : place + 1]
        odds = model(piece, mask)[0, -1].detach().double().softmax(-1)
        expected = -math.log2(odds[texts[text, place + 1]])
        assert costs[text, place] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("length", [4, 5])
@pytest.mark.parametrize("size", [2, 4, 5, 9, 64])
def test_a_byte_in_a_window_costs_what_a_text_of_the_window_says(length, size):
    model, texts = Transformer(TINY, xpos(16, scale_base=8.0), seed=0), windows(CORPUS, TINY)
    costs, step = windowed(model, texts[:, : size + 1], length), length // 2
    assert costs.shape == (15, size)
    for text, place in ((0, 0), (3, size // 2), (14, size - 1)):
        start = max(0, -(-(place + 1 - length) // step)) * step
        alone = texts[text : text + 1, start : place + 2]
        expected = reading(model, alone, alone.shape[-1] - 1)[0, -1]
        assert costs[text, place] == pytest.approx(float(expected), abs=1e-5)


def test_a_window_of_one_byte_is_refused():
    model, texts = Transformer(TINY, rope(16), seed=0), windows(CORPUS, TINY)
    with pytest.raises(ValueError) as error:
        windowed(model, texts, 1)
    assert str(error.value) == (
        "a window must have at least 2 bytes, got 1; use the training length."
    )


def test_nothing_from_before_a_window_is_known_in_it():
    model, texts = Transformer(TINY, rope(16), seed=0), windows(CORPUS, TINY)
    changed = texts.clone()
    changed[:, :32] = 255 - texts[:, :32]
    assert torch.equal(windowed(model, texts, 4)[:, 34:], windowed(model, changed, 4)[:, 34:])


def test_lengths_that_do_not_fit_are_refused():
    model, texts = Transformer(TINY, rope(16), seed=0), windows(CORPUS, TINY)
    for length in (0, 3, 128):
        with pytest.raises(ValueError) as error:
            reading(model, texts, length)
        assert str(error.value) == f"length must divide 64, got {length}; use a power of two."


def test_a_mean_has_the_error_of_its_texts():
    values = normal(7, 20)
    mean = Mean.of(values)
    texts = values.numpy().mean(1)
    assert mean.value == pytest.approx(values.numpy().mean())
    assert mean.error == pytest.approx(np.std(texts, ddof=1) / np.sqrt(7))
    assert math.isnan(Mean.of(values[:1]).error)


def test_the_excess_is_of_the_bytes_beyond_alone():
    near = normal(6, 12)
    whole = near.clone()
    whole[:, :4] += 100
    whole[:, 4:] += torch.arange(6.0)[:, None]
    excess = paired_excess(whole, near, beyond=4)
    assert excess.value == pytest.approx(2.5)
    assert excess.error == pytest.approx(np.std(range(6), ddof=1) / np.sqrt(6))

"""A text that trained models read: what its bytes cost, and where they lose its thread."""

import math

import numpy as np
import pytest
import torch

from tests.readings import HOSTILE, QUICK, untrained
from xpos_viz.studies.lab import Lab
from xpos_viz.studies.reading import (
    EDGE,
    WINDOW,
    Costs,
    Read,
    costs,
    costs_table,
    queries_and_keys,
    running,
    words_of,
)

__all__ = ["untrained"]
BOTH = Lab("quick", ("rope", "xpos_half"))
TEXT = "The tide, é 潮, comes in " * 4


def made(excess, length=4):
    """What a model pays that has such an excess."""
    near = np.linspace(1.0, 2.0, len(excess))
    return Costs("rope", near + excess, near, length)


@pytest.mark.parametrize("blocks", [False, True])
def test_a_byte_costs_what_the_model_says_of_it(untrained, blocks):
    """Of its own prefix, which begins with a line break."""
    lab = Lab("quick", BOTH.models, blocks)
    found, content = costs(Read(lab, TEXT)), TEXT.encode()
    assert [each.name for each in found] == ["rope", "xpos_half"]
    for each in found:
        assert len(each.whole) == len(content)
        mask, seen = "blockwise:32" if blocks else "causal", b"\n" + content
        for place in (0, 1, 63, 64, 90, len(content) - 1):
            window = max(0, 32 * (place // 32 - 1))
            for bits, how, start in ((each.whole, mask, 0), (each.near, "causal", window)):
                prefix = torch.tensor([[*seen[start : place + 1]]])
                logits = untrained("quick", each.name)(prefix, how)[0, -1].detach()
                expected = -math.log2(logits.double().softmax(-1)[content[place]])
                assert bits[place] == pytest.approx(expected, rel=1e-3, abs=1e-4)
        assert not each.whole.flags.writeable


@pytest.mark.usefixtures("untrained")
def test_within_the_training_length_nothing_is_lost():
    for each in costs(Read(BOTH, TEXT)):
        assert np.abs(each.excess[:64]).max() < 1e-4
        assert np.abs(each.excess[64:]).max() > 1e-2
        assert each.mean == pytest.approx(np.mean([*each.excess][64:]))


@pytest.mark.usefixtures("untrained")
def test_whoever_waits_is_told_and_may_end_it():
    shares = []
    costs(Read(BOTH, TEXT), shares.append)
    assert shares == [0, 0.5]

    def ended(share):
        raise InterruptedError(share)

    with pytest.raises(InterruptedError):
        costs(Read(BOTH, TEXT), ended)


@pytest.mark.usefixtures("untrained")
def test_a_text_is_read_as_far_as_models_read():
    assert Read(BOTH).text == "def tide(moon):\n    return moon\n" * 32
    assert (Read(BOTH).size, Read(BOTH).beyond) == (QUICK.longest, 960)
    long = Read(BOTH, "潮" * 400)
    assert (long.text, long.size) == ("潮" * 341, 1023)
    short = Read(BOTH, "é")
    assert (short.text, short.size, short.beyond) == ("é", 2, 0)
    assert [len(each.whole) for each in costs(short)] == [2, 2]
    assert costs(short)[0].lost is None


def lost(excess):
    """The same in loops."""
    for place in range(1, len(excess) - WINDOW + 1):
        before = excess[max(0, place - WINDOW) : place]
        if len(before) >= WINDOW // 4 and min(np.mean(before), np.mean(excess[place:])) > EDGE:
            return place
    return None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [0.4, 1.5])
def test_the_thread_is_lost_where_what_is_near_and_all_that_follows_is_lost(most, seed):
    rise = np.linspace(0, most, 400) + np.random.default_rng(seed).normal(0, 0.5, 400)
    costs = made(rise)
    assert costs.lost == lost(costs.excess)
    assert (costs.lost is None) == (most == 0.4)


def test_what_passes_is_not_lost():
    """Not after a hard passage that ends, nor in a text of which too little follows."""
    assert made(np.repeat([0.0, 3.0, 0.0], [100, 100, 600])).lost is None
    assert made(np.repeat([0.0, 3.0], [100, WINDOW])).lost is None
    assert made(np.repeat([0.0, 3.0], [100, 400])).lost == 111  # of 64, 11 × 3 are over 0.5
    assert made(np.ones(3)).lost is None


def test_a_mean_is_of_the_last_bytes():
    means = running(np.arange(100.0))
    assert np.isnan(means[:15]).all()
    assert means[[15, 63, 64, 99]].tolist() == [7.5, 31.5, 32.5, 67.5]
    assert running(np.array([4.0, 2.0])).tolist()[1] == 3.0


def test_the_table_has_a_row_for_each_byte():
    table = costs_table([made(np.array([0.0, 0.5]))])
    assert table.to_dict("list") == {
        "encoding": ["rope", "rope"],
        "place": [1, 2],
        "bits": [1.0, 2.5],
        "near": [1.0, 2.0],
        "excess": [0.0, 0.5],
    }


@pytest.mark.parametrize("text", [*HOSTILE, TEXT, ""])
def test_words_are_all_of_a_text(text):
    found = list(words_of(text))
    assert "".join(piece for piece, _ in found) == text
    content, stop = text.encode(), 0
    for piece, part in found:
        assert (part.start, content[part]) == (stop, piece.encode())
        assert len(piece.strip()) <= 12
        stop = part.stop
    assert stop == len(content)


def test_queries_and_keys_are_those_of_what_is_read(untrained):
    read = Read(BOTH, "é" * 600)
    capture = queries_and_keys(read, "xpos_half")
    heard = untrained("quick", "xpos_half").listen(torch.tensor([[*read.text.encode()]]))
    assert torch.equal(capture.k[1], heard[1][1][0])
    assert (capture.model, capture.text) == ("lab-quick-xpos_half", "é" * 512)
    assert capture.encoding(0)["scale_base"] == 32

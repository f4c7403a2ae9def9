"""Queries and keys that were rotated already: how well that is guessed, and that it is undone."""

from dataclasses import replace
from itertools import product

import pytest
import torch

from xpos_viz import apply_encoding, rope, xpos
from xpos_viz.inputs import Capture
from xpos_viz.inputs.rotation import BASES, looks_rotated
from xpos_viz.inputs.sample import SAMPLES, sample_capture

ROTATED = (500.0, 1e4, 1e5, 1e6)

UNDONE = 1e-12
"""Absolute, entries of a few units turned there and back in float64."""


def rotated(capture, encoding):
    """A capture whose queries and keys an encoding was applied to, in its dtype."""
    q, k = apply_encoding(
        capture.q.double(),
        capture.k.double(),
        encoding,
        query_positions=capture.query_positions,
        key_positions=capture.key_positions,
        layout=capture.layout,
    )
    return replace(capture, q=q.to(capture.q), k=k.to(capture.k))


def part(capture, layer, heads):
    """Some heads of a layer."""
    group = capture.heads // capture.key_heads
    keys = sorted({head // group for head in heads})
    return Capture(capture.q[[layer]][:, heads], capture.k[[layer]][:, keys])


def cases(name, bases):
    """A sample as it is, and rotated with some bases."""
    capture = sample_capture(name)
    yield capture, False
    for base in bases:
        yield rotated(capture, rope(64, base=base)), True


def wrong_guesses(size, bases):
    """(wrong, all) guesses of the samples, rotated or not, cut into parts of a size."""
    guesses = [
        bool(looks_rotated(each)) == truth
        for name in SAMPLES
        for capture, truth in cases(name, bases)
        for each in size(capture)
    ]
    return guesses.count(False), len(guesses)


def whole(capture):
    """All of it."""
    return [capture]


def layers(capture):
    """Each layer on its own."""
    return [part(capture, place, range(9)) for place in range(len(capture.layers))]


def heads(capture):
    """Each head of each layer on its own."""
    return [
        part(capture, *at) for at in product(range(len(capture.layers)), [[h] for h in range(9)])
    ]


@pytest.mark.parametrize(
    ("size", "bases", "count"),
    [(whole, ROTATED, 35), (layers, ROTATED, 120), (heads, ROTATED[-1:], 432)],
)
def test_the_error_rate_of_the_guess(size, bases, count):
    """These are the numbers in the docstring."""
    assert wrong_guesses(size, bases) == (0, count)


@pytest.mark.parametrize(("name", "base"), list(product(SAMPLES, ROTATED)))
def test_base_and_layout_that_were_used_are_found(name, base):
    """Whatever layout is said."""
    capture = rotated(sample_capture(name), rope(64, base=base))
    found = looks_rotated(replace(capture, layout="interleaved"))
    assert found.base == min(BASES, key=lambda other: abs(other / base - 1))
    assert found.layout == "half"
    assert found
    assert found == looks_rotated(capture)


@pytest.mark.parametrize("tokens", [8, 28, 1000])
def test_noise_gives_no_evidence(tokens):
    generator = torch.Generator().manual_seed(tokens)
    q, k = torch.randn(2, 4, 9, tokens, 64, generator=generator)
    assert abs(looks_rotated(Capture(q, k)).evidence) < 0.01


def test_zeros_give_no_evidence():
    zeros = torch.zeros(1, 1, 4, 8)
    assert looks_rotated(Capture(zeros, zeros)).evidence == 0


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("encoding", [rope(64, base=1e5), xpos(64, scale_base=64.0)], ids=str)
def test_what_was_applied_is_undone(layout, encoding):
    capture = sample_capture("pronoun")
    plain = replace(
        capture,
        q=capture.q[..., -9:, :].double(),
        k=capture.k.double(),
        layout=layout,
        query_positions=torch.arange(9) + 100.5,
        key_positions=torch.arange(28) - 3,
    )
    turned = rotated(plain, encoding)
    assert (turned.q - plain.q).abs().max() > 1
    back = turned.unrotated(encoding)
    assert back.encodings == (encoding,) * 5
    assert (back.q - plain.q).abs().max() < UNDONE
    assert (back.k - plain.k).abs().max() < UNDONE


def test_each_layer_has_its_own_encoding_undone():
    own = (rope(64), xpos(64))
    q, k = torch.randn(2, 2, 3, 5, 64, generator=torch.Generator().manual_seed(0)).double()
    plain = Capture(q, k, encodings=own)
    turned = [rotated(plain, each) for each in own]
    q, k = (torch.stack([x[0], y[1]]) for x, y in zip(*((t.q, t.k) for t in turned), strict=True))
    back = replace(plain, q=q, k=k).unrotated()
    assert (back.q - plain.q).abs().max() < UNDONE
    assert (back.k - plain.k).abs().max() < UNDONE


def test_half_precision_is_undone_in_full():
    capture = sample_capture("pronoun")
    back = rotated(capture, rope(64)).unrotated(rope(64))
    assert back.q.dtype == torch.float32
    step = torch.finfo(torch.float16).eps * capture.q.float().abs().amax()
    assert (back.q - capture.q.float()).abs().max() < step


def test_what_cannot_be_undone():
    capture = Capture(torch.ones(1, 4, 3, 8), torch.ones(1, 2, 3, 8))
    for encoding, text in (
        (
            None,
            "the model's own encoding of layer 0 is not known; use an encoding, such as rope(8).",
        ),
        (
            rope(4),
            (
                "encodings must fit 4 heads of head_dim 8, got rope(4, base=10000.0); "
                "use rope(8) or the like, or None."
            ),
        ),
        (
            rope(8, base=(1e4, 1e4, 1e5, 1e5)),
            (
                "keys of 2 heads cannot be turned back for 4, got "
                "rope(8, base=(10000.0, 10000.0, 100000.0, 100000.0)); "
                "use one number for each parameter."
            ),
        ),
    ):
        with pytest.raises(ValueError) as caught:
            capture.unrotated(encoding)
        assert str(caught.value) == text

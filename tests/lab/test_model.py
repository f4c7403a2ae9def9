"""What reads: attention as the formula says, for every encoding and mask."""

import math

import pytest
import torch

from tests import reference
from tests.cases import normal
from xpos_viz import Encoding, nope, rope, xpos
from xpos_viz.encoding import REGISTRY, alibi, alibi_slopes
from xpos_viz.lab import model
from xpos_viz.lab.model import SETTINGS, Attention, Setting, Transformer, contenders

TINY = Setting("tiny", length=4, layers=2, width=32, batch=2, steps=3, rate=1e-3)
TURNED = [name for name in REGISTRY if not Encoding(name, (("head_dim", 16),)).bias]


def near(values, expected):
    """Whether float32 is near to loops in float64."""
    return torch.allclose(values, expected, rtol=1e-4, atol=1e-5)


MASKS = {
    "causal": lambda m, n: n <= m,
    "sliding:3": lambda m, n: m - 3 < n <= m,
    "blockwise:2": lambda m, n: 2 * (m // 2 - 1) <= n <= m,
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", [*TURNED, "alibi"])
def test_attention_is_that_of_loops_in_float64(name, mask, monkeypatch):
    monkeypatch.setattr(model, "_ROWS", 4)  # so that nine queries come in three parts
    slopes = alibi_slopes(2)
    encoding = alibi(16, slope=slopes) if name == "alibi" else Encoding(name, (("head_dim", 16),))
    rates = reference.nope(16) if name == "alibi" else getattr(reference, name)(16)
    heat = encoding.temperature
    layer, x = Attention(32, encoding, middle=3.5), normal(1, 9, 32, dtype=torch.float32)
    q, k, v = (part[0].detach().double().numpy() for part in layer.vectors(x))
    read = torch.empty(9, 2, 16, dtype=torch.float64)
    for head in range(2):
        for m in range(9):
            seen = [MASKS[mask](m, n) for n in range(9)]
            logits = [
                reference.score(q[head, m], k[head, n], m - n, rates) * heat / math.sqrt(16)
                - (slopes[head] * (m - n) if name == "alibi" else 0.0)
                for n in range(9)
            ]
            weights = reference.softmax(logits, seen)
            read[m, head] = torch.tensor(weights, dtype=torch.float64) @ torch.tensor(v[head])
    expected = read.flatten(1) @ layer.onward.weight.double().T
    assert near(layer(x, layer.sights(9, mask))[0].double(), expected)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_contenders_are_alike_but_for_their_encoding(setting):
    models = {
        name: Transformer(setting, encoding, seed=3)
        for name, encoding in contenders(setting).items()
    }
    first, *others = (model.state_dict() for model in models.values())
    for other in others:
        assert first.keys() == other.keys()
        assert all(torch.equal(first[name], other[name]) for name in first)
    another = Transformer(setting, rope(32), seed=4).state_dict()
    assert not torch.equal(first["embedding.weight"], another["embedding.weight"])
    assert len({*contenders(setting).values()}) == 5


@pytest.mark.parametrize(("name", "millions"), [("quick", 0.12), ("main", 0.82)])
def test_models_are_as_large_as_they_say(name, millions):
    made = Transformer(SETTINGS[name], nope(32), seed=0)
    count = sum(weight.numel() for weight in made.parameters())
    assert count / 1e6 == pytest.approx(millions, abs=0.005)


@pytest.mark.parametrize("encoding", [rope(16), xpos(16, scale_base=8.0)], ids=lambda e: e.name)
def test_a_byte_is_predicted_from_those_before_it(encoding):
    reader = Transformer(TINY, encoding, seed=0)
    text = torch.randint(256, (1, 64), generator=torch.Generator().manual_seed(0))
    before = reader(text)
    text[0, 40] += 1
    after = reader(text % 256)
    assert torch.equal(before[:, :40], after[:, :40])
    assert not near(before[:, 41:], after[:, 41:])


@pytest.mark.parametrize("mask", ["causal", "blockwise:64", "sliding:128"])
def test_masks_of_long_texts_take_little_memory(mask):
    setting = SETTINGS["main"]
    for encoding in contenders(setting).values():
        sights = Attention(setting.width, encoding, 0.0).sights(setting.longest, mask)
        cells = sum(0 if some.added is None else some.added.numel() for some in sights)
        assert 4 * cells <= 2**26  # four heads of ALiBi
        if mask != "causal":
            assert cells <= 4 * setting.longest * (256 + 128)


def test_a_causal_mask_alone_needs_nothing():
    (whole,) = Attention(32, xpos(16), 0.0).sights(300, "causal")
    assert (whole.queries, whole.keys, whole.added) == (slice(None), slice(None), None)
    assert len(Attention(32, alibi(16), 0.0).sights(300, "causal")) == 2


def test_a_query_meets_only_keys_that_it_may_see():
    first, second = Attention(32, rope(16), 0.0).sights(300, "sliding:10")
    assert (first.queries, first.keys) == (slice(0, 256), slice(0, 256))
    assert (second.queries, second.keys) == (slice(256, 300), slice(247, 300))
    assert second.added is not None
    assert second.added[0, 0].isfinite().sum(-1).tolist() == [10] * 44


def test_the_longest_text_is_read_without_overflow():
    setting = SETTINGS["main"]
    for encoding in contenders(setting).values():
        reader = Transformer(setting, encoding, seed=0)
        text = torch.randint(256, (1, setting.longest), generator=torch.Generator().manual_seed(0))
        for mask in ("causal", f"blockwise:{setting.length // 2}"):
            assert reader(text, mask).isfinite().all()


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        (rope(24), "a width of 32 must be a multiple of head_dim, got 24; use 32."),
        (
            xpos(16, gamma=(0.2, 0.4, 0.8)),
            (
                "an encoding must have values for 2 heads, got 3; use another head_dim, or one "
                "value for all heads."
            ),
        ),
        (
            xpos(16, scale_base=1.0),
            (
                "an encoding must hold 64 tokens in float32, got xpos(16, base=10000.0, gamma=0.4, "
                "scale_base=1.0), which holds 56; use a larger scale_base."
            ),
        ),
    ],
)
def test_an_encoding_that_does_not_fit_is_refused(encoding, words):
    with pytest.raises(ValueError) as error:
        Transformer(TINY, encoding, seed=0)
    assert str(error.value) == words

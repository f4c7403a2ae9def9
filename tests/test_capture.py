"""What a capture holds, what it refuses, and that its weights are those of the model."""

import itertools
import math
from dataclasses import fields, replace

import pytest
import torch
from torch import Tensor

from tests import reference
from xpos_viz import nope, rope, xpos
from xpos_viz.inputs import Capture
from xpos_viz.inputs.checks import check_vectors
from xpos_viz.inputs.labels import gap, label, pieces
from xpos_viz.inputs.sample import SAMPLES, read_sample, sample_capture

OWN = 2e-3
"""Absolute, weights of the model itself: its q and k were rounded to float16 when captured."""


def random(
    layers=2, heads=4, key_heads=2, queries=5, keys=5, head_dim=8, dtype=torch.float32
) -> tuple[Tensor, Tensor]:
    """Queries and keys of some shape."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((layers, heads, queries, head_dim), (layers, key_heads, keys, head_dim))
    q, k = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    return q, k


def message(function, *args, **words):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **words)
    return str(caught.value)


def test_what_is_left_out_has_its_usual_value():
    capture = Capture(*random(queries=2))
    assert capture.layers == (0, 1)
    assert capture.layout == "half"
    assert capture.tokens == capture.labels == capture.gaps == ()
    assert capture.query_positions.tolist() == [3, 4]
    assert capture.key_positions.tolist() == [0, 1, 2, 3, 4]
    assert capture.encodings == (None, None)
    assert capture.masks == ("causal", "causal")
    assert capture.scales == (8**-0.5, 8**-0.5)
    assert capture.softcap == 0
    assert (capture.heads, capture.key_heads, capture.head_dim) == (4, 2, 8)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes_are_kept(dtype):
    q, k = random(dtype=dtype)
    capture = Capture(q, k)
    assert capture.q.dtype == capture.k.dtype == dtype
    exact, _ = capture.layer_vectors(1)
    assert exact.dtype == torch.promote_types(dtype, torch.float32)
    assert torch.equal(exact.to(dtype), q[1])
    assert capture.weights(1, rope(8)).dtype == exact.dtype


@pytest.mark.parametrize("name", SAMPLES)
def test_weights_of_the_samples_are_those_of_their_model(name):
    capture, own = sample_capture(name), torch.as_tensor(read_sample(name)["weights_last4"].copy())
    for place, layer in enumerate(capture.layers):
        weights = capture.weights(layer)[:, -4:]
        assert (weights - own[place]).abs().max() < OWN


def test_weights_have_the_mask_factor_and_cap_of_their_layer():
    q, k = random(dtype=torch.float64)
    capture = Capture(q, k, masks=("causal", "sliding:2"), scales=(0.5, 2.0), softcap=3.0)
    weights, rates = capture.weights(1, rope(8, base=100.0)), reference.rope(8, base=100.0)
    for head, m in itertools.product(range(4), range(5)):
        scores = [
            reference.score(q[1, head, m].tolist(), key.tolist(), m - n, rates, "half")
            for n, key in enumerate(k[1, head // 2])
        ]
        logits = [3.0 * math.tanh(score * 2.0 / 3.0) for score in scores]
        row = reference.softmax(logits, [m - 2 < n <= m for n in range(5)])
        assert weights[head, m].tolist() == pytest.approx(row, abs=1e-12)


def test_a_head_reads_the_keys_of_its_group():
    q, k = random()
    vectors = Capture(q, k, layers=(3, 7)).vectors(7, 2)
    assert torch.equal(vectors.q.float(), q[1, 2])
    assert torch.equal(vectors.k.float(), k[1, 1])
    assert vectors.layout == "half"


# Its hash


def test_equal_captures_have_equal_hashes():
    assert Capture(*random()).hash == Capture(*random()).hash
    assert len(Capture(*random()).hash) == 64


OTHERS = {
    "q": random()[0] + 1,
    "k": random()[1] + 1,
    "layers": (0, 2),
    "layout": "interleaved",
    "tokens": ("a", "b", "c", "d", "f"),
    "query_positions": torch.arange(1, 6),
    "key_positions": torch.arange(1, 6),
    "encodings": (rope(8), nope(8)),
    "masks": ("none",),
    "scales": (1.0, 2.0),
    "softcap": 30.0,
    "model": "other",
    "text": "other",
}


def test_each_field_is_in_the_hash():
    assert [entry.name for entry in fields(Capture)] == list(OTHERS)
    capture = Capture(*random(), tokens=("a", "b", "c", "d", "e"))
    hashes = [replace(capture, **{name: value}).hash for name, value in OTHERS.items()]
    assert len({capture.hash, *hashes}) == 1 + len(OTHERS)


# Labels


def test_labels_hold_no_more_than_can_be_shown():
    assert label("<script>\x00\x07\u202e") == "<script>"
    assert label("x" * 50) == "x" * 39 + "…"
    assert label(" \n") == "␣⏎"
    assert gap("\n  x y") == "\n  "


def test_pieces_that_follow_each_other_are_no_shares():
    assert pieces("aa", [(0, 1), (1, 2)]) == ("a", "a")
    assert pieces("é", [(0, 1), (0, 1)]) == ("é ½", "é 2/2")
    assert pieces("é", [(0, 1)] * 4)[2] == "é 3/4"


# What is refused


@pytest.mark.parametrize(
    ("q", "k", "text"),
    [
        (
            [1.0],
            torch.ones(1, 1, 1, 2),
            "q must be a torch tensor, got list; use torch.as_tensor(q).",
        ),
        (
            torch.ones(1, 1, 1, 2).int(),
            torch.ones(1, 1, 1, 2),
            "q must be one of float16, bfloat16, float32, float64, got torch.int32; use q.float().",
        ),
        (
            torch.ones(1, 1, 2),
            torch.ones(1, 1, 1, 2),
            (
                "q must have the shape (layers, heads, queries, head_dim), got (1, 1, 2); "
                "use 1 for a dimension that is not there."
            ),
        ),
        (
            torch.ones(1, 1, 1, 2),
            torch.ones(1, 1, 0, 2),
            (
                "k must have the shape (layers, heads, keys, head_dim), all at least 1, "
                "got (1, 1, 0, 2); use keys and queries of some tokens."
            ),
        ),
        (
            torch.ones(1, 1, 1, 3),
            torch.ones(1, 1, 1, 3),
            (
                "head_dim must be an even integer ≥ 2, got 3 in q of shape (1, 1, 1, 3); "
                "use (layers, heads, queries, head_dim)."
            ),
        ),
        (
            torch.tensor([[[[1.0, torch.nan], [torch.inf, 0.0]]]]),
            torch.ones(1, 1, 1, 2),
            (
                "q must be finite, got 2 entries of 4 that are NaN or infinite; "
                "use a capture in float32."
            ),
        ),
        (
            torch.full((1, 1, 1, 2), 1e15, dtype=torch.float64),
            torch.tensor([[[[1.0, -2e15]]]], dtype=torch.float64),
            "k must lie within ±1e+15, got 2e+15; use k / k.abs().max().",
        ),
        (
            torch.ones(1, 1, 1, 2),
            torch.ones(1, 1, 1, 2).half(),
            "q and k must share a dtype, got torch.float32 and torch.float16; use k.to(q).",
        ),
        (
            torch.ones(2, 1, 1, 2),
            torch.ones(1, 1, 1, 2),
            (
                "q and k must have the same layers and head_dim, got (2, 1, 1, 2) and "
                "(1, 1, 1, 2); use (layers, heads, tokens, head_dim) for both."
            ),
        ),
        (
            torch.ones(1, 3, 1, 2),
            torch.ones(1, 2, 1, 2),
            (
                "the heads of q must be a multiple of the heads of k, got 3 and 2; "
                "use (layers, heads, tokens, head_dim) for both."
            ),
        ),
    ],
    ids=str,
)
def test_vectors_that_do_not_fit(q, k, text):
    assert message(check_vectors, q, k) == message(Capture, q, k) == text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            {"layers": (0,)},
            (
                "layers must be 2 whole numbers ≥ 0, ascending, got (0,); "
                "use the place of each layer in its model."
            ),
        ),
        (
            {"layers": (5, 3)},
            (
                "layers must be 2 whole numbers ≥ 0, ascending, got (5, 3); "
                "use the place of each layer in its model."
            ),
        ),
        ({"layout": "full"}, "unknown layout 'full'; use one of: interleaved, half."),
        (
            {"tokens": ("a", "b")},
            (
                "tokens must be as many as there are keys, 5, got 2; "
                "use one piece of text for each key, or none."
            ),
        ),
        (
            {"tokens": ("a", "b", "c", "d", 5)},
            "tokens must be Unicode text, got 5; use str.",
        ),
        ({"text": "\ud800"}, r"text must be Unicode text, got '\ud800'; use str."),
        ({"model": b"a"}, "model must be Unicode text, got b'a'; use str."),
        (
            {"query_positions": torch.arange(4)},
            (
                "query_positions must have the shape (5,) or (batch, 5), got (4,); "
                "use one position per query."
            ),
        ),
        (
            {"query_positions": torch.zeros(1, 5)},
            "query_positions must be one number for each token, got the shape (1, 5); use one row.",
        ),
        (
            {"key_positions": torch.tensor([torch.nan] * 5)},
            (
                "key_positions must be finite numbers of tokens within ±2^53, got "
                "tensor([nan, nan, nan, nan, nan]); use whole or real numbers."
            ),
        ),
        (
            {"encodings": (xpos(4),)},
            (
                "encodings must fit 4 heads of head_dim 8, got xpos(4, base=10000.0, gamma=0.4, "
                "scale_base=512.0); use rope(8) or the like, or None."
            ),
        ),
        (
            {"encodings": ("rope",)},
            (
                "encodings must fit 4 heads of head_dim 8, got 'rope'; "
                "use rope(8) or the like, or None."
            ),
        ),
        (
            {"masks": ("causal",) * 3},
            "masks must hold one value for each of 2 layers, or one for all, got 3; use one.",
        ),
        (
            {"masks": ("sliding",)},
            (
                "unknown mask 'sliding'; use one of: causal, none, sliding:size, blockwise:size "
                "(size ≥ 1 token), or a bool tensor."
            ),
        ),
        *(
            (
                {name: value},
                f"{name} must be a tuple, got {value!r}; use brackets, an entry for each.",
            )
            for name, value in {
                "layers": "01",
                "tokens": "to be",
                "encodings": rope(8),
                "masks": "causal",
                "scales": 0.5,
            }.items()
        ),
        ({"scales": (0.0,)}, "scales must be finite numbers > 0, got 0.0; use 1/√d."),
        ({"softcap": -1.0}, "softcap must be a finite number ≥ 0, got -1.0; use 0 for none."),
        (
            {"softcap": torch.inf},
            "softcap must be a finite number ≥ 0, got inf; use 0 for none.",
        ),
    ],
    ids=str,
)
def test_words_that_do_not_fit(words, text):
    assert message(Capture, *random(), **words) == text


def test_more_queries_than_keys_need_positions():
    assert message(Capture, *random(queries=6)) == (
        "queries stand at the last positions of the keys, got 6 queries and 5 keys; "
        "use query_positions to say where they stand."
    )
    capture = Capture(*random(queries=6), query_positions=torch.arange(6) - 1)
    assert capture.weights(0, rope(8))[:, 0].sum() == 0  # before the first key
    assert torch.allclose(capture.weights(0, rope(8))[:, 1:].sum(-1), torch.ones(4, 5))


def test_layers_and_heads_that_are_not_there():
    capture = Capture(*random(), layers=(3, 8))
    assert message(capture.weights, 0) == "there is no layer 0; use one of: 3, 8."
    assert message(capture.vectors, 3, 4) == "there is no head 4; use 0 to 3."
    assert message(capture.weights, 3) == (
        "the model's own encoding of layer 3 is not known; use an encoding, such as rope(8)."
    )

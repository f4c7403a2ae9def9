"""Where queries and keys come from: the bundled captures, and what is made."""

from pathlib import Path

import numpy as np
import pytest
import torch

import xpos_viz
from xpos_viz.inputs import SOURCES, Captured, Expectation, Random, Sample
from xpos_viz.inputs.sample import (
    HEAD_DIM,
    SAMPLES,
    heads_of,
    layers_of,
    read_sample,
    token_labels,
)

FOLDER = Path(xpos_viz.__file__).parent / "inputs" / "samples"
TOKENS = {
    "tidebook": 1002,
    "harbour": 86,
    "pronoun": 28,
    "chinese": 80,
    "lantern": 63,
    "bridge": 54,
    "translation": 38,
}
DRAWN = 0.02
"""Absolute, moments of 128,000 standard normal numbers or more: five standard errors."""
LAYERS = {
    **dict.fromkeys(("harbour", "pronoun", "chinese"), (0, 8, 16, 24, 29)),
    "tidebook": (3, 8, 16),
    "lantern": (18, 23),
    "bridge": (17, 22),
    "translation": (9, 15),
}


def message(function, *args):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args)
    return str(caught.value)


# Samples


def test_the_samples_listed_are_the_files_in_the_package():
    assert sorted(SAMPLES) == sorted(path.stem for path in FOLDER.glob("*.npz"))
    assert {path.suffix for path in FOLDER.iterdir()} == {".npz"}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_a_capture_holds(name):
    arrays, tokens, layers = read_sample(name), TOKENS[name], len(LAYERS[name])
    assert {key: array.shape for key, array in arrays.items()} == {
        "q": (layers, 9, tokens, 64),
        "k": (layers, 3, tokens, 64),
        "layers": (layers,),
        "token_ids": (tokens,),
        "tokens": (tokens,),
        "offsets": (tokens, 2),
        "text": (),
        "weights_last4": (layers, 9, 4, tokens),
    }
    assert arrays["q"].dtype == arrays["k"].dtype == np.float16
    assert np.isfinite(arrays["q"]).all()
    assert np.isfinite(arrays["k"]).all()
    assert layers_of(name) == LAYERS[name]
    assert heads_of(name) == 9
    assert Sample(name, LAYERS[name][0]).tokens == tokens
    assert Sample(name, LAYERS[name][0]).head_dim == HEAD_DIM == 64


@pytest.mark.parametrize("name", SAMPLES)
def test_a_capture_is_read_once_and_read_only(name):
    assert read_sample(name) is read_sample(name)
    for array in read_sample(name).values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array


@pytest.mark.parametrize("name", SAMPLES)
def test_a_head_reads_its_own_queries_and_the_keys_of_its_group(name):
    arrays = read_sample(name)
    for place, layer in enumerate(LAYERS[name]):
        for head in range(9):
            vectors = Sample(name, layer, head).load(64)
            assert np.array_equal(vectors.q.numpy(), arrays["q"][place, head])
            assert np.array_equal(vectors.k.numpy(), arrays["k"][place, head // 3])
            assert (vectors.q.dtype, vectors.k.dtype) == (torch.float64, torch.float64)
            assert vectors.layout == "half"
            assert vectors.labels == token_labels(name)


def test_the_first_sample_is_the_default():
    assert SAMPLES[0] == Sample().name == "tidebook"


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        (
            ("tide",),
            "unknown sample 'tide'; use one of: " + ", ".join(SAMPLES) + ".",
        ),
        (
            ("../tidebook",),
            "unknown sample '../tidebook'; use one of: " + ", ".join(SAMPLES) + ".",
        ),
        (("tidebook", 0), "tidebook has no layer 0; use one of: 3, 8, 16."),
        (("harbour", 3), "harbour has no layer 3; use one of: 0, 8, 16, 24, 29."),
        (("tidebook", 3, 9), "tidebook has no head 9; use 0 to 8."),
        (("tidebook", 3, -1), "tidebook has no head -1; use 0 to 8."),
        (("tidebook", 3, True), "tidebook has no head True; use 0 to 8."),
        (("tidebook", 3.0), "tidebook has no layer 3.0; use one of: 3, 8, 16."),
    ],
    ids=str,
)
def test_a_sample_that_is_not_there(sample, text):
    assert message(Sample, *sample) == text


def test_a_sample_has_one_width():
    assert message(Sample().load, 32) == "samples have head_dim 64, got 32; use 64."


# Labels


def test_a_character_split_over_tokens_shows_its_shares():
    labels = token_labels("chinese")
    assert labels[:7] == ("位 ½", "位 2/2", "置", "编 ⅓", "编 ⅔", "编 3/3", "码")
    assert any(label.startswith("旋 ") for label in labels)


def test_white_space_is_visible():
    labels = token_labels("tidebook")
    assert {"␣", "⏎"} <= set(labels)


@pytest.mark.parametrize("name", SAMPLES)
def test_labels_cover_the_text(name):
    """Without white space, and each split character counted once, they are the text again."""
    labels = token_labels(name)
    assert len(labels) == TOKENS[name]
    assert all(label == label.strip() and label.isprintable() and label for label in labels)
    whole = [label.partition(" ") for label in labels]
    first = [letter for letter, _, share in whole if share in ("", "½", "⅓")]
    text = "".join(str(read_sample(name)["text"]).split())
    assert "".join(first).replace("␣", "").replace("⏎", "") == text


# What is made


@pytest.mark.parametrize("width", [2, 64])
def test_expectation_is_ones(width):
    vectors = Expectation(5).load(width)
    assert torch.equal(vectors.q, torch.ones(5, width, dtype=torch.float64))
    assert torch.equal(vectors.k, vectors.q)
    assert vectors.labels == ()


def test_the_same_seed_draws_the_same_vectors():
    one, same, other = (Random(9, seed, "independent").load(8) for seed in (1, 1, 2))
    assert torch.equal(one.q, same.q)
    assert torch.equal(one.k, same.k)
    assert not torch.equal(one.q, other.q)
    assert not torch.equal(one.q, one.k)


def test_drawing_leaves_the_global_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    Random(9).load(8)
    assert torch.equal(torch.rand(1), expected)


def test_keys_are_the_queries_or_drawn_apart():
    same, apart = (Random(9, 3, keys).load(8) for keys in ("same", "independent"))
    assert torch.equal(same.k, same.q)
    assert torch.equal(apart.q, same.q)
    assert not torch.equal(apart.k, apart.q)


def test_what_is_drawn_is_standard_normal():
    vectors = Random(2000, 7, "independent").load(64)
    both = torch.stack([vectors.q, vectors.k]).double()
    assert abs(both.mean()) < DRAWN
    assert abs(both.var() - 1) < DRAWN
    assert abs((vectors.q * vectors.k).mean()) < DRAWN


@pytest.mark.parametrize("inputs", [Expectation(7), Random(7), Random(7, 1, "independent")])
def test_what_is_made_has_any_width(inputs):
    assert inputs.head_dim is None
    assert inputs.tokens == 7
    for width in (2, 96):
        vectors = inputs.load(width)
        assert vectors.q.shape == vectors.k.shape == (7, width)
        assert vectors.q.dtype == vectors.k.dtype == torch.float64
        assert vectors.layout == "interleaved"


@pytest.mark.parametrize("kind", [Expectation, Random])
@pytest.mark.parametrize("length", [0, -1, 2.0, True, "9", None])
def test_lengths_that_are_none(kind, length):
    assert message(kind, length) == f"length must be an integer ≥ 1, got {length!r}; use 1 or more."


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((9, -1), "seed must be an integer ≥ 0, got -1; use 0 or more."),
        ((9, 0.5), "seed must be an integer ≥ 0, got 0.5; use 0 or more."),
        (
            (9, 2**31 + 1),
            "seed must be at most 2147483648, got 2147483649; use 0.",
        ),
        ((9, 0, "equal"), "unknown keys 'equal'; use one of: same, independent."),
    ],
    ids=str,
)
def test_what_cannot_be_drawn(values, text):
    assert message(Random, *values) == text


def test_sources_by_name():
    assert {
        "sample": Sample,
        "capture": Captured,
        "expectation": Expectation,
        "random": Random,
    } == SOURCES

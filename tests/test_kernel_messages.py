"""What does not fit is refused where it enters, with the value and a way out."""

import math

import numpy as np
import pytest
import torch

from tests import cases
from xpos_viz import apply_encoding, attention_scores, decay_curve, lag_response, rope, xpos

both = pytest.mark.parametrize("function", [apply_encoding, attention_scores])


def message(function, q, k, encoding=None, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(q, k, encoding or xpos(8), **options)
    return str(caught.value)


x = torch.zeros(5, 8)


SHAPE = (
    "{0} must have the shape (…, tokens, 8) of rope(8, base=10000.0), got {1}; "
    "use an encoding of its width or another {0}."
)
KIND = "{0} must be a torch tensor, got {1}; use torch.as_tensor({0})."
DTYPE = "{0} must be one of float16, bfloat16, float32, float64, got torch.{1}; use {0}.float()."
SHARED = (
    "q and k must share dtype and device, got torch.{} on cpu and torch.{} on cpu; use k.to(q)."
)
HEADS = (
    "the heads of q must be a multiple of the heads of k, got {} and {}; "
    "use q of shape (…, heads, tokens, head_dim) and k with a divisor of it."
)
BATCH = (
    "q and k must have one batch, got shapes {} and {}; use the same dimensions before the heads."
)


@both
@pytest.mark.parametrize(
    ("q", "k", "text"),
    [
        (torch.zeros(5, 6), x, SHAPE.format("q", (5, 6))),
        (x, torch.zeros(5, 16), SHAPE.format("k", (5, 16))),
        (torch.zeros(8), x, SHAPE.format("q", (8,))),
        (x.numpy(), x, KIND.format("q", "ndarray")),
        (x, x.tolist(), KIND.format("k", "list")),
        (x.int(), x.int(), DTYPE.format("q", "int32")),
        (x, x.long(), DTYPE.format("k", "int64")),
        (x.bool(), x, DTYPE.format("q", "bool")),
        (x.to(torch.complex64), x, DTYPE.format("q", "complex64")),
        (x, x.double(), SHARED.format("float32", "float64")),
        (torch.zeros(2, 5, 8), torch.zeros(3, 5, 8), HEADS.format(2, 3)),
        (torch.zeros(4, 5, 8), torch.zeros(3, 5, 8), HEADS.format(4, 3)),
        (x, torch.zeros(3, 5, 8), HEADS.format(1, 3)),
        (
            torch.zeros(2, 3, 5, 8),
            torch.zeros(4, 3, 5, 8),
            BATCH.format((2, 3, 5, 8), (4, 3, 5, 8)),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_vectors_that_do_not_fit(function, q, k, text):
    assert message(function, q, k, rope(8)) == text


@both
@pytest.mark.parametrize("layout", ["halves", "", None, "INTERLEAVED"])
def test_an_unknown_layout_lists_the_layouts(function, layout):
    assert message(function, x, x, layout=layout) == (
        f"unknown layout {layout!r}; use one of: {', '.join(cases.LAYOUTS)}."
    )


@both
@pytest.mark.parametrize(
    ("name", "positions", "text"),
    [
        ("query", range(4), "got (4,)"),
        ("key", range(6), "got (6,)"),
        ("key", 3, "got ()"),
        ("query", torch.zeros(2, 3, 5), "got (2, 3, 5)"),
        ("key", np.zeros((5, 1)), "got (5, 1)"),
    ],
)
def test_positions_of_another_shape(function, name, positions, text):
    options = {"query_positions": range(5), f"{name}_positions": positions}
    assert message(function, x, x, **options) == (
        f"{name}_positions must have the shape (5,) or (batch, 5), {text}; "
        f"use one position per {name}."
    )


@both
def test_more_queries_than_keys_need_positions(function):
    assert message(function, x, x[:3]) == (
        "queries stand at the last positions of the keys, got 5 queries and 3 keys; "
        "use query_positions to say where they stand."
    )


@both
@pytest.mark.parametrize("batch", [torch.zeros(5, 8), torch.zeros(2, 3, 5, 8)])
def test_positions_of_another_batch(function, batch):
    assert message(function, batch, batch, query_positions=torch.zeros(4, 5)) == (
        "positions of shape (batch, tokens) must have the batch of q, got 4 rows for q of shape "
        f"{tuple(batch.shape)}; use one row per entry of the first dimension."
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([0.0, math.nan], "[0.0, nan]"),
        ([0, math.inf], "[0, inf]"),
        ([0, -(2**53) - 2], "[0, -9007199254740994]"),
        ([0, 10**30], "[0, 1000000000000000000000000000000]"),
        (["0", "1"], "['0', '1']"),
        ([True, False], "[True, False]"),
        ([0, 1j], "[0, 1j]"),
        ([0, None], "[0, None]"),
        ([[0, 1], [2]], "[[0, 1], [2]]"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["query_positions", "key_positions", "lags"])
def test_positions_and_lags_must_be_numbers(name, value, shown):
    text = (
        f"{name} must be finite numbers of tokens within ±2^53, got {shown}; "
        "use whole or real numbers."
    )
    if name != "lags":
        for function in (apply_encoding, attention_scores):
            assert message(function, x[:2], x[:2], **{name: value}) == text
        return
    for curve in (decay_curve, lag_response):
        with pytest.raises(ValueError) as caught:
            curve(xpos(8), value)
        assert str(caught.value) == text


def test_a_long_list_is_shown_in_part():
    text = message(attention_scores, x, x, query_positions=[math.nan] * 5000)
    assert text.startswith("query_positions must be finite numbers of tokens within ±2^53, got [")
    assert len(text) < 200


@pytest.mark.parametrize("origin", [math.nan, math.inf, -math.inf, "0", None, [1]])
def test_an_impossible_origin(origin):
    assert message(apply_encoding, x, x, origin=origin) == (
        f"origin must be a finite position in tokens, got {origin!r}; use 0.0."
    )

"""Where dtypes end: overflow by really overflowing, lost angles by an oracle that rounds bits."""

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import Encoding, apply_encoding, nope, rope, xpos
from xpos_viz.entry import FAR
from xpos_viz.precision import (
    KEPT,
    accuracy_table,
    centred_length,
    largest_position,
    limits_table,
    table_error,
)

each_dtype = pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
FACTS = {  # positions and centred lengths at B = 64, 512, 2048, γ = 0.4, |k|max = 1
    torch.float16: [(566, 1133), (4532, 9065), (18129, 36259)],
    torch.bfloat16: [(4532, 9065), (36259, 72519), (145039, 290079)],
    torch.float32: [(4532, 9065), (36260, 72521), (145042, 290085)],
    torch.float64: [(36260, 72521), (290085, 580171), (1160343, 2320687)],
}
NAMES = [str(dtype).removeprefix("torch.") for dtype in cases.DTYPES]


class Still(Encoding):
    """The same decay without a rotation, so that a key's growth shows in one column."""

    @property
    def terms(self):
        usual = super().terms
        return replace(usual, theta=torch.zeros_like(usual.theta))


def turned_key(encoding, size, position, dtype, query_position=0):
    """The first column of q' and k' of a key whose first pair is `size`."""
    x = torch.tensor([[float(size), 0.0]], dtype=dtype)
    turned = apply_encoding(x, x, encoding, **cases.at([query_position], [position]))
    return [float(columns[0, 0]) for columns in turned]


@each_dtype
def test_the_limits_of_the_facts(dtype):
    for scale_base, expected in zip((64.0, 512.0, 2048.0), FACTS[dtype], strict=True):
        encoding = xpos(64, scale_base=scale_base)
        assert (largest_position(encoding, dtype), centred_length(encoding, dtype)) == expected


@each_dtype
@pytest.mark.parametrize("size", [1.0, 5.0, 1000.0])
@pytest.mark.parametrize("scale_base", [1.0, 64.0, 512.0, 2048.0])
@pytest.mark.parametrize("gamma", [0.4, 3.0])
def test_the_next_position_overflows(gamma, scale_base, size, dtype):
    encoding = Still("xpos", (("head_dim", 2), ("gamma", gamma), ("scale_base", scale_base)))
    n = largest_position(encoding, dtype, size)
    assert 0 < turned_key(encoding, size, n, dtype)[1] <= torch.finfo(dtype).max
    beyond = turned_key(encoding, size, n + 1, dtype)[1]
    assert not math.isfinite(beyond)  # inf; NaN where the table itself overflows


@each_dtype
def test_a_centred_sequence_overflows_at_both_ends_together(dtype):
    encoding = Still("xpos", (("head_dim", 2),))
    length = centred_length(encoding, dtype, 2.0)
    end = length // 2
    assert all(x < torch.inf for x in turned_key(encoding, 2.0, end, dtype, -end))
    assert turned_key(encoding, 2.0, end + 1, dtype, -end - 1) == [torch.inf, torch.inf]


@given(
    encoding=cases.encodings(head_dims=(4,), scale_bases=(1.0, 1e6)),
    dtype=st.sampled_from(cases.DTYPES),
    size=cases.positive(1e-3, 1e3),
)
def test_no_key_overflows_up_to_the_limit(encoding, dtype, size):
    k = (cases.normal(5, 4) * size).to(dtype)
    largest = float(k.double().unflatten(-1, (-1, 2)).norm(dim=-1).max())
    n = largest_position(encoding, dtype, largest * (1 + tolerances.SINGLE))
    assert apply_encoding(k, k, encoding, **cases.at([n] * 5))[1].isfinite().all()


def test_the_fastest_pair_of_any_head_decides():
    assert largest_position(cases.Headed.of(xpos(64)), torch.float16) == 4532 // 3


def test_small_keys_do_not_enlarge_the_table():
    assert largest_position(xpos(64), torch.float32, 1e-9) == 36260


@pytest.mark.parametrize("encoding", [nope(4), rope(4), xpos(4, scale_base=1e300)], ids=repr)
def test_no_decay_no_limit(encoding):
    assert largest_position(encoding, torch.float16) == FAR


def test_a_table_of_limits():
    encodings = [xpos(8, scale_base=base) for base in (64.0, 512.0)]
    table = limits_table(encodings)
    assert list(table.columns) == ["encoding", "dtype", "position", "centred_length"]
    assert list(table["encoding"]) == [repr(encoding) for encoding in encodings for _ in NAMES]
    assert list(table["dtype"]) == NAMES * 2
    expected = [FACTS[dtype][column] for column in (0, 1) for dtype in cases.DTYPES]
    assert list(zip(table["position"], table["centred_length"], strict=True)) == expected
    assert list(limits_table([])) == list(table)


@each_dtype
@pytest.mark.parametrize("kept", KEPT)
def test_lost_angles_by_an_oracle(kept, dtype):
    positions = [0, 1, 2, 255, 257, 511, 2047, 2049, 4097, 65519, 1_000_001]
    positions = positions if dtype != torch.float16 else positions[:-1]
    for encoding in (rope(8), xpos(6, base=100.0)):
        errors = table_error(encoding, positions, dtype, kept=kept)
        assert errors.shape == (len(positions), encoding.head_dim // 2)
        for row, n in zip(errors.tolist(), positions, strict=True):
            for error, theta in zip(row, encoding.theta.tolist(), strict=True):
                name = str(dtype).removeprefix("torch.")
                expected = reference.table_error(theta, n, name, kept)
                assert error == pytest.approx(expected, abs=tolerances.angle(n))


def test_float32_angles_of_the_facts():
    facts = {2047: 5.8e-5, 8191: 4.9e-4, 32767: 1.7e-3}
    errors = table_error(rope(128), list(facts), torch.float32).amax(-1)
    for error, fact in zip(errors.tolist(), facts.values(), strict=True):
        assert error == pytest.approx(fact, abs=tolerances.LAST_DIGIT * fact)


LENGTHS = (512, 2048, 8192)
LOST = {  # in shares of the largest entry of a turned query, at the three lengths
    ("bfloat16", "positions"): (0.66, 1.5, 1.7),
    ("bfloat16", "theta"): (0.17, 0.63, 1.7),
    ("float16", "theta"): (0.05, 0.22, 0.80),
    ("bfloat16", "table"): (4.5e-3, 4.5e-3, 4.5e-3),
}


def test_half_precision_tables_of_the_facts():
    table = accuracy_table(rope(64), LENGTHS, [torch.float16, torch.bfloat16])
    assert list(table.columns) == ["dtype", "kept", "length", "error"]
    assert len(table) == 2 * len(KEPT) * 3
    assert table["error"].between(0, 2).all()
    found = table.set_index(["dtype", "kept", "length"])["error"]
    for (dtype, kept), shares in LOST.items():
        for length, share in zip(LENGTHS, shares, strict=True):
            assert share / 2 < float(found[dtype, kept, length]) < 2 * share


def test_a_row_is_the_largest_error_below_its_length():
    lengths = [1, 300, 20_000]
    encoding = cases.Headed.of(xpos(4))
    table = accuracy_table(encoding, lengths, [torch.bfloat16, torch.float32], ["angles"])
    expected = [
        float(table_error(encoding, range(length), dtype).max())
        for dtype in (torch.bfloat16, torch.float32)
        for length in lengths
    ]
    assert list(table["error"]) == expected
    assert expected[0] == 0
    empty = accuracy_table(encoding, [])
    pd.testing.assert_frame_equal(empty, pd.DataFrame(columns=list(table.columns)))


def test_float16_has_no_position_beyond_its_largest_number():
    errors = table_error(rope(2), [65519, 65520], torch.float16, kept="positions")
    assert errors.isnan().flatten().tolist() == [False, True]


def message(function: Any, *args: Any, **options: Any) -> str:
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("dtype", [torch.int32, torch.complex64, None, "float32"], ids=str)
def test_another_dtype_lists_the_dtypes(dtype):
    text = f"dtype must be one of {', '.join(NAMES)}, got {dtype}; use torch.float32."
    for call in (largest_position, centred_length):
        assert message(call, xpos(8), dtype) == text
    assert message(table_error, xpos(8), [0], dtype) == text
    assert message(limits_table, [xpos(8)], [dtype]) == text


@pytest.mark.parametrize("largest", [0.0, -1.0, float("nan"), float("inf"), 65505.0])
def test_keys_that_a_dtype_does_not_hold(largest):
    assert message(largest_position, xpos(8), torch.float16, largest) == (
        f"largest must be a number > 0 that float16 holds, got {largest!r}; "
        "use the largest modulus of a pair, such as 1.0."
    )


def test_an_unknown_part_lists_the_parts():
    assert message(table_error, rope(8), [0], torch.half, kept="freqs") == (
        f"unknown part 'freqs' in kept; use one of: {', '.join(KEPT)}."
    )


@pytest.mark.parametrize("length", [0, -1, 2.5, True, "8"], ids=repr)
def test_lengths_that_are_none(length):
    assert message(accuracy_table, rope(8), [length]) == (
        f"a length must be an integer ≥ 1, got {length!r}; use 512."
    )

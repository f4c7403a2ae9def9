"""Masks: their words, and which keys they show, against definitions written out."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xpos_viz import attention_logits, rope
from xpos_viz.masks import MASKS, Mask

POSITIONS = st.integers(-50, 50)
SIZES = st.integers(1, 20)


def mask(name, size):
    return Mask(name, size if MASKS[name].sized else None)


# from query, key, size
DEFINITIONS = {
    "causal": lambda m, n, _: n <= m,
    "none": lambda *_: True,
    "sliding": lambda m, n, size: 0 <= m - n < size,
    "blockwise": lambda m, n, size: n <= m and m // size - n // size <= 1,
}


def test_every_kind_has_a_definition_here():
    assert set(DEFINITIONS) == set(MASKS)
    for name, kind in MASKS.items():
        assert kind.name == name
        assert kind.formula
        assert kind.source


@pytest.mark.parametrize("name", MASKS)
@given(query=POSITIONS, key=POSITIONS, size=SIZES)
def test_a_cell_is_visible_as_defined(name, query, key, size):
    m, n = torch.tensor([float(query)]), torch.tensor([float(key)])
    visible = mask(name, size).visible(m.double(), n.double())
    assert visible.item() == DEFINITIONS[name](query, key, size)


@pytest.mark.parametrize("name", MASKS)
def test_what_is_visible_lies_between_the_ends(name):
    m = torch.arange(40, dtype=torch.float64)
    first, last = mask(name, 7).ends(m)
    seen = mask(name, 7).visible(m, m)
    for query in range(40):
        keys = [key for key in range(40) if first[query] <= key <= last[query]]
        assert torch.nonzero(seen[query]).flatten().tolist() == keys


def test_a_sliding_window_of_real_positions_leaves_out_what_is_as_far_as_its_size():
    m = torch.tensor([10.0], dtype=torch.float64)
    n = torch.tensor([7.0, 7.0 + 1e-9], dtype=torch.float64)
    assert Mask("sliding", 3).visible(m, n).tolist() == [[False, True]]


def test_positions_may_have_a_batch():
    m = torch.tensor([[0.0, 1.0], [5.0, 6.0]]).double()
    n = torch.tensor([[0.0, 1.0], [0.0, 6.0]]).double()
    assert Mask("causal").visible(m, n).tolist() == [
        [[True, False], [True, True]],
        [[True, False], [True, True]],
    ]


@pytest.mark.parametrize("name", MASKS)
@given(size=SIZES)
def test_a_mask_is_its_word(name, size):
    described = mask(name, size)
    assert Mask.of(str(described)) == described
    assert Mask.of(described) is described
    assert hash(Mask.of(str(described))) == hash(described)


def test_words():
    assert [str(mask(name, 64)) for name in MASKS] == [
        "causal",
        "none",
        "sliding:64",
        "blockwise:64",
    ]


def test_logits_take_masks_and_their_words():
    scores = torch.zeros(6, 6)
    one, other = (
        attention_logits(scores, rope(4), mask=described)
        for described in ("blockwise:2", Mask("blockwise", 2))
    )
    assert torch.equal(one, other)
    assert torch.isinf(one[5]).tolist() == [True, True, False, False, False, False]


REFUSED = (
    *("", "Causal", "sliding", "blockwise:", "causal:3", "sliding:0", "sliding:-1"),
    *("sliding:2.5", "sliding: 2", "sliding:²", "sliding:٣", "sliding:1e3", "window:3"),
)


@pytest.mark.parametrize("word", REFUSED)
def test_a_word_that_is_no_mask_is_refused(word):
    with pytest.raises(ValueError) as caught:
        Mask.of(word)
    assert str(caught.value) == (
        f"unknown mask {word!r}; use one of: causal, none, sliding:size, blockwise:size "
        "(size ≥ 1 token), or a bool tensor."
    )


@pytest.mark.parametrize("value", [None, 3, True, math.nan, ["causal"], "x" * 200])
def test_what_is_no_word_is_refused_in_short(value):
    with pytest.raises(ValueError) as caught:
        Mask.of(value)
    assert str(caught.value).startswith(f"unknown mask {value!r:.60}; use one of: ")


@pytest.mark.parametrize(("name", "size"), [("sliding", True), ("sliding", 2.0), ("causal", 1)])
def test_sizes_are_whole_and_only_where_they_belong(name, size):
    with pytest.raises(ValueError) as caught:
        Mask(name, size)
    assert str(caught.value).startswith(f"unknown mask '{name}:{size}'; use one of: ")

"""Encodings that turn only some columns."""

import pytest
import torch

from tests import cases, tolerances
from xpos_viz import Encoding, apply_encoding, attention_scores, decay_curve, rope
from xpos_viz.encoding import longrope

INNER = [each for each in (*cases.assorted(8), *cases.per_head(8)) if each.bias is None]


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_columns_beyond_the_rotary_width_are_left_as_they_are(inner, layout):
    encoding = inner.within(16)
    assert (encoding.head_dim, encoding.rotary_width) == (16, 8)
    assert encoding.heads == inner.heads
    assert encoding.rates.shape == (*inner.rates.shape[:-1], 8)
    heads = inner.heads or 1
    q, k = cases.normal(2, heads, 20, 16)
    turned, _ = apply_encoding(q, k, encoding, layout=layout)
    alone, _ = apply_encoding(q[..., :8], k[..., :8], inner, layout=layout)
    assert torch.allclose(turned, torch.cat([alone, q[..., 8:]], -1), rtol=tolerances.EXACT)
    scores = attention_scores(q, k, encoding, layout=layout)
    short = attention_scores(q[..., :8], k[..., :8], inner, layout=layout)
    expected = short + q[..., 8:] @ k[..., 8:].mT
    assert torch.allclose(scores, expected, rtol=tolerances.EXACT, atol=tolerances.EXACT)
    curve = decay_curve(inner, range(9)) + 4
    assert torch.allclose(decay_curve(encoding, range(9)), curve, rtol=tolerances.EXACT)


def test_a_part_of_the_columns_is_data_like_every_other_parameter():
    encoding = rope(8, base=100.0).within(16)
    assert repr(encoding) == "rope(16, base=100.0, rotary_width=8)"
    assert encoding == Encoding("rope", (("head_dim", 16), ("base", 100.0), ("rotary_width", 8)))
    assert hash(encoding) != hash(rope(16, base=100.0))
    assert encoding.replace(base=7.0) == rope(8, base=7.0).within(16)
    assert encoding.within(32).rotary_width == 8
    assert (
        encoding.replace(rotary_width=16) == rope(16, base=100.0) == rope(16, base=100.0).within(16)
    )
    assert longrope(4, factors=(1.0, 2.0)).within(8).theta.tolist() == [1.0, 0.005, 0.0, 0.0]


@pytest.mark.parametrize("width", [0, 3, 18, 8.0, True, None, "8"])
def test_a_rotary_width_that_does_not_fit_is_refused(width):
    with pytest.raises(ValueError) as caught:
        rope(16).replace(rotary_width=width)
    assert str(caught.value) == (
        f"rotary_width must be an even integer from 2 to 16, the head_dim, got {width!r}; "
        "use 16 to turn all columns."
    )

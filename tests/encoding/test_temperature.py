"""Temperature: that of the oracle, applied once and on the logits."""

import math

import pytest
import torch
from hypothesis import given

from tests import cases, reference, tolerances
from xpos_viz import apply_encoding, attention_logits, attention_scores
from xpos_viz.encoding import longrope, yarn, yarn_hf


@given(cases.encodings())
def test_temperature_is_that_of_the_oracle(encoding):
    expected = reference.temperature(encoding.name, **dict(encoding.parameters[1:]))
    assert encoding.temperature == pytest.approx(expected, rel=tolerances.EXACT)


@pytest.mark.parametrize("encoding", [yarn(8), yarn_hf(8), longrope(8)], ids=repr)
def test_a_temperature_is_applied_once_and_on_the_logits(encoding):
    """Turned vectors keep their norms, and scores are those of the angles alone."""
    q, k = cases.normal(2, 5, 8)
    turned, _ = apply_encoding(q, k, encoding)
    assert torch.allclose(turned.norm(dim=-1), q.norm(dim=-1), rtol=tolerances.EXACT)
    scores = attention_scores(q, k, encoding)
    logits = attention_logits(scores, encoding, mask="none")
    assert encoding.temperature > 1.1
    assert torch.allclose(logits, scores * encoding.temperature / math.sqrt(8))

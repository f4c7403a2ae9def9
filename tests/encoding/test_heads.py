"""Values of each head: rates, scores and curves are those of each alone."""

from typing import Any

import numpy as np
import pytest
import torch

from tests import cases, tolerances
from tests.encoding.families import message
from xpos_viz import (
    attention_logits,
    attention_scores,
    attention_weights,
    decay_curve,
    decay_table,
    lag_response,
    rope,
    xpos,
)
from xpos_viz.encoding import REGISTRY, alibi, yarn

each_per_head = pytest.mark.parametrize("encoding", list(cases.per_head(8)), ids=repr)


@each_per_head
def test_rates_of_heads_are_those_of_each(encoding):
    heads = list(cases.each_head(encoding))
    assert encoding.heads == len(heads) == 3
    assert encoding.rates.shape == encoding.theta.shape == encoding.log_decay.shape == (3, 4)
    expected = torch.tensor([cases.oracle_rates(head) for head in heads], dtype=torch.complex128)
    assert torch.allclose(encoding.rates, expected, rtol=tolerances.EXACT, atol=1e-15)
    temperatures = torch.as_tensor(encoding.temperature, dtype=torch.float64).expand(3, 1, 1)
    assert temperatures.flatten().tolist() == [head.temperature for head in heads]


@each_per_head
def test_scores_logits_and_weights_of_heads_are_those_of_each(encoding):
    q, k = cases.normal(2, 3, 40, 8)
    together = {"many": (q, k), "one": (q[0], k[0])}
    for kind, (queries, keys) in together.items():
        scores = attention_scores(queries, keys, encoding, layout="half")
        logits = attention_logits(scores, encoding)
        weights = attention_weights(logits)
        for head, alone in enumerate(cases.each_head(encoding)):
            own = (queries[head], keys[head]) if kind == "many" else (queries, keys)
            expected = attention_scores(*own, alone, layout="half")
            assert tolerances.within(scores[head], expected, 1e-9 * expected.abs().max())
            expected = attention_logits(expected, alone)
            assert torch.allclose(logits[head], expected, atol=1e-9)
            assert torch.allclose(weights[head], attention_weights(expected), atol=1e-9)


def test_steep_heads_are_cut_into_tiles_with_the_others():
    encoding = xpos(8, scale_base=(0.1, 16.0, 512.0))
    q, k = cases.normal(2, 3, 90, 8)
    scores = attention_scores(q, k, encoding)
    for head, alone in enumerate(cases.each_head(encoding)):
        expected = attention_scores(q[head], k[head], alone)
        assert bool(torch.isclose(scores[head], expected, rtol=1e-9, atol=1e-12).all())


@each_per_head
def test_curves_of_heads_are_those_of_each(encoding):
    lags, heads = [0, 1, 40.5, -3], list(cases.each_head(encoding))
    curve, response = decay_curve(encoding, lags), lag_response(encoding, lags)
    assert curve.shape == (3, 4)
    assert response.shape == (3, 4, 4)
    for head, alone in enumerate(heads):
        assert torch.allclose(curve[head], decay_curve(alone, lags), rtol=tolerances.EXACT)
        assert torch.allclose(response[head], lag_response(alone, lags), rtol=tolerances.EXACT)
    table = decay_table([encoding, rope(8)], lags)
    assert table["head"].tolist() == [head for head in (0, 1, 2, 0) for _ in lags]
    assert table["g"].tolist()[:12] == curve.flatten().tolist()
    assert set(table["encoding"]) == {repr(encoding), "rope(8, base=10000.0)"}


@each_per_head
def test_values_of_heads_are_plain_tuples(encoding):
    for key, value in encoding.parameters[1:]:
        assert type(encoding[key]) in (float, int, tuple)
        arrays = encoding.replace(**{key: np.array(value)}), encoding.replace(**{key: value})
        if np.ndim(value):
            arrays += (encoding.replace(**{key: torch.tensor(value, dtype=torch.float64)}),)
            arrays += (encoding.replace(**{key: list(value)}),)
        assert set(arrays) == {encoding}
    assert encoding != encoding.replace(**dict(REGISTRY[encoding.name].defaults))


def test_scalars_stay_plain_floats():
    values: list[Any] = [1, 1.0, np.float32(1), np.int64(1), torch.tensor(1.0)]
    for value in values:
        encoding = xpos(8, gamma=value)
        assert type(encoding["gamma"]) is float
        assert encoding == xpos(8, gamma=1.0)
    whole: list[Any] = [np.int64(512), 512.0, torch.tensor(512)]
    for value in whole:
        encoding = yarn(8, train_length=value)
        assert type(encoding["train_length"]) is int
        assert encoding == yarn(8, train_length=512)


def test_one_value_for_one_head_is_not_a_scalar():
    assert xpos(8, gamma=(0.4,)) != xpos(8)
    assert xpos(8, gamma=(0.4,)).rates.shape == (1, 4)


def test_q_of_other_heads_is_refused():
    q = torch.zeros(4, 5, 8)
    assert message(attention_scores, q, q, alibi(8, slope=(0.1, 0.2))) == (
        "the encoding has rates for 2 heads, got q with 4; use an encoding with as many heads as q."
    )

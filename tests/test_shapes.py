"""Shapes stand in signatures; here they are checked at run time.

Public functions are checked after they return, so that a wrong argument meets our own message
first; private functions are checked on the way in as well.
"""

import inspect
import typing
from functools import cache

import pytest
import torch
from beartype import BeartypeConf, beartype
from beartype.door import is_bearable
from jaxtyping import Float, TypeCheckError, jaxtyped
from torch import Tensor

from tests import cases
from xpos_viz import (
    Encoding,
    apply_encoding,
    attention,
    attention_logits,
    attention_scores,
    attention_weights,
    decay_curve,
    entry,
    kernel,
    lag_response,
    module,
    precision,
    rope,
    statistics,
    wrong,
    xpos,
)
from xpos_viz.curves import decay, expected, masked, pairs, resolutions, shared
from xpos_viz.encoding import additive, decaying, model, parameters, rotary, stretched
from xpos_viz.pooling import blocks, linear, maps, pooled_map, sides, streams

MODULES = (
    *(parameters, model, rotary, decaying, stretched, additive),
    *(entry, kernel, attention, statistics, module, precision, wrong),
    *(decay, expected, masked, pairs, resolutions, shared),
    *(blocks, sides, linear, streams, maps),
)
TOWER = BeartypeConf(is_pep484_tower=True)  # an int will do for a float
BATCHES = [((), ()), ((3,), (3,)), ((2, 6), (2, 3)), ((2, 6), (2, 6))]


@cache
def private_functions():
    """(module, name, function that checks its arguments and its result) of the core's own."""
    return [
        (module, name, jaxtyped(typechecker=beartype(conf=TOWER))(function))
        for module in MODULES
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("_") and function.__module__ == module.__name__
    ]


@pytest.fixture(autouse=True)
def checked_private_functions(monkeypatch):
    """Check every private function of the core, arguments and results, while a test runs."""
    for room, name, function in private_functions():
        monkeypatch.setattr(room, name, function)


def checked(function, *args, **options):
    """Call a function, then hold arguments and result against its annotations."""
    result = function(*args, **options)
    given = inspect.signature(function).bind(*args, **options).arguments
    hints = typing.get_type_hints(function, include_extras=True)
    with jaxtyped("context"):
        for name, value in [*given.items(), ("return", result)]:
            assert is_bearable(value, hints[name], conf=TOWER), (
                f"{function.__name__}: {name} is no {hints[name]}"
            )
    return result


def test_the_check_can_fail():
    def wrong(x: Float[Tensor, "tokens pairs"]) -> Float[Tensor, "pairs tokens"]:
        return x

    def wrong_dtype(x: Float[Tensor, "tokens pairs"]) -> Float[Tensor, "tokens pairs"]:
        return x.int()

    checked(wrong, torch.zeros(2, 2))
    for function in (wrong, wrong_dtype):
        with pytest.raises(AssertionError):
            checked(function, torch.zeros(2, 3))


def test_private_functions_are_checked():
    with pytest.raises(TypeCheckError):
        kernel._turn(torch.zeros(3, 2), torch.zeros(3, 2))


@pytest.mark.parametrize("batches", BATCHES, ids=str)
@pytest.mark.parametrize("encoding", [*cases.assorted(8), xpos(8, scale_base=0.5)], ids=repr)
def test_scores_logits_and_weights(encoding, batches):
    q, k = (cases.normal(*batch, n, 8) for batch, n in zip(batches, (40, 45), strict=True))
    positions = [{}, cases.at(torch.arange(5, 45), range(45))]
    if len(batches[0]) == 2:
        positions.append({"query_positions": torch.stack([torch.arange(40)] * 2)})
    for at, layout in zip(positions, (*cases.LAYOUTS, "half"), strict=False):
        checked(apply_encoding, q, k, encoding, layout=layout, **at)
        scores = checked(attention_scores, q, k, encoding, layout=layout, **at)
        logits = checked(attention_logits, scores, encoding, **at)
        checked(attention_weights, logits)
        mask = torch.ones(40, 45, dtype=torch.bool)
        checked(attention_logits, scores, encoding, mask=mask)


@pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)
@pytest.mark.parametrize(
    "lags", [[], 7, [0, -3], [[0.5, 1.0]], torch.arange(4), range(5000)], ids=str
)
def test_curves(encoding, lags):
    for curve in (decay_curve, lag_response, decay.envelope, decay.bound_curve, decay.bias_curve):
        checked(curve, encoding, lags)
    hints = typing.get_type_hints(expected.Expected, include_extras=True)
    for assumption in (expected.Ones(), expected.Normal(0.5)):
        for name, value in vars(checked(assumption.scores, encoding, lags)).items():
            assert isinstance(value, hints[name])


@pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)
def test_pairs_means_and_resolution(encoding):
    checked(decay.running_mean, encoding, [[0, 7]])
    checked(decay.envelope_reach, encoding)
    checked(pairs.wavelength, encoding)
    checked(pairs.half_life, encoding)
    checked(pairs.turns, encoding, 100)
    q, k = cases.normal(2, 3, 6, 8), cases.normal(2, 3, 6, 8, seed=1)
    checked(pairs.pair_shares, q[..., 0, :], k[..., 0, :], encoding, 3)
    checked(expected.Captured(q, k).scores, encoding, [0, 9])
    options = {"normalisation": "sqrt_d"}
    checked(resolutions.expectation_resolution, encoding, tokens=6, **options)
    scores = attention_scores(q, k, encoding)
    checked(resolutions.diagonal_mean, scores)
    checked(resolutions.resolution, scores)
    checked(resolutions.score_resolution, scores, encoding, **options)
    checked(masked.lag_counts, "blockwise:2", 9)
    weights = attention_weights(scores)
    checked(statistics.attention_entropy, weights)
    checked(statistics.attention_distance, weights)
    checked(statistics.window_share, weights, 3)
    checked(statistics.sink_share, weights)


@pytest.mark.parametrize("batches", BATCHES, ids=str)
@pytest.mark.parametrize("encoding", [*cases.assorted(8), xpos(8, scale_base=0.5)], ids=repr)
def test_layers_and_caches(encoding, batches):
    q, k = (cases.normal(*batch, n, 8) for batch, n in zip(batches, (4, 45), strict=True))
    for layout in cases.LAYOUTS:
        rotary = module.RotaryXPos(encoding, layout=layout)
        checked(rotary.forward, q, k)
        checked(rotary.forward, q, k, torch.arange(4), torch.arange(45))
        checked(rotary.attn_mask, q, k)
        turned, cache = checked(rotary.decode, q[..., :1, :], k)
        assert turned.shape == q[..., :1, :].shape
        checked(rotary.decode, q[..., :1, :], k, cache)
        assert cache.last(3).keys.shape == (*k.shape[:-2], 3, 8)


@pytest.mark.parametrize("kept", precision.KEPT)
def test_errors_of_tables(kept):
    checked(precision.table_error, xpos(8), range(5), torch.bfloat16, kept=kept)
    checked(precision.accuracy_table, xpos(8), [5], [torch.bfloat16], [kept])


@pytest.mark.parametrize("name", wrong.VARIANTS)
def test_wrong_scores(name):
    q, k = cases.normal(3, 8), cases.normal(5, 8)
    checked(wrong.VARIANTS[name].scores, q, k, xpos(8))
    checked(wrong.VARIANTS[name].error, q, k, xpos(8))


@pytest.mark.parametrize("batches", BATCHES, ids=str)
@pytest.mark.parametrize("options", [{}, {"reduce": "min"}, {"stage": "weights"}], ids=str)
def test_maps(options, batches):
    q, k = (cases.normal(*batch, n, 8) for batch, n in zip(batches, (100, 105), strict=True))
    for mask in ("causal", "none"):
        picture = checked(pooled_map, q, k, xpos(8), size=3, mask=mask, **options)
        hints = typing.get_type_hints(type(picture), include_extras=True)
        with jaxtyped("context"):
            assert all(is_bearable(getattr(picture, name), hints[name]) for name in hints)


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
def test_derived_tensors(encoding):
    for name in ("theta", "log_decay", "rates"):
        getter = vars(Encoding)[name].fget
        value = getattr(encoding, name)
        assert isinstance(value, typing.get_type_hints(getter, include_extras=True)["return"])


@pytest.mark.parametrize("queries", [0, 3])
def test_empty_sequences(queries):
    q, k = torch.zeros(2, queries, 8), torch.zeros(2, 5, 8)
    checked(attention_weights, checked(attention_scores, q, k, rope(8)))
    checked(attention_scores, k[:, :0], k[:, :0], xpos(8))


def test_our_message_comes_before_the_check_of_shapes():
    with pytest.raises(ValueError, match="use an encoding of its width"):
        checked(attention_scores, torch.zeros(5, 6), torch.zeros(5, 6), rope(8))

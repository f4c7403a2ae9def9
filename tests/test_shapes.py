"""Shapes stand in signatures; here they are checked at run time.

Public functions are checked after they return, so that a wrong argument meets our own message
first; private functions are checked on the way in as well.
"""

import inspect
import typing

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
    curves,
    decay_curve,
    encoding,
    entry,
    kernel,
    lag_response,
    rope,
    xpos,
)
from xpos_viz.pooling import blocks, linear, maps, pooled_map, sides, streams

TOWER = BeartypeConf(is_pep484_tower=True)  # an int will do for a float
MODULES = (encoding, entry, kernel, attention, curves, blocks, sides, linear, streams, maps)
BATCHES = [((), ()), ((3,), (3,)), ((2, 6), (2, 3)), ((2, 6), (2, 6))]


@pytest.fixture(autouse=True)
def checked_private_functions(monkeypatch):
    """Check every private function of the core, arguments and results, while a test runs."""
    for module in MODULES:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("_") and function.__module__ == module.__name__:
                monkeypatch.setattr(
                    module, name, jaxtyped(typechecker=beartype(conf=TOWER))(function)
                )


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


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
@pytest.mark.parametrize("lags", [[], [0, -3], [[0.5, 1.0]], torch.arange(4)], ids=str)
def test_curves(encoding, lags):
    checked(decay_curve, encoding, lags)
    checked(lag_response, encoding, lags)


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

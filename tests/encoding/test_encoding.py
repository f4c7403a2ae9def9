"""Encodings are data: identity, derived tensors, legal parameters, messages."""

import copy
import dataclasses
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

from tests import cases, tolerances
from xpos_viz import Encoding, nope, rope, xpos
from xpos_viz import encoding as families
from xpos_viz.encoding import PARAMETERS, REGISTRY

each_family = pytest.mark.parametrize("name", REGISTRY)


def test_the_registry_holds_the_three_of_the_first_page():
    assert {"rope", "xpos", "nope"} <= set(REGISTRY)


@each_family
def test_a_row_of_the_registry_says_what_it_is(name):
    row = REGISTRY[name]
    assert row.name == name
    assert all(text.strip() for text in (row.label, row.formula, row.source))


@each_family
def test_a_formula_is_read_in_every_language(name):
    names = {"base", "slope", "decay", "table", "bucket", "logits", "clip"}
    assert set(re.findall("[a-z]{3,}", REGISTRY[name].formula)) <= names


@each_family
def test_a_constructor_has_the_defaults_of_its_row(name):
    constructor = getattr(families, name)
    encoding = constructor(16)
    assert encoding == constructor(16, **REGISTRY[name].defaults)
    assert encoding == Encoding(name, (("head_dim", 16),))
    assert dict(encoding.parameters) == {"head_dim": 16, **REGISTRY[name].defaults}


def test_defaults_are_those_of_the_papers_and_their_code():
    assert dict(rope(64).parameters) == {"head_dim": 64, "base": 10_000.0}
    assert dict(xpos(64).parameters) == {
        "head_dim": 64, "base": 10_000.0, "gamma": 0.4, "scale_base": 512.0,
    }  # fmt: skip
    assert dict(nope(64).parameters) == {"head_dim": 64}


def test_equal_parameters_make_equal_encodings():
    numpy: dict[str, Any] = {"head_dim": np.int64(64), "base": np.float64(10_000)}
    for same in (
        xpos(64),
        xpos(64, base=10_000),
        xpos(head_dim=64, scale_base=512),
        xpos(**numpy),
        Encoding("xpos", (("scale_base", 512.0), ("head_dim", 64))),
    ):
        assert same == xpos(64)
        assert hash(same) == hash(xpos(64))
        assert {xpos(64): "found"}[same] == "found"


def test_encodings_differ_in_name_and_in_every_parameter():
    different = [
        xpos(64), xpos(32), xpos(64, base=9999.0), xpos(64, gamma=0.5), xpos(64, scale_base=511.0),
        rope(64), rope(32), rope(64, base=9999.0), nope(64), nope(32),
    ]  # fmt: skip
    assert len(set(different)) == len(different)


@given(cases.encodings())
def test_an_encoding_survives_every_way_of_copying(encoding):
    for copied in (
        Encoding(encoding.name, encoding.parameters),
        copy.deepcopy(encoding),
        pickle.loads(pickle.dumps(encoding)),
        eval(repr(encoding), dict(vars(families))),
    ):
        assert copied == encoding
        assert hash(copied) == hash(encoding)
        assert torch.equal(copied.rates, encoding.rates)


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
def test_an_encoding_cannot_be_changed(encoding):
    for name in ("name", "parameters"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(encoding, name, None)
    for name in ("head_dim", "theta", "log_decay", "rates", "bias", "temperature"):
        with pytest.raises(AttributeError):
            setattr(encoding, name, None)
    before = encoding.rates.clone()
    for tensor in (encoding.theta, encoding.log_decay, encoding.rates):
        tensor.fill_(7)
    assert torch.equal(encoding.rates, before)


@given(cases.encodings(head_dims=(2, 6, 64, 128)))
def test_derived_tensors(encoding):
    pairs = (encoding.head_dim // 2,)
    expected = torch.tensor(cases.oracle_rates(encoding), dtype=torch.complex128)
    assert (encoding.theta.shape, encoding.theta.dtype) == (pairs, torch.float64)
    assert (encoding.log_decay.shape, encoding.log_decay.dtype) == (pairs, torch.float64)
    assert (encoding.rates.shape, encoding.rates.dtype) == (pairs, torch.complex128)
    assert torch.equal(encoding.rates.real, encoding.log_decay)
    assert torch.equal(encoding.rates.imag, encoding.theta)
    assert torch.allclose(encoding.theta, expected.imag, rtol=tolerances.EXACT, atol=0)
    # ln ζ of a ζ near 1 is only as exact as ζ itself: half a unit in 1.0
    assert torch.allclose(encoding.log_decay, expected.real, rtol=tolerances.EXACT, atol=1e-15)
    assert bool((encoding.log_decay <= 0).all())


@pytest.mark.parametrize("encoding", cases.registered(8), ids=repr)
def test_second_terms_are_neutral_but_for_those_that_have_them(encoding):
    assert (encoding.bias is None) == (encoding.name not in ("alibi", "t5", "t5_bidirectional"))
    assert (encoding.temperature == 1.0) == (encoding.name not in ("longrope", "yarn", "yarn_hf"))
    assert encoding.rotary_width == encoding.head_dim == 8
    assert encoding.heads is None


def test_known_rates():
    """d = 4: θ = 1, 1/100; ζ = .4/1.4, .9/1.4."""
    assert rope(4).theta.tolist() == pytest.approx([1.0, 0.01])
    assert xpos(4, scale_base=1.0).log_decay.exp().tolist() == pytest.approx([2 / 7, 9 / 14])
    assert rope(4).log_decay.tolist() == [0.0, 0.0]
    assert nope(4).rates.tolist() == [0, 0]


def test_a_faint_decay_keeps_its_precision():
    """γ = 10^12: ln ζ = ln(1 − (1 − 2i/d)/(1 + γ)) ≈ −(1 − 2i/d)/γ, lost if ζ is rounded first."""
    expected = [-(1 - i / 4) / (1 + 1e12) for i in range(4)]
    assert xpos(8, gamma=1e12, scale_base=1.0).log_decay.tolist() == pytest.approx(
        expected, rel=1e-9, abs=0
    )


HUGE, TINY = 1e308, 5e-324


@pytest.mark.parametrize("base", [1.0, 1.0000001, 1e300, HUGE])
@pytest.mark.parametrize("gamma", [TINY, 1e-300, 1e-6, 1e6, HUGE])
@pytest.mark.parametrize("scale_base", [TINY, 1e-300, 1.0, HUGE])
def test_extreme_parameters_give_numbers(base, gamma, scale_base):
    for head_dim in (2, 64):
        rates = xpos(head_dim, base=base, gamma=gamma, scale_base=scale_base).rates
        assert torch.view_as_real(rates).isfinite().all()
        assert bool((rates.real <= 0).all())
        assert bool((rates.imag > 0).all())
        assert bool((rates.imag <= 1).all())


@pytest.mark.parametrize(
    ("head_dim", "message"),
    [
        (7, "head_dim must be an even integer ≥ 2, got 7; use 6 or 8."),
        (3, "head_dim must be an even integer ≥ 2, got 3; use 2 or 4."),
        (1, "head_dim must be an even integer ≥ 2, got 1; use 64, for instance."),
        (0, "head_dim must be an even integer ≥ 2, got 0; use 64, for instance."),
        (-8, "head_dim must be an even integer ≥ 2, got -8; use 64, for instance."),
        (8.0, "head_dim must be an even integer ≥ 2, got 8.0; use 64, for instance."),
        ("8", "head_dim must be an even integer ≥ 2, got '8'; use 64, for instance."),
        (None, "head_dim must be an even integer ≥ 2, got None; use 64, for instance."),
        (True, "head_dim must be an even integer ≥ 2, got True; use 64, for instance."),
        (math.nan, "head_dim must be an even integer ≥ 2, got nan; use 64, for instance."),
    ],
)
@each_family
def test_an_impossible_width_is_refused(name, head_dim, message):
    with pytest.raises(ValueError) as caught:
        getattr(families, name)(head_dim)
    assert str(caught.value) == message


BASE = "base must be a finite number ≥ 1, got {}; the usual base is 10000."
GAMMA = "gamma must be a finite number > 0, got {}; the usual value is 0.4."
SCALE_BASE = (
    "scale_base must be a finite number > 0, got {}; "
    "the usual value is 512 tokens, and rope() is the limit without decay."
)


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, -math.inf, "1", None, True, 1j])
@pytest.mark.parametrize(
    ("parameter", "message"), [("base", BASE), ("gamma", GAMMA), ("scale_base", SCALE_BASE)]
)
def test_an_impossible_parameter_is_refused(parameter, message, value):
    with pytest.raises(ValueError) as caught:
        xpos(64, **{parameter: value})
    assert str(caught.value) == message.format(repr(value))


def test_a_base_below_one_is_refused():
    with pytest.raises(ValueError) as caught:
        rope(64, base=0.99)
    assert str(caught.value) == BASE.format(0.99)


def test_an_integer_beyond_float64_is_refused():
    with pytest.raises(ValueError, match="base must be a finite number"):
        rope(64, base=10**400)


def test_an_unknown_family_lists_the_families():
    with pytest.raises(ValueError) as caught:
        Encoding("alibi9", (("head_dim", 8),))
    assert str(caught.value) == f"unknown encoding 'alibi9'; use one of: {', '.join(REGISTRY)}."
    assert all(name in str(caught.value) for name in ("rope", "xpos", "nope"))


def test_an_unknown_parameter_lists_the_parameters():
    with pytest.raises(ValueError) as caught:
        Encoding("xpos", (("head_dim", 8), ("theta", 1e4)))
    assert str(caught.value) == (
        "xpos has no parameter 'theta'; use: head_dim, base, gamma, scale_base, rotary_width."
    )


def test_a_missing_width_is_refused():
    with pytest.raises(ValueError) as caught:
        Encoding("rope", (("base", 100.0),))
    assert str(caught.value) == (
        "head_dim must be an even integer ≥ 2, got None; use 64, for instance."
    )


def test_constructors_take_their_parameters_by_name():
    constructor: Any = rope
    for arguments, options in (((64, 10_000.0), {}), ((64,), {"theta": 1.0}), ((), {})):
        with pytest.raises(TypeError):
            constructor(*arguments, **options)


@pytest.mark.parametrize("name", [row.name for row in PARAMETERS.values() if row.steps])
def test_every_step_of_a_slider_is_legal_and_the_usual_value_is_among_them(name):
    parameter = PARAMETERS[name]
    assert [parameter.check(step, 64) for step in parameter.steps] == sorted(set(parameter.steps))
    defaults = [row.defaults[name] for row in REGISTRY.values() if name in row.defaults]
    assert all(value in parameter.steps for value in defaults if np.ndim(value) == 0)


def test_what_has_no_steps_is_not_one_number():
    assert [row.name for row in PARAMETERS.values() if not row.steps] == ["table"]

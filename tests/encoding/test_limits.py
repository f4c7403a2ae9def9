"""At the ends of its parameters a family becomes another, and gives numbers."""

import math

import numpy as np
import pytest
import torch

from tests import cases, tolerances
from xpos_viz import Encoding, decay_curve, nope, rope, xpos
from xpos_viz.encoding import (
    REGISTRY,
    alibi,
    decay,
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    ntk,
    p_rope,
    retnet,
    retnet_decays,
    t5,
    yarn,
    yarn_hf,
)

each_registered = pytest.mark.parametrize("encoding", cases.registered(8), ids=repr)


@pytest.mark.parametrize(
    ("special", "general"),
    [
        (interpolation(16, factor=1.0), rope(16)),
        (ntk(16, factor=1.0), rope(16)),
        (dynamic_ntk(16, current_length=2048), rope(16)),
        (dynamic_ntk(16, current_length=1), rope(16)),
        (dynamic_ntk(16, factor=1.0, current_length=4096), ntk(16, factor=2.0)),
        (longrope(16, factors=1.0), rope(16)),
        (longrope(16, factors=(2.0,) * 8), interpolation(16, factor=2.0)),
        (yarn(16, factor=1.0), rope(16)),
        (yarn_hf(16, factor=1.0), rope(16)),
        (llama3(16, factor=1.0), rope(16, base=500_000.0)),
        (llama3(16, high_turns=32.0), yarn(16, base=500_000.0, factor=8.0, train_length=8192)),
        (p_rope(16, share=0.0), nope(16)),
        (p_rope(16, share=1.0), rope(16)),
        (retnet(2, decay=1.0), rope(2)),
        (alibi(16), nope(16)),
        (t5(16), nope(16)),
    ],
    ids=repr,
)
def test_rates_at_the_ends_are_those_of_another(special, general):
    assert torch.allclose(special.rates, general.rates, rtol=tolerances.EXACT, atol=0)


def test_pure_decay_is_xpos_without_rotation():
    assert torch.equal(decay(16, gamma=0.7).log_decay, xpos(16, gamma=0.7).log_decay)
    assert not decay(16).theta.any()
    curve = decay_curve(decay(16), range(2000))
    assert bool((curve.diff() < 0).all())


def test_stretching_keeps_the_fastest_pair_and_slows_the_slowest():
    plain = rope(64).theta
    for encoding in (ntk(64), yarn(64), yarn_hf(64)):
        assert encoding.theta[0] == plain[0]
        assert encoding.theta[-1].item() == pytest.approx(plain[-1].item() / 4)
        ratio = encoding.theta / plain
        assert bool((ratio.diff() <= tolerances.EXACT).all())
    assert llama3(64).theta[-1] * 8 == rope(64, base=500_000.0).theta[-1]


def test_retnet_has_one_decay_for_all_pairs_and_ends_at_one_over_base():
    encoding = retnet(64, decay=retnet_decays(8))
    expected = [[math.log(1 - 2 ** (-5 - head))] * 32 for head in range(8)]
    assert encoding.log_decay.tolist() == pytest.approx(np.array(expected), rel=tolerances.EXACT)
    assert encoding.theta[0, [0, -1]].tolist() == pytest.approx([1.0, 1e-4])


@pytest.mark.parametrize("head_dim", [2, 4, 100])
@pytest.mark.parametrize("base", [1.0, 1e300])
@pytest.mark.parametrize("length", [2, 10**15])
def test_extreme_parameters_give_numbers(head_dim, base, length):
    """One pair, one angle for all, training lengths with no full turn or with many."""
    for name, row in REGISTRY.items():
        extreme = {"base": base, "train_length": length, "current_length": 10**15, "factor": 1e9}
        own = {key: value for key, value in extreme.items() if key in row.defaults}
        for low in {"low_turns", "truncate"} & row.defaults.keys() or {""}:
            given = {**own, low: 0} if low else own
            encoding = Encoding(name, (("head_dim", head_dim), *given.items()))
            assert torch.view_as_real(encoding.rates).isfinite().all()
            assert math.isfinite(encoding.temperature)


def test_a_share_counts_whole_pairs():
    """29 % of 100 pairs are 29, though 0.29·100 is less in float64."""
    assert p_rope(200, share=0.29).theta.count_nonzero() == 29


@each_registered
def test_no_width_is_too_large_to_be_described(encoding):
    """Tensors are made when they are asked for, so that an address cannot ask for all memory."""
    assert encoding.replace(head_dim=10**12).head_dim == 10**12

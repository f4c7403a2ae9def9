"""Angles, temperatures, slopes and buckets are those of independent implementations."""

import math

import numpy as np
import pytest
import torch

from tests import cases, tolerances
from tests.encoding.families import bias_of
from xpos_viz import rope
from xpos_viz.encoding import (
    alibi_slopes,
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    p_rope,
    t5,
    t5_bidirectional,
    yarn,
    yarn_hf,
)

LADDER = np.arange(32)
SCALED = {
    "default_L512": rope(64),
    "default_500k_L512": rope(64, base=500_000.0),
    "linear_f4_L512": interpolation(64, factor=4.0),
    "dynamic_f2_L512": dynamic_ntk(64, factor=2.0, train_length=2048, current_length=512),
    "dynamic_f2_L4096": dynamic_ntk(64, factor=2.0, train_length=2048, current_length=4096),
    "yarn_f4_L512": yarn_hf(64, factor=4.0, train_length=2048),
    "yarn_f16_notrunc_L512": yarn_hf(64, factor=16.0, train_length=2048, truncate=0),
    "yarn_f4_paper_ramp": yarn(64, factor=4.0, train_length=2048),
    "longrope_L512": longrope(64, factors=tuple(1 + LADDER / 100), factor=4.0, train_length=2048),
    "longrope_L4096": longrope(64, factors=tuple(1 + LADDER / 10), factor=4.0, train_length=2048),
    "llama3_L512": llama3(64),
    "proportional_p25_L512": p_rope(64, share=0.25),
}


def golden_of(prefix):
    """The golden numbers under a prefix, by the rest of their names."""
    return {
        key.removeprefix(prefix): value
        for key, value in cases.golden().items()
        if key.startswith(prefix)
    }


def test_every_golden_case_is_compared():
    assert {key.split("/")[0] for key in golden_of("rope_scaling/")} == set(SCALED)
    assert len(golden_of("bias/")) == 7 + 3


@pytest.mark.parametrize("case", SCALED)
def test_golden_angles_and_temperatures(case):
    golden, encoding = golden_of(f"rope_scaling/{case}/"), SCALED[case]
    for name in {"inv_freq", "ref_inv_freq"} & golden.keys():
        expected = torch.from_numpy(golden[name])
        exact = expected.dtype == torch.float64
        allowed = tolerances.EXACT if exact else tolerances.GOLDEN_ANGLES
        assert torch.allclose(encoding.theta, expected.double(), rtol=allowed, atol=0)
    factor = golden.get("attention_scaling", math.sqrt(encoding.temperature))
    assert encoding.temperature == pytest.approx(factor**2, rel=tolerances.EXACT)
    assert not encoding.log_decay.any()


def test_the_two_ramps_of_yarn_are_not_the_same():
    """By up to 44 % of transformers' angle, at pair 15."""
    ratio = SCALED["yarn_f4_paper_ramp"].theta / SCALED["yarn_f4_L512"].theta
    assert ratio.argmin() == 15
    assert round(1 - ratio.min().item(), 2) == 0.44


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 12, 16, 20])
def test_golden_slopes(heads):
    expected = cases.golden()[f"bias/alibi_slopes_h{heads}"]
    assert alibi_slopes(heads) == pytest.approx(expected, rel=tolerances.EXACT)


@pytest.mark.parametrize(
    ("constructor", "both_ways"), [(t5, False), (t5_bidirectional, True)], ids=["t5", "both"]
)
def test_golden_buckets(constructor, both_ways):
    """A table that holds each bucket's number gives the buckets."""
    lags = -torch.from_numpy(cases.golden()["bias/t5_rel"])
    encoding = constructor(8, table=range_of_buckets())
    expected = torch.from_numpy(cases.golden()[f"bias/t5_bucket_bidir{both_ways}"])
    assert bias_of(encoding, lags).tolist() == expected.tolist()


def range_of_buckets():
    return tuple(float(bucket) for bucket in range(32))

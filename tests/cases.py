"""Inputs that the test modules share: seeded tensors, settings, golden numbers."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from tests import reference
from xpos_viz import Encoding, nope, rope, xpos
from xpos_viz.encoding import REGISTRY
from xpos_viz.entry import Layout

LAYOUTS: tuple[Layout, ...] = ("interleaved", "half")
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def normal(*shape, seed=0, dtype=torch.float64):
    """A seeded standard normal tensor."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def at(queries, keys=None) -> dict[str, Any]:
    """Positions as options of a call; keys stand where the queries do unless told otherwise."""
    return {"query_positions": queries, "key_positions": queries if keys is None else keys}


def gradient(x):
    """The gradient that has reached a leaf."""
    assert x.grad is not None
    return x.grad


def registered(head_dim):
    """Every encoding of the registry at its default parameters."""
    return [Encoding(name, (("head_dim", head_dim),)) for name in REGISTRY]


def assorted(head_dim):
    """Every encoding of the registry, and some away from the defaults."""
    return [
        *registered(head_dim),
        rope(head_dim, base=500_000.0),
        xpos(head_dim, base=100.0, gamma=1.5, scale_base=64.0),
        xpos(head_dim, gamma=1e-6, scale_base=64.0),
    ]


class Headed(Encoding):
    """An encoding whose four heads fade 0 to 3 times as fast, each with a bias of its own."""

    @property
    def heads(self):
        return 4

    @classmethod
    def of(cls, encoding):
        """The same encoding for heads that differ."""
        return cls(encoding.name, encoding.parameters)

    @property
    def terms(self):
        usual, strength = super().terms, torch.arange(4.0).double()
        return replace(
            usual,
            theta=usual.theta.expand(4, -1),
            log_decay=usual.log_decay * strength[:, None],
            bias=lambda lags: -0.1 * strength[:, None, None] * lags,
            temperature=1.5,
        )


def oracle_rates(encoding):
    """The rates of the same encoding by the oracle."""
    parameters = dict(encoding.parameters)
    return getattr(reference, encoding.name)(**parameters)


def positive(low, high):
    """Positive numbers, evenly spread over the powers of ten."""
    return st.floats(np.log10(low), np.log10(high)).map(lambda power: float(10**power))


def encodings(head_dims=(2, 4, 6, 16), scale_bases=(1.0, 1e9)):
    """Any encoding with any legal parameters that a person could mean."""
    dims, bases = st.sampled_from(head_dims), positive(1.0, 1e7)
    return st.one_of(
        st.builds(nope, dims),
        st.builds(rope, dims, base=bases),
        st.builds(
            xpos, dims, base=bases, gamma=positive(1e-6, 1e3), scale_base=positive(*scale_bases)
        ),
    )


@cache
def golden():
    """All golden numbers, by name."""
    with np.load(Path(__file__).parent / "golden" / "golden.npz", allow_pickle=False) as stored:
        return dict(stored)


def golden_inputs(head_dim):
    """Queries and keys (512, d), float64; rows that no golden number needs are zero."""
    whole = torch.zeros(2, 512, head_dim, dtype=torch.float64)
    for table, name in zip(whole, "qk", strict=True):
        rows = torch.from_numpy(golden()["inputs/rows"]).long()
        table[rows] = torch.from_numpy(golden()[f"inputs/{name}_d{head_dim}"]).double() / 64
    return whole.unbind()


def golden_encoding(case):
    """The encoding of a case such as d64_L512_b10000_B64."""
    [(width, base, scale_base)] = re.findall(r"^d(\d+)_.*_b(\d+)_B(\w+)$", case)
    if scale_base == "none":
        return rope(int(width), base=float(base))
    return xpos(int(width), base=float(base), gamma=0.4, scale_base=float(scale_base))

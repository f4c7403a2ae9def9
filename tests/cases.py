"""Inputs that the test modules share: seeded tensors, settings, golden numbers."""

import math
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
from xpos_viz.encoding import REGISTRY, Terms, alibi_slopes, longrope, retnet_decays, t5
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


LEARNED = tuple(math.sin(bucket) for bucket in range(32))
"""Values for T5's buckets."""

OWN: dict[str, tuple[Any, ...]] = {
    "base": (100.0, 10_000.0, 500_000.0),
    "gamma": (0.2, 0.4, 0.8),
    "scale_base": (16.0, 64.0, 512.0),
    "share": (0.0, 0.5, 1.0),
    "decay": retnet_decays(3),
    "factor": (1.0, 2.0, 8.0),
    "low_turns": (0.5, 1.0, 2.0),
    "high_turns": (4.0, 8.0, 32.0),
    "slope": alibi_slopes(3),
    "table": (LEARNED, LEARNED[::-1], LEARNED[1:] + LEARNED[:1]),
}
"""Values of three heads for every parameter that heads may have of their own."""


def per_head(head_dim):
    """Every family whose heads may differ, with three heads: by each parameter, and by all."""
    for name, row in REGISTRY.items():
        own = [key for key in row.defaults if key in OWN]
        for keys in dict.fromkeys([*((key,) for key in own), tuple(own)]):
            if keys:
                yield Encoding(name, (("head_dim", head_dim), *((key, OWN[key]) for key in keys)))


def each_head(encoding):
    """An encoding for each head, with that head's values."""
    for head in range(encoding.heads):
        yield encoding.replace(
            **{
                key: value[head]
                for key, value in encoding.parameters
                if key in OWN and np.ndim(value) > (key == "table")
            }
        )


def assorted(head_dim):
    """Every encoding of the registry, and some away from the defaults."""
    return [
        *registered(head_dim),
        t5(head_dim, table=LEARNED),
        longrope(head_dim, factors=tuple(1.0 + pair / 2 for pair in range(head_dim // 2))),
        rope(head_dim, base=500_000.0),
        xpos(head_dim, base=100.0, gamma=1.5, scale_base=64.0),
        xpos(head_dim, gamma=1e-6, scale_base=64.0),
    ]


class Given(Encoding):
    """An encoding of terms that no family need have: rates for each head, or a bias."""

    def __init__(self, name, head_dim, terms, heads=None):
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "parameters", (("head_dim", head_dim),))
        object.__setattr__(self, "given", (terms, heads))

    @property
    def terms(self):
        """The terms, as they were given."""
        return vars(self)["given"][0]

    @property
    def heads(self):
        """The number of heads, as it was given."""
        return vars(self)["given"][1]


def mixed_heads(head_dim):
    """Three heads: XPos at two strengths, and RoPE."""
    heads = [xpos(head_dim), xpos(head_dim, base=100.0, scale_base=64.0), rope(head_dim)]
    theta, log_decay = (torch.stack([getattr(e, x) for e in heads]) for x in ("theta", "log_decay"))
    return Given("mixed_heads", head_dim, Terms(theta, log_decay), len(heads))


def biased(head_dim, *slopes, temperature=1.0):
    """RoPE with a bias −slope·|Δ|: one for all heads, or heads before the last two dimensions."""
    falls = torch.tensor(slopes, dtype=torch.float64)[:, None, None]

    def bias(lags):
        falling = -falls * (lags if lags.ndim > 2 else lags[None]).abs()
        return falling.squeeze(-3) if len(slopes) == 1 else falling

    theta = rope(head_dim).theta
    terms = Terms(theta, 0 * theta, bias, temperature)
    return Given(f"biased_{len(slopes)}", head_dim, terms, len(slopes) if slopes[1:] else None)


def all_kinds(head_dim):
    """Assorted encodings, one with rates for each head, and ones with a bias."""
    many = (mixed_heads(head_dim), biased(head_dim, 0.5), biased(head_dim, 0.5, 0.25, 0.125))
    return [*assorted(head_dim), *many]


def heads_of(encoding):
    """The rates of each head, as lists of complex numbers."""
    return encoding.rates.reshape(-1, encoding.rates.shape[-1]).tolist()


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
    lengths = st.integers(2, 10**6)
    legal = {
        "base": positive(2.0, 1e7),
        "gamma": positive(1e-6, 1e3),
        "scale_base": positive(*scale_bases),
        "share": st.floats(0.0, 1.0),
        "decay": positive(*scale_bases).map(lambda tokens: max(math.exp(-1 / tokens), 1e-300)),
        "factor": positive(1.0, 100.0),
        "factors": positive(0.5, 100.0),
        "train_length": lengths,
        "current_length": lengths,
        "low_turns": st.floats(0.0, 3.0),
        "high_turns": st.floats(3.5, 100.0),
        "truncate": st.integers(0, 1),
        "slope": st.floats(0.0, 1.0),
        "table": st.floats(-9.0, 9.0).map(lambda size: tuple(size * x for x in LEARNED)),
    }

    def any_of(row):
        parameters = {key: legal[key] for key in row.defaults}
        return st.builds(
            lambda width, given: Encoding(row.name, (("head_dim", width), *given.items())),
            dims,
            st.fixed_dictionaries(parameters),
        )

    return st.one_of(
        st.sampled_from(list(REGISTRY.values())).flatmap(any_of),
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

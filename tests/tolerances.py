"""Every tolerance of the tests, named once, each with its reason."""

import torch

EXACT = 1e-12
"""Relative, float64 against float64: a few dozen roundings of 1.1e-16, angles up to 1000 rad."""

COMPUTED = 6e-5
"""Absolute: the decay curves in the facts are printed to four decimals."""

HAND = 1e-12
"""Absolute: the hand case is printed to twelve decimals; float64 gives half a unit more."""

GOLDEN = {64: 3e-5, 512: 2e-4}
"""Absolute, causal scores by length. The implementations form angles of up to L rad in float32;
measured on this extract: 1.0e-5 and 5.8e-5. The smallest wrong variant, a centre off by one,
is .027 away."""

GOLDEN_ACAUSAL = 2e-5
"""Relative to Σ |q_i||k_i| ζ_i^(Δ/B), for acausal scores, which grow; measured: 8e-6, at B = 64,
where their float32 scales are raised to the power 8."""

SAMPLE = 2e-3
"""Absolute, attention weights of a model: its queries and keys are stored as float16."""

FLOAT32_WEIGHTS = 1e-6
"""Absolute: softmax weights ≤ 1 of moderate logits in float32, eps 1.2e-7."""


def allowance(dtype, rates, span, sizes, constant):
    """C·eps·Σ |q_i||k_i| ζ_i^(Δ/B) + tiny: the largest error that a score may have.

    Both this package and the oracle form angles and exponents λ·Δ in float64, which rounds
    them: |λ|·span·2^−53 more, of which only float64 scores can take notice.
    """
    limits = torch.finfo(dtype)
    fastest = max(abs(rate) for rate in rates)
    rounding = limits.eps + torch.finfo(torch.float64).eps * fastest * span
    return constant * rounding * sizes + limits.tiny


def within(actual, expected, allowed):
    """Whether all entries agree: equal (infinities too), or no further apart than allowed."""
    return bool(((actual == expected) | ((actual - expected).abs() <= allowed)).all())


POOLED = 1e-5
"""A float32 block of a map, relative to the largest mean (or smallest, largest) magnitude
Σ |q_i||k_i| ζ_i^(Δ/B) of its cells: eps 6e-8 times SCORE_ERROR, and sums of a few thousand."""

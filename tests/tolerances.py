"""Every tolerance of the tests, named once, each with its reason."""

import torch

EXACT = 1e-12
"""Relative, float64 against float64: a few dozen roundings of 1.1e-16, angles up to 1000 rad."""

COMPUTED = 6e-5
"""Absolute: the decay curves in the facts are printed to four decimals."""

RESOLUTION = {"raw": 5e-6, "sqrt_d": 5e-10, "half_d": 5e-10}
"""Absolute, by normalisation: half a unit of the last printed decimal of the facts."""

BOUND = 5e-5
"""Absolute: RoFormer's bound curve is printed to four decimals."""

SAMPLES = 5.0
"""Standard errors that a mean of random numbers may be off; the seeds are fixed."""

SPREAD = 0.02
"""Relative, a standard deviation of 40,000 random scores, whose tails are longer than normal
ones: its own standard error is 0.5 %. Leaving ρ² g[2Δ] out would be 8 % at lag 0, ρ = 0.6."""

HAND = 1e-12
"""Absolute: the hand case is printed to twelve decimals; float64 gives half a unit more."""

GOLDEN = {64: 3e-5, 512: 2e-4}
"""Absolute, causal scores by length. The implementations form angles of up to L rad in float32;
measured on this extract: 1.0e-5 and 5.8e-5. The smallest wrong variant, a centre off by one,
is .027 away."""

GOLDEN_ACAUSAL = 2e-5
"""Relative to Σ |q_i||k_i| ζ_i^(Δ/B), for acausal scores, which grow; measured: 8e-6, at B = 64,
where their float32 scales are raised to the power 8."""

GOLDEN_ANGLES = 3e-7
"""Relative, angles of stretched RoPE in float32, eps 1.2e-7: a power and up to two operations
more; measured: 2.7e-7."""

SAMPLE = 2e-3
"""Absolute, attention weights of a model: its queries and keys are stored as float16."""

FLOAT32_WEIGHTS = 1e-6
"""Absolute: softmax weights ≤ 1 of moderate logits in float32, eps 1.2e-7."""

LIVE = 2e-7
"""Relative to Σ |q_i||k_i| ζ_i^(Δ/B), or to 1 for weights: what the browser computes in float64
and keeps in float32, which rounds by 6e-8; the rest is for angles, of up to 9000 rad."""

POWER = 1e-15
"""Relative: two libraries' powers and logarithms of the same float64 numbers."""


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


FACTOR_FORM = 4.0
"""C in C·eps·Σ |q_i||k_i| ζ_i^(Δ/B) for a product of q' and k' that are both kept in their dtype:
each column is rounded by eps/2 and turned by a rounded table, and sums add eps for a few terms."""

SINGLE = 1e-6
"""Relative: a few roundings of float32, in which factors for half dtypes are multiplied."""

LAST_DIGIT = 0.02
"""Relative: half a unit of the second digit, to which the facts are printed, at most 1 %."""


def angle(position):
    """Absolute, of e^{iθn} with θ ≤ 1: the oracle rounds θn, off by half a unit of the product."""
    return torch.finfo(torch.float64).eps * (position + 4)


KEPT = 1e-9
"""Absolute, an invariant of float64 scores below 100: B = 1e15 stands for ∞, 1e-12 away from it."""

BROKEN = 1e-3
"""Absolute: the smallest mistake, scales centred one token apart, moves q·k by .03 at B = 512."""

POOLED = 1e-5
"""A float32 block of a map, relative to the largest mean (or smallest, largest) magnitude
Σ |q_i||k_i| ζ_i^(Δ/B) of its cells: eps 6e-8 times SCORE_ERROR, and sums of a few thousand."""

MODEL = 1e-5
"""Absolute, attention weights of a model in float32, against its own: it forms angles in float32,
off by 6e-8 of a radian per token, and sums in another order; measured: 4e-6. The model's own
weights move by .01 and more if base, factor, mask or cap is another."""

REMADE = 2**-9
"""Relative, a sample made again: two units of float16, since float32 sums may round otherwise."""

RECOMPUTED = 1e-4
"""Absolute, bits per byte of bundled models, a mean of 10⁵ bytes: float32 sums in another order.
The next encoding or length is more than .005 away."""

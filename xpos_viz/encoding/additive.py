r"""A bias on the logits instead of a rate: ALiBi and T5.

These encodings leave q and k as they are: their rates are zero, and what they add,
:math:`b(\Delta)`, is the second term of a logit (:attr:`Encoding.bias`). It is never part
of the first.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.encoding.model import Terms, family
from xpos_viz.encoding.parameters import BUCKETS, PerHead, Value, check_heads

_FARTHEST = 128  # tokens, from which on T5 tells no distances apart
_ZEROS = (0.0,) * BUCKETS


def _adding(head_dim: int, by_head: Callable[[Tensor], Tensor]) -> Terms:
    """No rates, and a bias from a function that puts heads, if any, before all lags."""

    def bias(lags: Tensor) -> Tensor:
        added = by_head(lags.double())
        heads = added.ndim - lags.ndim
        return added.movedim(0, max(lags.ndim - 2, 0)) if heads else added

    zero = torch.zeros(head_dim // 2, dtype=torch.float64)
    return Terms(zero, zero, bias)


@family(
    "alibi",
    "ALiBi",
    formula="λ = 0;  logits − slope·|Δ|",
    source="Press et al. 2021, arXiv:2108.12409",
)
def alibi(head_dim: int, *, slope: PerHead = 2.0**-8) -> Terms:
    r"""ALiBi: every logit falls by the head's slope for every token of distance.

    The paper has only causal attention, Δ ≥ 0. Keys ahead (Δ < 0) are treated here as keys
    behind, with −slope·|Δ|, so that attention without a mask is symmetric.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    slope
        Slope ≥ 0, per token: one number, or one for each head as :func:`alibi_slopes` gives
        them. The default is that of a model with a single head.

    Returns
    -------
    Encoding
        With λ_i = 0 and the bias −slope·|Δ|.

    Raises
    ------
    ValueError
        For a `head_dim` or `slope` out of range.

    Examples
    --------
    >>> import torch
    >>> alibi(4, slope=0.5).bias(torch.tensor([1.0, 4.0, -4.0]))
    tensor([-0.5000, -2.0000, -2.0000], dtype=torch.float64)
    >>> alibi(4, slope=alibi_slopes(8)).bias(torch.zeros(2, 3)).shape
    torch.Size([8, 2, 3])
    """
    slopes = torch.as_tensor(slope, dtype=torch.float64)

    def by_head(lags: Tensor) -> Tensor:
        return -slopes.reshape([*slopes.shape, *[1] * lags.ndim]) * lags.abs()

    return _adding(head_dim, by_head)


def alibi_slopes(heads: int) -> tuple[float, ...]:
    r"""Slopes of ALiBi's heads: :math:`2^{-8(j+1)/h}` for a power of two h of heads.

    Another number of heads takes the slopes of the next smaller power of two, c, and then
    every second one of those for 2c (Press et al. 2021, in their code).

    Parameters
    ----------
    heads
        How many heads, h.

    Returns
    -------
    tuple of float
        One slope for each head.

    Raises
    ------
    ValueError
        If `heads` is no integer ≥ 1.

    Examples
    --------
    >>> alibi_slopes(4)
    (0.25, 0.0625, 0.015625, 0.00390625)
    >>> alibi_slopes(3)
    (0.0625, 0.00390625, 0.25)
    """
    power = 2 ** (check_heads(heads).bit_length() - 1)
    first, between = (
        [2 ** (-8 * (head + 1) / count) for head in range(count)] for count in (power, 2 * power)
    )
    return (*first, *between[::2])[:heads]


def t5_bucket(lags: Float[Tensor, "*lags"], buckets: int = BUCKETS) -> Int[Tensor, "*lags"]:
    r"""Which bucket a distance falls into: small ones have their own, larger ones share.

    With n buckets, distances below n/2 count themselves; from there to 128 tokens buckets
    grow logarithmically, and all that is farther falls into the last one. Lags below zero
    fall into bucket 0, as in T5's decoder.

    Parameters
    ----------
    lags
        Lags Δ = m − n, tokens; real ones are rounded down.
    buckets
        n: 32, or 16 for each side of T5's encoder.

    Returns
    -------
    Tensor
        Buckets 0 … n−1, of the shape of the lags.

    Examples
    --------
    >>> import torch
    >>> t5_bucket(torch.tensor([-3.0, 0.0, 15.0, 16.0, 40.0, 128.0, 1e6]))
    tensor([ 0,  0, 15, 16, 23, 31, 31])
    """
    exact = buckets // 2
    distance = lags.double().floor().clamp(min=0)
    octaves = (distance.clamp(min=exact) / exact).log2() / math.log2(_FARTHEST / exact)
    shared = exact + (octaves * (buckets - exact)).floor()
    return torch.where(distance < exact, distance, shared.clamp(max=buckets - 1)).long()


@family(
    "t5",
    "T5 bias",
    formula="λ = 0;  logits + table[bucket(Δ)]",
    source="Raffel et al. 2019, arXiv:1910.10683 (decoder)",
)
def t5(head_dim: int, *, table: Value = _ZEROS) -> Terms:
    r"""T5's bias: every logit gets a learned number for its distance (:func:`t5_bucket`).

    Keys ahead (Δ < 0) fall into the bucket of distance zero, as in T5's decoder, which
    never sees them; :func:`t5_bidirectional` tells them apart.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    table
        32 learned values, one for each bucket, or 32 for each head, (heads, 32). They belong
        to a model and have to be supplied: the default, zeros, is no bias at all.

    Returns
    -------
    Encoding
        With λ_i = 0 and the bias table[bucket(Δ)].

    Raises
    ------
    ValueError
        For a `head_dim` out of range or a table of another shape.

    Notes
    -----
    T5 does not divide its scores by √d: use `scale=1.0` in :func:`attention_logits` for its
    logits.

    Examples
    --------
    >>> import torch
    >>> learned = tuple(-float(bucket) for bucket in range(32))
    >>> t5(4, table=learned).bias(torch.tensor([0.0, 5.0, 40.0, -5.0]))
    tensor([ -0.,  -5., -23.,  -0.], dtype=torch.float64)
    """
    values = torch.as_tensor(table, dtype=torch.float64)
    return _adding(head_dim, lambda lags: values[..., t5_bucket(lags)])


@family(
    "t5_bidirectional",
    "T5 bias, both ways",
    formula="λ = 0;  logits + table[bucket(Δ)] (Δ ≥ 0), table[16 + bucket(−Δ)] (Δ < 0)",
    source="Raffel et al. 2019, arXiv:1910.10683 (encoder)",
)
def t5_bidirectional(head_dim: int, *, table: Value = _ZEROS) -> Terms:
    r"""T5's bias in its encoder: half of the buckets are for keys ahead.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    table
        As in :func:`t5`; buckets 0 … 15 hold keys behind and the query's own, 16 … 31 keys
        ahead (Δ < 0). The default, zeros, is no bias at all.

    Returns
    -------
    Encoding
        With λ_i = 0 and the bias table[bucket(Δ)].

    Raises
    ------
    ValueError
        For a `head_dim` out of range or a table of another shape.

    Examples
    --------
    >>> import torch
    >>> learned = tuple(-float(bucket) for bucket in range(32))
    >>> t5_bidirectional(4, table=learned).bias(torch.tensor([0.0, 5.0, 40.0, -5.0]))
    tensor([ -0.,  -5., -12., -21.], dtype=torch.float64)
    """
    values, side = torch.as_tensor(table, dtype=torch.float64), BUCKETS // 2

    def by_head(lags: Tensor) -> Tensor:
        return values[..., t5_bucket(lags.abs(), side) + side * (lags < 0)]

    return _adding(head_dim, by_head)

"""Rotation, or none: NoPE, RoPE, p-RoPE."""

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding.model import Terms, column, family
from xpos_viz.encoding.parameters import PerHead


def steps(head_dim: int) -> Float[Tensor, " pairs"]:
    """2i/d of each pair i."""
    return torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim


def angles(head_dim: int, base: PerHead) -> Float[Tensor, "*heads pairs"]:
    """θ_i = base^(−2i/d), rad/token."""
    return column(base) ** -steps(head_dim)


def turning(theta: Float[Tensor, "*heads pairs"]) -> Terms:
    """Rotation by θ without decay."""
    return Terms(theta, torch.zeros_like(theta))


@family("nope", "NoPE", formula="λ = 0", source="Kazemnejad et al. 2023, arXiv:2305.19466")
def nope(head_dim: int) -> Terms:
    r"""No position encoding: every rate is zero, and a score is q·k at any distance.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.

    Returns
    -------
    Encoding
        With all rates λ_i = 0.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2.

    Examples
    --------
    >>> nope(4).rates.abs().sum().item()
    0.0
    """
    return turning(torch.zeros(head_dim // 2, dtype=torch.float64))


@family(
    "rope",
    "RoPE",
    formula="λ_i = iθ_i,  θ_i = base^(−2i/d)",
    source="Su et al. 2021, arXiv:2104.09864",
)
def rope(head_dim: int, *, base: PerHead = 10_000.0) -> Terms:
    r"""RoPE: pair i turns by θ_i = base^(−2i/d) for every token of distance.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        Base of the geometric series of rates; a larger base turns the slow pairs more slowly.
        One number, or a tuple with one for each head.

    Returns
    -------
    Encoding
        With λ_i = iθ_i: rotation without decay.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2 or `base` is not a finite number ≥ 1.

    Examples
    --------
    >>> rope(4).theta
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    return turning(angles(head_dim, base))


@family(
    "p_rope",
    "p-RoPE",
    formula="λ_i = iθ_i (i < ⌊p·d/2⌋), 0 (i ≥ ⌊p·d/2⌋);  θ_i = base^(−2i/d)",
    source="Barbero et al. 2024, arXiv:2410.06205",
)
def p_rope(head_dim: int, *, base: PerHead = 10_000.0, share: PerHead = 0.75) -> Terms:
    r"""p-RoPE: RoPE whose slow pairs do not turn; only the share p of fast ones does.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        As in :func:`rope`; the exponent 2i/d counts all pairs.
    share
        p in [0, 1]: 0 is :func:`nope`, 1 is :func:`rope`. One number, or one for each head.
        The default is only a choice.

    Returns
    -------
    Encoding
        With λ_i = iθ_i for the first ⌊p·d/2⌋ pairs and zero for the rest.

    Raises
    ------
    ValueError
        For a `head_dim`, `base` or `share` out of range.

    Examples
    --------
    >>> p_rope(8, share=0.5).theta
    tensor([1.0000, 0.1000, 0.0000, 0.0000], dtype=torch.float64)
    """
    pairs = head_dim // 2
    turned = (column(share) * pairs).round(decimals=9).floor()  # 0.29 of 100 pairs is 29
    return turning(angles(head_dim, base) * (torch.arange(pairs) < turned))

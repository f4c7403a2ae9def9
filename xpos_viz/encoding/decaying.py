"""Decay: XPos, the same without rotation, and RetNet."""

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding.model import Terms, column, family
from xpos_viz.encoding.parameters import PerHead, check_heads
from xpos_viz.encoding.rotary import angles, steps


def _log_zeta(head_dim: int, gamma: PerHead) -> Float[Tensor, "*heads pairs"]:
    """Ln ζ_i, ζ_i = (2i/d + γ)/(1 + γ), to full relative precision for every γ > 0."""
    step, offset = steps(head_dim), column(gamma)
    zeta = (step + offset) / (1 + offset)
    return torch.where(zeta < 0.5, zeta.log(), torch.log1p((step - 1) / (1 + offset)))


def _log_decay(head_dim: int, gamma: PerHead, scale_base: PerHead) -> Float[Tensor, "*heads pairs"]:
    """ln(ζ_i)/B, per token."""
    # the clamp keeps the rate a number when scale_base is near the smallest float64
    rates = _log_zeta(head_dim, gamma) / column(scale_base)
    return rates.clamp(min=-torch.finfo(torch.float64).max)


@family(
    "xpos",
    "XPos",
    formula="λ_i = iθ_i + ln(ζ_i)/B,  ζ_i = (2i/d + γ)/(1 + γ)",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 9",
)
def xpos(
    head_dim: int,
    *,
    base: PerHead = 10_000.0,
    gamma: PerHead = 0.4,
    scale_base: PerHead = 512.0,
) -> Terms:
    r"""XPos: RoPE whose pair i also shrinks by ζ_i for every B tokens of distance.

    .. math:: \zeta_i = \frac{2i/d + \gamma}{1 + \gamma}

    (Sun et al. 2022, eq. 9). The defaults of γ and B are not in the paper's text: they
    are those of the authors' code, torchscale. All but `head_dim` are one number, or a
    tuple with one for each head: heads may then fade differently.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        Base of the rotation rates, as in :func:`rope`.
    gamma
        γ: how alike the pairs fade; a larger γ fades all of them less.
    scale_base
        B, tokens: a larger B fades everything more slowly, and B → ∞ is RoPE.

    Returns
    -------
    Encoding
        With λ_i = iθ_i + ln(ζ_i)/B: rotation and decay.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2, `base` not a finite number ≥ 1, or
        `gamma` or `scale_base` not a finite number > 0.

    Examples
    --------
    >>> xpos(4, scale_base=1.0).log_decay.exp()
    tensor([0.2857, 0.6429], dtype=torch.float64)
    >>> xpos(4, scale_base=(64, 512)).log_decay
    tensor([[-0.0196, -0.0069],
            [-0.0024, -0.0009]], dtype=torch.float64)
    """
    return Terms(angles(head_dim, base), _log_decay(head_dim, gamma, scale_base))


@family(
    "decay",
    "Decay only",
    formula="λ_i = ln(ζ_i)/B,  ζ_i = (2i/d + γ)/(1 + γ)",
    source="Sun et al. 2022, arXiv:2212.10554 (θ = 0)",
)
def decay(head_dim: int, *, gamma: PerHead = 0.4, scale_base: PerHead = 512.0) -> Terms:
    r"""Pure decay: XPos without its rotation, an ablation of the paper.

    Parameters
    ----------
    head_dim, gamma, scale_base
        As in :func:`xpos`, with its defaults.

    Returns
    -------
    Encoding
        With λ_i = ln(ζ_i)/B: decay without rotation.

    Raises
    ------
    ValueError
        For a `head_dim`, `gamma` or `scale_base` out of range.

    Examples
    --------
    >>> decay(4, scale_base=1.0).rates.exp().real
    tensor([0.2857, 0.6429], dtype=torch.float64)
    """
    fading = _log_decay(head_dim, gamma, scale_base)
    return Terms(torch.zeros_like(fading), fading)


@family(
    "retnet",
    "RetNet",
    formula="λ_i = iθ_i + ln(decay),  θ_i = base^(−i/(d/2−1))",
    source="Sun et al. 2023, arXiv:2307.08621 (torchscale)",
)
def retnet(head_dim: int, *, base: PerHead = 10_000.0, decay: PerHead = 0.96875) -> Terms:
    r"""RetNet's retention: all pairs of a head fade alike, and heads fade differently.

    The angles are those of the authors' code, torchscale: θ_i = base^(−i/(d/2−1)), which
    ends at 1/base and so is not RoPE's.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        Base of the rotation rates; one number, or one for each head.
    decay
        What is left after one token, in (0, 1]; one number, or one for each head as
        :func:`retnet_decays` gives them. The default is the paper's first head, 1 − 2^(−5).

    Returns
    -------
    Encoding
        With λ_i = iθ_i + ln(decay).

    Raises
    ------
    ValueError
        For a `head_dim`, `base` or `decay` out of range.

    Examples
    --------
    >>> retnet(4).theta
    tensor([1.0000e+00, 1.0000e-04], dtype=torch.float64)
    >>> retnet(64, decay=retnet_decays(8)).rates.shape
    torch.Size([8, 32])
    """
    pairs = head_dim // 2
    theta = column(base) ** -torch.linspace(0, 1, pairs, dtype=torch.float64)
    return Terms(theta, column(decay).log() * torch.ones(pairs, dtype=torch.float64))


def retnet_decays(heads: int) -> tuple[float, ...]:
    r"""What each head of RetNet keeps after one token: 1 − 2^(−5−h) (Sun et al. 2023).

    Parameters
    ----------
    heads
        How many heads.

    Returns
    -------
    tuple of float
        One decay for each head h = 0, 1 ….

    Raises
    ------
    ValueError
        If `heads` is no integer ≥ 1.

    Examples
    --------
    >>> retnet_decays(3)
    (0.96875, 0.984375, 0.9921875)
    """
    return tuple(1 - 2.0 ** (-5 - head) for head in range(check_heads(heads)))

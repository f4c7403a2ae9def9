r"""RoPE stretched beyond its training length: angles reshaped, and logits with a temperature.

Implementations put a temperature's square root on cos and sin, so on queries and on keys;
here it stands once, on the logits, as :attr:`Encoding.temperature`.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding.model import Terms, column, family
from xpos_viz.encoding.parameters import PerHead
from xpos_viz.encoding.rotary import angles, turning

Angles = Float[Tensor, "*heads pairs"]
Columns = Float[Tensor, "*heads one"]


def _ntk_angles(head_dim: int, base: PerHead, scale: Columns) -> Angles:
    """RoPE's angles at base·scale^(d/(d−2)): the slowest is divided by the scale."""
    pair = torch.arange(head_dim // 2, dtype=torch.float64)
    return angles(head_dim, base) * scale ** (-pair / max(head_dim // 2 - 1, 1))


def _blended(theta: Angles, factor: PerHead, kept: Angles) -> Angles:
    """θ/s, but θ itself where a pair is kept (1), and between them in between."""
    return theta * (kept + (1 - kept) / column(factor))


def _ramp(x: Tensor, first: Columns, last: Columns) -> Angles:
    """From 0 at `first` to 1 at `last`."""
    return ((x - first) / (last - first)).clamp(0, 1)


def _by_turns(
    theta: Angles, factor: PerHead, train_length: int, low_turns: PerHead, high_turns: PerHead
) -> Angles:
    """θ, stretched for the pairs that turn only a few times within the training length."""
    turns = theta * train_length / math.tau
    return _blended(theta, factor, _ramp(turns, column(low_turns), column(high_turns)))


def _yarn_temperature(factor: PerHead) -> Float[Tensor, "*heads"]:
    """The factor on the logits, (0.1·ln s + 1)²."""
    return (0.1 * column(factor).log() + 1).square().squeeze(-1)


@family(
    "interpolation",
    "Position interpolation",
    formula="λ_i = iθ_i/s,  θ_i = base^(−2i/d)",
    source="Chen et al. 2023, arXiv:2306.15595",
)
def interpolation(head_dim: int, *, base: PerHead = 10_000.0, factor: PerHead = 4.0) -> Terms:
    r"""Position interpolation: every pair turns s times more slowly.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        As in :func:`rope`; one number, or one for each head.
    factor
        s ≥ 1: how many times longer texts may be than in training; one number, or one for
        each head. The default is only a choice.

    Returns
    -------
    Encoding
        With λ_i = iθ_i/s.

    Raises
    ------
    ValueError
        For a `head_dim`, `base` or `factor` out of range.

    Examples
    --------
    >>> interpolation(4, factor=2.0).theta
    tensor([0.5000, 0.0050], dtype=torch.float64)
    """
    return turning(angles(head_dim, base) / column(factor))


@family(
    "ntk",
    "NTK-aware",
    formula="λ_i = i(base·s^(d/(d−2)))^(−2i/d)",
    source="Peng et al. 2023, arXiv:2309.00071 (NTK-aware)",
)
def ntk(head_dim: int, *, base: PerHead = 10_000.0, factor: PerHead = 4.0) -> Terms:
    r"""NTK-aware scaling: RoPE with a larger base, so that fast pairs stay and slow ones stretch.

    The base becomes :math:`\mathrm{base}\cdot s^{d/(d-2)}`: the first pair turns as before,
    the last one s times more slowly.

    Parameters
    ----------
    head_dim, base, factor
        As in :func:`interpolation`.

    Returns
    -------
    Encoding
        With RoPE's λ_i at the larger base.

    Raises
    ------
    ValueError
        For a `head_dim`, `base` or `factor` out of range.

    Examples
    --------
    >>> ntk(4, factor=2.0).theta
    tensor([1.0000, 0.0050], dtype=torch.float64)
    """
    return turning(_ntk_angles(head_dim, base, column(factor)))


@family(
    "dynamic_ntk",
    "Dynamic NTK",
    formula="λ_i = i(base·(s·L/L₀ − (s − 1))^(d/(d−2)))^(−2i/d),  L ≥ L₀",
    source="Peng et al. 2023, arXiv:2309.00071 (transformers)",
)
def dynamic_ntk(
    head_dim: int,
    *,
    base: PerHead = 10_000.0,
    factor: PerHead = 2.0,
    train_length: int = 2048,
    current_length: int = 4096,
) -> Terms:
    r"""Dynamic NTK: the scaling of :func:`ntk` grows once a text exceeds the training length.

    The scale is :math:`s L/L_0 - (s - 1)` for texts longer than L₀, and 1 for others. The
    defaults of s, L₀ and L are only a choice.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        As in :func:`rope`; one number, or one for each head.
    factor
        s ≥ 1: how steeply the scale grows; one number, or one for each head.
    train_length
        L₀, tokens.
    current_length
        L, tokens: how long the text is now.

    Returns
    -------
    Encoding
        With RoPE's λ_i at the larger base.

    Raises
    ------
    ValueError
        For a parameter out of range.

    Examples
    --------
    >>> dynamic_ntk(4, current_length=2048).theta, dynamic_ntk(4, current_length=4096).theta[1]
    (tensor([1.0000, 0.0100], dtype=torch.float64), tensor(0.0033, dtype=torch.float64))
    """
    longer = max(current_length, train_length) / train_length
    return turning(_ntk_angles(head_dim, base, column(factor) * (longer - 1) + 1))


@family(
    "longrope",
    "LongRoPE",
    formula="λ_i = iθ_i/e_i,  θ_i = base^(−2i/d);  logits × (1 + ln s/ln L₀)",
    source="Ding et al. 2024, arXiv:2402.13753 (transformers)",
)
def longrope(
    head_dim: int,
    *,
    base: PerHead = 10_000.0,
    factors: float | tuple[float, ...] = 4.0,
    factor: PerHead = 4.0,
    train_length: int = 2048,
) -> Terms:
    r"""LongRoPE: every pair is stretched by a factor of its own, found by search on a model.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        As in :func:`rope`; one number, or one for each head.
    factors
        e_i > 0, one number or one for each pair. They belong to a model: the default, one
        number for all, is only a choice and makes this position interpolation.
    factor
        s ≥ 1: how many times longer texts may be than in training; sets the temperature.
        One number, or one for each head; the default is only a choice.
    train_length
        L₀, tokens; the default is only a choice.

    Returns
    -------
    Encoding
        With λ_i = iθ_i/e_i and the temperature 1 + ln s/ln L₀ on the logits.

    Raises
    ------
    ValueError
        For a parameter out of range, or another number of factors than pairs.

    Examples
    --------
    >>> longrope(4, factors=(1.0, 2.0)).theta
    tensor([1.0000, 0.0050], dtype=torch.float64)
    >>> longrope(4).temperature
    1.1818
    """
    theta = angles(head_dim, base) / torch.as_tensor(factors, dtype=torch.float64)
    temperature = 1 + column(factor).log() / math.log(train_length)
    return Terms(theta, torch.zeros_like(theta), temperature=temperature.squeeze(-1))


@family(
    "yarn",
    "YaRN",
    formula="λ_i = iθ_i(1 − ρ_i)/s + iθ_iρ_i,  ρ_i = clip((r_i − α)/(β − α), 0, 1),"
    "  r_i = L₀θ_i/2π;  logits × (0.1·ln s + 1)²",
    source="Peng et al. 2023, arXiv:2309.00071",
)
def yarn(
    head_dim: int,
    *,
    base: PerHead = 10_000.0,
    factor: PerHead = 4.0,
    train_length: int = 2048,
    low_turns: PerHead = 1.0,
    high_turns: PerHead = 32.0,
) -> Terms:
    r"""YaRN as in the paper: slow pairs are interpolated, fast ones kept, by how often they turn.

    .. math:: \rho_i = \operatorname{clip}\!\left(
              \frac{L_0\theta_i/2\pi - \alpha}{\beta - \alpha}, 0, 1\right)

    :func:`yarn_hf` has another ramp. All but `head_dim` and `train_length` are one number,
    or one for each head.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        As in :func:`rope`.
    factor
        s ≥ 1: how many times longer texts may be than in training; the default is only a
        choice.
    train_length
        L₀, tokens; the default is only a choice.
    low_turns, high_turns
        α < β: pairs with fewer turns than α within L₀ are interpolated, those with more
        than β kept. The defaults are the paper's for LLaMA.

    Returns
    -------
    Encoding
        With λ_i between iθ_i/s and iθ_i, and the temperature (0.1·ln s + 1)² on the logits.

    Raises
    ------
    ValueError
        For a parameter out of range, or α ≥ β.

    Examples
    --------
    >>> yarn(64).temperature
    1.2965
    """
    theta = _by_turns(angles(head_dim, base), factor, train_length, low_turns, high_turns)
    return Terms(theta, torch.zeros_like(theta), temperature=_yarn_temperature(factor))


@family(
    "yarn_hf",
    "YaRN (transformers)",
    formula="λ_i = iθ_i(1 − ρ_i)/s + iθ_iρ_i,  ρ_i = clip((i(α) − i)/(i(α) − i(β)), 0, 1),"
    "  i(r) = d/2·ln(L₀/2πr)/ln base;  logits × (0.1·ln s + 1)²",
    source="Peng et al. 2023, arXiv:2309.00071 (transformers 5)",
)
def yarn_hf(
    head_dim: int,
    *,
    base: PerHead = 10_000.0,
    factor: PerHead = 4.0,
    train_length: int = 2048,
    low_turns: PerHead = 1.0,
    high_turns: PerHead = 32.0,
    truncate: int = 1,
) -> Terms:
    r"""YaRN as in Hugging Face transformers: the ramp is linear in the pair's index.

    It runs between the (real) indices at which a pair turns β and α times within L₀,

    .. math:: i(r) = \frac{d}{2}\,\frac{\ln(L_0 / 2\pi r)}{\ln \mathrm{base}}

    while the paper's (:func:`yarn`) is linear in the turns.

    Parameters
    ----------
    head_dim, base, factor, train_length, low_turns, high_turns
        As in :func:`yarn`.
    truncate
        1 rounds the ramp's ends outwards to whole pairs, as transformers does unless told
        otherwise; 0 does not.

    Returns
    -------
    Encoding
        With λ_i between iθ_i/s and iθ_i, and the temperature (0.1·ln s + 1)² on the logits.

    Raises
    ------
    ValueError
        For a parameter out of range, or α ≥ β.

    Examples
    --------
    >>> yarn_hf(64).theta[15] / yarn(64).theta[15]
    tensor(1.8013, dtype=torch.float64)
    """
    theta = angles(head_dim, base)
    tiny = torch.finfo(torch.float64).tiny
    slowness = 2 * column(base).log().clamp(min=tiny) / head_dim  # ln(θ_i/θ_{i+1})
    first, end = (
        (train_length / (math.tau * column(turns))).log() / slowness
        for turns in (high_turns, low_turns)
    )
    first, end = (first.floor(), end.ceil()) if truncate else (first, end)
    first, end = first.clamp(0, head_dim - 1), end.clamp(0, head_dim - 1)
    end = torch.where(first == end, end + 0.001, end)
    theta = _blended(theta, factor, 1 - _ramp(torch.arange(head_dim // 2), first, end))
    return Terms(theta, torch.zeros_like(theta), temperature=_yarn_temperature(factor))


@family(
    "llama3",
    "Llama 3",
    formula="λ_i = iθ_i(1 − ρ_i)/s + iθ_iρ_i,  ρ_i = clip((r_i − α)/(β − α), 0, 1),"
    "  r_i = L₀θ_i/2π",
    source="Llama team 2024, arXiv:2407.21783 (Llama 3.1)",
)
def llama3(
    head_dim: int,
    *,
    base: PerHead = 500_000.0,
    factor: PerHead = 8.0,
    train_length: int = 8192,
    low_turns: PerHead = 1.0,
    high_turns: PerHead = 4.0,
) -> Terms:
    r"""Llama 3: the ramp of :func:`yarn` with other ends and without a temperature.

    Parameters
    ----------
    head_dim, base, factor, train_length, low_turns, high_turns
        As in :func:`yarn`; α and β are called low_freq_factor and high_freq_factor
        elsewhere. The defaults are those of Llama 3.1.

    Returns
    -------
    Encoding
        With λ_i between iθ_i/s and iθ_i.

    Raises
    ------
    ValueError
        For a parameter out of range, or α ≥ β.

    Examples
    --------
    >>> llama3(64).theta[-1] * 8 / llama3(64, factor=1.0).theta[-1]
    tensor(1., dtype=torch.float64)
    """
    return turning(_by_turns(angles(head_dim, base), factor, train_length, low_turns, high_turns))

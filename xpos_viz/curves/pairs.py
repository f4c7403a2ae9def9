r"""Pairs one by one: how fast each turns and fades, and what it adds to a score."""

import math
from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.curves.shared import by_head, head_numbers, tidy
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout, checked, real_positions, share_heads, to_pairs
from xpos_viz.kernel import lag_sum

PerPair = Float[Tensor, "*heads pairs"]


def wavelength(encoding: Encoding) -> PerPair:
    r"""Tokens in which each pair turns once, :math:`2\pi/\theta_i` (Su et al. 2021, §3.2.2).

    Parameters
    ----------
    encoding
        The encoding.

    Returns
    -------
    Tensor
        (…, d/2), float64, tokens; inf where θ = 0.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> wavelength(rope(4))
    tensor([  6.2832, 628.3185], dtype=torch.float64)
    """
    return 2 * math.pi / encoding.theta.abs()


def half_life(encoding: Encoding) -> PerPair:
    r"""Tokens in which each pair fades to one half, :math:`-B\ln 2/\ln\zeta_i`.

    It solves ζ^(Δ/B) = 1/2 with ζ of Sun et al. 2022, eq. 9.

    Parameters
    ----------
    encoding
        The encoding.

    Returns
    -------
    Tensor
        (…, d/2), float64, tokens; inf where nothing fades.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> half_life(xpos(64))[[0, -1]].round(decimals=1)
    tensor([  283.3000, 15721.0000], dtype=torch.float64)
    """
    return math.log(2) / encoding.log_decay.abs()


def turns(encoding: Encoding, length: float) -> PerPair:
    r"""How often each pair turns within a length, :math:`L\theta_i/2\pi`.

    This is the r of YaRN's ramp (Peng et al. 2023, arXiv:2309.00071, §3.2): a pair with
    r < 1 never comes round within the training length, so later angles are new to a model.

    Parameters
    ----------
    encoding
        The encoding.
    length
        L, tokens, > 0.

    Returns
    -------
    Tensor
        (…, d/2), float64, turns.

    Raises
    ------
    ValueError
        If `length` is not a finite number > 0.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> turns(rope(4), 1024)
    tensor([162.9747,   1.6297], dtype=torch.float64)
    """
    if not 0 < length < math.inf:
        raise ValueError(f"length must be a finite number > 0, got {length!r}; use 1024 tokens.")
    return length / wavelength(encoding)


def pair_shares(
    q: Float[Tensor, "*batch head_dim"],
    k: Float[Tensor, "*key_batch head_dim"],
    encoding: Encoding,
    lag: float,
    *,
    layout: Layout = "interleaved",
) -> Float[Tensor, "*score_batch pairs"]:
    r"""What each pair adds to a score: :math:`\operatorname{Re}\,q_i\bar k_i e^{\lambda_i\Delta}`.

    The terms of the formula (Sun et al. 2022, eq. 10) one by one. The score is their sum:
    for Δ ≥ 0 `shares.sum(-1)` and :func:`xpos_viz.attention_scores` differ by no more than
    :data:`xpos_viz.kernel.SCORE_ERROR` allows, the rounding of the latter.

    Parameters
    ----------
    q, k
        One query (…, d) and one key (…, d) of one floating dtype; the last dimension before
        d is heads, as in :func:`xpos_viz.attention_scores`.
    encoding
        The encoding, of width d.
    lag
        Δ = m − n, tokens.
    layout
        How columns form pairs: "interleaved" or "half".

    Returns
    -------
    Tensor
        (…, d/2), float64, in units of the score, of either sign; ±inf where float64 ends.

    Raises
    ------
    ValueError
        For widths, heads, dtypes, a layout or a lag that do not fit.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> q, k = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.5, -1.0, 2.0, 0.25])
    >>> shares = pair_shares(q, k, xpos(4), 2)
    >>> shares, shares.sum().round(decimals=4)
    (tensor([-1.1885,  6.8418], dtype=torch.float64), tensor(5.6532, dtype=torch.float64))
    """
    distance = real_positions(lag, "lag")
    queries, keys = (x[..., None, :] if getattr(x, "ndim", 0) else x for x in (q, k))
    checked(queries, keys, encoding, distance[None], [0], layout)
    contents, others = (
        to_pairs(x, layout, encoding.rotary_width).to("cpu", torch.complex128).squeeze(-2)
        for x in (queries, share_heads(keys, queries))
    )
    products = contents * others.conj()
    return lag_sum(products[..., None], encoding.rates[..., None], distance)


def pair_table(encodings: Sequence[Encoding], length: float) -> pd.DataFrame:
    """Pairs of several encodings, one row per encoding, head and pair.

    Parameters
    ----------
    encodings
        The encodings.
    length
        The length in which turns are counted, tokens.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), head, pair, theta (rad/token), wavelength
        (tokens), log_decay (per token; its exponential is the share that is left after one
        token), half_life (tokens) and turns (in `length` tokens).

    Raises
    ------
    ValueError
        If `length` is not a finite number > 0.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> pair_table([xpos(4)], 1024).drop(columns=["encoding", "head", "theta"]).round(4)
       pair  wavelength  log_decay  half_life     turns
    0     0      6.2832    -0.0024   283.2869  162.9747
    1     1    628.3185    -0.0009   803.2256    1.6297
    """
    blocks: list[dict[str, Tensor | str]] = []
    for encoding in encodings:
        values = {
            "theta": encoding.theta,
            "wavelength": wavelength(encoding),
            "log_decay": encoding.log_decay,
            "half_life": half_life(encoding),
            "turns": turns(encoding, length),
        }
        pairs = torch.arange(encoding.rates.shape[-1])
        blocks.append(
            {"encoding": repr(encoding), "head": head_numbers([encoding.theta]), "pair": pairs}
            | {name: by_head(value) for name, value in values.items()}
        )
    names = ("theta", "wavelength", "log_decay", "half_life", "turns")
    return tidy(["encoding", "head", "pair", *names], blocks)

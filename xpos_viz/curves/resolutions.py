r"""Attention resolution: how well a curve of logits tells neighbouring distances apart.

.. math::

    R(s) = \frac{\sum_{i=0}^{N} e^{s_i}(e^{s_i} - e^{s_{i+1}})}{(\sum_{i=0}^{N} e^{s_i})^2}

(Sun et al. 2022, eq. 3). It is no property of an encoding alone: it depends on how the scores
are normalised, so a normalisation is always asked for and named in every label.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from xpos_viz.attention import AnyMask, attention_logits, visible_keys
from xpos_viz.choice import check_choice
from xpos_viz.curves.decay import decay_curve
from xpos_viz.curves.masked import lag_counts
from xpos_viz.curves.shared import by_head, head_numbers, tidy
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Positions, check_whole, token_positions
from xpos_viz.masks import Mask


@dataclass(frozen=True)
class Normalisation:
    """What scores are divided by before the exponential: how it is called, written, computed."""

    name: str
    written: str
    divisor: Callable[[int], float]


NORMALISATIONS: Mapping[str, Normalisation] = MappingProxyType(
    {
        row.name: row
        for row in (
            Normalisation("raw", "", lambda _: 1.0),
            Normalisation("sqrt_d", "/√d", math.sqrt),
            Normalisation("half_d", "/(d/2)", lambda head_dim: head_dim / 2),
        )
    }
)
"""How scores may be normalised, by name: as they are, as logits are, or to 1 at lag 0."""


@dataclass(frozen=True, eq=False)
class Diagonals:
    """Means along the diagonals of a matrix.

    Parameters
    ----------
    lags
        Lags that the mask shows, ascending, tokens, (L,).
    mean
        Mean over the visible cells with this lag, (…, L), float64; NaN where there is none.
    counts
        How many cells these are, (…, L).
    """

    lags: Float[Tensor, " lags"]
    mean: Float[Tensor, "*batch lags"]
    counts: Int[Tensor, "*batch lags"]


def resolution_label(normalisation: str, symbol: str = "g") -> str:
    """Return how the resolution of a curve is written, with its normalisation.

    Raises
    ------
    ValueError
        For an unknown normalisation.

    Examples
    --------
    >>> [resolution_label(name) for name in NORMALISATIONS]
    ['R(g)', 'R(g/√d)', 'R(g/(d/2))']
    """
    return f"R({symbol}{_normalisation(normalisation).written})"


def resolution(curve: Float[Tensor, "*batch lags"]) -> Float[Tensor, "*batch"]:
    r"""Attention resolution R of curves of logits (Sun et al. 2022, eq. 3).

    The sum runs over neighbours, i = 0 … N for a curve of N + 2 values. A constant curve has
    R = 0, a line −c·i of infinite length (1 − r)²/(1 + r) with r = e^(−c). R ≤ 1, and it is
    negative for a curve that rises. It is stable for values of any size: every exponential
    is taken relative to the whole sum, and −inf where R itself is beyond float64.

    Parameters
    ----------
    curve
        Logits at the lags 0, 1, … N + 1, (…, N + 2), N ≥ 0.

    Returns
    -------
    Tensor
        (…), float64, without a unit; NaN for a curve with a NaN.

    Raises
    ------
    ValueError
        For a curve of fewer than two values.

    Examples
    --------
    >>> import torch
    >>> resolution(-torch.arange(1000.0)), resolution(1e6 * torch.ones(3))
    (tensor(0.2921, dtype=torch.float64), tensor(0., dtype=torch.float64))
    """
    if curve.ndim == 0 or curve.shape[-1] < 2:
        raise ValueError(
            f"a curve must have at least two values, got shape {tuple(curve.shape)}; "
            "use the logits at lags 0, 1, … N + 1."
        )
    s = curve.double()
    near, far = s[..., :-1], s[..., 1:]
    whole = near.logsumexp(-1, keepdim=True)
    step = near - far  # eq. 3 is a sum of e^(s_i + larger neighbour) · ±(1 − e^(−|step|))
    scale = ((near - whole) + (torch.maximum(near, far) - whole)).exp()
    return (scale * -step.sign() * torch.expm1(-step.abs())).sum(-1)


def expectation_resolution(
    encoding: Encoding, *, tokens: int, normalisation: str, mask: Mask | str = "causal"
) -> Float[Tensor, "*heads"]:
    r"""Resolution of the expectation curve: of g, normalised, with temperature and bias.

    The curve is :math:`s[\Delta] = g[\Delta]` / normalisation × temperature + bias, as logits
    are made; for RoPE and XPos temperature and bias are neutral.

    Parameters
    ----------
    encoding
        The encoding.
    tokens
        N + 1, the terms of the sum: the curve is taken at the lags 0 … `tokens`, as far as
        the mask shows them.
    normalisation
        A key of :data:`NORMALISATIONS`.
    mask
        A mask or its word. The sum ends where the mask does: under "blockwise:512" with the
        lags 1022 and 1023.

    Returns
    -------
    Tensor
        (…), float64, without a unit.

    Raises
    ------
    ValueError
        For an unknown normalisation or mask, or if fewer than two lags are shown.

    Examples
    --------
    >>> from xpos_viz import rope, xpos
    >>> for encoding in (rope(64), xpos(64)):
    ...     raw, logits = (
    ...         expectation_resolution(encoding, tokens=1024, normalisation=name).item()
    ...         for name in ("raw", "sqrt_d")
    ...     )
    ...     print(f"{raw:.6f} {logits:.5e}")
    0.411640 1.28383e-04
    0.420692 1.48365e-04
    """
    check_whole("tokens", tokens, 1, "use 1024, for instance.")
    lags, _ = lag_counts(mask, tokens + 1)
    lags = lags[lags >= 0]
    scale = 1 / _normalisation(normalisation).divisor(encoding.head_dim)
    at = {"query_positions": lags[-1:], "key_positions": lags[-1] - lags}
    scores = decay_curve(encoding, lags)[..., None, :]
    logits = attention_logits(scores, encoding, mask="none", scale=scale, **at)
    return resolution(logits[..., 0, :])


def diagonal_mean(
    values: Float[Tensor, "*batch query_tokens key_tokens"],
    mask: AnyMask = "causal",
    *,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> Diagonals:
    r"""Mean of a matrix along each diagonal, over the cells that are seen.

    .. math:: \hat s[n] = \operatorname{mean}_i\, e_{i, i - n}

    (Sun et al. 2022, eq. 11, where e are logits before the softmax; the mean over layers and
    texts is then one over the dimensions in front.)

    Parameters
    ----------
    values
        Logits or scores (…, L_q, L_k). Those of masked cells do not matter.
    mask
        A mask, its word, or a bool tensor (True = may attend).
    query_positions, key_positions
        (L_q,) and (L_k,), as in :func:`xpos_viz.attention_logits`.

    Returns
    -------
    Diagonals
        Lags, means and counts; only lags that the mask shows.

    Raises
    ------
    ValueError
        For a mask or positions that do not fit.

    Examples
    --------
    >>> import torch
    >>> seen = diagonal_mean(torch.tensor([[1.0, 9.0], [2.0, 3.0]]))
    >>> seen.lags, seen.mean
    (tensor([0., 1.], dtype=torch.float64), tensor([2., 2.], dtype=torch.float64))
    """
    m, n = token_positions(values.shape[-2], values.shape[-1], query_positions, key_positions)
    if m.ndim > 1 or n.ndim > 1:
        raise ValueError(
            f"positions must have the shape (tokens,), got {tuple(m.shape)} and {tuple(n.shape)}; "
            "use one call for each text of the batch."
        )
    visible = _fitting(visible_keys(mask, m, n).to(values.device), values)
    lags, place = _places(m, n)

    def summed(x: Tensor) -> Tensor:
        """Sum the cells of each lag."""
        zeros = x.new_zeros(*x.shape[:-2], len(lags))
        return zeros.index_add(-1, place.flatten().to(x.device), x.flatten(-2))

    counts = summed(visible.long())
    total = summed(values.double().masked_fill(~visible, 0.0))
    shown = (counts > 0).reshape(-1, len(lags)).any(0)
    mean = total / counts
    return Diagonals(lags[shown.cpu()], mean[..., shown], counts[..., shown])


def score_resolution(
    scores: Float[Tensor, "*batch query_tokens key_tokens"],
    encoding: Encoding,
    *,
    normalisation: str,
    mask: AnyMask = "causal",
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> Float[Tensor, "*batch"]:
    r"""Resolution of real logits, averaged along their diagonals (Sun et al. 2022, eq. 3 and 11).

    Parameters
    ----------
    scores
        Unscaled scores (…, L_q, L_k), from :func:`xpos_viz.attention_scores`.
    encoding
        Its width gives the normalisation; its temperature and bias enter, as in logits.
    normalisation
        A key of :data:`NORMALISATIONS`.
    mask, query_positions, key_positions
        As in :func:`diagonal_mean`; of the lags that are seen, those ≥ 0 count.

    Returns
    -------
    Tensor
        (…), float64, one value for each matrix. The paper takes the mean over layers and
        texts first: `score_resolution(scores.mean(0), …)`.

    Raises
    ------
    ValueError
        For an unknown normalisation, a mask or positions that do not fit, fewer than two
        lags, or lags with a gap between them (eq. 3 compares neighbours).

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import attention_scores, xpos
    >>> q = k = torch.ones(512, 64)
    >>> scores = attention_scores(q, k, xpos(64))
    >>> score_resolution(scores, xpos(64), normalisation="half_d").item()
    2.727e-05
    """
    scale = 1 / _normalisation(normalisation).divisor(encoding.head_dim)
    at = {"query_positions": query_positions, "key_positions": key_positions}
    logits = attention_logits(scores, encoding, mask=mask, scale=scale, **at)
    diagonals = diagonal_mean(logits, mask, **at)
    lags = diagonals.lags[diagonals.lags >= 0]
    if not torch.equal(lags, torch.arange(len(lags), dtype=lags.dtype)):
        raise ValueError(
            f"the lags that are seen must be 0, 1, 2 … without a gap, got {len(lags)} of them up "
            f"to {float(lags[-1]):g}; use diagonal_mean for lags with gaps."
        )
    return resolution(diagonals.mean[..., diagonals.lags >= 0])


def resolution_table(
    encodings: Sequence[Encoding],
    *,
    tokens: int,
    normalisations: Sequence[str] = tuple(NORMALISATIONS),
    masks: Sequence[Mask | str] = ("causal",),
) -> pd.DataFrame:
    """Resolution of expectation curves, one row per encoding, mask and head.

    Parameters
    ----------
    encodings, tokens
        As in :func:`expectation_resolution`.
    normalisations
        Keys of :data:`NORMALISATIONS`, one column each.
    masks
        Masks or their words.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), mask (its word), head, and R without a unit
        under each normalisation, named by :func:`resolution_label`.

    Raises
    ------
    ValueError
        For an unknown normalisation or mask, or if fewer than two lags are shown.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> resolution_table([rope(64)], tokens=1024, normalisations=["raw", "sqrt_d"]).round(6)
                       encoding    mask  head     R(g)   R(g/√d)
    0  rope(64, base=10000.0)  causal     0  0.41164  0.000128
    """
    labels = {resolution_label(name): name for name in normalisations}
    blocks: list[dict[str, Tensor | str]] = []
    for encoding, mask in product(encodings, masks):
        values = {
            label: by_head(
                expectation_resolution(encoding, tokens=tokens, normalisation=name, mask=mask)[
                    ..., None
                ]
            )
            for label, name in labels.items()
        }
        heads = head_numbers([*values.values()])
        blocks.append({"encoding": repr(encoding), "mask": str(mask), "head": heads} | values)
    return tidy(["encoding", "mask", "head", *labels], blocks)


def _fitting(
    visible: Bool[Tensor, "..."], values: Float[Tensor, "..."]
) -> Bool[Tensor, "... query_tokens key_tokens"]:
    """The mask with a cell for each of the values, or ValueError if it has another one."""
    try:
        shape = np.broadcast_shapes(visible.shape, values.shape)
    except ValueError:
        shape = ()
    if shape[-2:] != values.shape[-2:]:
        raise ValueError(
            f"mask must fit values of shape {tuple(values.shape)}, got {tuple(visible.shape)}; "
            "use one row per query and one column per key."
        )
    return visible.expand(*visible.shape[:-2], *values.shape[-2:])


def _places(
    m: Float[Tensor, " query_tokens"], n: Float[Tensor, " key_tokens"]
) -> tuple[Float[Tensor, " lags"], Int[Tensor, "query_tokens key_tokens"]]:
    """Ascending lags, all that occur among them, and the place of each cell's lag."""
    lags = m[:, None] - n
    if lags.numel():
        steps = lags - lags.min()
        if float(steps.max()) < lags.numel() and torch.equal(steps, steps.floor()):
            return lags.min() + torch.arange(float(steps.max()) + 1).double(), steps.long()
    distinct, where = np.unique(lags.numpy(), return_inverse=True)
    return torch.as_tensor(distinct), torch.as_tensor(where).reshape(lags.shape)


def _normalisation(name: str) -> Normalisation:
    """The row of the table called `name`, or ValueError with the names there are."""
    check_choice("normalisation", name, NORMALISATIONS)
    return NORMALISATIONS[name]

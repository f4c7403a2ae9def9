r"""From scores to logits to weights: scale, bias, mask and softmax, each visible."""

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import Positions, is_finite, token_positions
from xpos_viz.masks import Mask

AnyMask = Mask | str | Bool[Tensor, "... query_tokens key_tokens"]
"""A mask, its word (:mod:`xpos_viz.masks`), or a bool tensor (True = may attend)."""


def visible_keys(
    mask: AnyMask,
    query_positions: Float[Tensor, "*batch query_tokens"],
    key_positions: Float[Tensor, "*batch key_tokens"],
) -> Bool[Tensor, "*batch query_tokens key_tokens"]:
    """Which keys each query may attend to (True), as in scaled_dot_product_attention.

    Parameters
    ----------
    mask
        A mask or its word, such as "causal" or "sliding:256" (:mod:`xpos_viz.masks`); or a
        bool tensor, which is returned as it is.
    query_positions, key_positions
        Positions, tokens, (…, L_q) and (…, L_k).

    Returns
    -------
    Tensor
        (…, L_q, L_k), bool.

    Raises
    ------
    ValueError
        For a word that is no mask, or a tensor of another dtype.
    """
    if not isinstance(mask, Tensor):
        return Mask.of(mask).visible(query_positions, key_positions)
    if mask.dtype != torch.bool:
        raise ValueError(
            f"mask must be bool (True = may attend), got {mask.dtype}; use mask.bool()."
        )
    return mask


def attention_logits(
    scores: Float[Tensor, "*batch query_tokens key_tokens"],
    encoding: Encoding,
    *,
    mask: AnyMask = "causal",
    scale: float | None = None,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> Float[Tensor, "*batch query_tokens key_tokens"]:
    r"""Logits: scores × scale × temperature + bias, with masked cells at −inf.

    Parameters
    ----------
    scores
        Unscaled scores (…, L_q, L_k), from :func:`xpos_viz.attention_scores`.
    encoding
        Its width gives the default scale; its temperature and bias enter here, with one
        matrix for each head where heads differ.
    mask
        "causal" (m ≥ n), "none", another word of :mod:`xpos_viz.masks`, or a bool tensor
        (True = may attend) that fits the scores.
    scale
        A factor; None is 1/√d (Vaswani et al. 2017).
    query_positions, key_positions
        As in :func:`xpos_viz.apply_encoding`.

    Returns
    -------
    Tensor
        (…, L_q, L_k), of the dtype of the scores; (heads, L_q, L_k) of scores (L_q, L_k)
        where the encoding's heads differ.

    Raises
    ------
    ValueError
        For a mask, scale, positions or heads that do not fit.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import attention_logits, rope
    >>> attention_logits(torch.ones(2, 2), rope(4))
    tensor([[0.5000,   -inf],
            [0.5000, 0.5000]])
    """
    factor = logit_factor(encoding, scale)
    queries, keys = scores.shape[-2], scores.shape[-1]
    m, n = token_positions(queries, keys, query_positions, key_positions)
    _check_heads(scores, encoding)
    logits = (scores * factor).to(scores)
    if encoding.bias is not None:
        bias = encoding.bias(m[..., :, None] - n[..., None, :])
        logits = logits + _beside(bias, max(m.ndim, n.ndim) - 1, scores).to(logits)
    m, n = (positions.reshape(_batched(positions, scores)) for positions in (m, n))
    visible = visible_keys(mask, m, n).to(scores.device)
    _check_fits(visible, logits)
    return torch.where(visible, logits, -torch.inf)


def attention_weights(
    logits: Float[Tensor, "*batch query_tokens key_tokens"],
) -> Float[Tensor, "*batch query_tokens key_tokens"]:
    """Softmax over the keys: rows sum to 1; a row with every key masked is zero.

    Parameters
    ----------
    logits
        (…, L_q, L_k), from :func:`attention_logits`. Logits of +inf share the whole weight.

    Returns
    -------
    Tensor
        Weights (…, L_q, L_k), of the dtype of the logits.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import attention_weights
    >>> attention_weights(torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]]))
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000]])
    """
    weights = logits.softmax(-1)
    if not weights[..., :1].isnan().any():  # else a row sees no key, or has a logit of +inf
        return weights
    blind = logits.amax(-1, keepdim=True) == -torch.inf
    bounded = torch.where(blind, 0.0, logits).clamp(max=torch.finfo(logits.dtype).max)
    return torch.where(blind, 0.0, bounded.softmax(-1))


def root_scale(encoding: Encoding) -> float:
    """What scores are multiplied by unless told otherwise: 1/√d (Vaswani et al. 2017)."""
    return encoding.head_dim**-0.5


def logit_factor(
    encoding: Encoding, scale: float | None = None
) -> float | Float[Tensor, "heads 1 1"]:
    """What scores are multiplied by: a scale, 1/√d if None, times the encoding's temperature."""
    factor = root_scale(encoding) if scale is None else scale
    if not (is_finite(factor) and factor > 0):
        raise ValueError(f"scale must be a finite number > 0, got {scale!r}; use None for 1/√d.")
    return factor * encoding.temperature


def _batched(positions: Tensor, scores: Tensor) -> tuple[int, ...]:
    """The shape of positions (batch, L) beside scores (batch, …, L_q, L_k)."""
    batch = positions.shape[:-1]
    return (*batch, *[1] * (scores.ndim - 2 - len(batch)), positions.shape[-1])


def _beside(bias: Tensor, batches: int, scores: Tensor) -> Tensor:
    """A bias (batch?, heads?, L_q, L_k) with room for the other dimensions of the scores."""
    if batches and bias.ndim > scores.ndim:
        raise ValueError(
            "scores must have each dimension of the bias (batch, heads, L_q, L_k), got "
            f"{tuple(scores.shape)} and a bias {tuple(bias.shape)}; use scores[:, None]."
        )
    gap = [1] * (scores.ndim - bias.ndim)
    return bias.reshape(*bias.shape[:batches], *gap, *bias.shape[batches:])


def _check_heads(scores: Tensor, encoding: Encoding) -> None:
    """Raise ValueError unless the scores have the heads of bias or temperature, one, or none."""
    differ = encoding.bias is not None or isinstance(encoding.temperature, Tensor)
    heads = encoding.heads if differ else None
    if heads and scores.ndim > 2 and scores.shape[-3] not in (1, heads):
        raise ValueError(
            f"the encoding has values for {heads} heads, got scores of shape "
            f"{tuple(scores.shape)}; use an encoding with as many heads, or scores[:, None]."
        )


def _check_fits(visible: Tensor, scores: Tensor) -> None:
    """Raise ValueError unless the mask broadcasts to the scores without enlarging them."""
    try:
        fits = np.broadcast_shapes(visible.shape, scores.shape) == scores.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask must fit scores of shape {tuple(scores.shape)}, got {tuple(visible.shape)}; "
            "use one row per query and one column per key."
        )

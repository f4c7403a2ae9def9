r"""Numbers of attention weights, one per query: how spread, how far, how much near or first.

All of them read weights (…, L_q, L_k), whose rows sum to 1
(:func:`xpos_viz.attention_weights`), and give (…, L_q) in float64, summed in the dtype of the
weights, at least float32. A row with every key masked is zero and has no attention: NaN.
"""

import math

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.entry import Positions, is_finite, token_positions

Weights = Float[Tensor, "*batch query_tokens key_tokens"]
PerQuery = Float[Tensor, "*batch query_tokens"]


def attention_entropy(weights: Weights) -> PerQuery:
    r"""Entropy of each query's attention, :math:`-\sum_n w_n \ln w_n`, in nats.

    Shannon 1948; for attention Ghader and Monz 2017 (arXiv:1710.03348). It is 0 for one key,
    ln L for L equal ones; its exponential is the number of keys attended to, so to say, and
    divided by ln 2 it is in bits.

    Parameters
    ----------
    weights
        (…, L_q, L_k), from :func:`xpos_viz.attention_weights`.

    Returns
    -------
    Tensor
        (…, L_q), float64, nats; NaN for a query that sees no key.

    Examples
    --------
    >>> import torch
    >>> attention_entropy(torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 0.0]]))
    tensor([0.0000, 0.6931,    nan], dtype=torch.float64)
    """
    w = _wide(weights)
    logs = w.clamp(min=torch.finfo(w.dtype).tiny).log()
    return _where_seen(weights, -(w * logs).sum(-1))


def attention_distance(
    weights: Weights,
    *,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> PerQuery:
    r"""Mean distance of each query's attention, :math:`\sum_n w_n |m - n|`, in tokens.

    For attention over text Vig and Belinkov 2019 (arXiv:1906.04284).

    Parameters
    ----------
    weights
        (…, L_q, L_k), from :func:`xpos_viz.attention_weights`.
    query_positions, key_positions
        (L,) or (batch, L), as in :func:`xpos_viz.attention_logits`.

    Returns
    -------
    Tensor
        (…, L_q), float64, tokens; NaN for a query that sees no key.

    Raises
    ------
    ValueError
        For positions that do not fit.

    Examples
    --------
    >>> import torch
    >>> attention_distance(torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
    tensor([0.0000, 0.5000], dtype=torch.float64)
    """
    lags, _, _ = _places(weights, query_positions, key_positions)
    w = _wide(weights)
    return _where_seen(weights, (w * lags.abs().to(w)).sum(-1))


def window_share(
    weights: Weights,
    window: float,
    *,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> PerQuery:
    r"""Share of each query's attention on keys with |m − n| < w.

    For causal weights these are the keys that the mask "sliding:w" would leave, the query's
    own among them (Beltagy et al. 2020, arXiv:2004.05150).

    Parameters
    ----------
    weights
        (…, L_q, L_k), from :func:`xpos_viz.attention_weights`.
    window
        w, tokens, > 0.
    query_positions, key_positions
        (L,) or (batch, L), as in :func:`xpos_viz.attention_logits`.

    Returns
    -------
    Tensor
        (…, L_q), float64, in [0, 1]; NaN for a query that sees no key.

    Raises
    ------
    ValueError
        For positions that do not fit, or a window that is not a number > 0.

    Examples
    --------
    >>> import torch
    >>> window_share(torch.tensor([[1.0, 0.0], [0.25, 0.75]]), 1)
    tensor([1.0000, 0.7500], dtype=torch.float64)
    """
    if not (is_finite(window) and window > 0):
        raise ValueError(f"window must be a number of tokens > 0, got {window!r}; use 128.")
    lags, _, _ = _places(weights, query_positions, key_positions)
    near = lags.abs() < window
    return _where_seen(weights, (_wide(weights) * near).sum(-1))


def sink_share(weights: Weights, *, key_positions: Positions | None = None) -> PerQuery:
    """Share of each query's attention on the first token, the sink.

    Xiao et al. 2023 (arXiv:2309.17453): models put attention that they do not need there.

    Parameters
    ----------
    weights
        (…, L_q, L_k), from :func:`xpos_viz.attention_weights`, of at least one key.
    key_positions
        (L_k,) or (batch, L_k): the first token is the key at the smallest position, which is
        key 0 unless told otherwise.

    Returns
    -------
    Tensor
        (…, L_q), float64, in [0, 1]; NaN for a query that sees no key.

    Raises
    ------
    ValueError
        For positions that do not fit, or if there are no keys.

    Examples
    --------
    >>> import torch
    >>> sink_share(torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    tensor([1.0000, 0.2500], dtype=torch.float64)
    """
    queries, keys = weights.shape[-2:]
    if keys == 0:
        raise ValueError(
            f"weights must have at least one key, got shape {tuple(weights.shape)}; "
            "use weights of keys that include the first token."
        )
    _, _, n = _places(weights, range(queries), key_positions)
    first = n.argmin(-1, keepdim=True)[..., None, :].expand(*weights.shape[:-1], 1)
    return _where_seen(weights, weights.gather(-1, first).squeeze(-1))


def total_variation(weights: Weights, others: Weights) -> PerQuery:
    r"""Share of each query's attention that moves, :math:`\tfrac12\sum_n |w'_n - w_n|`.

    The total variation distance of two distributions: 0 if they are the same, 1 if they have no
    key in common.

    Parameters
    ----------
    weights, others
        w and w', (…, L_q, L_k), from :func:`xpos_viz.attention_weights`.

    Returns
    -------
    Tensor
        (…, L_q), float64, in [0, 1]; NaN for a query that sees no key.

    Raises
    ------
    ValueError
        For weights of different shapes.

    Examples
    --------
    >>> import torch
    >>> total_variation(
    ...     torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[0.0, 1.0], [0.4, 0.6]])
    ... )
    tensor([1.0000, 0.1000], dtype=torch.float64)
    """
    if weights.shape != others.shape:
        raise ValueError(
            f"both weights must have one shape, got {tuple(weights.shape)} and "
            f"{tuple(others.shape)}; use the same queries and keys."
        )
    moved = (_wide(others) - _wide(weights)).abs().sum(-1) / 2
    return _where_seen(weights, moved)


def attention_table(
    weights: Weights,
    *,
    window: float,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
) -> pd.DataFrame:
    """All numbers of some weights, one row per text, head and query.

    Parameters
    ----------
    weights
        (L_q, L_k), (heads, L_q, L_k) or (batch, heads, L_q, L_k).
    window
        w of :func:`window_share`, tokens.
    query_positions, key_positions
        (L,) or (batch, L), as in :func:`xpos_viz.attention_logits`.

    Returns
    -------
    DataFrame
        Columns batch, head, query (position, tokens), entropy (nats), distance (tokens),
        window_share and sink_share (in [0, 1]); NaN for a query that sees no key.

    Raises
    ------
    ValueError
        For weights of more dimensions, or positions or a window that do not fit.

    Examples
    --------
    >>> import torch
    >>> weights = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    >>> attention_table(weights, window=1).drop(columns=["batch", "head"]).round(4)
       query  entropy  distance  window_share  sink_share
    0    0.0   0.0000      0.00          1.00        1.00
    1    1.0   0.5623      0.25          0.75        0.25
    """
    if weights.ndim not in (2, 3, 4):
        raise ValueError(
            f"weights must have the shape (…, L_q, L_k) with batch and heads at most in front, "
            f"got {tuple(weights.shape)}; use one matrix, or flatten what stands in front."
        )
    at = {"query_positions": query_positions, "key_positions": key_positions}
    _, m, _ = _places(weights, **at)
    columns = {
        "query": m.expand(weights.shape[:-1]),
        "entropy": attention_entropy(weights),
        "distance": attention_distance(weights, **at),
        "window_share": window_share(weights, window, **at),
        "sink_share": sink_share(weights, key_positions=key_positions),
    }
    shape = (*(1,) * (4 - weights.ndim), *weights.shape[:-1])
    batch, head, _ = np.indices(shape).reshape(3, -1)
    values = {name: column.detach().cpu().flatten().numpy() for name, column in columns.items()}
    return pd.DataFrame({"batch": batch, "head": head} | values)


def _places(
    weights: Weights, query_positions: Positions | None, key_positions: Positions | None
) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."], Float[Tensor, "..."]]:
    """Lags and positions with room for the dimensions in front of the weights."""
    queries, keys = weights.shape[-2:]
    positions = token_positions(queries, keys, query_positions, key_positions)
    m, n = (
        p.reshape(*p.shape[:-1], *[1] * (weights.ndim - 1 - p.ndim), p.shape[-1]).to(weights.device)
        for p in positions
    )
    return m[..., :, None] - n[..., None, :], m, n


def _wide(weights: Weights) -> Weights:
    """Weights in single precision at least."""
    return weights.to(torch.promote_types(weights.dtype, torch.float32))


def _where_seen(weights: Weights, values: PerQuery) -> PerQuery:
    """Values of the queries that see a key, and NaN for the others."""
    return values.double().masked_fill(weights.sum(-1) == 0, math.nan)

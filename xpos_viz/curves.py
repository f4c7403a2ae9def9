r"""Curves over distance: what an encoding does when content is left out."""

from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import Positions, real_positions
from xpos_viz.kernel import lag_sum, over_lags

_LAGS = 1 << 16  # lags summed at a time, which bounds the memory


def decay_curve(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    r"""The expectation curve :math:`g[\Delta] = \operatorname{Re}\sum_i e^{\lambda_i\Delta}`.

    For XPos this is Σ_i cos(Δθ_i) ζ_i^(Δ/B) (Sun et al. 2022, eq. 8, over the d/2 pairs).
    With q = k = ones, the score is 2·g[m − n].

    Parameters
    ----------
    encoding
        The encoding.
    lags
        Lags Δ = m − n, tokens, whole or real, of any shape.

    Returns
    -------
    Tensor
        (…, lags), float64, without a unit; d/2 at lag 0. For Δ < 0, where XPos grows, ±inf
        where float64 ends.

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import decay_curve, rope, xpos
    >>> decay_curve(rope(64), [0, 1024])
    tensor([32.0000,  8.4136], dtype=torch.float64)
    >>> decay_curve(xpos(64), [0, 1024])
    tensor([32.0000,  5.8173], dtype=torch.float64)
    """
    distance = real_positions(lags, "lags")
    flat, rates = distance.reshape(-1), encoding.rates
    ones = torch.ones(rates.shape[-1], dtype=rates.dtype)
    parts = [flat[start : start + _LAGS] for start in range(0, max(len(flat), 1), _LAGS)]
    curve = torch.cat([lag_sum(ones, over_lags(rates, part), part) for part in parts], -1)
    return curve.reshape(rates.shape[:-1] + distance.shape)


def decay_table(encodings: Sequence[Encoding], lags: Positions) -> pd.DataFrame:
    """Expectation curves of several encodings, one row per encoding, head and lag.

    Parameters
    ----------
    encodings
        The encodings.
    lags
        Lags, tokens, (L,).

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), head, lag (tokens) and g (no unit).

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import decay_table, rope
    >>> decay_table([rope(2, base=10.0)], [0, 1]).round(4)
                encoding  head  lag       g
    0  rope(2, base=10.0)     0  0.0  1.0000
    1  rope(2, base=10.0)     0  1.0  0.5403
    """
    distance = real_positions(lags, "lags").reshape(-1)
    length = len(distance)
    curves = [
        (repr(encoding), head, curve)
        for encoding in encodings
        for head, curve in enumerate(decay_curve(encoding, distance).reshape(-1, max(length, 1)))
    ]
    return pd.DataFrame(
        {
            "encoding": [name for name, _, _ in curves for _ in range(length)],
            "head": [head for _, head, _ in curves for _ in range(length)],
            "lag": distance.repeat(len(curves)),
            "g": torch.cat([distance[:0], *(curve for _, _, curve in curves)]),
        }
    )

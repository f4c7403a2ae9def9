"""All families of encodings beside each other: what their curves do at a few distances."""

from collections.abc import Iterable
from functools import lru_cache

import pandas as pd

from xpos_viz.curves import decay_curve
from xpos_viz.encoding import Encoding

LAGS: tuple[int, ...] = (1, 16, 256, 4096, 65_536)
"""Distances from near to far, tokens."""


@lru_cache(maxsize=128)
def shares(encoding: Encoding, lags: tuple[int, ...] = LAGS) -> tuple[float, ...]:
    """Return g at each lag as a share of g at lag 0 (Sun et al. 2022, eq. 8).

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> [round(share, 3) for share in shares(xpos(64))]
    [0.965, 0.601, 0.324, 0.035, -0.001]
    """
    start, *curve = decay_curve(encoding, (0, *lags)).tolist()
    return tuple(value / start for value in curve)


def share_table(encodings: Iterable[Encoding], lags: tuple[int, ...] = LAGS) -> pd.DataFrame:
    """Return the shares of some encodings as a table.

    Returns
    -------
    DataFrame
        One row per encoding: encoding (the call that makes it), formula, source, and a column
        for each distance, named g(1)/g(0) and so on.
    """
    return pd.DataFrame(
        [
            {
                "encoding": repr(encoding),
                "formula": encoding.family.formula,
                "source": encoding.family.source,
                **{
                    f"g({lag})/g(0)": share
                    for lag, share in zip(lags, shares(encoding, lags), strict=True)
                },
            }
            for encoding in encodings
        ]
    )

"""What the modules of this room share: tables, and checks of whole numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.entry import Positions, real_positions

_KINDS = {  # columns that hold something else than real numbers
    "encoding": object,
    "assumption": object,
    "mask": object,
    "head": np.int64,
    "pair": np.int64,
    "count": np.int64,
}


def tidy(columns: Sequence[str], blocks: Iterable[Mapping[str, Tensor | str]]) -> pd.DataFrame:
    """Blocks of rows under one another, each column of a kind of its own even without rows.

    The values of a block are broadcast against each other and read row by row, so that a
    text or a number stands in every row where it holds.
    """
    rows = [np.broadcast_arrays(*(np.asarray(block[name]) for name in columns)) for block in blocks]
    data = {
        name: np.concatenate([np.empty(0, kind), *(row[place].reshape(-1) for row in rows)])
        for place, name in enumerate(columns)
        for kind in (_KINDS.get(name, np.float64),)
    }
    return pd.DataFrame(data).astype({n: str for n in columns if _KINDS.get(n) is object})


def by_head(values: Float[Tensor, "*heads_and_entries"]) -> Float[Tensor, "heads entries"]:
    """Values (…, entries) with all dimensions in front as one, of size 1 if there are none."""
    return values.reshape(values.shape[:-1].numel(), values.shape[-1])


def head_numbers(values: Sequence[Float[Tensor, "..."]]) -> Int[Tensor, "heads one"]:
    """Numbers of the heads, one a row, of the values (…, entries) that have most of them."""
    return torch.arange(max((by_head(x).shape[0] for x in values), default=1))[:, None]


def whole_lags(lags: Positions | float, low: float, what: str) -> Float[Tensor, "..."]:
    """Lags in float64, or ValueError if one is not whole or below `low`."""
    distance = real_positions(lags, "lags")
    wrong = distance[(distance != distance.floor()) | (distance < low)]
    if len(wrong):
        bound = f" ≥ {low:g}" if math.isfinite(low) else ""
        raise ValueError(
            f"lags must be whole numbers{bound} for {what}, got {float(wrong[0])!r}; "
            "use range(1024), for instance."
        )
    return distance

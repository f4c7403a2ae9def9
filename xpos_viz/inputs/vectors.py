"""What every source of queries and keys gives."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from xpos_viz.entry import Layout


@dataclass(frozen=True, eq=False)
class Vectors:
    """Queries and keys of one head, before any position encoding.

    Parameters
    ----------
    q, k
        (tokens, d), float64, or a dtype that was asked for.
    layout
        How their columns form pairs.
    labels
        One label per token, or none where there is no text.
    """

    q: Float[Tensor, "tokens head_dim"]
    k: Float[Tensor, "tokens head_dim"]
    layout: Layout
    labels: tuple[str, ...] = ()

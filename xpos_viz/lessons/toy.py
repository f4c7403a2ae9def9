r"""The toy case of the first chapters: six tokens, d = 4, and every number to be seen."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.encoding import decay, rope, xpos

BASE = 100.0
"""Two pairs: one turns a radian a token, the other a tenth of it."""

ROPE = rope(4, base=BASE)
XPOS = xpos(4, base=BASE, gamma=0.4, scale_base=6.0)
DECAY = decay(4, gamma=0.4, scale_base=6.0)

M = torch.arange(6, dtype=torch.float64)
"""Where the six tokens stand."""

Q = K = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=torch.float64).expand(6, -1)
"""The same query and key at each token, so that only positions differ."""

LIMIT = 2.0
"""q·k of two tokens at the same place, and the most that |q||k| allows."""


def causal(scores: Tensor) -> NDArray[np.float64]:
    """Return scores, and no number where the key is after its query."""
    return scores.masked_fill(M[:, None] < M, torch.nan).numpy()

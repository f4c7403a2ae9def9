r"""The toy case of the first chapters: six tokens, d = 4, and every number to be seen."""

import torch

from xpos_viz.encoding import rope, xpos

BASE = 100.0
"""Two pairs: one turns a radian a token, the other a tenth of it."""

ROPE = rope(4, base=BASE)
XPOS = xpos(4, base=BASE, gamma=0.4, scale_base=6.0)

M = torch.arange(6, dtype=torch.float64)
"""Where the six tokens stand."""

Q = K = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=torch.float64).expand(6, -1)
"""The same query and key at each token, so that only positions differ."""

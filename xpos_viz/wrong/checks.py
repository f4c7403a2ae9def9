"""Invariants of the right scores, each as the largest departure from it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding import Encoding, rope
from xpos_viz.entry import to_pairs
from xpos_viz.kernel import attention_scores, lag_response

Scores = Float[Tensor, "*batch query_tokens key_tokens"]

ScoreFunction = Callable[..., Scores]
"""What is called as :func:`xpos_viz.attention_scores` is: that, and the scores of a variant."""

Check = Callable[[ScoreFunction, Encoding], float]

_TOKENS = 48


def rope_of(encoding: Encoding) -> Encoding:
    """Return RoPE of the same width and base."""
    return rope(encoding.head_dim, base=encoding["base"])


def largest_causal(scores: Tensor, m: Tensor, n: Tensor) -> float:
    """Return the largest size of a score whose key is not after its query."""
    return float(scores.abs().masked_fill(m[..., :, None] < n[..., None, :], 0.0).amax())


def _content(encoding: Encoding) -> tuple[Tensor, Tensor]:
    """Seeded queries and keys (L, d) for the checks, float64."""
    generator = torch.Generator().manual_seed(0)
    shape = (2, _TOKENS, encoding.head_dim)
    q, k = torch.randn(shape, generator=generator, dtype=torch.float64).unbind()
    return q, k


def _at(scores: ScoreFunction, encoding: Encoding, positions: Tensor) -> Tensor:
    """Scores of the content of the checks, queries and keys at the same positions."""
    q, k = _content(encoding)
    return scores(q, k, encoding, query_positions=positions, key_positions=positions)


def _shift(scores: ScoreFunction, encoding: Encoding) -> float:
    """Moving all positions by B tokens changes no score."""
    at = torch.arange(_TOKENS).double()
    moved = _at(scores, encoding, at + encoding["scale_base"])
    return largest_causal(moved - _at(scores, encoding, at), at, at)


def _same_place(scores: ScoreFunction, encoding: Encoding) -> float:
    """A query and a key at the same position have the score q·k."""
    q, k = _content(encoding)
    return float((scores(q, k, encoding).diagonal() - (q * k).sum(-1)).abs().amax())


def _bound(scores: ScoreFunction, encoding: Encoding) -> float:
    """No causal score is larger than Σ|q_i||k_i|, since nothing grows with distance."""
    q, k = _content(encoding)
    at = torch.arange(_TOKENS).double() * encoding["scale_base"] / 8
    sizes_q, sizes_k = (to_pairs(x, "interleaved", encoding.head_dim).abs() for x in (q, k))
    beyond = _at(scores, encoding, at).abs() - sizes_q @ sizes_k.mT
    return largest_causal(beyond.clamp(min=0.0), at, at)


def _limit(scores: ScoreFunction, encoding: Encoding) -> float:
    """For B → ∞ the scores are those of RoPE."""
    at = torch.arange(_TOKENS).double()
    slow = _at(scores, encoding.replace(scale_base=1e15), at)
    return largest_causal(slow - _at(attention_scores, rope_of(encoding), at), at, at)


def _fade(scores: ScoreFunction, encoding: Encoding) -> float:
    """Over B tokens pair i shrinks to ζ_i of its size, whatever its phase."""
    columns = torch.eye(encoding.head_dim, dtype=torch.float64).reshape(-1, 2, encoding.head_dim)
    far = encoding["scale_base"]
    both_phases = scores(
        columns[:, :1], columns, encoding, query_positions=[far], key_positions=[0.0, 0.0]
    ).squeeze(-2)
    zeta = lag_response(encoding, far).abs()
    return float((both_phases.square().sum(-1).sqrt() - zeta).abs().amax())


def _layouts(scores: ScoreFunction, encoding: Encoding) -> float:
    """Half layout gives the same scores once the columns are put in its order."""
    q, k = _content(encoding)
    order = torch.arange(encoding.head_dim).reshape(-1, 2).T.reshape(-1)  # 0, 2, …, 1, 3, …
    at = torch.arange(_TOKENS).double()
    other = scores(q[:, order], k[:, order], encoding, layout="half")
    return largest_causal(other - scores(q, k, encoding), at, at)


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "shift": _shift,
        "same_place": _same_place,
        "bound": _bound,
        "limit": _limit,
        "fade": _fade,
        "layouts": _layouts,
    }
)
"""Invariants of the right scores, by name: functions from scores and an XPos encoding to the
largest departure from the invariant, in units of a score; 0 but for rounding if it holds."""

r"""Scores to expect at each lag under a stated assumption, with the band of one score.

A curve of real scores falls and wavers. Whether that is decay or noise is a question of what
was assumed about q and k, so each assumption here is a value that says itself in words and
gives the mean of a score at each lag together with the standard deviation around it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.curves.decay import decay_curve, envelope
from xpos_viz.curves.shared import by_head, head_numbers, tidy, whole_lags
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout, Positions, checked, real_positions, share_heads, to_pairs
from xpos_viz.kernel import lag_response

Curve = Float[Tensor, "*heads_and_lags"]


@dataclass(frozen=True, eq=False)
class Expected:
    """What to expect of an unscaled score at each lag.

    Parameters
    ----------
    mean
        Mean, (…, lags), float64, without a unit.
    deviation
        Standard deviation of one score around it, likewise.
    count
        Of how many scores the mean was taken, (lags): 1 for a closed form. If they were
        independent, deviation/√count would be the standard error of their mean.
    """

    mean: Curve
    deviation: Curve
    count: Int[Tensor, "*lags"]


class Assumption(Protocol):
    """What is assumed about q and k."""

    @property
    def words(self) -> str:
        """The assumption as a phrase."""
        ...

    def scores(self, encoding: Encoding, lags: Positions | float) -> Expected:
        """Return what to expect of a score at each lag, tokens, of any shape."""
        ...


@dataclass(frozen=True)
class Ones:
    """q = k = ones: the score is 2·g[Δ] without any spread (Sun et al. 2022, eq. 8).

    Examples
    --------
    >>> from xpos_viz import rope
    >>> Ones().words, Ones().scores(rope(64), [0, 1024]).mean
    ('q = k = ones', tensor([64.0000, 16.8273], dtype=torch.float64))
    """

    @property
    def words(self) -> str:
        """The assumption as a phrase."""
        return "q = k = ones"

    def scores(self, encoding: Encoding, lags: Positions | float) -> Expected:
        """Return twice the expectation curve, and no deviation."""
        mean = 2 * decay_curve(encoding, lags)
        return Expected(mean, torch.zeros_like(mean), _one_each(lags))


@dataclass(frozen=True)
class Normal:
    r"""Standard normal q and k, each column of k correlated by ρ with that of q.

    .. math::

        \mathrm{E}\,s = 2\rho\,g[\Delta], \qquad
        \mathrm{Var}\,s = 2\,(\mathrm{envelope}[2\Delta] + \rho^2 g[2\Delta])

    Columns are independent otherwise. A pair :math:`q\bar k` has the parts X = ac + bd and
    Y = bc − ad, with mean 2ρ and 0, variance 2(1 + ρ²) and 2(1 − ρ²), and no covariance
    (Isserlis 1918); turned by Δθ and shrunk by ζ^(Δ/B) it has the variance
    2ζ^(2Δ/B)(1 + ρ² cos 2Δθ), whose sum over the pairs is the formula above. With ρ = 0 the
    mean is 0 at every lag, whatever the encoding, and the deviation of RoPE is √d: what one
    sees then is noise. For ρ = 0 both hold for any independent columns of mean 0 and variance 1.

    Parameters
    ----------
    rho
        ρ, in [−1, 1]; 0 is independence.

    Raises
    ------
    ValueError
        If `rho` is not in [−1, 1].

    Examples
    --------
    >>> from xpos_viz import rope
    >>> Normal().words
    'q and k standard normal, independent'
    >>> Normal(0.5).words
    'q and k standard normal with correlation ρ = 0.5'
    >>> noise = Normal().scores(rope(64), [0, 1024])
    >>> noise.mean, noise.deviation
    (tensor([0., 0.], dtype=torch.float64), tensor([8., 8.], dtype=torch.float64))
    """

    rho: float = 0.0

    def __post_init__(self) -> None:
        if not -1 <= self.rho <= 1:
            raise ValueError(
                f"rho must be a correlation in [−1, 1], got {self.rho!r}; use 0.0 for independence."
            )

    @property
    def words(self) -> str:
        """The assumption as a phrase."""
        if self.rho == 0:
            return "q and k standard normal, independent"
        return f"q and k standard normal with correlation ρ = {self.rho:g}"

    def scores(self, encoding: Encoding, lags: Positions | float) -> Expected:
        """Return mean and deviation in closed form; a deviation is inf where float64 ends."""
        twice = 2 * real_positions(lags, "lags")
        sizes, turned = envelope(encoding, twice), decay_curve(encoding, twice)
        variance = 2 * (sizes + self.rho**2 * turned)
        spread = torch.where(sizes == torch.inf, torch.inf, variance.clamp(min=0.0).sqrt())
        mean = 2 * self.rho * decay_curve(encoding, lags) if self.rho else torch.zeros_like(spread)
        return Expected(mean, spread, _one_each(lags))


@dataclass(frozen=True, eq=False)
class Captured:
    """Given q and k, averaged over the positions of a text: a mean of each diagonal.

    At a lag Δ the scores of all queries m with the key m − Δ are taken (Sun et al. 2022,
    eq. 11); queries stand at the last L_q positions of the keys. The band is the standard
    deviation over these positions. Memory grows with one diagonal, not with the matrix.

    Parameters
    ----------
    q, k
        Queries (…, L_q, d) and keys (…, L_k, d), before the encoding.
    layout
        How columns form pairs: "interleaved" or "half".
    name
        What they are, for the words.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> text = Captured(torch.ones(8, 4), torch.ones(8, 4), name="ones")
    >>> text.words
    'ones, averaged over 8 queries and 8 keys'
    >>> text.scores(rope(4), [0, 1, 8]).mean
    tensor([4.0000, 3.0805,    nan], dtype=torch.float64)
    """

    q: Float[Tensor, "*batch query_tokens head_dim"]
    k: Float[Tensor, "*key_batch key_tokens head_dim"]
    layout: Layout = "interleaved"
    name: str = "captured q and k"

    @property
    def words(self) -> str:
        """The assumption as a phrase."""
        queries, keys = self.q.shape[-2], self.k.shape[-2]
        return f"{self.name}, averaged over {queries} queries and {keys} keys"

    def scores(self, encoding: Encoding, lags: Positions | float) -> Expected:
        """Return mean and deviation of each diagonal, NaN where there is none.

        Raises
        ------
        ValueError
            If q and k do not fit the encoding, or a lag is no whole number.
        """
        checked(self.q, self.k, encoding, None, None, self.layout)
        distance = whole_lags(lags, -math.inf, "captured q and k")
        queries, keys = (
            to_pairs(x.detach(), self.layout, encoding.rotary_width).to("cpu", torch.complex128)
            for x in (self.q, share_heads(self.k, self.q))
        )
        statistics: list[Tensor] = []
        count: list[int] = []
        for lag in distance.reshape(-1):
            step = int(lag) - (keys.shape[-2] - queries.shape[-2])  # row minus column
            rows = slice(max(0, step), max(0, min(queries.shape[-2], keys.shape[-2] + step)))
            columns = slice(max(0, -step), max(0, rows.stop - step))
            turned = keys[..., columns, :].conj() * lag_response(encoding, lag)[..., None, :]
            scores = (queries[..., rows, :] * turned).real.sum(-1)
            mean = scores.mean(-1, keepdim=True)
            spread = (scores - mean).square().mean(-1).sqrt()
            statistics.append(torch.stack([mean.squeeze(-1), spread]))
            count.append(scores.shape[-1])
        heads = np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2], encoding.rates.shape[:-1])
        curves = torch.stack(statistics, -1) if statistics else torch.zeros(2, *heads, 0).double()
        mean, spread = curves.reshape(*curves.shape[:-1], *distance.shape)
        return Expected(mean, spread, torch.tensor(count).long().reshape(distance.shape))


def expected_table(
    encodings: Sequence[Encoding], assumptions: Sequence[Assumption], lags: Positions
) -> pd.DataFrame:
    """What to expect of a score, one row per encoding, assumption, head and lag.

    Parameters
    ----------
    encodings
        The encodings.
    assumptions
        Such as `[Ones(), Normal(), Normal(0.5)]`.
    lags
        Lags, tokens, (L,).

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), assumption (its words), head (counted over
        all dimensions in front), lag (tokens), mean and deviation (of one unscaled score,
        without a unit) and count (scores that the mean was taken of).

    Raises
    ------
    ValueError
        For a lag that an assumption does not take.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> expected_table([rope(2, base=10.0)], [Ones()], [0, 1]).drop(columns="encoding").round(4)
         assumption  head  lag    mean  deviation  count
    0  q = k = ones     0  0.0  2.0000        0.0      1
    1  q = k = ones     0  1.0  1.0806        0.0      1
    """
    distance = real_positions(lags, "lags").reshape(-1)
    blocks: list[dict[str, Tensor | str]] = []
    for encoding, assumption in product(encodings, assumptions):
        expected = assumption.scores(encoding, distance)
        blocks.append(
            {
                "encoding": repr(encoding),
                "assumption": assumption.words,
                "head": head_numbers([expected.mean]),
                "lag": distance,
                "mean": by_head(expected.mean),
                "deviation": by_head(expected.deviation),
                "count": expected.count,
            }
        )
    return tidy(["encoding", "assumption", "head", "lag", "mean", "deviation", "count"], blocks)


def _one_each(lags: Positions | float) -> Int[Tensor, "*lags"]:
    """One score at each lag."""
    return torch.ones_like(real_positions(lags, "lags"), dtype=torch.int64)

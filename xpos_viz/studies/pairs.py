r"""Pairs one by one: how each turns and shrinks with the lag, and what it adds to one score.

All of it is :math:`e^{\lambda_i\Delta}` for some pairs and some lags (Sun et al. 2022, eq. 10),
and its products with one query and one key.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from xpos_viz.curves import pair_shares, pair_table, turns
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.inputs import Inputs
from xpos_viz.kernel import lag_response
from xpos_viz.masks import Mask
from xpos_viz.measurements import frozen, load

COLUMNS = 512
"""Most lags of a map."""

STEPS = 64
"""Most lags that pairs move along: one by one, so that the fastest is seen to turn."""

TRAILS = 6
"""Most pairs whose paths are drawn as they move."""

FAMILIES: tuple[str, ...] = tuple(
    sorted(
        (name for name in REGISTRY if Encoding(name, (("head_dim", 64),)).rates.any()),
        key=lambda name: name != "xpos",
    )
)
"""Families whose pairs turn or fade, by name, XPos first."""


@dataclass(frozen=True, eq=False)
class Response:
    """What pairs do to a product at some lags.

    Parameters
    ----------
    encoding
        The encoding.
    pairs
        Numbers of the pairs, from the fastest, (pairs,).
    lags
        Δ, tokens, rising, (lags,).
    values
        (pairs, lags), complex: the argument is the angle turned, the modulus what is left.
    """

    encoding: Encoding
    pairs: NDArray[np.int64]
    lags: NDArray[np.int64]
    values: NDArray[np.complex128]

    @property
    def few(self) -> tuple[int, ...]:
        """Places of at most :data:`TRAILS` pairs, the first and the last among them."""
        places = np.linspace(0, len(self.pairs) - 1, TRAILS).round().astype(np.int64)
        return tuple(np.unique(places).tolist())

    @property
    def left(self) -> NDArray[np.float64]:
        """The share of each pair's size that is left at the last lag, (pairs,)."""
        return np.abs(self.values[:, -1])

    def table(self) -> pd.DataFrame:
        """Return a row for each pair and lag: encoding, pair, lag (tokens), real, imaginary."""
        pairs, lags = np.meshgrid(self.pairs, self.lags, indexing="ij")
        return pd.DataFrame(
            {
                "encoding": repr(self.encoding),
                "pair": pairs.ravel(),
                "lag": lags.ravel(),
                "real": self.values.real.ravel(),
                "imaginary": self.values.imag.ravel(),
            }
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """One score taken apart into what its pairs add.

    Parameters
    ----------
    query, key
        Positions m and n, tokens.
    words
        The tokens that stand there, or none where there is no text.
    encodings
        The encodings.
    shares
        (encodings, pairs), in units of the score, of either sign.
    slow
        Which pairs turn less than once within the text, (encodings, pairs), bool.
    """

    query: int
    key: int
    words: tuple[str, ...]
    encodings: tuple[Encoding, ...]
    shares: NDArray[np.float64]
    slow: NDArray[np.bool_]

    @property
    def lag(self) -> int:
        """Δ = m − n, tokens."""
        return self.query - self.key

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score under each encoding, which is the sum of its shares; NaN of ∞ − ∞."""
        with np.errstate(invalid="ignore"):
            return self.shares.sum(-1)

    @property
    def longest(self) -> NDArray[np.int64]:
        """The pair that adds or takes away most under each encoding."""
        return np.abs(self.shares).argmax(-1)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """What each |share| is of their sum; NaN where that is 0, or beyond float64."""
        sizes = np.abs(self.shares)
        with np.errstate(invalid="ignore"):
            return sizes / sizes.sum(-1, keepdims=True)

    def table(self) -> pd.DataFrame:
        """Return a row for each encoding and pair: encoding, pair, query, key, share."""
        count = self.shares.shape[-1]
        return pd.DataFrame(
            {
                "encoding": np.repeat([repr(encoding) for encoding in self.encodings], count),
                "pair": np.tile(np.arange(count), len(self.encodings)),
                "query": self.query,
                "key": self.key,
                "share": self.shares.ravel(),
            }
        )


@lru_cache(maxsize=64)
def rows(encoding: Encoding, tokens: int) -> pd.DataFrame:
    """Return the table of an encoding's pairs, turns counted within some tokens.

    The columns are those of :func:`xpos_viz.curves.pair_table`.
    """
    return pair_table([encoding], tokens)


@lru_cache(maxsize=32)
def over_text(encoding: Encoding, tokens: int, axis: str) -> Response:
    """Compute all pairs at lags that some tokens have, spread evenly or by their logarithm.

    Parameters
    ----------
    encoding
        The encoding.
    tokens
        Length of the text.
    axis
        "linear", or "log", which has no lag 0, if there are others.

    Returns
    -------
    Response
        At most :data:`COLUMNS` lags, all of them whole.
    """
    lags = np.arange(0, tokens, -(-tokens // COLUMNS))
    if axis == "log" and tokens > 1:
        lags = np.unique(np.geomspace(1, tokens - 1, COLUMNS).round().astype(np.int64))
    return _response(encoding, lags)


@lru_cache(maxsize=32)
def in_motion(encoding: Encoding, tokens: int) -> Response:
    """Compute all pairs at the first lags that some tokens have.

    Returns
    -------
    Response
        At most :data:`STEPS` lags after lag 0.
    """
    return _response(encoding, np.arange(min(tokens, STEPS + 1)))


def place(inputs: Inputs, mask: str, query: int, key: int) -> tuple[int, int]:
    """Return a query and a key that there are: the nearest to those that are asked for.

    A query beyond the text is its last token; a key that the query does not see is the nearest
    one that it sees.

    Examples
    --------
    >>> from xpos_viz.inputs import Expectation
    >>> place(Expectation(28), "causal", 900, 3), place(Expectation(28), "causal", 5, 9)
    ((27, 3), (5, 5))
    """
    query = min(query, inputs.tokens - 1)
    seen = visible(inputs, mask, query)
    return query, min(max(key, seen[0]), seen[-1])


def visible(inputs: Inputs, mask: str, query: int) -> range:
    """Return the keys that a query sees under a mask."""
    ends = Mask.of(mask).ends(torch.tensor([float(query)], dtype=torch.float64))
    first, last = (float(end.clamp(0, inputs.tokens - 1)) for end in ends)
    return range(int(np.ceil(first)), int(last) + 1)


@lru_cache(maxsize=64)
def parts(inputs: Inputs, encodings: tuple[Encoding, ...], query: int, key: int) -> Parts:
    """Take the score of one query with one key apart (:func:`xpos_viz.curves.pair_shares`).

    Parameters
    ----------
    inputs
        Where they come from.
    encodings
        Encodings of one width.
    query, key
        Positions, tokens.

    Returns
    -------
    Parts
        Shares that are ±inf where float64 ends.
    """
    vectors = load(inputs, encodings[0].head_dim)
    q, k = vectors.q[query], vectors.k[key]
    shares = [
        pair_shares(q, k, encoding, query - key, layout=vectors.layout).numpy()
        for encoding in encodings
    ]
    words = tuple(vectors.labels[token] for token in (query, key)) if vectors.labels else ()
    slow = [turns(encoding, inputs.tokens).numpy() < 1 for encoding in encodings]
    return Parts(query, key, words, encodings, frozen(np.stack(shares)), np.stack(slow))


def _response(encoding: Encoding, lags: NDArray[np.int64]) -> Response:
    """All pairs at some lags."""
    values = lag_response(encoding, torch.from_numpy(lags)).numpy().T
    return Response(encoding, np.arange(len(values)), lags, frozen(values))

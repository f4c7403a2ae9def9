r"""Where each number format ends, and what its angles lose, over the length of a text.

Counted from the first token, the last of L tokens stands at L − 1, and the largest number that
the factor form makes of them is :math:`|k|_{\max} e^{g (L - 1)}`. Counted from the middle, no
token stands further out than (L − 1)/2, and it is :math:`|k|_{\max} e^{g (L - 1)/2}`. Here g is
the growth per token, :func:`xpos_viz.precision.growth`.

Angles are lost long before that in formats of few digits: a position or an angle is rounded to
the next number that the format has, and the pair turns by that. What is said of angles is
measured at some positions, not proven for all.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from xpos_viz.encoding import Encoding
from xpos_viz.entry import DTYPES
from xpos_viz.precision import KEPT, growth, limits_table, table_error

Numbers = NDArray[np.float64]

FORMATS: tuple[str, ...] = tuple(str(dtype).removeprefix("torch.") for dtype in DTYPES)
"""Names of the number formats."""

PARTS: tuple[str, ...] = ("angles", *(part for part in KEPT if part != "angles"))
"""What may be kept in a format: keys of :data:`xpos_viz.precision.KEPT`."""

TOLERANCE = 0.1
"""The error of a turned pair, as a share of its size, up to which its angle counts as kept."""

_POINTS = 160  # along a curve
_EACH = 16  # most positions that are measured between two points of a curve
_BEFORE = 4096  # positions before a loss that are measured one by one


@dataclass(frozen=True, eq=False)
class Overflow:
    """How large the numbers of the factor form become.

    Parameters
    ----------
    lengths
        Lengths of a text, tokens.
    start, centred
        Log₁₀ of the largest number, counted from the first token or from the middle.
    limits
        A row per format: largest, its largest number; digits, log₁₀ of that; start and centred,
        the longest text that fits, tokens.
    """

    lengths: Numbers
    start: Numbers
    centred: Numbers
    limits: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """Return the curves, a row per length (tokens): log₁₀ of the largest numbers."""
        columns = {"length": self.lengths, "start": self.start, "centred": self.centred}
        return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class Angles:
    """What the angles of one format lose.

    Parameters
    ----------
    positions
        Positions that were measured, tokens.
    errors
        The largest error of any pair there, as a share of its size, 0 to 2; NaN where the
        format holds no such position.
    """

    positions: NDArray[np.int64]
    errors: Numbers

    @property
    def lost(self) -> int | None:
        """The first position measured whose error is beyond :data:`TOLERANCE`, or has no number.

        None if there is no such position.
        """
        beyond = ~(self.errors <= TOLERANCE)
        return int(self.positions[beyond.argmax()]) if beyond.any() else None

    @property
    def largest(self) -> float:
        """The largest error at the positions that the format holds."""
        return float(np.nanmax(self.errors))

    def curve(self) -> tuple[Numbers, Numbers]:
        """Return a few positions, and the largest error up to each."""
        last = np.searchsorted(self.positions, _places(int(self.positions[-1]) + 1), "right") - 1
        return self.positions[last].astype(np.float64), np.maximum.accumulate(self.errors)[last]

    def table(self) -> pd.DataFrame:
        """Return all that was measured, a row per position."""
        return pd.DataFrame({"position": self.positions, "error": self.errors})


@lru_cache(64)
def overflow(encoding: Encoding, largest: float, length: int) -> Overflow:
    """Follow the largest number of the factor form, as far as all formats reach.

    Parameters
    ----------
    encoding
        The encoding; it must decay.
    largest
        |k|max, the largest modulus of a pair of any query or key, ≥ 1.
    length
        A length that is looked at, tokens, if it lies on the way.

    Returns
    -------
    Overflow
        Read-only by custom: it is shared by all sessions.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> overflow(xpos(64), 1.0, 8192).limits.loc["float16", ["start", "centred"]].to_dict()
    {'start': 4533, 'centred': 9065}
    """
    limits = _limits(encoding, largest)
    first, last = max(1.0, limits["start"].min() / 30), 3 * limits["centred"].max()
    lengths = np.union1d(np.geomspace(first, last, _POINTS), [np.clip(length, first, last)])
    digits = (lengths - 1) * growth(encoding) / math.log(10)
    return Overflow(lengths, math.log10(largest) + digits, math.log10(largest) + digits / 2, limits)


@lru_cache(64)
def angles(encoding: Encoding, name: str, kept: str, length: int) -> Angles:
    """Measure what the rotation table of one format loses, at some positions of a text.

    The first ones are measured one by one, those further out at ever wider steps. Where an
    angle is lost, the 4096 positions before it are measured too, since the loss may have begun
    between two steps. An error at a single position further back may still be missed.

    Parameters
    ----------
    encoding
        The encoding, whose θ are turned.
    name
        One of :data:`FORMATS`.
    kept
        What is kept in the format: one of :data:`PARTS`.
    length
        Length of the text, tokens.

    Returns
    -------
    Angles
        Read-only by custom: it is shared by all sessions.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> angles(rope(64), "bfloat16", "positions", 1024).lost
    257
    """
    places = np.append(_places(length), length)
    stretches = [
        np.linspace(start, stop, min(_EACH, stop - start), endpoint=False, dtype=np.int64)
        for start, stop in pairwise(places)
    ]
    found = _measured(encoding, name, kept, np.concatenate(stretches))
    if found.lost is None:
        return found
    before = np.arange(max(0, found.lost - _BEFORE), found.lost)
    return _measured(encoding, name, kept, np.union1d(found.positions, before))


def _measured(encoding: Encoding, name: str, kept: str, positions: NDArray[np.int64]) -> Angles:
    """The largest error at each position, over heads and pairs."""
    errors = table_error(encoding, positions, getattr(torch, name), kept=kept).amax(-1)
    return Angles(positions, errors.reshape(-1, len(positions)).amax(0).numpy())


def _places(length: int) -> NDArray[np.int64]:
    """Where the points of a curve stand: all positions at first, then ever fewer of them."""
    return np.unique(np.append(0, np.geomspace(1, max(length - 1, 1), _POINTS).astype(np.int64)))


def _limits(encoding: Encoding, largest: float) -> pd.DataFrame:
    """How far each format reaches."""
    rows = limits_table([encoding], DTYPES, largest).set_index("dtype")
    ends = [torch.finfo(dtype).max for dtype in DTYPES]
    return pd.DataFrame(
        {
            "largest": ends,
            "digits": np.log10(ends),
            "start": (rows["position"] + 1).to_numpy(),
            "centred": rows["centred_length"].to_numpy(),
        },
        index=FORMATS,
    )

"""How encodings fall with distance: curves to a million tokens, and where they pass a mark.

A curve of a million lags has more values than a picture has points. What is drawn of it are
values that it has, and among them all that a picture could show: of each part of the axis the
first and last one, and the smallest and largest (Jugel et al. 2014, M4).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.curves import (
    CURVES,
    Captured,
    Normal,
    decay_curve,
    envelope_reach,
    first_negative_lag,
)
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Positions
from xpos_viz.inputs import Inputs
from xpos_viz.measurements import frozen, load

Array = NDArray[np.float64]

PARTS = 500
"""Parts of the axis; no value within one is drawn outside of its smallest and largest."""

READINGS: tuple[str, ...] = ("g", "running_mean", "envelope", "bound")
"""What is read of an encoding alone, as keys of :data:`xpos_viz.curves.CURVES`."""


ASSUMPTIONS: tuple[str, ...] = ("ones", "independent", "correlated", "captured")
"""What may be assumed of q and k: that they are ones, which shows the encoding alone, or else."""


@dataclass(frozen=True)
class Reading:
    """A curve of the encoding alone, which has no deviation.

    Parameters
    ----------
    name
        One of :data:`READINGS`, or "bias".
    near
        Up to where every whole lag is computed, a power of 2, tokens.
    """

    name: str = "g"
    near: int = 1 << 16

    def last(self, distance: int) -> int:
        """The distance."""
        return distance

    def curve(self, encoding: Encoding, lags: Positions) -> tuple[Array, Array]:
        """Return the values, and zeros."""
        values = CURVES[self.name](encoding, lags).numpy()
        return values, np.zeros_like(values)


@dataclass(frozen=True)
class Chance:
    """Scores of standard normal q and k with a correlation (:class:`xpos_viz.curves.Normal`).

    Parameters
    ----------
    rho
        ρ, in [−1, 1].
    """

    rho: float = 0.0
    near: int = 1 << 16

    def last(self, distance: int) -> int:
        """The distance."""
        return distance

    def curve(self, encoding: Encoding, lags: Positions) -> tuple[Array, Array]:
        """Return mean and deviation in closed form."""
        expected = Normal(self.rho).scores(encoding, lags)
        return expected.mean.numpy(), expected.deviation.numpy()


@dataclass(frozen=True)
class Averaged:
    """Scores of given q and k, averaged over positions (:class:`xpos_viz.curves.Captured`).

    Parameters
    ----------
    inputs
        Where q and k come from; all of their tokens are taken.
    """

    inputs: Inputs
    near: int = 1 << 7  # a lag is a diagonal, so fewer of them are computed

    def last(self, distance: int) -> int:
        """The distance, or that of the first token from the last one."""
        return min(distance, self.inputs.tokens - 1)

    def curve(self, encoding: Encoding, lags: Positions) -> tuple[Array, Array]:
        """Return mean and deviation of each diagonal."""
        vectors = load(self.inputs, encoding.head_dim)
        expected = Captured(vectors.q, vectors.k, vectors.layout).scores(encoding, lags)
        return expected.mean.numpy(), expected.deviation.numpy()


Subject = Reading | Chance | Averaged
"""What a curve is of: it knows up to where every whole lag is computed (`near`), the last lag
there is, and values at some lags with the standard deviation of one score around them."""


def subject(assumption: str, reading: str, rho: float, inputs: Inputs) -> Subject:
    """Return what curves are of, by the name of an assumption.

    Parameters
    ----------
    assumption
        One of :data:`ASSUMPTIONS`.
    reading
        What is read if q and k are ones.
    rho
        Correlation if they are correlated.
    inputs
        Where they are from if they are captured.
    """
    made: dict[str, Callable[[], Subject]] = {
        "ones": lambda: Reading(reading),
        "independent": Chance,
        "correlated": lambda: Chance(rho),
        "captured": lambda: Averaged(inputs),
    }
    return made[assumption]()


@dataclass(frozen=True, eq=False)
class Trace:
    """What is drawn of one curve.

    Parameters
    ----------
    encoding
        Of which encoding.
    lags
        Whole lags, ascending, tokens, (L,).
    values
        The curve at them, (L,).
    deviation
        Standard deviation of one score around it, (L,); zeros for a curve of the encoding alone.
    computed
        At how many lags it was computed.
    """

    encoding: Encoding
    lags: Array
    values: Array
    deviation: Array
    computed: int


@dataclass(frozen=True)
class Landmarks:
    """Where an encoding passes a mark.

    Parameters
    ----------
    negative
        The first whole lag at which g is below zero, tokens; None if there is none up to the
        distance (:func:`xpos_viz.curves.first_negative_lag`).
    half
        The last whole lag at which the envelope is at least half of its start, tokens; inf if
        it never falls (:func:`xpos_viz.curves.envelope_reach`).
    left
        g at the distance as a share of g at lag 0.
    """

    negative: int | None
    half: float
    left: float


@lru_cache(maxsize=128)
def trace(encoding: Encoding, subject: Subject, distance: int, *, logarithmic: bool) -> Trace:
    """Compute what is drawn of a curve; the same arguments are computed once.

    Every whole lag up to `subject.near` is computed, and beyond it half as many of each
    doubling, evenly spaced.

    Parameters
    ----------
    encoding, subject
        Of what.
    distance
        The end of the axis, tokens, ≥ 1.
    logarithmic
        Whether the axis is divided evenly in the logarithm, which leaves out lag 0.

    Returns
    -------
    Trace
        Read-only arrays.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> drawn = trace(rope(64), Reading(), 1_000_000, logarithmic=False)
    >>> drawn.computed, len(drawn.lags) < 4 * PARTS, drawn.values.max()
    (193573, True, np.float64(32.0))
    """
    last = subject.last(distance)
    ladders = list(_ladders(last, subject.near))
    curves = [np.stack(subject.curve(encoding, ladder)) for ladder in ladders]
    lags, once = np.unique(np.concatenate(ladders), return_index=True)
    lags, columns = lags.astype(np.float64), np.concatenate(curves, 1)[:, once]
    if logarithmic and last > 0:
        lags, columns = lags[1:], columns[:, 1:]
    places = np.log(lags) if logarithmic and last > 0 else lags
    values, deviation = columns
    kept = _kept(places, (values, values - deviation, values + deviation))
    arrays = (frozen(array[kept] + 0.0) for array in (lags, values, deviation))  # −0 is 0
    return Trace(encoding, *arrays, computed=len(lags))


@lru_cache(maxsize=256)
def landmarks(encoding: Encoding, distance: int) -> Landmarks:
    """Find where an encoding passes the marks up to a distance, tokens.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> landmarks(rope(64), 1024)
    Landmarks(negative=725, half=inf, left=0.26292499092940913)
    """
    start, end = decay_curve(encoding, [0, distance]).tolist()
    return Landmarks(
        negative=first_negative_lag(encoding, limit=distance),
        half=float(envelope_reach(encoding)),
        left=end / start,
    )


@lru_cache(maxsize=256)
def at(encoding: Encoding, subject: Subject, lag: int) -> float:
    """Return one value of a curve."""
    values, _ = subject.curve(encoding, [lag])
    return float(values[0])


def table(traces: Sequence[Trace]) -> pd.DataFrame:
    """Return what is drawn, one row per encoding and lag.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), lag (tokens), value and deviation.
    """
    columns = ["encoding", "lag", "value", "deviation"]
    blocks = [
        pd.DataFrame(
            dict(zip(columns, (repr(t.encoding), t.lags, t.values, t.deviation), strict=True))
        )
        for t in traces
    ]
    return pd.concat(blocks, ignore_index=True) if blocks else pd.DataFrame(columns=columns)


def _ladders(last: int, near: int) -> Iterator[range]:
    """Ranges of whole lags, each evenly spaced, whose steps double as the lags do."""
    yield range(min(near, last + 1))
    start, step = near, 2
    while start <= last:
        yield range(start, min(2 * start, last + 1), step)
        start, step = 2 * start, 2 * step
    yield range(last, last + 1)


def _kept(places: Array, columns: Sequence[Array]) -> NDArray[np.int64]:
    """Which points are drawn: of each part the first, the last, and each column's extremes."""
    span = float(places[-1] - places[0]) or 1.0
    parts = np.minimum((places - places[0]) / span * PARTS, PARTS - 1).astype(np.int64)
    firsts = np.flatnonzero(np.diff(parts, prepend=-1))
    ends = np.append(firsts[1:], len(parts)) - 1
    orders = [np.lexsort((column, parts)) for column in columns]
    return np.unique(
        np.concatenate(
            [firsts, ends, *(order[place] for order in orders for place in (firsts, ends))]
        )
    )

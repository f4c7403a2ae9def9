"""What a picture shows, without how it is drawn: both pens draw the same description."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xpos_viz.theme import Scale


@dataclass(frozen=True, eq=False)
class Axis:
    """Token positions along the rows and columns of every panel.

    Parameters
    ----------
    queries, keys
        Titles: queries run down, keys across.
    query, key, lag
        The words for m, n and m − n in a read-out.
    positions
        Position of each cell's centre, tokens.
    block
        Tokens per cell side.
    labels
        One label per cell, or none.
    """

    queries: str
    keys: str
    query: str
    key: str
    lag: str
    positions: NDArray[np.float64]
    block: int
    labels: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[float, float]:
        """Where the first cell begins and the last one ends, tokens."""
        half = self.block / 2
        return float(self.positions[0]) - half, float(self.positions[-1]) + half


@dataclass(frozen=True, eq=False)
class Panel:
    """One heatmap.

    Parameters
    ----------
    title
        Encoding, then parameters, stage and mask, as lines.
    values
        (rows, columns); NaN where a cell is masked or has no number.
    bar
        Index of the colour bar it shares.
    seen
        (rows, columns), bool: which cells are not masked.
    """

    title: tuple[str, ...]
    values: NDArray[np.float64]
    bar: int
    seen: NDArray[np.bool_]

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which cells are seen and have no number, as of 0/0."""
        return np.isnan(self.values) & self.seen


@dataclass(frozen=True)
class Bar:
    """A colour bar.

    Parameters
    ----------
    label
        What the values are, with their unit.
    limit
        Where the colours end; values beyond it are marked as clipped.
    scale
        From −limit, or from zero, to limit.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    powers
        Whether the values are exponents of 2, and are written as factors.
    """

    label: str
    limit: float
    scale: Scale
    colours: str
    powers: bool = False


@dataclass(frozen=True, eq=False)
class Heatmaps:
    """Panels side by side over one pair of axes.

    Parameters
    ----------
    name
        A short file name.
    alt
        What the picture shows, in words and numbers.
    notes
        Lines under the picture: block size, clipping rule, mask.
    about
        Those of them that say what the data are.
    """

    name: str
    alt: str
    axis: Axis
    panels: tuple[Panel, ...]
    bars: tuple[Bar, ...]
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Curve:
    """One line: its label and points."""

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines over one pair of axes.

    Parameters
    ----------
    name, alt, notes
        As in :class:`Heatmaps`.
    title
        Lines above the picture.
    x, y
        Titles of the axes, with units.
    logarithmic
        Whether the x axis is logarithmic.
    """

    name: str
    alt: str
    title: tuple[str, ...]
    x: str
    y: str
    logarithmic: bool
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()


Description = Heatmaps | Curves

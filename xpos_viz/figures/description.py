"""What a picture shows, without how it is drawn: both pens draw the same description."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xpos_viz.theme import Scale

Numbers = NDArray[np.float64]


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
    positions: Numbers
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
    values: Numbers
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
    across
        Panels side by side; more of them begin new rows. None is all of them.
    """

    name: str
    alt: str
    axis: Axis
    panels: tuple[Panel, ...]
    bars: tuple[Bar, ...]
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    across: int | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """One line.

    Parameters
    ----------
    label
        What the legend calls it.
    x, y
        Its points; NaN breaks the line.
    band
        What lies around it, low and high at every point, or nothing.
    line
        Place in :data:`xpos_viz.theme.LINES`; None is the place among the curves. Curves of
        one thing share a colour.
    dash
        One of :data:`xpos_viz.theme.STROKES`, or nothing for that of its place.
    """

    label: str
    x: Numbers
    y: Numbers
    band: tuple[Numbers, Numbers] | None = None
    line: int | None = None
    dash: str = ""


@dataclass(frozen=True)
class Mark:
    """A point that is named: a dot on a curve, of the colour of that line.

    Parameters
    ----------
    x, y
        Where it is.
    label
        What is written at it, or nothing.
    line
        Place in :data:`xpos_viz.theme.LINES`.
    read
        What is read where it is pointed at; "" is the label.
    """

    x: float
    y: float
    label: str
    line: int = 0
    read: str = ""


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
    logarithmic_y
        Whether the y axis is.
    marks
        Points that are named.
    x_limits, y_limits
        Ends of the axes, where several pictures share them; else they lie around what is drawn.
    """

    name: str
    alt: str
    title: tuple[str, ...]
    x: str
    y: str
    logarithmic: bool
    curves: tuple[Curve, ...]
    notes: tuple[str, ...] = ()
    logarithmic_y: bool = False
    marks: tuple[Mark, ...] = ()
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None

    @property
    def places(self) -> tuple[int, ...]:
        """Place of each curve in :data:`xpos_viz.theme.LINES`."""
        lines = enumerate(curve.line for curve in self.curves)
        return tuple(place if line is None else line for place, line in lines)

    @property
    def named(self) -> tuple[Mark, ...]:
        """The marks that have a name to be drawn."""
        return tuple(mark for mark in self.marks if mark.label)


@dataclass(frozen=True, eq=False)
class Grid:
    """One heatmap over two axes of their own, such as pair by lag.

    Parameters
    ----------
    name, alt, title, notes
        As in :class:`Curves`.
    x, y
        Titles of the axes, with units.
    columns, rows
        Where the columns and rows stand: rising numbers, or words. Rows run down from the first.
    values
        (rows, columns); where it is NaN the ground is seen.
    written
        What is written in each cell, row by row, or nothing.
    ringed
        Row and column of a cell with a ring in it, or nothing.
    bar
        Its colour bar.
    logarithmic
        Whether the columns stand on a logarithmic axis.
    """

    name: str
    alt: str
    title: tuple[str, ...]
    x: str
    y: str
    columns: Numbers | tuple[str, ...]
    rows: Numbers | tuple[str, ...]
    values: Numbers
    bar: Bar
    notes: tuple[str, ...] = ()
    logarithmic: bool = False
    written: tuple[tuple[str, ...], ...] = ()
    ringed: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Bars:
    """Groups of bars, one group per label and one bar of each series in it.

    Parameters
    ----------
    name, alt, title, x, y, notes
        As in :class:`Curves`.
    labels
        One per group; equal ones stay apart.
    series
        Name and heights of each series, in the order of :data:`xpos_viz.theme.LINES`.
    y_limits
        As in :class:`Curves`.
    lines
        Place of each group in :data:`xpos_viz.theme.LINES`, where there is one series and each of
        its bars is of another thing.
    spans
        Low and high of what lies around the bars of that series.
    written
        What is written above each of them, as lines.
    """

    name: str
    alt: str
    title: tuple[str, ...]
    x: str
    y: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, Numbers], ...]
    notes: tuple[str, ...] = ()
    y_limits: tuple[float, float] | None = None
    lines: tuple[int, ...] = ()
    spans: tuple[Numbers, Numbers] | None = None
    written: tuple[tuple[str, ...], ...] = ()

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the series, where colours tell them apart."""
        return () if self.lines else tuple(name for name, _ in self.series)


@dataclass(frozen=True, eq=False)
class Plane:
    """Points of the complex plane that move, each with the path that it takes.

    Parameters
    ----------
    name, alt, title, notes
        As in :class:`Curves`.
    x, y
        Titles of the real and the imaginary axis.
    labels
        One per point.
    paths
        (points, steps), complex: where each point is at each step.
    steps
        What the step is called, one per step, on the slider of a screen; a file shows the last.
        Where there are none, nothing moves: each point is at the end of its path.
    limit
        How far the axes go, where several pictures share them.
    trails
        Places of the points whose paths are drawn, and which a legend names, each in a colour;
        None is all.
    """

    name: str
    alt: str
    title: tuple[str, ...]
    x: str
    y: str
    labels: tuple[str, ...]
    paths: NDArray[np.complex128]
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()
    limit: float | None = None
    trails: tuple[int, ...] | None = None

    @property
    def drawn(self) -> tuple[int, ...]:
        """Places of the points whose paths are drawn."""
        return tuple(range(len(self.labels))) if self.trails is None else self.trails

    @property
    def others(self) -> tuple[int, ...]:
        """Places of those that are points alone."""
        return tuple(sorted(set(range(len(self.labels))) - set(self.drawn)))


Description = Heatmaps | Curves | Grid | Bars | Plane

"""One description of each kind that is not a map, with all that it may have."""

import numpy as np

from xpos_viz.figures.description import Bar, Bars, Curve, Curves, Grid, Mark, Plane

X = np.array([1.0, 10.0, 100.0, 1000.0])
BAND = (np.array([0.5, -1.0, np.nan, 0.05]), np.array([2.0, 3.0, np.nan, 0.5]))


def curves(*, logarithmic=True, logarithmic_y=True) -> Curves:
    """A curve with a band that has a gap, a second one of its colour, and two marks."""
    return Curves(
        name="curves",
        alt="Two curves.",
        title=("Curves", "of a thing"),
        x="position, tokens",
        y="factor",
        logarithmic=logarithmic,
        curves=(
            Curve("mean", X, np.array([1.0, 0.4, np.nan, 0.2]), BAND, line=2),
            Curve("bound <b>", X, np.array([4.0, 3.0, 2.0, 1.0]), line=2, dash="dot"),
            Curve("other", X, np.array([0.1, np.inf, 1e-3, 0.0])),
        ),
        notes=("A note.",),
        logarithmic_y=logarithmic_y,
        marks=(Mark(10.0, 0.4, "half-life 10", 2), Mark(1000.0, 1.0, "the end", 5)),
    )


def grid(columns=None, rows=None, *, logarithmic=False, powers=False) -> Grid:
    """Three rows of four cells, one of them empty, one clipped."""
    values = np.arange(12.0).reshape(3, 4) / 11 - 0.5
    values[1, 2], values[2, 3] = np.nan, np.inf
    return Grid(
        name="grid",
        alt="A grid.",
        title=("Grid", "of pairs"),
        x="lag, tokens",
        y="pair",
        columns=X if columns is None else columns,
        rows=np.arange(3.0) if rows is None else rows,
        values=values,
        bar=Bar("share", 0.5, "diverging", "blue_red", powers),
        notes=("A note.",),
        logarithmic=logarithmic,
    )


def bars(labels=("the", "<s>", "the")) -> Bars:
    """Two series, one of them with a gap and a negative bar."""
    heights = np.linspace(0.1, 0.9, len(labels))
    other = -heights
    other[0] = np.nan
    return Bars(
        name="bars",
        alt="Bars.",
        title=("Bars", "by token"),
        x="key",
        y="weight",
        labels=labels,
        series=(("RoPE", heights), ("XPos <i>", other)),
        notes=("A note.",),
    )


def own_bars() -> Bars:
    """Bars of a thing each, with what lies around them and what is written above."""
    return Bars(
        name="own_bars",
        alt="Bars of their own.",
        title=("Bars", "each its own"),
        x="thing",
        y="value",
        labels=("one", "<b>", "three"),
        series=(("value", np.array([0.5, -0.25, 1.0])),),
        lines=(2, 0, 2),
        spans=(np.array([0.4, -0.5, 1.0]), np.array([0.75, 0.125, 1.25])),
        written=(("0.5", "± 0.1"), ("−0.25", "<i>"), ("1", "± 0.2")),
    )


def plane(points=3, steps=5) -> Plane:
    """Points that turn and shrink; the first one begins outside the unit circle."""
    lags = np.arange(steps)
    rates = -0.1 + 1j * np.arange(1, points + 1) / points
    paths = np.exp(np.outer(rates, lags))
    paths[0] *= 1.5
    return Plane(
        name="plane",
        alt="A plane.",
        title=("Plane", "of pairs"),
        x="real part",
        y="imaginary part",
        labels=tuple(f"pair {place}" for place in range(points)),
        paths=paths,
        steps=tuple(f"lag {lag}" for lag in lags),
        notes=("A note.",),
    )


ALL = {
    "curves": curves(),
    "linear": curves(logarithmic=False, logarithmic_y=False),
    "grid": grid(),
    "log": grid(logarithmic=True),
    "words": grid(("a", "b", "a", "c"), ("float16", "float32", "float64")),
    "bars": bars(),
    "own_bars": own_bars(),
    "plane": plane(),
}

"""The steps of sliders: even in the logarithm where a parameter spans powers of ten."""

_SERIES = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)

BASES: tuple[float, ...] = (*(m * 10.0**e for e in range(1, 7) for m in _SERIES), 1e7)
"""Of a base."""

GAMMAS: tuple[float, ...] = (
    *(0.01, 0.02, 0.03, 0.05, 0.07),
    *(round(0.05 * step, 2) for step in range(2, 21)),
    *(1.2, 1.5, 2.0, 3.0, 5.0, 10.0),
)
"""Of γ."""

SCALE_BASES: tuple[float, ...] = tuple(
    sorted({*(2.0**e for e in range(17)), *(1.5 * 2.0**e for e in range(1, 16))})
)
"""Of a scale base, tokens."""

SHARES: tuple[float, ...] = tuple(round(0.05 * step, 2) for step in range(21))
"""Of a share of the pairs."""

DECAYS: tuple[float, ...] = tuple(1.0 - 2.0**-e for e in range(1, 13))
"""Of a decay per token: its distance from 1 is halved at each step."""

FACTORS: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0)
"""Of how many times longer than in training the texts are."""

LENGTHS: tuple[float, ...] = tuple(2.0**e for e in range(5, 21))
"""Of a length, tokens."""

TURNS: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Of turns within a length."""

SLOPES: tuple[float, ...] = (0.0, *(2.0**-e for e in range(12, -1, -1)))
"""Of the slope of a bias per token: a head of ALiBi has half of the one before."""

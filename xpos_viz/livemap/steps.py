"""The steps of the sliders: even in the logarithm where a parameter spans powers of ten."""

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

STEPS: dict[str, tuple[float, ...]] = {
    "base": BASES,
    "gamma": GAMMAS,
    "scale_base": SCALE_BASES,
}
"""The steps of every parameter that has a slider, by its name."""

"""How a parameter varies: not at all, over some values, or between two ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.choosing.located import at
from xpos_viz.encoding import PARAMETERS
from xpos_viz.entry import check_whole, is_finite

Shares = TypeVar("Shares", float, NDArray[np.float64], Tensor)

MOST = 1 << 20
"""Most steps of a span, and points of a sequence: each worker holds all of them."""

_KEYS = ("from", "to", "steps", "log")


@dataclass(frozen=True)
class Span:
    """All values between two ends.

    Parameters
    ----------
    low, high
        The ends, which are values too.
    steps
        How many values of it a grid has, ends included, at most :data:`MOST`; 0 for those of a
        Sobol sequence.
    log
        Whether equal steps are equal factors.

    Raises
    ------
    ValueError
        For ends that are no such numbers, a single step, or too many.

    Examples
    --------
    >>> Span(64.0, 1024.0, steps=5, log=True).grid
    (64.0, 128.0, 256.0, 512.0, 1024.0)
    """

    low: float
    high: float
    steps: int = 0
    log: bool = False

    def __post_init__(self) -> None:
        for key, end in (("from", self.low), ("to", self.high)):
            with at(key):
                if not is_finite(end) or isinstance(end, bool):
                    raise ValueError(f"{key} must be a finite number, got {end!r:.40}; use 64.")
        with at("to"):
            if self.low >= self.high:
                raise ValueError(
                    f"to must be larger than from, got {self.low!r} to {self.high!r}; "
                    "use one number for a parameter that does not vary."
                )
        with at("log"):
            if not isinstance(self.log, bool):
                raise ValueError(f"log must be true or false, got {self.log!r:.40}; use true.")
            if self.log and self.low <= 0:
                raise ValueError(
                    f"equal factors need ends > 0, got {self.low!r} to {self.high!r}; "
                    "use log = false, or another end."
                )
        with at("to"):
            if not is_finite(self._width):
                raise ValueError(
                    f"from and to are too far apart, got {self.low!r} to {self.high!r}; "
                    "use ends that are closer."
                )
        with at("steps"):
            check_whole("steps", self.steps, 0, below=MOST + 1)
            if self.steps == 1:
                raise ValueError("steps must be 2 or more, both ends among them, got 1; use 2.")

    @property
    def _width(self) -> float:
        """How far the ends are apart: their ratio where equal steps are equal factors."""
        return self.high / self.low if self.log else self.high - self.low

    def at(self, share: Shares) -> Shares:
        """Return the values at shares of the way, 0 to 1, along equal steps."""
        if self.log:
            return cast("Shares", self.low * self._width**share)
        return cast("Shares", self.low + share * self._width)

    def share(self, value: float) -> float:
        """Return where on the way a value stands, 0 to 1: the inverse of :meth:`at`."""
        if self.log:
            return float(np.log(value / self.low) / np.log(self._width))
        return (value - self.low) / self._width

    def clipped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values that rounding has put outside of the ends as these."""
        return values.clip(self.low, self.high)

    @property
    def grid(self) -> tuple[float, ...]:
        """The values of its steps."""
        between = self.clipped(self.at(np.linspace(0, 1, self.steps)[1:-1]))
        return (self.low, *between.tolist(), self.high)


Range: TypeAlias = float | tuple[float, ...] | Span
"""One value, some values, or a span of them."""


def range_of(entry: object) -> Range:
    """Return a range as it is written: 0.4, [0.2, 0.4], or {from = 0.1, to = 1, log = true}.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(entry, Mapping):
        return _span(entry)
    if isinstance(entry, Span):
        return entry
    several = isinstance(entry, list | tuple)
    numbers: tuple[Any, ...] = tuple(entry) if several else (entry,)
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in numbers):
        raise ValueError(
            f"a parameter must be a number, numbers in brackets, or a span, got {entry!r:.40}; "
            "use 0.4, [0.2, 0.4] or { from = 0.1, to = 1, steps = 9 }."
        )
    return numbers if several else numbers[0]


def written_range(values: Range) -> Any:  # noqa: ANN401 - as JSON has it
    """Return a range as :func:`range_of` reads it."""
    if isinstance(values, Span):
        return dict(zip(_KEYS, (values.low, values.high, values.steps, values.log), strict=True))
    return list(values) if isinstance(values, tuple) else values


def check_range(name: str, values: Range, head_dim: int) -> None:
    """Raise ValueError unless every value of a range is legal for a parameter."""
    row = PARAMETERS[name]
    if row.each == "bucket":
        raise ValueError(f"{name} is a table and no number, so it cannot vary; leave it out.")
    if values == ():
        raise ValueError(f"{name} must have a value, got none in brackets; {row.way_out}")
    spans = isinstance(values, Span)
    given = (values.low, values.high) if spans else _several(values)
    for value in given:
        row.check(value, head_dim)


def _several(values: float | tuple[float, ...]) -> tuple[float, ...]:
    """Values as several."""
    return values if isinstance(values, tuple) else (values,)


def _span(entry: Mapping[str, Any]) -> Span:
    """A span as it is written."""
    for key in entry:
        with at(str(key)):
            check_choice("key of a span", key, _KEYS)
    if missing := [key for key in ("from", "to") if key not in entry]:
        raise ValueError(
            f"a span must have two ends, got none for {missing[0]!r}; "
            "use { from = 0.1, to = 1, steps = 9 }."
        )
    return Span(entry["from"], entry["to"], entry.get("steps", 0), entry.get("log", False))

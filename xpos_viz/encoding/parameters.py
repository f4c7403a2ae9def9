"""What encodings take: their parameters, with symbols, ranges and what to do about a wrong one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np
from torch import Tensor

from xpos_viz.encoding import steps

N = TypeVar("N", Real, Integral)
Value: TypeAlias = float | tuple[float, ...] | tuple[tuple[float, ...], ...]
"""A parameter's value: one number, one for each head or pair, or a table of them."""
PerHead: TypeAlias = float | tuple[float, ...]
"""One number for all heads, or one for each."""

BUCKETS = 32
"""How many distances the bias of T5 tells apart."""


def _is_number(value: object, kind: type[N]) -> TypeGuard[N]:
    """Whether `value` is of that kind of number; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, kind)


def _is_nested(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether `value` is a row of values."""
    return isinstance(value, tuple | list)


@dataclass(frozen=True)
class Parameter:
    """What a family of encodings takes: a symbol, a range, and how many values there may be.

    Parameters
    ----------
    name, symbol
        What it is called in Python and in formulas.
    way_out
        The end of a message about a value that is not legal.
    lower, upper
        The range of a value; infinite where there is no upper bound.
    exclusive
        Whether `lower` itself is not legal.
    whole
        Whether only whole numbers are legal.
    each
        What there may be a value for: the encoding has one number; a "head" or "pair" may
        have its own; a "bucket" must, for all heads or for each.
    below
        The parameter, if any, that must be larger.
    unit
        The unit, or nothing.
    steps
        Values that a slider offers; none where no one number says it all.
    """

    name: str
    symbol: str
    way_out: str
    lower: float
    upper: float = math.inf
    exclusive: bool = False
    whole: bool = False
    each: Literal["encoding", "head", "pair", "bucket"] = "head"
    below: str = ""
    unit: str = ""
    steps: tuple[float, ...] = ()

    def check(self, value: object, head_dim: int) -> Value:
        """Return `value` as a number or tuples of numbers, all legal.

        Raises
        ------
        ValueError
            With the value and a way out.
        """
        given = cast("Any", value).tolist() if isinstance(value, Tensor | np.ndarray) else value
        shape = _shape(given)
        pairs = head_dim // 2
        fits, wanted = {
            "encoding": (shape == (), "one number"),
            "head": (len(shape) < 2 and 0 not in shape, "one number, or one for each head"),
            "pair": (shape in ((), (pairs,)), f"one number, or {pairs}, one for each pair"),
            "bucket": (
                shape[-1:] == (BUCKETS,) and 0 not in shape and len(shape) < 3,
                f"{BUCKETS} numbers, or {BUCKETS} for each head",
            ),
        }[self.each]
        if not fits:
            raise ValueError(f"{self.name} must be {wanted}, got {given!r:.60}; {self.way_out}")
        return self._numbers(given, given)

    def heads(self, value: Value) -> int | None:
        """Return how many heads have a value of their own; None if none has."""
        own = np.ndim(value) > {"head": 0, "bucket": 1}.get(self.each, math.inf)
        return len(value) if own and isinstance(value, tuple) else None

    def _numbers(self, value: Any, whole: object) -> Any:  # noqa: ANN401 (nested numbers)
        """The same numbers as floats or integers in tuples, each of them legal."""
        if _is_nested(value):
            return tuple(self._numbers(item, whole) for item in value)
        try:
            number = float(value) if _is_number(value, Real) else math.nan
        except OverflowError:  # an integer larger than any float
            number = math.inf
        below = number <= self.lower if self.exclusive else number < self.lower
        legal = math.isfinite(number) and not below and number <= self.upper
        if not legal or (self.whole and number != int(number)):
            shown = repr(value) if value is whole else f"{value!r} in {whole!r:.60}"
            raise ValueError(f"{self.name} must be {self.range}, got {shown}; {self.way_out}")
        return int(number) if self.whole else number

    @property
    def range(self) -> str:
        """The range in words: a finite number > 0 and ≤ 1."""
        kind = "an integer" if self.whole else "a finite number"
        lower = f" {'>' if self.exclusive else '≥'} {self.lower:g}"
        upper = f" and ≤ {self.upper:g}"
        return kind + lower * (self.lower > -math.inf) + upper * (self.upper < math.inf)


def _shape(value: object) -> tuple[int, ...]:
    """Lengths of nested tuples or lists, outermost first; ragged ones have a length of 0."""
    if not _is_nested(value):
        return ()
    inner = {_shape(item) for item in value}
    return (len(value), *inner.pop()) if len(inner) == 1 else (0,)


_FACTOR = "use 1 for the range of training, or how many times longer the texts are."

PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        row.name: row
        for row in (
            Parameter("base", "base", "the usual base is 10000.", 1.0, steps=steps.BASES),
            Parameter(
                "gamma",
                "γ",
                "the usual value is 0.4.",
                0.0,
                exclusive=True,
                steps=steps.GAMMAS,
            ),
            Parameter(
                "scale_base",
                "B",
                "the usual value is 512 tokens, and rope() is the limit without decay.",
                0.0,
                exclusive=True,
                unit="tokens",
                steps=steps.SCALE_BASES,
            ),
            Parameter("share", "p", "0 is nope() and 1 is rope().", 0.0, 1.0, steps=steps.SHARES),
            Parameter(
                "decay",
                "decay",
                "use 1 − 2^(−5−h) for head h: retnet_decays(8).",
                0.0,
                1.0,
                exclusive=True,
                steps=steps.DECAYS,
            ),
            Parameter("factor", "s", _FACTOR, 1.0, steps=steps.FACTORS),
            Parameter(
                "factors", "e", _FACTOR, 0.0, exclusive=True, each="pair", steps=steps.FACTORS
            ),
            Parameter(
                "train_length",
                "L₀",
                "use the length of the texts in training, such as 2048 tokens.",
                2.0,
                whole=True,
                each="encoding",
                unit="tokens",
                steps=steps.LENGTHS,
            ),
            Parameter(
                "current_length",
                "L",
                "use the length of the text, such as 4096 tokens.",
                1.0,
                whole=True,
                each="encoding",
                unit="tokens",
                steps=steps.LENGTHS,
            ),
            Parameter(
                "low_turns",
                "α",
                "the usual value is 1.",
                0.0,
                below="high_turns",
                unit="turns",
                steps=steps.TURNS,
            ),
            Parameter(
                "high_turns",
                "β",
                "the usual value is 32 in YaRN, 4 in Llama 3.",
                0.0,
                unit="turns",
                steps=steps.TURNS[1:],
            ),
            Parameter(
                "truncate",
                "truncate",
                "use 1 for a ramp between whole pairs, or 0.",
                0.0,
                1.0,
                whole=True,
                each="encoding",
                steps=(0.0, 1.0),
            ),
            Parameter(
                "slope",
                "slope",
                "use alibi_slopes(8) for 8 heads.",
                0.0,
                unit="1/token",
                steps=steps.SLOPES,
            ),
            Parameter(
                "table",
                "table",
                "use the learned values of a model, rows for heads.",
                -math.inf,
                each="bucket",
            ),
        )
    }
)
"""The parameters that encodings share, by name."""


def check_head_dim(value: object) -> int:
    """Return `value` if it is an even integer ≥ 2, else raise ValueError."""
    number = int(value) if _is_number(value, Integral) else 0
    if number >= 2 and number % 2 == 0:
        return number
    way_out = f"use {number - 1} or {number + 1}." if number > 2 else "use 64, for instance."
    raise ValueError(f"head_dim must be an even integer ≥ 2, got {value!r}; {way_out}")


def check_rotary_width(value: object, head_dim: int) -> int:
    """Return `value` if it is an even integer from 2 to `head_dim`, else raise ValueError."""
    number = int(value) if _is_number(value, Integral) else 0
    if 2 <= number <= head_dim and number % 2 == 0:
        return number
    raise ValueError(
        f"rotary_width must be an even integer from 2 to {head_dim}, the head_dim, got "
        f"{value!r}; use {head_dim} to turn all columns."
    )


def check_heads(value: object) -> int:
    """Return `value` if it is an integer ≥ 1, else raise ValueError."""
    number = int(value) if _is_number(value, Integral) else 0
    if number >= 1:
        return number
    raise ValueError(f"heads must be an integer ≥ 1, got {value!r}; use 8, for instance.")

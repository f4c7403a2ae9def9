"""What is wanted of an objective: more or less of it, a certain value, or a limit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.choosing.located import at
from xpos_viz.choosing.objectives import OBJECTIVES, Objective, Option
from xpos_viz.entry import is_finite

Values = TypeVar("Values", NDArray[np.float64], Tensor)

DIRECTIONS: tuple[str, ...] = ("smaller", "larger")
"""What may be better."""

_KEYS = ("name", "label", "weight", "direction", "wanted", "below", "above")


@dataclass(frozen=True)
class Goal:
    r"""An objective with its options, and what is wanted of it.

    Parameters
    ----------
    objective
        A key of :data:`xpos_viz.choosing.objectives.OBJECTIVES`.
    options
        Pairs of option and value; what is left out has its usual one.
    weight
        What it counts beside the others, ≥ 0: at the worst setting that was tried, where those
        are ranked (:func:`xpos_viz.choosing.ranked`). A search or a descent knows no worst, and
        adds losses as they are, times their weights: there it is also how much of one objective
        a unit of another is worth.
    direction
        "smaller" or "larger" is better; "" is as the objective has it.
    wanted
        A value > 0 that is best. The loss is then :math:`\log_2^2(v / \mathrm{wanted})`, so
        half of it is as far off as twice.
    below, above
        Limits: only values < below and > above are allowed.
    label
        What its values are called; "" is the name, with the options that are not the usual.

    Raises
    ------
    ValueError
        For an unknown objective or option, or values that are not legal.

    Examples
    --------
    >>> Goal("disturbed", (("window", 64),), below=0.02).label
    'disturbed(window=64)'
    >>> Goal("half_life", wanted=1000.0).loss(np.array([500.0, 1000.0, 2000.0]))
    array([1., 0., 1.])
    """

    objective: str
    options: tuple[tuple[str, Option], ...] = ()
    weight: float = 1.0
    direction: str = ""
    wanted: float | None = None
    below: float | None = None
    above: float | None = None
    label: str = ""

    def __post_init__(self) -> None:
        with at("name"):
            check_choice("objective", self.objective, tuple(OBJECTIVES))
        for name, value in self.options:
            with at(name):
                check_choice(f"key of {self.objective}", name, (*self.row.options, *_KEYS))
                self.row.check({name: value})
        with at("weight"):
            if not _number(self.weight) or self.weight < 0:
                raise ValueError(
                    f"weight must be a finite number ≥ 0, got {self.weight!r:.40}; "
                    "use 1, or 0 for what is only limited."
                )
        self._check_wishes()
        with at("label"):
            if not isinstance(self.label, str):
                raise ValueError(f"label must be a word, got {self.label!r:.40}; leave it out.")
        object.__setattr__(self, "label", self.label or self._usual_label)

    def _check_wishes(self) -> None:
        """Raise ValueError for a direction or numbers that are not legal."""
        if self.direction != "":
            with at("direction"):
                check_choice("direction", self.direction, DIRECTIONS)
        for name in ("wanted", "below", "above"):
            value = getattr(self, name)
            with at(name):
                if value is not None and not _number(value):
                    raise ValueError(f"{name} must be a finite number, got {value!r:.40}; use 1.")
        with at("wanted"):
            if self.wanted is not None and self.wanted <= 0:
                raise ValueError(
                    f"wanted must be a number > 0, got {self.wanted!r}; use a direction instead."
                )
            if self.wanted is not None and self.direction:
                raise ValueError(
                    f"what is wanted has no direction, got {self.wanted!r} and "
                    f"{self.direction!r}; use one of them."
                )

    @property
    def row(self) -> Objective:
        """The row of the registry."""
        return OBJECTIVES[self.objective]

    @property
    def _usual_label(self) -> str:
        """The name, and what is not usual."""
        own = [f"{name}={value}" for name, value in self.options if value != self.row.options[name]]
        return f"{self.objective}({', '.join(own)})" if own else self.objective

    def loss(self, values: Values) -> Values:
        """Return how bad values are; smaller is better."""
        if self.wanted is not None:
            ratio = values / self.wanted
            logs = torch.log2(ratio) if isinstance(ratio, Tensor) else _log2(ratio)
            return logs**2
        return values if (self.direction or self.row.better) == "smaller" else -values

    @property
    def limited(self) -> bool:
        """Whether it has a limit."""
        return self.below is not None or self.above is not None

    def beyond(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far values are beyond the limits; ≤ 0 is within, NaN is no value.

        A value at a limit is not within.
        """
        over = [values - self.below] if self.below is not None else []
        under = [self.above - values] if self.above is not None else []
        return np.maximum.reduce([np.full_like(values, -math.inf), *over, *under])

    def allowed(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values are within the limits."""
        return self.beyond(values) < 0

    def to_dict(self) -> dict[str, Any]:
        """Return the goal as :func:`goal_of` reads it."""
        wishes = {name: getattr(self, name) for name in _KEYS[1:]}
        given = {name: value for name, value in wishes.items() if value not in (None, "")}
        return {"name": self.objective, **given, **dict(self.options)}


def goal_of(entries: object) -> Goal:
    """Return a goal as it is written: its name, its options, and what is wanted of it.

    Raises
    ------
    ValueError
        For what is none.
    """
    if not isinstance(entries, Mapping) or "name" not in entries:
        raise ValueError(
            f'an objective must have a name, got {entries!r:.40}; use name = "resolution".'
        )
    given = dict(entries)
    own = {name: given.pop(name) for name in _KEYS if name in given}
    options = tuple((str(name), value) for name, value in given.items())
    return Goal(own.pop("name"), options, **own)


def _number(value: object) -> bool:
    """Whether a value is a finite number; True and False are none."""
    return is_finite(value) and not isinstance(value, bool)


def _log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log₂, −∞ of zero and NaN of less, without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(values)

r"""What a lesson is: a step asks, lets choose, lets one thing be moved, and shows what follows.

A step computes numbers and what is to be seen of them; its words are in the catalogues, under
`learn.<step>`, and its drawing is the pens'. Nothing that is shown is typed in.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xpos_viz.theme import Scale

Numbers = NDArray[np.float64]

OPTIONS: tuple[str, ...] = ("a", "b", "c")
"""The answers to choose from."""

DOUBT = "d"
"""The choice of who does not know yet."""


@dataclass(frozen=True, eq=False)
class Arrows:
    """Complex numbers as arrows from the origin, by the key of their name.

    The key `query` is the sentence `learn.<step>.query`, which names the arrow.
    """

    ends: Mapping[str, complex]
    limit: float | None = None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers of queries, which are rows, and keys, which are columns.

    Parameters
    ----------
    values
        (rows, columns); NaN where a query does not see a key.
    limit
        Where the colours end.
    scale
        Around zero, or from zero.
    rows, columns
        Names of the rows and columns; none is their numbers from 0.
    decimals
        With how many decimals the numbers are written, where there are few.
    """

    values: Numbers
    limit: float
    scale: Scale = "diverging"
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    decimals: int = 2


@dataclass(frozen=True, eq=False)
class Lines:
    """Curves over one axis, by the key of their name; marks are points (x, y) by theirs.

    NaN breaks a line. `limits` are the ends of the y axis.
    """

    x: Numbers
    lines: Mapping[str, Numbers]
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    logarithmic: bool = False
    logarithmic_y: bool = False
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Heights:
    """Bars: a group for each label, and in it one bar of each series, by the key of its name."""

    labels: tuple[str, ...]
    series: Mapping[str, Numbers]
    limits: tuple[float, float] | None = None


Shown = Arrows | Matrix | Lines | Heights


@dataclass(frozen=True, eq=False)
class Seen:
    """What follows from one setting: what is shown, and the numbers that the sentence names."""

    shown: Shown
    numbers: Mapping[str, float | str]


@dataclass(frozen=True)
class Control:
    """The one thing that is moved.

    Parameters
    ----------
    values
        Numbers, or the keys of words `learn.<step>.<key>`.
    start
        The one that it stands at when the step opens.
    """

    values: tuple[float, ...] | tuple[str, ...]
    start: float | str

    def __post_init__(self) -> None:
        if self.start not in self.values:
            raise ValueError(f"start must be one of {self.values}, got {self.start!r}.")


@dataclass(frozen=True, eq=False)
class Step:
    r"""One thing to learn.

    Parameters
    ----------
    name
        Its name in the address, and of its sentences.
    right
        One of :data:`OPTIONS`.
    control
        What is moved.
    see
        From what the control stands at to what is seen.
    formula
        TeX, in which `\role{0}{…}` has the colour of the first thing in the picture.
    line
        A function of what the control stands at, whose one line computes what is seen.
    parts
        What of the core it calls, whose source is shown.
    families
        Encodings of the registry that it is about, whose sources are named.
    measured
        Whether it measures time, so that its numbers are those of one moment.
    """

    name: str
    right: str
    control: Control
    see: Callable[..., Seen]
    formula: str
    line: Callable[..., object]
    parts: tuple[Callable[..., object] | type, ...]
    families: tuple[str, ...] = ("rope", "xpos")
    measured: bool = False

    @property
    def code(self) -> str:
        """The one line of `line`, without its `return`."""
        _, _, code = inspect.getsource(self.line).rpartition("return ")
        return code.strip()

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """What must be imported before the line runs anywhere: as its module imports it."""
        module = sys.modules[self.line.__module__]
        used = {node.id for node in ast.walk(ast.parse(self.code)) if isinstance(node, ast.Name)}
        lines: list[str] = []
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                node.names = [each for each in node.names if each.name in used]
                used -= {each.name for each in node.names}
                lines += [ast.unparse(node)] * bool(node.names)
        own = ", ".join(sorted(used & vars(module).keys()))
        return (*lines, f"from {module.__name__} import {own}") if own else tuple(lines)

    @property
    def argument(self) -> str:
        """What `line` calls the thing that is moved."""
        return next(iter(inspect.signature(self.line).parameters))


@dataclass(frozen=True, eq=False)
class Chapter:
    """Some steps under one heading, `learn.<name>`."""

    name: str
    steps: tuple[Step, ...]

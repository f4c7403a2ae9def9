r"""What a step of a lesson shows, described for both pens; and its numbers as words."""

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.description import (
    Bar,
    Bars,
    Curve,
    Curves,
    Description,
    Grid,
    Mark,
    Plane,
)
from xpos_viz.figures.words import family_name, fixed, number, percent, rounded, tiny
from xpos_viz.lessons import Arrows, Heights, Lines, Matrix, Seen, Step
from xpos_viz.texts import Text
from xpos_viz.theme import WORDS, Mode

_WRITTEN = 16  # most rows and columns of which each number is written
_FORMS: Mapping[str, Callable[[float], str]] = {
    "": rounded,
    "number": number,
    "percent": percent,
    "tiny": tiny,
}
_ROLE = re.compile(r"\\role\{(\d)\}")


class Told(float):
    """A number that a sentence writes in a form of its own: {share:percent}, {count:number}.

    Examples
    --------
    >>> f"{Told(0.25):percent} of {Told(1024):number}, and {Told(0.33333)}".replace("\u00a0", " ")
    '25.0 % of 1,024, and 0.333'
    """

    def __format__(self, form: str) -> str:
        """Write the number."""
        return _FORMS[form](float(self))

    __str__ = float.__repr__


def sentence(key: str, step: Step, seen: Seen, text: Text) -> str:
    """Return a sentence of a step with the numbers that are seen."""
    told = {
        name: text(f"learn.{step.name}.{value}") if isinstance(value, str) else Told(value)
        for name, value in seen.numbers.items()
    }
    return text(f"learn.{step.name}.{key}", **told)


def coloured(formula: str, mode: Mode) -> str:
    r"""Return TeX in which what has a role has the colour of its place in the picture.

    Examples
    --------
    >>> coloured(r"\role{0}{q}k", "light")
    '\\textcolor{#0068a3}{q}k'
    """
    return _ROLE.sub(lambda role: rf"\textcolor{{{WORDS[mode][int(role[1])]}}}", formula)


def printed(step: Step, at: float | str) -> str:
    """Return the line of a step and what it gives, as a Python prompt that has nothing shows it."""
    known = isinstance(at, str) or math.isfinite(at)
    value = repr(at) if known else f'float("{at}")'
    typed = (*step.imports, f"{step.argument} = {value}", step.code)
    return "\n".join([*(f">>> {line}" for line in typed), repr(step.line(at))])


def cited(step: Step, text: Text) -> tuple[str, ...]:
    """Return where the encodings of a step are from; their formulas are the step's matter."""
    families = (REGISTRY[name] for name in step.families)
    return tuple(f"{family_name(family, text)}: {family.source}" for family in families)


def step_figure(step: Step, seen: Seen, text: Text) -> Description:
    """Describe what is seen at a step.

    Parameters
    ----------
    step, seen
        The step, and what follows from where its control stands.
    text
        Sentences of one language.
    """
    draw: Callable[..., Description] = _DRAWN[type(seen.shown)]
    return draw(seen.shown, step, seen, text)


def _named(step: Step, seen: Seen, text: Text) -> dict[str, Any]:
    """What every picture of a step has: its name, its title, and what it shows in words."""
    title = text(f"learn.{step.name}.title")
    return {"name": "step", "alt": sentence("alt", step, seen, text), "title": (title,)}


def _arrows(shown: Arrows, step: Step, seen: Seen, text: Text) -> Plane:
    """Arrows from the origin, standing still."""
    ends = np.array(list(shown.ends.values()), np.complex128)
    return Plane(
        **_named(step, seen, text),
        x=text("pairs.real"),
        y=text("pairs.imaginary"),
        labels=tuple(text(f"learn.{step.name}.{key}") for key in shown.ends),
        paths=np.stack([np.zeros_like(ends), ends], 1),
        steps=(),
        limit=shown.limit,
    )


def _matrix(shown: Matrix, step: Step, seen: Seen, text: Text) -> Grid:
    """Cells, with their numbers where there are few."""
    rows, columns = shown.values.shape
    few = max(rows, columns) <= _WRITTEN
    return Grid(
        **_named(step, seen, text),
        x=text("learn.keys"),
        y=text("learn.queries"),
        columns=shown.columns or _places(columns, few=few),
        rows=shown.rows or _places(rows, few=few),
        values=shown.values,
        bar=Bar(text(f"learn.{step.name}.bar"), shown.limit, shown.scale, "blue_red"),
        written=_cells(shown) if few else (),
    )


def _lines(shown: Lines, step: Step, seen: Seen, text: Text) -> Curves:
    """Curves and marks."""
    places = {key: place for place, key in enumerate(shown.lines)}
    return Curves(
        **_named(step, seen, text),
        x=text(f"learn.{step.name}.x"),
        y=text(f"learn.{step.name}.y"),
        logarithmic=shown.logarithmic,
        logarithmic_y=shown.logarithmic_y,
        curves=tuple(
            Curve(text(f"learn.{step.name}.{key}"), shown.x, y) for key, y in shown.lines.items()
        ),
        marks=tuple(
            Mark(*point, text(f"learn.{step.name}.{key}"), places.get(key, 0))
            for key, point in shown.marks.items()
        ),
        y_limits=shown.limits,
    )


def _heights(shown: Heights, step: Step, seen: Seen, text: Text) -> Bars:
    """Groups of bars."""
    return Bars(
        **_named(step, seen, text),
        x=text(f"learn.{step.name}.x"),
        y=text(f"learn.{step.name}.y"),
        labels=shown.labels,
        series=tuple(
            (text(f"learn.{step.name}.{key}"), heights) for key, heights in shown.series.items()
        ),
        y_limits=shown.limits,
    )


def _places(count: int, *, few: bool) -> tuple[str, ...] | np.ndarray:
    """The numbers of rows or columns; as words where each is written."""
    return tuple(map(str, range(count))) if few else np.arange(count, dtype=np.float64)


def _cells(shown: Matrix) -> tuple[tuple[str, ...], ...]:
    """What is written in each cell."""
    return tuple(tuple(_cell(value, shown.decimals) for value in row) for row in shown.values)


def _cell(value: float, decimals: int) -> str:
    """What is written in a cell; nothing where there is no number."""
    if np.isnan(value):
        return ""
    return fixed(value, decimals) if np.isfinite(value) else number(value)


_DRAWN: Mapping[type, Callable[..., Description]] = MappingProxyType(
    {Arrows: _arrows, Matrix: _matrix, Lines: _lines, Heights: _heights}
)
"""What describes each kind of what is seen."""

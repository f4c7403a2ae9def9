"""Goals over γ and B: a map of each, and what one goal costs the other."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.choosing import Goal
from xpos_viz.choosing.landscape import Landscape
from xpos_viz.choosing.spec import Case
from xpos_viz.figures.description import Bar, Curve, Curves, Grid, Mark
from xpos_viz.figures.words import listed, number, rounded, tokens
from xpos_viz.inputs import Computed
from xpos_viz.pooling import robust_limit
from xpos_viz.texts import Text

BEST, FRONT, BARRED = "★", "•", "×"
"""What is written where a setting is the best, one of the front, or beyond a limit."""


NAMES = ("landscape", "other_landscape")
"""What the maps of the first goal and of the second are called."""


def goal_map(
    found: Landscape,
    place: int,
    text: Text,
    colours: str = "blue_red",
    chosen: int | None = None,
) -> Grid:
    """Describe a goal at every setting that is known.

    Parameters
    ----------
    found
        What is known.
    place
        Which of its goals.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    chosen
        The setting that is set now, if it is one of them; it has a ring.

    Returns
    -------
    Grid
        γ are rows, B are columns.
    """
    goal = found.spec.goals[place]
    title, shown, label = goal_words(goal, text), found.values(goal), unit(goal, text)
    if goal.wanted is not None:  # as many times too much, or too little
        shown = _powers(shown, goal.wanted)
        label = text("choose.times", wanted=tokens(round(goal.wanted), text))
    at = judged(found, [goal], text)
    both = goal.wanted is not None or bool(np.nanmin(shown, initial=0.0) < 0)
    return Grid(
        name=NAMES[place],
        alt=text("choose.alt", goal=title, at=at, best=best_words(found, text)),
        title=(title[:1].upper() + title[1:], at),
        x=text("choose.scale_base"),
        y=text("choose.gamma"),
        columns=tuple(map(number, found.scale_bases)),
        rows=tuple(map(number, found.gammas)),
        values=shown,
        bar=Bar(
            label,
            robust_limit(shown, share=1.0),
            "diverging" if both else "sequential",
            colours,
            powers=goal.wanted is not None,
        ),
        written=_written(found),
        notes=(*_notes(found, text), *[text("choose.ringed")] * (chosen is not None)),
        ringed=None if chosen is None else divmod(chosen, len(found.scale_bases)),
    )


def front_curve(found: Landscape, text: Text, chosen: int | None = None) -> Curves:
    """Describe the front of two goals, what more of one costs the other, and what is set now."""
    first, second = found.spec.goals
    front, table = found.front, found.table
    x, y = (front[goal.label].to_numpy(np.float64) for goal in (first, second))
    best = found.allowed["setting"].head(1).tolist()
    rows = [row for _, row in front.iterrows()]
    read = [f"{BEST} " * (row["setting"] in best) + setting(row, text) for row in rows]
    named = {0, len(front) // 2, len(front) - 1, *np.flatnonzero(front["setting"].isin(best))}
    marks = [
        Mark(
            *(float(x[place]), float(y[place]), words if place in named else ""),
            line=int(row["setting"] == chosen),
            read=words,
        )
        for place, (row, words) in enumerate(zip(rows, read, strict=True))
    ]
    now = table[(table["setting"] == chosen) & table["allowed"]]
    dot = [now[goal.label].to_numpy(np.float64) for goal in (first, second)]
    words = [goal_words(goal, text) for goal in (first, second)]
    return Curves(
        name="front",
        alt=text("choose.front_alt", first=words[0], second=words[1], count=len(front)),
        title=(text("choose.front"), judged(found, found.spec.goals, text)),
        x=_axis(first, text),
        y=_axis(second, text),
        logarithmic=bool(len(x) and x.min() > 0 and x.max() > 30 * x.min()),
        curves=(
            Curve(text("choose.front_line"), x, y),
            *[Curve(text("choose.set_now"), *dot)] * len(now),
        ),
        marks=tuple(marks),
        notes=(text("choose.front_note"), text("choose.mark", best=BEST)),
    )


def goal_words(goal: Goal, text: Text) -> str:
    """Say what a goal is."""
    options = {name: number(value) for name, value in goal.options if isinstance(value, int)}
    return text(f"choose.goals.{goal.objective}", **options)


def limit_words(goal: Goal, text: Text) -> str:
    """Say which values of a goal are allowed."""
    side, limit = ("below", goal.below) if goal.above is None else ("above", goal.above)
    value = "" if limit is None else rounded(limit)
    return text(f"choose.{side}", goal=goal_words(goal, text), value=value, unit=unit(goal, text))


def unit(goal: Goal, text: Text) -> str:
    """The unit of a goal."""
    return text(f"choose.units.{goal.objective}")


def judged(found: Landscape, goals: Sequence[Goal], text: Text) -> str:
    """Say at which length, or of which text, some goals are judged."""
    cases = (case for case in found.spec.cases if any(goal.row.reads(case) for goal in goals))
    return listed([_case(case, text) for case in cases], text)


def _case(case: Case, text: Text) -> str:
    """A length, or a head of a text."""
    length = tokens(case.tokens, text)
    if not isinstance(case, Computed):
        return length
    return text("choose.head", layer=case.layer, head=case.head, tokens=length)


def setting(row: Mapping[str, float] | pd.Series, text: Text) -> str:
    """Write a setting."""
    values = {name: number(row[name]) for name in ("gamma", "scale_base")}
    return text("choose.setting", **values)


def best_words(found: Landscape, text: Text) -> str:
    """Say which setting is the best, and what it reaches."""
    allowed = found.allowed
    if allowed.empty:
        return text("choose.none_within" if len(found.barred) else "choose.nothing")
    row = allowed.iloc[0]
    reached = [
        text(
            "choose.reached",
            goal=goal_words(goal, text),
            value=_valued(row[goal.label], goal, text),
        )
        for goal in found.spec.goals
    ]
    return text("choose.best", setting=setting(row, text), reached=listed(reached, text))


def edge_words(found: Landscape, text: Text) -> list[str]:
    """Say of which ranges the best setting is an end, if of any."""
    ranges = {"gamma": found.gammas, "scale_base": found.scale_bases}
    ends = [
        text(f"choose.ends.{name}_{end}", value=number(row[name]))
        for _, row in found.allowed.head(1).iterrows()
        for name, values in ranges.items()
        for end, value in (("least", values[0]), ("most", values[-1]))
        if row[name] == value
    ]
    return [text("choose.edge", ends=listed(ends, text))] * bool(ends)


def _valued(value: float, goal: Goal, text: Text) -> str:
    """A value with its unit."""
    return text("choose.value", value=rounded(value), unit=unit(goal, text))


def _axis(goal: Goal, text: Text) -> str:
    """The title of an axis."""
    return text("choose.axis", goal=text(f"choose.short.{goal.objective}"), unit=unit(goal, text))


def _powers(values: NDArray[np.float64], wanted: float) -> NDArray[np.float64]:
    """By which power of two values are off what is wanted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(values / wanted)


def _notes(found: Landscape, text: Text) -> tuple[str, ...]:
    """What the marks say."""
    two = len(found.spec.goals) > 1
    marks = text("choose.marks", best=BEST, front=FRONT) if two else text("choose.mark", best=BEST)
    limits = [limit_words(goal, text) for goal in found.spec.goals if goal.limited]
    barred = [text("choose.barred", mark=BARRED, limits=listed(limits, text))] * bool(limits)
    unknown = [text("choose.unknown")] * (len(found.table) < found.spec.settings)
    return (marks, *barred, *unknown)


def _written(found: Landscape) -> tuple[tuple[str, ...], ...]:
    """What is written in each cell."""
    cells = [["" for _ in found.scale_bases] for _ in found.gammas]
    front = found.front if len(found.spec.goals) > 1 else found.front.head(0)
    for marked, mark in ((found.barred, BARRED), (front, FRONT)):
        for row, column in found.places(marked):
            cells[row][column] = mark
    for row, column in found.places(found.allowed.head(1)):
        cells[row][column] = BEST
    return tuple(map(tuple, cells))

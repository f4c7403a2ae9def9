"""Goals over γ and B, and the front of two of them."""

from dataclasses import replace

import pandas as pd

from xpos_viz.choosing import OBJECTIVES, Goal, Spec
from xpos_viz.choosing.landscape import BUDGETS, WANTED, Landscape, landscape, steps
from xpos_viz.choosing.spec import Text as Read
from xpos_viz.figures.choose import front_curve, goal_map
from xpos_viz.inputs import Computed, Sample
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """The maps and the front; none where a goal needs a text and there is none."""
    spec = asked(state)
    return () if spec is None else pictures_of(landscape(spec), state, text)


def pictures_of(found: Landscape, state: State, text: Text) -> tuple[Picture, ...]:
    """The pictures of what is known; no front where nothing is within the limits."""

    def table() -> pd.DataFrame:
        return found.table

    goals = found.spec.goals
    places, chosen = range(len(goals)), found.setting(*set_now(state))
    maps = [Picture(goal_map(found, place, text, state.colours, chosen), table) for place in places]
    if len(goals) == 1 or found.front.empty:
        return tuple(maps)
    return (*maps, Picture(front_curve(found, text, chosen), lambda: found.front))


def set_now(state: State) -> tuple[float, float]:
    """Return the γ and the B that all pages show."""
    xpos = state.encoding("xpos")
    return xpos["gamma"], xpos["scale_base"]


def asked(state: State, budget: str = "") -> Spec | None:
    """Return what is to be computed, if there is a text where a goal needs one."""
    inputs = state.experiment.inputs
    goals = goals_of(state)
    reads = any(OBJECTIVES[goal.objective].needs == "text" for goal in goals)
    if reads and not isinstance(inputs, Computed):
        return None
    xpos, count = state.encoding("xpos"), BUDGETS[budget or state.budget]
    return Spec(
        "xpos",
        (
            ("base", xpos["base"]),
            ("gamma", steps(*state.gammas, count)),
            ("scale_base", steps(*state.scale_bases, count)),
        ),
        goals,
        xpos.head_dim,
        (state.goal_length,),
        (_read(inputs),) if reads and isinstance(inputs, Computed) else (),
    )


def goals_of(state: State) -> tuple[Goal, ...]:
    """What is wanted, each goal once."""
    first = _goal(state.goal, state.goal_limit, state)
    if state.second_goal in ("none", state.goal):
        return (first,)
    second = _goal(state.second_goal, state.second_limit, state)
    share = state.goal_weight / 100
    return replace(first, weight=2 * share), replace(second, weight=2 * (1 - share))


def _goal(name: str, limit: float | None, state: State) -> Goal:
    """A goal as it is set."""
    windowed = "window" in OBJECTIVES[name].options
    options = (("window", state.goal_window),) if windowed else ()
    wanted = float(state.wanted) if name in WANTED else None
    goal = Goal(name, options, wanted=wanted)
    if goal.row.better == "smaller":
        return replace(goal, below=limit)
    return replace(goal, above=limit)


def _read(inputs: Computed) -> Read:
    """The head of the text."""
    name = {"sample": inputs.name} if isinstance(inputs, Sample) else {"data": inputs.data}
    return Read(**name, layers=(inputs.layer,), heads=(inputs.head,))

"""The picture of a step of a lesson, as what is moved stands."""

import numpy as np
import pandas as pd

from xpos_viz.figures.lessons import step_figure
from xpos_viz.lessons import STEPS, Arrows, Heights, Lines, Matrix, Seen, Step
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """What is seen at the step."""
    return (picture(STEPS[state.lesson], seen(state), text),)


def picture(step: Step, what: Seen, text: Text) -> Picture:
    """The picture of what is seen at a step."""
    return Picture(step_figure(step, what, text), lambda: _table(what), step.measured)


def seen(state: State) -> Seen:
    """What follows from where the control of the step stands."""
    return STEPS[state.lesson].see(standing(state))


def standing(state: State) -> float | str:
    """Where the control of the step stands; at its start where the place is none of its own."""
    control = STEPS[state.lesson].control
    return control.values[state.at] if 0 <= state.at < len(control.values) else control.start


def _table(what: Seen) -> pd.DataFrame:
    """The numbers that are drawn."""
    match what.shown:
        case Arrows(ends):
            points = np.array(list(ends.values()), np.complex128)
            return pd.DataFrame({"name": list(ends), "real": points.real, "imaginary": points.imag})
        case Matrix(values):
            rows, columns = np.indices(values.shape).reshape(2, -1)
            return pd.DataFrame({"query": rows, "key": columns, "value": values.ravel()})
        case Lines(x, lines):
            return pd.DataFrame({"x": x, **lines})
        case Heights(labels, series):
            return pd.DataFrame({"name": labels, **series})

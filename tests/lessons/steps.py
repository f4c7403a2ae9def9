"""The steps of the lessons, as their tests see them."""

from typing import Any

from xpos_viz.lessons import STEPS


def see(step, value) -> Any:
    """What is seen at a step: one of several kinds, which a test of that step knows."""
    return STEPS[step].see(value)


def places(step) -> Any:
    """All that the control of a step can stand at."""
    return STEPS[step].control.values

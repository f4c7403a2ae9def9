"""What is seen at a step, for the tests of all chapters."""

from typing import Any

from xpos_viz.lessons import STEPS


def see(step: str, at: object) -> Any:
    """What follows from where the control of a step stands, of whatever kind it is."""
    return STEPS[step].see(at)

"""Lessons: chapters of steps, each of which is a thing to predict, to move and to see."""

from xpos_viz.lessons.attention import ATTENTION
from xpos_viz.lessons.clocks import CLOCKS
from xpos_viz.lessons.difference import DIFFERENCE
from xpos_viz.lessons.fading import FADING
from xpos_viz.lessons.growth import GROWTH
from xpos_viz.lessons.longer import LONGER
from xpos_viz.lessons.mistakes import MISTAKES
from xpos_viz.lessons.model import (
    DOUBT,
    OPTIONS,
    Arrows,
    Chapter,
    Control,
    Heights,
    Lines,
    Matrix,
    Seen,
    Shown,
    Step,
)
from xpos_viz.lessons.others import OTHERS
from xpos_viz.lessons.scaling import SCALING
from xpos_viz.lessons.sentences import SENTENCES
from xpos_viz.lessons.trained import TRAINED
from xpos_viz.lessons.turning import TURNING

CHAPTERS: tuple[Chapter, ...] = (
    TURNING,
    DIFFERENCE,
    CLOCKS,
    SCALING,
    FADING,
    ATTENTION,
    GROWTH,
    LONGER,
    TRAINED,
    SENTENCES,
    MISTAKES,
    OTHERS,
)
"""All chapters in the order in which they are read."""

STEPS: dict[str, Step] = {step.name: step for chapter in CHAPTERS for step in chapter.steps}
"""All steps in order, by name."""

ANSWERS: tuple[str, ...] = tuple(
    f"{step}-{option}" for step in STEPS for option in (*OPTIONS, DOUBT)
)
"""Every answer that can be given."""


MAX_PLACES = max(len(step.control.values) for step in STEPS.values())
"""Most values of what is moved."""


def chapter_of(step: str) -> Chapter:
    """Return the chapter of a step."""
    return next(chapter for chapter in CHAPTERS if STEPS[step] in chapter.steps)


__all__ = [
    "ANSWERS",
    "CHAPTERS",
    "DOUBT",
    "MAX_PLACES",
    "OPTIONS",
    "STEPS",
    "Arrows",
    "Chapter",
    "Control",
    "Heights",
    "Lines",
    "Matrix",
    "Seen",
    "Shown",
    "Step",
    "chapter_of",
]

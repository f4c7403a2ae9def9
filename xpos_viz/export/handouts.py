"""The pages that have a hand-out: one file to take along, without network."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xpos_viz.export.handout import handout
from xpos_viz.export.lessons import lessons
from xpos_viz.state import State
from xpos_viz.texts import Text

HANDOUTS: Mapping[str, Callable[[State, Text, str], str]] = MappingProxyType(
    {"compare": handout, "learn": lessons}
)
"""What makes the hand-out of a page, by its name: from all that is set, in words, with a recipe."""

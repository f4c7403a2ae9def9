"""The pictures of each page, from the state alone: pages, files and commands show the same."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from xpos_viz.pictures import (
    choose,
    compare,
    decay,
    lab,
    layers,
    learn,
    long,
    neighbours,
    pairs,
    precision,
    tokens,
)
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.texts import Text

PICTURES: Mapping[str, Callable[[State, Text], tuple[Picture, ...]]] = MappingProxyType(
    {
        "compare": compare.pictures,
        "learn": learn.pictures,
        "decay": decay.pictures,
        "pairs": pairs.pictures,
        "tokens": tokens.pictures,
        "layers": layers.pictures,
        "long": long.pictures,
        "precision": precision.pictures,
        "neighbours": neighbours.pictures,
        "choose": choose.pictures,
        "lab": lab.pictures,
    }
)
"""What forms the pictures of a page, by its name."""

__all__ = ["PICTURES", "Picture"]

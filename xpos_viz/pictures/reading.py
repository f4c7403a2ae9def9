"""A text that trained models read: what its bytes cost them."""

from collections.abc import Sequence
from functools import partial

from xpos_viz.figures.reading import costs_curves
from xpos_viz.pictures.picture import Picture
from xpos_viz.studies.reading import Costs, Read, costs, costs_table
from xpos_viz.texts import Text


def pictures(read: Read, text: Text) -> tuple[Picture, ...]:
    """The picture of a text, if any models read it."""
    return (picture_of(read, costs(read), text),) if read.lab.models else ()


def picture_of(read: Read, found: Sequence[Costs], text: Text) -> Picture:
    """The picture of what it costs."""
    return Picture(costs_curves(read, found, text), partial(costs_table, found))

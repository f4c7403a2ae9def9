"""What XPos would do to every layer and head of a model on a text."""

from xpos_viz.figures.layers import heads_map
from xpos_viz.inputs import Computed
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.changes import Changes, Progress, fades, of_text, own_encodings
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """The map of all layers and heads; none where there is no text, or it has faded already."""
    inputs = asked(state)
    return () if inputs is None else (map_of(studied(inputs, state), inputs, state, text),)


def asked(state: State) -> Computed | None:
    """Return the text that is asked for, if there is one to which a decay can be added."""
    inputs = state.experiment.inputs
    if not isinstance(inputs, Computed):
        return None
    faded = any(map(fades, own_encodings(inputs, state.encoding("xpos"))))
    return None if faded else inputs


def studied(inputs: Computed, state: State, report: Progress | None = None) -> Changes:
    """Compute the changes, and say what share is done."""
    return of_text(inputs, state.encoding("xpos"), report)


def map_of(changes: Changes, inputs: Computed, state: State, text: Text) -> Picture:
    """The picture of the changes."""
    description = heads_map(changes, inputs, state.measure, text, state.colours)
    return Picture(description, changes.table)

"""What one token of a text reads, and what all heads make of XPos."""

from xpos_viz.encoding import Encoding
from xpos_viz.figures.tokens import bars, head_maps
from xpos_viz.inputs import Computed
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.tokens import Heads, Reading, all_heads, beside, read
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """The bars of the query, and the maps of all heads; none where there is no text."""
    inputs = state.experiment.inputs
    if not isinstance(inputs, Computed):
        return ()
    encoding = compared(inputs, state)
    reading, heads = read(inputs, encoding, state.query), all_heads(inputs, encoding)
    return bars_of(reading, text), maps_of(heads, state, text)


def compared(inputs: Computed, state: State) -> Encoding:
    """XPos as it stands beside the model's own encoding."""
    return beside(inputs, state.encoding("xpos"))


def bars_of(reading: Reading, text: Text) -> Picture:
    """The bars of the query."""
    return Picture(bars(reading, text), reading.table)


def maps_of(heads: Heads, state: State, text: Text) -> Picture:
    """The maps of all heads."""
    return Picture(head_maps(heads, state.panels, text, state.colours), heads.table)

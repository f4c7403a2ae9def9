"""What one token of a text reads, and what all heads make of XPos."""

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
    reading, heads = studied(inputs, state)
    maps = head_maps(heads, state.panels, text, state.colours)
    return Picture(bars(reading, text), reading.table), Picture(maps, heads.table)


def studied(inputs: Computed, state: State) -> tuple[Reading, Heads]:
    """The reading of the chosen query, and of all heads, under the base of the model."""
    encoding = beside(inputs, state.encoding("xpos"))
    return read(inputs, encoding, state.query), all_heads(inputs, encoding)

"""Any two encodings side by side: maps, and curves over distance."""

from dataclasses import replace

from xpos_viz.comparison import compare
from xpos_viz.figures.neighbours import pair_maps
from xpos_viz.pictures.decay import along
from xpos_viz.pictures.picture import Picture
from xpos_viz.results import Result, run
from xpos_viz.state import State
from xpos_viz.studies.decay import Reading
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """Both maps with their difference, and both curves."""
    result = side_by_side(state)
    comparison = compare(result)
    maps = Picture(pair_maps(comparison, text, state.colours), comparison.table)
    return maps, *along(tuple(dict.fromkeys(result.experiment.encodings)), Reading(), state, text)


def side_by_side(state: State) -> Result:
    """The experiment with the two chosen encodings."""
    encodings = (state.encoding(state.left), state.encoding(state.right))
    return run(replace(state.experiment, encodings=encodings))

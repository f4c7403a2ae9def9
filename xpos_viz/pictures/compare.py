"""RoPE beside XPos: maps of scores or weights, and curves over distance."""

from xpos_viz.comparison import compare
from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.pictures.picture import Picture
from xpos_viz.results import curves, run
from xpos_viz.state import State
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """Both maps with their difference, and the decay curves."""
    experiment, look = state.experiment, state.look
    comparison = compare(run(experiment), look.difference)
    maps = score_maps(comparison, text, look.colours)
    table = curves(experiment)
    decay = decay_curves(table, experiment, text, logarithmic=look.axis == "log")
    return Picture(maps, comparison.table), Picture(decay, lambda: table)

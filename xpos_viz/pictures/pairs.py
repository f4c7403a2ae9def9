"""The pairs of an encoding: over all lags, in motion, and as parts of one score."""

from xpos_viz.figures.pairs import motion, response_map, score_parts
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.pairs import Parts, in_motion, over_text, parts, place
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """All pairs over all lags, all as they move, and one score taken apart."""
    encoding, length = state.encoding(state.pair_encoding), state.experiment.inputs.tokens
    response, moving = over_text(encoding, length, state.axis), in_motion(encoding, length)
    apart = score(state)
    over = response_map(response, text, state.colours, logarithmic=state.axis == "log")
    return (
        Picture(over, response.table),
        Picture(motion(moving, text), moving.table),
        Picture(score_parts(apart, text), apart.table),
    )


def score(state: State) -> Parts:
    """The chosen score, taken apart."""
    experiment = state.experiment
    query, key = place(experiment.inputs, experiment.view.mask, state.query, state.key)
    return parts(experiment.inputs, experiment.encodings, query, key)

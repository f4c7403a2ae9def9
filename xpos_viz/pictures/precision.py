"""Where number formats overflow, and where they lose angles."""

import pandas as pd

from xpos_viz.figures.precision import angle_curves, overflow_curves
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.precision import Angles, Overflow, angles, overflow
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """The largest numbers and the errors of angles, over the position; none without a format."""
    if not state.formats:
        return ()
    (large, lost), xpos = studied(state), state.encoding("xpos")
    sizes = overflow_curves(large, xpos, state.formats, state.text_length, text)
    errors = angle_curves(lost, state.encoding("rope"), state.kept, text)
    return Picture(sizes, large.table), Picture(errors, lambda: _measured(lost))


def studied(state: State) -> tuple[Overflow, dict[str, Angles]]:
    """How large keys become, and what each chosen format loses of the angles."""
    large = overflow(state.encoding("xpos"), float(state.k_max), state.text_length)
    rope, length = state.encoding("rope"), state.text_length
    return large, {name: angles(rope, name, state.kept, length) for name in state.formats}


def _measured(lost: dict[str, Angles]) -> pd.DataFrame:
    """All errors that were measured, a row per format and position."""
    return pd.concat([study.table().assign(format=name) for name, study in lost.items()])

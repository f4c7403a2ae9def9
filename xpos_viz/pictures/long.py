"""Long texts under masks: maps, and resolution."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import pandas as pd

from xpos_viz.figures.long import block_maps, resolution_curves
from xpos_viz.inputs import Computed, Expectation, Random
from xpos_viz.pictures.picture import Picture
from xpos_viz.pooling.maps import MapStage, Reduce
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.state.model import LONG_MASKS
from xpos_viz.studies.long import Beginning, Long, LongMap, fitting, long_maps, map_table
from xpos_viz.studies.resolving import Course, resolutions
from xpos_viz.texts import Text


def pictures(state: State, text: Text, report: Report = lambda _: None) -> tuple[Picture, ...]:
    """The maps, and the resolution by length or scale base."""
    long, along = fitting(asked(state)), course(state)
    maps, table = studied(long, along, report)
    return maps_of(maps, long, state.colours, text), resolution_of(table, along, text)


def studied(long: Long, course: Course, report: Report) -> tuple[tuple[LongMap, ...], pd.DataFrame]:
    """Compute all of it, and say what share is done."""
    maps = long_maps(long, lambda share: report(0.8 * share))
    return maps, resolutions(course, lambda share: report(0.8 + 0.2 * share))


def maps_of(maps: Sequence[LongMap], long: Long, colours: str, text: Text) -> Picture:
    """The picture of the maps."""
    return Picture(block_maps(maps, long, text, colours), partial(map_table, maps))


def resolution_of(table: pd.DataFrame, course: Course, text: Text) -> Picture:
    """The picture of the resolution."""
    return Picture(resolution_curves(table, course, text), lambda: table)


def asked(state: State) -> Long:
    """The maps that are asked for, which may be more than fits."""
    masks, xpos = _masks(state), state.encoding("xpos")
    if state.compare_masks == "yes":
        encodings, shown = (xpos,), tuple(masks.values())
    else:
        encodings, shown = (state.encoding("rope"), xpos), (masks[state.long_mask],)
    stage, reduce = cast("MapStage", state.long_stage), cast("Reduce", state.long_reduce)
    return Long(_inputs(state), encodings, shown, stage, reduce)


def course(state: State) -> Course:
    """The resolutions that are asked for: of all of the length, even where maps are shorter."""
    both, masks = (state.encoding("rope"), state.encoding("xpos")), tuple(_masks(state).values())
    length = asked(state).tokens
    return Course(both, masks, length, state.normalisation, state.resolution_over)


def _inputs(state: State) -> Expectation | Random | Beginning:
    """Queries and keys of a long text; where no model read one, ones take their place."""
    length, read = state.long_length, state.experiment.inputs
    if state.long_inputs == "text" and isinstance(read, Computed):
        return Beginning(read, read.tokens)
    if state.long_inputs in ("text", "expectation"):
        return Expectation(length)
    return Random(length, state.long_seed, state.long_inputs)


def _masks(state: State) -> dict[str, str]:
    """The masks with their sizes, by kind."""
    sizes = {"sliding": f":{state.window_size}", "blockwise": f":{state.block_size}"}
    return {kind: kind + sizes.get(kind, "") for kind in LONG_MASKS}

"""What a Plotly figure says once it is JSON, as the browser gets it."""

import base64
import json
from typing import Any

import numpy as np

from xpos_viz import Experiment, rope, run, xpos
from xpos_viz.comparison import compare
from xpos_viz.experiment import View
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.description import Axis, Bar, Heatmaps, Panel
from xpos_viz.figures.words import mask_words
from xpos_viz.inputs import Inputs, Sample
from xpos_viz.texts import texts
from xpos_viz.theme import Scale

PAIR = (rope(64, base=100_000.0), xpos(64, base=100_000.0, scale_base=24.0))


def spec(figure) -> dict[str, Any]:
    """The figure as it is sent."""
    return json.loads(figure.to_json())


def array(value) -> np.ndarray:
    """Numbers or words of a trace, sent in base64 or as lists; null is NaN."""
    if not isinstance(value, dict):
        return np.array(value)
    flat = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]))
    shape = [int(size) for size in str(value.get("shape", flat.size)).split(",")]
    return flat.reshape(shape)


def maps(
    inputs: Inputs | None = None,
    encodings=PAIR,
    *,
    language="en",
    how="plain",
    colours="blue_red",
    **view: Any,
) -> tuple[Any, Heatmaps]:
    """A result and the description of its maps."""
    inputs = inputs or Sample("chinese", 8, 3)
    result = run(Experiment(encodings, inputs, View(**view)))
    return result, score_maps(compare(result, how), texts(language), colours)


def state(stage, mask, language="en"):
    """The line of a title that says stage and mask."""
    text = texts(language)
    parts = {"stage": text(f"figure.stage.{stage}"), "mask": mask_words(mask, text)}
    return text("figure.state", **parts)


def one_panel(
    values, *, seen=None, labels=(), limit=1.0, scale: Scale = "diverging", powers=False, **axis
) -> Heatmaps:
    """A description of a single map, for values that no experiment gives; NaN is masked."""
    values = np.asarray(values, dtype=np.float64)
    seen = ~np.isnan(values) if seen is None else np.asarray(seen)
    positions = np.arange(len(values), dtype=np.float64)
    words = {"queries": "down", "keys": "across", "query": "m", "key": "n", "lag": "Δ"}
    described = {**words, "positions": positions, "block": 1, "labels": tuple(labels), **axis}
    return Heatmaps(
        name="one",
        alt="One map.",
        axis=Axis(**described),
        panels=(Panel(("Map", "base 10", "state"), values, 0, seen),),
        bars=(Bar("value", limit, scale, "blue_red", powers),),
    )

"""The controls of where queries and keys come from."""

from functools import partial

import streamlit as st

from xpos_viz.inputs import SOURCES, Captured, Computed, Expectation, Random, Sample
from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.state import State
from xpos_viz.state.changes import with_head_dim, with_inputs, with_source
from xpos_viz.state.model import MAX_HEAD_DIM, MAX_LENGTH, source_of
from xpos_viz.texts import Text
from xpos_viz.ui import sentences, upload, widgets
from xpos_viz.ui.session import state
from xpos_viz.ui.widgets import Change

LENGTHS: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
HEAD_DIMS: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512)

_FEW = 8  # layers that stand side by side


def source(text: Text) -> None:
    """Draw where queries and keys come from."""
    experiment = state().experiment
    inputs = experiment.inputs
    brought = isinstance(inputs, Captured) or bool(upload.known())
    sources = tuple(name for name in SOURCES if name != "capture" or brought)
    widgets.choice(text, "source", sources, source_of(experiment), _with_source, "ui.sources")
    if isinstance(inputs, Sample):
        _name(text, inputs)
    if isinstance(inputs, Computed):
        _head(text, inputs)
    if isinstance(inputs, Expectation | Random):
        widgets.series(text, "length", LENGTHS, inputs.length, MAX_LENGTH, _with_inputs("length"))
        width(text)
    if isinstance(inputs, Random):
        widgets.choice(
            text,
            "keys",
            ("same", "independent"),
            inputs.keys,
            _with_inputs("keys"),
            "ui.keys_words",
        )
        widgets.control(
            st.number_input,
            "seed",
            text("ui.seed"),
            inputs.seed,
            _with_inputs("seed"),
            min_value=0,
            max_value=MAX_SEED,
            step=1,
            help=text("ui.seed_help"),
        )
    if widgets.is_shown("data"):
        upload.show(text)
        sentences.show(text)


def _with_source(old: State, new: str) -> State:
    """The change of the source."""
    return upload.with_brought(old) if new == "capture" else with_source(old, new)


def _name(text: Text, inputs: Sample) -> None:
    """Which text."""
    widgets.choice(
        text,
        "name",
        SAMPLES,
        inputs.name,
        lambda old, new: with_source(old, "sample", new),
        "ui.samples",
    )


def _head(text: Text, inputs: Computed) -> None:
    """Which layer and head."""
    capture = inputs.capture
    few = len(capture.layers) <= _FEW
    widgets.control(
        partial(st.segmented_control, required=True) if few else st.selectbox,
        "layer",
        text("ui.layer"),
        inputs.layer,
        _with_inputs("layer"),
        options=capture.layers,
        help=text("ui.layer_help"),
    )
    widgets.series(text, "head", range(capture.heads), inputs.head, None, _with_inputs("head"))


def width(text: Text) -> None:
    """Draw the width of a head, where it is not that of a model."""
    if not isinstance(state().experiment.inputs, Computed):
        value = state().experiment.encodings[0].head_dim
        widgets.series(text, "head_dim", HEAD_DIMS, value, MAX_HEAD_DIM, with_head_dim)


def _with_inputs(name: str) -> Change:
    """The change of one setting of the inputs."""
    return lambda old, new: with_inputs(old, **{name: new})

"""The page that compares RoPE and XPos."""

import math
from typing import cast

import streamlit as st

from xpos_viz.attention import attention_logits
from xpos_viz.curves import half_life
from xpos_viz.encoding import REGISTRY
from xpos_viz.experiment import Experiment
from xpos_viz.figures.description import Heatmaps
from xpos_viz.figures.words import excerpt_words, percent, rounded, tiny, tokens
from xpos_viz.inputs import Computed
from xpos_viz.inputs.labels import beginning
from xpos_viz.kernel import attention_scores
from xpos_viz.pictures.compare import pictures
from xpos_viz.results import SHIFT, Result, run, self_check
from xpos_viz.state.changes import with_moves
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, downloads, livemap, notices, page, widgets
from xpos_viz.ui.session import commit, language, state

_PICTURE = (
    *("base", "gamma", "scale_base", "window", "stage", "mask"),
    *("difference", "axis", "colours"),
)
"""The controls of the picture itself."""


def show() -> None:
    """Draw the page."""
    text = texts(language())
    page.head("compare", text)
    experiment = state().experiment
    with st.container(key="live"):
        picture, beside = st.columns([3, 1], gap="large")
    with picture:
        own = ("base",) if state().apart == "yes" else ()
        keys = (*_PICTURE, *("xpos_base" for _ in own))
        widgets.offer(*keys)
        with st.empty().container():  # the picture stays mounted when they go
            notices.beside(text, *keys)
        livemap.show(experiment, text, page.mode(), state().look, _take, own, state().show)
        _figures(text)
        _text(experiment, text)
        page.notice(_seen(run(experiment), text), text)
        _checks(experiment, text)
    with beside:
        controls.show(text)
    page.formula(text("ui.formula_words"), page.ONE, (REGISTRY["rope"], REGISTRY["xpos"]), text)
    page.code((attention_scores, attention_logits), text)


def _take(moves: livemap.Moves) -> None:
    """Set what the picture's own controls were moved to."""
    commit(lambda old: with_moves(old, moves), "livemap", moves)


def _figures(text: Text) -> None:
    """What the picture is of, and its figures to take along."""
    maps, decay = pictures(state(), text)
    page.notes(cast("Heatmaps", maps.description).about)
    downloads.show(maps, text)
    downloads.show(decay, text)


def _text(experiment: Experiment, text: Text) -> None:
    """The text that the model read, if there is one, to be read."""
    inputs = experiment.inputs
    if isinstance(inputs, Computed) and inputs.capture.text:
        with st.expander(text("ui.read")):
            st.text(beginning(inputs.capture.text))
            page.notes(excerpt_words(inputs, text))


def _seen(result: Result, text: Text) -> list[str]:
    """Three sentences, or the one that there is nothing to compare."""
    window = result.experiment.window
    if window.stop == 1:
        return [text("ui.notice_alone")]
    rope, xpos = (measurement.reach for measurement in result.measurements)
    return [
        text(
            "ui.notice_far",
            half=tokens(rope.half, text),
            rope=rounded(rope.far_magnitude),
            xpos=rounded(xpos.far_magnitude),
            share=percent(result.far_ratio),
        ),
        text(
            "ui.notice_share",
            far=tokens(rope.quarter + 1, text),
            rope=percent(rope.far_share),
            xpos=percent(xpos.far_share),
        ),
        _third(result, text),
    ]


def _third(result: Result, text: Text) -> str:
    """Of a real model, what its first token gets; else how soon the pairs fade."""
    if isinstance(result.experiment.inputs, Computed):
        rope, xpos = (percent(measurement.reach.first_share) for measurement in result.measurements)
        return text("ui.notice_first", rope=rope, xpos=xpos)
    half_lives = half_life(result.experiment.encodings[-1]).tolist()
    fast, slow = (tokens(half_lives[place], text) for place in (0, -1))
    if len(half_lives) == 1:
        return text("ui.notice_pair", every=fast)
    return text("ui.notice_pairs", fast=fast, slow=slow)


def _checks(experiment: Experiment, text: Text) -> None:
    """What must hold, measured on what is shown."""
    check = self_check(experiment)
    key = "ui.checks" if math.isfinite(check.shift) else "ui.checks_overflow"
    errors = {name: tiny(getattr(check, name)) for name in ("shift", "norm", "rope")}
    st.caption(text(key, tokens=f"{SHIFT:,}", **errors))

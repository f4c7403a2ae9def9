"""The page that compares RoPE and XPos."""

import math

import streamlit as st

from xpos_viz.curves import half_life
from xpos_viz.encoding import REGISTRY
from xpos_viz.experiment import Experiment
from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.figures.words import percent, rounded, tiny
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import read_sample
from xpos_viz.livemap import Look
from xpos_viz.results import SHIFT, Result, curves, run, self_check
from xpos_viz.texts import Text, texts
from xpos_viz.theme import Mode
from xpos_viz.ui import controls, downloads, livemap
from xpos_viz.ui.session import commit, language, refusals, state
from xpos_viz.ui.state import LOOKS, Refusal, with_moves

_NOTICES = 4  # most refused settings that are named
_STYLE = """<style>
.stMainBlockContainer { padding-top: 3.5rem; padding-bottom: 3rem; }
.stHorizontalBlock { row-gap: 1rem; }
@media (max-width: 75rem) { .stMainBlockContainer { padding-inline: clamp(1rem, 3vw, 2rem); } }
/* the picture and what stands beside it: lists show their whole words, or stand below it */
@media (max-width: 56rem) {
  .stColumn:not(.stColumn .stColumn) { min-width: calc(100% - 1.5rem); }
}
@media (min-width: 56.01rem) {
  .stHorizontalBlock:not(.stColumn .stHorizontalBlock) { flex-wrap: nowrap; }
  .stColumn:last-child:not(.stColumn .stColumn) { min-width: 17rem; }
}
</style>"""


def show() -> None:
    """Draw the page."""
    text = texts(language())
    _head(text)
    experiment = state().experiment
    picture, beside = st.columns([3, 1], gap="large")
    with picture:
        mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
        livemap.show(experiment, text, mode, _look(), _take)
        _figures(experiment, text)
        _text(experiment, text)
        _notice(run(experiment), text)
        _checks(experiment, text)
    with beside:
        controls.show(text)
    _formula(text)


def _look() -> Look:
    """How the picture is looked at."""
    own = ("base",) if state().apart == "yes" else ()
    return Look(own=own, **{name: getattr(state(), name) for name in LOOKS})


def _take(moves: livemap.Moves) -> None:
    """Set what the picture's own controls were moved to."""
    commit(lambda old: with_moves(old, moves), "livemap")


def _head(text: Text) -> None:
    """Title, the question of the page, language, and what the address did not get."""
    st.html(_STYLE)
    title, switch = st.columns([3, 1], gap="large", vertical_alignment="center")
    title.title(text("ui.title"), anchor=False)
    with switch:
        controls.language_switch(text)
    st.markdown(text("ui.question"))
    _refusals(text)


def _refusals(text: Text) -> None:
    """What the address asked for and did not get, a few of them one by one.

    They have a place of their own, so that the picture stays mounted when they go.
    """
    refused, place = refusals(), st.empty()
    if not refused:
        return
    with place.container():
        _warnings(refused, text)


def _warnings(refused: list[Refusal], text: Text) -> None:
    """A few refused settings one by one, and how many more there are."""
    for refusal in refused[:_NOTICES]:
        if refusal.used:
            st.warning(text("ui.refused", key=refusal.key, value=refusal.value, used=refusal.used))
        else:
            st.warning(text("ui.unknown", key=refusal.key))
    if len(refused) > _NOTICES:
        st.warning(text("ui.more_refused", count=len(refused) - _NOTICES))


def _figures(experiment: Experiment, text: Text) -> None:
    """What the picture is of, and its figures to take along."""
    result, table = run(experiment), curves(experiment)
    maps = score_maps(result, text)
    decay = decay_curves(table, experiment, text, logarithmic=state().axis == "log")
    st.caption("  \n".join(maps.about))
    downloads.show(maps, result.table, text)
    downloads.show(decay, lambda: table, text)


def _text(experiment: Experiment, text: Text) -> None:
    """The text of a sample, to be read."""
    if isinstance(experiment.inputs, Sample):
        with st.expander(text("ui.read")):
            st.text(str(read_sample(experiment.inputs.name)["text"]))


def _notice(result: Result, text: Text) -> None:
    """Three sentences on what is to be seen, with the numbers of what is shown."""
    st.header(text("ui.notice"), anchor=False)
    rope, xpos = (measurement.reach for measurement in result.measurements)
    tokens = len(result.experiment.window)
    share = xpos.far_magnitude / rope.far_magnitude if rope.far_magnitude else math.nan
    sentences = [
        text(
            "ui.notice_far",
            half=-(-tokens // 2),
            rope=rounded(rope.far_magnitude),
            xpos=rounded(xpos.far_magnitude),
            share=percent(share),
        ),
        text(
            "ui.notice_share",
            quarter=tokens // 4,
            rope=percent(rope.far_share),
            xpos=percent(xpos.far_share),
        ),
        _third(result, text),
    ]
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))


def _third(result: Result, text: Text) -> str:
    """Of a real model, what its first token gets; else how soon the pairs fade."""
    if isinstance(result.experiment.inputs, Sample):
        rope, xpos = (percent(measurement.reach.first_share) for measurement in result.measurements)
        return text("ui.notice_first", rope=rope, xpos=xpos)
    half_lives = half_life(result.experiment.encodings[-1]).tolist()
    fast, slow = (rounded(half_lives[place]) for place in (0, -1))
    return text("ui.notice_pairs", fast=fast, slow=slow)


def _checks(experiment: Experiment, text: Text) -> None:
    """What must hold, measured on what is shown."""
    check = self_check(experiment)
    key = "ui.checks" if math.isfinite(check.shift) else "ui.checks_overflow"
    errors = {name: tiny(getattr(check, name)) for name in ("shift", "norm", "rope")}
    st.caption(text(key, tokens=f"{SHIFT:,}", **errors))


def _formula(text: Text) -> None:
    """The one formula, and where it is from."""
    st.header(text("ui.formula"), anchor=False)
    st.latex(r"s(m,n)=\mathrm{Re}\sum_i q_i\,\overline{k_i}\;e^{\lambda_i(m-n)}")
    st.latex(
        r"\lambda_i=\underbrace{\mathrm{i}\,\theta_i}_{\text{RoPE}}+"
        r"\underbrace{\tfrac{\ln\zeta_i}{B}}_{\text{XPos}}"
    )
    st.markdown(text("ui.formula_words"))
    rows = (REGISTRY["rope"], REGISTRY["xpos"])
    st.caption("  \n".join(f"{row.label}: {row.formula} ({row.source})" for row in rows))

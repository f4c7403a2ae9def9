"""The page of any two encodings side by side, and of all of them in a table."""

import streamlit as st

from xpos_viz.attention import attention_logits
from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.neighbours import family_words, share_rows
from xpos_viz.figures.words import bound, family_name, percent, portion, rounded, tokens
from xpos_viz.kernel import attention_scores
from xpos_viz.pictures.neighbours import pictures, side_by_side
from xpos_viz.results import Result
from xpos_viz.state import State
from xpos_viz.studies.decay import landmarks
from xpos_viz.studies.neighbours import LAGS, share_table, shares
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, decay, downloads, page, sources
from xpos_viz.ui.session import language, state

LOGITS = ("masked", "weights")
"""The stages at which a bias and a temperature are seen."""


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("neighbours", text)
    result = side_by_side(now)
    picture, beside = page.sides("neighbours")
    with picture:
        maps, *curves = pictures(now, text)
        page.picture(maps, text)
        _later(result, text)
        for shown in curves:
            page.picture(shown, text)
        page.notice(_seen(result, now.distance, text), text)
    with beside:
        _controls(now, text)
    _table(now, text)
    families = tuple(dict.fromkeys(encoding.family for encoding in result.experiment.encodings))
    page.formula(text("neighbours.words"), page.ONE, families, text)
    page.code((attention_scores, attention_logits, shares), text)


def _later(result: Result, text: Text) -> None:
    """Say what of the encodings is not yet seen at this stage."""
    encodings = result.experiment.encodings
    added = any(e.bias is not None or e.temperature != 1 for e in encodings)
    if added and result.experiment.view.stage not in LOGITS:
        st.info(text("neighbours.later"))


def _controls(now: State, text: Text) -> None:
    """Which two, how they are seen, on what, and their parameters."""
    for side in ("left", "right"):
        controls.choose(text, side, lambda name: family_name(REGISTRY[name], text))
    controls.stage(text)
    controls.mask(text)
    controls.window(text)
    decay.distance(text)
    sources.source(text)
    controls.colours(text)
    controls.families(text, now.left, now.right)
    controls.reset(text)


def _table(now: State, text: Text) -> None:
    """What all families leave of g with the parameters that are set, and what each of them is."""
    encodings = [now.encoding(name) for name in REGISTRY]
    lags = tuple(sorted({*LAGS, now.distance}))
    st.header(text("neighbours.all"), anchor=False)
    st.markdown(text("neighbours.table"))
    page.table("shares", share_rows(encodings, text, lags))
    downloads.csv("xpos_viz-neighbours", lambda: share_table(encodings, lags), text)
    rows = [family_words(encoding, text) for encoding in encodings]
    st.markdown(
        "\n".join(f"- **{bound(name)}**  \n  {formula}  \n  {of}" for name, formula, of in rows)
    )


def _seen(result: Result, distance: int, text: Text) -> list[str]:
    """Three sentences about both, or the one that there is nothing to compare."""
    left, right = result.experiment.encodings
    if left == right:
        return [text("neighbours.same", label=family_name(left.family, text))]
    if result.experiment.window.stop == 1:
        return [text("ui.notice_alone")]
    names = {side: family_name(e.family, text) for side, e in (("left", left), ("right", right))}
    first, second = (measurement.reach for measurement in result.measurements)
    ends = [portion(landmarks(encoding, distance).left) for encoding in (left, right)]
    return [
        text(
            "neighbours.notice_far",
            half=tokens(first.half, text),
            first=rounded(first.far_magnitude),
            second=rounded(second.far_magnitude),
            **names,
        ),
        text(
            "neighbours.notice_share",
            far=tokens(first.quarter + 1, text),
            first=percent(first.far_share),
            second=percent(second.far_share),
            **names,
        ),
        text(
            "neighbours.notice_curve",
            distance=tokens(distance, text),
            first=ends[0],
            second=ends[1],
            **names,
        ),
    ]

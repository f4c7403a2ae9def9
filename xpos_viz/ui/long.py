"""The page of long texts: maps and resolution under masks."""

import math
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from xpos_viz.curves import expectation_resolution, resolution, resolution_label
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.figures.long import sizes
from xpos_viz.figures.words import listed, many, number, portion, rounded, tokens
from xpos_viz.inputs import Computed
from xpos_viz.masks import Mask
from xpos_viz.pictures.long import asked, course, maps_of, resolution_of
from xpos_viz.pooling import pooled_map
from xpos_viz.state import State
from xpos_viz.state.model import MAX_LONG_LENGTH
from xpos_viz.studies import resolving
from xpos_viz.studies.long import (
    MOST_SCORES,
    Long,
    LongMap,
    fitting,
    long_maps,
    visible_pairs,
)
from xpos_viz.studies.resolving import Course, resolutions
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui.session import language, state
from xpos_viz.ui.work import Work, shown, working

LENGTHS = tuple(2**power for power in range(12, 21))
SIZES = tuple(2**power for power in range(6, 19))

_RESOLUTION = (
    r"R(s)=\frac{\sum_{i=0}^{N} e^{s_i}\,(e^{s_i}-e^{s_{i+1}})}"
    r"{\left(\sum_{i=0}^{N} e^{s_i}\right)^2}"
)


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("long", text)
    wanted, along = asked(now), course(now)
    long = fitting(wanted)
    upper, beside = page.sides("long")
    with beside:
        _controls(now, text)
    with upper:
        if now.long_inputs == "text" and not isinstance(now.experiment.inputs, Computed):
            st.info(text("long.no_text"))
        _work(wanted, long, text)
        maps = working(long, partial(long_maps, long), "maps")
        table = working(along, partial(resolutions, along), "resolution")
        seen = [_maps(maps, long, text), _curves(table, along, text)]
        if any(seen):
            page.notice([sentence for part in seen for sentence in part], text)
    page.formula(
        text("long.formula"), (*page.ONE, _RESOLUTION), (REGISTRY["rope"], REGISTRY["xpos"]), text
    )
    page.code((pooled_map, expectation_resolution, resolution), text)


def _maps(work: Work[tuple[LongMap, ...]], long: Long, text: Text) -> Sequence[str]:
    """Draw the maps once they are there, and return what is to be noticed in them."""
    if not shown(work, text):
        return ()
    page.picture(maps_of(work.result, long, state().colours, text), text)
    return [sizes(each, long, text) for each in work.result]


def _curves(work: Work[pd.DataFrame], along: Course, text: Text) -> Sequence[str]:
    """Draw the resolution, which does not wait for the maps, and return what to notice."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.choose(text, "resolution_over")
        controls.choose(text, "normalisation")
    if not shown(work, text):
        return ()
    page.picture(resolution_of(work.result, along, text), text)
    return [_visible(along, text), *_resolved(along, text)]


def _controls(now: State, text: Text) -> None:
    """What is beside the maps."""
    controls.choose(text, "long_inputs")
    if now.long_inputs == "text":
        sources.source(text)
    else:
        _made(now, text)
    controls.choose(text, "compare_masks")
    if now.compare_masks == "no":
        controls.choose(text, "long_mask")
    controls.slide(text, "window_size", SIZES)
    controls.slide(text, "block_size", SIZES)
    controls.choose(text, "long_stage", lambda stage: text(f"figure.stage.{stage}"))
    controls.choose(text, "long_reduce")
    controls.colours(text)
    controls.parameters(text, "base", "gamma", "scale_base")
    controls.reset(text)


def _made(now: State, text: Text) -> None:
    """Of made vectors: which, and how many."""
    if now.long_inputs != "expectation":
        controls.slide(text, "long_seed", range(10))
    controls.slide(text, "long_length", [step for step in LENGTHS if step <= MAX_LONG_LENGTH])
    sources.width(text)


def _work(asked: Long, long: Long, text: Text) -> None:
    """How much work the maps are, and why they are of fewer tokens than asked."""
    if not long.linear:
        st.caption(text("long.work", scores=many(long.scores, text)))
    if long.tokens == asked.tokens:
        return
    values = {"asked": tokens(asked.tokens, text), "used": tokens(long.tokens, text)}
    if asked.scores > MOST_SCORES:
        scores, most = many(asked.scores, text), many(MOST_SCORES, text)
        st.info(text("long.quadratic", scores=scores, most=most, **values))
    else:
        width = number(asked.encodings[0].head_dim)
        st.info(text("long.wide", head_dim=width, **values))


def _visible(course: Course, text: Text) -> str:
    """What share of all pairs each mask leaves visible."""
    pairs = course.tokens**2
    shares = [
        f"{_kind(mask, text)} {portion(visible_pairs(mask, course.tokens) / pairs)}"
        for mask in course.masks
    ]
    return text("long.visible", tokens=tokens(course.tokens, text), shares=listed(shares, text))


def _resolved(course: Course, text: Text) -> list[str]:
    """The resolution at the length under each mask, and how its values compare."""
    written, at = resolution_label(course.normalisation), tokens(course.tokens, text)
    values = [[_resolution(course, e, mask) for e in course.encodings] for mask in course.masks]
    each = [
        text("long.resolved_mask", mask=_kind(mask, text), rope=rounded(rope), xpos=rounded(xpos))
        for mask, (rope, xpos) in zip(course.masks, values, strict=True)
    ]
    (rope, causal), _, (other, blockwise) = values
    pairs = {"causal": (causal, rope), "blockwise": (blockwise, other), "mask": (blockwise, causal)}
    times = {
        name: rounded(over / under if under else math.nan) for name, (over, under) in pairs.items()
    }
    return [
        text("long.resolved", label=written, tokens=at, each=listed(each, text)),
        text("long.times", label=written, **times),
    ]


def _resolution(course: Course, encoding: Encoding, mask: str) -> float:
    """The resolution at the length."""
    return resolving.resolution_of(encoding, mask, course.tokens, course.normalisation)


def _kind(mask: str, text: Text) -> str:
    """The kind of a mask, in a word."""
    return text(f"ui.long_mask_words.{Mask.of(mask).name}")

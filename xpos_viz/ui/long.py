"""The page of long texts: maps and resolution under masks."""

import math
from functools import partial
from typing import cast

import pandas as pd
import streamlit as st

from xpos_viz.curves import expectation_resolution, resolution, resolution_label
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.figures.long import block_maps, resolution_curves, sizes
from xpos_viz.figures.words import listed, number, rounded, tokens
from xpos_viz.inputs import Expectation, Random
from xpos_viz.masks import Mask
from xpos_viz.pooling import pooled_map
from xpos_viz.pooling.maps import MapStage, Reduce
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.state.model import LONG_MASKS, MAX_LONG_LENGTH
from xpos_viz.studies.long import (
    MOST_SCORES,
    Long,
    LongMap,
    fitting,
    long_maps,
    map_table,
    visible_pairs,
)
from xpos_viz.studies.resolving import Course, resolution_of, resolutions
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page
from xpos_viz.ui.session import language, state
from xpos_viz.ui.work import shown, working

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
    asked, course = _long(now), _course(now)
    long = fitting(asked)
    upper, beside = st.columns([3, 1], gap="large")
    with beside:
        _controls(now, text)
    with upper:
        _work(asked, long, text)
        work = working((long, course), partial(_study, long, course))
        if shown(work, text):
            _pictures(long, course, *work.result, text)
    page.formula(
        text("long.formula"), (*page.ONE, _RESOLUTION), (REGISTRY["rope"], REGISTRY["xpos"]), text
    )
    page.code((pooled_map, expectation_resolution, resolution), text)


def _pictures(
    long: Long, course: Course, maps: tuple[LongMap, ...], table: pd.DataFrame, text: Text
) -> None:
    """Draw both pictures, and what is to be noticed in them."""
    description = block_maps(maps, long, text, state().colours)
    page.picture(description, partial(map_table, maps), text, key="long_maps")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.choose(text, "resolution_over")
        controls.choose(text, "normalisation")
    curves = resolution_curves(table, course, text)
    page.picture(curves, lambda: table, text, key="resolution")
    seen = [sizes(each, long, text) for each in maps]
    page.notice([*seen, _visible(course, text), *_resolved(course, text)], text)


def _study(long: Long, course: Course, report: Report) -> tuple[tuple[LongMap, ...], pd.DataFrame]:
    """Compute all that the page shows."""
    maps = long_maps(long, lambda share: report(0.8 * share))
    return maps, resolutions(course, lambda share: report(0.8 + 0.2 * share))


def _long(now: State) -> Long:
    """The maps that are asked for."""
    inputs = (
        Expectation(now.long_length)
        if now.long_inputs == "expectation"
        else Random(now.long_length, now.long_seed, now.long_inputs)
    )
    masks, xpos = _masks(now), now.encoding("xpos")
    if now.compare_masks == "yes":
        encodings, shown = (xpos,), tuple(masks.values())
    else:
        encodings, shown = (now.encoding("rope"), xpos), (masks[now.long_mask],)
    stage, reduce = cast("MapStage", now.long_stage), cast("Reduce", now.long_reduce)
    return Long(inputs, encodings, shown, stage, reduce)


def _course(now: State) -> Course:
    """The resolutions that are asked for: of all of the length, even where maps are shorter."""
    both, masks = (now.encoding("rope"), now.encoding("xpos")), tuple(_masks(now).values())
    return Course(both, masks, now.long_length, now.normalisation, now.resolution_over)


def _masks(now: State) -> dict[str, str]:
    """The masks with their sizes, by kind."""
    sizes = {"sliding": f":{now.window_size}", "blockwise": f":{now.block_size}"}
    return {kind: kind + sizes.get(kind, "") for kind in LONG_MASKS}


def _controls(now: State, text: Text) -> None:
    """What is beside the maps."""
    controls.choose(text, "long_inputs")
    if now.long_inputs != "expectation":
        controls.slide(text, "long_seed", range(10))
    controls.slide(text, "long_length", [step for step in LENGTHS if step <= MAX_LONG_LENGTH])
    controls.parameters(text, "base", "gamma", "scale_base")
    controls.choose(text, "compare_masks")
    if now.compare_masks == "no":
        controls.choose(text, "long_mask")
    controls.slide(text, "window_size", SIZES)
    controls.slide(text, "block_size", SIZES)
    controls.choose(text, "long_stage", lambda stage: text(f"figure.stage.{stage}"))
    controls.choose(text, "long_reduce")
    controls.reset(text)


def _work(asked: Long, long: Long, text: Text) -> None:
    """How much work the maps are, and why they are of fewer tokens than asked."""
    if not long.linear:
        st.caption(text("long.work", scores=rounded(long.scores / 1e6)))
    if long.tokens == asked.tokens:
        return
    values = {"asked": tokens(asked.tokens, text), "used": tokens(long.tokens, text)}
    if asked.scores > MOST_SCORES:
        scores, most = _billions(asked.scores), _billions(MOST_SCORES)
        st.info(text("long.quadratic", scores=scores, most=most, **values))
    else:
        width = number(asked.encodings[0].head_dim)
        st.info(text("long.wide", head_dim=width, **values))


def _billions(count: int) -> str:
    """So many thousand millions."""
    return rounded(count / 1e9)


def _visible(course: Course, text: Text) -> str:
    """What share of all pairs each mask leaves visible."""
    pairs = course.tokens**2
    shares = [
        f"{_kind(mask, text)} {rounded(100 * visible_pairs(mask, course.tokens) / pairs)} %"
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
    return resolution_of(encoding, mask, course.tokens, course.normalisation)


def _kind(mask: str, text: Text) -> str:
    """The kind of a mask, in a word."""
    return text(f"ui.long_mask_words.{Mask.of(mask).name}")

"""A sentence of one's own, read by a model that the operator offers.

The operator names a folder (:data:`xpos_viz.limits.MODELS`); a visitor chooses one of the models
in it by name, and nothing else of the computer.
"""

import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypedDict

import streamlit as st

from xpos_viz.figures.words import number, tokens
from xpos_viz.inputs.captured import keep
from xpos_viz.limits import LIMITS
from xpos_viz.models import Plan, plan
from xpos_viz.models.memory import amount
from xpos_viz.models.shelf import offered
from xpos_viz.pooling.sides import Report
from xpos_viz.texts import Text
from xpos_viz.ui import upload
from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import heard
from xpos_viz.ui.work import shown, working

Asked = tuple[Path, str, tuple[int, ...] | None]
"""A model, a text, and the layers to keep, None for all."""


class _Field(TypedDict):
    """How a field is named, and what is called when it changes."""

    key: str
    on_change: Callable[[str], None]
    args: tuple[str]


_LETTERS = 8 * LIMITS.tokens  # few languages have tokens as long
_LAYERS = re.compile(r"\s*\d{1,4}(\s*[,，、\s]\s*\d{1,4})*\s*", re.ASCII)
_PLAN, _READ, _BEGUN = "sentence_plan", "sentence_read", "sentence_begun"
_TYPED = "sentence_typed"  # the fields, which Streamlit forgets on a page that does not show them
_POLL = 0.2  # seconds between two looks at whether somebody still waits
_turn = threading.Semaphore(1)  # a model takes much memory: they are read one at a time


def show(text: Text) -> None:
    """Draw the way to bring a sentence, where the operator offers models."""
    models = offered()
    if not models:
        return
    _restore(models)
    drawer = st.expander(
        text("sentences.title"),
        icon=":material/edit_note:",
        **_kept("sentence"),
    )
    if drawer.open:
        with drawer:
            _ask(models, text)


def _restore(models: dict[str, Path]) -> None:
    """Put what was typed back into fields that are new: another page has others."""
    for key, value in st.session_state.get(_TYPED, {}).items():
        if key != "model" or value in models:
            st.session_state.setdefault(key, value)


def _kept(key: str) -> _Field:
    """How a field is named and kept: at once, since a link may be what it is left for."""
    return {"key": key, "on_change": _keep, "args": (key,)}


def _keep(key: str) -> None:
    """Keep what a field was changed to."""
    heard(key)
    st.session_state.setdefault(_TYPED, {})[key] = st.session_state[key]


def _ask(models: dict[str, Path], text: Text) -> None:
    """Which model reads what, what that takes, and the way to begin."""
    name = st.selectbox(text("sentences.model"), tuple(models), **_kept("model"))
    words = st.text_area(
        text("sentences.text"),
        max_chars=_LETTERS,
        help=text("sentences.text_help", tokens=tokens(LIMITS.tokens, text)),
        **_kept("words"),
    )
    layers = st.text_input(
        text("sentences.layers"),
        placeholder="0, 8, 16",
        help=text("sentences.layers_help"),
        **_kept("kept_layers"),
    )
    if not words.strip():
        st.caption(text("sentences.first"))
        return
    try:
        _offer((models[name], words, _numbers(layers)), text)
    except (ValueError, MemoryError) as error:
        st.session_state.pop(_BEGUN, None)
        st.error(text("sentences.refused", reason=plain(str(error))))


def _offer(asked: Asked, text: Text) -> None:
    """Say what it takes; begin where that is wanted, and show what came of it."""
    planning = working(asked, partial(_planned, asked), _PLAN)
    if not shown(planning, text):
        return
    planned = planning.result
    _say(planned, text)
    if st.session_state.get(_BEGUN) != asked:
        st.button(
            text("sentences.read"),
            key="read_sentence",
            on_click=_begin,
            args=(asked,),
            icon=":material/play_arrow:",
            width="stretch",
        )
        return
    reading = working(asked, partial(_read, planned), _READ)
    if reading.stopped:
        del st.session_state[_BEGUN]
        st.rerun()
    if shown(reading, text):
        del st.session_state[_BEGUN]
        upload.bring(reading.result)
        st.rerun()


def _begin(asked: Asked) -> None:
    """Note that a sentence is to be read."""
    heard("read_sentence")
    st.session_state.pop(_READ, None)
    st.session_state[_BEGUN] = asked


def _say(planned: Plan, text: Text) -> None:
    """Say how much is read and kept, and the memory that it takes."""
    needed = planned.estimate
    st.caption(
        text(
            "sentences.estimate",
            tokens=tokens(planned.reading.length, text),
            layers=number(len(planned.layers)),
            total=amount(needed.total),
            free=amount(needed.free),
        )
    )


def _planned(asked: Asked, report: Report) -> Plan:
    """What reading takes; more than the server gives is refused."""
    model, words, layers = asked
    report(0.0)
    planned = plan(model, words, layers=layers)
    length, heads = planned.reading.length, planned.config.num_attention_heads
    LIMITS.check_size(len(planned.layers), heads, length, length, planned.width)
    if (size := planned.estimate.vectors) > LIMITS.kept:
        raise ValueError(
            f"queries and keys must be at most {amount(LIMITS.kept)}, got {amount(size)}; use "
            "fewer layers or a shorter text, or set XPOS_VIZ_MAX_KEPT."
        )
    planned.estimate.check()
    return planned


def _read(planned: Plan, report: Report) -> str:
    """Have the model read it once no other does, keep what it computed, and return its hash."""
    while not _turn.acquire(timeout=_POLL):
        report(0.0)
    try:
        return keep(planned.run(report))
    finally:
        _turn.release()


def _numbers(words: str) -> tuple[int, ...] | None:
    """The numbers of layers that were written, None where there are none."""
    if not words.strip():
        return None
    if not _LAYERS.fullmatch(words):
        raise ValueError(f"layers must be numbers between commas, got {words!r:.40}; use 0, 8, 16.")
    return tuple(int(found) for found in re.findall(r"\d+", words))

"""A text of one's own, read by trained models: where each of them loses the thread."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import streamlit as st

from xpos_viz.figures.lab import names
from xpos_viz.figures.passage import markup
from xpos_viz.figures.reading import lost_words, shaded
from xpos_viz.figures.words import number
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.labels import within
from xpos_viz.pictures.reading import picture_of
from xpos_viz.state import State, to_address
from xpos_viz.state.changes import with_setting, with_source
from xpos_viz.studies.lab import Lab
from xpos_viz.studies.reading import MOST_BYTES, Costs, Read, costs, queries_and_keys
from xpos_viz.texts import Text
from xpos_viz.ui import compare, long, page, tokens, upload, widgets
from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import state
from xpos_viz.ui.work import shown, working

_PLACES: Mapping[str, Callable[[], None]] = MappingProxyType(
    {"compare": compare.show, "tokens": tokens.show, "long": long.show}
)
_CUT = "passage_cut"


def section(lab: Lab, now: State, text: Text) -> None:
    """Draw the way to bring a text, and what the models that are chosen make of it."""
    read = Read(lab, now.passage)
    st.header(text("reading.title"), anchor=False)
    st.markdown(text("reading.words"))
    _typed(read, text)
    work = working(read, partial(costs, read), "reading")
    if shown(work, text):
        _seen(read, work.result, now, text)


def _typed(read: Read, text: Text) -> None:
    """The text, and how much of it is read."""
    widgets.control(
        st.text_area,
        "passage",
        text("ui.passage"),
        read.passage,
        _with_passage,
        placeholder=text("reading.placeholder"),
        help=text("ui.passage_help", cap=number(MOST_BYTES)),
    )
    if read.passage and (read.text != read.passage or st.session_state.get(_CUT) == read.passage):
        st.info(text("reading.cut", bytes=number(read.size)))


def _with_passage(old: State, new: str) -> State:
    """The change of the text, which is cut where it is too long, and then known as such."""
    kept = within(new, MOST_BYTES)
    st.session_state[_CUT] = kept if kept != new else ""
    return with_setting("passage", old, kept)


def _seen(read: Read, found: tuple[Costs, ...], now: State, text: Text) -> None:
    """What the text costs the models, and its words for one of them."""
    page.picture(picture_of(read, found, text), text)
    st.markdown("\n".join(f"- {words}" for words in lost_words(read, found, text)))
    if read.beyond:
        st.markdown(text("reading.one"))
    models = read.lab.models
    name = now.reader if now.reader in models else models[0]
    widgets.control(
        st.selectbox,
        "reader",
        text("ui.reader"),
        name,
        partial(with_setting, "reader"),
        options=models,
        format_func=names(read.lab, text).__getitem__,
        help=text("ui.reader_help"),
    )
    costs_of = next(each for each in found if each.name == name)
    with st.container(key="reader_words"):
        st.html(markup(shaded(read, costs_of, text, now.colours), page.mode()))
    _ways(read, name, text)


def _ways(read: Read, name: str, text: Text) -> None:
    """The ways to what the model computes on the text."""
    st.markdown(text("reading.open", model=names(read.lab, text)[name]))
    with st.container(horizontal=True):
        for place in _PLACES:
            label = text(f"pages.{place}.link")
            if st.button(label, key=f"open_in_{place}", icon=":material/open_in_new:"):
                _open(place, read, name, text)


def _open(place: str, read: Read, name: str, text: Text) -> None:
    """Show on another page what the model computes on the text."""
    try:
        data = keep(queries_and_keys(read, name))
        address = to_address(_with_model(state(), data, read))
    except ValueError as error:
        st.error(text("own.refused", reason=plain(str(error))))
        return
    upload.remember(data)
    there = st.Page(_PLACES[place], title=text(f"pages.{place}.link"), url_path=place)
    st.switch_page(there, query_params=address)


def _with_model(old: State, data: str, read: Read) -> State:
    """The change to what a model computed, with the masks of its training length."""
    masks = {"window_size": read.length, "block_size": read.length // 2}
    return replace(with_source(old, "capture", data), long_inputs="text", **masks)

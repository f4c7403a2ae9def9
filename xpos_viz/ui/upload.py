"""A file of queries and keys that somebody brings: taken up, asked about, and let go.

What is uploaded is read from memory, kept by its content (:mod:`xpos_viz.inputs.captured`) and
removed from the server's memory of uploads. The session knows its hash, and what was said of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from xpos_viz.entry import LAYOUTS, Layout
from xpos_viz.figures.words import counted, number
from xpos_viz.inputs import Capture, Captured
from xpos_viz.inputs.captured import keep, lookup
from xpos_viz.inputs.files import UnclearOrderError, read_capture
from xpos_viz.inputs.files.examples import FROM_A_MODEL, FROM_ARRAYS
from xpos_viz.inputs.files.orders import sizes
from xpos_viz.inputs.rotation import Rotation, base_of, before_rotation, looks_rotated
from xpos_viz.limits import LIMITS
from xpos_viz.state import State
from xpos_viz.state.changes import with_inputs, with_source
from xpos_viz.texts import Text
from xpos_viz.ui import layout, notices
from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import commit, state

ENDINGS: tuple[str, ...] = ("npz", "npy", "safetensors", "csv")
"""Of the files that can be read."""

_BROUGHT, _FILE, _UPLOADS, _WRONG, _UNCLEAR = "brought", "file", "uploads", "wrong", "unclear"
_MIB = 1 << 20
_CHOOSE = ".st-key-own [data-testid=stFileUploaderDropzone] button p"


@dataclass(frozen=True)
class Brought:
    """A file that a session brought, and what was said of it.

    Parameters
    ----------
    file
        The hash of what the file holds.
    looks
        Whether that looks rotated.
    layout
        How columns form pairs.
    base
        The base of a RoPE that was applied to it and is undone, or None.
    data
        The hash of what came of it.
    """

    file: str
    looks: Rotation
    layout: Layout
    base: float | None
    data: str

    @classmethod
    def of(cls, capture: Capture) -> "Brought":
        """Keep a capture as it is."""
        data = keep(capture)
        return cls(data, looks_rotated(capture), capture.layout, None, data)

    def said(self, *, layout: Layout, base: float | None) -> "Brought":
        """Keep what the file holds, if that is said of it.

        Raises
        ------
        ValueError
            If the file is no longer kept, or a base is none.
        """
        capture = replace(lookup(self.file), layout=layout)
        if base is not None:
            capture = before_rotation(capture, base)
        return replace(self, layout=layout, base=base, data=keep(capture))


def in_memory() -> None:
    """Have the server keep what is uploaded out of temporary files."""
    MultiPartParser.spool_max_size = LIMITS.upload + _MIB


def show(text: Text) -> None:
    """Draw the way to bring a file, folded away until it is needed."""
    inputs = state().experiment.inputs
    drawer = st.expander(
        text("own.title"),
        expanded=bool(notices.concerning("data")),
        key="own",
        icon=":material/upload_file:",
        on_change="rerun",
    )
    if not drawer.open:
        return
    with drawer:
        notices.beside(text, "data")
        _uploader(text)
        if isinstance(inputs, Captured):
            _found(inputs.capture, text)
            if (brought := _file()) and brought.data == inputs.data:
                _questions(brought, text)
        _explained(text)


def known() -> str:
    """Return the hash of what the session brought last, or nothing."""
    return st.session_state.get(_BROUGHT, "")


def bring(data: str, change: Callable[[State], State] | None = None) -> None:
    """Show data that the session brought, and remember them.

    Raises
    ------
    ValueError
        If they are no longer kept, or cannot be shown.
    """
    change = change or (lambda old: with_source(old, "capture", data))
    change(state())
    remember(data)
    commit(change)


def remember(data: str) -> None:
    """Note data that the session brought, so that they can be chosen."""
    st.session_state[_BROUGHT] = data


def with_brought(old: State) -> State:
    """Return the state on what the session brought.

    Raises
    ------
    ValueError
        If it is no longer kept.
    """
    return with_source(old, "capture", known())


def _file() -> Brought | None:
    """The file that the session brought, if it brought one."""
    return st.session_state.get(_FILE)


def _uploader(text: Text) -> None:
    """Where a file is dropped, what was wrong with the last, and in which order one is read."""
    key = f"upload_{st.session_state.get(_UPLOADS, 0)}"
    st.html(layout.worded({_CHOOSE: text("own.choose")}))
    st.file_uploader(
        text("own.file"),
        type=ENDINGS,
        key=key,
        on_change=_take,
        args=(key,),
        max_upload_size=max(1, LIMITS.upload // _MIB),
        help=text("own.file_help"),
    )
    if wrong := _wrong():
        st.error(text("own.refused", reason=plain(wrong)))
    unclear: UnclearOrderError | None = st.session_state.get(_UNCLEAR)
    if unclear is not None:
        st.selectbox(
            text("own.order"),
            unclear.readings,
            index=None,
            key="order",
            format_func=lambda reading: _order(reading, unclear.shape, text),
            placeholder=text("own.order_choose"),
            help=text("own.order_help"),
            on_change=_take,
            args=(key,),
        )


def _take(key: str) -> None:
    """Read the file that was uploaded, and show it; a file that is done with is let go."""
    file = cast("UploadedFile | None", st.session_state.get(key))
    reading = st.session_state.get("order") if _UNCLEAR in st.session_state else None
    st.session_state.pop(_UNCLEAR, None)
    st.session_state[_WRONG] = ""
    if file is None:
        return
    try:
        brought = Brought.of(read_capture(file.getvalue(), reading=reading or ""))
    except UnclearOrderError as error:
        st.session_state[_UNCLEAR] = error
        return
    except ValueError as error:
        st.session_state[_WRONG] = str(error)
    else:
        _show(brought, lambda old: with_source(old, "capture", brought.data))
    _drop(file)


def _drop(file: UploadedFile) -> None:
    """Let go of an uploaded file: its uploader is a new one, and the server forgets it."""
    st.session_state[_UPLOADS] = st.session_state.get(_UPLOADS, 0) + 1
    if context := get_script_run_ctx():
        uploads = cast("MemoryUploadedFileManager", context.uploaded_file_mgr)
        uploads.remove_file(context.session_id, file.file_id)


def _show(brought: Brought, change: Callable[[State], State]) -> None:
    """Change the state to what was brought; where that cannot be, say why."""
    try:
        bring(brought.data, change)
    except ValueError as error:
        st.session_state[_WRONG] = str(error)
    else:
        st.session_state[_FILE] = brought


def _wrong() -> str:
    """What was wrong with the last file."""
    return st.session_state.get(_WRONG, "")


def _order(reading: str, shape: Sequence[int], text: Text) -> str:
    """An order of dimensions with their sizes, as in the file."""
    size = sizes(reading, shape)
    return " × ".join(f"{text(f'own.dimensions.{name}')} {size[name]}" for name in reading.split())


def _found(capture: Capture, text: Text) -> None:
    """What the file holds."""
    st.caption(
        text(
            "own.found",
            model=plain(capture.model.strip()[:40]) or text("figure.no_model"),
            layers=number(len(capture.layers)),
            heads=number(capture.heads),
            key_heads=number(capture.key_heads),
            tokens=number(len(capture.key_positions)),
            head_dim=number(capture.head_dim),
            dtype=str(capture.q.dtype).removeprefix("torch."),
        )
    )


def _questions(brought: Brought, text: Text) -> None:
    """How columns form pairs, and whether q and k were rotated already."""
    if brought.looks and brought.base is None:
        looks = brought.looks
        pairs = text(f"own.layout_words.{looks.layout}")
        st.warning(text("own.looks", base=number(looks.base), pairs=pairs))
    _question(
        "rotated",
        ("before", "after"),
        "before" if brought.base is None else "after",
        lambda word: _before(brought) if word == "before" else _after(brought),
        text,
    )
    if brought.base is not None:
        _set("rotation", brought.base)
        st.number_input(
            text("own.rotation"),
            min_value=1.0,
            key="rotation",
            format="%.10g",
            help=text("own.rotation_help"),
            on_change=_say,
            args=("rotation", lambda base: brought.said(layout=brought.layout, base=base)),
        )
    _question(
        "layout",
        sorted(LAYOUTS),
        brought.layout,
        lambda word: brought.said(layout=word, base=brought.base),
        text,
    )


def _question(
    key: str,
    words: Sequence[str],
    value: str,
    said: Callable[..., Brought],
    text: Text,
) -> None:
    """A choice of one of some words."""
    _set(key, value)
    st.segmented_control(
        text(f"own.{key}"),
        words,
        key=key,
        required=True,
        format_func=lambda word: text(f"own.{key}_words.{word}"),
        help=text(f"own.{key}_help"),
        on_change=_say,
        args=(key, said),
    )


def _set(key: str, value: object) -> None:
    """Have a widget show a value."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def _say(key: str, said: Callable[..., Brought]) -> None:
    """Show what came of what was said of the file."""
    try:
        brought = said(st.session_state[key])
    except ValueError as error:
        st.session_state[_WRONG] = str(error)
        return
    _show(brought, lambda old: with_inputs(old, data=brought.data))


def _before(brought: Brought) -> Brought:
    """What was brought, as it is."""
    return brought.said(layout=brought.layout, base=None)


def _after(brought: Brought) -> Brought:
    """What was brought before the rotation that it may have had: the model's, or as it looks."""
    looks = brought.looks
    base = base_of(lookup(brought.file)) or looks.base
    return brought.said(layout=looks.layout if looks else brought.layout, base=base)


def _explained(text: Text) -> None:
    """What files may hold, and how one is made."""
    limits = {
        "upload": number(LIMITS.upload / _MIB),
        "tokens": number(LIMITS.tokens),
        "width": number(LIMITS.width),
        "heads": number(LIMITS.heads),
        "cells": counted(LIMITS.cells),
        "kept": number(LIMITS.kept / _MIB),
    }
    lines = (text(f"own.lines.{line}", **limits) for line in ("q", "more", "safe"))
    st.caption("  \n".join(lines))
    with st.popover(text("own.how"), icon=":material/code:", width="stretch"):
        for name, script in (("arrays", FROM_ARRAYS), ("model", FROM_A_MODEL)):
            st.caption(text(f"own.scripts.{name}"))
            st.code(script, language="python", wrap_lines=True)

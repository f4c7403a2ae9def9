"""What can be taken along: each figure and its numbers, and all of a page."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from xpos_viz.export import FORMS, Recipe, bundle, make
from xpos_viz.pictures import Picture
from xpos_viz.state import State
from xpos_viz.texts import Text
from xpos_viz.ui.session import language, link, state

PAGE = "page"
"""Where a session keeps the name of its page, which files tell."""


def show(shown: Picture, text: Text) -> None:
    """Draw the buttons of a figure; a file is made when it is asked for."""
    name, now = f"xpos_viz-{shown.name}", state()
    made = partial(_made, shown, st.session_state[PAGE], now, language(), link(now))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(f"ui.downloads.{shown.name}"), width="content")
        for form, kind in FORMS.items():
            _button(
                form.upper(),
                partial(made, form),
                f"{name}.{form}",
                kind.mime,
                text(f"ui.{form}_help"),
            )


def csv(name: str, table: Callable[[], pd.DataFrame], text: Text) -> None:
    """Draw the button of a table that no figure shows."""
    _button(
        "CSV",
        lambda: table().to_csv(index=False).encode(),
        f"{name}.csv",
        "text/csv",
        text("ui.csv_help"),
    )


def bundled(text: Text) -> None:
    """Draw the button of all that the page shows."""
    page, now = st.session_state[PAGE], state()
    made = partial(bundle, page, now, language(), link=link(now))
    _button(
        text("ui.bundle"), made, f"xpos_viz-{page}.zip", "application/zip", text("ui.bundle_help")
    )


def _button(label: str, made: Callable[[], bytes], name: str, mime: str, help_: str) -> None:
    """Draw the button of a file."""
    key = name.replace(".", "-")
    st.download_button(label, made, name, mime, key=key, on_click="ignore", help=help_)


def _made(shown: Picture, page: str, now: State, spoken: str, at: str, form: str) -> bytes:
    """Make a file of a figure."""
    return make(shown, form, Recipe.of(page, (shown,), now, spoken, link=at))

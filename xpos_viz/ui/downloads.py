"""The download menu of a figure: the picture as it is on paper, and its numbers."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from xpos_viz.figures.paper_pen import KINDS, save
from xpos_viz.pictures import Picture
from xpos_viz.texts import Text


def show(shown: Picture, text: Text) -> None:
    """Draw the buttons; a file is made when it is asked for."""
    description, name = shown.description, f"xpos_viz-{shown.name}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(text(f"ui.downloads.{shown.name}"), width="content")
        for kind, mime in KINDS.items():
            st.download_button(
                kind.upper(),
                partial(save, description, kind),
                f"{name}.{kind}",
                mime,
                key=f"{name}-{kind}",
                on_click="ignore",
                help=text(f"ui.{kind}_help"),
            )
        csv(name, shown.table, text)


def csv(name: str, table: Callable[[], pd.DataFrame], text: Text) -> None:
    """Draw the button of a table."""
    st.download_button(
        "CSV",
        lambda: table().to_csv(index=False).encode(),
        f"{name}.csv",
        "text/csv",
        key=f"{name}-csv",
        on_click="ignore",
        help=text("ui.csv_help"),
    )

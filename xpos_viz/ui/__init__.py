"""The dashboard: pages that show experiments, and controls that change them."""

import streamlit as st

from xpos_viz.figures.compare import decay_curves, score_maps
from xpos_viz.figures.plotly_pen import draw
from xpos_viz.results import curves, run, self_check
from xpos_viz.texts import texts
from xpos_viz.ui import compare
from xpos_viz.ui.session import begin
from xpos_viz.ui.state import opening
from xpos_viz.ui.viewport import USUAL_WIDTH


def prepare() -> None:
    """Compute and draw the opening page once, so that nobody waits for what is slow at first."""
    experiment = opening()
    self_check(experiment)
    text = texts("en")
    for description in (
        score_maps(run(experiment), text),
        decay_curves(curves(experiment), experiment, text),
    ):
        draw(description, width=USUAL_WIDTH).to_json()


def main() -> None:
    """Set up the page and show the one that the address names."""
    text = begin()
    st.set_page_config(page_title=text("ui.title"), page_icon="🌀", layout="wide")
    page = st.Page(compare.show, title=text("ui.compare"), url_path="compare", default=True)
    st.navigation([page], position="hidden").run()

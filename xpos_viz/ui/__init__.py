"""The dashboard: pages that show experiments, and controls that change them."""

import streamlit as st
from starlette.routing import Route

from xpos_viz.livemap import packed, payload
from xpos_viz.results import curves, run, self_check
from xpos_viz.texts import texts
from xpos_viz.ui import compare, livemap
from xpos_viz.ui.session import begin
from xpos_viz.ui.state import opening


def prepare() -> None:
    """Compute the opening page once, so that nobody waits for what is slow at first."""
    experiment = opening()
    run(experiment)
    curves(experiment)
    self_check(experiment)
    packed(payload(experiment, texts("en"), "light"))


def routes() -> list[Route]:
    """Return what the server answers beside the pages."""
    return [livemap.route()]


def main() -> None:
    """Set up the page and show the one that the address names."""
    text = begin()
    st.set_page_config(page_title=text("ui.title"), page_icon="🌀", layout="wide")
    page = st.Page(compare.show, title=text("ui.compare"), url_path="compare", default=True)
    st.navigation([page], position="hidden").run()

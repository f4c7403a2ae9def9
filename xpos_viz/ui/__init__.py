"""The dashboard: pages that show experiments, and controls that change them."""

import gc
from functools import partial
from urllib.parse import quote

import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from xpos_viz.livemap import packed, payload
from xpos_viz.results import curves, run, self_check
from xpos_viz.state import opening
from xpos_viz.texts import Text, texts
from xpos_viz.ui import (
    choose,
    compare,
    decay,
    lab,
    layers,
    learn,
    livemap,
    long,
    neighbours,
    notices,
    page,
    pairs,
    precision,
    tokens,
    upload,
)
from xpos_viz.ui.session import begin, capture

PAGES = {
    "compare": compare.show,
    "learn": learn.show,
    "decay": decay.show,
    "pairs": pairs.show,
    "tokens": tokens.show,
    "layers": layers.show,
    "long": long.show,
    "precision": precision.show,
    "neighbours": neighbours.show,
    "choose": choose.show,
    "lab": lab.show,
}
"""What draws each page, by its name in the address."""

HOME = "compare"
"""The page of an address without a name; files and people name it all the same."""

_SERVED = ("_stcore", "app", "auth", "component", "media", "static")  # Streamlit's own folders


class _Page(StringConvertor):
    """The first name of an address that could be a page's."""

    regex = rf"(?!(?:{'|'.join(_SERVED)})/)[^/]+"


register_url_convertor("page", _Page())


def prepare() -> None:
    """Compute the opening page once, so that nobody waits for what is slow at first."""
    upload.in_memory()
    experiment = opening()
    run(experiment)
    curves(experiment)
    self_check(experiment)
    packed(payload(experiment, texts("en"), "light"))
    gc.collect()
    gc.freeze()  # what is loaded now stays: no later collection has to walk through it


def routes() -> list[Route]:
    """Return what the server answers beside the pages: what lies below a page leads to it."""
    below = st.get_option("server.baseUrlPath").strip("/")
    root = f"/{below}/" if below else "/"
    return [livemap.route(), Route(f"{root}{{name:page}}/{{rest:path}}", partial(_home, root))]


async def _home(root: str, request: Request) -> Response:
    """The way to a page from an address below it, where Streamlit would show an empty one.

    A page that there is not is said to be missing there. What Streamlit's own script asks for
    below a page is not there, as ever.
    """
    if request.path_params["rest"].startswith("_stcore"):
        return Response(status_code=404)
    page = root + quote(request.path_params["name"])
    return RedirectResponse(f"{page}?{request.url.query}" if request.url.query else page)


def main() -> None:
    """Set up the page that the address names, and draw it below the way to the others."""
    text = begin()
    _held = capture()  # what is shown stays until it is drawn
    named = {name: _page(name, text) for name in PAGES}
    pages = named | {HOME: _page(HOME, text, default=True)}
    shown = st.navigation([*pages.values(), named[HOME]], position="hidden")
    if shown == named[HOME]:
        pages = named
    st.set_page_config(page_title=f"{shown.title} · xpos_viz", page_icon="🌀", layout="wide")
    place = page.top(pages, shown.title, text)
    above = st.empty()
    shown.run()
    page.share(place, text)
    with above.container():
        notices.others(text)


def _page(name: str, text: Text, *, default: bool = False) -> st.Page:
    """Return a page under its name, or as the one of an address without a name."""
    title = text(f"pages.{name}.link")
    return st.Page(PAGES[name], title=title, url_path="" if default else name, default=default)

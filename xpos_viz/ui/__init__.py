"""The dashboard: pages that show experiments, and controls that change them."""

import gc
from functools import partial
from urllib.parse import quote

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
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

_SHELL = {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache"}
"""What Streamlit says of the one document that is every page; files to take along say less."""


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
    """Return what the server answers beside the pages."""
    return [livemap.route()]


def middleware() -> list[Middleware]:
    """Return what stands before the server: what lies below a page leads to it."""
    below = st.get_option("server.baseUrlPath").strip("/")
    lead = partial(_lead, f"/{below}/" if below else "/")
    return [Middleware(BaseHTTPMiddleware, dispatch=lead)]


async def _lead(root: str, request: Request, answer: RequestResponseEndpoint) -> Response:
    """The way to a page from an address below it, where Streamlit would send an empty one.

    A page that there is not is said to be missing there.
    """
    response = await answer(request)
    name, *rest = request.scope["path"].removeprefix(root).split("/")
    if not rest or not _SHELL.items() <= dict(response.headers).items():
        return response
    page = root + quote(name)
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

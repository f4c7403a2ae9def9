"""A server of the dashboard for all tests of a process, and pages that visit it."""

from functools import cache
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page

from tests.dashboard.page import settled
from tests.dashboard.server import PATIENCE, free_port, serving
from tests.pages import started, watch, watch_scripts

collect_ignore = ["tiny_app.py"]  # which makes what it imports tiny

WATCHED = """
window.liveMap = () => {
  const under = (node) =>
    node.querySelector(".lm-root") ??
    [...node.querySelectorAll("*")].map((e) => e.shadowRoot && under(e.shadowRoot)).find(Boolean);
  return under(document);
};
window.sent = 0;
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (...data) {
  window.sent += 1;
  window.sentAt = performance.now();
  return send.apply(this, data);
};
window.received = 0;
window.WebSocket = class extends WebSocket {
  constructor(...data) {
    super(...data);
    this.addEventListener("message", ({ data }) => {
      window.received += data.byteLength ?? data.size ?? data.length;
      window.receivedAt = performance.now();
    });
  }
};
"""


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Address of a server."""
    with serving(free_port(), tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


@pytest.fixture(scope="module")
def browser(chromium):
    with started(chromium) as browser:
        yield browser


@pytest.fixture(scope="module")
def contexts(browser):
    """Browser contexts by language, theme and number, whose caches the tests share."""

    def context(locale, scheme, _):
        context = browser.new_context(locale=locale, color_scheme=scheme, timezone_id="UTC")
        context.add_init_script(WATCHED)
        return context

    return cache(context)


@pytest.fixture
def visit(contexts, server):
    """Open an address in a new session; foreign requests and errors of scripts fail the test."""
    pages, complaints = [], []

    def visit(address, *, width=1440, height=1000, locale="en-US", scheme="light", number=0):
        page: Page = contexts(locale, scheme, number).new_page()
        pages.append(page)
        watch(page, complaints)
        page.set_default_timeout(1000 * PATIENCE)
        watch_scripts(page, complaints)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server}?{address if isinstance(address, str) else urlencode(address)}")
        settled(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert complaints == []

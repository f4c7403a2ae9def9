"""The page that shows the live map alone, and who serves it."""

from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.pages import drawn, watch, watch_scripts
from xpos_viz.livemap import packed, source

PAGE = Path(__file__).with_name("page.html").read_bytes()
PATIENCE = 15_000  # milliseconds until what does not come true fails a test


class Host:
    """What the page is served: itself, the module, and payloads by name."""

    def __init__(self):
        self.payloads = {}
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path, _, name = self.path.partition("?")
                kind, body = {
                    "/": ("text/html", lambda: PAGE),
                    "/live.js": ("text/javascript", lambda: source().encode()),
                    "/payload": ("application/octet-stream", lambda: host.payloads[name]),
                }[path]
                content = body()
                self.send_response(200)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                with suppress(BrokenPipeError):
                    self.wfile.write(content)

            def log_message(self, format, *args):  # noqa: A002 - http.server's names
                """Keep quiet."""
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def offer(self, content):
        """Serve a payload, and return its name."""
        name = str(len(self.payloads))
        self.payloads[name] = packed(content)
        return name


@pytest.fixture(scope="module")
def host():
    host = Host()
    thread = Thread(target=host.server.serve_forever, daemon=True)
    thread.start()
    yield host
    host.server.shutdown()
    host.server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def contexts(browser):
    """Browser contexts by their options."""
    return cache(browser.new_context)


@pytest.fixture
def visit(contexts, host):
    """Show a payload on a page; errors and foreign requests fail the test."""
    pages, complaints = [], []

    def visit(content, *, width=1000, height=1000, **options):
        page = contexts(**options).new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        watch(page, complaints)
        watch_scripts(page, complaints)
        page.goto(f"{host.url}?{host.offer(content)}")
        page.wait_for_function("window.handle && document.querySelector('.lm-root')?.dataset.state")
        drawn(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert complaints == []

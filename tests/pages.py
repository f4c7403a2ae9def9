"""What tests in a real Chromium share: how it is started, watched and looked at."""

import re
from base64 import b64decode
from contextlib import contextmanager
from io import BytesIO
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
LOCAL = {"localhost", "127.0.0.1"}
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
FRAMES = "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"


@contextmanager
def started(chromium):
    """A Chromium that finds no host but this one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def watch(page, complaints):
    """Complain of every request that leaves this machine."""

    def requested(url):
        if urlsplit(url).hostname not in LOCAL and urlsplit(url).scheme not in ("data", "blob"):
            complaints.append(f"request to {url}")

    page.on("request", lambda request: requested(request.url))
    page.on("websocket", lambda socket: requested(socket.url))


def watch_scripts(page, complaints):
    """Complain of every error of a script."""
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))


def drawn(page):
    """Wait for two frames: then what was asked for has been drawn."""
    page.evaluate(FRAMES)


@contextmanager
def offline(browser):
    """A function that opens a file without network; requests and errors fail the test."""
    complaints, contexts = [], []

    def visit(path, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        watch_scripts(page, complaints)
        local = ("file:", "data:", "blob:")
        page.on("request", lambda r: None if r.url.startswith(local) else complaints.append(r.url))
        page.goto(path.as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []


def read(number):
    """The value of a number as a reader sees it: −0.4, and −1.2 × 10⁻⁷."""
    plain = re.sub(r"(\u00a0×\u00a0|\b)10(?=[⁻⁰-⁹¹²³])", lambda m: "e" if m[1] else "1e", number)
    return float(plain.replace("−", "-").translate(_LOWERED))


def channels(code):
    """Red, green and blue of #rrggbb."""
    return [int(code[i : i + 2], 16) for i in (1, 3, 5)]


def pixels(canvas):
    """The pixels of a canvas, (rows, columns, 4)."""
    code = "(canvas) => canvas.toDataURL('image/png').split(',')[1]"
    with Image.open(BytesIO(b64decode(canvas.evaluate(code)))) as image:
        return np.asarray(image.convert("RGBA")).astype(int)


def part(page):
    """The part of the maps that is seen: row, column, span."""
    drawn(page)
    seen = page.locator(".lm-root[data-part]").get_attribute("data-part")
    return [float(number) for number in seen.split()]


def slider(page, key):
    """A slider of the picture."""
    return page.locator(f"input[type=range][data-key={key}]")


def grab(page, key, share):
    """Press a slider and move it to a share of its length, without letting go."""
    slider(page, key).scroll_into_view_if_needed()
    box = slider(page, key).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + share * box["width"], y, steps=4)
    drawn(page)

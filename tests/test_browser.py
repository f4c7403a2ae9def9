"""The dashboard in a real Chromium: drawn, zoomed, hovered, moved, gone back, downloaded."""

import re
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from socket import socket
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from xpos_viz import run
from xpos_viz.figures.paper_pen import DPI, PAGE
from xpos_viz.results import curves
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import INKS
from xpos_viz.ui.controls import GAMMAS
from xpos_viz.ui.state import from_address, to_address

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
LOCAL = {"localhost", "127.0.0.1"}
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
SHORT = {"name": "pronoun"}
PATIENCE = 30  # seconds until a condition that does not come true fails a test
QUIET = 400  # milliseconds without a rerun after which a page is taken to be settled

SETTLED = """(quiet) => {
  const app = document.querySelector("[data-testid=stApp]");
  const drawn = [...document.querySelectorAll(".js-plotly-plot")].filter((plot) => plot.calcdata);
  const idle = app?.dataset.testScriptState === "notRunning" && drawn.length === 2;
  window.idleSince = idle ? (window.idleSince ?? performance.now()) : null;
  return idle && performance.now() - window.idleSince > quiet;
}"""
MAPS = "document.querySelector('.js-plotly-plot')"
VALUES = (
    f"() => {MAPS}._fullData.map(({{z}}) =>"
    " Array.from(z, (row) => Array.from(row, (value) => Number.isNaN(value) ? null : value)))"
)
RANGES = (
    f"() => {{ const layout = {MAPS}._fullLayout; return [1, 2, 3].map((place) =>"
    " ['xaxis', 'yaxis'].map((name) => layout[name + (place > 1 ? place : '')].range)) }"
)
PLACE = (  # of a cell of a panel in the window, pixels
    f"([place, m, n]) => {{ const plot = {MAPS}, layout = plot._fullLayout, box ="
    " plot.getBoundingClientRect(), end = place > 1 ? place : '';"
    " const [x, y] = [layout['xaxis' + end], layout['yaxis' + end]];"
    " return [box.x + x._offset + x.l2p(n), box.y + y._offset + y.l2p(m)] }"
)


# The server and the browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Address of a server of its own, as anyone would start it; its log must hold no error."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with (
        log.open("wb") as file,
        subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT) as process,
    ):
        try:
            until(lambda: answers(port) or process.poll() is not None, "the server answers", 60)
            assert process.poll() is None, log.read_text(encoding="utf-8")
            yield f"http://localhost:{port}/"
        finally:
            process.terminate()
            process.wait(20)
    said = log.read_text(encoding="utf-8")
    assert f"http://localhost:{port}" in said
    assert "Traceback" not in said, said


def answers(port):
    """Whether the server says that it is well."""
    with suppress(OSError):
        connection = HTTPConnection("localhost", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().read() == b"ok"
        finally:
            connection.close()
    return False


@pytest.fixture(scope="module")
def browser(chromium):
    """A Chromium that finds no host but this one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def contexts(browser):
    """Browser contexts by language, theme and number, whose caches the tests share."""
    return cache(
        lambda locale, scheme, _: browser.new_context(
            locale=locale, color_scheme=scheme, timezone_id="UTC"
        )
    )


@pytest.fixture
def visit(contexts, server):
    """Open an address in a new session; foreign requests and errors of scripts fail the test."""
    pages, complaints = [], []

    def requested(url):
        if urlsplit(url).hostname not in LOCAL and urlsplit(url).scheme not in ("data", "blob"):
            complaints.append(f"request to {url}")

    def visit(address, *, width=1440, height=1000, locale="en-US", scheme="light", number=0):
        page: Page = contexts(locale, scheme, number).new_page()
        pages.append(page)
        page.on("request", lambda request: requested(request.url))
        page.on("websocket", lambda socket: requested(socket.url))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.set_default_timeout(1000 * PATIENCE)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server}?{address if isinstance(address, str) else urlencode(address)}")
        settled(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert complaints == []


def until(condition, wish, patience=PATIENCE):
    """Wait for a condition, and fail if it does not come true."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"waited {patience} s in vain: {wish}"
        time.sleep(0.05)


def becomes(look, wanted, wish, patience=PATIENCE):
    """Wait until what is seen is what is wanted, and say what was seen if it does not."""
    end = time.monotonic() + patience
    while (seen := look()) != wanted:
        assert time.monotonic() < end, f"waited {patience} s for {wish} {wanted!r}, got {seen!r}"
        time.sleep(0.05)


def settled(page):
    """Wait until both figures are drawn and no rerun follows."""
    page.wait_for_function(SETTLED, arg=QUIET, polling=50)


def parameters(page):
    """The parameters of the address of a page, as the browser has them now."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True))


def expected(address):
    """The result that an address asks for."""
    state, refused = from_address(address)
    assert not refused
    return run(state.experiment)


def values(page):
    """What the three panels show."""
    return [np.array(table, dtype=float) for table in page.evaluate(VALUES)]


def shows(page, address):
    """Wait until the page shows what an address asks for: picture, controls and address."""
    result = expected(address)
    tables = [*(measurement.values for measurement in result.measurements), result.difference]

    def drawn():
        return all(
            np.array_equal(actual, table.astype(np.float32), equal_nan=True)
            for actual, table in zip(values(page), tables, strict=True)
        )

    settled(page)
    until(drawn, f"the picture of {address}")
    becomes(lambda: parameters(page), address, "the address")
    for name in ("gamma", "scale_base"):
        value = f"{result.experiment.encodings[1][name]:,g}"
        becomes(lambda name=name: shown_on(page, name), value, name)


def slider(page, key, language="en"):
    """A slider by the words beside it."""
    label = texts(language)(f"ui.{key}")
    return page.get_by_role("group", name=label, exact=True).get_by_role("slider")


def shown_on(page, key, language="en"):
    """What a slider says it is at."""
    return slider(page, key, language).get_attribute("aria-valuetext")


def press(page, key, times=1):
    """Move a slider to the right by its keyboard, as fast as keys can be pressed."""
    slider(page, key).focus()
    for _ in range(times):
        page.keyboard.press("ArrowRight")


def place(page, panel, m, n):
    """Where the middle of a cell is in the window."""
    page.locator(".js-plotly-plot").first.scroll_into_view_if_needed()
    return page.evaluate(PLACE, [panel, m, n])


# The picture


def test_three_panels_are_drawn(visit):
    page = visit({})
    shows(page, {})
    plot = page.locator(".js-plotly-plot").first
    assert plot.locator(".heatmaplayer image").count() == 3
    text = texts("en")
    state = text("figure.state", stage=text("figure.stage.scores"), mask=text("figure.mask.causal"))
    titles = plot.locator(".annotation-text").all_text_contents()
    for title, name in zip(titles, ("RoPE", "XPos", "XPos − RoPE"), strict=True):
        assert title.startswith(name)
        assert state in title
        assert "base 100,000" in title
    assert plot.locator(".infolayer .cbaxis, .infolayer .colorbar").count() >= 2
    assert page.get_by_role("heading", name=text("ui.title")).is_visible()
    has_the_colours(page, "light")


@pytest.mark.parametrize("width", [1440, 1000])
def test_controls_show_what_is_drawn_from_the_first_moment(width, visit):
    """A page that measures its width runs again at once; no control may lose its value then."""
    address = {"name": "chinese", "layer": "16", "head": "5", "gamma": "0.7", "stage": "masked"}
    page = visit(address, width=width)
    shows(page, address)
    assert shown_on(page, "head") == "5"
    assert shown_on(page, "base") == "100,000"
    assert page.get_by_role("switch", name=texts("en")("ui.mask")).is_checked()


def test_tokens_label_the_axes(visit):
    page = visit({"name": "chinese", "stop": "8"})
    plot = page.locator(".js-plotly-plot").first
    labels = ["位 ½", "位 2/2", "置", "编 ⅓", "编 ⅔", "编 3/3", "码", "告 ½"]
    assert plot.locator(".xtick > text").all_text_contents() == labels
    assert plot.locator(".ytick > text").all_text_contents() == labels


def test_zooming_into_one_panel_moves_all(visit):
    page = visit(SHORT)
    before = page.evaluate(RANGES)
    assert before == [[[-0.5, 27.5], [27.5, -0.5]]] * 3
    start, end = place(page, 2, 12, 3), place(page, 2, 22, 13)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()
    until(lambda: page.evaluate(RANGES) != before, "the zoom")
    for x, y in page.evaluate(RANGES):
        assert x == pytest.approx([3, 13], abs=0.6)
        assert y == pytest.approx([22, 12], abs=0.6)
    zoomed = page.evaluate(RANGES)
    page.get_by_text(texts("en")("ui.log_axis"), exact=True).click()
    becomes(lambda: parameters(page), SHORT | {"axis": "log"}, "the address")
    settled(page)
    assert page.evaluate(RANGES) == zoomed  # the maps did not change, so they were kept


@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_hovering_shows_query_key_lag_and_the_true_value(stage, visit):
    address = SHORT | {"stage": stage}
    page, result = visit(address), expected(address)
    tables = [*(measurement.values for measurement in result.measurements), result.difference]
    for panel, (name, table) in enumerate(
        zip(("RoPE", "XPos", "XPos − RoPE"), tables, strict=True), 1
    ):
        for m, n in ((20, 4), (27, 0)):
            first, second = hovered(page, panel, m, n)
            assert first.startswith(name)
            value = first.removeprefix(name).strip().replace("−", "-")
            assert float(value) == pytest.approx(table[m, n], rel=1e-5)
            query, key = (f"{place} {result.labels[place]}" for place in (m, n))
            assert second == f"query {query} · key {key} · lag {m - n}"
    page.mouse.move(*place(page, 1, 4, 20), steps=3)  # a masked cell has nothing to read
    becomes(read_out(page).count, 0, "read-outs")


def read_out(page):
    """What hangs at the pointer."""
    return page.locator(".js-plotly-plot").first.locator(".hoverlayer .hovertext")


def hovered(page, panel, m, n):
    """The lines that are read over a cell."""
    page.mouse.move(5, 5)
    becomes(read_out(page).count, 0, "read-outs")
    page.mouse.move(*place(page, panel, m, n), steps=3)
    becomes(read_out(page).count, 1, f"read-outs at {m}, {n}")
    lines = "(box) => [...box.querySelectorAll('tspan.line')].map((line) => line.textContent)"
    return read_out(page).evaluate(lines)


# The address


def test_a_slider_changes_picture_and_address_and_back_restores_them(visit):
    page = visit(SHORT)
    shows(page, SHORT)
    entries = page.evaluate("history.length")
    moved = SHORT | {"gamma": next(f"{gamma:g}" for gamma in GAMMAS if gamma > 0.4)}
    press(page, "gamma")
    shows(page, moved)
    assert page.evaluate("history.length") == entries + 1

    page.go_back()
    shows(page, SHORT)
    page.go_forward()
    shows(page, moved)
    assert page.evaluate("history.length") == entries + 1

    page.reload()
    shows(page, moved)
    shared = visit(urlsplit(page.url).query, number=1)
    shows(shared, moved)
    assert from_address(moved)[1] == []
    assert to_address(from_address(moved)[0]) == moved


def test_fast_key_presses_end_in_the_last_value(visit):
    page = visit(SHORT)
    after = [gamma for gamma in GAMMAS if gamma > 0.4]
    press(page, "gamma", times=5)
    last = SHORT | {"gamma": f"{after[4]:g}"}
    becomes(lambda: parameters(page), last, "the last of five values")
    shows(page, last)
    press(page, "scale_base", times=3)
    press(page, "gamma", times=2)
    last = SHORT | {"gamma": f"{after[6]:g}", "scale_base": "24"}
    becomes(lambda: parameters(page), last, "the last of both values")
    shows(page, last)


def test_a_hostile_address_gives_a_notice(visit):
    page = visit(SHORT | {"gamma": "<img src=http://example.org/x.png>", "length": "9" * 2000})
    notices = page.get_by_test_id("stAlert")
    becomes(notices.count, 2, "notices")
    text = texts("en")
    said = notices.all_inner_texts()  # without the marks of code
    assert text("ui.refused", key="gamma", value="…", used="0.4").replace("`", "") in said[0]
    assert text("ui.unknown", key="length").replace("`", "") in said[1]
    becomes(lambda: shown_on(page, "gamma"), "0.4", "the usual γ")
    assert page.locator("img[src*='example.org']").count() == 0
    for actual, measurement in zip(values(page)[:2], expected(SHORT).measurements, strict=True):
        assert np.array_equal(actual, measurement.values.astype(np.float32), equal_nan=True)


# Languages and themes


def test_the_language_follows_the_browser_and_the_address(visit):
    chinese, english = (texts(language)("ui.title") for language in ("zh", "en"))
    page = visit(SHORT, locale="zh-CN")
    assert page.get_by_role("heading", name=chinese).is_visible()
    page = visit(SHORT | {"lang": "en"}, locale="zh-CN")
    assert page.get_by_role("heading", name=english).is_visible()
    page.get_by_text(LANGUAGES["zh"], exact=True).click()
    page.get_by_role("heading", name=chinese).wait_for()
    becomes(lambda: parameters(page), SHORT | {"lang": "zh"}, "the address")


def test_a_dark_page_has_dark_figures(visit):
    has_the_colours(visit(SHORT, scheme="dark"), "dark")


def has_the_colours(page, scheme):
    """Both figures, their ground, and the page around them."""
    plots, ink = "[...document.querySelectorAll('.js-plotly-plot')]", INKS[scheme]
    papers = f"{plots}.map((plot) => plot._fullLayout.paper_bgcolor)"
    becomes(lambda: page.evaluate(papers), [ink.page] * 2, f"{scheme} paper")
    assert page.evaluate(f"{MAPS}._fullLayout.plot_bgcolor") == ink.masked
    ground = page.get_by_test_id("stApp").evaluate("(app) => getComputedStyle(app).backgroundColor")
    brightness = np.mean([int(number) for number in re.findall(r"\d+", ground)[:3]])
    assert (brightness > 128) == (scheme == "light")


# Small screens


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_narrow_screen_has_no_overflow_and_stacked_panels(language, visit):
    address = SHORT | {"lang": language, "gamma": "0.7"}
    page = visit(address, width=390, height=844)
    tops = f"[1, 2, 3].map((p) => {MAPS}._fullLayout['yaxis' + (p > 1 ? p : '')]._offset)"
    until(lambda: len(set(page.evaluate(tops))) == 3, "stacked panels")
    settled(page)
    tops = page.evaluate(tops)
    assert tops == sorted(tops)
    lefts = f"[1, 2, 3].map((p) => {MAPS}._fullLayout['xaxis' + (p > 1 ? p : '')]._offset)"
    assert np.ptp(page.evaluate(lefts)) < 1
    for element in (page.locator("html"), page.get_by_test_id("stMain")):
        content, room = element.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert content <= room
    for box in page.locator(".js-plotly-plot").all():
        place = box.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390


# Downloads


def downloaded(page, kind, figure=0):
    """The content and the name of a file."""
    button = page.get_by_role("button", name=kind, exact=True).nth(figure)
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_bytes(), download.value.suggested_filename


def test_downloads_are_what_they_claim(visit):
    address = SHORT | {"stage": "weights"}
    page, result = visit(address), expected(address)
    text = texts("en")
    state = text(
        "figure.state", stage=text("figure.stage.weights"), mask=text("figure.mask.causal")
    )

    content, name = downloaded(page, "PNG")
    assert name.endswith(".png")
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size == tuple(round(side * DPI) for side in PAGE)
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)

    content, name = downloaded(page, "SVG")
    assert name.endswith(".svg")
    root = ElementTree.fromstring(content)
    words = [
        " ".join("".join(element.itertext()).split())
        for element in root.iter()
        if element.tag.endswith("}text")
    ]
    for title in ("RoPE", "XPos", "XPos − RoPE", "base 100,000, γ 0.4, B 8", state):
        assert title in words

    content, name = downloaded(page, "PDF")
    assert name.endswith(".pdf")
    assert content.startswith(b"%PDF")
    with pypdfium2.PdfDocument(content) as document:
        assert len(document) == 1
        assert document[0].get_size() == pytest.approx([72 * side for side in PAGE], abs=1)
        said = document[0].get_textpage().get_text_range()
        assert state in said
        picture = np.asarray(document[0].render().to_numpy())
        assert picture.mean() > 128
        assert picture.std() > 10

    content, name = downloaded(page, "CSV")
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(content)), result.table(), check_exact=True)

    content, name = downloaded(page, "CSV", figure=1)
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), curves(result.experiment), check_exact=True
    )
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<?xml"), ("PDF", b"%PDF")):
        assert downloaded(page, kind, figure=1)[0].startswith(start)

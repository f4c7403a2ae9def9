"""The dashboard in a real Chromium: drawn, zoomed, read, dragged, gone back, downloaded."""

import re
import subprocess
import sys
import time
from base64 import b64decode
from contextlib import contextmanager, suppress
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

from xpos_viz import decay_curve, run
from xpos_viz.comparison import compare
from xpos_viz.encoding.steps import BASES, GAMMAS, SCALE_BASES
from xpos_viz.figures.paper_pen import DPI, PAGE
from xpos_viz.figures.words import rounded
from xpos_viz.livemap.message import LIVE_WEIGHTS
from xpos_viz.results import curves
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import CLIPPED, INKS, PALETTES, SCALES, Mode
from xpos_viz.ui.state import from_address, opening, to_address, with_encoding

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parent.parent
LOCAL = {"localhost", "127.0.0.1"}
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
SHORT = {"name": "pronoun"}
WHOLE = [0, 0, 28]  # the part of SHORT that is seen without a zoom
PATIENCE = 30  # seconds until a condition that does not come true fails a test
QUIET = 250  # milliseconds without a rerun after which a page is taken to be settled
NEAR = (1, 1 - 1e-5, 1 + 1e-5)  # float32 may be on the other side of a limit
LEVELS = 3  # of 255: the browser rounds a colour to one of 256 between the limits

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
  return send.apply(this, data);
};
"""
SETTLED = """(quiet) => {
  const app = document.querySelector("[data-testid=stApp]");
  const drawn = window.liveMap()?.dataset.state === "ready";
  const idle = app?.dataset.testScriptState === "notRunning" && drawn;
  window.idleSince = idle ? (window.idleSince ?? performance.now()) : null;
  return idle && performance.now() - window.idleSince > quiet;
}"""
FRAMES = "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"


# The server and the browser


def free_port():
    """A port that nobody listens on."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(port, log):
    """Run a server as anyone would start it; its log must hold no error."""
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
def server(tmp_path_factory):
    """Address of a server of its own."""
    with serving(free_port(), tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address


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
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server}?{address if isinstance(address, str) else urlencode(address)}")
        settled(page)
        return page

    yield visit
    for page in pages:
        page.close()
    assert complaints == []


def watch(page, complaints):
    """Complain of every request that leaves this machine."""

    def requested(url):
        if urlsplit(url).hostname not in LOCAL and urlsplit(url).scheme not in ("data", "blob"):
            complaints.append(f"request to {url}")

    page.on("request", lambda request: requested(request.url))
    page.on("websocket", lambda socket: requested(socket.url))
    page.set_default_timeout(1000 * PATIENCE)


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
    """Wait until the live map is drawn and no rerun follows."""
    page.wait_for_function(SETTLED, arg=QUIET, polling=50)


def drawn(page):
    """Wait for two frames: then what was asked for has been drawn."""
    page.evaluate(FRAMES)


# What is seen


def parameters(page):
    """The parameters of the address of a page, as the browser has them now."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True))


def asked(address):
    """The experiment that an address asks for."""
    state, refused = from_address(address)
    assert not refused
    return state.experiment


def channels(code):
    """Red, green and blue of #rrggbb."""
    return [int(code[i : i + 2], 16) for i in (1, 3, 5)]


def picture(page):
    """The pixels of the maps, (rows, columns, 4)."""
    code = "(canvas) => canvas.toDataURL('image/png').split(',')[1]"
    content = b64decode(page.locator("canvas.lm-canvas").evaluate(code))
    with Image.open(BytesIO(content)) as image:
        return np.asarray(image.convert("RGBA")).astype(int)


def part(page):
    """The part of the maps that is seen: row, column, span."""
    drawn(page)
    return [
        float(x) for x in page.locator(".lm-root[data-part]").get_attribute("data-part").split()
    ]


def boxes(pixels, mode: Mode = "light"):
    """Left, top and side of each panel, which has a frame around it."""
    frame = np.abs(pixels[..., :3] - channels(INKS[mode].faint)).max(-1) <= LEVELS
    uprights = frame.sum(0)
    x = np.flatnonzero(uprights > 0.9 * uprights.max())
    y = np.flatnonzero(frame[:, x[0] : x[1] + 1].all(1))
    return [
        (left + 1, top + 1, right - left - 1)
        for top in y[::2]
        for left, right in zip(x[::2], x[1::2], strict=True)
    ]


def wanted(experiment, difference="plain"):
    """Table, limit and scale of the three panels, by the core."""
    result = run(experiment)
    tables = [measurement.values for measurement in result.measurements]
    scale = "sequential" if experiment.view.stage == "weights" else "diverging"
    comparison = compare(result, difference)
    own = [(table, result.limit, scale) for table in tables]
    return result, [*own, (comparison.shown, comparison.limit, "diverging")]


def painted(panel, mode: Mode, nearly):
    """The colours of a table, nearly that, between its limits."""
    table, limit, scale = panel
    table = table * nearly
    share = (table / limit + 1) / 2 if scale == "diverging" else table / limit
    stops = np.array([channels(code) for code in SCALES[scale]])
    places = np.linspace(0, 1, len(stops))
    colours = np.stack([np.interp(share, places, stop) for stop in stops.T], -1)
    below, above = CLIPPED[scale]
    for cells, code in ((share < 0, below), (share > 1, above), (np.isnan(share), None)):
        colours[cells] = channels(code or INKS[mode].masked)
    return colours


def misfits(page, address, difference="plain", mode: Mode = "light"):
    """How many cells in sight have another colour than the core's value of it, by panel."""
    experiment = asked(address)
    result, panels = wanted(experiment, difference)
    row, column, span = part(page)
    found = boxes(pixels := picture(page), mode)
    if len(found) != len(panels):
        return f"{len(found)} panels"
    tokens = experiment.window.start + result.block * (np.arange(len(result.positions)) + 0.5)
    counts = []
    for (left, top, side), panel in zip(found, panels, strict=True):
        x, y = ((side * (tokens - low) / span).astype(int) for low in (column, row))
        across, down = (np.flatnonzero((at >= 0) & (at < side)) for at in (x, y))
        assert min(len(across), len(down)) > 3
        seen = pixels[top + y[down][:, None], left + x[across], :3]
        far = [np.abs(seen - painted(panel, mode, at)[down[:, None], across]) for at in NEAR]
        counts.append(int((np.min(far, 0).max(-1) > LEVELS).sum()))
    return counts


def shows(page, address, difference="plain", mode: Mode = "light"):
    """Wait until the page shows what an address asks for: picture, controls and address."""
    settled(page)
    seen = "cells in other colours than the core's values"
    becomes(lambda: misfits(page, address, difference, mode), [0, 0, 0], seen)
    becomes(lambda: parameters(page), address, "the address")
    for name in ("gamma", "scale_base"):
        value = f"{asked(address).encodings[1][name]:,g}"
        becomes(lambda name=name: shown_on(page, name), value, name)


def slider(page, key):
    """A slider of the picture."""
    return page.locator(f"input[type=range][data-key={key}]")


def beside(page, key, language="en"):
    """A slider beside the picture, by the words beside it."""
    label = texts(language)(f"ui.{key}")
    return page.get_by_role("group", name=label, exact=True).get_by_role("slider")


def shown_on(page, key):
    """What a slider of the picture says it is at."""
    return slider(page, key).get_attribute("aria-valuetext")


def after(steps, value, times=1):
    """The step so many after a value, as the address has it."""
    return f"{[step for step in steps if step > value][times - 1]:g}"


def press(page, key, times=1):
    """Move a slider to the right by its keyboard, as fast as keys can be pressed."""
    slider(page, key).focus()
    for _ in range(times):
        page.keyboard.press("ArrowRight")


def grab(page, key, share):
    """Press a slider and move it to a share of its length, without letting go."""
    slider(page, key).scroll_into_view_if_needed()
    box = slider(page, key).bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + share * box["width"], y, steps=4)
    drawn(page)


def place(page, panel, m, n):
    """Where the middle of a cell is in the window."""
    maps = page.locator(".lm-maps")
    maps.scroll_into_view_if_needed()
    row, column, span = part(page)
    left, top, side = boxes(picture(page))[panel]
    box = maps.bounding_box()
    x, y = (side * (token + 0.5 - low) / span for token, low in ((n, column), (m, row)))
    return box["x"] + left + x, box["y"] + top + y


def reading(page):
    """What is read: the place, and the numbers, none where it is masked."""
    drawn(page)
    numbers = page.locator(".lm-value").all_inner_texts()
    values = [float(number.replace("−", "-")) for number in numbers if number]
    return page.locator(".lm-place").inner_text(), values


def choose(page, choice, value):
    """Choose from a list of the picture."""
    name = texts("en")(f"livemap.choices.{choice}")
    page.get_by_role("combobox", name=name, exact=True).select_option(value)


def select(page, key, option):
    """Choose from a list beside the picture."""
    label = page.get_by_text(texts("en")(f"ui.{key}"), exact=True)
    box = page.get_by_test_id("stSelectbox").filter(has=label)
    box.get_by_role("combobox").click()
    page.get_by_role("option", name=option, exact=True).click()


# The picture


def test_three_panels_are_drawn(visit):
    page = visit({})
    shows(page, {})
    pixels = picture(page)
    panels = [pixels[y : y + side, x : x + side, :3] for x, y, side in boxes(pixels)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (panels[one] != panels[other]).any(-1).mean() > 0.1
    assert all(len(np.unique(panel.reshape(-1, 3), axis=0)) > 50 for panel in panels)
    text = texts("en")
    assert page.locator(".lm-maps").get_attribute("aria-label") == text(
        "livemap.alt",
        names="RoPE (base 100,000), XPos (base 100,000, γ 0.4, B 512)",
        comparison="XPos − RoPE",
        state=text(
            "figure.state", stage=text("figure.stage.scores"), mask=text("figure.mask.causal")
        ),
        start=0,
        stop=1001,
    )
    assert page.get_by_role("heading", name=text("compare.title")).is_visible()
    has_the_colours(page, "light")


@pytest.mark.parametrize("width", [1440, 1000])
def test_controls_show_what_is_drawn_from_the_first_moment(width, visit):
    address = {"name": "chinese", "layer": "16", "head": "5", "gamma": "0.7", "stage": "masked"}
    page = visit(address, width=width)
    shows(page, address)
    assert beside(page, "head").get_attribute("aria-valuetext") == "5"
    assert shown_on(page, "base") == "100,000"
    assert page.get_by_role("radio", name=texts("en")("ui.stages.masked")).is_checked()


def test_tokens_label_the_axes_and_the_readings(visit):
    page = visit({"name": "chinese", "stop": "8"})
    labels = ["位 ½", "位 2/2", "置", "编 ⅓", "编 ⅔", "编 3/3", "码", "告 ½"]
    for token, label in enumerate(labels):
        page.mouse.move(*place(page, 0, token, token))
        named = texts("en")("livemap.token", position=token, token=label)
        assert reading(page)[0].startswith(f"query {named} · key {named} · lag 0")
    [(left, top, side), *_] = boxes(pixels := picture(page))
    ink = pixels[..., :3].sum(-1) + 765 * (pixels[..., 3] < 100) < 500  # a letter, and no ground
    beside = np.array_split(ink[top : top + side, left - 40 : left - 8], len(labels))
    below = np.array_split(
        ink[top + side + 8 : top + side + 40, left : left + side], len(labels), 1
    )
    assert [cells.any() for cells in (*beside, *below)] == [True] * 16


def test_zooming_into_one_panel_moves_all_and_is_kept(visit):
    page = visit(SHORT)
    assert part(page) == WHOLE
    start, end = place(page, 1, 12, 3), place(page, 1, 22, 13)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=5)
    page.mouse.up()
    zoomed = part(page)
    assert zoomed == pytest.approx([12.5, 3.5, 10], abs=0.2)
    assert misfits(page, SHORT) == [0, 0, 0]  # in all three panels

    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    press(page, "gamma")
    shows(page, moved)
    assert part(page) == zoomed
    page.get_by_text(LANGUAGES["zh"], exact=True).click()  # a rerun of the whole page
    becomes(lambda: parameters(page), moved | {"lang": "zh"}, "the address")
    settled(page)
    assert part(page) == zoomed
    page.mouse.dblclick(*place(page, 2, 15, 8))
    assert part(page) == WHOLE


@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_hovering_shows_query_key_lag_and_the_true_values(stage, visit):
    address = SHORT | {"stage": stage}
    page, result = visit(address), run(asked(address))
    tables = [*(measurement.values for measurement in result.measurements), compare(result).values]
    text = texts("en")
    for panel, (m, n) in enumerate(((20, 4), (27, 0), (9, 9))):
        page.mouse.move(*place(page, panel, m, n), steps=3)
        where, values = reading(page)
        query, key = (
            text("livemap.token", position=token, token=result.labels[token]) for token in (m, n)
        )
        assert where == text("livemap.cell", query=query, key=key, lag=m - n)
        assert values == pytest.approx([table[m, n] for table in tables], rel=1e-5, abs=1e-5)
    page.mouse.move(*place(page, 0, 4, 20), steps=3)  # a masked cell has nothing to read
    assert reading(page)[1] == []
    assert text("livemap.masked") in page.locator(".lm-readout").inner_text()


def test_the_picture_has_its_own_controls(visit):
    page = visit(SHORT)
    page.get_by_text(texts("en")("ui.stages.weights"), exact=True).click()
    shows(page, address := SHORT | {"stage": "weights"})
    choose(page, "mask", "none")
    shows(page, address := address | {"mask": "none"})
    assert texts("en")("figure.growing") in page.locator(".lm-notes").inner_text()
    page.get_by_text(texts("en")("ui.stages.scores"), exact=True).click()
    shows(page, address := SHORT | {"mask": "none"})
    for difference in ("ratio", "weights"):
        choose(page, "difference", difference)
        shows(page, address := address | {"difference": difference}, difference)
    choose(page, "axis", "log")
    shows(page, address := address | {"axis": "log"}, "weights")
    graph = page.locator("canvas.lm-graph").last
    box = graph.bounding_box()
    graph.hover(position={"x": box["width"] / 2, "y": 100})
    where, values = reading(page)
    lag = int(where.removeprefix("lag "))
    assert 4 <= lag <= 6  # √27, where a linear axis has 13
    expected = [float(decay_curve(encoding, lag)) for encoding in asked(address).encodings]
    assert values == pytest.approx(expected, rel=1e-5)


# Dragging


def test_a_drag_redraws_before_release_and_is_one_step_of_the_history(visit):
    page = visit(SHORT)
    shows(page, SHORT)
    entries, sent = page.evaluate("[history.length, window.sent]")
    before, gamma = picture(page), shown_on(page, "gamma")
    grab(page, "gamma", 0.8)
    held = shown_on(page, "gamma")
    assert held != gamma
    assert (picture(page) != before).any(-1).mean() > 0.02
    moved = SHORT | {"gamma": held}
    assert misfits(page, moved) == [0, 0, 0]
    assert page.evaluate("[history.length, window.sent]") == [entries, sent]
    assert parameters(page) == SHORT
    page.mouse.up()
    shows(page, moved)
    assert page.evaluate("history.length") == entries + 1
    page.go_back()
    shows(page, SHORT)


def test_long_weights_wait_while_dragging_and_are_the_core_s_on_release(visit):
    page = visit({"stage": "weights"})
    shows(page, {"stage": "weights"})
    assert asked({}).inputs.tokens > LIVE_WEIGHTS
    grab(page, "gamma", 0.8)
    assert page.locator(".lm-root").get_attribute("data-state") == "waiting"
    moved = {"stage": "weights", "gamma": shown_on(page, "gamma")}
    page.mouse.up()
    shows(page, moved)


def test_five_fast_drags_end_in_the_last_value(visit):
    page = visit(SHORT)
    entries = page.evaluate("history.length")
    for share in (0.2, 0.9, 0.3, 0.8, 0.6):
        grab(page, "gamma", share)
        page.mouse.up()
    last = SHORT | {"gamma": shown_on(page, "gamma")}
    assert float(last["gamma"]) > 0.5
    shows(page, last)
    assert entries < page.evaluate("history.length") <= entries + 5


def test_fast_key_presses_end_in_the_last_value(visit):
    page = visit(SHORT)
    press(page, "gamma", times=5)
    last = SHORT | {"gamma": after(GAMMAS, 0.4, 5)}
    becomes(lambda: parameters(page), last, "the last of five values")
    shows(page, last)
    press(page, "scale_base", times=3)
    press(page, "gamma", times=2)
    last = SHORT | {"gamma": after(GAMMAS, 0.4, 7), "scale_base": after(SCALE_BASES, 8, 3)}
    becomes(lambda: parameters(page), last, "the last of both values")
    shows(page, last)


# The address


def test_a_slider_changes_picture_sentences_and_address_and_back_restores_them(visit):
    page = visit(SHORT)
    shows(page, SHORT)
    entries = page.evaluate("history.length")
    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    press(page, "gamma")
    shows(page, moved)
    says_what_is_far(page, moved)
    assert page.evaluate("history.length") == entries + 1

    page.go_back()
    shows(page, SHORT)
    says_what_is_far(page, SHORT)
    page.go_forward()
    shows(page, moved)
    assert page.evaluate("history.length") == entries + 1

    page.reload()
    shows(page, moved)
    shared = visit(urlsplit(page.url).query, number=1)
    shows(shared, moved)
    assert from_address(moved)[1] == []
    assert to_address(from_address(moved)[0]) == moved


def says_what_is_far(page, address):
    """The sentence below the picture has the numbers of what is shown."""
    rope, xpos = (
        rounded(measurement.reach.far_magnitude) for measurement in run(asked(address)).measurements
    )
    page.get_by_text(f"is {rope} under RoPE and {xpos} under XPos").wait_for()


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
    assert misfits(page, SHORT) == [0, 0, 0]
    page.evaluate("liveMap().known = true")
    press(page, "gamma")  # a move of one's own takes the notices away
    shows(page, SHORT | {"gamma": after(GAMMAS, 0.4)})
    becomes(notices.count, 0, "notices")
    assert page.evaluate("liveMap().known")  # and leaves the picture where it is


def test_another_session_is_not_disturbed(visit):
    first, second = visit(SHORT), visit(SHORT, number=1)
    press(first, "gamma", times=2)
    press(second, "scale_base")
    shows(first, SHORT | {"gamma": after(GAMMAS, 0.4, 2)})
    shows(second, SHORT | {"scale_base": after(SCALE_BASES, 8)})
    first.reload()
    shows(first, SHORT | {"gamma": after(GAMMAS, 0.4, 2)})
    assert parameters(second) == SHORT | {"scale_base": after(SCALE_BASES, 8)}


def test_leaving_and_coming_back_shows_it_again(visit, server):
    page = visit(SHORT)
    press(page, "gamma")
    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    shows(page, moved)
    page.goto(f"{server}_stcore/health")
    page.go_back()
    shows(page, moved)
    press(page, "gamma")
    shows(page, SHORT | {"gamma": after(GAMMAS, 0.4, 2)})


def test_an_open_page_outlives_a_restart_of_the_server(contexts, tmp_path):
    """A lost connection is an error of the console, so only foreign requests are counted."""
    port, complaints = free_port(), []
    page = contexts("en-US", "light", 0).new_page()
    watch(page, complaints)
    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    with serving(port, tmp_path / "first.txt") as address:
        page.goto(f"{address}?{urlencode(SHORT)}")
        settled(page)
        press(page, "gamma")
        shows(page, moved)
    with serving(port, tmp_path / "second.txt"):
        page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for()
        choose(page, "difference", "ratio")  # the first that the new server hears goes back,
        shows(page, moved)  # for it cannot tell it from what was said before
        choose(page, "difference", "ratio")
        shows(page, moved := moved | {"difference": "ratio"}, "ratio")
        assert page.locator(".lm-root").count() == 1  # and nothing was mounted beside it
        page.reload()
        shows(page, moved, "ratio")
        press(page, "gamma")
        shows(page, moved | {"gamma": after(GAMMAS, 0.4, 2)}, "ratio")
        page.close()
    assert complaints == []


# The controls beside the picture


def test_sources_and_texts_bring_their_own_settings(visit):
    page = visit({})
    text = texts("en")
    for name in ("harbour", "chinese"):
        select(page, "name", text(f"ui.samples.{name}"))
        shows(page, {"name": name})
        becomes(lambda: page.get_by_text(text("ui.samples.tidebook")).count(), 0, "the old text")
    for source in ("expectation", "random"):
        select(page, "source", text(f"ui.sources.{source}"))
        shows(page, {"source": source})
        assert shown_on(page, "base") == f"{opening(source).encodings[0]['base']:,g}"
    seed = page.get_by_role("spinbutton", name=text("ui.seed"))
    seed.fill("7")
    seed.press("Enter")
    shows(page, {"source": "random", "seed": "7"})
    select(page, "keys", text("ui.key.independent"))
    shows(page, address := {"source": "random", "seed": "7", "keys": "independent"})
    beside(page, "length").press("ArrowLeft")
    shows(page, address := address | {"length": "256"})
    beside(page, "head_dim").press("ArrowLeft")
    shows(page, address | {"head_dim": "32"})


def test_layer_and_head_change_the_data_under_the_picture(visit):
    page = visit(SHORT)
    page.get_by_role("radio", name="16", exact=True).click()
    shows(page, SHORT | {"layer": "16"})
    beside(page, "head").press("ArrowRight")
    shows(page, SHORT | {"layer": "16", "head": "3"})
    page.mouse.move(*place(page, 0, 20, 4))
    _, values = reading(page)
    result = run(asked(SHORT | {"layer": "16", "head": "3"}))
    tables = [*(measurement.values for measurement in result.measurements), compare(result).values]
    assert values == pytest.approx([table[20, 4] for table in tables], rel=1e-5, abs=1e-5)


def test_xpos_can_have_a_base_of_its_own(visit):
    page = visit(SHORT)
    assert slider(page, "xpos_base").count() == 0
    switch = page.get_by_text(texts("en")("ui.apart"), exact=True)
    switch.click()
    slider(page, "xpos_base").wait_for()
    shows(page, SHORT | {"apart": "yes"})
    press(page, "xpos_base")
    own = float(after(BASES, 1e5))
    apart = with_encoding(from_address(SHORT | {"apart": "yes"})[0], 1, "base", own)
    shows(page, address := to_address(apart))
    assert [encoding["base"] for encoding in asked(address).encodings] == [1e5, own]
    assert (shown_on(page, "base"), shown_on(page, "xpos_base")) == ("100,000", f"{own:,g}")
    switch.click()
    becomes(slider(page, "xpos_base").count, 0, "sliders of its own")
    shows(page, SHORT)


def test_reset_brings_the_opening_settings_back(visit):
    address = SHORT | {"gamma": "2", "scale_base": "64", "base": "1000", "stop": "20"}
    page = visit(address)
    shows(page, address)
    page.get_by_role("button", name=texts("en")("ui.reset")).click()
    shows(page, SHORT)
    assert part(page) == WHOLE
    page.go_back()
    shows(page, address)


# Languages and themes


def test_the_language_follows_the_browser_and_the_address(visit):
    chinese, english = (texts(language)("compare.title") for language in ("zh", "en"))
    page = visit(SHORT, locale="zh-CN")
    assert page.get_by_role("heading", name=chinese).is_visible()
    assert page.get_by_label(texts("zh")("ui.stages.weights"), exact=True).count() == 1
    assert texts("zh")("livemap.hint") == page.locator(".lm-place").inner_text()
    page = visit(SHORT | {"lang": "en"}, locale="zh-CN")
    assert page.get_by_role("heading", name=english).is_visible()
    page.get_by_text(LANGUAGES["zh"], exact=True).click()
    page.get_by_role("heading", name=chinese).wait_for()
    becomes(lambda: parameters(page), SHORT | {"lang": "zh"}, "the address")
    hint = page.locator(".lm-place").inner_text
    becomes(hint, texts("zh")("livemap.hint"), "the words of the picture")


def test_the_picture_is_as_dark_as_the_page_also_when_that_changes(visit):
    page = visit(SHORT, scheme="dark")
    has_the_colours(page, "dark")
    shows(page, SHORT, mode="dark")
    page.emulate_media(color_scheme="light")
    has_the_colours(page, "light")
    shows(page, SHORT)
    page.emulate_media(color_scheme="dark")
    has_the_colours(page, "dark")
    shows(page, SHORT, mode="dark")


def has_the_colours(page, scheme):
    """The page's ground and text, and the picture's masked cells and text."""
    app = page.get_by_test_id("stApp")

    def bright(style):
        colour = app.evaluate(f"(app) => getComputedStyle(app).{style}")
        return np.mean([int(number) for number in re.findall(r"\d+", colour)[:3]]) > 128

    becomes(lambda: bright("backgroundColor"), scheme == "light", "a bright page")
    ink = app.evaluate("(app) => getComputedStyle(app).color")
    root = page.locator(".lm-root")
    becomes(lambda: root.evaluate("(e) => getComputedStyle(e).color"), ink, "the page's ink")

    def masked():
        return bool((picture(page)[..., :3] == channels(INKS[scheme].masked)).all(-1).mean() > 0.1)

    becomes(masked, True, f"{scheme} masked cells")


# Small screens


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_narrow_screen_has_no_overflow_and_stacked_panels(language, visit):
    address = SHORT | {"lang": language, "gamma": "0.7"}
    page = visit(address, width=390, height=844)
    shows(page, address)
    lefts, tops, _ = np.transpose(boxes(picture(page)))
    assert np.ptp(lefts) == 0
    assert (np.diff(tops) > 0).all()
    fits(page)
    grab(page, "gamma", 0.9)
    page.mouse.up()
    shows(page, address | {"gamma": shown_on(page, "gamma")})
    page.mouse.click(*place(page, 0, 14, 4))
    _, values = reading(page)
    assert len(values) == 3
    box = page.locator(".lm-readout").bounding_box()
    assert 0 <= box["y"] <= 844 - box["height"]  # the reading stays in sight
    fits(page)


def fits(page):
    """Nothing scrolls sideways, and no control is beyond an edge."""
    for element in (page.locator("html"), page.get_by_test_id("stMain")):
        content, room = element.evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert content <= room
    for control in page.locator(".lm-root :is(input[type=range], select, button, canvas)").all():
        if box := control.bounding_box():
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390


# Downloads


def downloaded(page, kind, figure=0):
    """The content and the name of a file."""
    button = page.get_by_role("button", name=kind, exact=True).nth(figure)
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_bytes(), download.value.suggested_filename


def test_downloads_are_what_they_claim(visit):
    address = SHORT | {"stage": "weights"}
    page, result = visit(address), run(asked(address))
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
        pixels = np.asarray(document[0].render().to_numpy())
        assert pixels.mean() > 128
        assert pixels.std() > 10

    content, name = downloaded(page, "CSV")
    assert name.endswith(".csv")
    table = compare(result).table()
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(content)), table, check_exact=True)

    content, name = downloaded(page, "CSV", figure=1)
    assert name.endswith(".csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(BytesIO(content)), curves(result.experiment), check_exact=True
    )
    for kind, start in (("PNG", b"\x89PNG"), ("SVG", b"<?xml"), ("PDF", b"%PDF")):
        assert downloaded(page, kind, figure=1)[0].startswith(start)


def test_downloads_follow_what_was_moved_and_the_view_is_saved(visit):
    page = visit(SHORT)
    press(page, "gamma")
    shows(page, moved := SHORT | {"gamma": after(GAMMAS, 0.4)})
    choose(page, "difference", "ratio")
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    choose(page, "colours", "teal_brown")
    becomes(
        lambda: parameters(page),
        moved | {"difference": "ratio", "colours": "teal_brown"},
        "address",
    )
    settled(page)
    content, _ = downloaded(page, "CSV")
    table = compare(run(asked(moved)), "ratio").table()
    pd.testing.assert_frame_equal(pd.read_csv(BytesIO(content)), table, check_exact=True)
    content = downloaded(page, "SVG")[0].decode()
    assert "|XPos| / |RoPE|" in content
    assert PALETTES["teal_brown"].clipped["diverging"][1] in content
    page.get_by_text(texts("en")("livemap.more"), exact=True).click()
    content, name = downloaded(page, texts("en")("livemap.png"))
    assert name == "xpos_viz-live.png"
    with Image.open(BytesIO(content)) as image:
        assert image.format == "PNG"
        assert image.size[0] > page.locator(".lm-maps").bounding_box()["width"]
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)

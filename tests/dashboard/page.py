"""The dashboard in a browser: what is seen, and how it is moved."""

import re
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np

from tests.dashboard.server import becomes
from tests.pages import channels, drawn, part, pixels, read, slider
from xpos_viz import run
from xpos_viz.comparison import compare
from xpos_viz.state import from_address
from xpos_viz.texts import texts
from xpos_viz.theme import CLIPPED, INKS, SCALES, Mode

SHORT = {"name": "pronoun"}
WHOLE = [0, 0, 28]  # the part of SHORT that is seen without a zoom
QUIET = 250  # milliseconds without a rerun after which a page is taken to be settled
SILENT = 5000  # milliseconds after which what was sent is taken to need no answer
NEAR = (1, 1 - 1e-5, 1 + 1e-5)  # float32 may be on the other side of a limit
LEVELS = 3  # of 255: the browser rounds a colour to one of 256 between the limits
SETTLED = """({ quiet, silent }) => {
  const app = document.querySelector("[data-testid=stApp]");
  const drawn = location.pathname !== "/" || window.liveMap()?.dataset.state === "ready";
  const now = performance.now();
  const answered = !(window.sentAt > window.receivedAt && now - window.sentAt < silent);
  const idle = app?.dataset.testScriptState === "notRunning" && drawn && answered;
  window.idleSince = idle ? (window.idleSince ?? now) : null;
  return idle && now - window.idleSince > quiet;
}"""


def settled(page):
    """Wait until the live map, if the page has one, is drawn, and no rerun follows.

    What was pressed a moment ago may not have been sent yet, or not be answered.
    """
    page.evaluate("window.idleSince = null")
    page.wait_for_function(SETTLED, arg={"quiet": QUIET, "silent": SILENT}, polling=50)


def parameters(page):
    """The parameters of the address of a page, as the browser has them now."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)"), keep_blank_values=True))


def asked(address):
    """The experiment that an address asks for."""
    state, refused = from_address(address)
    assert not refused
    return state.experiment


def picture(page):
    """The pixels of the maps, (rows, columns, 4)."""
    return pixels(page.locator("canvas.lm-canvas"))


def boxes(pixels, mode: Mode = "light"):
    """Left, top and side of each panel, which has a frame around it."""
    frame = np.abs(pixels[..., :3] - channels(INKS[mode].faint)).max(-1) <= LEVELS
    uprights = frame.sum(0)
    x = np.flatnonzero(uprights > 0.8 * uprights.max())  # letters may stand above them
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


def misfits(page, address, difference="plain", mode: Mode = "light", held=None):
    """How many cells in sight have another colour than the core's value of it, by panel.

    While a control is held, the colours of the difference end where they did before.
    """
    experiment = asked(address)
    result, panels = wanted(experiment, difference)
    if held is not None:
        table, _, scale = panels.pop()
        panels.append((table, compare(run(asked(held)), difference).limit, scale))
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
    values = [read(number) for number in numbers if number]
    return page.locator(".lm-place").inner_text(), values


def choose(page, choice, value):
    """Choose from a list of the picture."""
    name = texts("en")(f"ui.{choice}")
    page.get_by_role("combobox", name=name, exact=True).select_option(value)


def select(page, key, option):
    """Choose from a list beside the picture."""
    label = page.get_by_text(texts("en")(f"ui.{key}"), exact=True)
    box = page.get_by_test_id("stSelectbox").filter(has=label)
    box.get_by_role("combobox").click()
    page.get_by_role("option", name=option, exact=True).click()


def downloaded(page, figure, form):
    """The content and the name of a file of a figure, from its menu, which is unfolded for it."""
    button = page.locator(f".st-key-xpos_viz-{figure}-{form}").get_by_role("button")
    if not button.count():
        page.locator(f".st-key-{figure}-files summary").click()
    button.wait_for()
    settled(page)
    with page.expect_download() as download:
        button.press("Enter")  # a pointer may miss a button that moves as its spinner goes
    return Path(download.value.path()).read_bytes(), download.value.suggested_filename


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

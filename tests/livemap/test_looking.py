"""Looking around in the live map: cross-hair, zoom, keyboard, touch."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.livemap.page import (
    CORE,
    LONG,
    SHORT,
    described,
    events,
    expect_reading,
    picture,
    point,
    reading,
    without_data,
)
from tests.pages import channels, drawn, part
from xpos_viz import decay_curve
from xpos_viz.inputs import Sample
from xpos_viz.look import Look
from xpos_viz.texts import texts
from xpos_viz.theme import INKS

pytestmark = pytest.mark.browser


def test_the_cross_hair_is_linked_over_all_panels_and_the_curve(visit):
    page = visit(described(SHORT))
    curve = picture(page, "graph")
    point(page, 150, 270)
    over = picture(page, "over")[..., 3] > 200
    upright = np.flatnonzero(over[70:300].mean(0) > 0.7)
    starts = upright[np.flatnonzero(np.diff(upright, prepend=-9) > 8)]
    assert len(starts) == 3
    assert np.ptp(np.diff(starts)) <= 2
    assert (over[:, starts[0] : starts[0] + 200].mean(1) > 0.3).any()
    marked = (picture(page, "graph") != curve).any(-1).mean(0)
    assert np.count_nonzero(marked > 0.4) in (1, 2, 3)  # one upright line
    page.mouse.move(2, 2)
    drawn(page)
    assert not (picture(page, "over")[..., 3] > 0).any()


def test_the_curve_marks_its_lag_in_the_maps(visit):
    page = visit(described(SHORT))
    box = page.locator(".lm-graph").last.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    drawn(page)
    place, values = reading(page)
    [lag] = re.findall(r"^lag (\d+)$", place)
    expected = [float(decay_curve(encoding, int(lag))) for encoding in SHORT.encodings]
    assert values == pytest.approx(expected, rel=CORE)
    assert (picture(page, "over")[..., 3] > 0).any()


@pytest.mark.parametrize("axis", ["linear", "log"])
def test_a_lag_is_marked_at_its_place_on_the_axis(axis, visit):
    page = visit(described(SHORT, look=Look(axis=axis)))
    clean = picture(page, "graph")
    uprights = (np.abs(clean[..., :3] - channels(INKS["light"].faint)).max(-1) < 4).mean(0)
    left, right = np.flatnonzero(uprights > 0.5)
    page.locator(".lm-graph").last.scroll_into_view_if_needed()
    box = page.locator(".lm-graph").last.bounding_box()
    for lag in (1, 2, 5, 13, 27):
        share = lag / 27 if axis == "linear" else np.log(lag) / np.log(27)
        x = left + 1 + share * (right - left - 1)  # within the frame
        page.mouse.move(box["x"] + x, box["y"] + 100)
        drawn(page)
        assert reading(page)[0] == f"lag {lag}"
        changed = (picture(page, "graph") != clean).any(-1).mean(0)
        marked = np.flatnonzero(changed > 0.4)
        assert len(marked) in (1, 2)
        assert np.abs(marked + 0.5 - x).max() <= 1


def test_lag_0_has_no_place_on_a_logarithmic_axis(visit, host):
    page = visit(described(LONG, look=Look(axis="log")), width=400)
    graph = page.locator(".lm-graph").last
    for x in (5, 20):  # left of lag 1
        graph.hover(position={"x": x, "y": 100})
        drawn(page)
        assert reading(page)[0] in (texts("en")("livemap.hint"), "lag 1")
    page = visit(described(SHORT, look=Look(axis="log")))
    clean = picture(page, "graph")
    for _ in range(2):  # the first key shows the cross-hair, and its lag
        page.locator(".lm-maps").press("ArrowDown")
    drawn(page)
    assert "· lag 0" not in reading(page)[0]
    assert (picture(page, "graph") != clean).any()
    while not reading(page)[0].endswith("· lag 0"):
        page.keyboard.press("ArrowUp")
        drawn(page)
    assert len(reading(page)[1]) == 3
    assert np.array_equal(picture(page, "graph"), clean)
    page.evaluate(f"told({host.offer(without_data(described(SHORT)))})")
    linear = "document.querySelector('.lm-select[aria-label=\"Distance axis\"]').value === 'linear'"
    page.wait_for_function(linear)
    drawn(page)
    marked = picture(page, "graph")
    page.keyboard.press("Escape")
    drawn(page)
    assert (picture(page, "graph") != marked).any()


def test_the_keyboard_moves_zooms_and_resets(visit):
    page = visit(described(SHORT))
    page.locator(".lm-maps").focus()
    page.keyboard.press("ArrowDown")
    drawn(page)
    m, n, _ = expect_reading(page, SHORT)
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    drawn(page)
    moved_m, moved_n, values = expect_reading(page, SHORT)
    assert (moved_m[0], moved_n[0]) == (m[0] + 2, n[0] - 1)
    spoken = page.locator("[role=status]")
    page.wait_for_function("document.querySelector('[role=status]').textContent.includes('lag')")
    assert f"query {moved_m[0]}" in spoken.inner_text()
    assert f"{values[1]:.6g}".replace("-", "−") in spoken.inner_text()
    page.keyboard.press("+")
    page.keyboard.press("+")
    row, column, span = part(page)
    assert span < 20
    assert row <= moved_m[0] < row + span
    assert column <= moved_n[0] < column + span
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    row, _, span = part(page)
    m, _, _ = expect_reading(page, SHORT)
    assert row <= m[0] < row + span
    assert m[0] > moved_m[0] + 5
    page.keyboard.press("Escape")
    assert part(page) == [0, 0, 28]
    page.keyboard.press("-")
    assert part(page) == [0, 0, 28]


def test_zoom_focus_and_the_kept_cell_outlive_an_update(visit, host):
    page = visit(described(SHORT))
    page.mouse.click(150, 450)
    page.mouse.wheel(0, -100)
    page.wait_for_function("!document.querySelector('.lm-root').dataset.part.endsWith(' 28')")
    seen, (place, values) = part(page), reading(page)
    moved = replace(SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(gamma=2.0)))
    page.mouse.move(2, 2)
    page.evaluate(f"told({host.offer(without_data(described(moved, 'zh', 'dark')))})")
    page.wait_for_function("document.querySelector('[data-key=gamma]').ariaValueText === '2'")
    assert part(page) == seen
    assert page.evaluate("document.activeElement.className").startswith("lm-maps")
    now, changed = reading(page)
    assert re.findall(r"\d+", now) == re.findall(r"\d+", place)
    assert changed[0] == values[0]
    assert changed[1] != values[1]
    assert page.locator(".lm-root").evaluate(
        "(e) => getComputedStyle(e).color"
    ) == "rgb({}, {}, {})".format(*channels(INKS["dark"].text))


def test_data_that_are_not_there_are_asked_for(visit, host):
    page = visit(described(SHORT))
    other = replace(SHORT, inputs=Sample("pronoun", 8, 3))
    page.evaluate(f"told({host.offer(without_data(described(other)))})")
    page.wait_for_function("window.events.length === 1")
    assert events(page) == ["need"]
    page.evaluate(f"told({host.offer(described(other))})")
    drawn(page)
    point(page, 150, 280)
    expect_reading(page, other)


def without_words(described):
    """The same for a browser that has the sentences, colours and controls."""
    left_out = ("sliders", "choices", "stages", "symbols", "theme", "text")
    return {key: value for key, value in described.items() if key not in left_out}


def test_words_that_are_kept_are_not_needed_and_others_are_asked_for(visit, host):
    page = visit(described(SHORT))
    moved = replace(SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(gamma=2.0)))
    page.evaluate(f"told({host.offer(without_words(described(moved)))})")
    page.wait_for_function("document.querySelector('[data-key=gamma]').ariaValueText === '2'")
    assert events(page) == []
    page.evaluate(f"told({host.offer(without_words(described(moved, 'zh')))})")
    page.wait_for_function("window.events.length === 1")
    assert events(page) == ["need"]
    page.evaluate(f"told({host.offer(described(moved, 'zh'))})")
    page.get_by_text(texts("zh")("livemap.more"), exact=True).wait_for()
    assert events(page) == ["need"]


def test_a_picture_that_begins_without_its_parts_asks_for_them(visit, host):
    page = visit(described(SHORT))
    page.evaluate(
        """async (name) => {
          window.handle.destroy();
          const { mount } = await import("/live.js");
          const bytes = new Uint8Array(await (await fetch(`/payload?${name}`)).arrayBuffer());
          window.handle = mount(document.getElementById("map"), bytes);
          window.handle.on("need", () => window.events.push("need"));
        }""",
        host.offer(without_words(without_data(described(SHORT)))),
    )
    page.wait_for_function("window.events.length === 1")
    assert page.locator(".lm-root").count() == 0
    page.evaluate(f"told({host.offer(described(SHORT))})")
    page.wait_for_selector(".lm-root[data-state=ready]")
    point(page, 150, 280)
    expect_reading(page, SHORT)


def test_shift_moves_and_two_fingers_zoom(visit):
    page = visit(described(LONG), has_touch=True)
    box = page.locator(".lm-maps").bounding_box()
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        places = [
            {"x": box["x"] + x, "y": box["y"] + y, "id": i} for i, (x, y) in enumerate(points)
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    touch("touchStart", (150, 180))
    touch("touchStart", (150, 180), (190, 180))
    touch("touchMove", (130, 180), (210, 180))
    touch("touchMove", (110, 180), (230, 180))
    touch("touchEnd")
    row, column, span = part(page)
    assert 150 < span < 320
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 150, box["y"] + 180)
    page.mouse.down()
    page.mouse.move(box["x"] + 130, box["y"] + 160, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    moved = part(page)
    assert moved[2] == span
    assert moved[0] > row
    assert moved[1] > column

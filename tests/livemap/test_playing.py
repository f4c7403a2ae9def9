"""The live map sweeps a parameter by itself."""

from dataclasses import replace

import numpy as np
import pytest

from tests.livemap.page import (
    SHORT,
    at,
    described,
    events,
    expect_reading,
    point,
    reading,
    without_data,
)
from tests.pages import drawn, grab, slider
from xpos_viz.encoding.steps import GAMMAS
from xpos_viz.inputs import Sample
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

LEAK = 512  # bytes a frame; compiled code takes less, and the values of one frame 9 kB


def playing(page):
    """Start to sweep γ, and wait until it is on its way."""
    page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).click()
    page.wait_for_function("Number(document.querySelector('[data-key=gamma]').ariaValueText) > 0.5")


def plays(page, language="en"):
    return page.get_by_role("button", name=texts(language)("livemap.stop", name="γ")).count() == 1


def moved(**parameters):
    """SHORT with other parameters of XPos."""
    return replace(SHORT, encodings=(SHORT.encodings[0], SHORT.encodings[1].replace(**parameters)))


def test_playing_sweeps_and_commits_when_it_stops(visit):
    page = visit(described(SHORT))
    notes = page.locator(".lm-notes").inner_text()
    playing(page)
    assert page.locator(".lm-notes").inner_text() == notes  # colours end where they did
    assert events(page) == []
    page.get_by_role("button", name=texts("en")("livemap.stop", name="γ")).click()
    [commit] = events(page)
    assert commit["changes"]["gamma"] in GAMMAS
    drawn(page)
    assert float(slider(page, "gamma").get_attribute("aria-valuetext")) in GAMMAS


@pytest.mark.parametrize(
    "other",
    [
        moved(gamma=2.0),
        moved(scale_base=64.0),  # and γ as it was before it was swept
        at(SHORT, stage="weights"),
        replace(SHORT, inputs=Sample("pronoun", 8, 3)),
    ],
)
def test_what_is_set_elsewhere_ends_the_playing_and_is_shown(other, visit, host):
    page = visit(described(SHORT))
    playing(page)
    page.evaluate(f"told({host.offer(described(other))})")
    page.wait_for_function("!document.querySelector('.lm-play.lm-on')")
    drawn(page)
    assert not plays(page)
    for name in ("gamma", "scale_base"):
        assert slider(page, name).get_attribute("aria-valuetext") == f"{other.encodings[1][name]:g}"
    point(page, 150, 280)
    expect_reading(page, other)
    assert events(page) == []


def test_a_reset_ends_the_playing_even_where_nothing_else_changes(visit, host):
    page = visit(described(SHORT) | {"resets": 0})
    playing(page)
    page.evaluate(f"told({host.offer(without_data(described(SHORT)) | {'resets': 1})})")
    page.wait_for_function("!document.querySelector('.lm-play.lm-on')")
    drawn(page)
    assert slider(page, "gamma").get_attribute("aria-valuetext") == "0.4"
    assert events(page) == []


def test_answers_and_other_words_do_not_end_the_playing(visit, host):
    page = visit(described(SHORT))
    playing(page)
    page.get_by_text(texts("en")("ui.stages.weights"), exact=True).click()
    [commit] = events(page)
    assert commit["changes"] == {"stage": "weights"}
    older = without_data(described(SHORT)) | {"echo": 0}  # it does not know of that yet
    answer = without_data(described(at(SHORT, stage="weights"), "zh", "dark")) | {"echo": 1}
    for content in (older, answer):
        page.evaluate(f"told({host.offer(content)})")
    page.wait_for_function("document.querySelector('.lm-place').textContent.includes('指')")
    drawn(page)
    assert plays(page, "zh")
    assert len(events(page)) == 1


def test_playing_leaves_no_memory_behind(visit):
    page = visit(described(SHORT))
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def held():
        """The least of a few looks: what belongs to a frame comes and goes."""
        looks = []
        for _ in range(8):
            page.wait_for_timeout(200)
            session.send("HeapProfiler.collectGarbage")
            metrics = session.send("Performance.getMetrics")["metrics"]
            values = {entry["name"]: entry["value"] for entry in metrics}
            looks.append([values[name] for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")])
        return np.min(looks, 0)

    page.evaluate(
        "() => { window.frames_ = 0; const count = () => { window.frames_ += 1;"
        " requestAnimationFrame(count) }; count() }"
    )
    page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).click()
    page.wait_for_timeout(4_000)  # what is kept once is kept by then
    before, frames = held(), page.evaluate("window.frames_")
    page.wait_for_timeout(60_000)
    grown, shown = held() - before, page.evaluate("window.frames_") - frames
    assert shown > 100
    assert (grown < np.array([LEAK, 1, 1]) * shown).all(), f"{grown} in {shown} frames"


def test_a_hand_ends_the_playing_of_its_slider(visit):
    page = visit(described(SHORT))
    playing(page)
    grab(page, "gamma", 0.9)
    page.mouse.up()
    assert page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).count() == 1
    assert all(commit["changes"]["gamma"] in GAMMAS for commit in events(page))


def test_with_less_motion_playing_goes_step_by_step(visit):
    page = visit(described(SHORT), reduced_motion="reduce")
    page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).click()
    values = page.evaluate(
        """async () => {
          const seen = new Set();
          const start = performance.now();
          while (performance.now() - start < 1500) {
            await new Promise(requestAnimationFrame);
            seen.add(Number(document.querySelector('[data-key=gamma]').ariaValueText));
          }
          return [...seen];
        }"""
    )
    assert values == [0.4, 0.45]


def test_playing_is_not_spoken_until_it_stops(visit):
    page = visit(described(SHORT), reduced_motion="reduce")
    page.mouse.click(150, 450)
    page.wait_for_function("document.querySelector('[role=status]').textContent !== ''")
    page.evaluate(
        """() => {
          window.spoken = [];
          const status = document.querySelector("[role=status]");
          const note = () => window.spoken.push(status.textContent);
          new MutationObserver(note).observe(status, { childList: true });
        }"""
    )
    page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).click()
    page.wait_for_function("document.querySelector('[data-key=gamma]').ariaValueText === '0.5'")
    assert page.evaluate("window.spoken") == []
    page.get_by_role("button", name=texts("en")("livemap.stop", name="γ")).click()
    page.wait_for_function("window.spoken.length === 1")
    _, values = reading(page)
    assert f"{values[1]:.6g}".replace("-", "−") in page.evaluate("window.spoken[0]")

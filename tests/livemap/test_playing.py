"""The live map sweeps a parameter by itself."""

import numpy as np
import pytest

from tests.livemap.page import SHORT, described, events
from tests.pages import drawn, grab, slider
from xpos_viz.livemap.steps import GAMMAS
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser

LEAK = 512  # bytes a frame; compiled code takes less, and the values of one frame 9 kB


def test_playing_sweeps_and_commits_when_it_stops(visit):
    page = visit(described(SHORT))
    play = page.get_by_role("button", name=texts("en")("livemap.play", name="γ"))
    play.click()
    page.wait_for_function("Number(document.querySelector('[data-key=gamma]').ariaValueText) > 0.5")
    assert events(page) == []
    page.get_by_role("button", name=texts("en")("livemap.stop", name="γ")).click()
    [commit] = events(page)
    assert commit["changes"]["gamma"] in GAMMAS
    drawn(page)
    assert float(slider(page, "gamma").get_attribute("aria-valuetext")) in GAMMAS


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
    page.get_by_role("button", name=texts("en")("livemap.play", name="γ")).click()
    page.wait_for_function("Number(document.querySelector('[data-key=gamma]').ariaValueText) > 0.5")
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

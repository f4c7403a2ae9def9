"""The lessons in a browser: all chapters by keyboard alone, in both languages."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.page import parameters, settled
from tests.dashboard.server import becomes
from xpos_viz.figures.lessons import sentence
from xpos_viz.lessons import STEPS
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.browser

NAMES = list(STEPS)
MEASURED = {"cost"}  # whose numbers are of the moment


def press_until(page, target, keys):
    """Press Tab until an element has the focus, then some keys."""
    for _ in range(120):
        if target.evaluate(
            "(e) => e === document.activeElement || e.contains(document.activeElement)"
        ):
            break
        page.keyboard.press("Tab")
    else:
        raise AssertionError("no Tab leads there")
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_steps_are_walked_through_by_keyboard(language, visit):
    text = texts(language)
    page = visit({"lang": language})
    page.get_by_role("link", name=text("pages.learn.link"), exact=True).focus()
    page.keyboard.press("Enter")
    for place, name in enumerate(NAMES):
        step = STEPS[name]
        page.get_by_role("heading", name=text(f"learn.{name}.title"), exact=True).wait_for()
        settled(page)
        expect(page.locator(".js-plotly-plot")).to_have_count(0)
        options = page.get_by_role("radiogroup").last
        press_until(page, options, ["Space"])
        page.locator(".js-plotly-plot").wait_for()
        settled(page)
        done = text("learn.progress", done=place + 1, steps=len(NAMES))
        page.get_by_text(done, exact=True).wait_for()
        _moved(page, step, text)
        if name != NAMES[-1]:
            press_until(page, page.get_by_role("link", name=_next(text)).last, ["Enter"])


def _next(text):
    """How the link to the next step begins."""
    return text("learn.next", title="").strip()


def _moved(page, step, text):
    """Move the one thing by a key, and see another sentence."""
    control = page.get_by_test_id("stSlider").get_by_role("slider")
    words = isinstance(step.control.start, str)
    if words:
        group = page.get_by_role("radiogroup", name=text(f"learn.{step.name}.do"), exact=True)
        press_until(page, group.get_by_role("radio").last, ["Enter"])
    else:
        start = step.control.values.index(step.control.start)
        press_until(page, control, ["ArrowRight" if start == 0 else "ArrowLeft"])
    becomes(lambda: "at" in parameters(page), wanted=True, wish="a place in the address")
    settled(page)
    at = step.control.values[int(parameters(page)["at"])]
    assert at != step.control.start
    if step.name not in MEASURED:
        told = sentence("sentence", step, step.see(at), text)
        page.get_by_text(told.replace("*", ""), exact=True).wait_for()

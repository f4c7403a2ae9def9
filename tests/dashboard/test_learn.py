"""The lessons in a browser: all steps by keyboard alone, in both languages."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.page import parameters, settled
from tests.dashboard.server import becomes
from xpos_viz.figures.lessons import sentence
from xpos_viz.lessons import OPTIONS, STEPS
from xpos_viz.texts import LANGUAGES, texts

pytestmark = pytest.mark.browser

MOST = 60  # stops of the keyboard on a page, and more than there are
FOCUSED = "(e) => e === document.activeElement || e.contains(document.activeElement)"


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_steps_are_walked_through_by_keyboard(language, visit):
    page, text = visit({"lang": language}), texts(language)
    press(page, page.get_by_role("link", name=text("pages.learn.link"), exact=True), "Enter")
    for done, step in enumerate(STEPS.values(), 1):
        title = text(f"learn.{step.name}.title")
        heading = page.get_by_role("heading", name=title, exact=True)
        heading.wait_for()
        settled(page)
        assert done == 1 or heading.evaluate(FOCUSED)  # the link that led here is gone
        expect(page.locator(".js-plotly-plot")).to_have_count(0)
        choose(page, step, text)
        told = text("learn.progress", done=done, steps=len(STEPS))
        page.get_by_text(told, exact=True).wait_for()
        move(page, step, text)
        if done < len(STEPS):
            begins = text("learn.next", title="").strip()
            press(page, page.get_by_role("link", name=begins), "Enter")


@pytest.mark.parametrize("name", ["shrink", "same_way"])
def test_no_choice_goes_on_beyond_the_edge_of_a_phone(name, visit):
    step, text = STEPS[name], texts("en")
    page = visit({"lesson": name, "answers": f"{name}-{step.right}"}, width=390)
    press(page, page.get_by_role("link", name=text("pages.learn.link"), exact=True), "Enter")
    choice = page.get_by_role("radiogroup", name=text(f"learn.{name}.do"))
    options = choice.get_by_role("radio")
    expect(options).to_have_count(len(step.control.values))
    boxes = [option.bounding_box() for option in options.all()]
    assert min(box["x"] for box in boxes) >= 0
    assert max(box["x"] + box["width"] for box in boxes) <= 390
    assert len({box["y"] for box in boxes}) > 1  # or there is nothing to see here


def choose(page, step, text):
    """Choose the right answer, and see that it is said to be, aloud too, and the picture."""
    question = text(f"learn.{step.name}.question")
    down = ["ArrowDown"] * OPTIONS.index(step.right)
    press(page, page.get_by_role("radiogroup", name=question.replace("*", "")), "Space", *down)
    because = text("learn.right", because=text(f"learn.{step.name}.because"))
    spoken = page.locator("[aria-live=polite]").get_by_test_id("stAlert")
    spoken.get_by_text(because.replace("*", ""), exact=True).wait_for()
    page.locator(".js-plotly-plot").wait_for()
    settled(page)


def move(page, step, text):
    """Move the one thing, and read what the core computes."""
    values, start = step.control.values, step.control.start
    label = text(f"learn.{step.name}.do")
    if isinstance(start, str):
        first = ["ArrowRight"] if start == values[0] else []  # Tab leads to the first one
        press(page, page.get_by_role("radiogroup", name=label, exact=True), *first, "Enter")
    else:
        slider = page.get_by_role("group", name=label).get_by_role("slider")
        press(page, slider, "ArrowLeft" if start == values[-1] else "ArrowRight")
    becomes(lambda: "at" in parameters(page), wanted=True, wish="a place in the address")
    at = values[int(parameters(page)["at"])]
    assert at != start
    if not step.measured:
        told = sentence("sentence", step, step.see(at), text)
        page.get_by_text(told.replace("*", ""), exact=True).wait_for()


def press(page, target, *keys):
    """Press Tab until something has the focus, then some keys."""
    stops = 0
    while not target.evaluate(FOCUSED):
        page.keyboard.press("Tab")
        stops += 1
        assert stops < MOST, "no Tab leads there"
    for key in keys:
        page.keyboard.press(key)

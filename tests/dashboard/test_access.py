"""Every page as axe-core sees it: nothing that keeps a reader out, folded parts too."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.dashboard.page import settled
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import PAGES

pytestmark = pytest.mark.browser

HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"
WIDTHS = {"light": 1440, "dark": 390}
each_scheme = pytest.mark.parametrize("scheme", WIDTHS)


@each_scheme
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_serious_fault_folded_or_not(name, scheme, visit):
    assert faults(visit, name, scheme, {"name": "pronoun"}, WIDTHS[scheme]) == {}


@each_scheme
@pytest.mark.parametrize("width", WIDTHS.values())
@pytest.mark.parametrize(
    "settings",
    [{"answers": "turn-b"}, {"answers": "turn-a"}, {"teacher": "yes", "lesson": "content"}],
    ids=["right", "wrong", "taught"],
)
def test_a_step_has_no_serious_fault(settings, width, scheme, visit):
    assert faults(visit, "learn", scheme, {"name": "pronoun"} | settings, width) == {}


def faults(visit, name, scheme, settings, width):
    """What is wrong with a page, whose folded parts are unfolded, by the names of the rules."""
    language = list(LANGUAGES)[scheme == "dark"]
    page = visit(settings | {"lang": language}, scheme=scheme, width=width)
    page.get_by_role("link", name=texts(language)(f"pages.{name}.link"), exact=True).click()
    page.get_by_role("heading", name=texts(language)(f"pages.{name}.title"), exact=True).wait_for()
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    for folded in page.locator("details:not([open]) > summary").all()[::-1]:  # the lowest first
        folded.press("Enter")
    settled(page)
    page.set_viewport_size({"width": width, "height": page.evaluate(HEIGHT)})  # all is in sight
    settled(page)
    found = Axe().run(page).response["violations"]
    return {
        fault["id"]: [node["html"][:160] for node in fault["nodes"]]
        for fault in found
        if fault["impact"] in ("serious", "critical")
    }

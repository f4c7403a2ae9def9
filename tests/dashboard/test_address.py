"""The dashboard's address: shared, gone back, hostile, outlived."""

import re
from urllib.parse import urlencode, urlsplit

import pytest

from tests.dashboard.page import (
    SHORT,
    after,
    asked,
    choose,
    misfits,
    parameters,
    press,
    settled,
    shown_on,
    shows,
)
from tests.dashboard.server import PATIENCE, becomes, free_port, serving
from tests.pages import slider, watch
from xpos_viz import run
from xpos_viz.encoding.steps import GAMMAS, SCALE_BASES
from xpos_viz.figures.words import rounded
from xpos_viz.state import from_address, to_address
from xpos_viz.texts import texts

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("clipboard", [True, False])
def test_a_link_with_one_control_is_copied_by_keys(clipboard, visit):
    """Where the address is neither https nor of this machine, there is no clipboard to write."""
    page, text = visit(SHORT | {"lang": "zh"}), texts("zh")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("window.copied = navigator.clipboard")
    if not clipboard:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name=text("ui.sharing")).click()
    pills = page.get_by_test_id("stPopoverBody").get_by_test_id("stButtonGroup")
    pills.get_by_role("button", name=text("ui.reset"), exact=True).click()
    shared = page.url.replace("&lang", "&show=reset&lang")
    page.get_by_text(shared, exact=True).wait_for()
    page.get_by_role("button", name=text("ui.copy_link")).focus()
    page.keyboard.press("Enter")
    page.get_by_role("status").filter(has_text=text("ui.copied")).wait_for()
    assert page.evaluate("copied.readText()") == shared
    page.context.clear_permissions()


def test_what_was_chosen_for_a_link_stays_while_it_is_folded_away(visit):
    page, text = visit(SHORT), texts("en")
    share = page.get_by_role("button", name=text("ui.sharing"))
    share.click()
    pills = page.get_by_test_id("stPopoverBody").get_by_test_id("stButtonGroup")
    for number, name in enumerate(("gamma", "mask"), 1):
        pills.get_by_role("button", name=text(f"ui.{name}"), exact=True).click()
        page.get_by_text(f"{page.url}&show={','.join(('gamma', 'mask')[:number])}").wait_for()
    page.keyboard.press("Escape")
    pills.wait_for(state="hidden")
    press(page, "gamma")
    shows(page, SHORT | {"gamma": after(GAMMAS, 0.4)})
    share.click()
    page.get_by_text(f"{page.url}&show=gamma,mask", exact=True).wait_for()


def test_a_hostile_address_gives_a_notice(visit):
    page = visit(SHORT | {"gamma": "<img src=http://example.org/x.png>", "length": "9" * 2000})
    notices = page.get_by_test_id("stAlert")
    becomes(notices.count, 2, "notices")
    text = texts("en")
    said = notices.all_inner_texts()  # without the marks of code
    assert text("ui.unknown", key="length").replace("`", "") in said[0]  # above the title
    assert text("ui.refused", key="gamma", value="…", used="0.4").replace("`", "") in said[1]
    places = (notices.first, page.locator("h1"), notices.last, slider(page, "gamma"))
    heights = [place.bounding_box()["y"] for place in places]
    assert heights == sorted(heights)
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
    page.set_default_timeout(1000 * PATIENCE)
    watch(page, complaints)
    moved = SHORT | {"gamma": after(GAMMAS, 0.4)}
    with serving(port, tmp_path / "first.txt") as address:
        page.goto(f"{address}?{urlencode(SHORT)}")
        settled(page)
        press(page, "gamma")
        shows(page, moved)
    with serving(port, tmp_path / "second.txt"):
        page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for()
        choose(page, "difference", "ratio")
        shows(page, moved := moved | {"difference": "ratio"}, "ratio")
        assert page.locator(".lm-root").count() == 1  # and nothing was mounted beside it
        page.reload()
        shows(page, moved, "ratio")
        press(page, "gamma")
        shows(page, moved | {"gamma": after(GAMMAS, 0.4, 2)}, "ratio")
        page.close()
    assert complaints == []


@pytest.mark.parametrize(
    ("name", "key", "role", "press", "after"),
    [
        ("decay", "scale_base", "slider", "ArrowRight", "96"),
        ("compare", "reset", "button", "Enter", None),
    ],
)
def test_the_first_move_after_a_restart_counts(name, key, role, press, after, contexts, tmp_path):
    port, text = free_port(), texts("en")
    page = contexts("en-US", "light", 0).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    control = page.locator(f".st-key-{key}").get_by_role(role)

    def received():
        return page.evaluate("window.received")

    with serving(port, tmp_path / "first.txt") as address:
        page.goto(f"{address}{name}?{urlencode(SHORT | {'scale_base': '64'})}")
        control.wait_for()
        settled(page)
    before = received()
    with serving(port, tmp_path / "second.txt"):
        page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for()
        becomes(lambda: received() > before, True, "a run of the new server")
        settled(page)
        control.press(press)
        becomes(lambda: parameters(page).get("scale_base"), after, "the address")
        assert page.get_by_role("heading", name=text(f"pages.{name}.title")).is_visible()
        page.close()


def test_a_picture_whose_module_did_not_arrive_is_drawn_when_it_does(contexts, server):
    page = contexts("en-US", "light", 0).new_page()
    page.set_default_timeout(1000 * PATIENCE)
    lost = []

    def lose(route):
        if len(lost) < 2:
            lost.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route(re.compile(r"/xpos_viz-\w+\.js"), lose)
    page.goto(f"{server}?{urlencode(SHORT)}")
    shows(page, SHORT)
    assert len(lost) == 2
    assert page.get_by_test_id("stException").count() == 0
    page.close()

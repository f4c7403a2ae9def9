"""What stands where: on a phone, on a projector, and on the way from page to page."""

from urllib.parse import urlencode

import pytest

from tests.dashboard.page import SHORT, after, parameters, press, settled, shows
from tests.dashboard.server import PATIENCE, becomes
from xpos_viz.encoding import REGISTRY
from xpos_viz.encoding.steps import GAMMAS
from xpos_viz.state import PRESETS
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import PAGES
from xpos_viz.ui.layout import LARGE

pytestmark = pytest.mark.browser

BARS = 58  # pixels below the axes, of usual type
PHONE = {"width": 390, "height": 844}
STACKED = [name for name in PAGES if name not in ("compare", "learn")]  # controls at the foot
COLUMN = ".stColumn:not(.stColumn .stColumn)"
LIT = "(link) => getComputedStyle(link).backgroundColor !== 'rgba(0, 0, 0, 0)'"
BOLD = "(link) => Number(getComputedStyle(link.querySelector('p')).fontWeight) >= 600"
SEEN = """(link) => {
  const [box, row] = [link, link.closest(".st-key-links")].map((e) => e.getBoundingClientRect());
  return row.left < box.right - 8 && box.left + 8 < row.right;
}"""


WHOLE = """(link) => {
  const [box, row] = [link, link.closest(".st-key-links")].map((e) => e.getBoundingClientRect());
  return row.left <= box.left && box.right <= row.right - 20;
}"""


def turn(page, name):
    """Go to another page by its link."""
    text = texts("en")
    page.get_by_role("link", name=text(f"pages.{name}.link"), exact=True).click()
    page.get_by_role("heading", name=text(f"pages.{name}.title"), exact=True).wait_for()
    settled(page)


def marked(page, links):
    """The words of those links that look like that of the current page."""
    links = page.locator(f"{links} a")
    links.first.wait_for()
    return [link.inner_text() for link in links.all() if link.evaluate(LIT) or link.evaluate(BOLD)]


@pytest.mark.parametrize("name", STACKED)
def test_on_a_phone_the_picture_is_in_sight_while_a_slider_moves(name, visit):
    page = visit(SHORT, **PHONE)
    turn(page, name)
    shown, beside = page.locator(f".st-key-sides_{name} {COLUMN}").all()
    picture = shown.locator("[class*=st-key-wide_], [class*=st-key-fit_]").first
    sliders = beside.get_by_test_id("stSlider")
    names = sliders.get_by_test_id("stWidgetLabel").all_inner_texts()
    text = texts("en")
    own = {"choose": ("gammas", "scale_bases"), "lab": ("reach",)}
    last = own.get(name, ("gamma", "scale_base"))
    assert names[-2:] == [text(f"ui.{key}") for key in last]
    picture.scroll_into_view_if_needed()
    picture.evaluate("(e) => e.scrollIntoView({ block: 'start' })")
    top = bounds(picture)["y"]
    sliders.last.get_by_role("slider").first.focus()
    handle, foot = bounds(sliders.last), bounds(beside)
    assert foot["y"] + foot["height"] == pytest.approx(PHONE["height"], abs=1)
    assert foot["y"] < handle["y"] < PHONE["height"] - 8
    assert bounds(picture)["y"] == top < foot["y"] - PHONE["height"] / 3
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.parametrize("step", ["speed", "content", "added", "heads"])  # all kinds of pictures
def test_on_a_phone_what_is_moved_at_a_step_is_in_sight_with_its_picture(step, visit):
    page = visit(SHORT | {"lesson": step, "teacher": "yes"}, **PHONE)
    turn(page, "learn")
    control, picture = page.locator(".st-key-at"), page.locator(".st-key-fit_step")
    picture.locator(".js-plotly-plot").wait_for()
    control.evaluate("(e) => e.scrollIntoView({ block: 'start' })")
    top, shown = bounds(control), bounds(picture)
    assert -1 < top["y"] < top["y"] + top["height"] <= shown["y"]
    assert shown["y"] + shown["height"] < PHONE["height"]
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_on_a_phone_what_has_the_focus_is_not_behind_the_controls(visit):
    page = visit(SHORT, **PHONE)
    turn(page, "decay")
    shown, beside = page.locator(f".st-key-sides_decay {COLUMN}").all()
    page.get_by_role("button", name=texts("en")("ui.sharing")).focus()
    download = shown.locator("summary").first
    for _ in range(20):
        page.keyboard.press("Tab")
        if download.evaluate("(e) => e === document.activeElement"):
            break
    box = bounds(download)
    assert 0 < box["y"] < bounds(beside)["y"] - box["height"]


def test_on_a_wide_screen_the_picture_stands_left_of_its_controls(visit):
    page = visit(SHORT)
    turn(page, "decay")
    shown, beside = (
        column.bounding_box()
        for column in page.locator(".st-key-sides_decay").get_by_test_id("stColumn").all()
    )
    assert shown["x"] + shown["width"] < beside["x"]
    assert shown["y"] == beside["y"]
    assert shown["width"] > 2 * beside["width"]


@pytest.mark.parametrize("width", [390, 1024, 1440, 1920])
def test_maps_are_as_high_as_they_are_wide(width, visit):
    page = visit(SHORT, width=width)
    turn(page, "neighbours")
    plots = page.locator(".st-key-wide_scores .heatmaplayer image")
    becomes(plots.count, 3, "maps")
    for box in map(bounds, plots.all()):
        assert box["width"] == pytest.approx(box["height"], abs=2)
    row, first, *_, last = map(bounds, [page.locator(".st-key-wide_scores"), *plots.all()])
    assert first["width"] >= 130
    beyond = last["x"] + last["width"] - row["x"] - row["width"]
    fades = page.locator(".st-key-wide_scores").evaluate("(e) => getComputedStyle(e).maskImage")
    assert (beyond > 0, "gradient" in fades) == ((True, True) if width == 390 else (False, False))
    assert beyond > -40 or width == 390


@pytest.mark.parametrize("present", ["no", "yes"])
@pytest.mark.parametrize("width", [390, 1440])
def test_titles_and_legends_wrap(width, present, visit):
    page = visit({"curves": ",".join(REGISTRY)} | {"present": present}, width=width, number=2)
    turn(page, "decay")
    legend = page.locator("#root .st-key-fit_decay .xv-legend")
    items = legend.locator("li")
    becomes(items.count, len(REGISTRY), "names")
    plot, row = bounds(page.locator(".st-key-fit_decay .js-plotly-plot")), bounds(legend)
    assert plot["y"] + plot["height"] <= row["y"]
    for box in map(bounds, items.all()):
        assert box["x"] + box["width"] <= row["x"] + row["width"] + 1


def test_pointing_at_a_name_pales_all_other_curves(visit):
    page = visit({"curves": ",".join(REGISTRY)})
    turn(page, "decay")
    picture = page.locator(".st-key-fit_decay")
    names = picture.locator(".xv-legend li")
    becomes(names.count, len(REGISTRY), "names")
    assert names.nth(3).get_attribute("title") == texts("en")("ui.legend_help")
    names.nth(3).hover()
    lines = picture.locator(".scatterlayer > .trace")
    opaque = "(lines) => lines.map((line) => getComputedStyle(line).opacity === '1')"
    becomes(lambda: lines.evaluate_all(opaque).count(True), 1, "lines that are not pale")
    assert lines.evaluate_all(opaque).index(True) == 3
    colour = lines.nth(3).locator(".js-line").evaluate("(e) => getComputedStyle(e).stroke")
    sign = names.nth(3).locator("span").evaluate("(e) => getComputedStyle(e).backgroundImage")
    assert colour in sign


def test_keys_come_to_a_name_and_pale_all_other_bars(visit):
    page = visit(SHORT)
    turn(page, "pairs")
    picture = page.locator("[class*=st-key-fit_]:has(.barlayer)")
    names = picture.locator(".xv-legend li")
    becomes(names.count, 2, "names")
    first, second = names.all()
    first.focus()
    page.keyboard.press("Tab")
    assert second.evaluate("(e) => e === document.activeElement")
    assert second.evaluate("(e) => getComputedStyle(e).outlineStyle") == "solid"
    opacity = "(bars) => bars.map((each) => getComputedStyle(each).opacity)"
    bars = picture.locator(".barlayer > .trace")
    becomes(lambda: bars.evaluate_all(opacity), ["0.1", "1"], "bars that are not pale")


def test_the_link_of_the_page_looks_otherwise_where_the_keys_are(visit):
    page = visit(SHORT)
    first, second = page.locator(".st-key-links a").all()[:2]
    outline = "(link) => getComputedStyle(link).outlineStyle"
    first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    assert [link.evaluate(outline) for link in (first, second)] == ["solid", "none"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_on_a_phone_all_of_the_way_is_in_sight_or_follows_the_keys(language, visit):
    page = visit(SHORT | {"lang": language}, **PHONE)
    stops = page.locator(".st-key-links a")
    becomes(stops.count, len(PAGES), "stops")
    middles = {round(box["y"] + box["height"] / 2) for box in map(bounds, stops.all())}
    assert max(middles) - min(middles) <= 2
    assert not stops.last.evaluate(SEEN)
    stops.first.focus()
    for stop in stops.all():
        assert stop.evaluate("(stop) => stop === document.activeElement")
        becomes(lambda stop=stop: stop.evaluate(SEEN), True, "the stop is in sight")
        page.keyboard.press("Tab")
    text = texts(language)
    for name in ("ui.presets", "ui.sharing"):
        button = page.get_by_role("button", name=text(name))
        assert button.evaluate("(stop) => stop === document.activeElement")
        box = bounds(button)
        assert 0 < box["x"] < box["x"] + box["width"] < PHONE["width"]
        page.keyboard.press("Tab")
    assert bounds(page.locator("h1"))["y"] < 120


@pytest.mark.parametrize("language", LANGUAGES)
def test_on_a_phone_the_link_of_the_page_is_in_sight_from_the_start(language, contexts, server):
    """Below the root the browser asks for some things in vain, so its errors do not count."""
    page, text = contexts("en-US", "light", 0).new_page(), texts(language)
    page.set_viewport_size(PHONE)
    page.goto(f"{server}long?{urlencode(SHORT | {'lang': language})}")
    first, shown = (
        page.get_by_role("link", name=text(f"pages.{name}.link"), exact=True)
        for name in ("compare", "long")
    )
    shown.wait_for()
    becomes(lambda: shown.evaluate(WHOLE), True, "the link of the page is in sight")
    assert not first.evaluate(SEEN)
    first.evaluate("(link) => link.click()")  # which does not move the row
    becomes(lambda: first.evaluate(SEEN), True, "the link of the page is in sight")
    page.close()


def bounds(locator):
    return locator.bounding_box()


@pytest.mark.parametrize("width", [1440, 1024])
def test_the_choice_of_language_ends_where_the_page_does(width, visit):
    page = visit(SHORT, width=width)
    switch, block = (
        page.locator(place).bounding_box() for place in (".st-key-lang", ".st-key-live")
    )
    assert switch["x"] + switch["width"] == pytest.approx(block["x"] + block["width"], abs=1)


def test_large_type_leaves_the_picture_large_and_in_sight(visit):
    usual = bounds(visit(SHORT).locator(".lm-maps"))
    page = visit(SHORT | {"present": "yes"}, number=1)
    large = bounds(page.locator(".lm-maps"))
    assert large["width"] > LARGE * usual["width"]
    assert large["height"] > LARGE * usual["height"]
    assert large["y"] + large["height"] - BARS * LARGE < 1000
    sliders = page.locator(".lm-sliders > *").all()
    assert len({bounds(slider)["y"] for slider in sliders}) == 1  # one row
    menu, switch = bounds(page.get_by_test_id("stMainMenu")), bounds(page.locator(".st-key-lang"))
    assert switch["x"] + switch["width"] <= menu["x"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_large_type_leaves_room_for_the_picture_on_a_phone(language, visit):
    page = visit(SHORT | {"present": "yes", "lang": language}, **PHONE)
    page.get_by_role("link", name=texts(language)("pages.decay.link"), exact=True).click()
    plot = page.locator(".st-key-fit_decay .js-plotly-plot")
    plot.wait_for()
    settled(page)
    tools = [bounds(button) for button in page.locator(".st-key-tools button").all()]
    assert max(box["y"] for box in tools) < min(box["y"] + box["height"] for box in tools)  # a row
    assert bounds(plot)["y"] < 0.55 * PHONE["height"]
    page.get_by_role("button", name=texts(language)("ui.sharing")).click()
    link = page.get_by_test_id("stPopoverBody").locator("pre")
    for part in (page.get_by_role("button", name=texts(language)("ui.copy_link")), link):
        box = bounds(part)
        assert 0 < box["x"] < box["x"] + box["width"] < PHONE["width"]
    for whole in (link, *page.locator(".katex-display").all()):
        assert whole.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_large_type_leaves_all_links_in_sight_on_a_projector(language, visit):
    page = visit(SHORT | {"present": "yes", "lang": language})
    links = page.locator(".st-key-links a")
    becomes(links.count, len(PAGES), "links")
    assert [link.evaluate(WHOLE) for link in links.all()] == [True] * len(PAGES)


@pytest.mark.parametrize(("present", "beside"), [("no", True), ("yes", False)])
def test_the_table_of_pairs_has_room_for_its_columns(present, beside, visit):
    page = visit(SHORT | {"present": present}, number=2)
    turn(page, "pairs")
    plane, table = page.locator(".st-key-sides_pairs .stColumn .stColumn").all()
    becomes(lambda: bounds(plane)["y"] == bounds(table)["y"], beside, "the table is beside")
    assert bounds(table)["width"] >= 400


def test_the_home_page_has_a_name_too(contexts, server):
    """Below the root the browser asks for some things in vain, so its errors do not count."""
    page, text = contexts("en-US", "light", 0).new_page(), texts("en")
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{server}compare?{urlencode(SHORT | {'gamma': '0.5'})}")
    settled(page)
    page.locator(".lm-root[data-state=ready]").wait_for()
    assert page.get_by_role("dialog").count() == 0
    assert marked(page, ".st-key-links") == [text("pages.compare.link")]
    press(page, "gamma")
    moved = SHORT | {"gamma": after(GAMMAS, 0.5)}
    shows(page, moved)
    turn(page, "decay")
    assert marked(page, ".st-key-links") == [text("pages.decay.link")]
    turn(page, "compare")
    assert page.evaluate("location.pathname") == "/"
    assert marked(page, ".st-key-links") == [text("pages.compare.link")]
    shows(page, moved)
    page.close()


def test_a_preset_looks_chosen_only_if_it_is_what_is_set(visit):
    page, text = visit(SHORT), texts("en")
    label = text("presets.strong.name")

    def chosen():
        page.get_by_role("button", name=text("ui.presets")).click()
        names = marked(page, ":is([class*=st-key-other_], [class*=st-key-chosen_])")
        page.keyboard.press("Escape")
        return names

    assert chosen() == []
    page.get_by_role("button", name=text("ui.presets")).click()
    page.get_by_role("link", name=label, exact=True).click()
    becomes(lambda: parameters(page), PRESETS["strong"][1], "the address")
    settled(page)
    becomes(page.get_by_text(text("presets.strong.words")).count, 0, "presets that are unfolded")
    becomes(chosen, [label], "presets that look chosen")
    press(page, "gamma")
    becomes(lambda: "gamma" in parameters(page), True, "another γ")
    becomes(chosen, [], "presets that look chosen")


def test_what_a_preset_is_stands_under_its_name(visit):
    page, text = visit(SHORT), texts("en")
    page.get_by_role("button", name=text("ui.presets")).click()
    words = (text(f"presets.strong.{part}") for part in ("name", "words"))
    name, said = (bounds(page.get_by_text(each, exact=True)) for each in words)
    assert name["x"] == pytest.approx(said["x"], abs=1)
    assert name["y"] + name["height"] <= said["y"]


@pytest.mark.parametrize(
    "path", ["no%20page/x/y", "nope/deep/er", "app/x", "static/x/y", "_stcore/x"]
)
def test_an_address_below_a_missing_page_says_that_it_is_missing(contexts, server, path):
    """Below the root the browser asks for some things in vain, so its errors do not count."""
    page, text = contexts("en-US", "light", 0).new_page(), texts("en")
    page.goto(f"{server}{path}?gamma=0.5")
    page.get_by_role("dialog").get_by_text("Page not found").wait_for()
    page.locator("h1", has_text=text("pages.compare.title")).wait_for()
    page.close()


def test_an_address_below_a_page_leads_to_it(contexts, server):
    """Below the root the browser asks for some things in vain, so its errors do not count."""
    page, text = contexts("en-US", "light", 0).new_page(), texts("en")
    page.goto(f"{server}decay/x/y?gamma=0.5")
    page.get_by_role("heading", name=text("pages.decay.title"), exact=True).wait_for()
    assert page.evaluate("location.pathname") == "/decay"
    assert parameters(page) == {"gamma": "0.5"}
    assert page.request.get(f"{server}decay/_stcore/health").status == 404
    page.close()

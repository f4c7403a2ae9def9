"""What holds for every page: it is drawn at every preset, in every language, with few controls."""

import pytest
from streamlit.util import calc_hash

from tests.test_pages import SHORT, fresh
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import HOME, PAGES
from xpos_viz.ui.presets import PRESETS
from xpos_viz.ui.state import CONTROLS, OWN, from_address

each_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(autouse=True)
def steady(monkeypatch):
    """What the application puts into the environment ends with the test."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def opened(name, address):
    """A page at an address."""
    page = fresh(address)
    page._page_hash = "" if name == HOME else calc_hash(name)
    page.run()
    assert not page.exception
    return page


def controls(page):
    """The keys of the widgets that change something, beside those that every page has."""
    always = {"lang", "present", "share"}
    return {
        widget.key
        for kind in ("selectbox", "select_slider", "slider", "toggle", "number_input", "button")
        for widget in page.get(kind)
        if widget.key in {*CONTROLS, *OWN} - always
    }


@pytest.mark.parametrize("language", LANGUAGES)
@each_page
def test_a_page_has_its_title_question_and_code(name, language):
    page, text = opened(name, SHORT | {"lang": language}), texts(language)
    assert page.title[0].value == text(f"pages.{name}.title")
    said = [element.value for element in page.markdown]
    assert text(f"pages.{name}.question") in said
    assert text("ui.code") in [expander.label for expander in page.expander]
    assert [header.value for header in page.header].count(text("ui.notice")) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_legal_and_its_page_is_drawn(preset, language):
    name, address = PRESETS[preset]
    assert name in PAGES
    state, refused = from_address({**address, "lang": language})
    assert refused == []
    assert state.language == language
    page = opened(name, {**address, "lang": language})
    assert [warning.value for warning in page.warning] == []
    assert page.title[0].value == texts(language)(f"pages.{name}.title")


@each_page
def test_every_control_of_a_page_can_be_named_by_a_link(name):
    page = opened(name, SHORT)
    assert page.session_state["offered"] <= {*CONTROLS, *OWN}
    assert controls(page) <= page.session_state["offered"]


@each_page
def test_a_link_shows_the_controls_that_it_names(name):
    assert controls(opened(name, SHORT | {"show": "scale_base,layer"})) <= {"scale_base", "layer"}
    assert controls(opened(name, SHORT | {"show": "reset"})) <= {"reset"}

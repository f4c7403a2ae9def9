"""What holds for every page: it is drawn at every preset, in every language, with few controls."""

import pytest

from tests.apptest import SHORT, opened
from xpos_viz import decay_curve, xpos
from xpos_viz.state import CONTROLS, OWN, PRESETS, from_address
from xpos_viz.studies.resolving import resolution_of
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import PAGES

pytestmark = pytest.mark.usefixtures("steady")

PARTS = ("name", "words")
each_page = pytest.mark.parametrize("name", PAGES)


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
    page, text = opened(name, SHORT | {"lang": language, "teacher": "yes"}), texts(language)
    for _ in range(100):  # each run waits a moment for long work
        if page.header[0].value == text("ui.notice"):
            break
        page.run()
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


@pytest.mark.parametrize(("scale_base", "tokens", "name"), [(32, 300, "strong"), (1, 10, "wild")])
def test_presets_say_what_is_left(scale_base, tokens, name):
    encoding = xpos(64, scale_base=scale_base)
    before, after = (decay_curve(encoding, lag).item() / 32 for lag in (0.8 * tokens, tokens))
    assert before > 0.1
    assert after == pytest.approx(0.1, abs=0.015)
    assert f"B = {scale_base}" in "".join(texts("en")(f"presets.{name}.{part}") for part in PARTS)


def test_the_preset_of_blocks_keeps_the_resolution():
    name, address = PRESETS["blocks"]
    state, _ = from_address(address)
    _, encoding = state.experiment.encodings
    assert (name, state.long_length, state.block_size) == ("long", 65_536, 2048 // 2)
    kept, trained, lost = (
        resolution_of(encoding, mask, tokens, state.normalisation)
        for mask, tokens in (("blockwise:1024", 65_536), ("causal", 2048), ("causal", 65_536))
    )
    assert kept == pytest.approx(trained, rel=1e-3)
    assert lost < 0.01 * kept


def test_a_reset_keeps_what_a_link_shows():
    page = opened("decay", {"show": "gamma,reset", "present": "yes", "gamma": "2"})
    page.button(key="reset").click().run()
    assert not page.exception
    assert dict(page.query_params) == {"show": "gamma,reset", "present": "yes"}


def test_each_base_has_a_slider_where_they_are_apart():
    page = opened("decay", {"apart": "yes"})
    assert {"base", "xpos_base"} <= controls(page)
    page.select_slider(key="xpos_base").set_value(1000.0).run()
    assert dict(page.query_params) == {"base.1": "100000", "base.2": "1000"}

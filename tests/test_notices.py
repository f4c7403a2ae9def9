"""What is refused is said beside its control, in both languages, until the next change."""

from itertools import pairwise

import pytest
from streamlit.testing.v1.element_tree import Block

from tests.apptest import SHORT, again, opened
from tests.compare_page import opened as compared
from tests.compare_page import release
from xpos_viz.texts import LANGUAGES

pytestmark = pytest.mark.usefixtures("steady")

LAYER = {
    "en": "`layer = 24` cannot be used and is left out. Use one of: `3, 8, 16`.",
    "zh": "`layer = 24` 无法使用，已忽略。可用的值：`3, 8, 16`。",
}
LENGTH = {
    "en": "It must be a whole number (≤\u00a02048).",
    "zh": "须为整数（≤\u00a02048）。",
}
GAMMA = "`gamma = -1` cannot be used; `0.4` is used instead. It must be a number (>\u00a00)."
FACTOR = "`yarn.factor = much` cannot be used; `4` is used instead. It must be a number."


def elements(block):
    """All that is drawn in a block, from top to bottom."""
    for child in block.children.values():
        yield from elements(child) if isinstance(child, Block) else [child]


def above(page):
    """What stands directly above each notice: the key of a control, or a kind."""
    drawn = list(elements(page.main))
    return {
        after.value: getattr(before, "key", None) or before.type
        for before, after in pairwise(drawn)
        if after.type == "warning"
    }


def taken_away(page):
    """Run a page after two moves at once, of which the first takes the second's ground away."""
    page.selectbox(key="name").set_value("tidebook")
    page.button_group(key="layer").set_value(24)
    return again(page)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["compare", "pairs", "tokens"])
def test_a_refused_move_is_said_below_its_control_until_the_next_change(name, language):
    page = taken_away(opened(name, SHORT | {"lang": language}))
    assert above(page) == {LAYER[language]: "layer"}
    page = again(page.select_slider(key="head").set_value(5))
    assert above(page) == {}
    assert dict(page.query_params) == {"head": "5", "lang": language}


@pytest.mark.parametrize("language", LANGUAGES)
def test_more_than_is_shown_here_is_refused_in_the_language(language):
    page = opened("pairs", {"source": "random", "length": "99999999", "lang": language})
    (notice,) = page.warning
    assert notice.value.endswith(LENGTH[language])


def test_a_refused_setting_of_an_address_is_said_below_its_control():
    page = opened("decay", {"gamma": "-1", "curves": "yarn,xpos", "yarn.factor": "much"})
    assert above(page) == {GAMMA: "gamma", FACTOR: "yarn.factor"}
    assert [part.label for part in page.expander if part.proto.expanded] == ["YaRN"]
    page = again(page.select_slider(key="distance").set_value(64))
    assert above(page) == {}


@pytest.mark.parametrize("address", [{"show": "reset"}, {"curves": "rope"}], ids=str)
def test_what_has_no_control_here_is_said_above_the_title(address):
    page = opened("decay", {"gamma": "-1"} | address)
    assert above(page) == {GAMMA: "lang"}


def test_what_is_refused_of_a_picture_is_said_above_it():
    page = compared(SHORT | {"gamma": "-1", "stop": "0"})
    drawn = list(elements(page.main))
    place = next(
        i
        for i, element in enumerate(drawn)
        if element.type == "bidi_component" and "livemap" in element.proto.component_name
    )
    assert [element.type for element in drawn[place - 2 : place]] == ["warning", "warning"]
    page = release(page, stage="weights")
    assert not page.warning


def test_a_refused_move_in_a_picture_is_told():
    page = release(compared(SHORT), scale_base=64.0, gamma=0)
    because = "It must be a number (>\u00a00)."
    assert [warning.value for warning in page.warning] == [
        f"`scale_base = 64.0` cannot be used and is left out. {because}",
        f"`gamma = 0` cannot be used and is left out. {because}",
    ]
    page = release(page, scale_base=64.0)
    assert not page.warning


def test_few_of_many_are_named_one_by_one():
    page = opened("decay", {f"unknown{number}": "1" for number in range(9)})
    assert [warning.value for warning in page.warning] == [
        *(
            f"The address has a setting `unknown{number}` that does not exist here; it is ignored."
            for number in range(4)
        ),
        "More settings that cannot be used: 5.",
    ]

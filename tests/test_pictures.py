"""The pictures of each page from the state alone: those that the page draws, with their numbers."""

import re

import pytest

from tests.apptest import SHORT, opened
from xpos_viz.pictures import PICTURES
from xpos_viz.state import PRESETS, from_address
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.ui import PAGES

pytestmark = pytest.mark.usefixtures("steady")

ADDRESSES = (
    ("learn", {"lesson": "shift", "teacher": "yes"}),
    ("decay", {"curves": "xpos,alibi", "distance": "64", "axis": "log"}),
    ("pairs", SHORT | {"pair_encoding": "yarn"}),
    ("tokens", {"name": "harbour", "query": "4"}),
    ("layers", SHORT | {"measure": "distance"}),
    ("long", {"long_length": "4096", "compare_masks": "yes"}),
    ("precision", {"formats": "float16", "text_length": "256"}),
    ("neighbours", SHORT | {"left": "nope", "right": "alibi", "distance": "64"}),
    ("choose", {"goal_length": "64", "second_goal": "headroom"}),
    ("lab", {"lab_size": "quick", "blocks": "yes"}),
)


def drawn(name, address, language):
    """What the page draws: the alternative texts of its charts."""
    page = opened(name, address | {"lang": language})
    for _ in range(100):  # each run waits a moment for long work
        if page.get("plotly_chart"):
            break
        page.run()
    return [chart.proto.alt for chart in page.get("plotly_chart")]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "address"), ADDRESSES, ids=[name for name, _ in ADDRESSES])
def test_a_page_draws_its_pictures_and_no_others(name, address, language):
    state, refused = from_address(address)
    assert not refused
    pictures = PICTURES[name](state, texts(language))
    assert [picture.description.alt for picture in pictures] == drawn(name, address, language)


@pytest.mark.parametrize(("name", "address"), [*ADDRESSES, *PRESETS.values()])
def test_each_picture_has_a_name_for_a_file_and_numbers(name, address):
    state, _ = from_address(address)
    pictures = PICTURES[name](state, texts("en"))
    names = [picture.name for picture in pictures]
    assert len(set(names)) == len(names) >= 2 - (name in ("decay", "layers", "learn"))
    for picture in pictures:
        assert re.fullmatch("[a-z_]+", picture.name)
        table = picture.table()
        assert len(table) > 0
        assert table.select_dtypes("number").shape[1] > 0


@pytest.mark.parametrize(("name", "address"), [*ADDRESSES, *PRESETS.values()])
def test_alternative_texts_are_chinese_throughout(name, address):
    """A space parts Chinese characters from letters and numbers, and nothing else."""
    state, _ = from_address(address)
    wrong = r"[\u4e00-\u9fff][!-~]|[!-~][\u4e00-\u9fff]|[。，；：）] "
    for picture in PICTURES[name](state, texts("zh")):
        assert re.findall(wrong, picture.description.alt) == []


def test_every_page_has_its_pictures():
    assert list(PICTURES) == list(PAGES)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("decay", {"curves": ""}),
        ("tokens", {"source": "expectation"}),
        ("layers", {"source": "expectation"}),
        ("precision", {"formats": ""}),
    ],
)
def test_nothing_chosen_is_no_picture(name, address):
    state, refused = from_address(address)
    assert not refused
    assert PICTURES[name](state, texts("en")) == ()

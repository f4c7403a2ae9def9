"""A page of each kind with its pictures, and their recipes."""

import pytest

from xpos_viz.export import FORMS, Recipe
from xpos_viz.figures.files import Paper
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import texts

SMALL = {"name": "pronoun"}
PAGES = {
    "compare": SMALL,
    "learn": {"lesson": "shift"},
    "decay": {"curves": "xpos,alibi", "distance": "64"},
    "pairs": SMALL,
    "tokens": SMALL,
    "layers": SMALL,
    "long": {"long_length": "4096"},
    "precision": {"formats": "float16", "text_length": "256"},
    "neighbours": SMALL | {"left": "nope", "distance": "64"},
    "choose": {"goal_length": "64", "second_goal": "headroom"},
    "lab": {"lab_size": "quick", "models": "rope,xpos_half"},
}
WITH_RECIPE = [form for form in FORMS if form != "csv"]
SLIDE = Paper("slide", "dark", "Was man sieht: γ “…” <b>")
each_page = pytest.mark.parametrize("page", PAGES)


def shown(page, language="en"):
    """The state of a page, and its pictures."""
    state, refused = from_address(PAGES[page])
    assert not refused
    return state, PICTURES[page](state, texts(language))


def one(page="compare", language="en"):
    """The first picture of a page and its recipe."""
    state, (picture, *_) = shown(page, language)
    return picture, Recipe.of(page, (picture,), state, language)

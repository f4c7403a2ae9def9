"""A file that is cut off or damaged is refused, or read right."""

import re
from functools import cache
from traceback import walk_tb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.taken import WITH_RECIPE, one
from xpos_viz.export import Recipe, bundle, make, reproduce
from xpos_viz.export.animation import animate
from xpos_viz.export.sweeps import sweep
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import texts


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_drawing_that_is_cut_off_is_not_made_again(form):
    picture, recipe = one()
    whole = make(picture, form, recipe)
    for end in (len(whole) // 2, len(whole) - 8):
        with pytest.raises(ValueError, match=f"the {form.upper()} is (damaged|cut off).*a whole"):
            reproduce(whole[:end])


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*WITH_RECIPE, "zip", "gif"]), st.data())
def test_what_is_damaged_is_refused_or_read_right(form, data):
    """There is no other error, and no other numbers are said to be the same."""
    content = bytearray(files()[form])
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(1, len(content) - 1))]
    else:
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
    made, refusal = attempt(bytes(content))
    if refusal is None:
        assert made.same <= (made.recipe.numbers == reproduce(files()[form]).recipe.numbers)
    else:
        *_, (frame, _) = walk_tb(refusal.__traceback__)
        assert frame.f_globals["__name__"].startswith("xpos_viz.")
        assert re.search("; (use|the file|a command)|usual value", str(refusal))


def attempt(content) -> Any:
    """What is made again, or why not."""
    try:
        return reproduce(content), None
    except ValueError as error:
        return None, error


@cache
def files():
    """Small files of all kinds."""
    state, _ = from_address({"distance": "8", "curves": "rope"})
    (picture,), english = PICTURES["decay"](state, texts("en")), texts("en")
    recipe = Recipe.of("decay", (picture,), state, "en")
    moving = sweep("decay", "decay", state, "base", (1e4,), english)
    return {
        **{form: make(picture, form, recipe) for form in WITH_RECIPE},
        "zip": bundle("decay", state, "en"),
        "gif": animate(moving, "gif", recipe.moving(moving), english),
    }

"""Files say how they are made again, and a changed number is noticed."""

import re
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.taken import SLIDE, SMALL, WITH_RECIPE, each_page, one, shown
from xpos_viz.encoding import REGISTRY
from xpos_viz.export import Recipe, bundle, make, reproduce
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.export.data import RECIPE, arrays, npz, parquet, tidy
from xpos_viz.export.handout import handout
from xpos_viz.export.recipe import fingerprint
from xpos_viz.export.sweeps import sweep
from xpos_viz.figures.files import Paper
from xpos_viz.pictures import PICTURES
from xpos_viz.state import OWN, from_address, recorded
from xpos_viz.texts import LANGUAGES, texts


@pytest.mark.parametrize("form", WITH_RECIPE)
@each_page
def test_a_file_says_how_to_make_it_again(page, form):
    state, pictures = shown(page, "zh")
    for picture in pictures:
        link = "https://host.example/a?b=c"
        recipe = Recipe.of(page, (picture,), state, "zh", link=link, paper=SLIDE)
        made = reproduce(make(picture, form, recipe))
        assert made.recipe == recipe
        assert (made.recipe.link, made.recipe.paper, made.moving) == (link, SLIDE, None)
        assert made.same
        (again,) = made.pictures
        pd.testing.assert_frame_equal(again.table(), picture.table())


def test_a_changed_number_is_noticed():
    picture, recipe = one()
    content = make(picture, "npz", replace(recipe, numbers=fingerprint("other")))
    assert not reproduce(content).same


@pytest.mark.parametrize("form", MOVING)
@pytest.mark.parametrize(
    ("page", "address", "parameter", "values"),
    [
        ("compare", SMALL, "scale_base", (8, 512)),
        ("compare", {"source": "random", "length": "30", "head_dim": "8"}, "length", (3, 30)),
        ("decay", {"distance": "64"}, "gamma", (0.1, 1 / 3)),
        ("long", {"long_length": "256"}, "base", (10.5, 1e4)),
    ],
    ids=["maps", "length", "curves", "long"],
)
def test_a_picture_in_motion_says_how_to_make_it_again(page, address, parameter, values, form):
    state, _ = from_address(address)
    (picture, *_), text = PICTURES[page](state, texts("zh")), texts("zh")
    moving = sweep(page, picture.name, state, parameter, values, text)
    recipe = Recipe.of(page, (picture,), state, "zh", paper=Paper("column", "dark")).moving(moving)
    made = reproduce(animate(moving, form, recipe, text))
    assert made.recipe == recipe
    assert made.same
    assert made.moving is not None
    assert (made.moving.parameter, made.moving.values) == (parameter, values)
    assert fingerprint(made.moving.frames) == fingerprint(moving.frames)
    assert made.recipe.numbers != Recipe.of(page, (picture,), state, "zh").numbers
    other = replace(recipe, sweep={**recipe.sweep, "values": f"{values[0]},{values[0]}"})
    assert not reproduce(other.text().encode()).same


def test_numbers_that_were_changed_after_they_were_written_are_noticed():
    picture, recipe = one("decay")
    held = {RECIPE: np.array(recipe.text()), **dict(arrays(picture.description))}
    moved = held["y_0"].copy()
    moved[3] += 1
    assert reproduce(npz(held)).same
    assert not reproduce(npz({**held, "y_0": moved})).same
    assert not reproduce(npz({name: held[name] for name in held if name != "y_0"})).same
    table, told = tidy(picture), {RECIPE: recipe.text()}
    changed = pd.concat([table.iloc[1:], table.iloc[:1]], ignore_index=True)
    assert reproduce(parquet(table, told)).same
    assert not reproduce(parquet(table.iloc[:-1], told)).same
    assert not reproduce(parquet(changed, told)).same


def test_a_bundle_with_changed_numbers_is_noticed():
    state, _ = from_address({"distance": "64"})
    whole, file = bundle("decay", state, "en"), BytesIO()
    assert reproduce(whole).same
    with ZipFile(BytesIO(whole)) as old, ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content[:-3] + b"7\n" if name.endswith(".csv") else content)
    assert not reproduce(file.getvalue()).same


def pages():
    """A hand-out, and a page in motion."""
    state, pictures = shown("compare")
    whole = Recipe.of("compare", pictures, state, "en")
    yield handout(state, texts("en"), whole.text())
    moving = sweep("compare", "decay", state, "gamma", (0.1, 0.4), texts("en"))
    recipe = Recipe.of("compare", pictures[1:], state, "en").moving(moving)
    yield animate(moving, "html", recipe, texts("en")).decode()


def test_a_page_with_changed_numbers_is_noticed():
    for page in pages():
        assert reproduce(page.encode()).same
        start = re.search('id="(sweep|payload)">', page)
        assert start is not None
        place = start.end() + 1000
        changed = page[:place] + ("7" if page[place] != "7" else "8") + page[place + 1 :]
        assert not reproduce(changed.encode()).same


@settings(max_examples=30, deadline=None)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "gamma": st.floats(0.1, 1.0).map(str),
            "stage": st.sampled_from(["scores", "weights"]),
            "distance": st.integers(1, 1_000_000).map(str),
            "curves": st.lists(st.sampled_from(sorted(REGISTRY)), unique=True).map(",".join),
            "lang": st.sampled_from(sorted(LANGUAGES)),
            **{name: st.just(str(value * 1.5)) for name, value in list(OWN.items())[:3]},
        },
    )
)
def test_what_is_recorded_restores_the_state(address):
    state, _ = from_address(address)
    again, refused = from_address(recorded(state))
    assert not refused
    assert again == state

"""What cannot be made again is refused, and the message says why."""

import json
from dataclasses import replace

import pytest

from tests.export.taken import one
from xpos_viz.export import Recipe, make, reproduce
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import texts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"hello",
            (
                "a recipe is the JSON that stands in figures made by xpos_viz, got 'hello'; use "
                "such a file, or the recipe.json of a bundle; a command is run again."
            ),
        ),
        (
            b"[" * 200_000,
            (
                f"a recipe is the JSON that stands in figures made by xpos_viz, got '{'[' * 119}; "
                "use such a file, or the recipe.json of a bundle; a command is run again."
            ),
        ),
        (b"GIF89a no picture;", "this GIF file cannot be read; use a whole file."),
        (b"GIF89a no picture", "the GIF is cut off; use a whole file."),
        (b"<!doctype html><html>", "the page is cut off; use a whole file."),
        (
            b'<script type="application/json" id="xpos_viz">\xff</script>',
            (
                "a recipe is the JSON that stands in figures made by xpos_viz, got '�'; use such a "
                "file, or the recipe.json of a bundle; a command is run again."
            ),
        ),
        (
            b'<script type="application/json" id="xpos_viz">{"xpos_viz": 1}</script>',
            (
                "a recipe is the JSON that stands in figures made by xpos_viz, got "
                "'{\"xpos_viz\": 1}'; use such a file, or the recipe.json of a bundle; a command "
                "is run again."
            ),
        ),
        (
            b"PK\x03\x04 no archive",
            "this archive cannot be read: File is not a zip file; use a whole file.",
        ),
        (
            b"\x89PNG\r\n\x1a\n",
            "the PNG is damaged at byte 8; use a whole file.",
        ),
        (
            b"<svg></svg>",
            (
                "this SVG has no recipe of xpos_viz in its metadata; use a file as xpos_viz wrote "
                "it: other programs may leave metadata out."
            ),
        ),
    ],
)
def test_other_files_are_refused(content, message):
    with pytest.raises(ValueError) as caught:
        reproduce(content)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"page": "home"},
            (
                "unknown page 'home'; use one of: compare, learn, decay, pairs, tokens, layers, "
                "long, precision, neighbours, choose, lab."
            ),
        ),
        (
            {"picture": "map"},
            "unknown picture 'map' of the page 'compare'; use one of: scores, decay.",
        ),
        (
            {"settings": {"gamma": "no"}, "versions": {"xpos_viz": "9.9"}},
            "these settings cannot be used here: gamma=no; the file was made by xpos_viz 9.9.",
        ),
        (
            {"sweep": {"parameter": "gamma", "values": "0.4,,a"}},
            (
                "a recipe has the values of a sweep between commas, got '0.4,,a'; use a file as "
                "xpos_viz wrote it."
            ),
        ),
        (
            {"sweep": {"parameter": "gamma", "values": "nan"}},
            "gamma must be a finite number > 0, got nan; the usual value is 0.4.",
        ),
        (
            {"sweep": {"parameter": "gamma", "values": ",".join(["0.4"] * 101)}},
            "a sweep has at most 100 values, got 101; leave some out.",
        ),
        (
            {"sweep": {"values": "0.4"}},
            "'' does not move scores; use one of: gamma, scale_base, base.",
        ),
    ],
)
def test_a_recipe_that_cannot_be_used_is_refused(changes, message):
    picture, recipe = one()
    with pytest.raises(ValueError) as caught:
        reproduce(make(picture, "png", replace(recipe, **changes)))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"page": {"a": "b"}},
        {"settings": "gamma"},
        {"settings": [["gamma", "1"]]},
        {"versions": {"torch": 2}},
        {"paper": "slide"},
        {"paper": {"size": "poster"}},
        {"paper": {"colour": "red"}},
        {"sweep": None},
        {"sweep": {"parameter": "gamma", "values": [0.4]}},
    ],
    ids=str,
)
def test_a_recipe_of_another_form_is_refused(changes):
    text = json.dumps({"xpos_viz": json.loads(one()[1].text())["xpos_viz"] | changes})
    with pytest.raises(ValueError) as caught:
        reproduce(text.encode())
    assert str(caught.value) == (
        f"a recipe is the JSON that stands in figures made by xpos_viz, got {text!r:.120}; use "
        "such a file, or the recipe.json of a bundle; a command is run again."
    )


def test_a_length_without_an_end_is_refused():
    state, _ = from_address({"source": "random", "length": "30", "head_dim": "8"})
    (picture, *_) = PICTURES["compare"](state, texts("en"))
    recipe = Recipe.of("compare", (picture,), state, "en")
    swept = replace(recipe, sweep={"parameter": "length", "values": "inf"})
    with pytest.raises(ValueError) as caught:
        reproduce(swept.text().encode())
    assert str(caught.value) == "length must be a whole number of tokens, got inf; round it."


def test_other_data_are_asked_for():
    picture, recipe = one()
    content = make(picture, "svg", replace(recipe, data="0123456789abcdef"))
    with pytest.raises(ValueError) as caught:
        reproduce(content)
    assert str(caught.value) == (
        "the file was made from queries and keys with the fingerprint 0123456789ab…, got "
        f"{recipe.data[:12]}…; use the bundle that contains them."
    )


def test_a_page_that_has_no_hand_out_is_refused():
    recipe = one("decay")[1].text()
    page = f'<!doctype html><script type="application/json" id="xpos_viz">{recipe}</script></html>'
    with pytest.raises(ValueError) as caught:
        reproduce(page.encode())
    assert str(caught.value) == "unknown hand-out 'decay'; use one of: compare, learn."

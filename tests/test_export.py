"""Files to take along: numbers read back, recipes found again, nothing left half-written."""

import json
import math
import re
from dataclasses import replace
from functools import cache
from io import BytesIO
from traceback import walk_tb
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.export import FORMS, Recipe, bundle, make, reproduce
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.export.citations import bibliography
from xpos_viz.export.data import RECIPE, UNITS, arrays, npz, parquet, tidy
from xpos_viz.export.handout import handout
from xpos_viz.export.recipe import fingerprint
from xpos_viz.export.sweeps import sweep
from xpos_viz.figures.files import Paper
from xpos_viz.pictures import PICTURES
from xpos_viz.state import OWN, from_address, recorded
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.writing import write

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


def test_a_gif_is_drawn_on_its_paper():
    state, (picture, *_) = shown("decay")
    moving = sweep("decay", "decay", state, "gamma", (0.4,), texts("en"))
    recipe = Recipe.of("decay", (picture,), state, "en", paper=SLIDE).moving(moving)
    with Image.open(BytesIO(animate(moving, "gif", recipe, texts("en")))) as image:
        assert image.size == (960, 540)
        assert np.asarray(image.convert("RGB"))[2, 2].max() < 60


def test_an_unknown_form_of_motion_is_refused():
    state, (picture, *_) = shown("decay")
    moving = sweep("decay", "decay", state, "gamma", (0.4,), texts("en"))
    with pytest.raises(ValueError) as caught:
        animate(moving, "mp4", Recipe.of("decay", (picture,), state, "en"), texts("en"))
    assert str(caught.value) == "unknown form 'mp4'; use one of: html, gif."


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_a_drawing_that_is_cut_off_is_not_made_again(form):
    picture, recipe = one()
    whole = make(picture, form, recipe)
    for end in (len(whole) // 2, len(whole) - 8):
        with pytest.raises(ValueError, match=f"the {form.upper()} is (damaged|cut off).*a whole"):
            reproduce(whole[:end])


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


@each_page
def test_tables_are_read_back_with_units(page):
    _, pictures = shown(page)
    for picture in pictures:
        recipe = one(page)[1]
        table = tidy(picture)
        assert list(table.columns) != list(picture.table().columns)
        names = [str(name) for name in picture.table()]
        assert [re.sub(r" \[(tokens|log10)\]$", "", str(name)) for name in table] == names
        assert all(f"{name} [{UNITS[name]}]" in table for name in names if name in UNITS)
        read = pd.read_parquet(BytesIO(make(picture, "parquet", recipe)))
        pd.testing.assert_frame_equal(read, table)
        read = pd.read_csv(BytesIO(make(picture, "csv", recipe)))
        assert list(read.columns) == list(table.columns)
        numbers = table.select_dtypes("number")
        back = read[numbers.columns].to_numpy(float)
        np.testing.assert_array_equal(back, numbers.to_numpy(float))


@each_page
def test_units_are_those_of_the_values(page):
    """Tokens are whole, or half where a cell has an even number of them; means lie between.

    No header says a thing twice.
    """
    for table in map(tidy, shown(page)[1]):
        for name in map(str, table):
            assert not re.fullmatch(r"(\w+) \[\1\]", name)
            if name.endswith("[tokens]") and not name.startswith(("length", "distance")):
                twice = 2 * table[name].dropna().to_numpy(float)
                assert (twice == twice.round()).all(), name


def test_digits_are_logarithms_of_the_largest_numbers():
    state, (sizes, _) = shown("precision")
    table, xpos = tidy(sizes), state.encoding("xpos")
    growth = ((1 + xpos["gamma"]) / xpos["gamma"]) ** (1 / xpos["scale_base"])  # of the first pair
    last = table["length [tokens]"].to_numpy() - 1
    for name, farthest in (("start [log10]", last), ("centred [log10]", last / 2)):
        np.testing.assert_allclose(table[name], farthest * math.log10(growth), rtol=1e-9)


@each_page
def test_arrays_are_those_that_are_drawn(page):
    state, pictures = shown(page)
    for picture in pictures:
        recipe = Recipe.of(page, (picture,), state, "en")
        with np.load(BytesIO(make(picture, "npz", recipe)), allow_pickle=False) as read:
            drawn = dict(arrays(picture.description))
            assert set(read.files) == {"xpos_viz", *drawn}
            for name, values in drawn.items():
                np.testing.assert_array_equal(read[name], values)


@pytest.mark.parametrize(("page", "language"), [*((page, "zh") for page in PAGES), ("pairs", "en")])
def test_a_bundle_has_everything_and_can_be_rebuilt(page, language):
    state, pictures = shown(page, language)
    shares = []
    content = bundle(page, state, language, report=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        files = {f"{picture.name}.{form}" for picture in pictures for form in FORMS}
        rest = {"captions.txt", "references.bib", "recipe.json", "rebuild.ipynb"}
        assert names == files | rest
        captions = archive.read("captions.txt").decode()
        notebook = json.loads(archive.read("rebuild.ipynb"))
        assert archive.read("references.bib").decode().count("@misc{") >= 1
    assert all(picture.description.alt in captions for picture in pictures)
    made = reproduce(content)
    assert made.same
    assert [each.name for each in made.pictures] == [each.name for each in pictures]
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)


def test_a_page_without_a_picture_has_no_bundle():
    state, _ = from_address({"curves": ""})
    with pytest.raises(ValueError) as caught:
        bundle("decay", state, "en")
    message = "the page 'decay' shows no picture with these settings; choose more."
    assert str(caught.value) == message


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


def test_every_family_is_cited_once():
    encodings = [Encoding(name, (("head_dim", 64),)) for name in REGISTRY if "t5" not in name]
    entries = bibliography([*encodings, *encodings])
    keys = re.findall(r"@misc\{(\w+),", entries)
    assert len(set(keys)) == len(keys) == 10
    for family in REGISTRY.values():
        number = re.search(r"arXiv:([\d.]+\d)", family.source)
        assert number is not None
        assert number[1] in entries or "t5" in family.name


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
                "long, precision, neighbours."
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


def test_an_unknown_form_is_refused():
    picture, recipe = one()
    with pytest.raises(ValueError) as caught:
        make(picture, "docx", recipe)
    legal = "png, svg, pdf, csv, parquet, npz"
    assert str(caught.value) == f"unknown form 'docx'; use one of: {legal}."


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    write(path, b"old")

    def half(beside, content):
        with beside.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", half)
    with pytest.raises(OSError) as caught:
        write(path, b"new")
    assert str(caught.value) == (
        f"{path} could not be written: no space left on device; use a folder that exists, may be "
        "written to, and has room for 3 bytes."
    )
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.png"]

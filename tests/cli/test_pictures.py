"""Pictures, pages and motion of the command line, and all of them made again."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageSequence

from tests.cli.command import call
from xpos_viz.export import reproduce
from xpos_viz.figures.files import Paper
from xpos_viz.lessons.longer import measured
from xpos_viz.state import from_address
from xpos_viz.studies.decay import Reading, table, trace


@pytest.mark.parametrize(
    "words",
    [
        ("decay", "--curves", "alibi,yarn", "--distance", "64", "--yarn.factor", "8"),
        ("--link", "https://a.b/c/decay?curves=alibi,yarn&distance=64&yarn.factor=8"),
        ("--preset", "long", "--base", "1e4", "--curves", "alibi,yarn", "--distance", "64",
         "--yarn.factor", "8", "--axis", "linear", "--head-dim", "64"),
    ],
    ids=["options", "link", "preset"],
)  # fmt: skip
def test_a_figure_has_the_numbers_of_its_settings(words, tmp_path):
    path = tmp_path / "curves.csv"
    base = () if words[0] == "--preset" else ("--base", "1e4")
    printed, said, code = call("figure", *words, *base, "--out", path)
    assert (printed, code) == ("", 0), said
    state, _ = from_address({"yarn.factor": "8", "base": "10000"})
    encodings = [state.encoding(name) for name in ("alibi", "yarn")]
    expected = table([trace(e, Reading(), 64, logarithmic=False) for e in encodings])
    expected = expected.rename(columns={"lag": "lag [tokens]"})
    pd.testing.assert_frame_equal(pd.read_csv(path), expected, check_dtype=False)


def test_a_figure_is_drawn_in_the_language_that_is_chosen(tmp_path):
    for language, words in (("en", "token"), ("zh", "词元")):
        path = tmp_path / f"{language}.svg"
        assert call("figure", "decay", "--lang", language, "--out", path)[2] == 0
        assert words in path.read_text(encoding="utf-8")


def test_a_figure_may_be_a_dark_slide_with_a_caption(tmp_path):
    path = tmp_path / "slide.svg"
    options = ("--size", "slide", "--mode", "dark", "--caption", "What falls, and what wavers.")
    assert call("figure", "decay", *options, "--out", path)[2] == 0
    drawn = path.read_text(encoding="utf-8")
    assert "What falls, and what wavers." in drawn
    assert call("figure", "decay", "--out", tmp_path / "page.svg")[2] == 0
    plain = (tmp_path / "page.svg").read_text(encoding="utf-8")
    assert re.findall('viewBox="[^"]+"', drawn)[0] != re.findall('viewBox="[^"]+"', plain)[0]


def test_a_long_figure_shows_its_progress(tmp_path):
    path = tmp_path / "long.png"
    _, said, code = call("figure", "long", "--long-length", 128, "--out", path)
    assert (said, code) == (
        f"Computing the maps…\nWrote {path}: {path.stat().st_size:,} bytes.\n",
        0,
    )
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "name", "start"),
    [
        (("compare",), "all.zip", b"PK"),
        (("compare",), "handout.html", b"<!doctype html>"),
        (("compare", "--sweep", "gamma", "--values", "0.1,1"), "moving.gif", b"GIF8"),
        (("decay", "decay", "--sweep", "scale_base"), "moving.html", b"<!doctype html>"),
    ],
)
def test_what_is_exported_can_be_made_again(words, name, start, tmp_path):
    path, again = tmp_path / name, tmp_path / "again.png"
    small = ("--name", "pronoun", "--distance", "64")
    printed, said, code = call("export", *words, *small, "--out", path)
    assert (printed, code) == ("", 0), said
    assert path.read_bytes()[: len(start)].lower() == start.lower()
    printed, said, code = call("reproduce", path, "--out", again)
    assert code == 0, said
    assert said.startswith("Making it again…\n")
    assert json.loads(printed)["xpos_viz"]["page"] == words[0]
    assert said.endswith("All numbers are those of the file's recipe, to the last bit.\n")
    assert again.read_bytes().startswith(b"\x89PNG")


def test_a_figure_is_made_again_on_its_paper_or_on_another(tmp_path):
    first, again, other = (tmp_path / name for name in ("a.svg", "b.svg", "c.svg"))
    paper = ("--size", "slide", "--mode", "dark", "--caption", "One & all.")
    assert call("figure", "decay", "--distance", "64", *paper, "--out", first)[2] == 0
    assert call("reproduce", first, "--out", again)[2] == 0
    assert drawing(again) == drawing(first)
    assert call("reproduce", again, "--mode", "light", "--caption", "", "--out", other)[2] == 0
    plain = tmp_path / "d.svg"
    words = ("--distance", "64", "--size", "slide", "--out", plain)
    assert call("figure", "decay", *words)[2] == 0
    assert drawing(other) == drawing(plain) != drawing(first)


def drawing(path):
    """An SVG without what says when and by what command it was made."""
    return re.sub("<metadata>.*?</metadata>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_a_picture_in_motion_moves_again(tmp_path):
    first, again, page = (tmp_path / name for name in ("a.gif", "b.gif", "c.html"))
    words = ("--distance", "64", "--sweep", "base", "--values", "100,1e3,1e4", "--size", "slide")
    assert call("export", "decay", *words, "--out", first)[2] == 0
    for path in (again, page):
        printed, said, code = call("reproduce", first, "--out", path)
        assert code == 0, said
        assert json.loads(printed)["xpos_viz"]["sweep"]["parameter"] == "base"
    with Image.open(first) as one, Image.open(again) as other:
        frames = [list(map(pixels, ImageSequence.Iterator(image))) for image in (one, other)]
    assert len(frames[0]) == 3
    np.testing.assert_array_equal(frames[0], frames[1])
    assert call("reproduce", page)[2] == 0
    assert call("figure", "decay", "--distance", "64", "--out", tmp_path / "still.png")[2] == 0
    _, said, code = call("reproduce", tmp_path / "still.png", "--out", tmp_path / "d.gif")
    assert code == 2
    assert said.endswith(
        "the file does not move, got the ending .gif; use png, svg, pdf, csv, parquet, npz, zip, "
        "html.\n"
    )


@pytest.mark.parametrize("form", ["zip", "html"])
def test_all_of_a_page_is_made_again(form, tmp_path):
    first, again = tmp_path / f"a.{form}", tmp_path / f"b.{form}"
    link = "https://example.org/compare?name=pronoun"
    paper = ("--size", "column", "--mode", "dark")
    assert call("export", "--link", link, *paper, "--out", first)[2] == 0
    assert call("reproduce", first, "--out", again)[2] == 0
    one, other = (reproduce(path.read_bytes()) for path in (first, again))
    assert other.same
    assert (one.recipe.page, one.recipe.paper) == ("compare", Paper("column", "dark"))
    for name in ("page", "picture", "settings", "paper", "numbers", "data", "link"):
        assert getattr(one.recipe, name) == getattr(other.recipe, name)


def pixels(frame):
    """The colours of a frame."""
    return np.asarray(frame.convert("RGB"))


def test_the_recipe_of_a_csv_stands_beside_it(tmp_path):
    path = tmp_path / "curves.csv"
    _, said, code = call("figure", "decay", "--distance", "64", "--out", path)
    beside = tmp_path / "curves.recipe.json"
    assert code == 0
    told = [f"Wrote {each}: {each.stat().st_size:,} bytes." for each in (path, beside)]
    assert said.splitlines() == told
    assert {*tmp_path.iterdir()} == {path, beside}
    assert call("reproduce", beside, "--out", tmp_path / "again.csv")[2] == 0
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()


def test_a_file_without_a_recipe_is_a_failure():
    printed, said, code = call("reproduce", "README.md")
    assert (printed, code) == ("", 1)
    assert said.endswith(
        f"\nError: README.md: a recipe is the JSON that stands in figures made by xpos_viz, got "
        f"{Path('README.md').read_text(encoding='utf-8')!r:.120}; use such a file, or the "
        "recipe.json of a bundle; a command is run again.\n"
    )


def test_of_times_it_is_told_that_they_are_measured_anew(tmp_path):
    path = tmp_path / "a.svg"
    assert call("figure", "learn", "--lesson", "cost", "--out", path)[2] == 0
    measured.cache_clear()
    _, said, code = call("reproduce", path)
    words = f"the numbers are not those of {path}; they are times, which were measured then"
    assert (said, code) == (f"Making it again…\nError: {words}, and anew now.\n", 1)


def test_a_file_with_other_numbers_is_told(tmp_path, monkeypatch):
    path = tmp_path / "a.svg"
    assert call("figure", "decay", "--distance", "64", "--out", path)[2] == 0
    monkeypatch.setattr("xpos_viz.export.reproduction.fingerprint", lambda _: "other")
    _, said, code = call("reproduce", path)
    assert code == 1
    words = f"Error: the numbers are not those of {path}; it was made with xpos_viz"
    assert said.startswith(f"Making it again…\n{words}")

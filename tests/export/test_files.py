"""Files are of a known form, on their paper, and written whole or not at all."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.export.taken import SLIDE, one, shown
from xpos_viz.export import Recipe, make
from xpos_viz.export.animation import animate
from xpos_viz.export.sweeps import sweep
from xpos_viz.texts import texts
from xpos_viz.writing import write


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

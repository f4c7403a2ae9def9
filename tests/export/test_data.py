"""Files made from queries and keys that somebody brought: they ask for them, or hold them."""

import json
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from tests.test_capture import random
from xpos_viz import Capture, apply_encoding, read_capture, rope, save_capture
from xpos_viz.cli import main
from xpos_viz.export import Recipe, bundle, make, reproduce
from xpos_viz.export.held import DATA, recipe_in
from xpos_viz.inputs import Captured
from xpos_viz.inputs.captured import STORE, keep
from xpos_viz.pictures import PICTURES
from xpos_viz.pooling import pooled_map
from xpos_viz.state import State, from_address, opening
from xpos_viz.texts import texts


@pytest.fixture
def forgotten(monkeypatch):
    """A function that forgets all that is kept, as another process does."""

    def forget():
        monkeypatch.setattr(STORE, "_kept", type(STORE._kept)())
        monkeypatch.setattr(STORE, "_used", type(STORE._used)())

    return forget


def capture(dtype=torch.float32):
    """A capture of five tokens."""
    return Capture(*random(dtype=dtype), tokens=tuple("abcde"), model="mine")


def message(function, *args, **words):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **words)
    return str(caught.value)


def figure(data, form="npz"):
    """A file of the first picture of a page."""
    state = State(opening("capture", data))
    shown = PICTURES["tokens"](state, texts("en"))[0]
    return make(shown, form, Recipe.of("tokens", (shown,), state, "en"))


@pytest.mark.parametrize("form", ["npz", "png", "svg", "parquet"])
def test_a_figure_asks_for_its_data_by_their_hash(form, forgotten):
    made, brought = figure(keep(capture()), form), capture()
    recipe = Recipe.read(recipe_in(made))
    assert recipe.data == recipe.settings["data"] == brought.hash
    assert f"data={brought.hash}" in recipe.link
    assert reproduce(made).same
    forgotten()
    assert message(reproduce, made) == (
        f"this link asks for data with the hash {brought.hash[:12]}…, which are not here; use the "
        "file that it was made from: upload it again, or name it by --data."
    )
    other = Capture(*random(head_dim=16))
    assert message(reproduce, made, data=other) == (
        f"the file was made from queries and keys with the fingerprint {brought.hash[:12]}…, got "
        f"{other.hash[:12]}…; use the file that it was made from, read in the same way."
    )
    assert reproduce(made, data=brought).same


@pytest.mark.parametrize(
    ("dtype", "suffix"), [(torch.float16, ".npz"), (torch.bfloat16, ".safetensors")]
)
def test_a_bundle_has_its_data_within(dtype, suffix, forgotten, tmp_path, monkeypatch):
    brought = capture(dtype)
    made = bundle("tokens", State(opening("capture", keep(brought))), "en")
    forgotten()
    assert reproduce(made).same
    with ZipFile(BytesIO(made)) as archive:
        archive.extractall(tmp_path)
    assert read_capture(tmp_path / DATA[suffix]).hash == brought.hash
    cells = json.loads((tmp_path / "rebuild.ipynb").read_text("utf-8"))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert f'data=read_capture("{DATA[suffix]}")' in code[0]
    forgotten()
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code[0].replace("made.same", "same = made.same"), "notebook", "exec"), names)
    assert names["same"] is True


def test_other_bundles_have_no_data():
    made = bundle("tokens", State(opening("sample", "pronoun")), "en")
    with ZipFile(BytesIO(made)) as archive:
        assert not set(archive.namelist()) & set(DATA.values())
        assert "read_capture" not in archive.read("rebuild.ipynb").decode()


def test_data_of_a_bundle_that_are_too_large_are_not_read(monkeypatch):
    made = bundle("tokens", State(opening("capture", keep(capture()))), "en")
    monkeypatch.setattr("xpos_viz.export.held.LIMITS", type(STORE._limits)(upload=10))
    assert message(reproduce, made).startswith(
        "queries and keys must be at most 10 bytes, got data"
    )


def said(*words):
    """What the command line says, and its exit code."""
    result = CliRunner().invoke(main, words)
    return result.output, result.exit_code


def test_commands_take_a_file(tmp_path, forgotten):
    file, out = tmp_path / "mine.npz", tmp_path / "reading.npz"
    save_capture(file, capture())
    words = ("figure", "tokens", "--data", str(file), "--layer", "1", "--out", str(out))
    assert said(*words)[1] == 0
    forgotten()
    output, code = said("reproduce", str(out))
    assert (code, "name it by --data" in output) == (1, True)
    assert said("reproduce", str(out), "--data", str(file))[1] == 0
    recipe = Recipe.read(recipe_in(out.read_bytes()))
    assert from_address(recipe.settings)[0].experiment.inputs == Captured(capture().hash, 1)


def test_a_rotated_file_is_undone_on_the_command_line(tmp_path):
    plain, file, out = capture(torch.float64), tmp_path / "mine.npz", tmp_path / "maps.npz"
    q, k = apply_encoding(plain.q, plain.k, rope(8, base=70.0), layout="half")
    save_capture(file, Capture(q, k))
    words = ("map", "rope", "--head-dim", "8", "--mask", "none", "--head", "3")
    output, code = said(*words, "--data", str(file), "--rotated", "70", "--out", str(out))
    assert code == 0, output
    expected = pooled_map(
        plain.q[0, 3].double(), plain.k[0, 1].double(), rope(8), mask="none", layout="half"
    )
    with np.load(out) as arrays:
        assert arrays["values_0"] == pytest.approx(expected.values.numpy(), rel=1e-5, abs=1e-6)


def test_a_link_and_a_file_must_be_of_the_same_data(tmp_path):
    file, out = tmp_path / "mine.npz", tmp_path / "a.csv"
    save_capture(file, capture())
    link = f"http://localhost/tokens?source=capture&data={'0' * 64}"
    output, code = said("figure", "--link", link, "--data", str(file), "--out", str(out))
    assert code == 2
    wanted = f"the link asks for data with the hash 000000000000…, got {capture().hash[:12]}…"
    assert wanted in " ".join(output.split())
    assert not out.exists()
    good = link.replace("0" * 64, capture().hash)
    assert said("figure", "--link", good, "--data", str(file), "--out", str(out))[1] == 0


def test_a_file_that_cannot_be_used_is_wrong_use(tmp_path):
    file, out = tmp_path / "mine.npz", tmp_path / "a.csv"
    file.write_bytes(b"\x80\x04junk")
    output, code = said("figure", "tokens", "--data", str(file), "--out", str(out))
    assert (code, "got a pickle" in output) == (2, True)

"""The command `capture`: a file with what a model computed, its memory said first."""

from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner

from tests.models import tiny
from xpos_viz import read_capture
from xpos_viz.cli import main
from xpos_viz.models import capture

TEXT = "to be"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("models") / "tiny"
    tiny.build("gemma3_text", vocab_size=259).save_pretrained(at)
    tiny.tokenizer().save_pretrained(at)
    return at


def call(*words, text=None):
    """What a command said, and its exit code."""
    line = ["capture", *(str(word) for word in words)]
    done = CliRunner().invoke(main, line, prog_name="xpos-viz", input=text)
    assert done.stdout == ""
    return done.stderr, done.exit_code


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_capture_is_written_whole(folder, tmp_path, suffix):
    out = tmp_path / f"mine{suffix}"
    said, code = call(folder, TEXT, "--out", out, "--layers", "1,2")
    assert code == 0, said
    first, *_, last = said.splitlines()
    assert first.startswith("2 layers, 6 tokens: about 1 MB (1 MB for weights, ")
    assert first.endswith(" are free.")
    assert last == f"Wrote {out}: {out.stat().st_size:,} bytes."
    assert "capture" in said
    expected = capture(folder, TEXT, layers=[1, 2])
    read = read_capture(out)
    assert read.hash == expected.hash
    assert torch.equal(read.weights(1), expected.weights(1))


def test_a_text_may_come_from_standard_input(folder, tmp_path):
    out = tmp_path / "mine.npz"
    said, code = call(folder, "-", "--out", out, "--dtype", "float16", text=TEXT)
    assert code == 0, said
    read = read_capture(out)
    assert (read.text, read.q.dtype) == (TEXT, torch.float16)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--out", "a.csv"), "a.csv has the ending .csv; use one of: .npz, .safetensors."),
        (("--out", "/nowhere/a.npz"), "there is no folder /nowhere; make it, or use another one."),
        (("--out", "a.npz", "--layers", "9"), "there is no layer 9; use 0 to 3."),
        (
            ("--out", "a.npz", "--layers", "x"),
            "layers must be whole numbers between commas, got 'x'; use 512,2048.",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_meant(folder, words, text):
    said, code = call(folder, TEXT, *words)
    assert code == 2
    assert said.split("\nError: ")[1].strip() == text


def test_a_model_that_there_is_not():
    said, code = call("nowhere", TEXT, "--out", "a.npz")
    assert code == 2
    assert said.endswith(
        "Error: there is no model at 'nowhere'; use a folder with config.json, a .gguf file, or a "
        "name on the Hugging Face Hub, such as owner/name.\n"
    )


def test_too_little_memory_fails_before_anything_is_written(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1000))
    out = tmp_path / "mine.npz"
    said, code = call(folder, TEXT, "--out", out)
    assert code == 1
    assert "Error: this capture needs about 1 MB (" in said
    assert not out.exists()

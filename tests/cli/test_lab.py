"""Small models from the command line: trained, measured, summed up, and gone on with."""

import json
import signal
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch

from tests.cli.command import call, process, refused, rows
from xpos_viz.cli import COMMANDS
from xpos_viz.lab.store import State, load
from xpos_viz.lab.training import Run

LINE = "the quick brown fox jumps over the lazy dog, and the dog sleeps on\n"
STORY = "The command is the same, and what is done is kept."


@pytest.fixture
def story(tmp_path):
    """A text with two windows of the quick setting held out."""
    lines = (f"{place:4} {LINE[place % 20 :]}" for place in range(300))
    (path := tmp_path / "story.txt").write_text("".join(lines), encoding="utf-8")
    return path


def train(out, story, *options):
    """What a short training said."""
    words = ("--quick", "--out", out, "--corpus", story, *options)
    return call("lab", "train", *words)


def test_models_are_trained_measured_and_summed_up(tmp_path, story):
    out = tmp_path / "runs"
    options = ("--steps", 3, "--encodings", "rope,alibi,p_rope", "--seeds", "0,1")
    printed, said, code = train(out, story, *options, "--json")
    assert code == 0, said
    size = story.stat().st_size
    held_out = size // 8
    sizes = f"story.txt: {size - held_out:,} bytes to learn from, {held_out:,} held out."
    first, second, third = said.splitlines()
    assert first == sizes
    assert second.startswith("6 runs, 18 steps to do: about ")
    assert second.endswith(" s.")
    assert third == "Training…"
    trained = json.loads(printed)
    names = ["rope-0", "alibi-0", "p_rope-0", "rope-1", "alibi-1", "p_rope-1"]
    assert [row["run"] for row in trained] == names
    assert all(row["steps"] == 3 and 4 < row["loss"] < 9 for row in trained)
    assert trained[2]["encoding"] == "p_rope(32, base=10000.0, share=0.75)"
    assert load(out / "rope-1.safetensors").setting.steps == 3

    printed, said, code = call("lab", "eval", out, "--corpus", story)
    assert (printed, code) == ("", 0)
    done = [line for line in said.splitlines() if line.startswith("Measuring")]
    assert done == [f"Measuring {name}…" for name in sorted(names)]
    announced = said.splitlines()[1]
    assert announced.startswith("Models to measure: 6, about ")
    assert announced.endswith(" s.")
    table = pd.read_parquet(out / "results.parquet")
    assert [*table.columns] == [
        *("run", "setting", "encoding", "seed"),
        *("measure", "mask", "length", "place", "value", "error"),
    ]
    assert table["run"].unique().tolist() == sorted(names)
    assert set(table["encoding"]) == {"rope", "alibi", "p_rope"}
    metadata = pq.read_schema(out / "results.parquet").metadata
    told = json.loads(metadata[b"xpos_viz"])["xpos_viz"]
    assert told["command"] == f"lab eval {out} --corpus {story}"
    runs = json.loads(metadata[b"runs"])
    assert runs["rope-1"]["recipe"]["seed"] == 1
    assert runs["rope-1"]["corpus"] == "story.txt"
    assert call("lab", "eval", out, "--corpus", story) == (
        "",
        f"{sizes}\nAll 6 models are measured already.\n",
        0,
    )

    found = rows("lab", "table", out)
    masks = ["causal", "blockwise:32", "windows:64"]
    assert [row["mask"] for row in found if row["encoding"] == "rope"] == masks
    of = (table["encoding"] == "rope") & (table["mask"] == "causal")
    means = table[of & (table["measure"] == "mean") & (table["length"] == 1024)]["value"]
    excess = table[of & (table["measure"] == "excess")]
    row = next(row for row in found if (row["encoding"], row["mask"]) == ("rope", "causal"))
    assert len(means) == row["seeds"] == 2
    assert row["1024"] == pytest.approx(means.mean())
    assert row["excess"] == pytest.approx(excess["value"].mean())
    assert (row["least"], row["most"]) == (excess["value"].min(), excess["value"].max())
    assert [*row][:9] == ["setting", "encoding", "mask", "32", "64", "128", "256", "512", "1024"]


def test_what_is_added_to_a_folder_is_all_that_is_trained_and_measured(
    tmp_path, story, monkeypatch
):
    out, learned = tmp_path / "runs", []
    train(out, story, "--steps", 2, "--encodings", "rope")
    call("lab", "eval", out, "--corpus", story)
    before = pd.read_parquet(out / "results.parquet")
    learn = Run.learn
    monkeypatch.setattr(Run, "learn", lambda run: learned.append(run.encoding.name) or learn(run))
    _, said, _ = train(out, story, "--steps", 2, "--encodings", "rope,nope")
    assert "2 runs, 2 steps to do: about " in said
    assert {*learned} == {"nope"}
    monkeypatch.setattr("xpos_viz.cli.lab.measure._timed", lambda *_: 60.0)
    said = call("lab", "eval", out, "--corpus", story)[1]
    assert "Models to measure: 1, about 2 min 0 s." in said.splitlines()  # of two texts
    assert "Measuring nope-0…" in said
    assert "rope-0…" not in said.replace("nope-0…", "")
    after = pd.read_parquet(out / "results.parquet")
    kept = after[after["run"] == "rope-0"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before, check_exact=True)


def begun(out, story, *options):
    """A process that trains, once it has written its first state."""
    words = ("lab", "train", "--quick", "--steps", "80", "--encodings", "xpos_half")
    running = process(*words, "--out", str(out), "--corpus", str(story), *options)
    until = time.monotonic() + 60
    while not (out / "xpos_half-0.safetensors").exists():
        assert time.monotonic() < until
        time.sleep(0.005)
    return running


def test_a_killed_training_goes_on_as_if_it_had_not_been(tmp_path, story):
    with begun(out := tmp_path / "runs", story) as running:
        running.kill()
        running.communicate(timeout=60)
    assert running.returncode
    state = out / "xpos_half-0.safetensors"
    assert len(State.read(state).losses) == 50
    (out / ".xpos_half-0.safetensors.4711.part").write_bytes(state.read_bytes()[:99])
    (of_another := out / ".rope-0.safetensors.4712.part").touch()
    _, said, code = call("lab", "eval", out, "--corpus", story)
    assert (code, said.splitlines()[0]) == (
        2,
        "xpos_half-0 is not done with its training, and is left out.",
    )
    assert said.splitlines()[-1] == (
        f"Error: {out} must hold models that are trained, got none; use xpos-viz lab train "
        f"--out {out}."
    )
    options = ("--steps", 80, "--encodings", "xpos_half")
    _, said, code = train(out, story, *options)
    assert code == 0, said
    assert {*out.iterdir()} == {state, of_another}
    train(whole := tmp_path / "whole", story, *options)
    first, second = (State.read(folder / state.name) for folder in (out, whole))
    assert first.losses == second.losses
    assert all(torch.equal(first.tensors[name], each) for name, each in second.tensors.items())


def test_an_interrupted_training_says_how_it_goes_on(tmp_path, story):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have ignored
    with begun(out := tmp_path / "runs", story) as running:
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, "")
    assert said.endswith(f"Interrupted; the same command goes on from what is in {out}.\n")
    assert [each.name for each in out.iterdir()] == ["xpos_half-0.safetensors"]


def test_a_folder_that_cannot_be_written_to_is_known_before_the_work(tmp_path, story, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    def work(*_, **__):
        raise AssertionError("this takes long")

    out = tmp_path / "runs"
    call("lab", "--help")  # which imports it
    for module in ("train", "measure"):
        monkeypatch.setattr(f"xpos_viz.cli.lab.{module}.corpus_at", work)
    monkeypatch.setattr(Path, "touch", refuse)
    said = (
        f"Error: {out / 'results.parquet'} could not be written: permission denied; use a folder "
        "that exists and may be written to.\n"
    )
    assert train(out, story) == ("", said, 1)
    assert call("lab", "eval", out) == ("", said, 1)


@pytest.fixture
def corpora(tmp_path):
    """Texts that cannot be used, by name."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "one.txt").write_text("short", encoding="utf-8")
    (tmp_path / "short.txt").write_text("short", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    return tmp_path


FEW = (
    "… must hold files of text to learn from and to hold out, got {} of them; use a folder with "
    "more files, or one file of text."
)


UNFIT = {
    "empty": FEW.format("0 and 0").replace("…", "…/empty"),
    "short": FEW.format("1 and 0").replace("…", "…/short"),
    "short.txt": "short.txt must have at least 65 bytes to learn from, got 5; use more text, or a "
    "setting with a shorter training length.",
    "picture.png": "a corpus must be text in UTF-8, got '…/picture.png', which is not.",
    "none": "Invalid value for '--corpus': Path '…/none' does not exist.",
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_corpus_that_cannot_be_used_is_refused(name, corpora):
    said = refused("lab", "train", "--quick", "--out", corpora / "a", "--corpus", corpora / name)
    assert said.replace(str(corpora), "…") == UNFIT[name]


def test_a_python_without_sources_is_told_what_to_use(tmp_path, monkeypatch):
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    assert refused("lab", "train", "--out", tmp_path / "runs") == (
        f"Python's standard library has no .py files in {tmp_path}, got none; use a folder or a "
        "text file of your own."
    )


def test_a_corpus_that_is_too_large_is_refused(tmp_path, story, monkeypatch):
    call("lab", "--help")  # which imports it
    monkeypatch.setattr("xpos_viz.lab.corpus.MOST", 1000)
    assert refused("lab", "train", "--out", tmp_path / "runs", "--corpus", story) == (
        f"a corpus must have at most 1,000 bytes, got {story.stat().st_size:,} in {story}; use a "
        "part of it."
    )


WRONG = {
    ("--seeds", "a"): "seeds must be whole numbers between commas, got 'a'; use 512,2048.",
    ("--seeds", "0,-1"): "seeds must be whole numbers from 0 to 9999, got '0,-1'; use 0,1,2.",
    ("--seeds", ""): "seeds must be whole numbers from 0 to 9999, got ''; use 0,1,2.",
    ("--encodings", ","): "encodings must be at least one, got ','; use rope,xpos_half.",
    ("--steps", "0"): "Invalid value for '--steps': 0 is not in the range 1<=x<=10000000.",
    ("--encodings", "rope,foo"): "unknown encoding 'foo'; use one of: rope, xpos_half, xpos_512, "
    "alibi, nope, p_rope, xpos, decay, retnet, interpolation, ntk, dynamic_ntk, longrope, yarn, "
    "yarn_hf, llama3, t5, t5_bidirectional.",
}


@pytest.mark.parametrize("options", WRONG, ids=" ".join)
def test_wrong_options_are_refused(options, tmp_path):
    assert refused("lab", "train", "--out", tmp_path / "runs", *options) == WRONG[options]
    assert [*tmp_path.iterdir()] == []


def test_folders_that_cannot_be_used_are_refused(tmp_path, story):
    assert refused("lab", "train", "--out", tmp_path / "a" / "b") == (
        f"there is no folder {tmp_path / 'a'}; make it, or use another one."
    )
    assert refused("lab", "train", "--out", story) == (
        f"{story} is a file; use the name of a folder."
    )
    (empty := tmp_path / "empty").mkdir()
    assert refused("lab", "eval", empty) == (
        f"{empty} must hold models that are trained, got none; use xpos-viz lab train "
        f"--out {empty}."
    )
    assert refused("lab", "table", empty) == (
        f"{empty} must hold results.parquet, got none; use xpos-viz lab eval {empty}."
    )


def test_another_corpus_and_another_setting_are_refused(tmp_path, story):
    out, options = tmp_path / "runs", ("--encodings", "rope")
    assert train(out, story, "--steps", 1, *options)[2] == 0
    (other := tmp_path / "other.txt").write_text(STORY * 400, encoding="utf-8")
    _, said, code = call("lab", "eval", out, "--corpus", other)
    assert code == 2
    state = State.read(path := out / "rope-0.safetensors")
    assert (
        f"Error: rope-0 was trained on story.txt ({state.recipe.corpus}), got other.txt (" in said
    )
    assert said.endswith("); use --corpus with that text.\n")
    _, said, code = train(out, story, "--steps", 2, *options)
    assert code == 2
    assert said.endswith(
        f"Error: {path} must be a state of this run, got one of another; use another folder.\n"
    )


def test_what_is_not_done_is_left_out(tmp_path, story):
    out = tmp_path / "runs"
    train(out, story, "--steps", 1, "--encodings", "rope,nope")
    state = State.read(path := out / "rope-0.safetensors")
    tensors = {**state.tensors, "losses": torch.zeros(0, dtype=torch.float64)}
    path.write_bytes(replace(state, tensors=tensors).content())
    _, said, code = call("lab", "eval", out, "--corpus", story)
    assert code == 0
    assert said.startswith("rope-0 is not done with its training, and is left out.\n")
    assert {row["encoding"] for row in rows("lab", "table", out)} == {"nope"}


def test_what_is_read_is_not_written_over(tmp_path, story):
    out = tmp_path / "runs"
    train(out, story, "--steps", 1, "--encodings", "rope")
    call("lab", "eval", out, "--corpus", story)
    content = (path := out / "results.parquet").read_bytes()
    printed, said, code = call("lab", "table", out, "--out", path)
    assert (printed, code) == ("", 2)
    assert said.endswith(f"Error: --out must be another file than what is read, got '{path}'.\n")
    picture = tmp_path / "curve.png"
    call("figure", "decay", "--distance", "64", "--out", picture)
    printed, said, code = call("reproduce", picture, "--out", picture)
    assert (printed, code) == ("", 2)
    assert said.endswith(f"another file than what is read, got '{picture}'.\n")
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["train", "eval", "table"])
def test_each_command_has_help(name):
    printed, said, code = call("lab", name, "--help")
    assert (said, code) == ("", 0)
    assert printed.startswith(f"Usage: xpos-viz lab {name} [OPTIONS]")


def test_the_commands_are_listed():
    printed, _, code = call("lab", "--help")
    assert code == 0
    assert COMMANDS["lab"] in printed
    listed = printed.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in listed] == ["eval", "table", "train"]
    assert all(len(line.split()) > 3 for line in listed)

"""What fails is said, has its exit code, and leaves nothing half-written."""

import io
import json
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from tests.cli.command import call, process
from xpos_viz.cli import main
from xpos_viz.export.data import NUMBERS
from xpos_viz.writing import write


@pytest.mark.parametrize(
    ("error", "reason"),
    [(PermissionError(13, "Permission denied"), "permission denied"),
     (OSError(28, "No space left on device"), "no space left on device")],
)  # fmt: skip
def test_what_cannot_be_written_leaves_nothing_half_written(error, reason, tmp_path, monkeypatch):
    path = tmp_path / "curves.csv"
    path.write_text("kept", encoding="utf-8")

    def half(self, content):
        with io.FileIO(self, "w") as file:
            file.write(content[:9])
        raise error

    monkeypatch.setattr(Path, "write_bytes", half)
    printed, said, code = call("curve", "rope", "--lags", "0", "--curves", "g", "--out", path)
    assert (printed, code) == ("", 1)
    assert said == (
        f"Error: {path} could not be written: {reason}; use a folder that exists, may be written "
        "to, and has room for 56 bytes.\n"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["curves.csv"]
    assert path.read_text(encoding="utf-8") == "kept"


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.csv").mkdir()
    printed, said, code = call("pairs", "rope", "--out", tmp_path / "a.csv")
    assert (printed, code) == ("", 2)
    assert said.endswith(f"{tmp_path / 'a.csv'} is a folder; use the name of a file in it.\n")
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_a_name_may_be_too_long(tmp_path):
    path = tmp_path / f"{'a' * 300}.csv"
    printed, said, code = call("pairs", "--out", path)
    assert (printed, code) == ("", 1)
    assert f"{path} could not be written: file name too long; use" in said


WORK = {  # a command that writes, and what it computes with
    ("figure", "decay"): "pictures.Wanted.pictures",
    ("export", "decay"): "export.bundle",
    ("export", "decay", "--sweep", "gamma"): "pictures.Wanted.pictures",
    ("reproduce", "README.md"): "reproduce.reproduce",
    ("curve",): "curve.curve_table",
    ("map",): "map.pooled_map",
    ("pairs",): "pairs.pair_table",
    ("precision",): "precision.limits_table",
    ("resolution",): "resolution.resolution_table",
    ("list", "samples"): "list.put",
}


@pytest.mark.parametrize("words", WORK, ids=" ".join)
def test_what_cannot_be_written_is_known_before_the_work(words, tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    def work(*_, **__):
        raise AssertionError("this takes long")

    call(words[0], "--help")  # which imports it
    monkeypatch.setattr(Path, "touch", refused)
    monkeypatch.setattr(f"xpos_viz.cli.{WORK[words]}", work)
    form = "html" if "--sweep" in words else {"export": "zip", "figure": "png"}.get(words[0], "csv")
    path = tmp_path / f"a.{form}"
    printed, said, code = call(*words, "--out", path)
    assert (printed, code) == ("", 1)
    assert said == (
        f"Error: {path} could not be written: permission denied; use a folder that exists and may "
        "be written to.\n"
    )


def test_a_failure_of_others_is_no_wrong_use(monkeypatch):
    monkeypatch.setattr("xpos_viz.cli.pairs.pair_table", lambda *_: np.zeros(2).reshape(3))
    done = CliRunner().invoke(main, ["pairs"], prog_name="xpos-viz")
    assert done.exit_code == 1
    assert isinstance(done.exception, ValueError)
    assert str(done.exception) == "cannot reshape array of size 2 into shape (3,)"


def test_too_little_memory_is_said(monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr("xpos_viz.cli.pairs.pair_table", full)
    _, said, code = call("pairs")
    assert code == 1
    assert said == (
        "Error: this needs more memory than there is (Unable to allocate 8 TiB); use fewer tokens, "
        "cells or lags.\n"
    )


def test_torch_without_memory_is_said(monkeypatch):
    monkeypatch.setattr("xpos_viz.cli.pairs.pair_table", lambda *_: torch.empty(1 << 50))
    _, said, code = call("pairs")
    assert code == 1
    assert said.startswith("Error: this needs more memory than there is ([enforce fail")
    assert said.endswith("; use fewer tokens, cells or lags.\n")


def test_an_interruption_ends_with_its_own_code(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("xpos_viz.cli.pairs.pair_table", interrupted)
    assert call("pairs") == ("", "Interrupted; nothing was written.\n", 130)


def test_an_import_may_be_interrupted(monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("xpos_viz.cli.import_module", interrupted)
    assert call("figure") == ("", "Interrupted; nothing was written.\n", 130)


def test_a_process_prints_data_and_says_words():
    with process("pairs", "rope", "--head-dim", "2", "--json") as done:
        printed, said = done.communicate(timeout=60)
    assert (done.returncode, said) == (0, "")
    assert json.loads(printed)[0]["theta"] == 1.0
    with process("pairs", "none") as done:
        printed, said = done.communicate(timeout=60)
    assert (done.returncode, printed) == (2, "")
    assert "unknown encoding 'none'" in said


def test_a_long_map_can_be_interrupted(tmp_path):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have ignored
    words = ("map", "--source", "random", "--length", "1000000", "--stage", "weights")
    with process(*words, "--out", str(tmp_path / "a.npz")) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "Computing the maps…\n"
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, "")
    assert said.endswith("Interrupted; nothing was written.\n")
    assert [*tmp_path.iterdir()] == []


def test_files_are_moved_to_their_place(tmp_path):
    write(tmp_path / "a.csv", b"1")
    write(tmp_path / "a.csv", b"2")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"2"]
    assert {*NUMBERS} == {"csv", "json", "parquet", "npz"}

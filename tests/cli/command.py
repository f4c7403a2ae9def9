"""The command line as tests call it: within this process, and as one of its own."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from xpos_viz.cli import main

ROOT = Path(__file__).parents[2]


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

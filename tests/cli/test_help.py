"""What the command line says of itself."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.cli.command import ROOT, call, refused, rows
from xpos_viz.cli import COMMANDS
from xpos_viz.cli.settings import KEYS
from xpos_viz.pictures import PICTURES
from xpos_viz.state import OWN, PRESETS, SETTINGS, from_address
from xpos_viz.texts import texts
from xpos_viz.version import __version__


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


def test_lists_say_what_there_is():
    assert [row["name"] for row in rows("list", "presets")] == [*PRESETS]
    assert len(rows("list", "encodings")) == 16
    assert rows("list", "samples")[2]["layers"] == "0, 8, 16, 24, 29"
    pages = rows("list", "pages", "--lang", "zh")
    assert pages[1]["name"] == "learn"
    names = {row["name"]: row["pictures"].split(", ") for row in pages}
    assert [*names] == [*PICTURES]
    assert names["pairs"] == ["pairs_map", "pairs_plane", "pairs_score"]
    for page, make in PICTURES.items():
        state = from_address({"name": "pronoun", "long_length": "64", "curves": "alibi"})[0]
        state = replace(state, left="alibi", second_goal="headroom")
        assert [each.name for each in make(state, texts("en"))] == names[page]
    assert refused("list", "colours") == (
        "Invalid value for '{encodings|samples|presets|pages}': 'colours' is not one of "
        "'encodings', 'samples', 'presets', 'pages'."
    )


def test_every_setting_of_a_picture_is_an_option():
    assert {*SETTINGS, *OWN} - {"present", "show"} <= {*KEYS}
    given = {key: from_address({})[0].experiment.to_dict().get(key) for key in KEYS}
    assert from_address({key: text for key, text in given.items() if text})[1] == []

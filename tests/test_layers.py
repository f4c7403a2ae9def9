"""Imports run one way, and heavy packages stay in their rooms."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import xpos_viz

PACKAGE = Path(xpos_viz.__file__).parent
APP = PACKAGE.parent / "app.py"
ROOMS: list[set[str]] = [
    {"choice"},
    {"encoding", "limits", "one_core", "theme", "version", "writing"},
    {"entry", "masks"},
    {"kernel"},
    {"attention"},
    {"curves", "pooling", "precision", "statistics", "module", "wrong"},
    {"inputs"},
    {"models", "lab"},
    {"experiment"},
    {"measurements"},
    {"results"},
    {"comparison"},
    {"studies", "lessons"},
    {"choosing"},
    {"look"},
    {"figures", "livemap"},
    {"state"},
    {"pictures"},
    {"export"},
    {"cli", "ui"},
    {"__main__"},
]
READERS = set().union(*ROOMS[-6:])  # who may speak to a reader
HOMES = {  # packages, and the only rooms that may import them
    "streamlit": {"ui", "cli"},  # which starts it
    "plotly": {"figures"},
    "matplotlib": {"figures"},
    "transformers": {"models"},
    "huggingface_hub": {"models"},
    "optuna": {"choosing"},
    "dask": {"cli"},
    "distributed": {"cli"},
}
FILES = sorted(PACKAGE.rglob("*.py"))


def name(path):
    """The dotted name of a module, without that of the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def room(module):
    """The part of the package that a module belongs to; "" is the package itself."""
    return "" if module == "__init__" else module.split(".")[0]


def imported(path):
    """What a file imports, at its top or inside of functions, by dotted name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            if node.module == "xpos_viz":
                yield from (f"xpos_viz.{alias.name}" for alias in node.names)
            else:
                yield str(node.module)


def ours(path):
    """The rooms that a file imports from."""
    found = (module.split(".") for module in imported(path))
    return {parts[1] if len(parts) > 1 else "" for parts in found if parts[0] == "xpos_viz"}


def level(room):
    """Height of a room; texts lie below all of them."""
    return next((height for height, rooms in enumerate(ROOMS) if room in rooms), -1)


def test_every_room_has_its_level():
    found = {room(name(path)) for path in FILES} - {"", "texts"}
    assert {"encoding", "kernel", "inputs", "experiment", "figures", "ui"} <= found
    assert found <= set().union(*ROOMS)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_imports_run_one_way(path):
    here = room(name(path))
    for other in ours(path) - {here}:
        if here == "":
            assert level(other) <= level("results"), f"the package imports {other}"
        elif other == "texts":
            assert here in READERS, f"{here} speaks to a reader"
        else:
            assert here != "texts", f"texts import {other}"
            assert 0 <= level(other) < level(here), f"{here} imports {other or 'the top level'}"


@pytest.mark.parametrize("path", FILES, ids=name)
def test_heavy_packages_stay_in_their_rooms(path):
    for module in imported(path):
        homes = HOMES.get(module.split(".")[0])
        assert homes is None or room(name(path)) in homes, f"{name(path)} imports {module}"


def test_the_application_only_calls_its_pages():
    assert {"xpos_viz.ui"} <= set(imported(APP)) <= {"os", "streamlit", "xpos_viz.ui"}


STEPS = """
import sys
heavy = ("streamlit", "plotly", "matplotlib", "transformers", "optuna", "distributed")
for module in (
    "xpos_viz", "xpos_viz.models", "xpos_viz.choosing", "xpos_viz.livemap",
    "xpos_viz.figures.compare", "xpos_viz.figures.plotly_pen",
):
    __import__(module)
    print(module, *(name for name in heavy if name in sys.modules))
"""


def test_importing_is_light():
    """The core loads nothing heavy but torch, and the pen for the screen not that for paper."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", STEPS],
        cwd=APP.parent,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.splitlines() == [
        "xpos_viz",
        "xpos_viz.models",
        "xpos_viz.choosing",
        "xpos_viz.livemap",
        "xpos_viz.figures.compare",
        "xpos_viz.figures.plotly_pen plotly",
    ]

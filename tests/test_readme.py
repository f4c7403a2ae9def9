"""What the README says, runs."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_python_blocks_print_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest("".join(blocks("python")), {}, "README", None, 0)
    shown: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=shown.append)
    assert result.attempted >= 8
    assert not result.failed, "".join(shown)


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"make ([a-z]+)", "".join(blocks("sh")) + README)) - {"and"}
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert {"run", "test"} <= named <= targets


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_the_files_that_are_linked_exist(target: str) -> None:
    assert (ROOT / target).exists()


def test_the_tree_shows_what_is_there() -> None:
    tree = README.split("## How it is built")[1].split("Modules import")[0]
    modules = re.findall(r"^      ([a-z_]+(?:\.py|/))", tree, re.MULTILINE)
    package = ROOT / "xpos_viz"
    there = {f"{path.name}/" for path in package.iterdir() if path.is_dir()}
    there |= {path.name for path in package.glob("*.py")}
    assert set(modules) == there - {"__pycache__/", "__init__.py", "__main__.py"}

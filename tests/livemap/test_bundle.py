"""The modules of the live map, joined into one."""

import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from xpos_viz.livemap import source
from xpos_viz.livemap.bundle import modules


def test_all_modules_become_one_that_imports_nothing_and_exports_mount():
    joined = source()
    assert re.findall(r"^export .*$", joined, re.MULTILINE) == ["export const { mount } = $index;"]
    assert not re.search(r"^import ", joined, re.MULTILINE)
    assert set(re.findall(r"^const \$(\w+) = ", joined, re.MULTILINE)) == set(modules())
    for taken in re.findall(r"^const \{[^}]*\} = \$(\w+);", joined, re.MULTILINE):
        assert joined.index(f"const ${taken} =") < joined.index(f"}} = ${taken};")
    assert "/**" not in joined


def test_every_process_joins_them_alike():
    """A page that outlives its server would mount a module that differs beside the old one."""
    code = (
        "from hashlib import sha256; from xpos_viz.livemap import source;"
        "print(hash('a'), sha256(source().encode()).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert int(other[0]) != hash("a")  # sets have another order there
    assert other[1] == sha256(source().encode()).hexdigest()


@pytest.mark.parametrize("name", sorted(name for name in modules() if "kernel" not in name))
def test_modules_say_what_they_are_and_what_they_export(name):
    text = modules()[name]
    assert text.startswith("/**")
    for export in re.finditer(r"^export ", text, re.MULTILINE):
        assert text[: export.start()].rstrip().endswith("*/"), text[export.start() :][:60]
    assert len(text.splitlines()) <= 320
    assert "innerHTML" not in text

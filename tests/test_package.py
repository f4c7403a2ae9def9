"""What is installed holds everything that is needed."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.texts import LANGUAGES

ROOT = Path(__file__).parent.parent


def test_a_wheel_holds_samples_texts_fonts_commands_and_the_dashboard(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    wheel = zipfile.ZipFile(next(tmp_path.glob("*.whl")))
    names = wheel.namelist()
    expected = [f"xpos_viz/inputs/samples/{name}.npz" for name in SAMPLES]
    expected += [f"xpos_viz/texts/{language}/common.toml" for language in LANGUAGES]
    expected += ["xpos_viz/figures/fonts/OFL.txt"]
    assert set(expected) <= set(names)
    assert any(
        name.startswith("xpos_viz/figures/fonts/") and name.endswith(".ttf") for name in names
    )
    for source in ("app.py", ".streamlit/config.toml"):  # as in the repository
        assert wheel.read(f"xpos_viz/dashboard/{source}") == (ROOT / source).read_bytes()
    points = next(name for name in names if name.endswith("/entry_points.txt"))
    assert wheel.read(points).decode() == "[console_scripts]\nxpos-viz = xpos_viz.cli:main\n"
    metadata = wheel.read(points.replace("entry_points.txt", "METADATA")).decode()
    needed = re.findall(r"^Requires-Dist: ([a-z]+)[^;\n]*$", metadata, re.MULTILINE)
    assert {"click", "matplotlib", "plotly", "pyarrow", "streamlit", "torch"} <= set(needed)
    assert not any(name.startswith(("tests/", "benchmarks/", "assets/")) for name in names)

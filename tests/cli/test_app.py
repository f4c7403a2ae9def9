"""The dashboard, started by the command line."""

import os
import subprocess

from tests.cli.command import ROOT, call, process
from tests.dashboard.server import answers, free_port, until
from xpos_viz.cli import app


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

"""The dashboard as anyone would start it, and how to wait for it."""

import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from socket import socket

ROOT = Path(__file__).parents[2]
PATIENCE = 30  # seconds until a condition that does not come true fails a test


def free_port():
    """A port that nobody listens on."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(port, log, app="app.py"):
    """Run a server as anyone would start it; its log must hold no error."""
    command = [sys.executable, "-m", "streamlit", "run", app, "--server.port", str(port)]
    with (
        log.open("wb") as file,
        subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT) as process,
    ):
        try:
            until(lambda: answers(port) or process.poll() is not None, "the server answers", 60)
            assert process.poll() is None, log.read_text(encoding="utf-8")
            yield f"http://localhost:{port}/"
        finally:
            process.terminate()
            process.wait(20)
    said = log.read_text(encoding="utf-8")
    assert f"http://localhost:{port}" in said
    assert "Traceback" not in said, said


def answers(port):
    """Whether the server says that it is well."""
    with suppress(OSError):
        connection = HTTPConnection("localhost", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().read() == b"ok"
        finally:
            connection.close()
    return False


def until(condition, wish, patience=PATIENCE):
    """Wait for a condition, and fail if it does not come true."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"waited {patience} s in vain: {wish}"
        time.sleep(0.05)


def becomes(look, wanted, wish, patience=PATIENCE):
    """Wait until what is seen is what is wanted, and say what was seen if it does not."""
    end = time.monotonic() + patience
    while (seen := look()) != wanted:
        assert time.monotonic() < end, f"waited {patience} s for {wish} {wanted!r}, got {seen!r}"
        time.sleep(0.05)

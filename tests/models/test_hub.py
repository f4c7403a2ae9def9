"""A name on the Hub, whose answers a small server gives: files, and no other."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from tests.models import tiny
from xpos_viz import read_capture
from xpos_viz.models import capture

ROOT = Path(__file__).parent.parent.parent
TEXT = "to be"
COMMIT = "a" * 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("models") / "tiny"
    tiny.build("qwen3", vocab_size=259).save_pretrained(at)
    tiny.tokenizer().save_pretrained(at)
    return at


@pytest.fixture
def hub(folder):
    """Its address, and what it was asked for."""
    asked = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, *, body):
            name = self.path.split("?")[0].removeprefix("/owner/tiny/resolve/main/")
            asked.append(name)
            path = folder / name
            there = "/" not in name and path.is_file()
            content = path.read_bytes() if there else b"{}"
            self.send_response(200 if there else 404)
            if there:
                self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
                self.send_header("X-Repo-Commit", COMMIT)
            else:
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, format, *args):  # noqa: A002 - its signature
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_a_name_on_the_hub_is_downloaded_and_captured(hub, folder, tmp_path):
    address, asked = hub
    out = tmp_path / "mine.npz"
    own = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "xpos_viz", "capture", "owner/tiny", TEXT, "--out", str(out)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **own},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr + json.dumps(asked)
    assert "4 layers, 6 tokens: about 1 MB (" in done.stderr
    taken, expected = read_capture(out), capture(folder, TEXT)
    assert (taken.model, taken.tokens) == ("owner/tiny", expected.tokens)
    assert torch.equal(taken.q, expected.q)
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= set(asked)
    assert not [name for name in asked if name.endswith((".py", ".bin"))]

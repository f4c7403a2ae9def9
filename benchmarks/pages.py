"""The two dashboards that are measured: served, opened in Chromium, and waited for."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.chromium import Browser, Session, launched, until
from tests.conftest import find_chromium

LONGEST = 8192
"""Tokens that the served apps may be asked for."""

QUIET = 600  # milliseconds without a change after which a page is at rest

_HERE = Path(__file__).parent
_WATCH = (_HERE / "watch.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class App:
    """A Streamlit app: its script, the folder whose settings it takes, what it shows.

    Heatmaps are Plotly's; an app without any shows the live map. The slider is γ's, in
    JavaScript.
    """

    name: str
    script: str
    folder: Path
    heatmaps: int
    slider: str


OURS = App("xpos_viz", "app.py", _HERE.parent, 0, "bench.within('input[data-key=gamma]')")
NAIVE = App(
    "naive", "naive_app.py", _HERE, 2, "document.querySelector('input[type=range][aria-label=γ]')"
)


def expectation(length: int, stage: str = "scores") -> str:
    """Return the address of the input q = k = ones, of so many tokens."""
    return f"?source=expectation&length={length}" + f"&stage={stage}" * (stage != "scores")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium that is found."""
    found = find_chromium()
    if found is None:
        raise SystemExit("no Chromium was found; `make browser` installs one, or set CHROMIUM.")
    with launched(found) as browser:
        yield browser


@contextmanager
def served(app: App) -> Iterator[str]:
    """Serve an app, and give its address."""
    with running(app) as (url, _):
        yield url


@contextmanager
def running(app: App) -> Iterator[tuple[str, int]]:
    """Serve an app from its folder, with that folder's settings: its address, its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "server.address": "127.0.0.1",
        "server.port": port,
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    command = [sys.executable, "-m", "streamlit", "run", app.script]
    command += [f"--{name}={value}" for name, value in options.items()]
    own = {"PYTHONPATH": _search_path(), "XPOS_VIZ_MAX_LENGTH": f"{LONGEST}"}
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            command, cwd=app.folder, env=os.environ | own, stdout=words, stderr=words
        )
        try:
            url = f"http://127.0.0.1:{port}/"
            until(lambda: process.poll() is not None or _answers(f"{url}_stcore/health"), url)
            if process.poll() is not None:
                words.seek(0)
                raise RuntimeError(f"{app.script} is not served:\n{words.read().decode()}")
            yield url, process.pid
        finally:
            process.terminate()
            process.wait()


@contextmanager
def opened(browser: Browser, app: App, address: str) -> Iterator[Session]:
    """Open an address in a fresh profile, and wait until its page is at rest."""
    with browser.page(address, f"window.benchMaps = {app.heatmaps};\n{_WATCH}") as page:
        page.wait_for("window.bench?.drawn")
        at_rest(page)
        yield page


def at_rest(page: Session) -> None:
    """Wait until the script has ended and nothing has changed for a while."""
    page.wait_for(f"bench.atRest({QUIET})")


def _search_path() -> str:
    """PYTHONPATH with the repository in front, for an app that runs from another folder."""
    return os.pathsep.join([str(_HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])


def _answers(address: str) -> bool:
    """Whether a server answers."""
    try:
        with urlopen(address, timeout=5):
            return True
    except (URLError, TimeoutError):
        return False

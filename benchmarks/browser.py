"""From the slider to the picture, and from the address to the first one, in Chromium.

Our dashboard and a naive one (naive_app.py) are served side by side and take turns. All times
are taken inside the page (watch.js): from the key that moved the slider, or from the start of
the navigation, to the frame that shows the decoded images of all heatmaps, and of no old one.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from benchmarks.chromium import Browser, Session, launched, until
from benchmarks.report import quartiles, spread, table
from tests.conftest import find_chromium

LENGTHS = (256, 512, 1024, 2048)
WARM_UP = 2  # releases whose times are thrown away
MOST = 16  # rounds until our slider reaches its end
STARTS = 3  # servers started for the opening times
QUIET = 600  # milliseconds without a new picture after which a page is at rest

_HERE = Path(__file__).parent
_WATCH = (_HERE / "watch.js").read_text(encoding="utf-8")
_EXPECTATION = "?source=expectation&length={}"
_SLIDER = "document.querySelector('input[type=range][aria-label=γ]')"


@dataclass(frozen=True)
class App:
    """A Streamlit app: its script, the folder whose settings it takes, and its heatmaps."""

    name: str
    script: str
    folder: Path
    maps: int


@dataclass(frozen=True)
class Release:
    """One release of the slider: milliseconds to the picture, and bytes sent until rest."""

    time: float
    size: int


OURS = App("xpos_viz", "app.py", _HERE.parent, maps=3)
NAIVE = App("naive", "naive_app.py", _HERE, maps=2)
DOORS = (
    ("xpos_viz, as it opens", OURS, ""),
    ("xpos_viz, n = 512", OURS, _EXPECTATION.format(512)),
    ("naive, n = 512", NAIVE, _EXPECTATION.format(512)),
)


def measure(rounds: int = 7) -> list[str]:
    """Measure releases and openings, and return the lines of the result."""
    if rounds > MOST:
        raise SystemExit(f"--rounds must be at most {MOST} for the browser, got {rounds}.")
    found = find_chromium()
    if found is None:
        raise SystemExit("no Chromium was found; `make browser` installs one, or set CHROMIUM.")
    with launched(found) as browser:
        releases = {}
        with ExitStack() as stack:
            urls = {app: stack.enter_context(served(app)) for app in (OURS, NAIVE)}
            for length in LENGTHS:
                print(f"browser: slider, n = {length} …", flush=True)
                releases[length] = take_turns(browser, urls, length, rounds)
        openings = {}
        for label, app, query in DOORS:
            print(f"browser: opening {label} …", flush=True)
            openings[label] = open_often(browser, app, query)
        version = browser.version
    slider = (
        f"{version}. From the release of the γ slider to the redrawn picture: "
        f"milliseconds, median (quartiles) of {rounds}, and kB received for it, median."
    )
    address = (
        "From the address to the finished picture, in a fresh profile: seconds, median of "
        f"{STARTS} (slowest); cold is the first session of a started server, warm the second."
    )
    return [slider, "", *_release_table(releases), "", address, "", *_opening_table(openings)]


@contextmanager
def served(app: App) -> Iterator[str]:
    """Serve an app from its folder, with that folder's settings, and give its address."""
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
    environment = os.environ | {"PYTHONPATH": _search_path()}
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            command, cwd=app.folder, env=environment, stdout=words, stderr=words
        )
        try:
            url = f"http://127.0.0.1:{port}/"
            until(lambda: process.poll() is not None or _answers(f"{url}_stcore/health"), url)
            if process.poll() is not None:
                words.seek(0)
                raise RuntimeError(f"{app.script} is not served:\n{words.read().decode()}")
            yield url
        finally:
            process.terminate()
            process.wait()


@contextmanager
def opened(browser: Browser, app: App, address: str) -> Iterator[Session]:
    """Open an address in a fresh profile, and wait until its picture is at rest."""
    with browser.page(address, f"window.benchMaps = {app.maps};\n{_WATCH}") as page:
        page.wait_for("window.bench?.latest()")
        at_rest(page)
        yield page


def at_rest(page: Session) -> None:
    """Wait until the script has ended and no new picture has come for a while."""
    page.wait_for(f"bench.atRest({QUIET})")


def take_turns(
    browser: Browser, urls: dict[App, str], length: int, rounds: int
) -> dict[App, list[Release]]:
    """Release the slider of each app in turn, at one length."""
    with ExitStack() as stack:
        pages = {
            app: stack.enter_context(opened(browser, app, url + _EXPECTATION.format(length)))
            for app, url in urls.items()
        }
        turns = [
            {app: release(page) for app, page in pages.items()} for _ in range(WARM_UP + rounds)
        ]
    return {app: [turn[app] for turn in turns[WARM_UP:]] for app in urls}


def release(page: Session) -> Release:
    """Move γ one step up, to where it has not been, and wait for its picture."""
    page.call("Page.bringToFront")
    page.value(f"bench.start({_SLIDER})")
    page.press_right()
    page.wait_for("bench.next()")
    at_rest(page)
    return Release(page.value("bench.next().at - bench.moved"), page.value("bench.sent()"))


def open_often(browser: Browser, app: App, query: str) -> dict[str, list[float]]:
    """Start the server several times and open its address twice; seconds to the last picture."""
    seconds: dict[str, list[float]] = {"cold": [], "warm": []}
    for _ in range(STARTS):
        with served(app) as url:
            for series in seconds.values():
                with opened(browser, app, url + query) as page:
                    series.append(page.value("bench.latest().at / 1000"))
    return seconds


def _release_table(releases: dict[int, dict[App, list[Release]]]) -> list[str]:
    """A row per length: both times, their ratio round by round, and what was sent."""
    rows = []
    for length, by_app in releases.items():
        mine, naive = by_app[OURS], by_app[NAIVE]
        ratios = [other.time / own.time for own, other in zip(mine, naive, strict=True)]
        rows.append(
            [
                f"{length}",
                *(spread([each.time for each in series], ".0f") for series in (mine, naive)),
                spread(ratios, ".2f"),
                *(
                    f"{quartiles([each.size / 1000 for each in series])[1]:,.0f}"
                    for series in (mine, naive)
                ),
            ]
        )
    header = ["n", "xpos_viz, ms", "naive, ms", "naive / xpos_viz", "xpos_viz, kB", "naive, kB"]
    return table(header, rows)


def _opening_table(openings: dict[str, dict[str, list[float]]]) -> list[str]:
    """A row per address: the first session of a server, and the second."""
    rows = [
        [label, *(f"{quartiles(series)[1]:.2f} ({max(series):.2f})" for series in by_kind.values())]
        for label, by_kind in openings.items()
    ]
    return table(["", "cold, s", "warm, s"], rows)


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

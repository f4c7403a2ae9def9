"""The play button for minutes: whether the page's memory grows, and how many frames it draws."""

import time
from dataclasses import dataclass
from statistics import linear_regression

from benchmarks.chromium import Session
from benchmarks.pages import OURS, chromium, expectation, opened, served
from benchmarks.report import table, verdict

LENGTH = 512
GOAL = 0.1
"""MB a minute that the memory may grow by."""

_EVERY = 5.0  # seconds between two samples
_WARM_UP = 10.0  # seconds, in which the slider is swept there and back once
_MB = 1e6
_BUTTON = "bench.within('.lm-slider:has([data-key=gamma]) .lm-play')"
_BYTES = "bench.received + bench.given"
_KINDS = {
    "JavaScript": "usedSize",
    "elements": "embedderHeapUsedSize",
    "arrays": "backingStorageSize",
}

_ALL = "altogether"


@dataclass(frozen=True)
class Sample:
    """Minutes since the first sample, MB in use by kind, DOM nodes, listeners, frames."""

    minutes: float
    sizes: dict[str, float]
    nodes: int
    listeners: int
    frames: int


def measure(minutes: float = 1.0) -> list[str]:
    """Play γ for some minutes, and return the lines of the result."""
    print(f"play: {minutes:g} min …", flush=True)
    with (
        chromium() as browser,
        served(OURS) as url,
        opened(browser, OURS, url + expectation(LENGTH)) as page,
    ):
        page.call("Page.bringToFront")
        page.value(f"{_BUTTON}.click()")
        time.sleep(_WARM_UP)
        before = page.value(_BYTES)
        samples = sampled(page, minutes)
        size = page.value(_BYTES) - before
        version = browser.version
    method = (
        f"{version}. γ played for {samples[-1].minutes:.1f} min at n = {LENGTH}, "
        f"{len(samples)} samples, each after a forced garbage collection: MB in use."
    )
    return [method, "", *_table(samples), "", *_goals(samples, size)]


def sampled(page: Session, minutes: float) -> list[Sample]:
    """Take samples for some minutes, three at least."""
    begin = time.monotonic()
    samples: list[Sample] = []
    while len(samples) < 3 or samples[-1].minutes < minutes:
        due = begin + len(samples) * _EVERY
        time.sleep(max(0.0, due - time.monotonic()))
        samples.append(sample(page, (time.monotonic() - begin) / 60))
    return samples


def sample(page: Session, minutes: float) -> Sample:
    """Collect all garbage, and see what is left."""
    page.call("HeapProfiler.collectGarbage")
    heap = page.call("Runtime.getHeapUsage")
    sizes: dict[str, float] = {kind: heap[name] / _MB for kind, name in _KINDS.items()}
    counts = page.call("Memory.getDOMCounters")
    return Sample(
        minutes,
        sizes | {_ALL: sum(sizes.values())},
        counts["nodes"],
        counts["jsEventListeners"],
        page.value("bench.frames"),
    )


def _table(samples: list[Sample]) -> list[str]:
    """A row per kind of memory."""
    rows: list[list[str]] = []
    for kind in (*_KINDS, _ALL):
        values = [each.sizes[kind] for each in samples]
        columns = (values[0], values[-1], min(values), max(values))
        rows.append(
            [kind, *(f"{value:.2f}" for value in columns), f"{_growth(samples, kind):+.3f}"]
        )
    return table(["", "first", "last", "least", "most", "growth a minute"], rows)


def _goals(samples: list[Sample], size: int) -> list[str]:
    """What must not grow, and how many frames were drawn."""
    first, last, growth = samples[0], samples[-1], _growth(samples, _ALL)
    rate = (last.frames - first.frames) / (60 * (last.minutes - first.minutes))
    nodes = f"DOM nodes {first.nodes} → {last.nodes}, at most {first.nodes}"
    listeners = f"listeners {first.listeners} → {last.listeners}, at most {first.listeners}"
    return [
        f"- Growth {growth:+.3f} MB a minute, goal {GOAL:g}: {verdict(growth <= GOAL)}.",
        f"- {nodes}: {verdict(last.nodes <= first.nodes)}.",
        f"- {listeners}: {verdict(last.listeners <= first.listeners)}.",
        f"- Bytes sent or received meanwhile: {size}, goal 0: {verdict(not size)}.",
        f"- {rate:.0f} frames a second, the collections included.",
    ]


def _growth(samples: list[Sample], kind: str) -> float:
    """MB a minute, by least squares."""
    minutes = [each.minutes for each in samples]
    return linear_regression(minutes, [each.sizes[kind] for each in samples]).slope

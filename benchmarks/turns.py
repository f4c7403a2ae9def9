"""Runs that take turns, so that all of them have the same machine at the same time."""

import random
import time
from collections.abc import Callable, Mapping

Times = dict[str, list[float]]
"""Seconds by name, one per round."""


def turns(runs: Mapping[str, Callable[[], object]], rounds: int, warm_up: int) -> Times:
    """Return the times of each run, in an order drawn anew in each round; the first warm up."""
    times: Times = {name: [] for name in runs}
    shuffle = random.Random(0).shuffle
    for _ in range(warm_up + rounds):
        order = list(runs)
        shuffle(order)
        for name in order:
            start = time.perf_counter()
            runs[name]()
            times[name].append(time.perf_counter() - start)
    return {name: series[warm_up:] for name, series in times.items()}

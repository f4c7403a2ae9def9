"""Sweeps that the tests share, and ways to run them."""

from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

from xpos_viz.choosing import Goal, Span, Spec, Text, points_of, sweep

GAMMA = ("gamma", Span(0.1, 1.6, steps=5, log=True))
SCALE_BASE = ("scale_base", Span(32.0, 2048.0, steps=7, log=True))
HALF_LIFE = Goal("half_life", wanted=300.0)


def spec(*goals, parameters=(GAMMA, SCALE_BASE), **rest):
    return Spec(parameters=parameters, goals=goals or (HALF_LIFE,), **rest)


MIXED = spec(
    Goal("resolution"),
    Goal("disturbed", (("window", 8),), below=0.2),
    parameters=(("base", 1e5), GAMMA, SCALE_BASE),
    lengths=(64, 256),
    texts=(Text("pronoun", layers=(8, 16), heads=(2,)),),
)
"""Of 35 settings and 4 cases: two lengths and two heads."""


def swept(wanted, folder, **options):
    """All points of a sweep, by threads."""
    with ThreadPoolExecutor(2) as threads:
        sweep(wanted, folder, threads, **options)
    return points_of(folder)


class Deadly(Executor):
    """Computes at once, but ends when it is to compute a certain point."""

    def __init__(self, deadly):
        self.deadly, self.asked = deadly, []

    def submit(self, fn, /, *args, **kwargs):
        future, points = Future(), args[1]
        self.asked.append(points)
        if self.deadly in points:
            future.set_exception(BrokenExecutor("a child process terminated abruptly"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future

"""Sweeps of the server: found again, one after the other, bounded, stopped and failed."""

import threading
import time

import pytest

from xpos_viz.choosing import Goal, Spec
from xpos_viz.choosing.landscape import lately
from xpos_viz.ui import sweeps
from xpos_viz.ui.sweeps import SWEEPS

PATIENCE = 30  # seconds


@pytest.fixture(autouse=True)
def alone():
    """No sweep is known before, and none goes on after."""
    SWEEPS._runs.clear()
    yield
    for run in SWEEPS._runs.values():
        run.stop()
        ended(run)
    SWEEPS._runs.clear()


def spec(length, points=40):
    """A sweep that no other test asks for."""
    scale_bases = tuple(float(64 + n) for n in range(points))
    grid = (("gamma", (0.4,)), ("scale_base", scale_bases))
    return Spec(parameters=grid, goals=(Goal("first_negative"),), head_dim=8, lengths=(length,))


def ended(run):
    """Wait until a sweep is done."""
    end = time.monotonic() + PATIENCE
    while not run.done:
        assert time.monotonic() < end
        time.sleep(0.01)
    return run


@pytest.fixture
def held(monkeypatch):
    """Sweeps that wait until they may go on."""
    gate = threading.Event()
    sweep = sweeps.sweep

    def waiting(*given, report, **more):
        def passed(progress):
            report(progress)
            assert gate.wait(PATIENCE)

        return sweep(*given, report=passed, **more)

    monkeypatch.setattr(sweeps, "sweep", waiting)
    yield gate
    gate.set()


def test_a_sweep_goes_on_and_is_found_again_whole():
    asked = spec(300)
    run = SWEEPS.begin(asked)
    assert SWEEPS.find(spec(300)) is run
    found = ended(run).found
    assert found is not None
    assert len(found.allowed) == 40
    assert run.progress.share == 1.0
    assert lately(asked) is not None
    assert SWEEPS.begin(asked) is run


def test_one_runs_after_the_other(held):
    first, second = SWEEPS.begin(spec(301)), SWEEPS.begin(spec(302))
    assert (second.progress.done, second.found) == (0, None)
    held.set()
    ended(first)
    assert ended(second).progress.done == 40


def test_no_more_than_some_are_taken(held):
    for number in range(sweeps.MOST):
        SWEEPS.begin(spec(310 + number))
    with pytest.raises(ValueError) as error:
        SWEEPS.begin(spec(330))
    assert str(error.value) == (
        "this server computes at most 8 landscapes, got one more; wait until one is done."
    )
    held.set()
    ended(SWEEPS.begin(spec(310)))
    assert ended(SWEEPS.begin(spec(330))).progress.done == 40
    assert SWEEPS.find(spec(310)) is None  # the oldest that was done


def test_a_stopped_sweep_keeps_what_is_known_and_begins_anew(held):
    run = SWEEPS.begin(spec(340))
    run.stop()
    held.set()
    assert ended(run).stopped
    assert lately(spec(340)) is None
    again = SWEEPS.begin(spec(340))
    assert again is not run
    assert ended(again).progress.done == 40


def test_an_error_is_kept_and_the_next_sweep_goes_on(monkeypatch):
    def failing(*_, **__):
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(sweeps, "sweep", failing)
        run = ended(SWEEPS.begin(spec(350)))
    assert str(run.error) == "no room"
    assert run.found is None
    assert ended(SWEEPS.begin(spec(350))).error is None

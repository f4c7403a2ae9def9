"""Work of the server, of any kind: one after the other, stopped, failed, refused."""

import threading
import time

import pytest

from xpos_viz.ui.runs import Run, Runs

PATIENCE = 30  # seconds
GATE = threading.Event()


class Counting(Run):
    """Work that counts to a number, once the gate is open; below zero it cannot."""

    def __init__(self, number):
        super().__init__()
        self.number, self.counted = number, 0

    def work(self):
        if self.number < 0:
            raise ValueError(f"cannot count to {self.number}")
        for counted in range(self.number):
            assert GATE.wait(PATIENCE)
            self.look()
            self.counted = counted + 1


@pytest.fixture
def runs():
    """A server that knows three; its gate is closed, and open in the end."""
    GATE.clear()
    yield Runs(Counting, 3, "three are enough")
    GATE.set()


def until(condition):
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_one_at_a_time_and_the_others_wait(runs):
    first, second = runs.begin(5), runs.begin(6)
    until(lambda: first.begun is not None)
    assert second.begun is None
    assert runs.begin(5) is first
    GATE.set()
    until(lambda: second.done)
    assert first.done
    assert (first.counted, second.counted) == (5, 6)
    assert not first.ended
    assert runs.begin(5) is first  # it is done, and found again


def test_one_that_is_stopped_while_it_waits_is_never_begun(runs):
    first, second = runs.begin(5), runs.begin(6)
    second.stop()
    assert second.ended
    again = runs.begin(6)
    assert again is not second
    GATE.set()
    until(lambda: again.done)
    assert (first.counted, second.counted, again.counted) == (5, 0, 6)
    assert second.done
    assert second.begun is None


def test_one_that_is_stopped_ends_at_its_next_look(runs):
    run = runs.begin(5)
    until(lambda: run.begun is not None)
    run.stop()
    GATE.set()
    until(lambda: run.done)
    assert run.counted == 0
    assert run.error is None


def test_an_error_is_kept_and_the_next_has_its_turn(runs):
    failed, next_ = runs.begin(-1), runs.begin(2)
    GATE.set()
    until(lambda: next_.done)
    assert str(failed.error) == "cannot count to -1"
    assert failed.ended
    assert runs.begin(-1) is not failed
    assert next_.counted == 2


def test_one_too_many_is_refused_until_one_is_done(runs):
    known = [runs.begin(number) for number in (1, 2, 3)]
    with pytest.raises(ValueError) as error:
        runs.begin(4)
    assert str(error.value) == "three are enough"
    GATE.set()
    until(lambda: known[0].done)
    runs.begin(4)
    assert runs.find(1) is None
    assert runs.find(2) is known[1]

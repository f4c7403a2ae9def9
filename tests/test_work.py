"""Work in a thread: its result, its error, how far it is, and how it ends."""

import threading
from types import SimpleNamespace

import pytest

from xpos_viz.ui import work as module
from xpos_viz.ui.work import Work, working

PATIENCE = 30


class Steps:
    """A computation that goes on by one report whenever it is let."""

    def __init__(self, *shares):
        self.shares, self.go, self.told = shares, threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, report):
        for share in self.shares:
            self.go.acquire()
            try:
                report(share)
            finally:
                self.told.release()
        return "whole"

    def step(self):
        """Let one report be made, and wait until it was."""
        self.go.release()
        assert self.told.acquire(timeout=PATIENCE)


def test_work_has_a_result():
    work = Work("key", Steps())
    assert work.done(PATIENCE)
    assert work.result == "whole"
    assert not work.ended


def test_an_error_of_the_work_is_raised_where_it_is_asked_for():
    def fails(_):
        raise ValueError("got 7; use 8.")

    work = Work("key", fails)
    assert work.done(PATIENCE)
    assert not work.ended
    with pytest.raises(ValueError, match=r"^got 7; use 8\.$"):
        _ = work.result


def test_how_far_work_is():
    steps = Steps(0.0, 0.25, 0.2, 1.5)
    work = Work("key", steps)
    assert (work.share, work.left, work.done()) == (0.0, float("inf"), False)
    seen = []
    for _ in steps.shares:
        steps.step()
        seen.append(work.share)
    assert seen == [0.0, 0.25, 0.25, 1.0]
    assert work.done(PATIENCE)
    assert work.left == 0.0


def test_what_is_left_follows_the_pace(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    steps = Steps(0.0, 0.1, 0.4)
    work = Work("key", steps)
    for at, left in ((103.0, float("inf")), (103.5, 4.5), (104.0, 1.5)):
        now[0] = at
        steps.step()
        assert work.left == pytest.approx(left)
    assert work._done.wait(PATIENCE)


def test_stopped_work_ends_at_its_next_report():
    steps = Steps(0.1, 0.2, 0.3)
    work = Work("key", steps)
    steps.step()
    work.stop()
    steps.step()
    assert work.done(PATIENCE)
    assert (work.ended, work.share) == (True, 0.1)


def test_work_ends_when_nobody_looks(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    steps = Steps(0.1, 0.2, 0.3)
    work = Work("key", steps)
    now[0] = module.UNSEEN
    steps.step()
    assert not work.done()  # which is a look
    now[0] = 2 * module.UNSEEN
    steps.step()
    now[0] += 0.1
    steps.step()
    assert work._done.wait(PATIENCE)
    assert (work.ended, work.share, work.stopped) == (True, 0.2, False)


@pytest.fixture
def session(monkeypatch):
    """The state of a session."""
    state = {}
    monkeypatch.setattr(module, "st", SimpleNamespace(session_state=state))
    return state


@pytest.mark.usefixtures("session")
def test_a_session_has_one_work_and_asking_for_another_ends_it():
    steps = Steps(0.1, 0.2)
    one = working("one", steps)
    assert working("one", Steps()) is one
    other = working("other", Steps())
    assert one.stopped
    steps.step()
    assert one.done(PATIENCE)
    assert one.ended
    assert other.done(PATIENCE)
    assert other.result == "whole"
    assert working("other", Steps()) is other


@pytest.mark.usefixtures("session")
def test_work_that_was_left_begins_anew_and_stopped_work_does_not(monkeypatch):
    monkeypatch.setattr(module, "UNSEEN", -1.0)
    left = Work("key", Steps())
    steps = Steps(0.1)
    left = working("key", steps)
    steps.step()
    assert left._done.wait(PATIENCE)
    anew = working("key", steps)
    assert anew is not left
    anew.stop()
    steps.step()
    assert anew._done.wait(PATIENCE)
    assert working("key", Steps()) is anew
    module._forget("work")
    assert working("key", Steps()) is not anew

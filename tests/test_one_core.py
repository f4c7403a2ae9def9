"""One thread here, and as many as before everywhere else."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest
import torch

from xpos_viz import one_core as module
from xpos_viz.one_core import one_core


def elsewhere(function, *arguments):
    """What a function gives in a new thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


@pytest.fixture(autouse=True)
def three():
    """Three threads here and in threads to come."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def counts():
    """The threads here, and of a thread to come."""
    return torch.get_num_threads(), elsewhere(torch.get_num_threads)


def test_only_who_asks_computes_with_one():
    with one_core():
        assert counts() == (1, 3)
        torch.ones(9).sum()
        assert counts() == (1, 3)
        with one_core():
            assert counts() == (1, 3)
        assert counts() == (1, 3)
    assert counts() == (3, 3)


def test_an_error_gives_them_back():
    with pytest.raises(InterruptedError), one_core():
        raise InterruptedError
    assert counts() == (3, 3)


@pytest.mark.parametrize("first", [0, 1])
def test_two_that_overlap_leave_what_was(first):
    """Both are in at once, and either may leave first."""
    both, one_left = Barrier(2, timeout=60), Barrier(2, timeout=60)

    def overlap(place):
        with one_core():
            both.wait()
            if place != first:
                one_left.wait()
            inside = torch.get_num_threads()
        if place == first:
            one_left.wait()
        return inside, torch.get_num_threads()

    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(overlap, (0, 1))] == [(1, 3)] * 2
    assert counts() == (3, 3)


def test_a_new_thread_that_asks_while_another_is_just_setting_leaves_with_what_was(monkeypatch):
    """Between both settings a new thread would get 1 for good, so it has to wait."""
    found, by_another = list[tuple[int, int]](), module._by_another

    def ask():
        with one_core():
            inside = torch.get_num_threads()
        found.append((inside, torch.get_num_threads()))

    late = Thread(target=ask)

    def slowly(function, *arguments):
        if function is torch.set_num_threads and not late.ident:
            late.start()
            late.join(0.2)
        return by_another(function, *arguments)

    monkeypatch.setattr(module, "_by_another", slowly)
    with one_core():
        pass
    late.join(60)
    assert found == [(1, 3)]
    assert counts() == (3, 3)

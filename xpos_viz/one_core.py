"""One thread for what has to give the same sums everywhere, and for what is to take one core."""

import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def one_core() -> Generator[None]:
    """Have torch compute with one thread where this is called; others keep what they have.

    Examples
    --------
    >>> before = torch.get_num_threads()
    >>> with one_core():
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    with _alone:
        before = torch.get_num_threads()
    try:
        _compute_with(1)
        yield
    finally:
        _compute_with(before)


def _compute_with(count: int) -> None:
    """Change the number of this thread alone.

    Torch keeps a number for each thread that has computed, and one for those to come, and sets
    both at once; a thread that has not computed sets only the latter. Until that is set back, one
    that asks for the first time would get `count`, so who asks here waits for its turn.
    """
    with _alone:
        if torch.get_num_threads() == count:
            return
        coming = _by_another(torch.get_num_threads)
        torch.set_num_threads(count)
        _by_another(torch.set_num_threads, coming)


def _by_another(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function in a new thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *args, **kwargs).result()


_alone = threading.Lock()

"""Processes that are replaced when one of them ends."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
T = TypeVar("T")


class Processes(Executor):
    """Processes of this machine that each compute with one thread.

    Where one of them ends, as for lack of memory, the futures that were under way fail with
    :class:`concurrent.futures.process.BrokenProcessPool`, as those of a ProcessPoolExecutor do;
    but what is submitted next finds new processes.

    Parameters
    ----------
    workers
        How many; 0 is one for each core.
    """

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool = self._started()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a function called by one of them."""
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._pool.shutdown(wait=True)
            self._pool = self._started()
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End them."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def _started(self) -> ProcessPoolExecutor:
        """New processes, started when they are needed."""
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, context, _prepare)


def _prepare() -> None:
    """Compute with one thread, leave Ctrl-C to the process that asked, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the process that asked has ended, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

"""Work of the server that goes on while nobody looks: found again, one after the other.

It belongs to the server and not to a session, so that a page that is left, or opened by another
reader with the same settings, finds what is under way.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import streamlit as st

from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import heard

_REFUSED = "refused_runs"


class _StoppedError(Exception):
    """A reader has ended the work."""


class Run(ABC):
    """Work that was asked for: it waits its turn, is under way, or is done.

    `begun` is when its turn came, in seconds of a clock.
    """

    def __init__(self) -> None:
        self.stopped = False
        self.begun: float | None = None
        self.error: BaseException | None = None
        self._done = threading.Event()

    @abstractmethod
    def work(self) -> None:
        """Do all of it, and :meth:`look` often."""

    @property
    def done(self) -> bool:
        """Whether nothing more will come."""
        return self._done.is_set()

    @property
    def ended(self) -> bool:
        """Whether it was stopped or failed, and is to be begun anew."""
        return self.stopped or self.error is not None

    def stop(self) -> None:
        """End it at its next look; what is known stays until it is begun anew."""
        self.stopped = True

    def look(self) -> None:
        """End the work if a reader has stopped it."""
        if self.stopped:
            raise _StoppedError

    def go(self) -> None:
        """Do all of it, or as much as is wanted."""
        try:
            self.look()
            self.begun = time.monotonic()
            self.work()
        except _StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001 - it is told where the work is looked at
            self.error = error
        self._done.set()


Key = TypeVar("Key", bound=Hashable)
Kind = TypeVar("Kind", bound=Run)


class Runs(Generic[Key, Kind]):
    """The work of one kind that a server knows, of which one at a time is under way.

    Parameters
    ----------
    make
        Makes the work of a key, which is all that it depends on.
    most
        How many the server knows, those that wait their turn among them.
    refusal
        What is said of one more.
    """

    def __init__(self, make: Callable[[Key], Kind], most: int, refusal: str) -> None:
        self._make, self._most, self._refusal = make, most, refusal
        self._runs: OrderedDict[Key, Kind] = OrderedDict()
        self._alone = threading.Lock()
        self._waiting: SimpleQueue[Kind] = SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    def begin(self, key: Key) -> Kind:
        """Begin the work of a key, or return what is under way.

        Raises
        ------
        ValueError
            If as many as the server takes are under way or wait.
        """
        with self._alone:
            run = self._runs.get(key)
            if run is not None and not run.ended:
                return run
            self._runs.pop(key, None)
            self._make_room()
            run = self._runs[key] = self._make(key)
            self._waiting.put(run)
            return run

    def find(self, key: Key) -> Kind | None:
        """Return work that was begun, if the server still knows it."""
        with self._alone:
            return self._runs.get(key)

    def _serve(self) -> None:
        """Do what waits, in order."""
        while True:
            self._waiting.get().go()

    def _make_room(self) -> None:
        """Forget the oldest that is done."""
        if len(self._runs) < self._most:
            return
        for key, run in self._runs.items():
            if run.done:
                del self._runs[key]
                return
        raise ValueError(self._refusal)


def ask(runs: Runs[Key, Any], key: Key) -> None:
    """Begin the work of a key on a click; :func:`offer` says why it cannot be."""
    heard("ask")
    try:
        runs.begin(key)
    except ValueError as error:
        st.session_state.setdefault(_REFUSED, {})[key] = error


def offer(
    runs: Runs[Key, Any], key: Key, label: str, name: str, failed: Callable[[str], str]
) -> None:
    """Draw the button that begins the work of a key, and why it failed before.

    Parameters
    ----------
    runs, key
        What is begun.
    label, name
        The words on the button, and its name among those of the page.
    failed
        Writes that it failed, with the reason.
    """
    run, refused = runs.find(key), st.session_state.get(_REFUSED, {}).pop(key, None)
    if why := refused or (run and run.error):
        st.error(failed(plain(str(why))))
    st.button(label, key=name, icon=":material/play_arrow:", on_click=partial(ask, runs, key))

"""Work that may take long: in a thread, told apart by a key, and ended when nobody waits for it.

A page asks for its work in each run. Where it is not done within a moment, :meth:`Work.watch`
shows how far it is and a way to end it. Asking for something else ends it too, and so does
leaving: work goes on only while somebody looks at it.
"""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import streamlit as st

from xpos_viz.pooling.sides import Report
from xpos_viz.texts import Text
from xpos_viz.ui.session import heard

Result = TypeVar("Result")

MOMENT = 1.0
"""Seconds for which a page waits before it shows progress: a thought goes on for as long (Nielsen
1993, Usability Engineering, ch. 5)."""

UNSEEN = 5.0
"""Seconds that work goes on while nobody looks."""

_EVERY = 0.5  # seconds between two looks
_PAGE = "work"  # where the work of a page is kept


class _EndedError(Exception):
    """Nobody waits for this work."""


class Work(Generic[Result]):
    """A computation that runs in a thread of its own.

    Parameters
    ----------
    key
        All that the result depends on.
    compute
        A function that tells another one the share of the work that is done, rising to 1; that
        raises an exception where the work is to end.
    place
        Where the session keeps it: other work of that place is ended for it.
    """

    def __init__(
        self, key: Hashable, compute: Callable[[Report], Result], place: str = _PAGE
    ) -> None:
        self.key, self.place, self.share, self.stopped = key, place, 0.0, False
        self._compute, self._done = compute, threading.Event()
        self._results: list[Result] = []
        self._error: Exception | None = None
        self._seen = self._begun = time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether it ended without a result, for nobody looked at it."""
        return isinstance(self._error, _EndedError)

    @property
    def left(self) -> float:
        """Seconds that are left, if the rest goes as the work so far; ∞ before any is done."""
        spent = time.monotonic() - self._begun
        return spent * (1 - self.share) / self.share if self.share else float("inf")

    def done(self, patience: float = 0.0) -> bool:
        """Look, for some seconds at most, whether there is a result or an error."""
        self._seen = time.monotonic()
        return self._done.wait(patience)

    @property
    def result(self) -> Result:
        """What was computed; an error of the work is raised here."""
        if self._error is not None:
            raise self._error
        return self._results[0]

    def stop(self) -> None:
        """End the work at its next report."""
        self.stopped = True

    def _run(self) -> None:
        """Compute, and keep the result or the error."""
        try:
            self._results.append(self._compute(self._report))
        except Exception as error:  # noqa: BLE001 - it is raised where the result is asked for
            self._error = error
        self._done.set()

    def _report(self, share: float) -> None:
        """Note how far the work is, unless it is to end."""
        if self.stopped or time.monotonic() - self._seen > UNSEEN:
            raise _EndedError
        if share == 0.0:  # others have their turn
            self._begun = time.monotonic()
        self.share = max(self.share, min(share, 1.0))


def working(key: Hashable, compute: Callable[[Report], Result], place: str = _PAGE) -> Work[Result]:
    """Return the session's work of that key; other work of that place is ended for it."""
    known: Work[Result] | None = st.session_state.get(place)
    if known is not None and known.key == key and (known.stopped or not known.ended):
        return known
    if known is not None:
        known.stop()
    st.session_state[place] = Work(key, compute, place)
    return st.session_state[place]


def shown(work: Work[Result], text: Text) -> bool:
    """Whether the result is there; else show how far the work is, or that it was stopped."""
    if work.stopped:
        _stopped(work, text)
        return False
    if work.done(MOMENT):
        if work.ended:  # just now, for nobody had looked at it
            _forget(work.place)
            st.rerun()
        return True
    _watch(work, text)
    return False


@st.fragment(run_every=_EVERY)
def _watch(work: Work[Result], text: Text) -> None:
    """How far the work is, looked at again and again, and the way to stop it."""
    if work.done() or work.stopped:
        heard(None)  # the address that came with this look may be older than what is set
        st.rerun()
    key = "work.share" if work.share else "work.waiting"
    st.progress(
        work.share, text(key, share=f"{100 * work.share:.0f}\u00a0%", left=f"{work.left:,.0f}")
    )
    st.button(
        text("work.stop"),
        key=f"stop_{work.place}",
        on_click=_stop,
        args=(work,),
        icon=":material/stop_circle:",
    )


def _stop(work: Work[Any]) -> None:
    """End the work."""
    heard("stop")
    work.stop()


def _stopped(work: Work[Any], text: Text) -> None:
    """That the work was stopped, and the way to begin again."""
    st.info(text("work.stopped"))
    again = text("work.again")
    st.button(
        again,
        key=f"again_{work.place}",
        on_click=_forget,
        args=(work.place,),
        icon=":material/play_arrow:",
    )


def _forget(place: str) -> None:
    """Forget the work, so that it begins anew."""
    heard("again")
    st.session_state.pop(place, None)

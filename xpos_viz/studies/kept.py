"""What was computed lately and is looked at again, by all that it depends on."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The results that were used last, for all sessions.

    Parameters
    ----------
    most
        How many, or how large all of them together may be.
    size
        How large a result is.

    Examples
    --------
    >>> kept: Kept[str] = Kept(1)
    >>> kept.put("first", "a")
    >>> kept.put("second", "b")
    >>> kept.get("first"), kept.get("second")
    (None, 'b')
    """

    def __init__(self, most: int, size: Callable[[Value], int] = lambda _: 1) -> None:
        self._most, self._size, self._lock = most, size, threading.Lock()
        self._used = 0
        self._results: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return a result, which then was used last, or None."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a result, and let those go that were not used for longest."""
        with self._lock:
            if key in self._results:
                self._used -= self._size(self._results.pop(key))
            self._results[key] = value
            self._used += self._size(value)
            while self._used > self._most:
                self._used -= self._size(self._results.popitem(last=False)[1])

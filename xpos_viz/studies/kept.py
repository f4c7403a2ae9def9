"""What was computed lately and is looked at again, by all that it depends on."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """The results that were used last, for all sessions.

    Parameters
    ----------
    most
        How many.

    Examples
    --------
    >>> kept: Kept[str] = Kept(1)
    >>> kept.put("first", "a")
    >>> kept.put("second", "b")
    >>> kept.get("first"), kept.get("second")
    (None, 'b')
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._results: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable) -> Value | None:
        """Return a result, which then was used last, or None."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a result, and let the one go that was not used for longest."""
        with self._lock:
            self._results[key] = value
            while len(self._results) > self._most:
                self._results.popitem(last=False)

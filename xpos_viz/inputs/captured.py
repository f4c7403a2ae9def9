"""A head of a capture that someone brought, and where this process keeps such captures."""

import re
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from weakref import WeakValueDictionary

import torch

from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.vectors import Vectors
from xpos_viz.limits import LIMITS, Limits

_HASH = re.compile(r"[0-9a-f]{64}")


class Store:
    """Captures by their hashes; the one that was used last is dropped last.

    What was dropped while somebody uses it is found until then.

    Parameters
    ----------
    limits
        Of which `kept` is how many bytes they may take together.

    Examples
    --------
    >>> import torch
    >>> store = Store()
    >>> capture = Capture(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2))
    >>> store.lookup(store.keep(capture)) is capture
    True
    """

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._kept: OrderedDict[str, Capture] = OrderedDict()
        self._used: WeakValueDictionary[str, Capture] = WeakValueDictionary()
        self._lock = Lock()

    def keep(self, capture: Capture) -> str:
        """Keep a capture, drop those that were not used for longest, and return its hash.

        Raises
        ------
        ValueError
            For a capture that is larger than all may be together.
        """
        if capture.bytes > self._limits.kept:
            raise ValueError(
                f"a capture must be at most {self._limits.kept:,} bytes to be kept, got "
                f"{capture.bytes:,}; use fewer layers or tokens, or set XPOS_VIZ_MAX_KEPT."
            )
        name = capture.hash
        with self._lock:
            self._kept[name] = self._used[name] = self._used.get(name, capture)
            self._kept.move_to_end(name)
            while sum(each.bytes for each in self._kept.values()) > self._limits.kept:
                self._kept.popitem(last=False)
        return name

    def lookup(self, name: str) -> Capture:
        """Return the capture with a hash.

        Raises
        ------
        ValueError
            For what is no hash, or that of a capture that is not kept.
        """
        if not isinstance(name, str) or not _HASH.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"data must be the hash of a capture, 64 of 0-9 and a-f, got {name!r:.40}; "
                "use keep(capture)."
            )
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            found = self._used.get(name)
        if found is None:
            raise ValueError(
                f"this link asks for data with the hash {name[:12]}…, which are not here; "
                "use the file that it was made from: upload it again, or name it by --data."
            )
        return found


STORE = Store()
"""The captures that this process keeps."""

keep, lookup = STORE.keep, STORE.lookup


@dataclass(frozen=True)
class Captured:
    """One head of a capture that this process keeps.

    Parameters
    ----------
    data
        The hash of the capture, from :func:`keep`.
    layer
        One of its layers.
    head
        A query head.

    Raises
    ------
    ValueError
        For a capture that is not kept, a layer or head that it has not, or tokens that do not
        stand one by one.

    Examples
    --------
    >>> import torch
    >>> inputs = Captured(keep(Capture(torch.ones(1, 4, 9, 8), torch.ones(1, 2, 9, 8))), 0, 3)
    >>> inputs.tokens, inputs.load(8).k.shape
    (9, torch.Size([9, 8]))
    """

    data: str = ""
    layer: int = 0
    head: int = 0

    def __post_init__(self) -> None:
        capture = self.capture
        capture.place(self.layer)
        capture.key_head(self.head)
        keys, queries = capture.key_positions, capture.query_positions
        steps = torch.arange(len(keys)) + keys[0]
        if not (torch.equal(keys, steps) and torch.equal(queries, steps[-len(queries) :])):
            raise ValueError(
                "keys must stand at positions one by one, and queries at the last of them, got "
                f"keys from {keys[0]:g} to {keys[-1]:g} and queries from {queries[0]:g} to "
                f"{queries[-1]:g}; use Capture.weights, which knows any positions."
            )

    @property
    def capture(self) -> Capture:
        """All layers and heads."""
        return lookup(self.data)

    @property
    def head_dim(self) -> int | None:
        """The only width there is; None where any is."""
        return self.capture.head_dim

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return len(self.capture.key_positions)

    @property
    def first(self) -> int:
        """The first token that has a query."""
        return self.tokens - len(self.capture.query_positions)

    def load(self, head_dim: int) -> Vectors:
        """Return the captured vectors, of their own width; tokens without a query have NaN."""
        capture = self.capture
        if head_dim != capture.head_dim:
            raise ValueError(
                f"these data have head_dim {capture.head_dim}, got {head_dim}; "
                f"use {capture.head_dim}."
            )
        vectors = capture.vectors(self.layer, self.head)
        none = torch.full((self.first, head_dim), torch.nan, dtype=vectors.q.dtype)
        return Vectors(torch.cat([none, vectors.q]), vectors.k, vectors.layout, vectors.labels)

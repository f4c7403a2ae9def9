"""What each byte of a text costs trained models, and where they lose its thread."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from xpos_viz.inputs import Capture
from xpos_viz.inputs.labels import within
from xpos_viz.lab import SETTINGS, Transformer, reading, windowed
from xpos_viz.lab.bundle import texts
from xpos_viz.lab.results import captured
from xpos_viz.measurements import frozen
from xpos_viz.pooling.sides import Report
from xpos_viz.studies.lab import Lab

Bits = NDArray[np.float64]
"""What each byte costs, (bytes,)."""

MOST_BYTES = max(setting.longest for setting in SETTINGS.values())
"""Most bytes of a passage: what the largest models read."""

WINDOW = 64
"""Bytes whose mean is drawn, since single ones differ much."""

EDGE = 0.5
"""Bits per byte: who loses more than that has lost the thread."""

_BEFORE = "\n"  # what is read before a text, so that its first byte costs something too
_WORD = re.compile(r"\s*(?:\w{1,12}|[^\w\s]{1,12}|\Z)")


@dataclass(frozen=True)
class Read:
    """A text that models read.

    Parameters
    ----------
    lab
        Which models, and what they see.
    passage
        What somebody typed; nothing is the first of the texts on which models are measured.
    """

    lab: Lab
    passage: str = ""

    @property
    def text(self) -> str:
        """What is read: all of it, or as much as models of this size read."""
        return within(self.passage or _measured(self.lab.size), self.lab.setting.longest)

    @property
    def size(self) -> int:
        """Bytes that are read."""
        return len(self.text.encode())

    @property
    def length(self) -> int:
        """L, the training length."""
        return self.lab.setting.length

    @property
    def beyond(self) -> int:
        """How many bytes lie beyond the training length."""
        return max(0, self.size - self.length)


@dataclass(frozen=True, eq=False)
class Costs:
    """What a model pays for each byte of a text.

    Parameters
    ----------
    name
        Of the model.
    whole, near
        Bits, with all that it sees, and in windows of the training length.
    length
        L, the training length.
    """

    name: str
    whole: Bits
    near: Bits
    length: int

    @property
    def excess(self) -> Bits:
        """What it pays for reading more than a window of L: nothing up to byte L."""
        return self.whole - self.near

    @property
    def mean(self) -> float:
        """The mean excess of bytes beyond the training length, of which there are some."""
        return float(self.excess[self.length :].mean())

    @property
    def lost(self) -> int | None:
        """The byte, counted from one, by which it has lost the thread, or None.

        Over the last :data:`WINDOW` bytes the excess is above :data:`EDGE` there, and so it is
        over all that follow, which are as many at least.
        """
        excess, size = self.excess, len(self.excess)
        places = np.arange(1, size - WINDOW + 1)
        following = excess[::-1].cumsum()[::-1]
        before, after = running(excess)[places - 1], following[places] / (size - places)
        found = places[(before > EDGE) & (after > EDGE)]
        return int(found[0]) if len(found) else None


def running(values: Bits) -> Bits:
    """Return the mean of the last :data:`WINDOW` values, NaN where there are too few of them."""
    fewest = min(WINDOW // 4, len(values))
    return pd.Series(values).rolling(WINDOW, min_periods=fewest).mean().to_numpy()


def costs(read: Read, report: Report = lambda _: None) -> tuple[Costs, ...]:
    """Let the models read a text; what was read lately is kept.

    Parameters
    ----------
    read
        Which models, and what they read.
    report
        Told which share is done; what it raises ends it.
    """
    lab, found = read.lab, list[Costs]()
    for done, name in enumerate(lab.models):
        report(done / len(lab.models))
        found.append(Costs(name, *_bits(lab.model(name), lab.mask, read.text), read.length))
    return tuple(found)


def costs_table(found: Sequence[Costs]) -> pd.DataFrame:
    """Return a row for each model and byte.

    Columns are encoding, place (of the byte, from one), bits, near (bits in windows of the
    training length) and excess.
    """
    parts = (
        pd.DataFrame(
            {
                "encoding": each.name,
                "place": np.arange(1, len(each.whole) + 1),
                "bits": each.whole,
                "near": each.near,
                "excess": each.excess,
            }
        )
        for each in found
    )
    return pd.concat(parts, ignore_index=True)


def words_of(text: str) -> Iterator[tuple[str, slice]]:
    """Cut a text into words and signs, each with the space before it, and the places of its bytes.

    Examples
    --------
    >>> [(piece, part.start, part.stop) for piece, part in words_of("Ebbe, flüstert")]
    [('Ebbe', 0, 4), (',', 4, 5), (' flüstert', 5, 15)]
    """
    start = 0
    for piece in filter(None, _WORD.findall(text)):
        stop = start + len(piece.encode())
        yield piece, slice(start, stop)
        start = stop


def queries_and_keys(read: Read, name: str) -> Capture:
    """Return what a model computes on a text, before its encoding."""
    lab = read.lab
    return captured(lab.model(name), read.text.encode(), f"lab-{lab.size}-{name}")


@lru_cache(maxsize=2)
def _measured(size: str) -> str:
    """The first text on which models of a size are measured."""
    return bytes(texts(size)[0, :-1].tolist()).decode(errors="ignore")


@lru_cache(maxsize=64)
def _bits(model: Transformer, mask: str, text: str) -> tuple[Bits, Bits]:
    """What each byte costs a model that reads a text as a whole, under a mask, and in windows."""
    content = torch.tensor([[*f"{_BEFORE}{text}".encode()]])
    whole = reading(model, content, content.shape[-1] - 1, mask)
    near = windowed(model, content, model.setting.length)
    return frozen(whole[0].double().numpy()), frozen(near[0].double().numpy())

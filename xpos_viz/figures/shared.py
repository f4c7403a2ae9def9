"""Pictures that follow each other, on one scale: limits that jump would lie.

Colours and axes of all of them end where the largest needs it, and a note stays where it
holds for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from xpos_viz.figures.description import (
    Bar,
    Bars,
    Curves,
    Description,
    Grid,
    Heatmaps,
    Panel,
    Plane,
)
from xpos_viz.figures.spans import bar_limits, height_limits, plane_limit, width_limits
from xpos_viz.texts import Text


def on_one_scale(frames: Sequence[Description]) -> list[Description]:
    """Return pictures of one kind with the same ends of colours and axes.

    Parameters
    ----------
    frames
        One or more. Maps of which some have fewer tokens have cells of one size, and are
        filled up with cells that are not seen.
    """
    scaled = _PARTS[type(frames[0])](frames)
    notes = [note for note in scaled[0].notes if all(note in frame.notes for frame in scaled)]
    return [replace(frame, notes=tuple(notes)) for frame in scaled]


def titled(frame: Description, words: str, text: Text) -> Description:
    """Return a picture whose title says some words, where none of its titles does."""
    described: dict[str, Any] = {"alt": text("figure.told", words=words, alt=frame.alt)}
    if isinstance(frame, Heatmaps):
        if not any(_says(panel.title, words) for panel in frame.panels):
            described["panels"] = tuple(_ending(panel, words) for panel in frame.panels)
    elif not _says(frame.title, words):
        described["title"] = (f"{frame.title[0]} · {words}", *frame.title[1:])
    return replace(frame, **described)


def _says(title: Sequence[str], words: str) -> bool:
    """Whether one of its lines ends with the words, or has them before a comma or a bracket."""
    return any(words + end in f"{line}\n" for line in title for end in ("\n", ", ", "，", ")"))


def _ending(panel: Panel, words: str) -> Panel:
    """A panel whose title ends with the words."""
    return replace(panel, title=(*panel.title[:-1], f"{panel.title[-1]} · {words}"))


def _heatmaps(frames: Sequence[Heatmaps]) -> list[Heatmaps]:
    """Maps over the axis of the longest."""
    longest = max(frames, key=lambda frame: len(frame.axis.positions))
    bars = tuple(map(_widest, zip(*(frame.bars for frame in frames), strict=True)))
    side = len(longest.axis.positions)
    return [
        replace(
            frame,
            axis=longest.axis,
            bars=bars,
            panels=tuple(_filled_up(panel, side) for panel in frame.panels),
        )
        for frame in frames
    ]


def _filled_up(panel: Panel, side: int) -> Panel:
    """A panel with so many rows and columns."""
    room = (0, side - len(panel.values))
    values = np.pad(panel.values, (room, room), constant_values=np.nan)
    return replace(panel, values=values, seen=np.pad(panel.seen, (room, room)))


def _grids(frames: Sequence[Grid]) -> list[Grid]:
    """Cells on one colour bar."""
    bar = _widest([frame.bar for frame in frames])
    return [replace(frame, bar=bar) for frame in frames]


def _curves(frames: Sequence[Curves]) -> list[Curves]:
    """Lines over the same axes."""
    x, y = _around(map(width_limits, frames)), _around(map(height_limits, frames))
    return [replace(frame, x_limits=x, y_limits=y) for frame in frames]


def _bars(frames: Sequence[Bars]) -> list[Bars]:
    """Bars on the same axis."""
    limits = _around(map(bar_limits, frames))
    return [replace(frame, y_limits=limits) for frame in frames]


def _planes(frames: Sequence[Plane]) -> list[Plane]:
    """Points of the same part of the plane."""
    limit = max(map(plane_limit, frames))
    return [replace(frame, limit=limit) for frame in frames]


def _widest(bars: Sequence[Bar]) -> Bar:
    """The colour bar that reaches furthest."""
    return max(bars, key=lambda bar: bar.limit)


def _around(limits: Any) -> tuple[float, float]:  # noqa: ANN401 - an iterator of pairs
    """The lowest and the highest of limits."""
    lows, highs = zip(*limits, strict=True)
    return min(lows), max(highs)


_PARTS: Mapping[type, Callable[[Any], list[Any]]] = MappingProxyType(
    {Heatmaps: _heatmaps, Curves: _curves, Grid: _grids, Bars: _bars, Plane: _planes}
)

"""A figure for a projector: type, lines, dots and all that is counted in pixels, larger."""

from collections.abc import Mapping
from typing import Any, cast

from xpos_viz.figures.screen import Spec

_PIXELS = frozenset(
    (
        *("size", "width", "height", "thickness", "ticklen", "standoff", "xshift", "yshift"),
        *("l", "r", "t", "b", "outlinewidth", "ypad"),
    )
)


def enlarged(figure: Spec, factor: float) -> Spec:
    """Return the same figure with everything that is counted in pixels `factor` times as large."""
    return {name: _enlarged(part, factor) for name, part in figure.items()}


def _enlarged(part: Any, factor: float) -> Any:  # noqa: ANN401 - whatever a figure is made of
    """A part of a figure, enlarged; arrays are data and stay as they are."""
    if isinstance(part, Mapping):
        return {
            name: value * factor
            if name in _PIXELS and isinstance(value, int | float)
            else _enlarged(value, factor)
            for name, value in cast("Mapping[str, Any]", part).items()
        }
    if isinstance(part, list | tuple):
        return [_enlarged(item, factor) for item in cast("list[Any]", part)]
    return part

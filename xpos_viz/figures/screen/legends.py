"""What lines, bars and points are called: a legend as HTML, which wraps where a page is narrow."""

from html import escape
from itertools import accumulate, pairwise

from xpos_viz.figures.description import Bars, Curves, Description, Plane
from xpos_viz.figures.words import bound
from xpos_viz.theme import stroke

_NAMED = 12  # most points in the legend; where there are more, pointing at them names them
_DASHES = {
    "solid": (30,),
    "dash": (7, 5),
    "dot": (2, 3),
    "dashdot": (7, 3, 2, 3),
    "longdash": (13, 4),
    "longdashdot": (12, 3, 2, 3),
}
"""Pixels of dash and gap, in turn."""

Entry = tuple[str, str]
"""A label, and the sign beside it."""


def entries(description: Description) -> list[Entry]:
    """Return what the legend of a description says, in the order of what is drawn."""
    match description:
        case Curves():
            dashes = [curve.dash for curve in description.curves]
            strokes = map(stroke, description.places, dashes)
            labels = [curve.label for curve in description.curves]
            return [(label, _line(*drawn)) for label, drawn in zip(labels, strokes, strict=True)]
        case Bars():
            names = enumerate(description.entries)
            return [(name, _sign("block", stroke(at)[0])) for at, name in names]
        case Plane() if len(description.drawn) <= _NAMED:
            labels = enumerate(description.labels[point] for point in description.drawn)
            return [(label, _line(stroke(place)[0], "solid")) for place, label in labels]
        case _:
            return []


def markup(description: Description, hint: str) -> str:
    """Write the legend as a list, or nothing where there is none.

    Each item is reached by keys, says a hint where it is pointed at, and has a class with the
    place of its line among all that is drawn: bands come first.
    """
    curves = description.curves if isinstance(description, Curves) else ()
    bands = sum(curve.band is not None for curve in curves)
    items = "".join(
        f'<li class="xv-at-{place}" tabindex="0" title="{escape(hint)}">'
        f"{sign} {escape(bound(label))}</li>"
        for place, (label, sign) in enumerate(entries(description), bands)
    )
    return items and f'<ul class="xv-legend">{items}</ul>'


def _line(colour: str, dash: str) -> str:
    """A piece of a line."""
    ends = [0, *accumulate(_DASHES[dash])]
    stops = (
        f"{'#0000' if part % 2 else colour} {start}px {end}px"
        for part, (start, end) in enumerate(pairwise(ends))
    )
    return _sign("line", f"repeating-linear-gradient(90deg, {', '.join(stops)})")


def _sign(kind: str, ground: str) -> str:
    """A small box of some colours."""
    return f'<span class="xv-{kind}" style="background: {ground}"></span>'

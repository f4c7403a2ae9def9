"""The line of each encoding: the same colour and stroke in every picture."""

from collections.abc import Iterable

from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.theme import DASHES, LINES, STROKES

Line = tuple[int, str]
"""A place in :data:`xpos_viz.theme.LINES` and one of :data:`xpos_viz.theme.STROKES`."""

_OWN = ("rope", "xpos")  # whose colours no other has
_STROKES = tuple(dict.fromkeys(DASHES))  # those that families have


def _line(place: int) -> Line:
    """The line of the encoding at a place: the others share the rest of the colours."""
    if place < len(_OWN):
        return place, DASHES[place]
    turn, rest = divmod(place - len(_OWN), len(LINES) - len(_OWN))
    return len(_OWN) + rest, _STROKES[(place + turn) % len(_STROKES)]


_ORDER = (*_OWN, *(name for name in REGISTRY if name not in _OWN))
FAMILY_LINES: dict[str, Line] = {name: _line(place) for place, name in enumerate(_ORDER)}
"""The line of each family, by name; no two are alike."""


def lines(encodings: Iterable[Encoding]) -> list[Line]:
    """Return the line of each encoding: that of its family.

    Where several are of one family, those after the first have the next free strokes of its
    colour.

    Examples
    --------
    >>> from xpos_viz import rope, xpos
    >>> from xpos_viz.encoding import nope
    >>> lines([nope(64), rope(64), xpos(64), xpos(64, scale_base=64)])
    [(2, 'dot'), (0, 'solid'), (1, 'dash'), (1, 'dot')]
    """
    given = list(encodings)
    taken = {FAMILY_LINES[encoding.name] for encoding in given}
    seen: set[str] = set()
    found: list[Line] = []
    for encoding in given:
        line = FAMILY_LINES[encoding.name]
        if encoding.name in seen:
            line = _next(line, taken)
            taken.add(line)
        seen.add(encoding.name)
        found.append(line)
    return found


def _next(line: Line, taken: set[Line]) -> Line:
    """The first free stroke of a colour after a line, or the next one where none is free."""
    colour, dash = line
    start = _STROKES.index(dash) + 1
    order = (*_STROKES[start:], *_STROKES[:start], *STROKES[len(_STROKES) :])
    after = [(colour, other) for other in order]
    return next((other for other in after if other not in taken), after[0])

"""A picture at several values of γ, B, base or length.

All frames share ends of colours and axes, and the title of each says its value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from xpos_viz.choice import check_choice
from xpos_viz.encoding import PARAMETERS, lookup
from xpos_viz.figures.description import Description
from xpos_viz.figures.shared import on_one_scale, titled
from xpos_viz.figures.words import number, tokens
from xpos_viz.inputs import Computed
from xpos_viz.pictures import PICTURES
from xpos_viz.pooling import block_size
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.state.changes import with_inputs, with_moves, with_view
from xpos_viz.texts import Text

SWEPT: tuple[str, ...] = ("gamma", "scale_base", "base", "length")
"""What can be swept."""

FRAMES = 24
"""Frames that a sweep usually has, at most."""

MOST_FRAMES = 100
"""Frames that a sweep may have."""

CELLS = 128
"""Rows and columns of a map in motion, at most: half a megabyte a frame."""

_GROWTH = 16  # frames of a growing length


@dataclass(frozen=True, eq=False)
class Sweep:
    """One picture at several values of a parameter.

    Parameters
    ----------
    parameter, values
        One of :data:`SWEPT`, and its values.
    label, written
        What it is called, and its values as they are written: "B 512".
    frames
        The picture at each of them, on one scale.
    """

    parameter: str
    values: tuple[float, ...]
    label: str
    written: tuple[str, ...]
    frames: tuple[Description, ...]


def pictures_of(page: str) -> tuple[str, ...]:
    """Return the names of the pictures that a page can show.

    Examples
    --------
    >>> pictures_of("compare")
    ('scores', 'decay')
    """
    return tuple(name for where, name in _SHOWN if where == page)


def sweepable(page: str, picture: str, state: State) -> tuple[str, ...]:
    """Return which of :data:`SWEPT` move a picture of a page.

    Examples
    --------
    >>> from xpos_viz.state import opening
    >>> sweepable("compare", "scores", State(opening()))
    ('gamma', 'scale_base', 'base')
    """
    names = _SHOWN[page, picture](state)
    moving = {name for each in names for name in lookup(each).defaults}
    moving -= _STILL.get((page, picture), set())
    if (picture, state.resolution_over) == ("resolution", "scale_base"):
        moving -= {"scale_base"}  # which is the axis
    if picture == "scores" and not isinstance(state.experiment.inputs, Computed):
        moving |= {"length"}
    return tuple(name for name in SWEPT if name in moving)


def usual_values(parameter: str, state: State) -> tuple[float, ...]:
    """Return the values that a sweep usually goes through: steps of the parameter's slider.

    A length grows evenly up to that which is set.
    """
    if parameter == "length":
        length = state.experiment.inputs.tokens
        block = block_size(length, _cells(state))
        parts = (length * step // _GROWTH // block * block for step in range(1, _GROWTH))
        return tuple(sorted({part for part in parts if part > 1} | {length}))
    steps = PARAMETERS[parameter].steps
    places = np.linspace(0, len(steps) - 1, min(len(steps), FRAMES)).round().astype(int)
    return tuple(steps[place] for place in places)


def sweep(
    page: str,
    picture: str,
    state: State,
    parameter: str,
    values: Sequence[float],
    text: Text,
    report: Report = lambda _: None,
) -> Sweep:
    """Compute a picture at several values of a parameter.

    Parameters
    ----------
    page, picture
        A key of :data:`xpos_viz.pictures.PICTURES`, and the name of one of its pictures.
    state
        All that is set.
    parameter
        One of :func:`sweepable`.
    values
        Its values, or none for :func:`usual_values`.
    text
        Sentences of one language.
    report
        Is told the share that is done; raises to end the work.

    Raises
    ------
    ValueError
        For a picture that the page does not show, or a parameter or values that are not legal.
    """
    _check(page, picture, state, parameter, values)
    values = tuple(values) or usual_values(parameter, state)
    frames: list[Description] = []
    for value in values:
        moved = _moved(state, parameter, value, max(values))
        shown = {each.name: each.description for each in PICTURES[page](moved, text)}
        frames.append(_picked(shown, page, picture))
        report(len(frames) / len(values))
    written = tuple(_written(parameter, value, text) for value in values)
    shared = text("export.shared")
    said = [
        titled(replace(frame, notes=(*frame.notes, shared)), name, text)
        for frame, name in zip(on_one_scale(frames), written, strict=True)
    ]
    return Sweep(parameter, values, text(f"ui.{parameter}"), written, tuple(said))


def _both(_: State) -> tuple[str, ...]:
    """RoPE and XPos."""
    return ("rope", "xpos")


_SHOWN: Mapping[tuple[str, str], Callable[[State], tuple[str, ...]]] = MappingProxyType(
    {
        ("compare", "scores"): _both,
        ("compare", "decay"): _both,
        ("learn", "step"): lambda _: (),
        ("decay", "decay"): lambda state: state.curves,
        ("decay", "bias"): lambda _: (),
        ("pairs", "pairs_map"): lambda state: (state.pair_encoding,),
        ("pairs", "pairs_plane"): lambda state: (state.pair_encoding,),
        ("pairs", "pairs_score"): _both,
        ("tokens", "reading"): _both,
        ("tokens", "heads"): lambda state: ("rope",) if state.panels == "rope" else ("xpos",),
        ("layers", "layers"): lambda _: ("xpos",),
        ("long", "long_maps"): _both,
        ("long", "resolution"): _both,
        ("precision", "overflow"): lambda _: ("xpos",),
        ("precision", "angles"): lambda _: ("rope",),
        ("neighbours", "scores"): lambda state: (state.left, state.right),
        ("neighbours", "decay"): lambda state: (state.left, state.right),
        ("neighbours", "bias"): lambda _: (),
        ("choose", "landscape"): lambda _: (),  # which has all γ and B already
        ("choose", "other_landscape"): lambda _: (),
        ("choose", "front"): lambda _: (),
        ("lab", "lab_places"): lambda _: (),  # models are trained already
        ("lab", "lab_means"): lambda _: (),
        ("lab", "lab_excess"): lambda _: (),
        ("lab", "lab_logits"): lambda _: (),
        ("lab", "lab_reading"): lambda _: (),
        ("lab", "lab_paper"): lambda _: (),
    }
)
"""The encodings that a picture of a page shows."""

_STILL: Mapping[tuple[str, str], set[str]] = MappingProxyType(
    {
        ("tokens", "reading"): {"base"},  # heads are read under the base of their model
        ("tokens", "heads"): {"base"},
        ("layers", "layers"): {"base"},
        ("precision", "overflow"): {"base"},  # turning makes no number larger
    }
)
"""Parameters of those encodings that do not move a picture."""


def _check(page: str, picture: str, state: State, parameter: str, values: Sequence[float]) -> None:
    """Raise ValueError for what cannot be swept."""
    pictures = pictures_of(page)
    check_choice("page", page, PICTURES)
    if picture not in pictures:
        options = ", ".join(pictures)
        raise ValueError(f"{page} has no picture {picture!r:.40}; use one of: {options}.")
    legal = sweepable(page, picture, state)
    if not legal:
        raise ValueError(f"nothing moves {picture} on {page}; use other encodings.")
    if parameter not in legal:
        options = ", ".join(legal)
        raise ValueError(f"{parameter!r:.40} does not move {picture}; use one of: {options}.")
    if len(values) > MOST_FRAMES:
        raise ValueError(
            f"a sweep has at most {MOST_FRAMES} values, got {len(values)}; leave some out."
        )


def _picked(shown: Mapping[str, Description], page: str, picture: str) -> Description:
    """The picture among those that a page shows."""
    if picture not in shown:
        raise ValueError(f"{page} shows no {picture} with these settings; choose more.")
    return shown[picture]


def _moved(state: State, parameter: str, value: float, most: float) -> State:
    """The state at a value, with few cells; bases that are apart move together."""
    if parameter == "length":
        return _grown(state, _whole(value), _whole(most))
    joined = replace(state, apart="no") if parameter == "base" else state
    return with_view(with_moves(joined, {parameter: value}), cells=_cells(state))


def _grown(state: State, length: int, most: int) -> State:
    """The state with some tokens, in cells as large as with the most of them."""
    block = block_size(most, _cells(state))
    if length != most and length % block:
        raise ValueError(
            f"lengths must be multiples of {block}, the tokens of a cell, got {length}; "
            f"use {max(1, round(length / block)) * block}."
        )
    return with_view(with_inputs(state, length=length), cells=-(-length // block))


def _cells(state: State) -> int:
    """Rows and columns of a map, at most."""
    return min(CELLS, state.experiment.view.cells)


def _whole(value: float) -> int:
    """A length that is a whole number."""
    if not float(value).is_integer():
        raise ValueError(f"length must be a whole number of tokens, got {value}; round it.")
    return int(value)


def _written(parameter: str, value: float, text: Text) -> str:
    """A value as it stands in a title."""
    if parameter == "length":
        return tokens(int(value), text)
    return f"{PARAMETERS[parameter].symbol} {number(value)}"

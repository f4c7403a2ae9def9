"""The pictures of number formats: where they overflow, and what their angles lose."""

from collections.abc import Mapping, Sequence

import numpy as np

from xpos_viz.encoding import Encoding
from xpos_viz.figures.description import Curve, Curves, Mark
from xpos_viz.figures.lines import FAMILY_LINES
from xpos_viz.figures.words import clauses, counted, label, number, rounded, tokens
from xpos_viz.studies.precision import FORMATS, TOLERANCE, Angles, Overflow
from xpos_viz.texts import Text
from xpos_viz.theme import DASHES, LEVEL

_COLOURS = {name: place for place, name in enumerate(FORMATS, 2)}  # lines of the theme
_STROKES = dict(zip(FORMATS, dict.fromkeys(DASHES), strict=True))
_XPOS, _ = FAMILY_LINES["xpos"]
_ORIGINS = {"start": "dash", "centred": "solid"}  # strokes, in the colour of XPos


def overflow_curves(
    study: Overflow, encoding: Encoding, formats: Sequence[str], length: int, text: Text
) -> Curves:
    """Describe how the largest number grows with the length, and where formats end.

    Parameters
    ----------
    study
        From :func:`xpos_viz.studies.precision.overflow`.
    encoding
        Whose numbers they are.
    formats
        Those of :data:`xpos_viz.studies.precision.FORMATS` that are shown.
    length
        A length that is marked, tokens, where it lies on the curves.
    text
        Sentences of one language.

    Returns
    -------
    Curves
        Two rising lines, a level line per format, and a mark wherever they meet.
    """
    digits = study.limits["digits"]
    ends = study.lengths[[0, -1]]
    lines = [
        Curve(
            text(f"precision.{origin}"),
            study.lengths,
            getattr(study, origin),
            line=_XPOS,
            dash=dash,
        )
        for origin, dash in _ORIGINS.items()
    ]
    lines += [
        Curve(name, ends, np.full(2, digits[name]), line=_COLOURS[name], dash=_STROKES[name])
        for name in formats
    ]
    marks = [mark for origin in _ORIGINS for mark in _meetings(study, origin, formats)]
    marks += [
        Mark(length, study.start[place], text("precision.here", length=number(length)), _XPOS)
        for place in np.flatnonzero(study.lengths == length)
    ]
    reach = [_reach(study, name, text) for name in formats]
    return Curves(
        name="overflow",
        alt=text("precision.overflow_alt", label=label(encoding, text), reach=clauses(reach, text)),
        title=(text("precision.overflow_title"), label(encoding, text)),
        x=text("precision.length_axis"),
        y=text("precision.digits_axis"),
        logarithmic=True,
        curves=tuple(lines),
        notes=(text("precision.digits_note"),),
        logarithmic_y=True,
        marks=tuple(marks),
    )


def angle_curves(
    studies: Mapping[str, Angles], encoding: Encoding, kept: str, text: Text
) -> Curves:
    """Describe what angles lose with position in each format.

    Parameters
    ----------
    studies
        From :func:`xpos_viz.studies.precision.angles`, by format.
    encoding
        Whose angles they are.
    kept
        What is kept in the format.
    text
        Sentences of one language.

    Returns
    -------
    Curves
        A line per format with a mark where it passes the tolerance, which is a level line.
    """
    curves = {name: study.curve() for name, study in studies.items()}
    lines = [
        Curve(name, x[x > 0], y[x > 0], line=_COLOURS[name], dash=_STROKES[name])
        for name, (x, y) in curves.items()
    ]
    across = np.array([1.0, max(x[-1] for x, _ in curves.values())])
    level, share = np.full(2, TOLERANCE), f"{TOLERANCE:g}"
    lines.append(
        Curve(text("precision.tolerance", share=share), across, level, line=LEVEL, dash="dot")
    )
    marks = [
        Mark(study.lost, TOLERANCE, f"{name}: {number(study.lost)}", _COLOURS[name])
        for name, study in studies.items()
        if study.lost is not None
    ]
    ends = [
        text("precision.error_at", name=name, error=rounded(study.largest))
        for name, study in studies.items()
    ]
    words = text(f"ui.kept_words.{kept}")
    return Curves(
        name="angles",
        alt=text("precision.angles_alt", kept=words, ends=clauses(ends, text)),
        title=(
            text("precision.angles_title"),
            label(encoding, text),
            text("precision.kept", kept=words),
        ),
        x=text("precision.position_axis"),
        y=text("precision.error_axis"),
        logarithmic=True,
        curves=tuple(lines),
        notes=(text("precision.sampled"),),
        logarithmic_y=True,
        marks=tuple(marks),
    )


def _meetings(study: Overflow, origin: str, formats: Sequence[str]) -> list[Mark]:
    """Where a rising line meets those of formats; what meets it at one place is named once."""
    limits, digits = study.limits[origin], study.limits["digits"]
    places = {rounded(int(limits[name])): name for name in reversed(formats)}
    return [
        Mark(int(limits[name]), digits[name], counted(int(limits[name])), _XPOS)
        for name in places.values()
    ]


def _reach(study: Overflow, name: str, text: Text) -> str:
    """How far a format reaches, in words."""
    start, centred = (tokens(int(study.limits[origin][name]), text) for origin in _ORIGINS)
    return text("precision.reach", name=name, start=start, centred=centred)

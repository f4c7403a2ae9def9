"""Curves over distance, and the bias beside them."""

from collections.abc import Sequence

from xpos_viz.encoding import Encoding
from xpos_viz.experiment import Experiment
from xpos_viz.figures.description import Curve, Curves, Mark
from xpos_viz.figures.lines import Line, lines
from xpos_viz.figures.words import curve_ends, data_words, label, number, tokens
from xpos_viz.studies.decay import (
    PARTS,
    Averaged,
    Chance,
    Reading,
    Subject,
    Trace,
    at,
    landmarks,
    trace,
)
from xpos_viz.texts import Text

_NAMED = 4  # most curves whose marks have names; those of more would lie over each other


def decay_curves(
    encodings: Sequence[Encoding],
    subject: Subject,
    distance: int,
    text: Text,
    *,
    logarithmic: bool = False,
) -> Curves:
    """Describe curves of some encodings, with bands of one standard deviation, and marks.

    Parameters
    ----------
    encodings
        One curve each.
    subject
        What the curves are of (:mod:`xpos_viz.studies.decay`).
    distance
        The end of the axis, tokens.
    text
        Sentences of one language.
    logarithmic
        Whether the lags stand on a logarithmic axis, which has no lag 0.
    """
    traces = [trace(e, subject, distance, logarithmic=logarithmic) for e in encodings]
    what, assumed = _title(subject, text)
    return Curves(
        name="decay",
        alt=_alt(what, traces, distance, text),
        title=(what, assumed),
        x=text("figure.lag_axis"),
        y=_unit(subject, text),
        logarithmic=logarithmic and subject.last(distance) > 0,
        curves=tuple(
            _curve(line, t, text) for line, t in zip(lines(encodings), traces, strict=True)
        ),
        notes=tuple(_notes(traces, subject, distance, text)),
        marks=tuple(_marks(encodings, subject, distance, text)),
    )


def bias_curves(
    encodings: Sequence[Encoding], distance: int, text: Text, *, logarithmic: bool = False
) -> Curves:
    """Describe the bias that some of the encodings add to the logits, over the same distance.

    Parameters
    ----------
    encodings, distance, text, logarithmic
        As in :func:`decay_curves`; those without a bias have no curve, and lines and colours
        are the same as there.
    """
    traces = [
        (line, trace(encoding, Reading("bias"), distance, logarithmic=logarithmic))
        for line, encoding in zip(lines(encodings), encodings, strict=True)
        if encoding.bias is not None
    ]
    unlearned = any(
        "table" in drawn.encoding.family.defaults and not drawn.values.any() for _, drawn in traces
    )
    return Curves(
        name="bias",
        alt=_alt(text("decay.title.bias"), [drawn for _, drawn in traces], distance, text),
        title=(text("decay.title.bias"), text("decay.added")),
        x=text("figure.lag_axis"),
        y=text("decay.unit.bias"),
        logarithmic=logarithmic,
        curves=tuple(_curve(line, drawn, text) for line, drawn in traces),
        notes=(text("decay.unlearned"),) if unlearned else (),
    )


def _curve(line: Line, drawn: Trace, text: Text) -> Curve:
    """A curve with a band of one standard deviation, if there is any."""
    colour, dash = line
    low, high = drawn.values - drawn.deviation, drawn.values + drawn.deviation
    return Curve(
        label(drawn.encoding, text),
        drawn.lags,
        drawn.values,
        band=(low, high) if drawn.deviation.any() else None,
        line=colour,
        dash=dash,
    )


def _title(subject: Subject, text: Text) -> tuple[str, str]:
    """What the curves are, and what is assumed."""
    match subject:
        case Reading(name):
            return text(f"decay.title.{name}"), text("figure.assumption")
        case Chance(rho):
            assumed = "correlated" if rho else "independent"
            return text("decay.title.chance"), text(f"decay.assumed.{assumed}", rho=number(rho))
        case Averaged():
            return text("decay.title.averaged"), text("decay.assumed.captured")


def _unit(subject: Subject, text: Text) -> str:
    """The title of the y axis."""
    if isinstance(subject, Reading):
        return text(f"decay.unit.{subject.name}")
    return text("figure.value.scores")


def _alt(what: str, traces: Sequence[Trace], distance: int, text: Text) -> str:
    """The curves in words, with where they begin and end."""
    ends = curve_ends([(label(drawn.encoding, text), drawn.values) for drawn in traces], text)
    return text("decay.alt", what=what, lag=number(distance), ends=ends)


def _notes(traces: Sequence[Trace], subject: Subject, distance: int, text: Text) -> list[str]:
    """What is to be known of how the curves are drawn, and of what they leave out."""
    last = subject.last(distance)
    near, half = number(subject.near), number(subject.near // 2)
    encodings = tuple(drawn.encoding for drawn in traces)
    about = (
        [data_words(Experiment(encodings, subject.inputs), text)]
        if isinstance(subject, Averaged)
        else []
    )
    said = (
        (any(t.deviation.any() for t in traces), text("decay.band")),
        (last < distance, text("decay.ends", last=tokens(last, text))),
        (last > subject.near, text("decay.computed", near=near, half=half)),
        (any(len(t.lags) < t.computed for t in traces), text("decay.drawn", parts=PARTS)),
        (any(t.encoding.bias is not None for t in traces), text("decay.beside")),
        (any(t.encoding.temperature != 1 for t in traces), text("decay.temperature")),
    )
    return [*about, *(sentence for holds, sentence in said if holds)]


def _marks(
    encodings: Sequence[Encoding], subject: Subject, distance: int, text: Text
) -> list[Mark]:
    """Where g is first below zero and the envelope has halved, within the distance."""
    marks: list[Mark] = []
    last = subject.last(distance)
    for (line, _), encoding in zip(lines(encodings), encodings, strict=True):
        found = landmarks(encoding, distance)
        for name, lag in (("negative", found.negative), ("half", found.half)):
            if lag is not None and 0 < lag <= last:
                named = text(f"decay.mark.{name}", lag=number(int(lag)))
                shown = named if len(encodings) <= _NAMED else ""
                marks.append(Mark(lag, at(encoding, subject, int(lag)), shown, line))
    return marks

"""A text that trained models read: what its bytes cost, and which of its words cost one more."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from xpos_viz.figures.description import Curve, Curves, Mark
from xpos_viz.figures.lab import model_lines, names, read_words
from xpos_viz.figures.passage import Passage, Token
from xpos_viz.figures.words import clauses, curve_ends, fixed, number, rounded
from xpos_viz.inputs.labels import gap, label
from xpos_viz.studies.reading import EDGE, WINDOW, Costs, Read, running, words_of
from xpos_viz.texts import Text
from xpos_viz.theme import LEVEL

STEPS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""The excesses at which tints begin, bits per byte: the same for all texts and models."""

_MARKED = 3  # words that have a mark


def costs_curves(read: Read, found: Sequence[Costs], text: Text) -> Curves:
    """Describe what the bytes of a text cost each model, a mean over the last of them.

    Parameters
    ----------
    read
        What is read by which models.
    found
        From :func:`xpos_viz.studies.reading.costs`.
    text
        Sentences of one language.

    Returns
    -------
    Curves
        A line for each model with a dot where it has lost the thread, and what the first of them
        pays in windows of L.
    """
    named, styles, first = names(read.lab, text), model_lines(read.lab), found[0]
    places = np.arange(1.0, read.size + 1)
    curves, dots = list[Curve](), list[Mark]()
    for each in found:
        (line, dash), bits = styles[each.name], running(each.whole)
        curves.append(Curve(named[each.name], places, bits, line=line, dash=dash))
        if each.lost:
            dots.append(Mark(each.lost, float(bits[each.lost - 1]), "", line))
    near = running(first.near)
    near_label = text("lab.near", name=named[first.name], length=number(read.length))
    curves.append(Curve(near_label, places, near, line=LEVEL, dash="dot"))
    if read.beyond:
        trained = text("lab.trained", length=number(read.length))
        dots.append(Mark(read.length, float(near[read.length - 1]), trained, LEVEL))
    return Curves(
        name="lab_reading",
        alt=text(
            "reading.alt",
            read=read_words(read.lab, text),
            ends=curve_ends([(each.label, each.y[~np.isnan(each.y)]) for each in curves], text),
            lost=clauses(list(lost_words(read, found, text)), text),
        ),
        title=(text("reading.curves"), read_words(read.lab, text)),
        x=text("reading.place"),
        y=text("reading.bits", window=number(WINDOW)),
        logarithmic=False,
        curves=tuple(curves),
        notes=(_which(read, text), *([_rule(read, text)] if read.beyond else [])),
        marks=tuple(dots),
    )


def lost_words(read: Read, found: Sequence[Costs], text: Text) -> Iterator[str]:
    """Say of each model where it has lost the thread, if anywhere, and by how much."""
    named = names(read.lab, text)
    if not read.beyond:
        yield text("reading.short", bytes=number(read.size), length=number(read.length))
        return
    for each in found:
        words = {"model": named[each.name], "excess": fixed(each.mean, 2)}
        if each.lost:
            yield text("reading.lost", place=number(each.lost), **words)
        else:
            yield text("reading.kept", **words)


def shaded(read: Read, costs: Costs, text: Text, colours: str = "blue_red") -> Passage:
    """Describe the text, each word tinted by what it costs one model more than with L bytes.

    Parameters
    ----------
    read
        What is read.
    costs
        What it costs the model.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    """
    model = names(read.lab, text)[costs.name]
    return Passage(
        title=(
            text("reading.shaded", model=model),
            text("reading.shaded_by", read=read_words(read.lab, text), length=_l(read)),
        ),
        alt=text("reading.shaded_alt", lost=clauses(list(lost_words(read, [costs], text)), text)),
        legend=(text("reading.more"), text("reading.less"), text("reading.unit")),
        steps=tuple(map(number, STEPS)),
        tokens=tuple(_tokens(read, costs, text)),
        colours=colours,
        roles=(("query", text("lab.trained", length=_l(read))),) if read.beyond else (),
    )


def _tokens(read: Read, costs: Costs, text: Text) -> Iterator[Token]:
    """The words; the one in which the training length ends is framed."""
    pieces = list(words_of(read.text))
    means = [float(costs.excess[part].mean()) for _, part in pieces]
    dearest = sorted(range(len(means)), key=means.__getitem__)[-_MARKED:]
    for place, ((piece, part), mean) in enumerate(zip(pieces, means, strict=True)):
        level = int(np.sign(mean)) * bisect_right(STEPS, abs(mean))
        marked = place in dearest and level > 0
        yield Token(
            gap(piece),
            label(piece),
            _told(costs, part, text) if part.stop > read.length else "",
            level,
            "gain" if marked else "",
            "query" if part.start <= read.length < part.stop else "",
            text("reading.said", more=rounded(mean)) if marked else "",
        )


def _told(costs: Costs, part: slice, text: Text) -> str:
    """What is said of the bytes of a word."""
    return text(
        "reading.cell",
        first=number(part.start + 1),
        last=number(part.stop),
        bits=fixed(costs.whole[part].mean(), 2),
        near=fixed(costs.near[part].mean(), 2),
        length=number(costs.length),
    )


def _which(read: Read, text: Text) -> str:
    """Which text is read."""
    whose = "own" if read.passage else "measured"
    return text(f"reading.which.{whose}", bytes=number(read.size))


def _rule(read: Read, text: Text) -> str:
    """Where a model has lost the thread."""
    return text("reading.rule", window=number(WINDOW), edge=number(EDGE), length=_l(read))


def _l(read: Read) -> str:
    """L."""
    return number(read.length)

"""The pictures of a text that is read: its tinted tokens, bars of one query, maps of all heads."""

import numpy as np
from numpy.typing import NDArray

from xpos_viz.figures.description import Bar, Bars, Heatmaps, Panel
from xpos_viz.figures.passage import LEVELS, Passage, Token
from xpos_viz.figures.words import label, number, percent, rounded, span, token_axis
from xpos_viz.inputs.sample import token_gaps, token_labels
from xpos_viz.pooling import robust_limit
from xpos_viz.studies.tokens import ROPE, Heads, Reading
from xpos_viz.texts import Text

BARS = 20
"""Most keys that have bars."""

_MARKED = 3  # gains, and losses, that have a mark in the text
_ACROSS = 3  # panels side by side


def tinted(reading: Reading, text: Text, colours: str = "blue_red") -> Passage:
    """Describe the text around a query, each token tinted by what it gains or loses.

    Parameters
    ----------
    reading
        From :func:`xpos_viz.studies.tokens.read`.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.

    Returns
    -------
    Passage
        At most :data:`xpos_viz.studies.tokens.PIECE` tokens; a note says what is left out.
    """
    query = token_name(reading, reading.query, text)
    names = {"rope": label(ROPE, text), "xpos": label(reading.encoding, text)}
    return Passage(
        title=(text("tokens.passage_title", query=query), text("tokens.passage_of", **names)),
        alt=text("tokens.passage_alt", query=query, **names, ends=_ends(reading, text)),
        legend=(
            text("tokens.gain"),
            text("tokens.loss"),
            text("tokens.asks"),
            text("tokens.ahead"),
        ),
        tokens=tuple(_tokens(reading, text)),
        colours=colours,
        notes=tuple(_passage_notes(reading, text)),
    )


def bars(reading: Reading, text: Text) -> Bars:
    """Describe the weights of one query, before and after, on the keys where they are largest.

    Parameters
    ----------
    reading
        From :func:`xpos_viz.studies.tokens.read`.
    text
        Sentences of one language.

    Returns
    -------
    Bars
        At most :data:`BARS` keys in the order of the text; a note says what the others hold.
    """
    keys, labels = reading.strongest(BARS), token_labels(reading.sample.name)
    series = tuple(
        (label(encoding, text), row.weights[keys])
        for encoding, row in ((ROPE, reading.before), (reading.encoding, reading.after))
    )
    return Bars(
        name="reading",
        alt=text("tokens.bars_alt", query=number(reading.query), ends=_ends(reading, text)),
        title=(
            text("tokens.bars_title", query=number(reading.query)),
            text("tokens.bars_of", count=len(keys), keys=number(reading.query + 1)),
        ),
        x=text("tokens.bars_x"),
        y=text("figure.value.weights"),
        labels=tuple(f"{number(key)} {labels[key]}" for key in keys.tolist()),
        series=series,
        notes=tuple(_bar_notes(reading, keys, text)),
    )


def head_maps(heads: Heads, shown: str, text: Text, colours: str = "blue_red") -> Heatmaps:
    """Describe the maps of all heads of a layer, on one colour bar.

    Parameters
    ----------
    heads
        From :func:`xpos_viz.studies.tokens.all_heads`.
    shown
        "change", or the weights under "rope" or "xpos".
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.

    Returns
    -------
    Heatmaps
        A panel per head, the chosen one named.
    """
    maps = heads.maps(shown)
    seen = ~np.isnan(maps)
    limit = robust_limit(maps[seen])
    value = text("figure.value.weights")
    bar = Bar(
        text("figure.comparison_value.plain", value=value) if shown == "change" else value,
        limit,
        "diverging" if shown == "change" else "sequential",
        colours,
    )
    what = text(f"tokens.heads_of.{shown}")
    panels = tuple(
        Panel((text("tokens.head", head=head), _of_head(head, heads, what, text)), values, 0, known)
        for head, (values, known) in enumerate(zip(maps, seen, strict=True))
    )
    sample = heads.sample
    notes = [
        text(
            "tokens.heads_note",
            layer=sample.layer,
            name=text(f"ui.samples.{sample.name}"),
            limit=rounded(limit),
        ),
        text("tokens.learnt"),
    ]
    notes += [text("figure.block", block=number(heads.block))] if heads.block > 1 else []
    return Heatmaps(
        name="heads",
        alt=_heads_alt(heads, what, text),
        axis=token_axis(heads.positions, heads.block, text),
        panels=panels,
        bars=(bar,),
        notes=tuple(notes),
        across=_ACROSS,
    )


def token_name(reading: Reading, key: int, text: Text) -> str:
    """Write a token for a reader: “harbour” (token 14)."""
    labels = token_labels(reading.sample.name)
    return text("tokens.named", token=labels[key], position=number(key))


def heads_words(heads: Heads, text: Text) -> str:
    """Say how many heads read nearer, and how many more evenly, or that none changes."""
    before, after = heads.before, heads.after
    named = {"count": len(before.sink), "layer": heads.sample.layer}
    if heads.still:
        return text("tokens.still_heads", **named)
    return text(
        "tokens.heads",
        nearer=int((after.distance < before.distance).sum()),
        wider=int((after.entropy > before.entropy).sum()),
        **named,
    )


def points(change: float) -> str:
    """Write the size of a change of a share in percentage points, with three digits."""
    return rounded(100 * abs(change))


def _tokens(reading: Reading, text: Text) -> list[Token]:
    """The tokens of the piece that is read."""
    name, query = reading.sample.name, reading.query
    gaps, labels, marked = token_gaps(name), token_labels(name), _marked(reading)
    tokens = []
    for key in reading.piece:
        if key > query:
            tokens.append(Token(gaps[key], labels[key], text("tokens.unseen"), role="ahead"))
            continue
        change = float(reading.change[key])
        level = _level(change, reading.limit)
        before, after = reading.before.weights[key], reading.after.weights[key]
        title = text(
            "tokens.cell",
            token=token_name(reading, key, text),
            before=percent(before),
            after=percent(after),
        )
        said = text(f"tokens.{'gains' if change > 0 else 'loses'}", points=points(change))
        tokens.append(
            Token(
                gaps[key],
                labels[key],
                title,
                level,
                "query" if key == query else "",
                said if level and key in marked else "",
            )
        )
    return tokens


def _level(change: float, limit: float) -> int:
    """The tint of a change: 0 below a tenth of the limit."""
    return round(LEVELS * max(-1.0, min(1.0, change / limit)))


def _marked(reading: Reading) -> set[int]:
    """The keys of the piece that gain and lose most."""
    piece = range(reading.piece.start, reading.query + 1)
    order = piece.start + np.argsort(reading.change[piece.start :], kind="stable")
    return {*order[:_MARKED].tolist(), *order[-_MARKED:].tolist()}


def _ends(reading: Reading, text: Text) -> str:
    """Which keys gain and lose most, or that none does, in words."""
    if reading.still:
        return text("tokens.still_note")
    most, least = (int(pick(reading.change)) for pick in (np.argmax, np.argmin))
    return text(
        "tokens.ends",
        gainer=token_name(reading, most, text),
        gain=points(reading.change[most]),
        loser=token_name(reading, least, text),
        loss=points(reading.change[least]),
    )


def _passage_notes(reading: Reading, text: Text) -> list[str]:
    """The lines that say how tints are to be read, and what is left out."""
    piece, tokens = reading.piece, reading.sample.tokens
    tints = text("tokens.tint_note", limit=points(reading.limit))
    notes = [text("tokens.still_note") if reading.still else tints]
    if len(piece) < tokens:
        notes.append(text("tokens.piece_note", span=span(piece, text), tokens=number(tokens)))
    if piece.start:
        before, after = (
            percent(row.weights[: piece.start].sum()) for row in (reading.before, reading.after)
        )
        out = span(range(piece.start), text)
        notes.append(text("tokens.left_note", span=out, before=before, after=after))
    labels = token_labels(reading.sample.name)[piece.start : piece.stop]
    if any("½" in word or "⅓" in word for word in labels):
        notes.append(text("figure.pieces"))
    return notes


def _bar_notes(reading: Reading, keys: NDArray[np.int64], text: Text) -> list[str]:
    """The lines that say whose weights these are, and what the other keys hold."""
    sample = reading.sample
    notes = [
        text(
            "figure.data.sample",
            layer=sample.layer,
            head=sample.head,
            name=text(f"ui.samples.{sample.name}"),
            span=span(range(reading.query + 1), text),
        )
    ]
    if others := reading.query + 1 - len(keys):
        before, after = (
            percent(max(0.0, 1 - row.weights[keys].sum()))
            for row in (reading.before, reading.after)
        )
        notes.append(text("tokens.others_note", count=number(others), before=before, after=after))
    return notes


def _of_head(head: int, heads: Heads, what: str, text: Text) -> str:
    """What the panel of a head shows, and whether it is the chosen one."""
    return text("tokens.chosen", what=what) if head == heads.sample.head else what


def _heads_alt(heads: Heads, what: str, text: Text) -> str:
    """All heads in words and numbers."""
    sample, count = heads.sample, len(heads.before.distance)
    alt = text("tokens.heads_alt", count=count, layer=sample.layer, what=what)
    return f"{alt} {heads_words(heads, text)}"

"""The pictures of a text that is read: its tinted tokens, bars of one query, maps of all heads."""

from bisect import bisect_right
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xpos_viz.encoding import Encoding
from xpos_viz.figures.description import Bar, Bars, Heatmaps, Panel
from xpos_viz.figures.passage import Passage, Token
from xpos_viz.figures.words import (
    family_name,
    inputs_words,
    label,
    mask_words,
    model_name,
    number,
    percent,
    rounded,
    span,
    token_axis,
)
from xpos_viz.inputs import Computed, Sample
from xpos_viz.pooling import robust_limit
from xpos_viz.studies.tokens import STILL, Heads, Reading, token_names
from xpos_viz.texts import Text

BARS = 20
"""Most keys that have bars."""

STEPS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""The changes at which tints begin, percentage points: the same for all texts and settings."""

_MARKED = 3  # gains, and losses, that have a mark in the text
_ACROSS = 3  # panels side by side
_LETTERS = 14  # of a token under its bars


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
    names = {"rope": label(reading.own, text), "xpos": label(reading.encoding, text)}
    return Passage(
        title=(text("tokens.passage_title", query=query), text("tokens.passage_of", **names)),
        alt=text("tokens.passage_alt", query=query, **names, ends=_ends(reading, text)),
        legend=(text("tokens.gain"), text("tokens.loss"), text("tokens.points")),
        roles=(("query", text("tokens.asks")), ("ahead", text("tokens.ahead"))),
        steps=tuple(map(number, STEPS)),
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
    keys, labels = reading.strongest(BARS), reading.inputs.capture.labels
    series = tuple(
        (label(encoding, text), row.weights[keys])
        for encoding, row in ((reading.own, reading.before), (reading.encoding, reading.after))
    )
    return Bars(
        name="reading",
        alt=text(
            "tokens.bars_alt",
            query=number(reading.query),
            own=family_name(reading.own.family, text),
            ends=_ends(reading, text),
        ),
        title=(
            text("tokens.bars_title", query=number(reading.query)),
            text("tokens.bars_of", count=len(keys), keys=number(len(reading.seen))),
        ),
        x=text("tokens.bars_x"),
        y=text("figure.value.weights"),
        labels=tuple(
            f"{number(key)} {_short(labels[key])}" if labels else number(key)
            for key in keys.tolist()
        ),
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
    what = text(f"tokens.heads_of.{shown}", own=family_name(heads.own.family, text))
    panels = tuple(
        Panel((text("tokens.head", head=head), _of_head(head, heads, what, text)), values, 0, known)
        for head, (values, known) in enumerate(zip(maps, seen, strict=True))
    )
    inputs = heads.inputs
    notes = [
        text(
            "tokens.heads_note",
            layer=inputs.layer,
            name=_text_name(inputs, text),
            limit=rounded(limit),
        ),
        *own_notes(inputs, heads.own, text),
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
    labels = reading.inputs.capture.labels
    if not labels:
        return text("tokens.numbered", position=number(key))
    return text("tokens.named", token=labels[key], position=number(key))


def heads_words(heads: Heads, text: Text) -> str:
    """Say how many heads read nearer, and how many more evenly, or that none changes."""
    before, after = heads.before, heads.after
    named = {"count": len(before.sink), "layer": heads.inputs.layer}
    if heads.still:
        return text("tokens.still_heads", **named)
    return text(
        "tokens.heads",
        nearer=int((after.distance < before.distance).sum()),
        wider=int((after.entropy > before.entropy).sum()),
        **named,
    )


def ends(reading: Reading) -> tuple[int, int]:
    """Return the seen keys that gain and lose most."""
    change = reading.change[reading.seen]
    return int(reading.seen[change.argmax()]), int(reading.seen[change.argmin()])


def points(change: float) -> str:
    """Write the size of a change of a share in percentage points, with three digits."""
    return rounded(100 * abs(change))


def own_notes(inputs: Computed, own: Encoding, text: Text) -> list[str]:
    """Say under what the vectors were learnt, and what is the layer's own."""
    capture, name = inputs.capture, family_name(own.family, text)
    place = capture.place(inputs.layer)
    notes = [text(f"tokens.{'learnt_xpos' if own.name == 'xpos' else 'learnt'}", own=name)]
    if capture.encodings[place] is None:
        notes = [text("tokens.unknown", own=label(own, text))]
    elif own.name not in ("rope", "xpos"):
        shared = "base" in dict(own.parameters)
        notes.append(
            text("tokens.other" if shared else "tokens.other_baseless", own=label(own, text))
        )
    mask, scale, cap = capture.masks[place], capture.scales[place], capture.softcap
    if (mask, scale, cap) != ("causal", capture.head_dim**-0.5, 0.0):
        words = {"mask": mask_words(mask, text), "scale": rounded(scale)}
        kind = "tokens.capped" if cap else "tokens.attention"
        notes.append(text(kind, **words, cap=number(cap)))
    return notes


def _tokens(reading: Reading, text: Text) -> list[Token]:
    """The tokens of the piece that is read."""
    capture, query = reading.inputs.capture, reading.query
    gaps = capture.gaps or (" ",) * reading.inputs.tokens
    labels, marked, seen = token_names(capture), _marked(reading), set(reading.seen.tolist())
    own, tokens = family_name(reading.own.family, text), []
    for key in reading.piece:
        if key not in seen:
            unseen = text("tokens.unseen" if key > query else "tokens.masked")
            tokens.append(Token(gaps[key], labels[key], unseen, role="ahead"))
            continue
        change = float(reading.change[key])
        before, after = reading.before.weights[key], reading.after.weights[key]
        title = text(
            "tokens.cell",
            token=token_name(reading, key, text),
            own=own,
            before=percent(before),
            after=percent(after),
        )
        mark = marked.get(key, "")
        tokens.append(
            Token(
                gaps[key],
                labels[key],
                title,
                _level(change),
                mark,
                "query" if key == query else "",
                text(f"tokens.said.{mark}", points=points(change)) if mark else "",
            )
        )
    return tokens


def _level(change: float) -> int:
    """The tint of a change: 0 below the first step."""
    return int(np.sign(change)) * bisect_right(STEPS, 100 * abs(change))


def _marked(reading: Reading) -> dict[int, str]:
    """The keys of the piece that gain and lose most, and which of both they do."""
    piece, seen = reading.piece, reading.seen
    shown = seen[(seen >= piece.start) & (seen < piece.stop)]
    order = shown[np.argsort(reading.change[shown], kind="stable")]
    losses = {key: "loss" for key in order[:_MARKED].tolist() if reading.change[key] <= -STILL}
    gains = {key: "gain" for key in order[-_MARKED:].tolist() if reading.change[key] >= STILL}
    return losses | gains


def _ends(reading: Reading, text: Text) -> str:
    """Which keys gain and lose most, or that none does, in words."""
    if reading.still:
        return text("tokens.still_note")
    most, least = ends(reading)
    return text(
        "tokens.ends",
        gainer=token_name(reading, most, text),
        gain=points(reading.change[most]),
        loser=token_name(reading, least, text),
        loss=points(reading.change[least]),
    )


def _passage_notes(reading: Reading, text: Text) -> list[str]:
    """The lines that say how tints are to be read, and what is left out."""
    piece, tokens = reading.piece, reading.inputs.tokens
    notes = _tint_notes(reading, text)
    if len(piece) < tokens:
        notes.append(text("tokens.piece_note", span=span(piece, text), tokens=number(tokens)))
    own, seen = family_name(reading.own.family, text), reading.seen
    for out in (seen[seen < piece.start], seen[seen >= piece.stop]):
        if len(out):
            before, after = (
                percent(row.weights[out].sum()) for row in (reading.before, reading.after)
            )
            left = {"own": own, "before": before, "after": after}
            shown = span(range(int(out[0]), int(out[-1]) + 1), text)
            notes.append(text("tokens.left_note", span=shown, **left))
    capture = reading.inputs.capture
    labels, gaps = (words[piece.start : piece.stop] for words in (capture.labels, capture.gaps))
    if any(not gap and _cased(*ends) for ends, gap in zip(pairwise(labels), gaps[1:], strict=True)):
        notes.append(text("tokens.word_pieces"))
    if any("½" in word or "⅓" in word for word in labels):
        notes.append(text("figure.pieces"))
    return notes


def _tint_notes(reading: Reading, text: Text) -> list[str]:
    """The lines that say how tints and marks are to be read, and of which there is none."""
    if reading.still:
        return [text("tokens.still_note")]
    found = _marked(reading).values()
    missing = [text(f"tokens.no_{side}") for side in ("gain", "loss") if side not in found]
    return [text("tokens.tint_note"), *missing]


def _cased(before: str, after: str) -> bool:
    """Whether letters meet, of a script that writes words apart: such as have capitals."""
    return all(letter.upper() != letter.lower() for letter in (before[-1], after[0]))


def _short(word: str) -> str:
    """A token that fits under its bars."""
    return word if len(word) <= _LETTERS else word[: _LETTERS - 1] + "…"


def _bar_notes(reading: Reading, keys: NDArray[np.int64], text: Text) -> list[str]:
    """The lines that say whose weights these are, and what the other keys hold."""
    seen = range(int(reading.seen[0]), int(reading.seen[-1]) + 1)
    notes = [inputs_words(reading.inputs, seen, text)]
    if others := len(reading.seen) - len(keys):
        before, after = (
            percent(max(0.0, 1 - row.weights[keys].sum()))
            for row in (reading.before, reading.after)
        )
        held = {"own": family_name(reading.own.family, text), "before": before, "after": after}
        notes.append(text("tokens.others_note", count=number(others), **held))
    return notes


def _text_name(inputs: Computed, text: Text) -> str:
    """What the text is called that was read, or the model that read it."""
    if isinstance(inputs, Sample):
        return text("tokens.text", name=text(f"ui.samples.{inputs.name}"))
    return model_name(inputs, text)


def _of_head(head: int, heads: Heads, what: str, text: Text) -> str:
    """What the panel of a head shows, and whether it is the chosen one."""
    return text("tokens.chosen", what=what) if head == heads.inputs.head else what


def _heads_alt(heads: Heads, what: str, text: Text) -> str:
    """All heads in words and numbers."""
    count = len(heads.before.distance)
    said = {"what": what, "heads": heads_words(heads, text)}
    return text("tokens.heads_alt", count=count, layer=heads.inputs.layer, **said)

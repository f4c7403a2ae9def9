"""What XPos would do to every layer and head: a map of all of them, and how they read."""

import numpy as np

from xpos_viz.figures.description import Bar, Grid
from xpos_viz.figures.words import (
    label,
    listed,
    number,
    percent,
    rounded,
    text_words,
    tokens,
)
from xpos_viz.inputs import Computed
from xpos_viz.pooling import robust_limit
from xpos_viz.studies.changes import Changes
from xpos_viz.studies.tokens import STILL
from xpos_viz.texts import Text


def heads_map(
    changes: Changes, inputs: Computed, measure: str, text: Text, colours: str = "blue_red"
) -> Grid:
    """Describe how all heads of all layers change.

    Parameters
    ----------
    changes
        From :func:`xpos_viz.studies.changes.of_text`.
    inputs
        Any head of the text.
    measure
        One of :data:`xpos_viz.studies.changes.MEASURES`.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.

    Returns
    -------
    Grid
        Layers are rows, heads are columns.
    """
    values, of = changes.measured(measure), _decay(changes, text)
    layers, heads = values.shape
    title, scale = text(f"layers.title.{measure}"), "diverging"
    if measure == "variation":
        scale = "sequential"
    return Grid(
        name="layers",
        alt=text(
            "layers.alt",
            title=title,
            layers=number(layers),
            heads=number(heads),
            of=of,
            most=most_words(changes, text),
        ),
        title=(title, of),
        x=text("layers.head"),
        y=text("layers.layer"),
        columns=tuple(map(str, range(heads))),
        rows=tuple(map(str, changes.layers)),
        values=values,
        bar=Bar(text(f"layers.value.{measure}"), robust_limit(values, share=1.0), scale, colours),
        notes=tuple(_notes(changes, inputs, text)),
    )


def most_words(changes: Changes, text: Text) -> str:
    """Say which head changes most, or that none does."""
    if np.isnan(changes.total_variation).all():
        return text("layers.alone")
    layer, head = changes.largest[0]
    place = changes.layers.index(layer), head
    if changes.total_variation[place] < STILL:
        return text("layers.still")
    return text(
        "layers.most",
        layer=layer,
        head=head,
        share=percent(changes.total_variation[place]),
        entropy=rounded(changes.entropy_before[place]),
        entropy_after=rounded(changes.entropy_after[place]),
        distance=rounded(changes.distance_before[place]),
        distance_after=tokens(float(changes.distance_after[place]), text),
    )


def _decay(changes: Changes, text: Text) -> str:
    """What is added to the model's own encoding."""
    gamma, scale_base = number(changes.gamma), number(changes.scale_base)
    return text("layers.decay", gamma=gamma, scale_base=scale_base)


def _notes(changes: Changes, inputs: Computed, text: Text) -> list[str]:
    """Whose heads these are, that they were learnt without XPos, and what the numbers are."""
    capture = inputs.capture
    notes = [text_words(inputs, text), text("layers.learnt")]
    encodings = dict(zip(capture.layers, changes.owns, strict=True))
    if unknown := [
        e for e, known in zip(changes.owns, capture.encodings, strict=True) if not known
    ]:
        notes.append(text("tokens.unknown", own=label(unknown[0], text)))
    if still := [str(layer) for layer, own in encodings.items() if not own.theta.any()]:
        notes.append(text("layers.unturned", layers=listed(still, text)))
    return [*notes, text("layers.means")]

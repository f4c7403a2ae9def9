"""The pictures of long texts: maps in blocks, and the resolution under masks."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from xpos_viz.curves import resolution_label
from xpos_viz.figures.description import Bar, Curve, Curves, Heatmaps, Panel
from xpos_viz.figures.lines import lines
from xpos_viz.figures.tokens import own_notes
from xpos_viz.figures.words import (
    curve_ends,
    family_name,
    inputs_words,
    label,
    listed,
    mask_words,
    number,
    rounded,
    sentences,
    settings,
    span,
    token_axis,
    tokens,
)
from xpos_viz.inputs import Expectation
from xpos_viz.masks import Mask
from xpos_viz.pooling import robust_limit
from xpos_viz.studies.long import Beginning, Long, LongMap
from xpos_viz.studies.resolving import Course
from xpos_viz.studies.tokens import own_encoding
from xpos_viz.texts import Text
from xpos_viz.theme import DASHES


def block_maps(
    maps: Sequence[LongMap], long: Long, text: Text, colours: str = "blue_red"
) -> Heatmaps:
    """Describe the maps of a long text, side by side.

    Parameters
    ----------
    maps
        From :func:`xpos_viz.studies.long.long_maps`.
    long
        What was asked there.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.

    Returns
    -------
    Heatmaps
        All on one colour bar.
    """
    first, limit = maps[0], robust_limit(*(each.values for each in maps))
    scale = "sequential" if long.stage == "weights" else "diverging"
    shown = text(f"long.reduced.{long.reduce}", value=text(f"figure.value.{long.stage}"))
    seen = [sizes(each, long, text) for each in maps]
    return Heatmaps(
        name="long_maps",
        alt=text("long.alt", shown=shown, sizes=sentences(seen, text)),
        axis=token_axis(first.positions, first.block, text),
        panels=tuple(_panel(each, long, text) for each in maps),
        bars=(Bar(shown, limit, scale, colours),),
        notes=(
            *_data(long, text),
            _shown(long, text),
            text(f"long.cell.{long.reduce}", block=number(first.block)),
            text("long.limit", limit=rounded(limit)),
        ),
    )


def resolution_curves(table: pd.DataFrame, course: Course, text: Text) -> Curves:
    """Describe the resolution along a course, a colour per encoding and a stroke per mask.

    Parameters
    ----------
    table
        From :func:`xpos_viz.studies.resolving.resolutions`.
    course
        What was asked there.
    text
        Sentences of one language.

    Returns
    -------
    Curves
        Both axes logarithmic.
    """
    written = resolution_label(course.normalisation)
    steps = np.array(course.steps, dtype=np.float64)
    rows = dict(iter(table.groupby(["encoding", "mask"])["resolution"]))
    curves = [
        Curve(
            text(
                "figure.state",
                stage=family_name(encoding.family, text),
                mask=mask_words(mask, text),
            ),
            steps,
            rows[encoding.name, mask].to_numpy(),
            line=line,
            dash=DASHES[stroke],
        )
        for ((line, _), encoding), (stroke, mask) in product(
            zip(lines(course.encodings), course.encodings, strict=True), enumerate(course.masks)
        )
    ]
    ends = curve_ends([(each.label, each.y) for each in curves], text)
    return Curves(
        name="resolution",
        alt=text(f"long.resolution_alt.{course.over}", label=written, ends=ends),
        title=(text("long.resolution_title", label=written), text("figure.assumption")),
        x=text(f"long.axis.{course.over}"),
        y=text("long.axis.resolution", label=written),
        logarithmic=True,
        curves=tuple(curves),
        logarithmic_y=True,
    )


def sizes(each: LongMap, long: Long, text: Text) -> str:
    """Say how large the values of a map are near the diagonal, and far from it."""
    far = "none" if np.isnan(each.far) else "some"
    return text(
        f"long.sizes.{far}",
        panel=text(
            "figure.state",
            stage=family_name(each.encoding.family, text),
            mask=mask_words(each.mask, text),
        ),
        eighth=tokens(-(-long.tokens // 8), text),
        half=tokens(-(-long.tokens // 2), text),
        near=rounded(each.near),
        far=rounded(each.far),
    )


def _panel(each: LongMap, long: Long, text: Text) -> Panel:
    """One map; what differs among the panels is its first line."""
    mask, encoding = Mask.of(each.mask), each.encoding
    stage, kind = text(f"figure.stage.{long.stage}"), text(f"ui.long_mask_words.{mask.name}")
    title = (
        family_name(encoding.family, text),
        settings(encoding, text),
        text("figure.state", stage=stage, mask=kind),
    )
    if len(long.masks) > 1:
        size = tokens(mask.size, text) if mask.size else text("long.unbounded")
        title = (
            kind,
            size,
            text("figure.state", stage=family_name(encoding.family, text), mask=stage),
        )
    return Panel(title, each.values, 0, each.counts > 0)


def _shown(long: Long, text: Text) -> str:
    """Which encodings and masks these are, with their parameters and sizes."""
    encodings = [label(encoding, text) for encoding in long.encodings]
    return text(
        "long.shown",
        encodings=listed(encodings, text),
        masks=listed([mask_words(mask, text) for mask in long.masks], text),
    )


def _data(long: Long, text: Text) -> list[str]:
    """Which queries and keys these are; of a model, also what they were learnt under."""
    inputs, seen = long.inputs, range(long.tokens)
    common = {"head_dim": long.encodings[0].head_dim, "span": span(seen, text)}
    if isinstance(inputs, Beginning):
        own = own_encoding(inputs.of, long.encodings[-1])
        return [inputs_words(inputs.of, seen, text), *own_notes(inputs.of, own, text)]
    if isinstance(inputs, Expectation):
        return [text("figure.data.expectation", **common)]
    keys = text(f"ui.keys_words.{inputs.keys}")
    return [text("figure.data.random", seed=inputs.seed, keys=keys, **common)]

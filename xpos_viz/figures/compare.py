"""The pictures of a comparison: its maps, and its curves over distance."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from xpos_viz.comparison import Comparison
from xpos_viz.experiment import Experiment, Stage
from xpos_viz.figures.description import Bar, Curve, Curves, Heatmaps, Panel
from xpos_viz.figures.lines import lines
from xpos_viz.figures.words import (
    curve_ends,
    data_words,
    family_name,
    label,
    listed,
    mask_words,
    number,
    rounded,
    settings,
    span,
    token_axis,
)
from xpos_viz.results import Result
from xpos_viz.texts import Text


def score_maps(comparison: Comparison, text: Text, colours: str = "blue_red") -> Heatmaps:
    """Describe the maps of a result, and how the last compares with the first.

    Parameters
    ----------
    comparison
        From :func:`xpos_viz.comparison.compare`.
    text
        Sentences of one language (:func:`xpos_viz.texts.texts`).
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.

    Returns
    -------
    Heatmaps
        A panel per encoding on one colour bar, and the comparison on its own.
    """
    result = comparison.result
    experiment, stage = result.experiment, result.experiment.view.stage
    state = _state(experiment, stage, text)
    panels = [
        Panel(
            (family_name(encoding.family, text), settings(encoding, text), state),
            shown.values,
            0,
            result.seen,
        )
        for encoding, shown in zip(experiment.encodings, result.measurements, strict=True)
    ]
    scale = "sequential" if stage == "weights" else "diverging"
    bars = [Bar(text(f"figure.value.{stage}"), result.limit, scale, colours)]
    if len(panels) > 1:
        panel, bar = _compared(comparison, text, colours)
        panels.append(panel)
        bars.append(bar)
    about = tuple(_about(result, text))
    return Heatmaps(
        name="scores",
        alt=_alt(panels, comparison, text),
        axis=token_axis(result.positions, result.block, text, result.labels),
        panels=tuple(panels),
        bars=tuple(bars),
        notes=(*about, *_notes(panels, comparison, text)),
        about=about,
    )


def decay_curves(
    table: pd.DataFrame, experiment: Experiment, text: Text, *, logarithmic: bool = False
) -> Curves:
    """Describe the expectation curves of an experiment's encodings.

    Parameters
    ----------
    table
        From :func:`xpos_viz.results.curves`.
    experiment
        Its encodings name the curves.
    text
        Sentences of one language.
    logarithmic
        Whether the lags stand on a logarithmic axis, which has no lag 0, if there are others.

    Returns
    -------
    Curves
        One curve per encoding.
    """
    logarithmic = logarithmic and len(experiment.window) > 1
    shown = table[table["lag"] > 0] if logarithmic else table
    encodings = dict.fromkeys(experiment.encodings)
    curves = []
    for encoding, (colour, dash) in zip(encodings, lines(encodings), strict=True):
        rows = shown[shown["encoding"] == repr(encoding)]
        lags, g = rows["lag"].to_numpy(), rows["g"].to_numpy()
        curves.append(Curve(label(encoding, text), lags, g, line=colour, dash=dash))
    ends = curve_ends([(each.label, each.y) for each in curves], text)
    return Curves(
        name="decay",
        alt=text("figure.decay_alt", lag=number(curves[0].x[-1]), ends=ends),
        title=(text("figure.decay_title"), text("figure.assumption")),
        x=text("figure.lag_axis"),
        y=text("figure.g_axis"),
        logarithmic=logarithmic,
        curves=tuple(curves),
    )


def _state(experiment: Experiment, stage: Stage, text: Text) -> str:
    """The stage and the mask, for a title."""
    mask = mask_words(experiment.view.mask, text)
    return text("figure.state", stage=text(f"figure.stage.{stage}"), mask=mask)


def _compared(comparison: Comparison, text: Text, colours: str) -> tuple[Panel, Bar]:
    """The last panel, which compares, and its colour bar."""
    how, result, stage = comparison.how, comparison.result, comparison.stage
    first, last = result.experiment.encodings[0], result.experiment.encodings[-1]
    names = {place: family_name(e.family, text) for place, e in (("first", first), ("last", last))}
    name, state = text(f"figure.comparison.{how}", **names), _state(result.experiment, stage, text)
    label = text(f"figure.comparison_value.{how}", value=text(f"figure.value.{stage}"))
    return (
        Panel((name, settings(last, text), state), comparison.shown, 1, result.seen),
        Bar(label, comparison.limit, "diverging", colours, comparison.kind.powers),
    )


def _notes(panels: Sequence[Panel], comparison: Comparison, text: Text) -> list[str]:
    """The lines that say how cells, colours and the mask are to be read."""
    result = comparison.result
    view = result.experiment.view
    notes = [text("figure.block", block=number(result.block))] if result.block > 1 else []
    limit, difference = rounded(result.limit), rounded(comparison.limit)
    if comparison.kind.powers:
        notes.append(text("figure.ratio_note", limit=limit))
    elif not np.nan_to_num(comparison.shown).any():
        notes.append(text("figure.same", limit=limit))
    else:
        notes.append(text("figure.limits", limit=limit, difference=difference))
    if view.mask == "none" and any(e.name == "xpos" for e in result.experiment.encodings):
        notes.append(text("figure.growing"))
    elif view.stage == "masked":
        notes.append(text("figure.masked"))
    if count := np.count_nonzero(np.any([panel.unknown for panel in panels], 0)):
        notes.append(text("figure.unknown", count=number(int(count))))
    return notes


def _about(result: Result, text: Text) -> list[str]:
    """The lines that say what the data are, and what in them cannot be shown as it is."""
    notes = [data_words(result.experiment, text)]
    if any("½" in label or "⅓" in label for label in result.labels):
        notes.append(text("figure.pieces"))
    if any(np.isinf(measurement.values).any() for measurement in result.measurements):
        notes.append(text("figure.infinite"))
    return notes


def _alt(panels: Sequence[Panel], comparison: Comparison, text: Text) -> str:
    """The maps in words and, where anything is that far back, in numbers."""
    result = comparison.result
    experiment = result.experiment
    labels = [label(encoding, text) for encoding in experiment.encodings]
    compared = [panel.title[0] for panel in panels[len(labels) :]]
    alt = text(
        "figure.maps_alt",
        maps=listed([*labels, *compared], text),
        state=_state(experiment, experiment.view.stage, text),
        span=span(experiment.window, text),
    )
    first, last = (result.measurements[place].reach.far_magnitude for place in (0, -1))
    if np.isnan(first):
        return alt
    return text("figure.maps_far", alt=alt, first=rounded(first), last=rounded(last))

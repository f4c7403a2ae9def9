"""The pictures of a comparison: its maps, and its curves over distance."""

import numpy as np
import pandas as pd

from xpos_viz.experiment import Experiment
from xpos_viz.figures.description import Axis, Bar, Curve, Curves, Heatmaps, Panel
from xpos_viz.figures.words import label, listed, mask_words, number, rounded, settings
from xpos_viz.results import Result
from xpos_viz.texts import Text


def score_maps(result: Result, text: Text) -> Heatmaps:
    """Describe the maps of a result, and the difference of the last and the first.

    Parameters
    ----------
    result
        From :func:`xpos_viz.run`.
    text
        Sentences of one language (:func:`xpos_viz.texts.texts`).

    Returns
    -------
    Heatmaps
        A panel per encoding on one colour bar, and the difference on its own.
    """
    experiment, view = result.experiment, result.experiment.view
    state = text(
        "figure.state",
        stage=text(f"figure.stage.{view.stage}"),
        mask=mask_words(view.mask, text),
    )
    unit = text(f"figure.value.{view.stage}")
    panels = [
        Panel((encoding.family.label, settings(encoding, text), state), measurement.values, 0)
        for encoding, measurement in zip(experiment.encodings, result.measurements, strict=True)
    ]
    bars = [Bar(unit, result.limit, "sequential" if view.stage == "weights" else "diverging")]
    if len(panels) > 1:
        first, last = experiment.encodings[0], experiment.encodings[-1]
        name = f"{last.family.label} − {first.family.label}"
        panels.append(Panel((name, settings(last, text), state), result.difference, 1))
        difference = text("figure.difference", value=unit)
        bars.append(Bar(difference, result.difference_limit, "diverging"))
    about = tuple(_about(result, text))
    return Heatmaps(
        name="scores",
        alt=_alt(result, text),
        axis=Axis(
            queries=text("figure.queries"),
            keys=text("figure.keys"),
            query=text("figure.query"),
            key=text("figure.key"),
            lag=text("figure.lag"),
            positions=result.positions,
            block=result.block,
            labels=result.labels,
        ),
        panels=tuple(panels),
        bars=tuple(bars),
        notes=(*about, *_notes(result, text)),
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
        Whether the lags stand on a logarithmic axis, which has no lag 0.

    Returns
    -------
    Curves
        One curve per encoding.
    """
    shown = table[table["lag"] > 0] if logarithmic else table
    lines = []
    for encoding in dict.fromkeys(experiment.encodings):
        rows = shown[shown["encoding"] == repr(encoding)]
        lines.append(Curve(label(encoding, text), rows["lag"].to_numpy(), rows["g"].to_numpy()))
    ends = "; ".join(
        text(
            "figure.curve_alt", label=line.label, first=rounded(line.y[0]), last=rounded(line.y[-1])
        )
        for line in lines
    )
    return Curves(
        name="decay",
        alt=text("figure.decay_alt", lag=number(lines[0].x[-1]), ends=ends),
        title=(text("figure.decay_title"), text("figure.assumption")),
        x=text("figure.lag_axis"),
        y=text("figure.g_axis"),
        logarithmic=logarithmic,
        curves=tuple(lines),
    )


def _notes(result: Result, text: Text) -> list[str]:
    """The lines that say how cells, colours and the mask are to be read."""
    view = result.experiment.view
    notes = [text("figure.block", block=result.block)] if result.block > 1 else []
    limit, difference = rounded(result.limit), rounded(result.difference_limit)
    notes.append(text("figure.limits", limit=limit, difference=difference))
    if view.mask == "none":
        notes.append(text("figure.growing"))
    elif view.stage == "masked":
        notes.append(text("figure.masked"))
    return notes


def _about(result: Result, text: Text) -> list[str]:
    """The lines that say what the data are, and what in them cannot be shown as it is."""
    notes = [_data(result.experiment, text)]
    if any("½" in label or "⅓" in label for label in result.labels):
        notes.append(text("figure.pieces"))
    values = np.stack([measurement.values for measurement in result.measurements])
    if np.isinf(values).any():
        notes.append(text("figure.infinite"))
    if count := np.count_nonzero(np.isnan(values).any(0) & result.seen):
        notes.append(text("figure.undefined", count=count))
    return notes


def _data(experiment: Experiment, text: Text) -> str:
    """Which queries and keys are seen, by the names that a reader knows."""
    entries = experiment.to_dict()
    names = {"name": "ui.samples", "keys": "ui.key"}
    entries |= {key: text(f"{names[key]}.{entries[key]}") for key in names if key in entries}
    first, last = experiment.window[0], experiment.window[-1]
    return text(f"figure.data.{entries['source']}", **entries, first=first, last=last)


def _alt(result: Result, text: Text) -> str:
    """The maps in words and numbers."""
    experiment = result.experiment
    first, last = result.measurements[0], result.measurements[-1]
    return text(
        "figure.maps_alt",
        labels=listed([label(encoding, text) for encoding in experiment.encodings], text),
        stage=text(f"figure.stage.{experiment.view.stage}"),
        mask=mask_words(experiment.view.mask, text),
        start=experiment.window.start,
        stop=experiment.window.stop - 1,
        first=rounded(first.reach.far_magnitude),
        last=rounded(last.reach.far_magnitude),
    )

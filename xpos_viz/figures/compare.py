"""The pictures of a comparison: its maps, and its curves over distance."""

import numpy as np
import pandas as pd

from xpos_viz.encoding import PARAMETERS, Encoding
from xpos_viz.experiment import Experiment
from xpos_viz.figures.description import Axis, Bar, Curve, Curves, Heatmaps, Panel
from xpos_viz.results import Result
from xpos_viz.texts import Text


def number(value: float) -> str:
    """Write a number for a reader: 100,000 and 0.4 and 2.5e+12.

    Examples
    --------
    >>> number(1e5), number(0.4), number(2.5e12)
    ('100,000', '0.4', '2.5e+12')
    """
    if value != 0 and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.4g}"
    return f"{round(value, 4):,}".removesuffix(".0")


def rounded(value: float) -> str:
    """Write a measured number with three digits: 40.3 and 1,230 and 0.0123.

    Examples
    --------
    >>> rounded(40.3257), rounded(1234.5)
    ('40.3', '1,230')
    """
    return number(float(f"{value:.3g}"))


def settings(encoding: Encoding) -> str:
    """Write the parameters of an encoding: base 100,000, γ 0.4, B 512."""
    return ", ".join(
        f"{PARAMETERS[name].symbol} {number(value)}" for name, value in encoding.parameters[1:]
    )


def label(encoding: Encoding) -> str:
    """Write an encoding with its parameters: XPos (base 100,000, γ 0.4, B 512)."""
    described = settings(encoding)
    return f"{encoding.family.label} ({described})" if described else encoding.family.label


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
    state = f"{text(f'figure.stage.{view.stage}')}, {text(f'figure.mask.{view.mask}')}"
    panels = [
        Panel((encoding.family.label, settings(encoding), state), measurement.values, 0)
        for encoding, measurement in zip(experiment.encodings, result.measurements, strict=True)
    ]
    first, last = experiment.encodings[0], experiment.encodings[-1]
    name = f"{last.family.label} − {first.family.label}"
    panels.append(Panel((name, settings(last), state), result.difference, 1))
    unit = text(f"figure.value.{view.stage}")
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
        bars=(
            Bar(unit, result.limit, "sequential" if view.stage == "weights" else "diverging"),
            Bar(text("figure.difference", value=unit), result.difference_limit, "diverging"),
        ),
        notes=tuple(_notes(result, text)),
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
        lines.append(Curve(label(encoding), rows["lag"].to_numpy(), rows["g"].to_numpy()))
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
    """The lines under the maps: the data, and how cells, colours and the mask are to be read."""
    entries = result.experiment.to_dict()
    first, last = result.experiment.window[0], result.experiment.window[-1]
    notes = [
        text(f"figure.data.{entries['source']}", **entries, first=first, last=last),
        text(
            "figure.limits",
            limit=rounded(result.limit),
            difference=rounded(result.difference_limit),
        ),
    ]
    if result.block > 1:
        notes.insert(1, text("figure.block", block=result.block))
    if result.experiment.view.mask == "none":
        notes.append(text("figure.growing"))
    if any(np.isinf(measurement.values).any() for measurement in result.measurements):
        notes.append(text("figure.infinite"))
    return notes


def _alt(result: Result, text: Text) -> str:
    """The maps in words and numbers."""
    experiment = result.experiment
    first, last = result.measurements[0], result.measurements[-1]
    return text(
        "figure.maps_alt",
        labels=", ".join(label(encoding) for encoding in experiment.encodings),
        stage=text(f"figure.stage.{experiment.view.stage}"),
        mask=text(f"figure.mask.{experiment.view.mask}"),
        start=experiment.window.start,
        stop=experiment.window.stop - 1,
        first=rounded(first.far_magnitude),
        last=rounded(last.far_magnitude),
    )

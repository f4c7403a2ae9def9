"""Curves of encodings over distance."""

from collections.abc import Callable, Sequence

import pandas as pd

from xpos_viz.encoding import Encoding
from xpos_viz.figures.decay import bias_curves, decay_curves
from xpos_viz.pictures.picture import Picture
from xpos_viz.state import State
from xpos_viz.studies.decay import Reading, Subject, subject, table, trace
from xpos_viz.texts import Text


def pictures(state: State, text: Text) -> tuple[Picture, ...]:
    """The curves of the encodings that are kept and chosen, if there are any."""
    encodings = state.drawn_curves
    if not encodings:
        return ()
    shown = subject(state.assumption, state.reading, state.rho / 100, state.experiment.inputs)
    return along(encodings, shown, state, text)


def along(
    encodings: Sequence[Encoding], shown: Subject, state: State, text: Text
) -> tuple[Picture, ...]:
    """Curves of encodings, and after them what some add to the logits."""
    distance, logarithmic = state.distance, state.axis == "log"

    def numbers(of: Sequence[Encoding], subject: Subject) -> Callable[[], pd.DataFrame]:
        return lambda: table([trace(e, subject, distance, logarithmic=logarithmic) for e in of])

    drawn = decay_curves(encodings, shown, distance, text, logarithmic=logarithmic)
    curves = Picture(drawn, numbers(encodings, shown))
    biased = [encoding for encoding in encodings if encoding.bias is not None]
    if not biased:
        return (curves,)
    added = bias_curves(encodings, distance, text, logarithmic=logarithmic)
    return curves, Picture(added, numbers(biased, Reading("bias")))

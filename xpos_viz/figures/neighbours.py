"""Two encodings side by side, and the table of all of them as a reader sees it."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from xpos_viz.comparison import Comparison
from xpos_viz.encoding import Encoding
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.description import Heatmaps
from xpos_viz.figures.words import family_name, label, listed, settings, tokens
from xpos_viz.studies.neighbours import LAGS, shares
from xpos_viz.texts import Text


def pair_maps(comparison: Comparison, text: Text, colours: str = "blue_red") -> Heatmaps:
    """Describe the maps of two encodings (:func:`xpos_viz.figures.compare.score_maps`).

    Some have many parameters, which are longer than a map is wide: they stand below.
    """
    maps = score_maps(comparison, text, colours)
    panels = tuple(replace(panel, title=(panel.title[0], panel.title[-1])) for panel in maps.panels)
    pair = dict.fromkeys(label(e, text) for e in comparison.result.experiment.encodings)
    return replace(maps, panels=panels, notes=(listed([*pair], text), *maps.notes))


def family_table(encodings: Iterable[Encoding], text: Text) -> pd.DataFrame:
    """Describe encodings, one a row, under titles in the reader's language.

    Parameters
    ----------
    encodings
        The rows.
    text
        Sentences of one language.

    Returns
    -------
    DataFrame
        Label, what is left of g at each distance, parameters, source and formula.
    """
    return pd.DataFrame(
        [
            {
                text("neighbours.encoding"): family_name(encoding.family, text),
                **dict(zip((tokens(lag, text) for lag in LAGS), shares(encoding), strict=True)),
                text("neighbours.parameters"): settings(encoding, text),
                text("neighbours.source"): encoding.family.source,
                text("neighbours.formula"): encoding.family.formula,
            }
            for encoding in encodings
        ]
    )

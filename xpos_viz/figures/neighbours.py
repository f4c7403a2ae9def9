"""Two encodings side by side, and the table of all of them as a reader sees it."""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from xpos_viz.comparison import Comparison
from xpos_viz.encoding import Encoding
from xpos_viz.figures.compare import score_maps
from xpos_viz.figures.description import Heatmaps
from xpos_viz.figures.words import family_formula, family_name, fixed, label, listed, tokens
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


def share_rows(
    encodings: Iterable[Encoding], text: Text, lags: tuple[int, ...] = LAGS
) -> pd.DataFrame:
    """Describe what encodings leave of g, a row for each under its name.

    Parameters
    ----------
    encodings
        The rows.
    text
        Sentences of one language.
    lags
        The columns, tokens.

    Returns
    -------
    DataFrame
        Shares with three decimals, as words, a column for each distance.
    """
    given = list(encodings)
    return pd.DataFrame(
        [[fixed(share, 3) for share in shares(encoding, lags)] for encoding in given],
        index=pd.Index([family_name(e.family, text) for e in given]),
        columns=pd.Index([tokens(lag, text) for lag in lags]),
    )


def family_words(encoding: Encoding, text: Text) -> tuple[str, str, str]:
    """Describe an encoding: with its parameters, by its formula, and where it is from."""
    return label(encoding, text), family_formula(encoding.family), encoding.family.source

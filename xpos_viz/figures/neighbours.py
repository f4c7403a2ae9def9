"""The table of all encodings as a reader sees it."""

from collections.abc import Iterable

import pandas as pd

from xpos_viz.encoding import Encoding
from xpos_viz.figures.words import settings, tokens
from xpos_viz.studies.neighbours import LAGS, shares
from xpos_viz.texts import Text


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
        Label, what is left of g at each distance, parameters, formula and source.
    """
    return pd.DataFrame(
        [
            {
                text("neighbours.encoding"): encoding.family.label,
                **dict(zip((tokens(lag, text) for lag in LAGS), shares(encoding), strict=True)),
                text("neighbours.parameters"): settings(encoding, text),
                text("neighbours.formula"): encoding.family.formula,
                text("neighbours.source"): encoding.family.source,
            }
            for encoding in encodings
        ]
    )

"""The pictures of pairs: a map over lags, the plane in which they turn, the parts of a score.

What is described twice is the same description, so that it is drawn once.
"""

from functools import lru_cache

import numpy as np

from xpos_viz.figures.description import Bar, Bars, Grid, Plane
from xpos_viz.figures.words import family_name, label, listed, number, percent, rounded
from xpos_viz.studies.pairs import Parts, Response
from xpos_viz.texts import Text


@lru_cache(maxsize=32)
def response_map(
    response: Response, text: Text, colours: str = "blue_red", *, logarithmic: bool = False
) -> Grid:
    """Describe what is left of each pair at each lag.

    Parameters
    ----------
    response
        From :func:`xpos_viz.studies.pairs.over_text`.
    text
        Sentences of one language.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    logarithmic
        Whether the lags stand on a logarithmic axis, if there are others than lag 0.

    Returns
    -------
    Grid
        Pairs are rows, lags are columns.
    """
    lags, spread = response.lags, response.lags[-1] - response.lags[0] + 1
    some = text("pairs.some_lags", shown=number(len(lags)), all=number(int(spread)))
    return Grid(
        name="pairs_map",
        alt=text(
            "pairs.map_alt",
            label=label(response.encoding, text),
            lag=number(int(lags[-1])),
            ends=_ends(response, text),
        ),
        title=(label(response.encoding, text), text("pairs.map_title")),
        x=text("figure.lag_axis"),
        y=text("livemap.pairs_axis"),
        columns=lags.astype(np.float64),
        rows=response.pairs.astype(np.float64),
        values=response.values.real,
        bar=Bar(text("pairs.map_bar"), 1.0, "diverging", colours),
        notes=(some,) if len(lags) < spread else (),
        logarithmic=logarithmic and bool(lags[0] > 0),
    )


@lru_cache(maxsize=32)
def motion(response: Response, text: Text) -> Plane:
    """Describe how each pair turns and shrinks as the lag grows.

    Parameters
    ----------
    response
        From :func:`xpos_viz.studies.pairs.in_motion`.
    text
        Sentences of one language.

    Returns
    -------
    Plane
        A point for each pair, a step for each lag, and the paths of a few pairs.
    """
    others = [text("pairs.plane_others")] if len(response.few) < len(response.pairs) else []
    return Plane(
        name="pairs_plane",
        alt=text(
            "pairs.plane_alt",
            count=count_words(len(response.pairs), text),
            label=label(response.encoding, text),
            lag=number(int(response.lags[-1])),
            trails=listed([str(response.pairs[place]) for place in response.few], text),
            ends=_ends(response, text),
        ),
        title=(label(response.encoding, text), text("pairs.plane_title")),
        x=text("pairs.real"),
        y=text("pairs.imaginary"),
        labels=tuple(text("pairs.point", pair=pair) for pair in response.pairs),
        paths=response.values,
        steps=tuple(f"Δ = {number(lag)}" for lag in response.lags),
        notes=(text("pairs.plane_note", lag=number(int(response.lags[-1]))), *others),
        trails=response.few,
    )


@lru_cache(maxsize=32)
def score_parts(parts: Parts, text: Text) -> Bars:
    """Describe what each pair adds to one score.

    Parameters
    ----------
    parts
        From :func:`xpos_viz.studies.pairs.parts`.
    text
        Sentences of one language.

    Returns
    -------
    Bars
        A group for each pair, a bar for each encoding.
    """
    names = [family_name(encoding.family, text) for encoding in parts.encodings]
    sums = listed(
        [
            text("pairs.sum", name=name, score=rounded(score))
            for name, score in zip(names, parts.scores, strict=True)
        ],
        text,
    )
    bars = listed(
        [
            text("pairs.bar", name=name, pair=pair, share=rounded(shares[pair]))
            for name, pair, shares in zip(names, parts.longest, parts.shares, strict=True)
        ],
        text,
    )
    cell = cell_words(parts, text)
    return Bars(
        name="pairs_score",
        alt=text("pairs.score_alt", cell=cell, sums=sums, bars=bars),
        title=(cell, text("pairs.sums", sums=sums)),
        x=text("livemap.pairs_axis"),
        y=text("pairs.share"),
        labels=tuple(map(str, range(parts.shares.shape[-1]))),
        series=tuple(
            (label(encoding, text), shares)
            for encoding, shares in zip(parts.encodings, parts.shares, strict=True)
        ),
        notes=() if np.isfinite(parts.shares).all() else (text("figure.infinite"),),
    )


def cell_words(parts: Parts, text: Text) -> str:
    """Write which query and key a score is of: query 27 “.” · key 0 “The” · lag 27."""
    places = [number(parts.query), number(parts.key)]
    if parts.words:
        places = [
            text("livemap.token", position=position, token=word)
            for position, word in zip(places, parts.words, strict=True)
        ]
    return text("livemap.cell", query=places[0], key=places[1], lag=number(parts.lag))


def count_words(count: int, text: Text) -> str:
    """Write a number of pairs: 1 pair, 32 pairs."""
    return text(f"pairs.count.{'one' if count == 1 else 'many'}", count=count)


def _ends(response: Response, text: Text) -> str:
    """What is left of the first and of the last pair at the last lag."""
    ends = dict.fromkeys((0, len(response.pairs) - 1))
    return listed(
        [
            text("pairs.end", pair=response.pairs[place], left=percent(response.left[place]))
            for place in ends
        ],
        text,
    )

"""The page that looks at pairs one by one."""

import math

import numpy as np
import streamlit as st

from xpos_viz.curves import half_life, pair_shares, turns, wavelength
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.figures.words import family_name, label, number, percent, rounded, tokens
from xpos_viz.kernel import lag_response
from xpos_viz.pictures import Picture
from xpos_viz.pictures.pairs import pictures, score
from xpos_viz.studies.pairs import (
    Parts,
    rows,
    visible,
)
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui.session import language, state

FORMULAS = (
    r"\mathrm{Re}\,e^{\lambda_i\Delta}=e^{\Delta\,\mathrm{Re}\,\lambda_i}\cos(\theta_i\Delta)",
    r"w_i=\frac{2\pi}{\theta_i},\qquad r_i=\frac{L}{w_i}",
    r"h_i=\frac{\ln 2}{-\mathrm{Re}\,\lambda_i}",
)
"""What is left of a pair; its wavelength and turns, and its half-life, as TeX."""

_TABLE = 560  # pixels, those of the plane beside it


def show() -> None:
    """Draw the page."""
    text = texts(language())
    page.head("pairs", text)
    encoding, length = state().encoding(state().pair_encoding), state().experiment.inputs.tokens
    over, plane, apart = pictures(state(), text)
    _pairs(encoding, over, plane, text)
    _score(apart, text)
    page.notice([*_seen(encoding, length, text), *_carried(score(state()), text)], text)
    families = {name: REGISTRY[name] for name in ("rope", "xpos", encoding.name)}
    page.formula(text("pairs.formula_words"), FORMULAS, tuple(families.values()), text)
    page.code((lag_response, wavelength, half_life, turns, pair_shares), text)


def _pairs(encoding: Encoding, over: Picture, moving: Picture, text: Text) -> None:
    """All pairs over all lags, as they move, and as a table; and what they depend on."""
    picture, beside = page.sides("pairs")
    with picture:
        page.picture(over, text)
        plane, table = st.columns([1, 1], gap="medium")
        with plane:
            page.picture(moving, text)
        with table:
            _table(encoding, state().experiment.inputs.tokens, text)
    with beside:
        sources.source(text)
        controls.choose(text, "pair_encoding", lambda name: family_name(REGISTRY[name], text))
        controls.choose(text, "axis", lambda name: text(f"livemap.axes.{name}"))
        controls.colours(text)
        controls.families(text, "rope", "xpos", encoding.name)
        controls.reset(text)


def _table(encoding: Encoding, length: int, text: Text) -> None:
    """A row for each pair, with three digits; what never comes is ∞."""
    named = text("pairs.table", label=label(encoding, text), tokens=tokens(length, text))
    columns = ["pair", "wavelength", "half_life", "turns"]
    st.caption(named)
    st.dataframe(
        rows(encoding, length)[columns].style.format(page.digits),
        height=_TABLE,
        hide_index=True,
        alt=named,
        column_config={name: text(f"pairs.columns.{name}") for name in columns},
    )


def _score(apart: Picture, text: Text) -> None:
    """One score taken apart, and the choice of it."""
    inputs, mask, chosen = state().experiment.inputs, state().experiment.view.mask, score(state())
    picture, beside = page.sides("score")
    with picture:
        page.picture(apart, text)
    with beside:
        controls.mask(text)
        controls.query(text)
        controls.key(text, visible(inputs, mask, chosen.query), chosen.key)


def _seen(encoding: Encoding, length: int, text: Text) -> list[str]:
    """How many pairs turn less than once in the text, and which halve within it."""
    table, name = rows(encoding, length), family_name(encoding.family, text)
    named = {"tokens": tokens(length, text), "count": len(table), "label": name}
    around, halves = table["turns"], table["half_life"]
    most = rounded(around.max())
    turning = text("pairs.notice_turns", slow=np.count_nonzero(around < 1), most=most, **named)
    if math.isinf(halves.min()):
        return [turning, text("pairs.notice_keeps", label=name)]
    faded = {"faded": np.count_nonzero(halves <= length), **named}
    first, last = (tokens(value, text) for value in (halves.min(), halves.max()))
    if first == last:
        return [turning, text("pairs.notice_fades_alike", every=first, **faded)]
    return [turning, text("pairs.notice_fades", first=first, last=last, **faded)]


def _carried(score: Parts, text: Text) -> list[str]:
    """The score, and which pairs make it up, or that it has left float64."""
    if not np.isfinite(score.shares).all():
        return [text("pairs.notice_beyond", lag=number(score.lag))]
    rope, xpos = map(rounded, score.scores)
    sizes, (rope_pair, xpos_pair) = score.sizes, score.longest
    slow = np.where(score.slow, sizes, 0).sum(-1)
    return [
        text("pairs.notice_score", lag=number(score.lag), rope=rope, xpos=xpos),
        text(
            "pairs.notice_carries",
            rope_pair=rope_pair,
            rope_share=percent(sizes[0, rope_pair]),
            xpos_pair=xpos_pair,
            xpos_share=percent(sizes[1, xpos_pair]),
        ),
        text("pairs.notice_slow", rope=percent(slow[0]), xpos=percent(slow[1])),
    ]

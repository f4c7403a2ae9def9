"""The page that reads a sentence: which tokens a query reads, and which gain or lose under XPos."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from xpos_viz.attention import attention_weights
from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.passage import markup
from xpos_viz.figures.tokens import ends, heads_words, points, tinted, token_name
from xpos_viz.figures.words import family_name, label, number, percent, rounded, tokens
from xpos_viz.inputs import Computed
from xpos_viz.pictures.tokens import bars_of, compared, maps_of
from xpos_viz.state.changes import with_source
from xpos_viz.statistics import attention_distance, attention_entropy, sink_share
from xpos_viz.studies.tokens import Heads, Reading, all_heads, own_encoding, read
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import commit, language, state
from xpos_viz.ui.work import shown, working

FORMULAS = (
    r"w_{mn}=\frac{e^{s(m,n)/\sqrt d}}{\sum_{n'\le m}e^{s(m,n')/\sqrt d}}",
    r"H_m=-\sum_{n\le m}w_{mn}\ln w_{mn}",
    r"D_m=\sum_{n\le m}w_{mn}\,(m-n)",
)
"""Weights, their entropy and their mean distance, as TeX."""


def show() -> None:
    """Draw the page."""
    text = texts(language())
    page.head("tokens", text)
    picture, beside = page.sides("tokens")
    inputs = state().experiment.inputs
    with picture:
        if isinstance(inputs, Computed):
            _reading(inputs, text)
        else:
            no_text(text)
    with beside:
        sources.source(text)
        if isinstance(inputs, Computed):
            controls.choose(text, "panels", _panels(inputs, text))
            controls.colours(text)
            controls.query(text)
            controls.parameters(text, "gamma", "scale_base")
        controls.reset(text)
    families = (REGISTRY["rope"], REGISTRY["xpos"])
    page.formula(text("tokens.formula_words"), (page.ONE[0], *FORMULAS), families, text)
    page.code(
        (read, all_heads, attention_weights, attention_entropy, attention_distance, sink_share),
        text,
    )


def _panels(inputs: Computed, text: Text) -> Callable[[str], str]:
    """What the maps of all heads may show."""
    own = family_name(own_encoding(inputs, state().encoding("xpos")).family, text)
    return lambda word: text(f"ui.panels_words.{word}", own=own)


def _reading(inputs: Computed, text: Text) -> None:
    """The text, the bars of the query, and all heads; the quick ones first."""
    now = state()
    encoding = compared(inputs, now)
    reading = read(inputs, encoding, now.query)
    passage = tinted(reading, text, now.colours)
    work = working((inputs, encoding), partial(all_heads, inputs, encoding), "heads")
    st.html(markup(passage, page.mode()))
    page.notes(passage.notes)
    page.picture(bars_of(reading, text), text)
    if not shown(work, text):
        return
    heads = work.result
    page.picture(maps_of(heads, now, text), text)
    page.table("spread", _table(heads, text))
    page.notice(_seen(reading, heads, text), text)


def no_text(text: Text) -> None:
    """What is said of made queries and keys, and the way to a text."""
    st.info(text("tokens.no_text"))
    st.button(
        text("tokens.open"),
        key="open_text",
        icon=":material/menu_book:",
        on_click=lambda: commit(lambda old: with_source(old, "sample")),
    )


def _table(heads: Heads, text: Text) -> pd.DataFrame:
    """Entropy, mean distance and sink share of all heads, before and after."""
    before, after = heads.before, heads.after
    columns = {
        "entropy": _arrows(before.entropy, after.entropy, rounded),
        "distance": _arrows(before.distance, after.distance, rounded),
        "sink": _arrows(before.sink, after.sink, percent),
    }
    chosen, own = heads.inputs.head, family_name(heads.own.family, text)
    names = [str(head) for head in range(len(before.sink))]
    names[chosen] = f"**{chosen}\u00a0◂**"
    table = pd.DataFrame(columns, index=names).rename_axis(text("ui.head"))
    return table.rename(columns=lambda name: text(f"tokens.columns.{name}", own=own))


def _seen(reading: Reading, heads: Heads, text: Text) -> list[str]:
    """What one query reads before and after, and what becomes of the heads."""
    if len(reading.seen) == 1 and reading.query == 0:
        return [text("tokens.alone"), heads_words(heads, text)]
    own = family_name(reading.own.family, text)
    if reading.still:
        query, xpos = number(reading.query), label(reading.encoding, text)
        key = "itself" if reading.own == reading.encoding else "still"
        return [text(f"tokens.{key}", query=query, own=own, xpos=xpos), heads_words(heads, text)]
    before, after, head = reading.before, reading.after, heads.inputs.head
    return [
        _ends(reading, text),
        text(
            "tokens.spread",
            query=number(reading.query),
            entropy=rounded(before.entropy),
            entropy_after=rounded(after.entropy),
            keys=rounded(np.exp(before.entropy)),
            keys_after=rounded(np.exp(after.entropy)),
            distance=rounded(before.distance),
            distance_after=tokens(after.distance, text),
        ),
        text(
            "tokens.sink",
            own=own,
            rope=percent(before.sink),
            xpos=percent(after.sink),
            rope_all=percent(heads.before.sink[head]),
            xpos_all=percent(heads.after.sink[head]),
        ),
        _negative(reading, text),
        heads_words(heads, text),
    ]


def _ends(reading: Reading, text: Text) -> str:
    """Which keys gain and lose most."""
    change, words = reading.change, {"query": number(reading.query)}
    for name, key in zip(("gainer", "loser"), ends(reading), strict=True):
        words |= {
            name: plain(token_name(reading, key, text)),
            f"{name}_points": points(change[key]),
            f"{name}_before": percent(reading.before.weights[key]),
            f"{name}_after": percent(reading.after.weights[key]),
        }
    return text("tokens.most", **words)


def _negative(reading: Reading, text: Text) -> str:
    """How many keys gain, and how many of them had a negative score."""
    gaining = reading.change > 0
    return text(
        "tokens.negative",
        gaining=number(int(gaining.sum())),
        keys=number(len(reading.seen)),
        negative=number(int((gaining & (reading.before.logits < 0)).sum())),
    )


def _arrows(
    before: NDArray[np.float64], after: NDArray[np.float64], written: Callable[[float], str]
) -> list[str]:
    """Pairs of numbers, before → after, in two lines at most."""
    return [
        f"{written(one)}\u00a0→ {written(other)}" for one, other in zip(before, after, strict=True)
    ]

"""The page of all layers and heads: what XPos would do to each of them."""

from functools import partial

import numpy as np
import streamlit as st

from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.layers import most_words
from xpos_viz.figures.words import number, percent, rounded, tokens
from xpos_viz.inputs import Computed
from xpos_viz.pictures.layers import asked, map_of, studied
from xpos_viz.state import State, to_address
from xpos_viz.state.changes import with_inputs
from xpos_viz.statistics import total_variation
from xpos_viz.studies.changes import Changes, changes
from xpos_viz.studies.tokens import STILL
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui import tokens as reading
from xpos_viz.ui.session import language, state
from xpos_viz.ui.work import shown, working

TV = r"\mathrm{TV}_m=\tfrac12\sum_n\left|w'_{mn}-w_{mn}\right|"
"""What moves of a query's attention, as TeX."""

_MANY = 0.1  # of a head's attention
_SINK = 0.5  # of a query's attention, on token 0
_DECIMALS = "%.3f"


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("layers", text)
    picture, beside = page.sides("layers")
    with beside:
        _controls(now, text)
    with picture:
        _all_heads(now, text)
    families = (REGISTRY["rope"], REGISTRY["xpos"])
    page.formula(text("layers.words"), (page.ONE[1], TV, *reading.FORMULAS), families, text)
    page.code((changes, total_variation), text)


def _controls(now: State, text: Text) -> None:
    """Which text, how a change is measured, and the decay."""
    sources.source(text)
    if isinstance(now.experiment.inputs, Computed):
        controls.choose(text, "measure")
        controls.colours(text)
        controls.parameters(text, "gamma", "scale_base")
    controls.reset(text)


def _all_heads(now: State, text: Text) -> None:
    """The map, the way to Tokens, the table and what to notice; or why there are none."""
    if not isinstance(now.experiment.inputs, Computed):
        reading.no_text(text)
        return
    inputs = asked(now)
    if inputs is None:
        st.info(text("layers.faded"))
        return
    encoding = now.encoding("xpos")
    work = working((inputs.capture.hash, encoding), partial(studied, inputs, now), "changes")
    if not shown(work, text):
        return
    found = work.result
    page.picture(map_of(found, inputs, now, text), text)
    _ranking(found, inputs, now, text)
    page.notice(_seen(found, text), text)


def _ranking(found: Changes, inputs: Computed, now: State, text: Text) -> None:
    """All heads in order, and the ways that lead to each of them in Tokens."""
    there = st.Page(reading.show, title=text("pages.tokens.link"), url_path="tokens")
    st.markdown(text("layers.choose"))
    st.page_link(
        there,
        label=text("layers.open", layer=inputs.layer, head=inputs.head),
        icon=":material/menu_book:",
        query_params=to_address(now),
    )
    table = found.table().sort_values("total_variation", ascending=False, kind="stable")
    chosen = st.dataframe(
        table,
        hide_index=True,
        key="ranking",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            str(name): st.column_config.NumberColumn(
                text(f"layers.columns.{name}"),
                format=None if name in ("layer", "head") else _DECIMALS,
            )
            for name in table
        },
        alt=text("layers.table"),
    )
    for row in chosen.selection.rows:
        layer, head = (int(table.iloc[row][name]) for name in ("layer", "head"))
        address = to_address(with_inputs(now, layer=layer, head=head))
        st.switch_page(there, query_params=address)


def _seen(found: Changes, text: Text) -> list[str]:
    """Which head changes most, how many change, and how they then read."""
    sentences = [most_words(found, text)]
    known = np.isfinite(found.total_variation)
    moved = found.total_variation[known]
    if moved.max(initial=0.0) < STILL:
        return sentences
    entropy, distance = (found.measured(name)[known] for name in ("entropy", "distance"))
    heads = number(moved.size)
    sentences += [
        text(
            "layers.count",
            heads=heads,
            many=number(int((moved > _MANY).sum())),
            median=percent(float(np.median(moved))),
        ),
        text(
            "layers.toward",
            nearer=number(int((distance < 0).sum())),
            wider=number(int((entropy > 0).sum())),
            distance=tokens(float(np.median(distance)), text),
            entropy=rounded(float(np.median(entropy))),
        ),
        text(
            "layers.sinks",
            before=number(int((found.sink_before[known] > _SINK).sum())),
            after=number(int((found.sink_after[known] > _SINK).sum())),
        ),
    ]
    return sentences + _by_layer(found, text)


def _by_layer(found: Changes, text: Text) -> list[str]:
    """In which layers most and least moves, where there are several."""
    means = {
        layer: float(np.mean(row))
        for layer, row in zip(found.layers, found.total_variation, strict=True)
        if np.isfinite(row).all()
    }
    if len(means) < 2:
        return []
    still, moved = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return [
        text(
            "layers.by_layer",
            least=percent(means[still]),
            still=still,
            most=percent(means[moved]),
            moved=moved,
        )
    ]

"""The page of trained models: what they lose beyond what they have seen."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
import streamlit as st

from xpos_viz.figures.lab import excess_words, names, resolution_rows
from xpos_viz.figures.words import clauses, fixed, listed, number, sentences
from xpos_viz.lab import evaluation, measured, paired_excess, train
from xpos_viz.pictures import Picture
from xpos_viz.pictures.lab import asked, of_models, of_paper
from xpos_viz.studies.lab import Lab, doubled, excess, ranked, resolved
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, reading
from xpos_viz.ui.session import language, state

REACHES = (2, 4, 8, 16)
"""Training lengths."""

EXCESS = (
    r"\frac{1}{15L}\sum_{t=L}^{16L-1}\left[\log_2 p_{\mathrm{sliding}:L}(x_{t+1})"
    r"-\log_2 p(x_{t+1})\right]"
)
"""The paired excess, and its mean over texts is taken."""

_ROTARY = ("rope", "xpos_half", "xpos_512")
_RESCUED = 0.1  # of what is lost without blocks


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("lab", text)
    lab = asked(now)
    picture, beside = page.sides("lab")
    with beside:
        _controls(lab, text)
    with picture:
        if lab.models:
            _ours(of_models(now, text), lab, text)
            reading.section(now, text)
        else:
            st.info(text("lab.none"))
        st.header(text("lab.paper"), anchor=False)
        st.markdown(text("lab.paper_words"))
        page.picture(of_paper(text), text)
    families = dict.fromkeys(lab.encodings[name].family for name in lab.models)
    page.formula(text("lab.words"), (EXCESS,), tuple(families), text)
    page.code((measured, paired_excess, evaluation.reading, train), text)


def _controls(lab: Lab, text: Text) -> None:
    """Which models, and how they read."""
    controls.choose(text, "lab_size")
    controls.choose(text, "models", names(lab, text).__getitem__)
    controls.switch(text, "blocks")
    controls.slide(text, "reach", REACHES)
    controls.choose(text, "axis", lambda word: text(f"livemap.axes.{word}"))
    controls.reset(text)


def _ours(pictures: Sequence[Picture], lab: Lab, text: Text) -> None:
    """The pictures of the models, and what to notice in them."""
    by_place, means, excess, logits = pictures
    page.picture(by_place, text)
    for shown, place in zip((means, excess), st.columns(2), strict=True):
        with place:
            page.picture(shown, text)
    page.picture(logits, text)
    st.markdown(text("lab.table"))
    st.table(resolution_rows(resolved(lab), lab, text))
    page.notice(list(_seen(lab, text)), text)


def _seen(lab: Lab, text: Text) -> Iterator[str]:
    """What the tables say, what hides it, and what does not follow from it."""
    whole, blockwise = (excess(lab, mask) for mask in lab.masks)
    length, longest = lab.setting.length, lab.setting.longest
    sizes = {"length": number(length), "longest": number(longest), "twice": number(2 * length)}
    order = ranked(whole["value"])
    yield text("lab.notice.order", each=excess_words(whole.loc[order], lab, text), **sizes)
    yield from _against(whole, lab, text)
    yield _blocks(whole, blockwise, lab, text)
    yield _hidden(lab, text, sizes)
    yield _resolution(order, lab, text, sizes)
    yield text("lab.notice.limits")


def _against(whole: pd.DataFrame, lab: Lab, text: Text) -> Iterator[str]:
    """Whether all seeds of RoPE lose more than all of XPos."""
    if "rope" not in lab.models:
        return
    for name in ("xpos_half", "xpos_512"):
        if name in lab.models:
            least, most = float(whole["least"]["rope"]), float(whole["most"][name])
            yield text(
                f"lab.notice.{'apart' if least > most else 'together'}",
                xpos=names(lab, text)[name],
                seeds=number(lab.seeds),
                least=fixed(least, 3),
                most=fixed(most, 3),
            )


def _blocks(whole: pd.DataFrame, blockwise: pd.DataFrame, lab: Lab, text: Text) -> str:
    """What blockwise attention leaves, and whether RoPE and XPos are rescued by it."""
    chosen = [name for name in _ROTARY if name in lab.models]
    left = blockwise.loc[chosen, "value"].abs() < _RESCUED * whole.loc[chosen, "value"]
    said = text(
        "lab.notice.blocks",
        size=number(lab.setting.length // 2),
        each=excess_words(blockwise, lab, text),
    )
    return sentences([said, text("lab.notice.rescued")], text) if chosen and left.all() else said


def _hidden(lab: Lab, text: Text, sizes: Mapping[str, str]) -> str:
    """What the mean says of the first bytes beyond L, and what the pairs say."""
    named = names(lab, text)
    each = [
        text("lab.notice.both", name=named[str(name)], **_numbers(row))
        for name, row in doubled(lab).iterrows()
    ]
    return text("lab.notice.mean", each=clauses(each, text), **sizes)


def _resolution(order: Sequence[str], lab: Lab, text: Text, sizes: Mapping[str, str]) -> str:
    """Whether resolution sorts the models as what they lose does."""
    named = names(lab, text)
    highest = ranked(-resolved(lab)[lab.setting.longest])
    said = {"losses": order, "resolution": highest}
    return text(
        f"lab.notice.{'same' if order == highest else 'other'}_order",
        **{key: listed([named[name] for name in given], text) for key, given in said.items()},
        **sizes,
    )


def _numbers(row: pd.Series) -> dict[str, str]:
    """Numbers of a row, by their names."""
    return {str(name): fixed(value, 3) for name, value in row.items()}

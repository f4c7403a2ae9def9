"""The page of trained models: what they lose beyond what they have seen."""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
import streamlit as st

from xpos_viz.figures.lab import names, resolution_rows
from xpos_viz.figures.words import fixed, listed, number
from xpos_viz.lab import evaluation, measured, paired_excess, train, windowed
from xpos_viz.pictures import Picture
from xpos_viz.pictures.lab import asked, of_models, of_paper
from xpos_viz.studies.lab import Lab, doubled, excess, ranked, resolved
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, reading, training
from xpos_viz.ui.session import language, state

REACHES = (2, 4, 8, 16)
"""Training lengths."""

EXCESS = (
    r"\frac{1}{15L}\sum_{t=L}^{16L-1}\big[\log_2 p(x_{t+1}\mid x_s\dots x_t)"
    r"-\log_2 p(x_{t+1}\mid x_0\dots x_t)\big]"
)
"""The paired excess, and its mean over texts is taken."""

WINDOW = r"s=\left(\left\lfloor\frac{2t}{L}\right\rfloor-1\right)\frac L2"
"""Where the window of a byte begins."""

_ROTARY = ("rope", "xpos_half", "xpos_512")
_RESCUED = 0.1  # of what is lost without blocks


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("lab", text)
    lab = asked(now, training.known(now))
    picture, beside = page.sides("lab")
    with beside:
        _controls(lab, text)
    with picture:
        if lab.models:
            _ours(of_models(lab, now, text), lab, text)
            reading.section(lab, now, text)
        else:
            st.info(text("lab.none"))
        training.section(lab.yours, now, text)
        st.header(text("lab.paper"), anchor=False)
        st.markdown(text("lab.paper_words"))
        page.picture(of_paper(text), text)
    families = dict.fromkeys(lab.encodings[name].family for name in lab.models)
    page.formula(text("lab.words"), (EXCESS, WINDOW), tuple(families), text)
    page.code((measured, paired_excess, evaluation.reading, windowed, train), text)


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
    page.table("resolutions", resolution_rows(resolved(lab), lab, text))
    page.notice(list(_seen(lab, text)), text)


def _seen(lab: Lab, text: Text) -> Iterator[str]:
    """What the tables say, what hides it, and what does not follow from it."""
    whole, blockwise = (excess(lab, mask) for mask in lab.masks)
    yield from _order(whole, lab, text)
    yield from _rescue(whole, blockwise, lab, text)
    yield from _unrescued(whole, blockwise, lab, text)
    yield from _hidden(lab, text)
    yield from _resolution(whole, lab, text)
    yield text("lab.notice.limits")


def _order(whole: pd.DataFrame, lab: Lab, text: Text) -> Iterator[str]:
    """Whether all seeds of RoPE lose more than all of XPos."""
    others = [name for name in _ROTARY[1:] if name in lab.models]
    if "rope" not in lab.models or not others:
        return
    least, most = float(whole["least"]["rope"]), whole["most"][others]
    for key, found in (("apart", most[most < least]), ("together", most[most >= least])):
        if len(found):
            yield text(
                f"lab.notice.{key}",
                xpos=_names(found.index, lab, text),
                seeds=number(lab.seeds),
                longest=number(lab.setting.longest),
                least=fixed(least, 3),
                most=fixed(found.max(), 3),
            )


def _rescue(whole: pd.DataFrame, blockwise: pd.DataFrame, lab: Lab, text: Text) -> Iterator[str]:
    """What blockwise attention leaves of what RoPE and XPos lose."""
    chosen = [name for name in _ROTARY if name in lab.models]
    if not chosen:
        return
    most, before = blockwise["most"][chosen], whole["least"][chosen]
    yield text(
        f"lab.notice.{'rescued' if (most < _RESCUED * before).all() else 'left'}",
        names=_names(most.index, lab, text),
        size=number(lab.setting.length // 2),
        most=fixed(most.max(), 3),
        before=fixed(before.min(), 3),
    )


def _unrescued(whole: pd.DataFrame, blockwise: pd.DataFrame, lab: Lab, text: Text) -> Iterator[str]:
    """What blocks leave of what models without positions lose."""
    least = blockwise["least"].get("nope")
    if least is not None and least > _RESCUED * whole["most"]["nope"]:
        yield text("lab.notice.unrescued", name=names(lab, text)["nope"], least=fixed(least, 3))


def _hidden(lab: Lab, text: Text) -> Iterator[str]:
    """Whose mean falls beyond L while its bytes there lose."""
    found, named = doubled(lab), names(lab, text)
    length = lab.setting.length
    for name, row in found[(found["change"] < 0) & (found["least"] > 0)].iterrows():
        yield text(
            "lab.notice.hidden",
            name=named[str(name)],
            length=number(length),
            twice=number(2 * length),
            change=fixed(-row["change"], 3),
            excess=_spread(row, text),
        )


def _spread(row: pd.Series, text: Text) -> str:
    """A paired excess, and where several seeds have it, from the least to the most of them."""
    found = {key: fixed(row[key], 3) for key in ("excess", "least", "most")}
    one = row["least"] == row["most"]
    return found["excess"] if one else text("lab.notice.spread", **found)


def _resolution(whole: pd.DataFrame, lab: Lab, text: Text) -> Iterator[str]:
    """Whether resolution sorts RoPE and XPos as what they lose does."""
    rotary = [name for name in _ROTARY if name in lab.models]
    if "rope" not in rotary[:-1]:
        return
    order = ranked(whole["value"][rotary])
    highest = ranked(-resolved(lab)[lab.setting.longest][rotary])
    yield text(
        f"lab.notice.{'same' if order == highest else 'other'}_order",
        losses=_names(order, lab, text),
        resolution=_names(highest, lab, text),
        longest=number(lab.setting.longest),
    )


def _names(models: Iterable[str], lab: Lab, text: Text) -> str:
    """What some models are called, one after the other."""
    named = names(lab, text)
    return listed([named[name] for name in models], text)

"""The page of number formats: where they overflow, and where angles are lost."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from xpos_viz.encoding import REGISTRY
from xpos_viz.figures.words import counted, listed, number, tokens
from xpos_viz.pictures.precision import pictures, studied
from xpos_viz.precision import centred_length, largest_position, table_error
from xpos_viz.studies.precision import TOLERANCE, Angles, Overflow
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui.session import language, state

LENGTHS: tuple[int, ...] = tuple(1 << power for power in range(7, 21))
"""Steps of the length, tokens."""

LARGEST: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000)
"""Steps of |k|max."""

SHARE = f"{TOLERANCE:g}"
"""The tolerated error, for a reader."""

LATEX = (
    r"n_{\max}=\left\lfloor\frac{\ln(M/|k|_{\max})}{\max_i(-\mathrm{Re}\,\lambda_i)}\right\rfloor",
    r"\max_i(-\mathrm{Re}\,\lambda_i)=\frac{1}{B}\,\ln\frac{1+\gamma}{\gamma}",
    r"L_{\text{start}}=n_{\max}+1\qquad L_{\text{centred}}=2\,n_{\max}+1",
)
"""The last position, and the lengths that follow."""


def show() -> None:
    """Draw the page."""
    text = texts(language())
    page.head("precision", text)
    picture, beside = page.sides("precision")
    with beside:
        controls.choose(text, "formats", names=str)
        sources.width(text)
        controls.slide(text, "k_max", LARGEST)
        controls.slide(text, "text_length", LENGTHS)
        controls.choose(text, "kept")
        controls.parameters(text, "base", "gamma", "scale_base")
        controls.reset(text)
    with picture:
        _pictures(text)
    page.formula(text("precision.formula_words"), LATEX, (REGISTRY["xpos"],), text)
    page.code((largest_position, centred_length, table_error), text)


def _pictures(text: Text) -> None:
    """Both pictures of the chosen formats, the safe lengths between them, and what to notice."""
    now = state()
    if not now.formats:
        st.info(text("precision.no_format"))
        return
    (large, lost), (sizes, errors) = studied(now), pictures(now, text)
    page.picture(sizes, text)
    page.table("safe", _safe(large, lost, text))
    page.picture(errors, text)
    page.notice(_seen(large, lost, text), text)


def _safe(large: Overflow, lost: dict[str, Angles], text: Text) -> pd.DataFrame:
    """The safe lengths as a reader sees them, a row per format."""
    limits = large.limits.loc[list(lost)]
    ends = [*map(counted, limits["largest"])]
    columns = {
        text("precision.largest"): ends,
        text("precision.safe_start"): [*map(counted, limits["start"].tolist())],
        text("precision.safe_centred"): [*map(counted, limits["centred"].tolist())],
        text("precision.safe_angles", share=SHARE): [_until(study) for study in lost.values()],
    }
    return pd.DataFrame(columns, index=list(lost))


def _until(study: Angles) -> str:
    """The longest text whose angles are kept, or that the whole one is."""
    return f"≥\u00a0{number(state().text_length)}" if study.lost is None else number(study.lost)


def _seen(large: Overflow, lost: dict[str, Angles], text: Text) -> list[str]:
    """What overflows at this length, what counting from the middle gains, what loses angles."""
    length, limits = state().text_length, large.limits.loc[list(lost)]
    first = limits.iloc[0]
    return [
        text(
            "precision.notice_overflow",
            length=tokens(length, text),
            start=_names(limits.index[limits["start"] < length].tolist(), text),
            centred=_names(limits.index[limits["centred"] < length].tolist(), text),
        ),
        text(
            "precision.notice_centred",
            name=first.name,
            start=tokens(int(first["start"]), text),
            centred=tokens(int(first["centred"]), text),
        ),
        _angle(lost, length, text),
        text("precision.notice_here"),
    ]


def _angle(lost: dict[str, Angles], length: int, text: Text) -> str:
    """Which formats lose an angle first, if any does."""
    places = {name: study.lost for name, study in lost.items() if study.lost is not None}
    if not places:
        return text("precision.notice_kept", share=SHARE, length=tokens(length, text))
    first = min(places.values())
    names = [name for name, place in places.items() if place == first]
    return text(
        "precision.notice_lost", names=listed(names, text), place=number(first), share=SHARE
    )


def _names(names: Sequence[str], text: Text) -> str:
    """Formats one after the other, or that there is none."""
    return listed(names, text) if names else text("precision.none")

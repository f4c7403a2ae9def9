"""The page of curves over distance."""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from operator import itemgetter

import streamlit as st

from xpos_viz.curves import (
    Captured,
    Normal,
    bound_curve,
    decay_curve,
    envelope,
    first_negative_lag,
    running_mean,
)
from xpos_viz.encoding import REGISTRY, Encoding
from xpos_viz.figures.words import family_name, label, listed, portion, short_labels, tokens
from xpos_viz.pictures.decay import pictures
from xpos_viz.state import State
from xpos_viz.state.changes import with_kept_curves
from xpos_viz.state.model import MAX_KEPT_CURVES
from xpos_viz.studies.decay import landmarks
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources, widgets
from xpos_viz.ui.session import commit, language, state

DISTANCES: tuple[int, ...] = (*(2**power for power in range(4, 20)), 1_000_000)

_TOLD = 6  # most curves of which the sentences tell each

FORMULAS: dict[str, str] = {
    "g": r"g[\Delta]=\mathrm{Re}\sum_i e^{\lambda_i\Delta}"
    r"=\sum_i\cos(\Delta\theta_i)\,\zeta_i^{\Delta/B}",
    "running_mean": r"\frac{1}{\Delta+1}\sum_{t=0}^{\Delta} g[t]",
    "envelope": r"|g[\Delta]|\le\sum_i|e^{\lambda_i\Delta}|=\sum_i\zeta_i^{\Delta/B}",
    "bound": r"\frac{1}{d/2}\sum_{j=1}^{d/2}\Bigl|\sum_{i<j}e^{\lambda_i\Delta}\Bigr|",
    "independent": r"\mathrm{E}\,s=0,\qquad \mathrm{Var}\,s=2\sum_i\zeta_i^{2\Delta/B}",
    "correlated": r"\mathrm{E}\,s=2\rho\,g[\Delta],\qquad "
    r"\mathrm{Var}\,s=2\Bigl(\sum_i\zeta_i^{2\Delta/B}+\rho^2 g[2\Delta]\Bigr)",
    "captured": r"\bar s[\Delta]=\frac{1}{L-\Delta}\sum_{m=\Delta}^{L-1}s(m,m-\Delta)",
}
"""The formula of each reading and each assumption."""

CODE: dict[str, Callable[..., object]] = {
    "g": decay_curve,
    "running_mean": running_mean,
    "envelope": envelope,
    "bound": bound_curve,
    "independent": Normal,
    "correlated": Normal,
    "captured": Captured,
}
"""What computes them."""


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("decay", text)
    encodings = now.drawn_curves
    picture, beside = page.sides("decay")
    with picture:
        for shown in pictures(now, text):
            page.picture(shown, text)
        if encodings:
            page.notice(_seen(encodings, now.distance, text), text)
        else:
            st.info(text("decay.none"))
    with beside:
        _controls(now, text)
    what = now.reading if now.assumption == "ones" else now.assumption
    families = {encoding.name: encoding.family for encoding in encodings}
    page.formula(text(f"decay.words.{what}"), (FORMULAS[what],), tuple(families.values()), text)
    page.code((CODE[what], first_negative_lag), text)


def distance(text: Text) -> None:
    """Draw how far curves go, and how their axis is divided."""
    controls.slide(text, "distance", DISTANCES)
    controls.choose(text, "axis", lambda word: text(f"livemap.axes.{word}"))


def _controls(now: State, text: Text) -> None:
    """What is drawn, of what, and the parameters of what is drawn."""
    controls.choose(text, "curves", lambda name: family_name(REGISTRY[name], text))
    distance(text)
    controls.choose(text, "assumption")
    if now.assumption == "ones":
        controls.choose(text, "reading")
    if now.assumption == "correlated":
        controls.slide(text, "rho", range(-100, 101, 10))
    if now.assumption == "captured":
        sources.source(text)
    else:
        sources.width(text)
    controls.families(text, *now.curves)
    _keep(now, text)
    controls.reset(text)


def _keep(now: State, text: Text) -> None:
    """Draw the way to keep curves as they are set, and to forget each of them."""
    if not widgets.is_shown("kept_curves"):
        return
    st.button(
        text("decay.keep"),
        key="keep_curves",
        icon=":material/keep:",
        help=text("decay.keep_help", most=MAX_KEPT_CURVES),
        disabled=not len(now.kept_curves) < len(now.drawn_curves) <= MAX_KEPT_CURVES,
        on_click=lambda: commit(with_kept_curves),
        width="stretch",
    )
    controls.kept(text, "kept_curves", lambda kept: label(now.kept_encoding(kept), text))


def _seen(encodings: Sequence[Encoding], distance: int, text: Text) -> list[str]:
    """Three sentences over all that is drawn."""
    found = [landmarks(encoding, distance) for encoding in encodings]
    names = short_labels(encodings, text)
    end = tokens(distance, text)

    def each(values: Iterable[float], words: Callable[[float], str]) -> str:
        return _each(list(zip(names, values, strict=True)), words, text)

    def lag(none: str) -> Callable[[float], str]:
        return lambda value: text(none) if value == inf else tokens(int(value), text)

    negative = (inf if row.negative is None else row.negative for row in found)
    return [
        text("decay.notice_negative", each=each(negative, lag("decay.nowhere")), end=end),
        text("decay.notice_half", each=each((row.half for row in found), lag("decay.never"))),
        text("decay.notice_left", each=each((row.left for row in found), portion), end=end),
    ]


def _each(rows: Sequence[tuple[str, float]], words: Callable[[float], str], text: Text) -> str:
    """Names with their values, or of many the least and the greatest."""
    if len(rows) <= _TOLD:
        return listed([f"{name} {words(value)}" for name, value in rows], text)
    ends = (pick(rows, key=itemgetter(1)) for pick in (min, max))
    least, most = (f"{name} {words(value)}" for name, value in ends)
    return text("decay.between", least=least, most=most, count=len(rows))

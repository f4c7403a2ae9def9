"""The page of curves over distance."""

from collections.abc import Callable, Sequence

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
from xpos_viz.figures.words import family_name, listed, portion, tokens
from xpos_viz.pictures.decay import pictures
from xpos_viz.state import State
from xpos_viz.studies.decay import Landmarks, landmarks
from xpos_viz.texts import Text, texts
from xpos_viz.ui import controls, page, sources
from xpos_viz.ui.session import language, state

DISTANCES: tuple[int, ...] = (*(2**power for power in range(4, 20)), 1_000_000)

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
    encodings = [now.encoding(name) for name in now.curves]
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
    families = [encoding.family for encoding in encodings]
    page.formula(text(f"decay.words.{what}"), (FORMULAS[what],), families, text)
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
    controls.reset(text)


def _seen(encodings: Sequence[Encoding], distance: int, text: Text) -> list[str]:
    """Three sentences over all that is drawn."""
    found = [
        (family_name(encoding.family, text), landmarks(encoding, distance))
        for encoding in encodings
    ]
    end = tokens(distance, text)

    def each(words: Callable[[Landmarks], str]) -> str:
        return listed([f"{label} {words(row)}" for label, row in found], text)

    def negative(row: Landmarks) -> str:
        return text("decay.nowhere") if row.negative is None else tokens(row.negative, text)

    def half(row: Landmarks) -> str:
        return text("decay.never") if row.half == float("inf") else tokens(int(row.half), text)

    return [
        text("decay.notice_negative", each=each(negative), end=end),
        text("decay.notice_half", each=each(half)),
        text("decay.notice_left", each=each(lambda row: portion(row.left)), end=end),
    ]

"""What all pages have: the way to the others, a head, and at the foot formula, source and code.

A page reads: what it answers → controls beside the picture → picture → what to notice → formula
and source → the code behind it.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from xpos_viz.encoding import Family
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.description import Heatmaps, Plane
from xpos_viz.figures.screen import legends
from xpos_viz.figures.words import bound, encoding_words, rounded
from xpos_viz.pictures import Picture
from xpos_viz.state import CONTROLS, PRESETS, to_address
from xpos_viz.texts import TAGS, Text
from xpos_viz.theme import Mode
from xpos_viz.ui import controls, copying, downloads, keyboard, layout, notices, widgets
from xpos_viz.ui.plain import plain
from xpos_viz.ui.session import heard, language, link, state

ONE = (
    r"s(m,n)=\mathrm{Re}\sum_i q_i\,\overline{k_i}\;e^{\lambda_i(m-n)}",
    r"\lambda_i=\underbrace{\mathrm{i}\theta_i}_{\text{RoPE}}+\underbrace{\tfrac{\ln\zeta_i}{B}}_{\text{XPos}}",
)
"""The one formula, as TeX."""

_IN_SIGHT = """function seek(shown, count, looks) {
  const row = document.querySelector(".st-key-links");
  const stops = [...(row?.querySelectorAll("a") ?? [])];
  const link = stops.find(({ textContent }) => textContent === shown);
  if (!link || stops.length < count)  // not all of them are drawn yet
    return looks && setTimeout(seek, 100, shown, count, looks - 1);
  const [box, place] = [row, link].map((element) => element.getBoundingClientRect());
  row.scrollLeft += (place.left + place.right - box.left - box.right) / 2;
}"""
"""Moves the row of links so that the one of the page is in its middle, on a narrow screen."""

_FOLLOWED = """document.addEventListener("focusin", ({ target }) =>
  target.closest(".st-key-links a")?.scrollIntoView({ block: "nearest", inline: "nearest" }),
)"""
"""Brings all of a link that the keys reach into sight, of which a browser may leave a bit."""

_REACHED = """function reach(place) {
  const row = document.querySelector(place);
  new ResizeObserver(() => {
    if (row.scrollWidth > row.clientWidth) row.tabIndex = 0;
    else row.removeAttribute("tabindex");
  }).observe(row);
}"""
"""Lets the keyboard reach maps while they go on beyond the edge, so that its arrows move them."""

_MOVED = """function move(place) {
  const parts = () => [...document.querySelectorAll(`${place} div`)];
  const wide = (part) =>
    part.scrollWidth > part.clientWidth && getComputedStyle(part).overflowX === "auto";
  new ResizeObserver(() => {
    for (const part of parts().filter(wide)) part.tabIndex = 0;
  }).observe(document.querySelector(place));
}"""
"""Lets the keyboard reach a table that goes on beyond the edge."""

_MENU = {
    "system": '[data-testid="stMainMenuItem-theme-System"]',
    "light": '[data-testid="stMainMenuItem-theme-Light"]',
    "dark": '[data-testid="stMainMenuItem-theme-Dark"]',
    "print": '[data-testid="stMainMenuItem-print"] [data-testid=stMainMenuItemLabel]',
    "record": '[data-testid="stMainMenuItem-recordScreencast"] [data-testid=stMainMenuItemLabel]',
}
"""The words of Streamlit's menu."""
Take = Callable[[int], None]
"""What is told which point was chosen, by its number."""

_SHARE, _CHOSEN = "share", "chosen"
_SELDOM = 86_400  # seconds
_BARE = {"displayModeBar": False, "scrollZoom": False}


def top(pages: Mapping[str, st.Page], shown: str, text: Text) -> PopoverContainer:
    """Draw the links to all pages, which keep what is set, presets and language.

    Parameters
    ----------
    pages
        The pages, by name.
    shown
        The words of the link to the page that is shown.
    text
        Sentences of one language.

    Returns
    -------
    PopoverContainer
        The place for :func:`share`, which knows the page's controls once they are drawn.
    """
    widgets.offer_none()
    notices.begin()
    st.html(layout.style(mode(), large=large()))
    st.html(layout.worded({place: text(f"ui.menu.{name}") for name, place in _MENU.items()}))
    run("tongue", f"document.documentElement.lang = {json.dumps(TAGS[language()])}")
    run("present", f"({_IN_SIGHT})({json.dumps(shown)}, {len(pages)}, 50)")
    run("followed", _FOLLOWED)
    _reconnect()
    with st.container(key="way", horizontal=True, vertical_alignment="center"):
        with st.container(key="links", horizontal=True, gap="small", vertical_alignment="center"):
            for name, page in pages.items():
                label = text(f"pages.{name}.link")
                st.page_link(page, label=label, query_params=to_address(state()))
        with st.container(key="tools", horizontal=True, vertical_alignment="center"):
            _presets(pages, text)
            place = st.popover(
                text("ui.sharing"), key="sharing", on_change=partial(heard, "sharing")
            )
            with st.container(key="language", width="content"):
                controls.language_switch(text)
    return place


@st.fragment(run_every=_SELDOM)
def _reconnect() -> None:
    """Do nothing, now and then: only a page with such a part runs as soon as it is reconnected.

    A server that was started anew then knows what is set before anything is moved.
    """


def run(key: str, script: str) -> None:
    """Let the browser run a script, once and whenever it changes.

    Parameters
    ----------
    key
        What names it among those of the page.
    script
        JavaScript.
    """
    with st.container(key=f"script_{key}"):
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def share(place: PopoverContainer, text: Text) -> None:
    """Draw, once it is unfolded, the link to what is shown, and large type for a class."""
    if not place.open:
        return
    with place:
        _share(text)


def _share(text: Text) -> None:
    """The link with all controls or some, a file of the whole page, and the size of its type."""
    controls.present_switch(text)
    options = [name for name in CONTROLS if name in widgets.offered()]
    kept = st.session_state.get(_CHOSEN, ())
    st.session_state.setdefault(_SHARE, [name for name in kept if name in options])
    chosen = st.pills(
        text("ui.show"),
        options,
        selection_mode="multi",
        key=_SHARE,
        on_change=_choose,
        format_func=lambda name: text(f"ui.{name}"),
        help=text("ui.show_help"),
    )
    shared = link(replace(state(), show=tuple(chosen)))
    st.code(shared, language=None, wrap_lines=True)
    copying.offer(shared, text)
    downloads.bundled(text)
    if state().show:
        st.link_button(text("ui.show_all"), link(replace(state(), show=())))


def _choose() -> None:
    """Keep the controls that were chosen for the link: what is folded away forgets them."""
    heard(_SHARE)
    st.session_state[_CHOSEN] = st.session_state[_SHARE]


def _presets(pages: Mapping[str, st.Page], text: Text) -> None:
    """Links to settings worth a look, in the language and the type that are chosen.

    They are drawn once they are unfolded, and folded away anew, under another key, as soon as
    another one is what is set.
    """
    address = to_address(state())
    kept = {key: address.pop(key) for key in ("lang", "present") if key in address}
    offered = {name: preset for name, preset in PRESETS.items() if preset[0] in pages}
    chosen = next((name for name, (_, settings) in offered.items() if settings == address), "")
    key = f"presets_{chosen}"
    place = st.popover(text("ui.presets"), key=key, on_change=partial(heard, key))
    if not place.open:
        return
    with place:
        for name, (page, settings) in offered.items():
            label = text(f"presets.{name}.name")
            with st.container(
                key=f"{'chosen' if name == chosen else 'other'}_{name}", gap="xsmall"
            ):
                st.page_link(pages[page], label=label, query_params={**settings, **kept})
                st.caption(text(f"presets.{name}.words"))


def head(name: str, text: Text) -> None:
    """Draw the title of a page, and the question it answers."""
    downloads.begin(name)
    st.title(text(f"pages.{name}.title"), anchor=False)
    st.markdown(text(f"pages.{name}.question"))


def sides(name: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of a picture and of its controls: where it is narrow, these stay below."""
    with st.container(key=f"sides_{name}"):
        shown, beside = st.columns([3, 1], gap="large")
    return shown, beside


def large() -> bool:
    """Return whether type and lines are large."""
    return state().present == "yes"


def mode() -> Mode:
    """Return whether the reader's page is light or dark."""
    return "dark" if st.context.theme.type == "dark" else "light"


def picture(shown: Picture, text: Text, take: Take | None = None) -> None:
    """Draw a figure, its notes, and its files to take along.

    Parameters
    ----------
    shown
        The picture.
    text
        Sentences of one language.
    take
        What is told which point was chosen by a click
        (:func:`xpos_viz.figures.plotly_pen.choosable`).
    """
    sketch(shown, text, take)
    description = shown.description
    if isinstance(description, Plane):
        keyboard.slide(shown.name, text("figure.lag_axis"))
    if description.notes:
        notes(description.notes)
    downloads.show(shown, text)


def sketch(shown: Picture, text: Text, take: Take | None = None) -> None:
    """Draw a figure alone."""
    description = shown.description
    if isinstance(description, Heatmaps):
        _maps(shown)
    else:
        _axes(shown, description.title, text, take)


def _maps(shown: Picture) -> None:
    """Draw maps, which have titles of their own, and move sideways where they are too wide."""
    key = f"wide_{shown.name}"
    with st.container(key=key, gap="xsmall"):
        _chart(shown, key)
        run(shown.name, f"({_REACHED})('.st-key-{key}')")


def _axes(shown: Picture, title: Sequence[str], text: Text, take: Take | None) -> None:
    """Draw what has one pair of axes, between its title and its legend."""
    key = f"fit_{shown.name}"
    with st.container(key=key, gap="xsmall"):
        _titled(title)
        _chart(shown, key, take)
        if named := legends.markup(shown.description, text("ui.legend_help")):
            st.html(named)


def _chart(shown: Picture, key: str, take: Take | None = None) -> None:
    """Draw the figure itself, as high as goes with the width of the container of this key."""
    description, larger = shown.description, layout.LARGE if large() else 1.0
    draw = plotly_pen.choosable if take else plotly_pen.sketch
    figure = draw(description, mode=mode(), larger=larger)
    height = figure.to_dict()["layout"]["height"]
    st.html(layout.following(key, height, plotly_pen.fit(description, larger)))
    st.plotly_chart(
        figure,
        theme=None,
        key=shown.name,
        config=_BARE,
        alt=description.alt,
        on_select=partial(_chosen_point, shown.name, take) if take else "ignore",
        selection_mode="points",
    )


def _chosen_point(key: str, take: Take) -> None:
    """Tell which point was chosen; a click on it once more chooses none."""
    for point in st.session_state[key].selection.points[-1:]:
        take(point["customdata"])


def _titled(lines: Sequence[str]) -> None:
    """Draw the lines above a picture, which may hold words of others, the first one strong."""
    first, *rest = (plain(bound(line)) for line in lines if line)
    st.markdown(f"**{first}**")
    if rest:
        st.caption("  \n".join(rest))


def table(key: str, rows: pd.DataFrame) -> None:
    """Draw a table, which the keyboard can move sideways where it is too wide."""
    with st.container(key=key):
        st.table(rows)
        run(key, f"({_MOVED})('.st-key-{key}')")


def digits(value: object) -> str:
    """Write a measured number of a table."""
    return rounded(cast("float", value))


def notes(lines: Sequence[str]) -> None:
    """Draw the lines that stand under a picture, which may hold words of others."""
    st.caption("  \n".join(plain(bound(line)) for line in lines))


def notice(sentences: Sequence[str], text: Text) -> None:
    """Draw what is to be noticed, sentence by sentence."""
    st.header(text("ui.notice"), anchor=False)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences))


def formula(words: str, latex: Sequence[str], families: Sequence[Family], text: Text) -> None:
    """Draw formulas, what they say, and where the encodings are from."""
    st.header(text("ui.formula"), anchor=False)
    for line in latex:
        st.latex(line)
    st.markdown(words)
    if families:
        st.caption("  \n".join(encoding_words(row, text) for row in families))


def code(parts: Sequence[Callable[..., object] | type], text: Text) -> None:
    """Show the source of what computed the page, folded away."""
    with st.expander(text("ui.code")):
        for part in parts:
            st.caption(f"`{part.__module__}.{part.__qualname__}`")
            st.code(inspect.getsource(part), wrap_lines=True)

"""What can be taken along: each figure, its numbers and its motion; and all of a page."""

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from types import MappingProxyType

import pandas as pd
import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from xpos_viz.export import FORMS, Recipe, bundle, data, make
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.export.handout import handout
from xpos_viz.export.sweeps import sweep, sweepable
from xpos_viz.figures.files import KINDS, SIZES, Paper
from xpos_viz.lab.store import ENDING
from xpos_viz.pictures import PICTURES, Picture
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.studies.yours import Trained, lately
from xpos_viz.texts import Text, texts
from xpos_viz.theme import INKS
from xpos_viz.ui.session import language, link, state
from xpos_viz.ui.work import shown as done
from xpos_viz.ui.work import working

_PAGE, _FIGURES, _ASKED, _MOTION = "page", "figures", "asked", "motion"
_KEPT, _COUNT = 16, count()  # files that were made on a click
_SWEPT = 0.3  # of the work of a motion, the share until its frames are computed

logging.getLogger(get_script_run_ctx.__module__).disabled = True  # no script keeps those files


@dataclass(frozen=True)
class _Source:
    """What files of a page are made from: its name, all that is set, its language and its link."""

    page: str
    state: State
    language: str
    link: str

    def recipe(self, *shown: Picture, paper: Paper | None = None) -> Recipe:
        """Return the recipe of some pictures."""
        return Recipe.of(self.page, shown, self.state, self.language, link=self.link, paper=paper)

    def file(self, shown: Picture, form: str, paper: Paper) -> bytes:
        """Return a file of a picture."""
        return make(shown, form, self.recipe(shown, paper=paper))

    def bundle(self) -> bytes:
        """Return all of the page."""
        return bundle(self.page, self.state, self.language, link=self.link)

    def handout(self) -> bytes:
        """Return the live map as a page of its own."""
        text = texts(self.language)
        recipe = self.recipe(*PICTURES[self.page](self.state, text))
        return handout(self.state, text, recipe.text()).encode()

    def motion(
        self, shown: Picture, parameter: str, paper: Paper, report: Report
    ) -> Mapping[str, bytes]:
        """Return the files of a picture in motion, by their endings."""
        text = texts(self.language)
        moving = sweep(
            self.page,
            shown.name,
            self.state,
            parameter,
            (),
            text,
            lambda share: report(_SWEPT * share),
        )
        recipe = self.recipe(shown, paper=paper).moving(moving)
        drawn = animate(
            moving, "gif", recipe, text, lambda share: report(_SWEPT + (1 - _SWEPT) * share)
        )
        return MappingProxyType({"gif": drawn, "html": animate(moving, "html", recipe, text)})


@dataclass(frozen=True)
class _Asked:
    """A motion that was asked for, which stays whatever is set since: all of it is in the key."""

    page: str
    name: str
    parameter: str
    key: Hashable
    made: Callable[[Report], Mapping[str, bytes]]


def begin(page: str) -> None:
    """Begin a page, of which no figure is drawn yet."""
    st.session_state[_PAGE], st.session_state[_FIGURES] = page, set()


def show(shown: Picture, text: Text) -> None:
    """Draw the menu of a figure's files, folded; a file is made when it is asked for."""
    st.session_state[_FIGURES].add(shown.name)
    _menu(_source(), shown, text)


def csv(name: str, table: Callable[[], pd.DataFrame], text: Text) -> None:
    """Draw the button of a table that no figure shows."""
    _button(
        "CSV",
        lambda: data.csv(table()),
        f"{name}.csv",
        "text/csv",
        text("download.table_help"),
    )


def model(name: str, label: str, made: Callable[[], bytes], text: Text) -> None:
    """Draw the button of a trained model."""
    _button(
        *(label, made, f"{name}{ENDING}", "application/octet-stream", text("download.model_help"))
    )


def bundled(text: Text) -> None:
    """Draw the buttons of all that the page shows, if it shows a figure."""
    source = _source()
    if not st.session_state[_FIGURES]:
        st.caption(text("download.nothing"))
        return
    name, words = f"xpos_viz-{source.page}.zip", text("ui.bundle_help")
    _button(text("ui.bundle"), source.bundle, name, "application/zip", words)
    if source.page == "compare":
        name, words = "xpos_viz-handout.html", text("download.handout_help")
        _button(text("download.handout"), source.handout, name, "text/html", words)


def _source() -> _Source:
    """What the session shows now: models that are not trained yet are not trained for a file."""
    now = state()
    now = replace(now, trained=tuple(each for each in now.trained if lately(Trained.parse(each))))
    return _Source(st.session_state[_PAGE], now, language(), link(now))


@st.fragment
def _menu(source: _Source, shown: Picture, text: Text) -> None:
    """The menu, which runs without the page, and only when it is open."""
    drawer = st.expander(
        text(f"ui.downloads.{shown.name}"),
        key=f"{shown.name}-files",
        icon=":material/download:",
        on_change="rerun",
    )
    if not drawer.open:
        return
    with drawer:
        paper = _paper(shown, text)
        _files(source, shown, paper, tuple(KINDS), text)
        st.markdown(f"**{text('download.numbers')}**")
        _files(source, shown, paper, tuple(form for form in FORMS if form not in KINDS), text)
        _motion(source, shown, paper, text)


def _paper(shown: Picture, text: Text) -> Paper:
    """The choice of what pictures are drawn on."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = _one_of("size", tuple(SIZES), shown, text)
        mode = _one_of("mode", tuple(INKS), shown, text)
        under = st.toggle(
            text("download.caption"),
            key=f"{shown.name}-caption",
            help=text("download.caption_help"),
        )
    return Paper(size, "dark" if mode == "dark" else "light", shown.description.alt * under)


def _one_of(name: str, options: tuple[str, ...], shown: Picture, text: Text) -> str:
    """The choice of one of some words."""
    return st.segmented_control(
        text(f"download.{name}"),
        options,
        default=options[0],
        required=True,
        key=f"{shown.name}-{name}",
        format_func=lambda word: text(f"download.{name}_words.{word}"),
    )


def _files(
    source: _Source, shown: Picture, paper: Paper, forms: tuple[str, ...], text: Text
) -> None:
    """The buttons of some kinds of files."""
    with st.container(horizontal=True):
        for form in forms:
            made = partial(source.file, shown, form, paper)
            name, words = f"xpos_viz-{shown.name}.{form}", text(f"ui.{form}_help")
            _button(form.upper(), made, name, FORMS[form].mime, words)


def _motion(source: _Source, shown: Picture, paper: Paper, text: Text) -> None:
    """What can move the picture, the work of it, and its files."""
    options = sweepable(source.page, shown.name, source.state)
    if not options:
        return
    st.markdown(f"**{text('download.motion')}**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parameter = st.segmented_control(
            text("download.parameter"),
            options,
            default=options[0],
            required=True,
            key=f"{shown.name}-sweep",
            format_func=lambda name: text(f"ui.{name}"),
        )
        key = (source, shown.name, parameter, paper)
        if st.button(text("download.make"), key=f"{shown.name}-make"):
            made = partial(source.motion, shown, parameter, paper)
            st.session_state[_ASKED] = _Asked(source.page, shown.name, parameter, key, made)
    asked: _Asked | None = st.session_state.get(_ASKED)
    if asked is None or (asked.page, asked.name) != (source.page, shown.name):
        return
    if asked.key != key:
        st.caption(text("download.earlier"))
    work = working(asked.key, asked.made, _MOTION)
    if work.stopped:
        del st.session_state[_ASKED]
    elif done(work, text):
        _moving(f"xpos_viz-{asked.name}-{asked.parameter}", work.result, text)


def _moving(name: str, made: Mapping[str, bytes], text: Text) -> None:
    """The buttons of a picture in motion."""
    with st.container(horizontal=True):
        for form, content in made.items():
            kept = partial(bytes, content)
            words = text(f"download.{form}_help")
            _button(form.upper(), kept, f"{name}.{form}", MOVING[form], words)


def _button(label: str, made: Callable[[], bytes], name: str, mime: str, help_: str) -> None:
    """Draw the button of a file."""
    key, kept = name.replace(".", "-"), partial(_kept, made, name, mime)
    st.download_button(label, kept, name, mime, key=key, on_click="ignore", help=help_)


def _kept(made: Callable[[], bytes], name: str, mime: str) -> bytes:
    """Make a file, and keep it until many others were made.

    Streamlit forgets a file that was made on a click once two scripts have ended, which those of
    a class do before a slow network has asked for it.
    """
    content, files = made(), get_instance().media_file_mgr
    files.add(content, mime, f"download {next(_COUNT) % _KEPT}", name, is_for_static_download=True)
    return content

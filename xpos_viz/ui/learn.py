"""The page of lessons: predict, move one thing, see what follows, and name it."""

import json
from dataclasses import replace
from functools import partial

import streamlit as st

from xpos_viz.figures.lessons import cited, coloured, printed, sentence
from xpos_viz.figures.words import number
from xpos_viz.lessons import CHAPTERS, DOUBT, OPTIONS, STEPS, Seen, Step, chapter_of
from xpos_viz.pictures.learn import picture, seen, standing
from xpos_viz.state import State, to_address
from xpos_viz.state.changes import with_answer, with_lesson, with_setting
from xpos_viz.state.model import SWITCH
from xpos_viz.texts import Text, texts
from xpos_viz.ui import lab, page, widgets
from xpos_viz.ui.session import language, state

_ARRIVE = """function arrive(step) {
  const { dataset } = document.documentElement;
  const before = dataset.step;
  dataset.step = step;
  if (!before || before === step || document.activeElement !== document.body) return;
  const place = document.querySelector(`.st-key-step_${step}`);
  const heading = place.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  place.scrollIntoView();
}"""
"""Brings the keys and the eyes to a step whose link, which is gone, led to it."""

_PAGES = {"trained": ("lab", lab.show)}
"""Pages that go on with a chapter, by its name."""

_SPOKEN = "document.querySelector('.st-key-spoken').setAttribute('aria-live', 'polite')"
"""Lets a screen reader say what comes to stand there."""


def show() -> None:
    """Draw the page."""
    text, now = texts(language()), state()
    page.head("learn", text)
    _way(now, text)
    step = STEPS[now.lesson]
    with st.container(key=f"step_{step.name}"):
        asked, shown = st.columns([2, 3], gap="large")
        with asked:
            what = seen(now) if _question(step, now, text) else None
        with shown:
            if what:
                _picture(step, what, now, text)
            else:
                st.info(text("learn.first"), icon=":material/visibility_off:")
        if what:
            _named(step, what, now, text)
        _further(step, now, text)
        _on(step, now, text)
        page.run("arrive", f"({_ARRIVE})({json.dumps(step.name)})")


def _way(now: State, text: Text) -> None:
    """The choice of a step, and the teacher's switch."""
    steps, switch = st.columns([3, 1], gap="large", vertical_alignment="bottom")
    with steps:
        widgets.control(
            st.selectbox,
            "lesson",
            text("ui.lesson"),
            now.lesson,
            with_lesson,
            options=tuple(STEPS),
            format_func=lambda name: _heading(name, now, text),
            help=text("ui.lesson_help"),
        )
    with switch:
        widgets.control(
            st.toggle,
            "teacher",
            text("ui.teacher"),
            now.teacher == "yes",
            lambda old, new: replace(old, teacher=SWITCH[new]),
            help=text("ui.teacher_help"),
        )
    done = len(_answers(now))
    st.progress(done / len(STEPS), text("learn.progress", done=done, steps=len(STEPS)))


def _heading(name: str, now: State, text: Text) -> str:
    """Number and title of a step, and whether its question is answered."""
    chapter = chapter_of(name)
    place = f"{CHAPTERS.index(chapter) + 1}.{chapter.steps.index(STEPS[name]) + 1}"
    done = " ✓" if name in _answers(now) else ""
    named = {"chapter": text(f"learn.{chapter.name}.title"), "step": text(f"learn.{name}.title")}
    return text("learn.heading", place=place, **named) + done


def _answers(now: State) -> dict[str, str]:
    """The option that was chosen at each step that has an answer; an address may have more."""
    return dict(answer.rsplit("-", 1) for answer in now.answers)


def _question(step: Step, now: State, text: Text) -> bool:
    """What the chapter is about, the question, the choice; return whether one may see."""
    chapter, chosen = chapter_of(step.name), _answers(now).get(step.name)
    if chapter.steps[0] is step:
        st.markdown(text(f"learn.{chapter.name}.words"))
    st.header(text(f"learn.{step.name}.title"), anchor=False)
    question = text(f"learn.{step.name}.question")
    st.markdown(question)
    widgets.control(
        partial(st.radio, label_visibility="collapsed"),
        "answers",
        question.replace("*", ""),
        chosen,
        lambda old, new: with_answer(old, step.name, new),
        options=(*OPTIONS, DOUBT),
        format_func=lambda option: (
            text("learn.doubt") if option == DOUBT else text(f"learn.{step.name}.{option}")
        ),
    )
    because = text(f"learn.{step.name}.because")
    if now.teacher == "yes":
        st.info(text(f"learn.{step.name}.note"), icon=":material/school:")
        with st.expander(text("learn.answer")):
            st.markdown(f"**{text(f'learn.{step.name}.{step.right}')}** {because}")
        return True
    with st.container(key="spoken"):
        page.run("spoken", _SPOKEN)
        if chosen == step.right:
            st.success(text("learn.right", because=because), icon=":material/check:")
    if chosen not in (None, step.right):  # a warning is an alert, which is said as it is
        right = text(f"learn.{step.name}.{step.right}")
        words = "learn.unsure" if chosen == DOUBT else "learn.other"
        st.warning(text(words, right=right, because=because), icon=":material/lightbulb:")
    return chosen is not None


def _picture(step: Step, what: Seen, now: State, text: Text) -> None:
    """What is moved, and what follows."""
    control = step.control
    words = isinstance(control.start, str)
    widgets.control(
        partial(st.segmented_control, required=True, wrap=True) if words else st.select_slider,
        "at",
        text(f"learn.{step.name}.do"),
        standing(now),
        lambda old, new: with_setting("at", old, control.values.index(new)),
        options=control.values,
        format_func=(lambda key: text(f"learn.{step.name}.{key}")) if words else number,
    )
    page.picture(picture(step, what, text), text)


def _named(step: Step, what: Seen, now: State, text: Text) -> None:
    """The sentence that names it, the formula, and the line that computes it."""
    page.notice([sentence("sentence", step, what, text)], text)
    with st.container(key="formula"):
        parts = coloured(step.formula, page.mode()).split(r",\qquad")
        page.formula(text(f"learn.{step.name}.symbols"), parts, (), text)
        st.caption("  \n".join(cited(step, text)))
    st.code(printed(step, standing(now)), language="pycon", wrap_lines=True)
    page.code(step.parts, text)


def _further(step: Step, now: State, text: Text) -> None:
    """The way to the page of what a chapter was about, at its end, where there is one."""
    chapter = chapter_of(step.name)
    if step is not chapter.steps[-1] or chapter.name not in _PAGES:
        return
    name, shows = _PAGES[chapter.name]
    there = st.Page(shows, title=text(f"pages.{name}.link"), url_path=name)
    label = text(f"learn.{chapter.name}.further")
    st.page_link(there, label=label, icon=":material/science:", query_params=to_address(now))


def _on(step: Step, now: State, text: Text) -> None:
    """The ways to the step before and after."""
    names = list(STEPS)
    place = names.index(step.name)
    there = st.Page(show, title=text("pages.learn.link"), url_path="learn")
    before, after = st.columns(2)
    for column, other, key, icon in (
        (before, place - 1, "back", ":material/arrow_back:"),
        (after, place + 1, "next", ":material/arrow_forward:"),
    ):
        if 0 <= other < len(names):
            title = _heading(names[other], now, text)
            with column:
                address = to_address(with_lesson(now, names[other]))
                label = text(f"learn.{key}", title=title)
                st.page_link(there, label=label, icon=icon, query_params=address)

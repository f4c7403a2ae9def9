"""Every step of the lessons: it computes, its words are there, and its picture can be drawn."""

import ast
import re

import numpy as np
import pytest
import torch

from xpos_viz.figures import plotly_pen
from xpos_viz.figures.lessons import coloured, printed, sentence, step_figure
from xpos_viz.lessons import ANSWERS, CHAPTERS, OPTIONS, STEPS, chapter_of
from xpos_viz.lessons.model import Arrows, Heights, Lines, Matrix, Seen
from xpos_viz.state import State, from_address, opening, to_address
from xpos_viz.state.changes import with_answer, with_lesson
from xpos_viz.texts import LANGUAGES, texts
from xpos_viz.theme import INKS, WORDS

ALL = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
DRAWN = {Arrows: "ends", Lines: "lines", Heights: "series"}


def test_steps_have_names_of_their_own():
    names = [chapter.name for chapter in CHAPTERS]
    names += [step.name for chapter in CHAPTERS for step in chapter.steps]
    assert len(set(names)) == len(names)
    assert all(chapter_of(step.name) is chapter for chapter in CHAPTERS for step in chapter.steps)
    assert len(ANSWERS) == 4 * len(STEPS)


@ALL
def test_a_step_has_one_line_that_computes(step):
    assert step.right in OPTIONS
    assert "\n" not in step.code
    assert isinstance(ast.parse(step.code, mode="eval"), ast.Expression)
    assert step.argument in {
        node.id for node in ast.walk(ast.parse(step.code)) if isinstance(node, ast.Name)
    }
    value = step.line(step.control.start)
    assert isinstance(value, torch.Tensor | float | str | bool)


@ALL
def test_what_is_printed_runs_as_it_is_printed(step):
    """In a session in which nothing was imported yet, at each place of the control."""
    for at in step.control.values:
        lines = printed(step, at).splitlines()
        typed = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
        session: dict[str, object] = {}
        exec("\n".join(typed[:-1]), session)
        given = repr(eval(typed[-1], session))
        if not step.measured:
            assert given.splitlines() == lines[len(typed) :]


@ALL
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_place_of_a_control_has_its_picture_and_sentence(step, language):
    text = texts(language)
    told = set()
    for value in step.control.values:
        seen = step.see(value)
        assert isinstance(seen, Seen)
        plotly_pen.draw(step_figure(step, seen, text), mode="light")
        told.add(sentence("sentence", step, seen, text))
    assert len(told) > 1  # what is moved changes what is said
    for key in ("question", *OPTIONS, "because", "do", "symbols", "note"):
        assert text(f"learn.{step.name}.{key}")


@ALL
def test_symbols_have_the_colours_of_what_is_drawn(step):
    shown = step.see(step.control.start).shown
    roles = {int(place) for place in re.findall(r"\\role\{(\d)\}", step.formula)}
    assert "role" not in coloured(step.formula, "light")
    if not isinstance(shown, Matrix):
        assert roles <= set(range(len(getattr(shown, DRAWN[type(shown)]))))
        assert roles


@pytest.mark.parametrize("mode", INKS)
def test_words_in_colours_are_readable(mode):
    page = INKS[mode].page
    assert min(contrast(colour, page) for colour in WORDS[mode]) >= 4.5


def contrast(one, other):
    """The contrast of two colours as WCAG 2 has it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """The relative luminance of a colour."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_answers_are_kept_in_the_address_one_a_step():
    name = next(iter(STEPS))
    state = with_answer(with_answer(State(opening()), name, "a"), name, "b")
    assert to_address(state) == {"answers": f"{name}-b"}
    assert from_address({"answers": f"{name}-b"}) == (state, [])


def test_a_step_opens_at_its_start():
    name = list(STEPS)[-1]
    state = with_lesson(from_address({"at": "1"})[0], name)
    assert (state.lesson, state.at) == (name, -1)

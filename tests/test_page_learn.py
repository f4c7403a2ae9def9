"""The page of lessons: a question first, then what follows, in both languages."""

from urllib.parse import parse_qsl

import pytest

from tests.apptest import address, again, opened
from xpos_viz.figures.lessons import printed, sentence
from xpos_viz.lessons import CHAPTERS, DOUBT, OPTIONS, STEPS, chapter_of
from xpos_viz.texts import LANGUAGES, texts

FIRST, *_, LAST = STEPS.values()
each_language = pytest.mark.parametrize("language", LANGUAGES)


def lesson(step, language="en", **settings):
    """The page at a step."""
    return opened("learn", {"lesson": step.name, "lang": language, **settings})


def words(elements):
    return [element.value for element in elements]


@each_language
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_is_answered_is_explained_and_shown(step, language):
    text = texts(language)
    page = lesson(step, language, answers=f"{step.name}-{step.right}")
    because = text(f"learn.{step.name}.because")
    assert words(page.header)[0] == text(f"learn.{step.name}.title")
    assert words(page.success) == [text("learn.right", because=because)]
    assert not page.warning
    said = words(page.markdown)
    chapter = chapter_of(step.name)
    assert (text(f"learn.{chapter.name}.words") in said) == (chapter.steps[0] is step)
    assert text(f"learn.{step.name}.symbols") in said
    assert len(page.get("plotly_chart")) == 1
    if not step.measured:
        seen = step.see(step.control.start)
        assert f"- {sentence('sentence', step, seen, text)}" in said
        assert printed(step, step.control.start) in words(page.code)


@each_language
def test_before_an_answer_nothing_is_shown(language):
    page, text = lesson(FIRST, language), texts(language)
    assert words(page.info) == [text("learn.first")]
    assert not page.get("plotly_chart")
    assert words(page.markdown).count(text(f"learn.{FIRST.name}.symbols")) == 0
    (choice,) = page.radio
    assert choice.value is None
    assert choice.options == [
        *(text(f"learn.{FIRST.name}.{option}") for option in OPTIONS),
        text("learn.doubt"),
    ]
    page = again(choice.set_value(FIRST.right))
    assert address(page) == {"lang": language, "answers": f"{FIRST.name}-{FIRST.right}"}
    assert page.get("plotly_chart")
    assert page.get("progress")[0].proto.text == text("learn.progress", done=1, steps=len(STEPS))


@pytest.mark.parametrize("chosen", [*OPTIONS, DOUBT])
def test_a_wrong_answer_is_told_the_right_one(chosen):
    text = texts("en")
    page = lesson(FIRST, answers=f"{FIRST.name}-{chosen}")
    told = {
        "right": text(f"learn.{FIRST.name}.{FIRST.right}"),
        "because": text(f"learn.{FIRST.name}.because"),
    }
    if chosen == FIRST.right:
        assert not page.warning
    else:
        words_key = "learn.unsure" if chosen == DOUBT else "learn.other"
        assert words(page.warning) == [text(words_key, **told)]
        assert not page.success


def test_an_answer_may_be_changed():
    page = lesson(FIRST, answers=f"{FIRST.name}-a,{LAST.name}-b")
    page = again(page.radio[0].set_value("c"))
    assert address(page)["answers"] == f"{LAST.name}-b,{FIRST.name}-c"


@each_language
@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_what_is_moved_is_in_the_address(chapter, language):
    step, text = chapter.steps[0], texts(language)
    page = lesson(step, language, answers=f"{step.name}-a")
    (moved,) = (box for box in [*page.select_slider, *page.button_group] if box.key == "at")
    values = step.control.values
    other = len(values) - 1 if step.control.start != values[-1] else 0
    page = again(moved.set_value(values[other]))
    assert address(page)["at"] == str(other)
    expected = sentence("sentence", step, step.see(values[other]), text)
    assert f"- {expected}" in words(page.markdown)


def test_another_step_opens_at_its_start():
    page = lesson(FIRST, answers=f"{FIRST.name}-a", at="0")
    (steps,) = (box for box in page.selectbox if box.key == "lesson")
    page = again(steps.set_value(LAST.name))
    assert address(page) == {"lang": "en", "lesson": LAST.name, "answers": f"{FIRST.name}-a"}


@each_language
def test_a_chapter_leads_at_its_end_to_the_page_that_goes_on_with_it(language):
    *before, last = chapter_of("resolving").steps
    answered = f"{last.name}-{last.right}"
    (link,) = further(lesson(last, language, answers=answered))
    assert link.label == texts(language)("learn.trained.further")
    assert link.page == "lab"
    kept = {"lang": language, "lesson": last.name, "answers": answered}
    assert dict(parse_qsl(link.query_string)) == kept
    assert not any(further(lesson(step, language)) for step in (*before, LAST))


def further(page):
    """Links from a chapter to other pages."""
    return [each.proto for each in page.get("page_link") if "science" in each.proto.icon]


@each_language
def test_a_teacher_sees_notes_and_pictures_and_opens_answers(language):
    page, text = lesson(FIRST, language, teacher="yes"), texts(language)
    assert words(page.info) == [text(f"learn.{FIRST.name}.note")]
    assert page.get("plotly_chart")
    assert not page.success
    answer = next(each for each in page.expander if each.label == text("learn.answer"))
    assert not answer.proto.expanded
    assert text(f"learn.{FIRST.name}.because") in answer.markdown[0].value


SUCH = {"en": "Use one of {}, such as: `turn, ", "zh": "可用的值有 {} 个，例如：`turn, "}


@each_language
def test_of_many_steps_those_are_told_that_are_like_the_one_that_was_asked_for(language):
    (told,) = words(opened("learn", {"lesson": "turns", "lang": language}).warning)
    _, such, rest = told.partition(SUCH[language].format(len(STEPS)))
    assert such
    assert len(rest.split(", ")) == 5


def test_several_answers_to_one_question_count_once():
    """Only an address can have them; the last one is shown."""
    every = ",".join(f"{step}-{option}" for step in STEPS for option in (*OPTIONS, DOUBT))
    page = lesson(FIRST, answers=every)
    assert page.radio[0].value == DOUBT
    total = len(STEPS)
    done = texts("en")("learn.progress", done=total, steps=total)
    assert page.get("progress")[0].proto.text == done

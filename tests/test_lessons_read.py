"""The lessons as they are read from start to end: every term is explained before it is used."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from xpos_viz.lessons import CHAPTERS, OPTIONS, STEPS, Heights, Lines
from xpos_viz.texts import LANGUAGES, catalogue, texts

ENGLISH = catalogue("en")
TERM = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")
SPOKEN = ("question", *OPTIONS, "do", "sentence", "because", "symbols")


def reading(words):
    """All sentences of the lessons, in the order in which they are read."""
    for chapter in CHAPTERS:
        yield f"learn.{chapter.name}.words"
        for step in chapter.steps:
            of_step = [key for key in words if key.startswith(f"learn.{step.name}.")]
            told = [f"learn.{step.name}.{key}" for key in SPOKEN]
            yield from told
            yield from (key for key in of_step if key not in told and not key.endswith(".title"))


def introduced(language):
    """Every term, which is in italics where it is explained, and where that is."""
    words = catalogue(language)
    return [(term, key) for key in reading(words) for term in TERM.findall(words[key])]


@pytest.mark.parametrize(("term", "place"), introduced("en"))
def test_a_term_is_explained_before_it_is_used(term, place):
    keys = list(reading(ENGLISH))
    word = re.compile(rf"\b{term.removesuffix('s')}", re.IGNORECASE)
    if len(term) > 1:  # a letter is also an answer
        assert next(key for key in keys if word.search(ENGLISH[key])) == place


def test_terms_are_explained_once_and_at_the_same_places_in_both_languages():
    each = {language: introduced(language) for language in LANGUAGES}
    for terms in each.values():
        assert max(Counter(term for term, _ in terms).values()) == 1
    places = [Counter(place for _, place in terms) for terms in each.values()]
    assert all(one == other for one, other in pairwise(places))


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_says_what_is_named_with_year_and_number(language):
    words = catalogue(language)
    bare = re.compile(r"(?:et al\.|team|等|团队) 20\d\d(?![,(\uff0c\uff08 ]+arXiv:\d{4}\.\d{5})")
    assert not [key for key in reading(words) if bare.search(words[key])]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "named", ["SmolLM2", "Llama 3", "RetNet", "ALiBi", "YaRN", "XPos\uff08|XPos \\("]
)
def test_what_others_made_is_first_named_with_a_source(named, language):
    words = catalogue(language)
    first = next(words[key] for key in reading(words) if re.search(named, words[key]))
    assert re.search(rf"(?:{named}).*?arXiv:\d{{4}}\.\d{{5}}", first)


def test_right_answers_are_as_often_in_each_place():
    counts = Counter(step.right for step in STEPS.values())
    assert min(counts.values()) > len(STEPS) / 4
    for chapter in CHAPTERS:
        assert len({step.right for step in chapter.steps}) > 1


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step_opens_with_something_to_see(step):
    """On paper there is no other place of the control."""
    shown = step.see(step.control.start).shown
    drawn = {Lines: "lines", Heights: "series"}.get(type(shown))
    series = list(getattr(shown, drawn).values()) if drawn else []
    for values in series:
        assert values.dtype == np.float64
        assert np.isfinite(values).any()
    twins = {"meaning"}  # whose bars are to be alike
    if step.name not in twins:
        assert not any(np.allclose(one, other) for one, other in pairwise(series))


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_is_said_of_one_thing_by_one_word(language):
    avoided = {
        "en": r"\b(?:place [06\{]|toy case|neighbour|colour|behaviour|learnt|afterwards)",
        "zh": r"维度对|缩放基数|得分|转动|柱形|条形|本节|et al",
    }
    words = catalogue(language)
    assert not [key for key in reading(words) if re.search(avoided[language], words[key])]
    assert not re.search(avoided[language], texts(language)("pages.learn.question"))

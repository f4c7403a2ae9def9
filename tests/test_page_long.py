"""The page of long texts without a browser: what each control changes, progress, and edges."""

import re
from types import SimpleNamespace

import pytest

from tests import apptest
from tests.apptest import MADE, SHORT, address, again, control, words
from xpos_viz.figures.words import rounded
from xpos_viz.inputs import Expectation, Random, Sample
from xpos_viz.pictures.long import asked as asked_for
from xpos_viz.state import from_address
from xpos_viz.studies import long as study
from xpos_viz.studies.long import Beginning, Long
from xpos_viz.studies.resolving import resolution_of
from xpos_viz.texts import LANGUAGES, catalogue, texts
from xpos_viz.ui import long as module
from xpos_viz.ui import work

SMALL = {"long_length": "4096"}
pytestmark = pytest.mark.usefixtures("steady")


@pytest.fixture
def asked(monkeypatch):
    """What the page computes, run after run: maps, and resolutions."""
    asked = SimpleNamespace(maps=[], courses=[])

    def spied(calls, compute):
        def spy(what, report):
            calls.append(what)
            return compute(what, report)

        return spy

    monkeypatch.setattr(module, "long_maps", spied(asked.maps, module.long_maps))
    monkeypatch.setattr(module, "resolutions", spied(asked.courses, module.resolutions))
    return asked


def opened(address=SMALL):
    """The page at an address."""
    return apptest.opened("long", address)


def said(page):
    """What is to be noticed."""
    return next(text.value for text in page.markdown if text.value.startswith("- "))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_reads_in_every_language(language):
    page, text = opened(SMALL | {"lang": language}), texts(language)
    assert page.title[0].value == text("pages.long.title")
    assert len(page.get("plotly_chart")) == 2
    assert len(said(page).splitlines()) == 5
    assert "50\u00a0%" in said(page)
    assert not re.search(r"\bnan\b|\binf\b", words(page))
    labels = {widget.proto.label for widget in (*page.selectbox, *page.select_slider)}
    assert labels <= set(catalogue(language).values())
    assert not page.info


def test_what_is_said_is_what_the_study_finds():
    state, _ = from_address(SMALL)
    rope, xpos = state.encoding("rope"), state.encoding("xpos")
    maps = study.long_maps(asked_for(state), lambda _: None)
    lines = said(opened()).splitlines()
    assert f"{maps[0].near:.3g}" in lines[0]
    assert f"{maps[1].far:.3g}" in lines[1]
    assert lines[2].endswith(
        "among 4,096 tokens, these are visible: causal 50\u00a0%, sliding window 50\u00a0%, "
        "blockwise causal 50\u00a0%."
    )
    resolutions = [resolution_of(e, "causal", 4096, "sqrt_d") for e in (rope, xpos)]
    rope, xpos = map(rounded, resolutions[:2])
    assert f"{rope} for RoPE and {xpos} for XPos (causal)" in lines[3]
    assert f"has {resolutions[1] / resolutions[0]:.3g} times RoPE's R(g/√d) under" in lines[4]
    assert lines[4].endswith("that mask makes XPos's 1 times as large.")


@pytest.mark.parametrize(
    ("key", "value", "changed"),
    [
        ("long_inputs", "same", lambda long, _: long.inputs == Random(4096)),
        ("long_length", 8192, lambda long, course: long.tokens == course.tokens == 8192),
        ("long_stage", "weights", lambda long, _: long.stage == "weights"),
        ("long_reduce", "max", lambda long, _: long.reduce == "max"),
        (
            "compare_masks",
            "yes",
            lambda long, _: long.masks == ("causal", "sliding:4096", "blockwise:4096"),
        ),
        ("long_mask", "blockwise", lambda long, _: long.masks == ("blockwise:4096",)),
        ("window_size", 512, lambda _, course: course.masks[1] == "sliding:512"),
        ("block_size", 256, lambda _, course: course.masks[2] == "blockwise:256"),
        ("scale_base", 1024.0, lambda long, _: long.encodings[1]["scale_base"] == 1024),
        ("gamma", 0.5, lambda _, course: course.encodings[1]["gamma"] == 0.5),
        ("base", 5e5, lambda long, _: [e["base"] for e in long.encodings] == [5e5, 5e5]),
        ("normalisation", "raw", lambda _, course: course.normalisation == "raw"),
        ("resolution_over", "scale_base", lambda _, course: course.over == "scale_base"),
    ],
)
def test_every_control_changes_what_is_computed(key, value, changed, asked):
    page = opened()
    before = asked.maps[-1], asked.courses[-1]
    assert not changed(*before)
    page = again(control(page, key).set_value(value))
    after = asked.maps[-1], asked.courses[-1]
    assert changed(*after)
    counts = [1 + (old != new) for old, new in zip(before, after, strict=True)]
    assert [len(asked.maps), len(asked.courses)] == counts  # and nothing is computed again
    assert address(page) == SMALL | {key: value if isinstance(value, str) else f"{value:.15g}"}
    opened(address(page))
    assert (asked.maps[-1], asked.courses[-1]) == after


def test_a_seed_is_there_where_vectors_are_random(asked):
    page = opened(SMALL | {"long_inputs": "independent"})
    again(control(page, "long_seed").set_value(4))
    assert [long.inputs.seed for long in asked.maps] == [0, 4]
    labels = [widget.proto.label for widget in opened().select_slider]
    assert texts("en")("ui.long_seed") not in labels


def test_a_text_that_a_model_read_can_be_looked_at(asked):
    page = again(control(opened(SHORT), "long_inputs").set_value("text"))
    (long, course) = (asked.maps[-1], asked.courses[-1])
    assert (long.inputs, course.tokens) == (Beginning(Sample("pronoun", 8, 2), 28), 28)
    assert [encoding["base"] for encoding in long.encodings] == [1e5, 1e5]
    assert not page.info
    again(control(page, "layer").set_value(16))
    assert asked.maps[-1].inputs.of.layer == 16


def test_where_no_model_read_anything_ones_take_its_place(asked):
    page = opened(MADE | SMALL | {"long_inputs": "text"})
    (info,) = page.info
    assert info.value == (
        "What is chosen beside the maps has no text that a model read: ones take its place."
    )
    assert asked.maps[-1].inputs == Expectation(4096)


def test_a_run_that_changes_nothing_computes_nothing(asked):
    page = opened()
    again(page)
    again(control(page, "language").set_value("zh"))
    assert (len(asked.maps), len(asked.courses)) == (1, 1)


def test_what_needs_every_score_is_shortened_and_the_page_says_why(monkeypatch):
    monkeypatch.setattr(study, "MOST_SCORES", 5_000_000)
    monkeypatch.setattr(module, "MOST_SCORES", 5_000_000)
    page = opened(SMALL | {"long_stage": "weights"})
    (info,) = page.info
    assert info.value == (
        "The maps show 2,048 tokens instead of 4,096 tokens: smallest and largest values and "
        "weights need every visible score, 16.8\u00a0million here, and this server forms at most "
        "5\u00a0million for a picture. The resolution below is of 4,096 tokens."
    )
    assert "4.2\u00a0million scores are formed one by one for this picture." in words(page)
    assert "is at 4,096 tokens" in said(page)


def test_wide_heads_are_shortened_and_the_page_says_why(monkeypatch):
    monkeypatch.setattr(study, "MOST_NUMBERS", 1 << 17)
    (info,) = opened().info
    assert info.value == (
        "The maps show 2,048 tokens instead of 4,096 tokens: heads of width 64 would need more "
        "memory than this server gives. The resolution below is of 4,096 tokens."
    )


@pytest.mark.parametrize("over", ["length", "scale_base"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_one_token_is_a_text(language, over):
    page = opened({"long_length": "1", "lang": language, "resolution_over": over})
    assert len(said(page).splitlines()) == 5
    assert not re.search(r"\bnan\b|\binf\b", words(page))


def test_long_work_shows_how_far_it_is_and_can_be_stopped(monkeypatch):
    """The resolution is drawn and read while the maps are still computed."""
    monkeypatch.setattr(work, "UNSEEN", 600.0)
    ended = []

    def endless(long, report):
        assert type(long) is Long
        try:
            while True:
                report(0.25)
        finally:
            ended.append(long)

    monkeypatch.setattr(module, "long_maps", endless)
    monkeypatch.setattr(work.Work, "done", patient_but_with("maps", work.Work.done))
    page, text = opened(), texts("en")
    (progress,) = page.get("progress")
    assert progress.proto.value in (0, 25)
    assert len(page.get("plotly_chart")) == 1
    assert [line[:10] for line in said(page).splitlines()] == [
        "- Of all p",
        "- R(g/√d),",
        "- XPos has",
    ]
    page = again(control_of(page, text("work.stop")).click())
    assert [info.value for info in page.info] == [text("work.stopped")]
    known = page.session_state["maps"]
    assert known._done.wait(60.0)
    assert (known.ended, len(ended)) == (True, 1)
    assert len(page.get("plotly_chart")) == 1
    monkeypatch.undo()
    monkeypatch.setattr(work, "MOMENT", 60.0)
    page = again(control_of(page, text("work.again")).click())
    assert len(page.get("plotly_chart")) == 2
    assert len(said(page).splitlines()) == 5
    assert not page.info


def patient_but_with(place, done):
    """A look at work that waits for all but that of one place."""
    return lambda self, patience=0.0: done(self, 0.0 if self.place == place else patience)


def control_of(page, label):
    """The button with a label."""
    (found,) = [button for button in page.button if button.label == label]
    return found


def test_one_token_back_is_one_token():
    page = opened({"long_length": "2", "window_size": "2", "block_size": "2"})
    first = said(page).split("\n")[0]
    assert "up to about 1 token back, and " in first
    assert first.endswith(" at least 1 token back.")

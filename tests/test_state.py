"""The state of a session as an address: whole, short, and proof against anything typed."""

import re
import tracemalloc
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import cases
from tests.test_capture import random
from xpos_viz import Capture, Experiment, rope, xpos
from xpos_viz.encoding import PARAMETERS, alibi, p_rope
from xpos_viz.experiment import STAGES, View
from xpos_viz.inputs import SOURCES, Captured, Expectation, Random, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES, layers_of, sample_capture
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.state import OWN, SETTINGS, Refusal, State, from_address, opening, to_address
from xpos_viz.state import model as module
from xpos_viz.state.changes import (
    with_apart,
    with_base,
    with_encoding,
    with_head_dim,
    with_inputs,
    with_kept_curves,
    with_moves,
    with_own,
    with_setting,
    with_source,
    with_view,
    with_window,
)
from xpos_viz.state.model import LOOKS, MAX_HEAD_DIM, MAX_LENGTH, numbers, source_of, within_caps
from xpos_viz.state.settings import Few, Several, Whole
from xpos_viz.texts import LANGUAGES

OPENINGS = [("sample", name) for name in SAMPLES] + [("expectation", ""), ("random", "")]
START = State(opening())
FREE = (
    *(
        "source",
        "lang",
        "axis",
        "apart",
        "head_dim",
        "base",
        "base.1",
        "base.2",
        "gamma",
        "scale_base",
    ),
    *("stage", "mask", "start", "stop"),
)
KEPT = (
    *("nope", "rope", "xpos", "rope:base:500", "xpos:gamma:0.8:scale_base:64"),
    *("xpos:scale_base:1e-05", "yarn:factor:8:low_turns:2", "alibi:slope:0.5"),
)
PLAIN = re.compile(r"[a-zA-Z0-9_.,+-]{1,40}")

samples = st.sampled_from(SAMPLES).flatmap(
    lambda name: st.builds(
        Sample, st.just(name), st.sampled_from(layers_of(name)), st.integers(0, 8)
    )
)
CAPTURES = [
    Capture(*random(), layers=(3, 9), encodings=(rope(8, base=500.0), None)),
    Capture(*random(head_dim=16), tokens=tuple("abcde"), encodings=(rope(4).within(16),)),
    Capture(*random(heads=2, queries=40, keys=40)),
]
captured = st.sampled_from(CAPTURES).flatmap(
    lambda capture: st.builds(
        Captured,
        st.just(keep(capture)),
        st.sampled_from(capture.layers),
        st.integers(0, capture.heads - 1),
    )
)
lengths = st.integers(1, MAX_LENGTH)
made = st.one_of(
    st.builds(Expectation, lengths),
    st.builds(Random, lengths, st.integers(0, MAX_SEED), st.sampled_from(["same", "independent"])),
)


def legal_values(setting):
    """What a setting may be."""
    if isinstance(setting, Whole):
        return st.integers(setting.lower, setting.upper)
    if isinstance(setting, Few):
        return st.lists(st.sampled_from(KEPT), unique=True, max_size=setting.most).map(tuple)
    words = st.sampled_from(setting.legal)
    return st.lists(words, unique=True).map(tuple) if isinstance(setting, Several) else words


@st.composite
def states(draw):
    """Any state that the page may be in."""
    inputs = draw(samples | captured | made)
    width = inputs.head_dim or draw(st.sampled_from([2, 64, 96, MAX_HEAD_DIM]))
    base = draw(cases.positive(1.0, 1e8))
    encodings = (
        rope(width, base=base),
        xpos(
            width,
            base=draw(st.just(base) | cases.positive(1.0, 1e8)),
            gamma=draw(cases.positive(1e-6, 1e3)),
            scale_base=draw(cases.positive(1e-3, 1e9)),
        ),
    )
    start = draw(st.integers(0, inputs.tokens - 1))
    stop = draw(st.none() | st.integers(start + 1, inputs.tokens))
    view = View(
        draw(st.sampled_from(STAGES)), draw(st.sampled_from(["causal", "none"])), start, stop
    )
    differ = encodings[0]["base"] != encodings[1]["base"]
    chosen = {name: draw(legal_values(setting)) for name, setting in SETTINGS.items()}
    state = State(
        Experiment(encodings, inputs, view),
        draw(st.sampled_from([None, *LANGUAGES])),
        **{**chosen, **({"apart": "yes"} if differ else {})},
    )
    own = draw(st.sampled_from([None, *OWN]))
    steps = PARAMETERS[own.partition(".")[2]].steps if own else (None,)
    value = draw(st.sampled_from(steps))
    try:
        return with_own(state, {own: value}) if own else state
    except ValueError:  # such as low_turns ≥ high_turns
        return state


# Round trips


@given(states())
def test_an_address_restores_its_state(state):
    address = to_address(state)
    assert {type(part) for pair in address.items() for part in pair} <= {str}
    assert from_address(address) == (state, [])


@given(states(), st.randoms(use_true_random=False))
def test_the_order_of_an_address_does_not_matter(state, random):
    entries = list(to_address(state).items())
    random.shuffle(entries)
    assert from_address(dict(entries)) == (state, [])


@pytest.mark.parametrize(("source", "name"), OPENINGS)
def test_an_opening_has_a_short_address(source, name):
    state = State(opening(source, name or "tidebook"))
    expected = {"source": source} if source != "sample" else {"name": name}
    address = to_address(state)
    assert address == ({} if name == "tidebook" else expected)
    assert from_address(address) == (state, [])


def test_the_address_holds_what_differs():
    changed = with_view(with_encoding(START, 1, "gamma", 0.5), stage="weights")
    changed = replace(changed, language="zh", axis="log")
    assert to_address(changed) == {
        "gamma": "0.5",
        "stage": "weights",
        "axis": "log",
        "lang": "zh",
    }


def test_a_value_is_left_out_where_its_own_opening_has_it():
    """The scale base of a short text is not that of the long one."""
    pronoun = with_source(START, "sample", "pronoun")
    assert to_address(with_encoding(pronoun, 1, "scale_base", 512)) == {
        "name": "pronoun",
        "scale_base": "512",
    }
    assert to_address(with_encoding(pronoun, 1, "scale_base", 8)) == {"name": "pronoun"}


def test_an_empty_address_is_the_opening_and_the_browser_chooses_the_language():
    assert from_address({}) == (State(opening()), [])
    assert source_of(opening()) == "sample"
    assert from_address({"lang": ""}) == (START, [])


def test_the_opening_shows_where_xpos_matters():
    experiment = opening()
    assert experiment.encodings == (rope(64, base=100_000), xpos(64, base=100_000))
    assert isinstance(experiment.inputs, Sample)
    for name in SAMPLES[1:]:
        short = opening("sample", name)
        assert short.encodings[1]["scale_base"] < short.inputs.tokens / 2
        assert short.encodings[0]["base"] == 100_000


# Bases apart


@pytest.mark.parametrize(
    ("address", "bases"),
    [
        ({}, (100_000, 100_000)),
        ({"base": "500"}, (500, 500)),
        ({"base.1": "500"}, (500, 100_000)),
        ({"base.2": "500"}, (100_000, 500)),
        ({"base.1": "500", "base.2": "700"}, (500, 700)),
        ({"base": "300", "base.2": "700"}, (300, 700)),
        ({"base": "300", "base.1": "500", "base.2": "700"}, (500, 700)),
        ({"base.1": "500", "base.2": "500"}, (500, 500)),
    ],
    ids=str,
)
def test_bases_together_and_apart(address, bases):
    state, refused = from_address(address)
    assert refused == []
    assert tuple(encoding["base"] for encoding in state.experiment.encodings) == bases
    assert from_address(to_address(state)) == (state, [])


def test_a_base_that_is_refused_leaves_the_other():
    state, refused = from_address({"base.1": "500", "base.2": "none"})
    assert [encoding["base"] for encoding in state.experiment.encodings] == [500, 100_000]
    assert refused == [Refusal("base.2", "none", "100000")]


# Hostile addresses


@pytest.mark.parametrize(
    ("key", "value", "kept", "refusal"),
    [
        ("show", "gamma,foo", ("gamma",), Refusal("show", "foo", "")),
        ("show", "foo,gamma,bar,foo,base", ("gamma", "base"), Refusal("show", "foo,bar", "")),
        ("show", "foo", (), Refusal("show", "foo", "")),
        ("curves", "nope,foo", ("nope",), Refusal("curves", "foo", "")),
        ("curves", "foo", ("rope", "xpos"), Refusal("curves", "foo", "rope,xpos")),
        ("formats", "float8,float16", ("float16",), Refusal("formats", "float8", "")),
        ("formats", "float16,<b>", ("float16",), Refusal("formats", "…", "")),
    ],
)
def test_of_a_list_what_is_legal_is_kept(key, value, kept, refusal):
    state, refused = from_address({key: value})
    assert state == replace(START, **{key: kept})
    assert refused == [refusal]
    assert refusal.key in refused[0].reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "xpos:B:64",
            "xpos has no parameter 'B'; use: head_dim, base, gamma, scale_base, rotary_width.",
        ),
        ("xpos:gamma:0", "gamma must be a finite number > 0, got 0.0; the usual value is 0.4."),
        ("xpos:gamma:much", "gamma must be a number, got 'much'; use 0.4 or 1e4."),
        ("rope:head_dim:8", "head_dim must be an even integer ≥ 2, got 8.0; use 64, for instance."),
        (
            "xpos:gamma",
            (
                "an encoding must be its name and pairs of parameter and number, got "
                "'xpos:gamma'; use xpos:gamma:0.8:scale_base:64."
            ),
        ),
        (
            ",".join(KEPT[1:6]),
            "kept_curves must be at most 5, got 6; leave some of them out.",
        ),
    ],
)
def test_what_is_no_curve_to_keep_is_said_and_the_others_are_kept(text, reason):
    state, (refusal,) = from_address({"kept_curves": f"nope,{text}"})
    assert state.kept_curves == ("nope", *text.split(",")[:-1])
    assert refusal == Refusal("kept_curves", text.split(",")[-1], "")
    assert refusal.reason == reason


def test_kept_curves_stay_as_they_are_while_others_move_and_are_as_wide_as_they():
    state = with_kept_curves(with_setting("curves", START, ("xpos", "alibi", "p_rope")))
    assert state.kept_curves == ("xpos:base:100000", "alibi", "p_rope:base:100000")
    assert with_kept_curves(state) == state
    moved = with_own(with_encoding(state, None, "gamma", 0.8), {"alibi.slope": 0.5})
    wide = with_head_dim(with_source(moved, "expectation"), 8)
    assert wide.drawn_curves == (
        *(xpos(8, base=100_000.0), alibi(8), p_rope(8, base=100_000.0)),
        *(xpos(8, gamma=0.8), alibi(8, slope=0.5), p_rope(8)),
    )
    partial = from_address({"source": "capture", "data": keep(CAPTURES[1]), "kept_curves": "xpos"})
    assert partial[0].drawn_curves[0] == xpos(4).within(16)


def refused_of(address):
    """What is refused of an address whose state must still be the opening."""
    state, refused = from_address(address)
    assert state == START
    return refused


@pytest.mark.parametrize(
    ("key", "value", "used"),
    [
        ("gamma", "nan", "0.4"),
        ("gamma", "-0", "0.4"),
        ("gamma", "0", "0.4"),
        ("gamma", "-1", "0.4"),
        ("gamma", "inf", "0.4"),
        ("gamma", "0.2,0.4", "0.4"),
        ("base", "500,", "100000"),
        ("scale_base", "1e309", "512"),
        ("scale_base", "0.0", "512"),
        ("base", "0.5", "100000"),
        ("base", "-inf", "100000"),
        ("base", "1e309", "100000"),
        ("head_dim", "63", "64"),
        ("head_dim", "32", "64"),
        ("head_dim", "64.0", "64"),
        ("head_dim", "1000000000000", "64"),
        ("layer", "4", "3"),
        ("layer", "3.0", "3"),
        ("head", "9", "0"),
        ("head", "-1", "0"),
        ("start", "-1", "0"),
        ("start", "1002", "0"),
        ("start", "1e2", "0"),
        ("stop", "0", ""),
        ("stop", "1003", ""),
        ("stop", "99999999999999999999", ""),
        ("stage", "softmax", "scores"),
        ("stage", "Scores", "scores"),
        ("mask", "True", "causal"),
        ("mask", "sliding", "causal"),
        ("source", "net", "sample"),
        ("name", "moby", "tidebook"),
        ("axis", "ln", "linear"),
        ("lang", "fr", ""),
        ("length", "10", None),
        ("seed", "1", None),
        ("keys", "same", None),
        ("cells", "10", None),
        ("encodings", "nope", None),
        ("base.0", "500", None),
        ("base.3", "500", None),
        ("gamma.1", "0.5", None),
        ("scale_base.1", "5", None),
        ("head_dim.1", "64", None),
        ("source.1", "random", None),
        ("stop.2", "5", None),
        ("gama", "0.5", None),
        ("__class__", "x", None),
    ],
)
def test_what_cannot_be_used_is_refused_on_its_own(key, value, used):
    assert refused_of({key: value}) == [Refusal(key, value, used)]
    state, refused = from_address({key: value, "start": "7" if key != "start" else value})
    assert state == with_view(START, start=0 if key == "start" else 7)
    assert len(refused) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "<script>alert(1)</script>",
        "<b>1</b>",
        "![x](http://example.org/x.png)",
        "[1](javascript:x)",
        "`1`",
        "$x$",
        ":red[1]",
        "y" * 41,
        "-" + "9" * 5000,
        "x" * 100_000,
        "\x00",
        "\n",
        "旋",
        "½",
        "\u0663x",
        "{0.__class__}",
        "%s",
    ],
    ids=lambda text: f"{text[:12]!r}",
)
@pytest.mark.parametrize("key", ["gamma", "head_dim", "layer", "stage", "name", "source", "axis"])
def test_what_is_shown_of_a_refusal_is_plain(key, text):
    (refusal,) = refused_of({key: text})
    assert refusal.key == key
    assert refusal.value == "…"


@pytest.mark.parametrize("key", ["<b>x</b>", "", "x" * 100_000, "![x](y)", "\n", "旋", "a=b", "."])
def test_a_key_is_shown_plainly_too(key):
    (refusal,) = refused_of({key: "1"})
    assert refusal == Refusal("." if key == "." else "…", "1")


@pytest.mark.parametrize("digits", ["\u0665", "\uff15", "1_0", "+5", " 5 ", "5\n"])
def test_unusual_digits_are_read_as_python_reads_them_or_refused(digits):
    state, refused = from_address({"source": "random", "length": digits, "seed": digits})
    assert len(refused) in (0, 2)
    assert to_address(state) == ({"source": "random"} if refused else _plain(digits))
    assert from_address(to_address(state)) == (state, [])


def _plain(digits):
    return {"source": "random", "length": str(int(digits)), "seed": str(int(digits))}


@pytest.mark.parametrize("source", ["expectation", "random"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("length", str(MAX_LENGTH + 1)),
        ("length", "9" * 40),
        ("length", "9" * 4000),
        ("length", "0"),
        ("length", "-5"),
        ("length", "1e3"),
        ("head_dim", str(MAX_HEAD_DIM + 2)),
        ("head_dim", "9" * 4000),
        ("head_dim", "0"),
    ],
)
def test_lengths_and_widths_have_caps(source, key, value):
    state, refused = from_address({"source": source, key: value})
    assert state == State(opening(source))
    assert [refusal.key for refusal in refused] == [key]
    assert refused[0].used == {"length": "512", "head_dim": "64"}[key]


@pytest.mark.parametrize("mask", ["sliding:4", "sliding:256", "blockwise:512"])
@pytest.mark.parametrize(("source", "name"), OPENINGS)
def test_a_mask_that_the_picture_does_not_draw_is_refused(source, name, mask):
    """It is legal in an experiment; the rest of the address is taken."""
    start = opening(source, name or "tidebook")
    state, refused = from_address(to_address(State(start)) | {"mask": mask, "stage": "weights"})
    assert refused == [Refusal("mask", mask, "causal")]
    assert refused[0].reason == f"unknown mask {mask!r}; use one of: causal, none."
    assert state == with_view(State(start), stage="weights")
    with pytest.raises(ValueError) as caught:
        within_caps(replace(start, view=View(mask=mask)))
    assert str(caught.value) == refused[0].reason


@pytest.mark.parametrize("mask", ["causal", "none"])
def test_masks_that_the_picture_draws_are_taken(mask):
    assert from_address({"mask": mask}) == (with_view(START, mask=mask), [])


def test_at_the_caps_everything_is_taken():
    state, refused = from_address(
        {"source": "random", "length": str(MAX_LENGTH), "head_dim": str(MAX_HEAD_DIM)}
    )
    assert refused == []
    assert state.experiment.inputs.tokens == MAX_LENGTH
    assert state.experiment.encodings[0].head_dim == MAX_HEAD_DIM


def test_an_operator_may_lower_the_caps(monkeypatch):
    """What is made opens below them, and a sample, which is bundled, is not refused."""
    monkeypatch.setattr(module, "MAX_LENGTH", 100)
    monkeypatch.setattr(module, "MAX_HEAD_DIM", 32)
    for source in ("expectation", "random"):
        state, refused = from_address({"source": source})
        assert refused == []
        assert state.experiment.inputs.tokens <= 100
        assert state.experiment.encodings[0].head_dim <= 32
        state, refused = from_address({"source": source, "length": "101", "head_dim": "34"})
        assert [refusal.key for refusal in refused] == ["head_dim", "length"]
    state, refused = from_address({"gamma": "0.5"})
    assert refused == []
    assert state == with_encoding(START, 1, "gamma", 0.5)


def test_settings_are_taken_whatever_their_order():
    address = {"stop": "9", "start": "5", "length": "10", "source": "random", "layer": "3"}
    state, refused = from_address(address)
    assert state.experiment.inputs == Random(10)
    assert (state.experiment.view.start, state.experiment.view.stop) == (5, 9)
    assert [refusal.key for refusal in refused] == ["layer"]


keys = st.sampled_from(
    [
        *("source", "name", "layer", "head", "length", "seed", "keys", "head_dim", "base"),
        *("base.1", "base.2", "base.3", "gamma", "gamma.1", "gamma.2", "scale_base", "stage"),
        *("mask", "start", "stop", "cells", "encodings", "axis", "lang"),
    ]
) | st.text(max_size=8)
values = st.one_of(
    st.text(max_size=60),
    st.floats().map(repr),
    st.integers().map(str),
    st.integers(0, 3000).map(str),
    st.sampled_from(["random", "expectation", "chinese", "none", "weights", "log", "zh", "1e309"]),
    st.text("0123456789.eE+-_nainf\u0663\uff15 ", max_size=12),
    st.integers(1, 5000).map("9".__mul__),
)


@given(st.dictionaries(keys, values, max_size=8))
def test_no_address_does_harm(address):
    """No exception; everything is taken or refused; nothing larger than its cap."""
    state, refused = from_address(address)
    experiment = state.experiment
    assert len(refused) <= len(address)
    if isinstance(experiment.inputs, Sample):
        assert experiment.encodings[0].head_dim == 64
    else:
        assert 1 <= experiment.inputs.tokens <= MAX_LENGTH
        assert 2 <= experiment.encodings[0].head_dim <= MAX_HEAD_DIM
    assert experiment.view.cells == 256
    assert [encoding.name for encoding in experiment.encodings] == ["rope", "xpos"]
    assert state.language in (None, *LANGUAGES)
    assert state.axis in LOOKS["axis"]
    for refusal in refused:
        assert len(refusal.key) <= 40
        assert len(refusal.value) <= 40
    legal = {*FREE, *(field.name for field in fields(experiment.inputs))}
    illegal = [key for key in address if key not in legal]
    shown = {key if PLAIN.fullmatch(key) else "…" for key in illegal}
    assert shown <= {refusal.key for refusal in refused}
    assert from_address(to_address(state)) == (state, [])
    assert len(str(to_address(state))) < 600


def test_reading_an_address_makes_nothing_large(monkeypatch):
    def loaded(*_):
        raise AssertionError("an address was read, and vectors were made")

    for kind in SOURCES.values():
        monkeypatch.setattr(kind, "load", loaded)
    hostile = dict.fromkeys(("length", "head_dim", "seed", "stop", "cells", "base"), "9" * 4000)
    hostile |= {"source": "random", "x" * 100_000: "y" * 100_000}
    from_address(hostile)  # what is loaded once, such as the samples, is there now
    tracemalloc.start()
    try:
        from_address(hostile)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**20


# Changes


def test_a_change_of_an_encoding():
    assert with_encoding(START, None, "base", 500).experiment.encodings == (
        rope(64, base=500),
        xpos(64, base=500),
    )
    assert with_encoding(START, 1, "base", 500).experiment.encodings == (
        rope(64, base=100_000),
        xpos(64, base=500),
    )
    assert with_encoding(START, None, "gamma", 2).experiment.encodings[1]["gamma"] == 2
    assert with_encoding(START, 0, "gamma", 2) == START


def test_another_source_opens_as_it_should_with_the_old_view_of_things():
    before = with_encoding(with_view(START, stage="weights", start=5, stop=50), 1, "gamma", 0.5)
    before = replace(before, language="zh", axis="log")
    after = with_source(before, "sample", "chinese")
    fresh = opening("sample", "chinese")
    assert after.experiment.inputs == fresh.inputs
    assert after.experiment.view == View("weights")
    assert after.experiment.encodings == (
        fresh.encodings[0],
        fresh.encodings[1].replace(gamma=0.5),
    )
    assert (after.language, after.axis) == ("zh", "log")


def test_another_head_keeps_the_window_and_another_length_does_not():
    windowed = with_window(START, 5, 50)
    assert with_inputs(windowed, head=4).experiment.view == windowed.experiment.view
    made = with_window(State(opening("random")), 5, 50)
    assert with_inputs(made, length=20).experiment.view == View()
    assert with_inputs(made, seed=2).experiment.view == made.experiment.view
    assert with_inputs(made, seed=2).experiment.inputs == Random(512, 2)


def test_another_width():
    changed = with_head_dim(State(opening("random")), 128).experiment.encodings
    assert changed == (rope(128), xpos(128))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ((5, 50), (5, 50)),
        ((5, 1002), (5, None)),
        ((0, 1002), (0, None)),
        ((5, 5), (5, 7)),
        ((0, 0), (0, 2)),
        ((1002, 1002), (1001, None)),
        ((1001, 1002), (1001, None)),
    ],
)
def test_a_window_is_never_empty(asked, shown):
    view = with_window(START, *asked).experiment.view
    assert (view.start, view.stop) == shown


@given(states(), st.integers(0, MAX_LENGTH), st.integers(0, MAX_LENGTH))
def test_any_window_of_a_slider_is_legal(state, one, other):
    tokens = state.experiment.inputs.tokens
    start, stop = sorted(min(end, tokens) for end in (one, other))
    changed = with_window(state, start, stop)
    assert from_address(to_address(changed)) == (changed, [])


@pytest.mark.parametrize("name", ["start", "stop"])
@pytest.mark.parametrize("end", ["5", None, 5.0, -1, True, []])
def test_a_window_has_whole_ends(name, end):
    with pytest.raises(ValueError) as caught:
        with_window(START, **({"start": 5, "stop": 50} | {name: end}))
    assert str(caught.value) == f"{name} must be an integer ≥ 0, got {end!r}; use 0 or more."


@pytest.mark.parametrize("axis", LOOKS["axis"])
def test_another_axis(axis):
    assert with_setting("axis", replace(START, axis="log"), axis) == replace(START, axis=axis)


@pytest.mark.parametrize("axis", ["", "Log", "symlog", None, 1, []])
def test_an_unknown_axis(axis):
    with pytest.raises(ValueError) as caught:
        with_setting("axis", START, axis)
    assert str(caught.value) == f"unknown axis {axis!r}; use one of: linear, log."


def test_the_numbers_of_the_sliders_beside_the_picture():
    state, _ = from_address({"source": "random", "base.2": "700", "length": "33"})
    assert numbers(state.experiment) == {"head_dim": [64], "length": [33]}


# What the picture's own controls are moved to

APARTED = with_apart(START, "yes")
MOVES = [
    ("base", 500.0, {"base": "500"}),
    ("gamma", 0.5, {"gamma": "0.5"}),
    ("scale_base", 64.0, {"scale_base": "64"}),
    ("stage", "weights", {"stage": "weights"}),
    ("mask", "none", {"mask": "none"}),
    ("axis", "log", {"axis": "log"}),
    ("start", 7, {"start": "7"}),
    ("stop", 800, {"stop": "800"}),
    ("stop", 1002, {}),
]


@pytest.mark.parametrize(("key", "value", "address"), MOVES)
def test_every_move_changes_its_setting_alone(key, value, address):
    moved = with_moves(START, {key: value})
    assert to_address(moved) == address
    assert from_address(address) == (moved, [])
    assert with_moves(moved, {key: value}) == moved


def test_moves_in_one_go_are_those_one_by_one():
    whole = {key: value for key, value, _ in MOVES if value != 1002}
    one_by_one = START
    for key, value in whole.items():
        one_by_one = with_moves(one_by_one, {key: value})
    assert with_moves(START, whole) == one_by_one
    assert with_moves(START, dict(reversed(whole.items()))) == one_by_one
    expected = {key: part for _, value, address in MOVES for key, part in address.items()}
    assert to_address(one_by_one) == expected


def test_a_shared_base_is_that_of_both():
    changed = with_moves(START, {"base": 500})
    assert changed == with_base(START, 500)
    assert changed.experiment.encodings == (rope(64, base=500), xpos(64, base=500))


def test_bases_apart_are_moved_each_on_its_own():
    first = with_moves(APARTED, {"base": 500})
    assert first.experiment.encodings == (rope(64, base=500), xpos(64, base=100_000))
    second = with_moves(first, {"xpos_base": 50})
    assert second.experiment.encodings == (rope(64, base=500), xpos(64, base=50))
    assert with_moves(APARTED, {"xpos_base": 50, "base": 500}) == second
    assert to_address(second) == {"base.1": "500", "base.2": "50"}
    again = with_moves(second, {"xpos_base": 500})
    assert to_address(again) == {"base": "500", "apart": "yes"}
    assert from_address(to_address(again)) == (again, [])


def test_a_base_that_xpos_does_not_have_is_not_moved():
    """Its slider may be let go while the bases are being joined."""
    with pytest.raises(ValueError) as caught:
        with_moves(START, {"xpos_base": 50.0})
    assert str(caught.value) == ("the bases move together here, got 50.0 for XPos; use apart=yes.")


@pytest.mark.parametrize(
    ("moves", "shown"),
    [
        ({"start": 5, "stop": 50}, (5, 50)),
        ({"stop": 50, "start": 5}, (5, 50)),
        ({"start": 30}, (30, 40)),
        ({"stop": 30}, (20, 30)),
        ({"start": 60, "stop": 80}, (60, 80)),
        ({"start": 1, "stop": 10}, (1, 10)),
        ({"start": 39}, (39, 41)),
        ({"start": 60}, (60, 62)),
        ({"stop": 10}, (20, 22)),
        ({"stop": 1002}, (20, None)),
        ({"stop": 5000}, (20, None)),
        ({"start": 5000}, (1001, None)),
        ({"start": 0, "stop": 1002}, (0, None)),
    ],
    ids=str,
)
def test_the_ends_of_the_window_move_together(moves, shown):
    """Where both are moved, none is held against the old other; the last token is None."""
    view = with_moves(with_window(START, 20, 40), moves).experiment.view
    assert (view.start, view.stop) == shown


@pytest.mark.parametrize("stop", [None, 6, 1002])
def test_a_window_that_is_not_moved_is_left_as_it_is(stop):
    """Even one of a single token, which only an address can ask for."""
    before = with_view(START, start=5, stop=stop)
    assert with_moves(before, {"gamma": 0.5}) == with_encoding(before, None, "gamma", 0.5)
    assert with_moves(before, {}) == before


@pytest.mark.parametrize("key", ["cells", "head_dim", "source", "rope_base", "", "__class__"])
def test_a_move_of_something_else_is_left_out(key):
    assert with_moves(START, {key: "x"}) == START
    assert with_moves(START, {key: "x", "gamma": 0.5}) == with_moves(START, {"gamma": 0.5})


IMPOSSIBLE = [
    *(("base", value) for value in (0.5, -1, float("nan"), float("inf"), "500", None, [500.0])),
    *(("gamma", value) for value in (0, -0.4, float("nan"), 1e400, "0.5", True, [[1.0]])),
    *(("scale_base", value) for value in (0, -8, float("nan"), float("inf"), "8", None, {})),
    *(("stage", value) for value in ("softmax", "", None, 3, [])),
    *(("mask", value) for value in ("sliding:4", "blockwise:8", "", None, 3, True)),
    *((name, value) for name in LOOKS for value in ("ln", "", None, 0, [])),
    *(("start", value) for value in (-1, 0.5, "3", None, True, float("nan"), [])),
    *(("stop", value) for value in (-1, 50.0, "50", None, float("inf"))),
    ("xpos_base", 0.5),
]


@pytest.mark.parametrize(("key", "value"), IMPOSSIBLE, ids=str)
def test_an_impossible_move_is_refused_with_all_others(key, value):
    others = {"gamma": 0.5, "stage": "weights", "stop": 50}
    for moves in ({key: value}, others | {key: value}, {key: value} | others | {key: value}):
        with pytest.raises(ValueError, match=r"; (use|the usual) "):
            with_moves(APARTED, moves)


moves = st.fixed_dictionaries(
    {},
    optional={
        "base": cases.positive(1.0, 1e8),
        "gamma": cases.positive(1e-6, 1e3),
        "scale_base": cases.positive(1e-3, 1e9),
        "stage": st.sampled_from(STAGES),
        "mask": st.sampled_from(["causal", "none"]),
        **{name: legal_values(SETTINGS[name]) for name in LOOKS},
        "start": st.integers(0, MAX_LENGTH),
        "stop": st.integers(0, MAX_LENGTH),
    },
)


@given(states(), moves)
def test_any_move_of_any_state_has_an_address(state, moves):
    changed = with_moves(state, moves)
    assert from_address(to_address(changed)) == (changed, [])
    assert with_moves(changed, moves) == changed
    assert changed.experiment.inputs == state.experiment.inputs
    assert (changed.language, changed.apart) == (state.language, state.apart)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
)
names = ("base", "xpos_base", "gamma", "scale_base", "stage", "mask", *LOOKS, "start", "stop")


@given(states(), st.dictionaries(st.sampled_from(names), junk, max_size=4))
def test_no_move_does_harm(state, moves):
    """Whatever a browser says, the state is legal or kept, and nothing else is raised."""
    try:
        changed = with_moves(state, moves)
    except ValueError:
        return
    within_caps(changed.experiment)
    assert from_address(to_address(changed)) == (changed, [])


def test_parameters_that_go_together_come_back_together():
    """Each alone would clash with the usual value of the other."""
    turns = {"llama3.low_turns": 8.0, "llama3.high_turns": 64.0}
    state = with_own(START, turns)
    assert state.encoding("llama3")["low_turns"] == 8
    assert from_address(to_address(state)) == (state, [])
    clash = {"llama3.low_turns": "8", "llama3.high_turns": "2", "yarn.factor": "8"}
    kept, refused = from_address(clash)
    assert dict(kept.own) == {"llama3.high_turns": 2.0, "yarn.factor": 8.0}
    assert refused == [Refusal("llama3.low_turns", "8", "1")]


def test_no_control_goes_beyond_the_caps(monkeypatch):
    monkeypatch.setattr(module, "MAX_LENGTH", 512)
    made = with_source(START, "expectation")
    with pytest.raises(ValueError, match="length must be at most 512 here, got 1002; use 512"):
        with_inputs(made, length=1002)
    monkeypatch.setattr(module, "MAX_HEAD_DIM", 64)
    with pytest.raises(ValueError, match="head_dim must be at most 64 here, got 128; use 64"):
        with_head_dim(made, 128)


# Captures that somebody brought


@pytest.mark.parametrize(
    ("capture", "base", "scale_base", "turned"),
    [
        (CAPTURES[0], 500.0, 2.0, 8),
        (CAPTURES[1], 10_000.0, 2.0, 4),
        (CAPTURES[2], 10_000.0, 12.0, 8),
        (sample_capture("tidebook"), 100_000.0, 384.0, 64),
    ],
    ids=["own base", "first columns", "not known", "long"],
)
def test_a_capture_opens_as_suits_it(capture, base, scale_base, turned):
    state = State(opening("capture", keep(capture)))
    first, second = state.experiment.encodings
    assert state.experiment.inputs == Captured(capture.hash, capture.layers[0], 0)
    assert (first["base"], second["base"], second["scale_base"]) == (base, base, scale_base)
    assert {each.rotary_width for each in (first, second, state.encoding("yarn"))} == {turned}
    assert to_address(state) == {"source": "capture", "data": capture.hash}
    assert from_address(to_address(state)) == (state, [])


def test_a_base_of_the_layer_s_own_stays_so():
    capture = Capture(*random(), encodings=(rope(8, base=500.0), rope(8, base=7e5)))
    start = State(opening("capture", keep(capture)))

    def bases(state):
        return [encoding["base"] for encoding in state.experiment.encodings]

    assert bases(with_inputs(start, layer=1)) == [7e5, 7e5]
    assert bases(with_inputs(with_base(start, 900.0), layer=1)) == [900.0, 900.0]
    apart = with_base(with_apart(start, "yes"), 900.0)
    assert bases(with_inputs(apart, layer=1)) == [900.0, 7e5]


def test_data_that_are_not_here_are_refused_and_asked_for():
    address = {"source": "capture", "data": "0" * 64, "layer": "9", "head": "1", "start": "3"}
    state, (refusal,) = from_address(address | {"gamma": "0.7"})
    assert state == with_encoding(START, 1, "gamma", 0.7)
    assert refusal == Refusal("data", "0" * 64, "")
    assert refusal.plain
    assert refusal.reason == (
        "this link asks for data with the hash 000000000000…, which are not here; use the file "
        "that it was made from: upload it again, or name it by --data."
    )


@pytest.mark.parametrize("data", ["", "x", "<script>", "0" * 63, "0" * 65, "G" * 64, None])
def test_a_name_of_data_that_is_none(data):
    state, (refusal,) = from_address(
        {"source": "capture"} | ({} if data is None else {"data": data})
    )
    assert state == START
    assert (refusal.key, refusal.used) == ("data", "")
    assert refusal.reason.startswith("data must be the hash of a capture, 64 of 0-9 and a-f, got")


def test_pages_need_a_query_of_every_token():
    data = keep(Capture(*random(queries=3)))
    _, (refusal,) = from_address({"source": "capture", "data": data})
    assert refusal.reason == (
        "pages show a query of every token, got 3 queries and 5 keys; capture the whole text at "
        "once, or use Capture.weights, which takes fewer queries."
    )

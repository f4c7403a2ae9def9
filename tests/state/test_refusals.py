"""What of an address cannot be used is refused on its own, and shown plainly."""

from dataclasses import replace

import pytest

from tests.state.states import KEPT, OPENINGS, START
from xpos_viz.experiment import View
from xpos_viz.state import Refusal, State, from_address, opening, to_address
from xpos_viz.state.changes import with_view
from xpos_viz.state.model import within_caps


def test_a_base_that_is_refused_leaves_the_other():
    state, refused = from_address({"base.1": "500", "base.2": "none"})
    assert [encoding["base"] for encoding in state.experiment.encodings] == [500, 100_000]
    assert refused == [Refusal("base.2", "none", "100000")]


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

"""What the browser is told."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.cases import LAYOUTS, normal
from tests.livemap.page import CORE, LONG, SHORT, at, described, unpacked, without_data
from xpos_viz import Experiment, attention_scores, rope, run, xpos
from xpos_viz.encoding import PARAMETERS
from xpos_viz.entry import Layout
from xpos_viz.inputs import Expectation, Vectors
from xpos_viz.livemap import packed, payload
from xpos_viz.livemap.bundle import modules
from xpos_viz.livemap.message import LIVE_WEIGHTS
from xpos_viz.look import Look
from xpos_viz.texts import LANGUAGES, texts


def test_packing_loses_nothing():
    whole = described(at(LONG, stage="weights"))
    read = unpacked(packed(whole))
    assert json.loads(json.dumps(whole, default=list)) == json.loads(json.dumps(read, default=list))
    assert without_data(whole).keys() == whole.keys() - {"q", "k", "labels"}
    with pytest.raises(TypeError) as caught:
        packed({"q": {1}})
    assert str(caught.value) == "a payload holds JSON and bytes, got set."


@pytest.mark.parametrize("turned", [4, 8])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pairs_lie_side_by_side(layout: Layout, turned, monkeypatch):
    q, k = normal(5, 8, seed=1), normal(5, 8, seed=2)
    vectors = Vectors(q, k, layout=layout)
    monkeypatch.setattr(Expectation, "load", lambda *_: vectors)
    encodings = (rope(turned).within(8), xpos(turned).within(8))
    sent = payload(Experiment(encodings, Expectation(5)), texts("en"), "light")
    assert [slider["key"] for slider in sent["sliders"]] == ["base", "gamma", "scale_base"]
    sent_q, sent_k = (
        torch.from_numpy(np.frombuffer(sent[name], "<f4").reshape(5, 8).astype(float))
        for name in "qk"
    )
    expected = attention_scores(q, k, encodings[1], layout=layout)
    actual = attention_scores(sent_q, sent_k, encodings[1])
    torch.testing.assert_close(actual, expected, rtol=CORE, atol=1e-6)


def test_sliders_hold_the_parameters_and_their_steps():
    sent = described(SHORT)
    assert [(s["key"], s["places"]) for s in sent["sliders"]] == [
        ("base", [0, 1]),
        ("gamma", [1]),
        ("scale_base", [1]),
    ]
    for slider in sent["sliders"]:
        assert tuple(slider["steps"]) == PARAMETERS[slider["parameter"]].steps
    apart = replace(SHORT, encodings=(rope(64), SHORT.encodings[1]))
    assert [(s["key"], s["places"], s["label"]) for s in described(apart)["sliders"]][:2] == [
        ("base", [0], "Base θ"),
        ("xpos_base", [1], "Base θ of XPos"),
    ]


def test_each_encoding_has_a_slider_of_its_own_where_that_is_asked_for():
    sent = described(SHORT, own=("base",))
    assert [(s["key"], s["places"], s["label"]) for s in sent["sliders"]] == [
        ("base", [0], "Base θ"),
        ("xpos_base", [1], "Base θ of XPos"),
        ("gamma", [1], "γ"),
        ("scale_base", [1], "Scale base B"),
    ]


def test_what_the_browser_cannot_compute_is_refused():
    with pytest.raises(ValueError) as caught:
        described(at(SHORT, mask="sliding:4"))
    assert str(caught.value) == (
        "the live map draws causal, none, got 'sliding:4'; use xpos_viz.figures for it."
    )
    with pytest.raises(ValueError) as caught:
        Look(difference="product")
    assert str(caught.value) == ("unknown difference 'product'; use one of: plain, ratio, weights.")
    with pytest.raises(ValueError) as caught:
        Look(axis="square")
    assert str(caught.value) == "unknown axis 'square'; use one of: linear, log."
    with pytest.raises(ValueError) as caught:
        Look(colours="rainbow")
    assert str(caught.value) == (
        "unknown colours 'rainbow'; use one of: blue_red, purple_orange, teal_brown, navy_sand."
    )


@pytest.mark.parametrize("look", [Look(), Look(difference="weights")])
@pytest.mark.parametrize("stage", ["scores", "weights"])
def test_long_weights_come_from_the_core(stage, look):
    assert described(at(SHORT, stage=stage), look=look)["streamed"] is None
    sent = described(at(LONG, stage=stage), look=look)["streamed"]
    assert (sent is None) == (stage == "scores" and look == Look())
    if sent:
        for values, measurement in zip(
            sent["maps"], run(at(LONG, stage="weights")).measurements, strict=True
        ):
            assert values == measurement.values.astype("<f4").tobytes()
    assert LONG.inputs.tokens > LIVE_WEIGHTS


def leaves(table, prefix=""):
    """All sentences of nested tables by dotted key."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def test_every_sentence_is_sent_in_every_language_and_used():
    sent = {language: dict(leaves(described(SHORT, language)["text"])) for language in LANGUAGES}
    assert sent["en"].keys() == sent["zh"].keys()
    assert all(sentence for table in sent.values() for sentence in table.values())
    script = "\n".join(modules().values())
    for key in sent["en"]:
        table, _, name = key.rpartition(".")
        if table in ("choices", "comparison", "comparison_value"):
            assert f"text.{table}" in script
        else:
            assert re.search(rf"\b{name}\b", script), key

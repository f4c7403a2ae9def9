"""Models of one's own: how they are written, what is refused, and what comes of training them."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch

from tests.tiny import LINE, TEXTS, TINY, shrink
from xpos_viz import limits, rope, xpos
from xpos_viz.encoding import REGISTRY, alibi, alibi_slopes
from xpos_viz.lab import Corpus, Run, bundle, load, measured, train
from xpos_viz.one_core import one_core
from xpos_viz.studies import yours
from xpos_viz.studies.yours import (
    FAMILIES,
    Trained,
    course,
    courses,
    joined,
    lately,
    learned,
    normal,
)

MODEL = Trained.parse("xpos:scale_base:64:seed:3")


@pytest.fixture
def tiny(monkeypatch):
    """Training takes no time."""
    shrink(monkeypatch.setattr)


@pytest.mark.parametrize(
    ("text", "encoding", "seed", "written"),
    [
        ("rope", rope(32), 0, "rope:seed:0"),
        ("xpos:scale_base:64:seed:3", xpos(32, scale_base=64), 3, "xpos:scale_base:64:seed:3"),
        ("xpos:gamma:0.40:seed:07", xpos(32), 7, "xpos:seed:7"),
        ("alibi", alibi(16, slope=alibi_slopes(4)), 0, "alibi:seed:0"),
        ("alibi:slope:.5", alibi(16, slope=0.5), 0, "alibi:slope:0.5:seed:0"),
    ],
)
def test_a_model_is_read_and_written(text, encoding, seed, written):
    model = Trained.parse(text)
    assert (model.encoding, model.seed) == (encoding, seed)
    assert model.text == normal(text) == written
    assert Trained.parse(written) == model


NAMES = ", ".join(FAMILIES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t5", f"unknown encoding 't5'; use one of: {NAMES}."),
        (
            "xpos:scale_base:8:seed:1",
            (
                "an encoding must hold 1024 tokens in float32, got xpos(32, base=10000.0, "
                "gamma=0.4, scale_base=8.0), which holds 448; use a larger scale_base."
            ),
        ),
        ("rope:seed:x", "seed must be a whole number, got 'x'; use 1, 2, 3 …"),
        ("rope:seed:", "seed must be a whole number, got ''; use 1, 2, 3 …"),
        ("rope:seed:-1", "seed must be an integer ≥ 0, got -1; use 0 to 9999."),
        ("rope:seed:10000", "seed must be an integer ≥ 0, got 10000; use 0 to 9999."),
        (
            "xpos:gamma",
            (
                "an encoding must be its name and pairs of parameter and number, got 'xpos:gamma'; "
                "use xpos:gamma:0.8:scale_base:64."
            ),
        ),
        ("xpos:gamma:0", "gamma must be a finite number > 0, got 0.0; the usual value is 0.4."),
    ],
)
def test_what_cannot_be_trained_is_refused(text, message):
    with pytest.raises(ValueError) as error:
        Trained.parse(text)
    assert str(error.value) == message


def test_families_are_those_of_which_no_number_is_learned():
    assert REGISTRY.keys() - set(FAMILIES) == {"t5", "t5_bidirectional"}
    assert all(normal(name) == f"{name}:seed:0" for name in FAMILIES)


@pytest.mark.usefixtures("tiny")
def test_a_model_is_what_the_lab_trains_and_measures():
    seen = []
    found = learned(MODEL, seen.append)
    run = Run(TINY, MODEL.encoding, 3, Corpus("a few lines", LINE, LINE[:0]))
    with one_core():
        train(run)
    assert found.state.losses == run.losses
    assert [progress.losses[-1] for progress in seen[:25]] == run.losses
    assert len(found.state.losses) == 25
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[24] == pytest.approx(0.65)
    assert shares[-1] == 1.0
    table = measured(run.state().half().model(), TEXTS)
    pd.testing.assert_frame_equal(found.table[[*table.columns]], table)
    assert (found.table["encoding"] == MODEL.text).all()
    assert (found.table["seed"] == 3).all()
    assert (found.table["setting"] == "quick").all()


@pytest.mark.usefixtures("tiny")
def test_the_same_gives_the_same_numbers_and_is_kept(monkeypatch):
    first = learned(MODEL)
    assert lately(MODEL) is first
    assert learned(Trained.parse(MODEL.text)) is first
    assert lately(Trained(MODEL.encoding, 4)) is None
    shrink(monkeypatch.setattr)
    assert lately(MODEL) is None
    cores = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        again = learned(MODEL)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(cores)
    pd.testing.assert_frame_equal(again.table, first.table, check_exact=True)
    assert (again.state.recipe, again.state.about) == (first.state.recipe, first.state.about)
    assert again.state.tensors.keys() == first.state.tensors.keys()
    for name, part in first.state.tensors.items():
        assert torch.equal(again.state.tensors[name], part)
    assert again.state.about["threads"] == 1
    other = learned(Trained(MODEL.encoding, 4))
    assert other.state.losses != first.state.losses


@pytest.mark.usefixtures("tiny")
def test_what_is_reported_can_end_it():
    def ending(progress):
        if len(progress.losses) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learned(MODEL, ending)
    assert lately(MODEL) is None
    assert learned(MODEL).trained == MODEL  # and the next is not held up


@pytest.mark.usefixtures("tiny")
def test_a_file_of_the_weights_is_a_model(tmp_path):
    path = tmp_path / "mine.safetensors"
    found = learned(MODEL)
    path.write_bytes(found.state.content())
    tokens = TEXTS[:1, :64]
    with torch.no_grad():
        assert torch.equal(load(path)(tokens), found.state.model()(tokens))


@pytest.mark.usefixtures("tiny")
def test_where_none_is_trained_it_says_so(monkeypatch):
    known = learned(MODEL)
    monkeypatch.setattr(limits, "TRAINS", False)
    assert learned(MODEL) is known
    with pytest.raises(ValueError) as error:
        learned(Trained(rope(32)))
    assert str(error.value) == (
        "models are not trained here, got rope:seed:0; set XPOS_VIZ_TRAINING=on, or use "
        "xpos-viz lab train."
    )


@pytest.mark.usefixtures("tiny")
def test_results_of_ones_own_stand_below_the_others():
    known, found = bundle.results("quick"), learned(MODEL)
    table = joined(known, [found])
    assert [*table.columns] == [*known.columns]
    assert len(table) == len(known) + len(found.table)
    assert table.index.is_unique
    pd.testing.assert_frame_equal(table.iloc[: len(known)], known)
    assert {*table["encoding"]} - {*known["encoding"]} == {MODEL.text}


def test_a_course_is_means_over_steps():
    found = course([float(n) for n in range(25)])
    assert found.to_dict("list") == {"step": [10, 20, 25], "loss": [4.5, 14.5, 22.0]}
    assert course([]).empty


@pytest.mark.usefixtures("tiny")
def test_courses_have_a_row_for_each_model_and_some_steps():
    found = [learned(MODEL), learned(Trained(rope(32)))]
    table = courses(found)
    assert table["model"].tolist() == [MODEL.text] * 3 + ["rope:seed:0"] * 3
    assert table["step"].tolist() == [10, 20, 25] * 2
    assert table["loss"][0] == pytest.approx(math.fsum(found[0].state.losses[:10]) / 10)
    assert np.isfinite(table["loss"]).all()


@pytest.mark.parametrize(("word", "value"), [("on", True), ("off", False)])
def test_an_operator_may_switch_it_off(monkeypatch, word, value):
    monkeypatch.setenv(limits.TRAINING, word)
    assert limits.is_on(limits.TRAINING) is value


def test_it_is_on_unless_it_is_off(monkeypatch):
    monkeypatch.delenv(limits.TRAINING, raising=False)
    is_on = partial(limits.is_on, limits.TRAINING)
    assert is_on()
    monkeypatch.setenv(limits.TRAINING, "no")
    with pytest.raises(ValueError) as error:
        is_on()
    assert str(error.value) == "unknown XPOS_VIZ_TRAINING 'no'; use one of: on, off."


def test_a_python_without_sources_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    yours._corpus.cache_clear()
    with pytest.raises(ValueError) as error:
        learned(Trained(rope(32), 9999))
    assert str(error.value) == (
        f"Python's standard library has no .py files in {tmp_path}, got none; use a folder or a "
        "text file of your own."
    )

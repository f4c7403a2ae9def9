"""What comes along: its models give the numbers that are told of them."""

import pytest
import torch

from tests.tolerances import RECOMPUTED
from xpos_viz.lab import bundle
from xpos_viz.lab.evaluation import Mean, reading
from xpos_viz.lab.model import SETTINGS, contenders
from xpos_viz.lab.results import lengths, masks, read_results
from xpos_viz.lab.store import ENDING, RESULTS, State

SEEDS = (0, 1, 2)
MODELS = [(setting, name) for setting in SETTINGS for name in contenders(SETTINGS[setting])]
NAMES = "rope, xpos_half, xpos_512, alibi, nope"


def value(setting, name, **where):
    """The value of the first seed's row there."""
    table = bundle.results(setting)
    rows = table[(table["encoding"] == name) & (table["seed"] == SEEDS[0])]
    for column, wanted in where.items():
        rows = rows[rows[column] == wanted]
    (found,) = rows["value"]
    return found


@pytest.mark.parametrize(("setting", "name"), MODELS)
def test_the_table_is_what_the_models_lose(setting, name):
    model, texts = bundle.model(setting, name), bundle.texts(setting)
    for length in (SETTINGS[setting].length, SETTINGS[setting].longest):
        found = Mean.of(reading(model, texts, length)).value
        told = value(setting, name, measure="mean", mask="causal", length=length)
        assert found == pytest.approx(told, abs=RECOMPUTED), length


@pytest.mark.parametrize("setting", SETTINGS)
def test_all_contenders_are_measured_with_all_seeds_masks_and_lengths(setting):
    table, measured = bundle.results(setting), SETTINGS[setting]
    assert {*table["setting"]} == {setting}
    means = table[table["measure"] == "mean"].set_index(["encoding", "seed", "mask", "length"])
    wanted = {
        (name, seed, mask, length)
        for name in contenders(measured)
        for seed in SEEDS
        for mask in masks(measured)
        for length in lengths(measured)
    }
    assert means.index.is_unique
    assert {*means.index} == wanted
    assert table.drop(columns=["place", "error"]).notna().all(axis=None)


@pytest.mark.parametrize(("setting", "name"), MODELS)
def test_models_are_those_of_the_first_seed_in_float16(setting, name):
    state = State.read(bundle.FOLDER / setting / f"{name}{ENDING}")
    recipe, measured = state.recipe, SETTINGS[setting]
    assert (recipe.setting, recipe.encoding) == (measured, contenders(measured)[name])
    assert recipe.seed == SEEDS[0]
    assert state.done
    assert {part.dtype for part in state.part("model.").values()} == {torch.float16}
    _, runs = read_results(bundle.FOLDER / setting / RESULTS)
    assert runs[f"{name}-0"]["recipe"]["corpus"] == recipe.corpus
    assert [*runs] == [f"{each}-{seed}" for seed in SEEDS for each in contenders(measured)]


@pytest.mark.parametrize("setting", SETTINGS)
def test_texts_are_as_long_as_models_read(setting):
    texts = bundle.texts(setting)
    assert texts.shape == (100, SETTINGS[setting].longest + 1)
    assert b"def " in bytes(texts.flatten().tolist())


def test_texts_are_packed_as_they_are(tmp_path, monkeypatch):
    texts = torch.arange(512).reshape(2, 256) % 256
    (tmp_path / "quick").mkdir()
    (tmp_path / "quick" / bundle.TEXTS).write_bytes(bundle.pack_texts(texts))
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    assert torch.equal(bundle.texts.__wrapped__("quick"), texts)


def test_what_there_is_not_is_said():
    with pytest.raises(ValueError, match="setting") as refused:
        bundle.results("large")
    assert str(refused.value) == "unknown setting 'large'; use one of: quick, main."
    with pytest.raises(ValueError, match="encoding") as refused:
        bundle.model("quick", "yarn")
    assert str(refused.value) == f"unknown encoding 'yarn'; use one of: {NAMES}."

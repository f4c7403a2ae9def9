"""What comes along: its models give the numbers that are told of them."""

from pathlib import Path

import pytest
import torch

from tests.tolerances import RECOMPUTED
from xpos_viz.lab import bundle
from xpos_viz.lab.evaluation import Mean, reading, windowed
from xpos_viz.lab.model import SETTINGS, contenders
from xpos_viz.lab.results import lengths, masks, near, read_results, summed_up
from xpos_viz.lab.store import ENDING, RESULTS, State

SEEDS = (0, 1, 2)
FIRST = 0
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROWS = {
    "RoPE": ("rope", "causal"),
    "RoPE, blockwise": ("rope", "blockwise:64"),
    "XPos, B = 512": ("xpos_512", "causal"),
    "XPos, B = 512, blockwise": ("xpos_512", "blockwise:64"),
    "XPos, B = L/2": ("xpos_half", "causal"),
    "XPos, B = L/2, blockwise": ("xpos_half", "blockwise:64"),
    "ALiBi": ("alibi", "causal"),
    "no positions": ("nope", "causal"),
}
MODELS = [(setting, name) for setting in SETTINGS for name in contenders(SETTINGS[setting])]
NAMES = "rope, xpos_half, xpos_512, alibi, nope"


def value(setting, name, **where):
    """The value of the first seed's row there."""
    table = bundle.results(setting)
    rows = table[(table["encoding"] == name) & (table["seed"] == FIRST)]
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


@pytest.mark.parametrize("name", contenders(SETTINGS["quick"]))
def test_the_excess_is_what_the_models_lose(name):
    model, texts = bundle.model("quick", name), bundle.texts("quick")
    length, longest = SETTINGS["quick"].length, SETTINGS["quick"].longest
    reference = windowed(model, texts, length)
    for mask in masks(SETTINGS["quick"]):
        costs = reading(model, texts, longest, mask)
        found = float((costs - reference)[:, length:].mean())
        told = value("quick", name, measure="excess", mask=mask)
        assert found == pytest.approx(told, abs=RECOMPUTED), mask
        told = value("quick", name, measure="mean", mask=mask, length=longest)
        assert float(costs.mean()) == pytest.approx(told, abs=RECOMPUTED), mask


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
    wanted |= {
        (name, seed, near(measured), measured.longest)
        for name in contenders(measured)
        for seed in SEEDS
    }
    assert means.index.is_unique
    assert {*means.index} == wanted
    assert table.drop(columns=["place", "error"]).notna().all(axis=None)


@pytest.mark.parametrize(("setting", "name"), MODELS)
def test_models_are_those_of_the_first_seed_in_float16(setting, name):
    state = State.read(bundle.FOLDER / setting / f"{name}{ENDING}")
    recipe, measured = state.recipe, SETTINGS[setting]
    assert (recipe.setting, recipe.encoding) == (measured, contenders(measured)[name])
    assert recipe.seed == FIRST
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


def row(label, encoding, mask):
    """A row of the README's table, of the larger models."""
    table = summed_up(bundle.results("main")).set_index(["encoding", "mask"])
    found = table.loc[(encoding, mask)]
    bits = [f"{found[str(length)]:.3f}" for length in lengths(SETTINGS["main"])]
    excess = f"{found['excess']:.3f} ± {found['error']:.3f}".replace("-", "−")
    return f"| {label} | {' | '.join(bits)} | {excess} |"


def test_the_readme_tells_what_comes_along():
    for label, (encoding, mask) in ROWS.items():
        assert row(label, encoding, mask) in README


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_order_is_that_of_the_paper(setting):
    """RoPE loses far more than XPos beyond L, and blocks take nearly all of that away."""
    table = bundle.results(setting)
    excess = table[table["measure"] == "excess"]
    causal, blockwise = masks(SETTINGS[setting])

    def of(name, mask):
        rows = excess[(excess["encoding"] == name) & (excess["mask"] == mask)]
        return rows["value"]

    for name in ("xpos_half", "xpos_512"):
        assert of("rope", causal).min() > 1.5 * of(name, causal).max() > 0
        assert of(name, blockwise).abs().max() < 0.01
    assert of("rope", blockwise).abs().max() < 0.01

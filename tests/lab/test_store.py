"""Runs as files: what they say of themselves, and the models that come back."""

import json
import platform
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.lab.test_training import CORPUS, TINY, run
from xpos_viz import xpos
from xpos_viz.lab.model import SETTINGS, Setting, contenders
from xpos_viz.lab.store import Recipe, State, load, place
from xpos_viz.lab.training import train
from xpos_viz.version import __version__

SHORT = Setting("short", length=16, layers=1, width=32, batch=2, steps=3, rate=1e-2)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_recipe_is_read_as_it_was_written(setting):
    for encoding in contenders(setting).values():
        recipe = Recipe(setting, encoding, 7, "0123")
        assert Recipe.of(recipe.entries) == recipe


def test_a_model_comes_back(tmp_path):
    path = place(tmp_path, "xpos_half", 3)
    assert path.name == "xpos_half-3.safetensors"
    trained = train(run(xpos(32, scale_base=8.0), seed=3, setting=SHORT), path=path)
    model = load(str(path))
    text = torch.tensor([list(b"the quick brown fox")])
    assert torch.equal(model(text), trained(text))
    assert (model.setting, model.encoding) == (SHORT, xpos(32, scale_base=8.0))
    assert not model.training


def test_a_file_says_what_it_is_of_and_keeps_only_the_model(tmp_path):
    train(run(setting=SHORT), path=(path := place(tmp_path, "rope", 0)))
    state = State.read(path)
    assert state.recipe == run(setting=SHORT).recipe
    assert state.about == {
        "corpus": "lines",
        "bytes": [1800, 0],
        "files": [1, 1],
        "threads": torch.get_num_threads(),
        "versions": {
            "xpos_viz": __version__,
            "python": platform.python_version(),
            "torch": version("torch"),
        },
    }
    assert {name.split(".")[0] for name in state.tensors} == {"model", "losses"}
    assert len(state.losses) == 3
    assert state.recipe.corpus == CORPUS.hash


def test_the_same_run_is_the_same_file_in_any_process():
    made = "from tests.lab.test_training import run; print(hash_of(run().state().content()))"
    words = f"from hashlib import sha256 as h; hash_of = lambda c: h(c).hexdigest(); {made}"
    command = [sys.executable, "-c", words]
    found = {subprocess.run(command, capture_output=True, check=True).stdout for _ in range(4)}
    assert len(found) == 1


def test_a_model_that_is_not_done_is_refused(tmp_path):
    path = tmp_path / "rope-0.safetensors"
    begun = run()
    begun.learn()
    path.write_bytes(begun.state().content())
    with pytest.raises(ValueError) as error:
        load(path)
    assert str(error.value) == (
        f"{path} must be a run that is done, got 1 of {TINY.steps} steps; train it on."
    )


def test_a_file_that_is_no_run_is_refused(tmp_path):
    path = tmp_path / "rope-0.safetensors"
    whole = run().state().content()
    said = (
        f"{path} must be a run of xpos-viz lab train, got another file, or one that is damaged; "
        "remove it, or use another folder."
    )
    for content in (b"", b"nothing", whole[:200], whole[:-1]):
        path.write_bytes(content)
        with pytest.raises(ValueError) as error:
            load(path)
        assert str(error.value) == said
    for words in (
        None,
        {"run": "[]"},
        {"run": "{}"},
        {"run": '{"recipe": []}'},
        {"run": "[" * 10**5},
    ):
        save_file({"a": torch.zeros(2)}, path, words)
        with pytest.raises(ValueError) as error:
            load(path)
        assert str(error.value) == said


def short(tensors, name):
    """Without the last row."""
    return {**tensors, name: tensors[name][:-1]}


WEIGHT = "model.blocks.0.widen.weight"


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: {name: each for name, each in t.items() if name != "losses"},
        lambda t: {name: each for name, each in t.items() if name != WEIGHT},
        lambda t: {name: each for name, each in t.items() if "exp_avg" not in name},
        lambda t: short(t, WEIGHT),
        lambda t: short(t, "model.embedding.weight"),
        lambda t: t | {"losses": t["losses"][None]},
        lambda t: t | {"losses": torch.zeros(99, dtype=torch.float64)},
        lambda t: t | {WEIGHT: t[WEIGHT].to(torch.int8)},
        lambda t: t | {WEIGHT: t[WEIGHT] * torch.nan},
    ],
    ids=range(9),
)
def test_a_run_whose_tensors_are_not_its_own_is_refused(tmp_path, damage):
    begun, path = run(), tmp_path / "rope-0.safetensors"
    begun.learn()
    state = begun.state()
    path.write_bytes(state.content())
    assert State.read(path).losses == begun.losses
    path.write_bytes(replace(state, tensors=damage(dict(state.tensors))).content())
    with pytest.raises(ValueError, match="must be a run of xpos-viz lab train, got another file"):
        State.read(path)


@pytest.mark.parametrize(
    "entries",
    [
        {"seed": "x"},
        {"seed": -1},
        {"setting": {"length": 0}},
        {"setting": {"layers": -1}},
        {"setting": {"layers": "a"}},
        {"setting": {"layers": 99_999}},
        {"setting": {"width": 10**7}},
        {"setting": {"steps": None}},
        {"setting": {"batch": 2.5}},
        {"setting": {"rate": None}},
    ],
    ids=str,
)
def test_a_run_whose_recipe_is_none_is_refused(tmp_path, entries):
    state, path = run().state(), tmp_path / "rope-0.safetensors"
    path.write_bytes(state.content())
    tensors = load_file(path)
    recipe = state.recipe.entries
    setting = recipe["setting"] | entries.get("setting", {})
    words = state.words | {"recipe": recipe | entries | {"setting": setting}}
    save_file(tensors, path, {"run": json.dumps(words)})
    with pytest.raises(ValueError, match="must be a run of xpos-viz lab train, got another file"):
        State.read(path)


def test_a_run_that_was_begun_with_another_torch_does_not_go_on(tmp_path):
    begun, path = run(), tmp_path / "rope-0.safetensors"
    begun.learn()
    state = begun.state()
    versions = state.about["versions"] | {"torch": "1.0"}
    other = replace(state, about=dict(state.about) | {"versions": versions, "threads": 64})
    path.write_bytes(other.content())
    now = f"xpos_viz {__version__}, python {platform.python_version()}"
    with pytest.raises(ValueError) as error:
        run().restore(path)
    assert str(error.value) == (
        f"{path} was begun with {now}, torch 1.0 and 64 threads, got {now}, torch "
        f"{version('torch')} and {torch.get_num_threads()} threads; use those, or another folder."
    )

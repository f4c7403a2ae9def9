"""How it learns: the same each time, and on from where it was stopped."""

from dataclasses import replace

import pytest
import torch

from xpos_viz import rope, xpos
from xpos_viz.encoding import REGISTRY
from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.model import Setting, encoding_of
from xpos_viz.lab.training import Run, batch, train

TINY = Setting("tiny", length=16, layers=1, width=32, batch=8, steps=60, rate=1e-2)
LINE = b"the quick brown fox jumps over the lazy dog. "
CORPUS = Corpus("lines", torch.tensor([*LINE * 40], dtype=torch.uint8), torch.empty(0).byte())


class StoppedError(Exception):
    """What stops a run."""


ROPE = rope(32)


def run(encoding=ROPE, seed=0, setting=TINY, corpus=CORPUS):
    """A run of a tiny model."""
    return Run(setting, encoding, seed, corpus)


def stop_at(step):
    """A report that stops a run after so many steps."""

    def report(run):
        if run.step == step:
            raise StoppedError

    return report


def weights(model):
    """All weights, one after the other."""
    return torch.cat([weight.flatten() for weight in model.state_dict().values()])


def test_a_line_is_learned_by_heart():
    learning = run(setting=replace(TINY, steps=150))
    train(learning)
    assert learning.losses[0] == pytest.approx(8.0, abs=0.3)  # of 256 bytes it knows nothing
    assert learning.losses[-1] < 0.5
    assert len(learning.losses) == 150


def test_a_run_is_the_same_each_time_and_another_with_another_seed():
    first, second, other = run(), run(), run(seed=1)
    assert torch.equal(weights(train(first)), weights(train(second)))
    assert first.losses == second.losses
    train(other)
    assert other.losses != first.losses


def test_every_encoding_reads_the_same_bytes():
    first, second = batch(CORPUS.train, TINY, 0, 7), batch(CORPUS.train, TINY, 0, 7)
    assert torch.equal(first, second)
    assert first.shape == (8, 17)
    assert not torch.equal(first, batch(CORPUS.train, TINY, 0, 8))
    assert not torch.equal(first, batch(CORPUS.train, TINY, 1, 7))
    text = bytes(CORPUS.train.tolist())
    assert all(bytes(row.tolist()) in text for row in first)


@pytest.mark.parametrize("stop", [1, 49, 50, 51, 59])
def test_a_stopped_run_goes_on_as_if_it_had_not_been(stop, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = run()
    train(whole)
    with pytest.raises(StoppedError):
        train(run(), stop_at(stop), path)
    assert path.exists() == (stop > 50)
    again = run()
    model = train(again, path=path)
    assert again.losses == whole.losses
    assert torch.equal(weights(model), weights(whole.model))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_run_that_is_done_is_read_and_not_trained_again(tmp_path):
    path = tmp_path / "state.safetensors"
    trained = train(run(), path=path)
    steps = []
    model = train(run(), steps.append, path)
    assert steps == []
    assert torch.equal(weights(model), weights(trained))


def test_a_kill_in_the_middle_of_a_write_leaves_the_last_state(tmp_path):
    path = tmp_path / "state.safetensors"
    with pytest.raises(StoppedError):
        train(run(), stop_at(55), path)
    (tmp_path / f".{path.name}.4711.part").write_bytes(path.read_bytes()[:1000])
    again = run()
    again.restore(path)
    assert again.step == 50
    whole = run()
    assert torch.equal(weights(train(again, path=path)), weights(train(whole)))


@pytest.mark.parametrize(
    "other",
    [
        run(xpos(32, scale_base=8.0)),
        run(seed=1),
        run(setting=replace(TINY, rate=2e-2)),
        run(corpus=replace(CORPUS, train=CORPUS.train[1:])),
    ],
    ids=["encoding", "seed", "setting", "corpus"],
)
def test_no_run_goes_on_from_another(other, tmp_path):
    path = tmp_path / "state.safetensors"
    path.write_bytes(run().state().content())
    with pytest.raises(ValueError) as error:
        train(other, path=path)
    assert str(error.value) == (
        f"{path} must be a state of this run, got one of another; use another folder."
    )
    assert other.step == 0


@pytest.mark.parametrize("name", REGISTRY)
def test_every_encoding_of_the_registry_learns(name):
    setting = replace(TINY, width=64, steps=40)
    learning = run(encoding_of(setting, name), setting=setting)
    train(learning)
    assert learning.losses[-1] < 5 < learning.losses[0]


def test_too_short_a_corpus_is_refused():
    with pytest.raises(ValueError, match=r"lines must have at least 17 bytes to learn from, got 9"):
        run(corpus=replace(CORPUS, train=CORPUS.train[:9]))

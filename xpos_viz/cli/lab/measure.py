"""What the models of a folder lose in texts longer than those they learned from."""

import time
from dataclasses import replace
from pathlib import Path

import click
import pandas as pd
from torch import Tensor

from xpos_viz.cli.command import Command
from xpos_viz.cli.lab.shared import corpus_option, goes_on, say, spoken
from xpos_viz.cli.output import progress, provenance, save
from xpos_viz.export.data import RECIPE, parquet
from xpos_viz.lab.corpus import Corpus, corpus_at
from xpos_viz.lab.evaluation import windows
from xpos_viz.lab.model import Setting
from xpos_viz.lab.results import RUNS, of_run, read_results, told
from xpos_viz.lab.store import ENDING, RESULTS, State
from xpos_viz.writing import check

_TIMED = 2  # texts, by which the time is estimated


@click.command("eval", cls=Command, short_help="Measure what the models of a folder lose.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@corpus_option
def command(folder: Path, corpus: Path | None) -> None:
    """Measure what the models of FOLDER lose beyond their length, into its results.parquet.

    A row for each number: bits per byte by length, mask and place, the paired excess over windows
    of the training length, mean logits by lag and their resolution. Models that are measured
    already are not measured again. Says how long it will take.
    """
    check(path := folder / RESULTS)
    states = {found.stem: State.read(found) for found in sorted(folder.glob(f"*{ENDING}"))}
    done = {name: state for name, state in states.items() if state.done}
    for name in [name for name in states if name not in done]:
        click.echo(f"{name} is not done with its training, and is left out.", err=True)
    if not done:
        raise ValueError(
            f"{folder} must hold models that are trained, got none; use xpos-viz lab train "
            f"--out {folder}."
        )
    text = corpus_at(corpus)
    say(text)
    _check_corpus(text, done)
    with goes_on(folder):
        _measure(path, text, done)


def _measure(path: Path, corpus: Corpus, done: dict[str, State]) -> None:
    """Measure the models that are not measured yet, and write after each."""
    known, measured_on = read_results(path) if path.exists() else (pd.DataFrame(), {})
    parts = {
        name: known[known["run"] == name]
        for name, state in done.items()
        if measured_on.get(name) == state.words
    }
    left = {name: state for name, state in done.items() if name not in parts}
    settings = {state.recipe.setting for state in left.values()}
    texts = {setting: windows(corpus, setting) for setting in settings}
    if left:
        click.echo(f"Models to measure: {len(left)}, about {_estimate(left, texts)}.", err=True)
    else:
        click.echo(f"All {len(done)} models are measured already.", err=True)
    for name, state in left.items():
        with progress(f"Measuring {name}") as report:
            parts[name] = of_run(name, state, texts[state.recipe.setting], report)
        table = pd.concat([parts[each] for each in done if each in parts], ignore_index=True)
        runs = told({each: done[each] for each in parts})
        save(path, parquet(table, {RECIPE: provenance(), RUNS: runs}))


def _estimate(left: dict[str, State], texts: dict[Setting, Tensor]) -> str:
    """How long it takes, by few texts of one model of each kind, which are thrown away."""
    kinds = [replace(state.recipe, seed=0) for state in left.values()]
    one_of = dict(zip(kinds, left.values(), strict=True))
    each = {kind: _timed(state, texts[kind.setting]) for kind, state in one_of.items()}
    return spoken(sum(each[kind] * len(texts[kind.setting]) for kind in kinds))


def _timed(state: State, texts: Tensor) -> float:
    """Seconds of a text."""
    some, start = texts[:_TIMED], time.perf_counter()
    of_run("", state, some)
    return (time.perf_counter() - start) / len(some)


def _check_corpus(corpus: Corpus, done: dict[str, State]) -> None:
    """Raise ValueError unless the models were trained on this corpus."""
    for name, state in done.items():
        if state.recipe.corpus != corpus.hash:
            raise ValueError(
                f"{name} was trained on {state.about['corpus']} ({state.recipe.corpus}), got "
                f"{corpus.name} ({corpus.hash}); use --corpus with that text."
            )

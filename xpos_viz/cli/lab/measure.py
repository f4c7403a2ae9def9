"""What the models of a folder lose in texts longer than those they learned from."""

import json
from pathlib import Path

import click
import pandas as pd

from xpos_viz.cli.command import Command
from xpos_viz.cli.lab.shared import RESULTS, corpus_option, goes_on, say
from xpos_viz.cli.output import progress, provenance, save
from xpos_viz.export.data import RECIPE, parquet
from xpos_viz.lab.corpus import Corpus, corpus_at
from xpos_viz.lab.evaluation import windows
from xpos_viz.lab.results import RUNS, measured, read_results
from xpos_viz.lab.store import ENDING, State
from xpos_viz.writing import check


@click.command("eval", cls=Command, short_help="Measure what the models of a folder lose.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@corpus_option
def command(folder: Path, corpus: Path | None) -> None:
    """Measure what the models of FOLDER lose beyond their length, into its results.parquet.

    A row for each number: bits per byte by length, mask and place, the paired excess over a
    sliding window of the training length, mean logits by lag and their resolution. Models that
    are measured already are not measured again.
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
    recipes = {name: json.loads(state.recipe.text()) for name, state in done.items()}
    known, measured_on = read_results(path) if path.exists() else (pd.DataFrame(), {})
    parts = {
        name: known[known["run"] == name]
        for name, recipe in recipes.items()
        if measured_on.get(name, {}).get("recipe") == recipe
    }
    left = [name for name in done if name not in parts]
    if not left:
        click.echo(f"All {len(done)} models are measured already.", err=True)
    for name in left:
        recipe = done[name].recipe
        with progress(f"Measuring {name}") as report:
            texts = windows(corpus, recipe.setting)
            found = measured(done[name].model(), texts, report)
        called = name.removesuffix(f"-{recipe.seed}")
        of = {"run": name, "setting": recipe.setting.name, "encoding": called, "seed": recipe.seed}
        parts[name] = pd.concat([pd.DataFrame([of] * len(found)), found], axis=1)
        table = pd.concat([parts[each] for each in done if each in parts], ignore_index=True)
        runs = {each: {"recipe": recipes[each], **done[each].about} for each in parts}
        save(path, parquet(table, {RECIPE: provenance(), RUNS: json.dumps(runs)}))


def _check_corpus(corpus: Corpus, done: dict[str, State]) -> None:
    """Raise ValueError unless the models were trained on this corpus."""
    for name, state in done.items():
        if state.recipe.corpus != corpus.hash:
            raise ValueError(
                f"{name} was trained on {state.about['corpus']} ({state.recipe.corpus}), got "
                f"{corpus.name} ({corpus.hash}); use --corpus with that text."
            )

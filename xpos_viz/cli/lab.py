"""Small models, trained here, and what they lose in texts longer than those they learned from."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import click
import pandas as pd

from xpos_viz.cli import INTERRUPTED
from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.numbers import wholes_of, words_of
from xpos_viz.cli.output import output_options, progress, provenance, put, save
from xpos_viz.export.data import RECIPE, parquet
from xpos_viz.lab.corpus import Corpus, corpus_at
from xpos_viz.lab.evaluation import windows
from xpos_viz.lab.model import SETTINGS, Setting, contenders, encoding_of
from xpos_viz.lab.results import RUNS, measured, read_results, summed_up
from xpos_viz.lab.store import ENDING, State, place
from xpos_viz.lab.training import Run, train
from xpos_viz.writing import check, clear

RESULTS = "results.parquet"
"""What the models of a folder lose, beside them."""

_MOST_SEED = 9999
_TIMED = 5  # steps, after one that does not count
_LAST = 50  # steps whose mean is told

_corpus = click.option(
    "--corpus",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of texts, or one text in UTF-8. [Python's standard library]",
)


@click.group(short_help=summary("lab"))
def command() -> None:
    """Train small models, and see what they lose beyond their length.

    They read bytes and differ in their position encoding alone: all begin with the same weights
    and read the same bytes in the same order. `train` fills a folder, `eval` reads texts up to 16
    times as long as those that were learned, and `table` sums that up.
    """


@command.command("train", cls=Command)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of the runs: a file of safetensors for each.",
)
@click.option("--quick", is_flag=True, help="Smaller models, and fewer steps.")
@click.option("--steps", type=click.IntRange(min=1), help="Other steps than the setting's.")
@click.option("--seeds", default="0", show_default=True, help="Such as 0,1,2.")
@click.option(
    "--encodings",
    default=",".join(contenders(SETTINGS["main"])),
    show_default=True,
    help="These, or names of `xpos-viz list encodings`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, an object for each run.")
@_corpus
def _train(
    out: Path,
    steps: int | None,
    seeds: str,
    encodings: str,
    corpus: Path | None,
    *,
    quick: bool,
    as_json: bool,
) -> None:
    """Train models; what is done already is kept, and what was interrupted goes on.

    Says how long it will take, and prints the loss of each run: bits per byte, the mean of its
    last 50 steps.
    """
    setting = SETTINGS["quick" if quick else "main"]
    setting = replace(setting, steps=steps or setting.steps)
    wanted = [*product(_seeds(seeds), _names(setting, encodings))]
    _make(out)
    text = corpus_at(corpus)
    text.check(setting.length + 1, setting.longest + 1)
    _say(text)

    paths = {(seed, name): place(out, name, seed) for seed, name in wanted}

    def fresh(seed: int, name: str) -> Run:
        return Run(setting, encoding_of(setting, name), seed, text)

    with _goes_on(out):
        left = {each: _left(fresh(*each), path) for each, path in paths.items()}
        _announce(setting, text, left)
        with progress("Training") as report:
            done, whole = count(1), sum(left.values())
            for each, path in paths.items():
                train(fresh(*each), lambda _: report(next(done) / whole), path)
    put(pd.DataFrame(map(_told, paths.values())), as_json=as_json, out=None)


@command.command("eval", cls=Command)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_corpus
def _eval(folder: Path, corpus: Path | None) -> None:
    """Measure what the models of FOLDER lose beyond their length, into its results.parquet.

    A row for each number: bits per byte by length, mask and place, the paired excess over a
    sliding window of the training length, mean logits by lag and their resolution. Models that
    are measured already are not measured again.
    """
    check(path := folder / RESULTS)
    states = {found.stem: State.read(found) for found in sorted(folder.glob(f"*{ENDING}"))}
    done = {name: state for name, state in states.items() if state.done}
    for name in states.keys() - done.keys():
        click.echo(f"{name} is not done with its training, and is left out.", err=True)
    if not done:
        raise ValueError(
            f"{folder} must hold models that are trained, got none; use xpos-viz lab train "
            f"--out {folder}."
        )
    text = corpus_at(corpus)
    _say(text)
    _check_corpus(text, done)
    with _goes_on(folder):
        _measure(path, text, done)


@command.command("table", cls=Command)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@output_options
def _table(folder: Path, *, as_json: bool, out: Path | None) -> None:
    """Print mean bits per byte by length, and what bytes beyond the training length cost more.

    That is the paired excess: how much more such a byte costs with all of the text before it than
    with the last L bytes alone. Its error is the standard error over texts; least and most are
    over the seeds.
    """
    if not (path := folder / RESULTS).exists():
        raise ValueError(f"{folder} must hold {RESULTS}, got none; use xpos-viz lab eval {folder}.")
    put(summed_up(read_results(path)[0]), as_json=as_json, out=out)


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


def _left(run: Run, path: Path) -> int:
    """How many steps a run lacks, of which some may be kept."""
    if path.exists():
        run.restore(path)
    return run.setting.steps - run.step


def _announce(setting: Setting, corpus: Corpus, left: dict[tuple[int, str], int]) -> None:
    """Say how long training takes, by some steps of each encoding that are thrown away."""
    names = {name for (_, name), steps in left.items() if steps}
    each = {name: _timed(Run(setting, encoding_of(setting, name), 0, corpus)) for name in names}
    seconds = sum(steps * each[name] for (_, name), steps in left.items() if steps)
    steps = sum(left.values())
    click.echo(f"{len(left)} runs, {steps:,} steps to do: about {_spoken(seconds)}.", err=True)


def _timed(run: Run) -> float:
    """Seconds of a step."""
    run.learn()
    start = time.perf_counter()
    for _ in range(_TIMED):
        run.learn()
    return (time.perf_counter() - start) / _TIMED


def _spoken(seconds: float) -> str:
    """How long something takes, in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _say(corpus: Corpus) -> None:
    """Say what is read."""
    sizes = f"{len(corpus.train):,} bytes to learn from, {len(corpus.held_out):,} held out"
    click.echo(f"{corpus.name}: {sizes}.", err=True)


def _told(path: Path) -> dict[str, object]:
    """A row of what was trained."""
    state = State.read(path)
    steps, last = len(state.losses), state.losses[-_LAST:]
    loss = sum(last) / len(last)
    return {"run": path.stem, "encoding": repr(state.recipe.encoding), "steps": steps, "loss": loss}


def _seeds(text: str) -> list[int]:
    """Seeds between commas."""
    seeds = [*dict.fromkeys(wholes_of("seeds", text))]
    if not seeds or not all(0 <= seed <= _MOST_SEED for seed in seeds):
        raise ValueError(
            f"seeds must be whole numbers from 0 to {_MOST_SEED}, got {text!r:.60}; use 0,1,2."
        )
    return seeds


def _names(setting: Setting, text: str) -> list[str]:
    """Names of encodings between commas, all of which there are."""
    names = [*dict.fromkeys(words_of(text))]
    if not names:
        raise ValueError(f"encodings must be at least one, got {text!r:.60}; use rope,xpos_half.")
    for name in names:
        encoding_of(setting, name)
    return names


def _make(folder: Path) -> None:
    """Make a folder into which runs can be written, without what was left half-written."""
    if not folder.parent.is_dir():
        raise ValueError(f"there is no folder {folder.parent}; make it, or use another one.")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; use the name of a folder.")
    folder.mkdir(exist_ok=True)
    check(folder / RESULTS)
    clear(folder)


def _check_corpus(corpus: Corpus, done: dict[str, State]) -> None:
    """Raise ValueError unless models were trained on the other part of this corpus."""
    for name, state in done.items():
        if state.recipe.corpus != corpus.hash:
            raise ValueError(
                f"{name} was trained on {state.about['corpus']} ({state.recipe.corpus}), got "
                f"{corpus.name} ({corpus.hash}); use --corpus with that text."
            )


@contextmanager
def _goes_on(folder: Path) -> Iterator[None]:
    """Say that work which is interrupted is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"Interrupted; the same command goes on from what is in {folder}.", err=True)
        click.get_current_context().exit(INTERRUPTED)

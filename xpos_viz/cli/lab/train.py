"""Small models that differ in their position encoding alone, trained into a folder."""

import time
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import click
import pandas as pd

from xpos_viz.cli.command import Command
from xpos_viz.cli.lab.shared import corpus_option, goes_on, say, spoken
from xpos_viz.cli.numbers import wholes_of, words_of
from xpos_viz.cli.output import progress, put
from xpos_viz.lab.corpus import Corpus, corpus_at
from xpos_viz.lab.model import SETTINGS, Setting, contenders, encoding_of
from xpos_viz.lab.store import RESULTS, State, place
from xpos_viz.lab.training import Run, train
from xpos_viz.writing import check, clear

_MOST_SEED = 9999
_TIMED = 5  # steps, after one that does not count
_LAST = 50  # steps whose mean is told


def _sizes(name: str) -> str:
    """How large the models of a setting are, and how long they learn."""
    setting = SETTINGS[name]
    return f"{setting.layers} layers, {setting.length} bytes at once, {setting.steps:,} steps"


@click.command("train", cls=Command, short_help="Train models into a folder.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of the runs: a file of safetensors for each.",
)
@click.option("--quick", is_flag=True, help=f"{_sizes('quick')}, instead of {_sizes('main')}.")
@click.option("--steps", type=click.IntRange(1, 10_000_000), help="Other steps than the setting's.")
@click.option("--seeds", default="0", show_default=True, help="Such as 0,1,2.")
@click.option(
    "--encodings",
    default=",".join(contenders(SETTINGS["main"])),
    show_default=True,
    help="These, or names of `xpos-viz list encodings`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, an object for each run.")
@corpus_option
def command(
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
    say(text)
    paths = {(seed, name): place(out, name, seed) for seed, name in wanted}

    def fresh(seed: int, name: str) -> Run:
        return Run(setting, encoding_of(setting, name), seed, text)

    with goes_on(out):
        left = {each: _left(fresh(*each), path) for each, path in paths.items()}
        _announce(setting, text, left)
        with progress("Training") as report:
            done, whole = count(1), sum(left.values())
            for each, path in paths.items():
                train(fresh(*each), lambda _: report(next(done) / whole), path)
    put(pd.DataFrame(map(_told, paths.values())), as_json=as_json, out=None)


def _left(run: Run, path: Path) -> int:
    """How many steps a run lacks, of which some may be kept; what was half-written goes."""
    clear(path.parent, path.name)
    if path.exists():
        run.restore(path)
    return run.setting.steps - run.step


def _announce(setting: Setting, corpus: Corpus, left: dict[tuple[int, str], int]) -> None:
    """Say how long training takes, by some steps of each encoding that are thrown away."""
    names = {name for (_, name), steps in left.items() if steps}
    each = {name: _timed(Run(setting, encoding_of(setting, name), 0, corpus)) for name in names}
    seconds = sum(steps * each[name] for (_, name), steps in left.items() if steps)
    steps = sum(left.values())
    click.echo(f"{len(left)} runs, {steps:,} steps to do: about {spoken(seconds)}.", err=True)


def _timed(run: Run) -> float:
    """Seconds of a step."""
    run.learn()
    start = time.perf_counter()
    for _ in range(_TIMED):
        run.learn()
    return (time.perf_counter() - start) / _TIMED


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
    """Make a folder into which runs can be written."""
    if not folder.parent.is_dir():
        raise ValueError(f"there is no folder {folder.parent}; make it, or use another one.")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; use the name of a folder.")
    folder.mkdir(exist_ok=True)
    check(folder / RESULTS)

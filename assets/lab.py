"""Trains and measures the models that come with the lab: `python -m assets.lab`.

Takes one to two hours on two cores, and goes on where it was stopped. All are trained in float32
and measured as they are bundled, in float16; the models of the first seed come along.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import pandas as pd
import torch

from xpos_viz.export.data import parquet
from xpos_viz.lab import SETTINGS, Run, contenders, standard_library, train, windows
from xpos_viz.lab.bundle import FOLDER, TEXTS, pack_texts
from xpos_viz.lab.results import RUNS, of_run, told
from xpos_viz.lab.store import ENDING, RESULTS, State, place
from xpos_viz.writing import write

WORK = Path("build/lab")
FIRST = 0
SEEDS = (FIRST, 1, 2)


def made(setting_name: str, seed: int, name: str) -> tuple[State, pd.DataFrame]:
    """Train a model and measure it, if that is not done yet."""
    setting, corpus = SETTINGS[setting_name], standard_library()
    path = place(WORK / setting_name, name, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    train(Run(setting, contenders(setting)[name], seed, corpus), path=path)
    state = State.read(path).half()
    if not (measured := path.with_suffix(".parquet")).exists():
        write(measured, parquet(of_run(path.stem, state, windows(corpus, setting)), {}))
    return state, pd.read_parquet(measured)


def bundle(setting_name: str, runs: Mapping[str, tuple[State, pd.DataFrame]]) -> None:
    """Write what comes along of a setting."""
    folder = FOLDER / setting_name
    folder.mkdir(parents=True, exist_ok=True)
    states = {name: state for name, (state, _) in runs.items()}
    for name, state in states.items():
        if state.recipe.seed == FIRST:
            called = name.removesuffix(f"-{FIRST}")
            write(folder / f"{called}{ENDING}", state.content())
    table = pd.concat([found for _, found in runs.values()], ignore_index=True)
    write(folder / RESULTS, parquet(table, {RUNS: told(states)}))
    write(folder / TEXTS, pack_texts(windows(standard_library(), SETTINGS[setting_name])))


def jobs() -> Iterator[tuple[str, int, str]]:
    """All models that there are, the long ones first."""
    for setting_name in ("main", "quick"):
        for seed, name in product(SEEDS, contenders(SETTINGS[setting_name])):
            yield setting_name, seed, name


def main() -> None:
    """Train, measure and bundle."""
    with ProcessPoolExecutor(initializer=torch.set_num_threads, initargs=(1,)) as pool:
        found = dict(zip(jobs(), pool.map(made, *zip(*jobs(), strict=True)), strict=True))
    for setting_name in SETTINGS:
        of_it = {(seed, name): run for (of, seed, name), run in found.items() if of == setting_name}
        bundle(setting_name, {f"{name}-{seed}": run for (seed, name), run in of_it.items()})


if __name__ == "__main__":
    main()

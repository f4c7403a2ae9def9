"""Sweeps from a file, on this machine or on a cluster."""

import math
import sys
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import click
import pandas as pd

from xpos_viz.choosing import (
    Processes,
    Progress,
    Spec,
    SweepError,
    points_of,
    read_spec,
    sweep,
)
from xpos_viz.choosing.specfile import lines_of
from xpos_viz.cli import INTERRUPTED
from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.output import put, tell_failures


@click.command(cls=Command, short_help=summary("sweep"))
@click.argument("spec", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder that keeps the points.",
)
@click.option("--resume", is_flag=True, help="Go on with what the folder holds already.")
@click.option(
    "--workers",
    type=click.IntRange(min=0),
    default=0,
    help="Processes of this machine. [usually one for each core]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Of a cluster: tcp://127.0.0.1:8786.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, an object for each row.")
def command(
    spec: Path, folder: Path, workers: int, scheduler: str | None, *, resume: bool, as_json: bool
) -> None:
    """Try many settings of an encoding, and keep what each gives.

    SPEC is a TOML file: an encoding, parameters with values or spans, lengths, texts and
    objectives (see xpos_viz.choosing.Spec). The folder holds a Parquet file for each batch of
    points; a sweep that has ended early, or was killed, goes on with --resume and computes
    nothing twice. xpos-viz best prints what was found. --scheduler needs
    pip install '.[cluster]', and workers that have this package.
    """
    if scheduler and workers:
        raise ValueError(
            f"--workers are processes of this machine, got {workers} and --scheduler {scheduler}; "
            "use one of them."
        )
    wanted = read_spec(spec)
    with lines_of(spec):
        size = f"{wanted.settings:,} settings, {wanted.total:,} points."
    with _executor(scheduler, workers) as (executor, ahead):
        click.echo(size, err=True)
        found = _swept(wanted, folder, executor, ahead, resume=resume)
    if found.failed:
        tell_failures(points_of(folder))
    row = {"folder": str(folder), "points": found.done, "failed": found.failed}
    put(pd.DataFrame([row]), as_json=as_json, out=None)


def _swept(wanted: Spec, folder: Path, executor: Executor, ahead: int, *, resume: bool) -> Progress:
    """Run a sweep; say what is there if it ends early."""
    try:
        with _shown(wanted.total) as report:
            return sweep(wanted, folder, executor, resume=resume, ahead=ahead, report=report)
    except KeyboardInterrupt:
        executor.shutdown(wait=False, cancel_futures=True)
        click.echo(f"Interrupted; use --resume to go on with what {folder} holds.", err=True)
        click.get_current_context().exit(INTERRUPTED)
    except SweepError as error:
        raise click.ClickException(str(error)) from error


@contextmanager
def _shown(total: int) -> Generator[Callable[[Progress], None]]:
    """Show how many points there are and the time left, on standard error.

    The time is that of the sweep, which does not count what was there before.
    """
    with click.progressbar(
        length=total,
        label="Computing the points…",
        show_eta=False,
        show_pos=True,
        item_show_func=_left,
        file=sys.stderr,
    ) as bar:
        yield lambda now: bar.update(now.done - bar.pos, now)


def _left(now: Progress | None) -> str | None:
    """Say how long the rest takes, once that is known."""
    if now is None or math.isinf(now.left):
        return None
    return f"{timedelta(seconds=math.ceil(now.left))} left"


@contextmanager
def _executor(scheduler: str | None, workers: int) -> Iterator[tuple[Executor, int]]:
    """Who computes, and how many batches are to be under way; 0 is as many as usual."""
    if scheduler is None:
        with Processes(workers) as pool:
            yield pool, 2 * pool.workers + 2
        return
    try:
        distributed = import_module("distributed")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"a scheduler needs the package {error.name}, which is not installed; "
            "use pip install '.[cluster]' in the folder of this project."
        ) from error
    with distributed.Client(scheduler) as client:
        threads = sum(client.nthreads().values())
        yield client.get_executor(pure=False), 2 * threads + 2

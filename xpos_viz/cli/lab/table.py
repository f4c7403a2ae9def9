"""What was measured, summed up."""

from pathlib import Path

import click

from xpos_viz.cli.command import Command, check_out
from xpos_viz.cli.output import output_options, put
from xpos_viz.lab.results import read_results, summed_up
from xpos_viz.lab.store import RESULTS


@click.command("table", cls=Command, short_help="Print what was measured, summed up.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@output_options
def command(folder: Path, *, as_json: bool, out: Path | None) -> None:
    """Print mean bits per byte by length, and what bytes beyond the training length cost more.

    That is the paired excess: how much more such a byte costs with all of the text before it than
    in a window of L bytes, which slides on by half of it and is read as a text of its own. Its
    error is the standard error over texts; least and most are over the seeds.
    """
    if not (path := folder / RESULTS).exists():
        raise ValueError(f"{folder} must hold {RESULTS}, got none; use xpos-viz lab eval {folder}.")
    check_out(path, out)
    put(summed_up(read_results(path)[0]), as_json=as_json, out=out)

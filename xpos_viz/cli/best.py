"""What is best of a sweep."""

from pathlib import Path

import click

from xpos_viz.choosing import best, points_of, ranked, spec_of
from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.output import output_options, put, tell_failures


@click.command(cls=Command, short_help=summary("best"))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--front", is_flag=True, help="All settings that no other beats in every objective.")
@click.option("--all", "everything", is_flag=True, help="All settings, the best first.")
@output_options
def command(
    folder: Path, *, front: bool, everything: bool, as_json: bool, out: Path | None
) -> None:
    """Print the best setting of a sweep for each length.

    FOLDER is that of xpos-viz sweep, which may still be running. The best has the smallest loss
    among those within all limits: the sum over objectives, each counted from 0 at the best setting
    tried to its weight at the worst. Columns are those of xpos_viz.choosing.ranked.
    """
    if front and everything:
        raise ValueError("--front and --all are two tables, got both; use one of them.")
    spec, points = spec_of(folder), points_of(folder)
    tell_failures(points)
    table = ranked(points, spec) if front or everything else best(points, spec)
    put(table[table["front"]] if front else table, as_json=as_json, out=out)

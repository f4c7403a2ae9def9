"""Pairs of encodings, one by one."""

from pathlib import Path

import click

from xpos_viz.cli.encodings import Given, encoding_command, encodings_of
from xpos_viz.cli.output import output_options, put
from xpos_viz.curves import pair_table


@encoding_command("pairs")
@click.option(
    "--length",
    type=float,
    default=1024,
    show_default=True,
    help="The length in which turns are counted, tokens.",
)
@output_options
def command(
    names: tuple[str, ...],
    head_dim: int,
    parameters: Given,
    length: float,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    """Columns are those of xpos_viz.curves.pair_table.

    Units: theta in rad/token, wavelength and half_life in tokens, log_decay per token, turns in
    --length tokens.
    """
    table = pair_table(encodings_of(names, head_dim, parameters), length)
    put(table, as_json=as_json, out=out)

"""Small models, trained here: train, eval and table."""

import click

from xpos_viz.cli.command import summary
from xpos_viz.cli.lab import measure, table, train


@click.group(short_help=summary("lab"))
def command() -> None:
    """Train small models, and see what they lose beyond their length.

    They read bytes and differ in their position encoding alone: all begin with the same weights
    and read the same bytes in the same order. `train` fills a folder, `eval` reads texts up to 16
    times as long as those that were learned, and `table` sums that up.
    """


for module in (train, measure, table):
    command.add_command(module.command)

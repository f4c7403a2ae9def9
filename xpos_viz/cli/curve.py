"""Curves of encodings over distance."""

from pathlib import Path

import click

from xpos_viz.cli.encodings import Given, encoding_command, encodings_of
from xpos_viz.cli.numbers import lags_of, words_of
from xpos_viz.cli.output import output_options, put
from xpos_viz.curves import CURVES, curve_table

USUAL = ",".join(["0", *(str(2**power) for power in range(13))])
"""The lags that are shown where none are named."""


@encoding_command("curve")
@click.option("--lags", default=USUAL, show_default=True, help="Tokens: 0,100,1024 or 0:4097:64.")
@click.option(
    "--curves",
    default=",".join(CURVES),
    show_default=True,
    help="Which: g, its running mean, envelope, RoFormer's bound; bias adds to the logits.",
)
@output_options
def command(
    names: tuple[str, ...],
    head_dim: int,
    parameters: Given,
    lags: str,
    curves: str,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    """Columns are those of xpos_viz.curves.curve_table: lag in tokens, curves without a unit."""
    encodings = encodings_of(names, head_dim, parameters)
    put(curve_table(encodings, lags_of(lags), words_of(curves)), as_json=as_json, out=out)

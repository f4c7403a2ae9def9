"""The resolution of encodings."""

from pathlib import Path

import click

from xpos_viz.cli.encodings import Given, encoding_command, encodings_of
from xpos_viz.cli.numbers import words_of
from xpos_viz.cli.output import output_options, put
from xpos_viz.curves import NORMALISATIONS, resolution_table
from xpos_viz.state.model import MAX_LONG_LENGTH


@encoding_command("resolution")
@click.option("--tokens", type=int, default=1024, show_default=True, help="Terms of the sum.")
@click.option(
    "--normalisations",
    default=",".join(NORMALISATIONS),
    show_default=True,
    help="What scores are divided by before the exponential.",
)
@click.option(
    "--masks", default="causal", show_default=True, help="Such as causal,sliding:256,blockwise:512."
)
@output_options
def command(
    names: tuple[str, ...],
    head_dim: int,
    parameters: Given,
    tokens: int,
    normalisations: str,
    masks: str,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    """Columns are those of xpos_viz.curves.resolution_table, numbers without a unit.

    See Sun et al. 2022, eq. 3.
    """
    if tokens > MAX_LONG_LENGTH:
        raise ValueError(
            f"tokens must be at most {MAX_LONG_LENGTH} here, got {tokens}; use {MAX_LONG_LENGTH}, "
            "or set XPOS_VIZ_MAX_LONG_LENGTH."
        )
    table = resolution_table(
        encodings_of(names, head_dim, parameters),
        tokens=tokens,
        normalisations=words_of(normalisations),
        masks=words_of(masks),
    )
    put(table, as_json=as_json, out=out)

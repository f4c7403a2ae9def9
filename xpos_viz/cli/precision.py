"""Where number formats end, and what their angles lose."""

from collections.abc import Sequence
from pathlib import Path

import click
import pandas as pd
import torch

from xpos_viz.choice import check_choice
from xpos_viz.cli.encodings import Given, encoding_command, encodings_of
from xpos_viz.cli.numbers import wholes_of, words_of
from xpos_viz.cli.output import output_options, progress, put
from xpos_viz.encoding import Encoding
from xpos_viz.precision import KEPT, accuracy_table, limits_table
from xpos_viz.studies.precision import FORMATS

MOST = 1 << 20
"""Longest text whose angles are measured, tokens."""


@encoding_command("precision")
@click.option(
    "--of",
    type=click.Choice(["overflow", "angles"]),
    default="overflow",
    show_default=True,
    help="How far each format reaches, or the largest error of its angles.",
)
@click.option("--dtypes", default=",".join(FORMATS), show_default=True, help="Number formats.")
@click.option(
    "--largest",
    type=float,
    default=1.0,
    show_default=True,
    help="Overflow: the largest modulus of a pair of any query or key.",
)
@click.option(
    "--lengths", default="512,2048,8192", show_default=True, help="Angles: lengths, tokens."
)
@click.option(
    "--kept", default=",".join(KEPT), show_default=True, help="Angles: what is kept in the format."
)
@output_options
def command(
    names: tuple[str, ...],
    head_dim: int,
    parameters: Given,
    of: str,
    dtypes: str,
    largest: float,
    lengths: str,
    kept: str,
    *,
    as_json: bool,
    out: Path | None,
) -> None:
    """Columns are those of xpos_viz.precision.limits_table or accuracy_table.

    Position and centred_length are in tokens; the error is that of a turned pair as a share of
    its size, 0 to 2.
    """
    encodings, formats = encodings_of(names, head_dim, parameters), _formats(dtypes)
    measured = _lengths(lengths)
    if of == "overflow":
        table = limits_table(encodings, formats, largest)
    else:
        table = _angles(encodings, measured, formats, words_of(kept))
    put(table, as_json=as_json, out=out)


def _angles(
    encodings: Sequence[Encoding],
    lengths: Sequence[int],
    dtypes: Sequence[torch.dtype],
    kept: Sequence[str],
) -> pd.DataFrame:
    """The errors of all encodings, one after the other."""
    tables = []
    with progress("Measuring the angles") as report:
        for done, encoding in enumerate(encodings, 1):
            rows = accuracy_table(encoding, lengths, dtypes, kept)
            rows.insert(0, "encoding", repr(encoding))
            tables.append(rows)
            report(done / len(encodings))
    return pd.concat(tables, ignore_index=True)


def _formats(text: str) -> list[torch.dtype]:
    """Number formats by their names."""
    names = words_of(text)
    for name in names:
        check_choice("dtype", name, FORMATS)
    return [getattr(torch, name) for name in names]


def _lengths(text: str) -> list[int]:
    """Lengths that can be measured in a while."""
    lengths = wholes_of("lengths", text)
    if wrong := [length for length in lengths if not 1 <= length <= MOST]:
        raise ValueError(f"lengths must be 1 to {MOST:,} tokens here, got {wrong[0]:,}; use 512.")
    return lengths

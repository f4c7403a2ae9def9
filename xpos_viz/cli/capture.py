"""Queries and keys of a model of one's own."""

import sys
from pathlib import Path

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.numbers import wholes_of
from xpos_viz.cli.output import check_path, progress, save
from xpos_viz.inputs.files.saving import capture_bytes
from xpos_viz.models.loading import DTYPES
from xpos_viz.models.planning import plan

FORMS = ("npz", "safetensors")
"""Kinds of files by the ending of their names."""


@click.command(cls=Command, short_help=summary("capture"))
@click.argument("model")
@click.argument("text")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help=f"The file to write, by its ending: {', '.join(FORMS)}.",
)
@click.option("--layers", help="Layers to keep: 0,8,16. [usually all]")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    default=DTYPES[0],
    show_default=True,
    help="What weights are loaded as, and q and k written.",
)
def command(model: str, text: str, out: Path, layers: str | None, dtype: str) -> None:
    """Take the queries and keys of a model that reads a text.

    They are those that enter its rotary embedding. MODEL is a folder with config.json, tokenizer
    and model.safetensors, a .gguf file, or a name on the Hugging Face Hub; TEXT is a text, or -
    for standard input. Needs pip install '.[models]'. The file also holds the model's own encoding,
    mask and factor of each layer: xpos_viz.read_capture opens it.
    """
    check_path(out, FORMS)
    kept = None if layers is None else wholes_of("layers", layers)
    words = sys.stdin.read() if text == "-" else text
    try:
        planned = plan(model, words, layers=kept, dtype=dtype)
        count, tokens = len(planned.layers), planned.reading.length
        click.echo(f"{count:,} layers, {tokens:,} tokens: {planned.estimate}.", err=True)
        with progress("Reading the text") as report:
            taken = planned.run(report)
    except MemoryError as error:
        raise click.ClickException(str(error)) from error
    save(out, capture_bytes(taken, out.suffix))

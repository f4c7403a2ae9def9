"""Files made again from their recipes."""

from pathlib import Path

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.output import check_path, save
from xpos_viz.export import FORMS, make, reproduce
from xpos_viz.figures.files import Paper


@click.command(cls=Command, short_help=summary("reproduce"))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help=f"By its ending: {', '.join(FORMS)}.")
@click.option("--picture", help="Of a bundle: which picture; the first one if none is named.")
def command(file: Path, out: Path | None, picture: str | None) -> None:
    """Make a file again, and say if its numbers are the same.

    FILE is any file of xpos-viz figure or export, or of the dashboard, but CSV, which has no
    place for a recipe. The exit code is 1 if a number differs.
    """
    if out is not None:
        check_path(out, tuple(FORMS))
    made = reproduce(file.read_bytes())
    named = {each.name: each for each in made.pictures}
    if picture is not None and picture not in named:
        raise ValueError(f"{file} has no picture {picture!r:.40}; use one of: {', '.join(named)}.")
    if out is not None:
        shown = named[picture] if picture is not None else made.pictures[0]
        save(out, make(shown, out.suffix[1:], made.recipe, Paper()))
    click.echo(made.recipe.text())
    if not made.same:
        raise click.ClickException(
            f"the numbers are not those of {file}; it was made with "
            + ", ".join(f"{name} {version}" for name, version in made.recipe.versions.items())
            + "."
        )
    click.echo("All numbers are those of the file, to the last bit.", err=True)

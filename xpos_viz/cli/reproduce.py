"""Files made again from their recipes."""

from dataclasses import replace
from pathlib import Path

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.output import check_path, progress, save
from xpos_viz.cli.pictures import chosen, out_option, paper_options
from xpos_viz.export import FORMS, Recipe, Reproduction, make, reproduce
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.figures.files import Paper
from xpos_viz.texts import texts

WRITTEN = (*FORMS, *MOVING)
"""Endings of the files."""


@click.command(cls=Command, short_help=summary("reproduce"))
@click.argument("file", type=click.Path(path_type=Path))
@out_option(*WRITTEN)
@click.option("--picture", help="Of a bundle: which picture; the first one if none is named.")
@paper_options(None)
def command(file: Path, out: Path | None, picture: str | None, **paper: str | None) -> None:
    """Make a file again, and say if its numbers are the same.

    FILE is any file of xpos-viz figure or export, or of the dashboard, or the .recipe.json beside
    a CSV. It is drawn on the paper that it was drawn on, unless --size, --mode or --caption say
    otherwise; a picture in motion moves again as .html or .gif. The exit code is 1 if a number
    differs.
    """
    if out is not None:
        check_path(out, WRITTEN)
    made = _made(file)
    if out is not None:
        given = {name: words for name, words in paper.items() if words is not None}
        save(out, _written(made, out.suffix[1:], picture, replace(made.recipe.paper, **given)))
    click.echo(made.recipe.text())
    if not made.same:
        raise click.ClickException(
            f"the numbers are not those of {file}; it was made with "
            + ", ".join(f"{name} {version}" for name, version in made.recipe.versions.items())
            + "."
        )
    click.echo("All numbers are those of the file, to the last bit.", err=True)


def _made(file: Path) -> Reproduction:
    """What the file shows; one that cannot be made again is no wrong use."""
    content = file.read_bytes()
    try:
        with progress("reproduce") as report:
            return reproduce(content, report)
    except ValueError as error:
        raise click.ClickException(f"{file}: {error}") from error


def _written(made: Reproduction, form: str, picture: str | None, paper: Paper) -> bytes:
    """The content of a file of what was made again, which tells what is in it."""
    shown, old = chosen(made.pictures, picture, "the file"), made.recipe
    language = made.state.language or "en"
    recipe = Recipe.of(old.page, (shown,), made.state, language, link=old.link, paper=paper)
    if form in FORMS:
        return make(shown, form, recipe)
    if made.moving is None:
        raise ValueError(f"the file does not move, got the ending .{form}; use {', '.join(FORMS)}.")
    with progress("frames") as report:
        return animate(made.moving, form, recipe.moving(made.moving), texts(language), report)

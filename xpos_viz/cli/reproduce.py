"""Files made again from their recipes."""

from dataclasses import replace
from pathlib import Path

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.data import capture_of, data_options
from xpos_viz.cli.export import whole
from xpos_viz.cli.output import check_path, progress, save
from xpos_viz.cli.pictures import Wanted, chosen, out_option, paper_options
from xpos_viz.export import FORMS, Reproduction, make, reproduce
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.inputs import Capture

WRITTEN = (*FORMS, "zip", *MOVING)
"""Endings of the files."""


@click.command(cls=Command, short_help=summary("reproduce"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@out_option(*WRITTEN)
@click.option("--picture", help="Of a bundle: which picture; the first one if none is named.")
@data_options
@paper_options(None)
def command(
    file: Path,
    out: Path | None,
    picture: str | None,
    data: Path | None,
    order: str,
    rotated: float | None,
    **paper: str | None,
) -> None:
    """Make a file again, and say if its numbers are the same.

    FILE is any file of xpos-viz figure or export, or of the dashboard, or the .recipe.json beside
    a CSV. It is drawn on the paper that it was drawn on, unless --size, --mode or --caption say
    otherwise; a picture in motion moves again as .html or .gif. All of its page is a .zip, and a
    hand-out an .html. Where it was made from a file of your own, that is named by --data; a bundle
    has it within. The exit code is 1 if a number differs, as times do that are measured.
    """
    if out is not None:
        check_path(out, WRITTEN)
    made = _made(file, capture_of(data, order, rotated))
    if out is not None:
        given = {name: words for name, words in paper.items() if words is not None}
        told, drawn_on = made.recipe, replace(made.recipe.paper, **given)
        wanted = Wanted(told.page, picture, made.state, out, drawn_on, told.link)
        save(out, _written(made, wanted))
    click.echo(made.recipe.text())
    if not made.same:
        raise click.ClickException(f"the numbers are not those of {file}; {_why(made)}.")
    click.echo("All numbers are those of the file's recipe, to the last bit.", err=True)


def _why(made: Reproduction) -> str:
    """What may have made the numbers others."""
    if any(picture.measured for picture in made.pictures):
        return "they are times, which were measured then, and anew now"
    versions = (f"{name} {version}" for name, version in made.recipe.versions.items())
    return f"it was made with {', '.join(versions)}"


def _made(file: Path, data: Capture | None) -> Reproduction:
    """What the file shows; one that cannot be made again is no wrong use."""
    content = file.read_bytes()
    try:
        with progress("Making it again") as report:
            return reproduce(content, report, data=data)
    except ValueError as error:
        raise click.ClickException(f"{file}: {error}") from error


def _written(made: Reproduction, wanted: Wanted) -> bytes:
    """The content of a file of what was made again, which tells what is in it."""
    if wanted.form in FORMS:
        shown = chosen(made.pictures, wanted.picture, "the file")
        return make(shown, wanted.form, wanted.recipe(shown))
    if made.moving is not None and wanted.form in MOVING:
        recipe = wanted.recipe(*made.pictures).moving(made.moving)
        with progress("Drawing the frames") as report:
            return animate(made.moving, wanted.form, recipe, wanted.text, report)
    if wanted.form == "gif":
        still = ", ".join(form for form in WRITTEN if form != "gif")
        raise ValueError(f"the file does not move, got the ending .gif; use {still}.")
    return whole(wanted)

"""Pictures of pages as files."""

from pathlib import Path

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.output import check_path, progress, save
from xpos_viz.cli.settings import asked, settings_options
from xpos_viz.export import FORMS, Recipe, make
from xpos_viz.figures.files import SIZES, Paper
from xpos_viz.pictures import PICTURES, Picture, long
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State
from xpos_viz.studies.long import fitting
from xpos_viz.texts import texts
from xpos_viz.theme import Mode


@click.command(cls=Command, short_help=summary("figure"))
@click.argument("page", required=False)
@click.argument("picture", required=False)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help=f"The file, by its ending: {', '.join(FORMS)}.",
)
@click.option("--size", default="page", show_default=True, help=f"On paper: {', '.join(SIZES)}.")
@click.option("--mode", default="light", show_default=True, help="The ground: light or dark.")
@click.option("--caption", default="", help="A text under the picture.")
@settings_options
def command(
    page: str | None,
    picture: str | None,
    out: Path,
    link: str | None,
    preset: str | None,
    size: str,
    mode: Mode,
    caption: str,
    **values: str | None,
) -> None:
    """Draw a picture of a page into a file.

    PAGE is a name of `xpos-viz list pages`; a link or a preset names one, too. PICTURE is the
    name of one of its pictures, else it is the first. Settings are those of the dashboard's
    addresses: xpos-viz figure compare --out maps.pdf --gamma 0.2 --mask none
    """
    check_path(out, tuple(FORMS))
    paper = Paper(size, mode, caption)
    name, state = asked(page, link, preset, values)
    shown = chosen(pictures(name, state), picture, name)
    recipe = Recipe.of(name, (shown,), state, state.language or "en")
    save(out, make(shown, out.suffix[1:], recipe, paper))


def pictures(page: str, state: State) -> tuple[Picture, ...]:
    """Return the pictures of a page; long work shows how far it is."""
    if page == "long":
        with progress("maps") as report:
            _compute(state, report)
    return PICTURES[page](state, texts(state.language or "en"))


def chosen(shown: tuple[Picture, ...], name: str | None, page: str) -> Picture:
    """Return the picture of that name, or the first.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not shown:
        raise ValueError(
            f"with these settings {page} has no picture; choose an encoding, a format or a text."
        )
    named = {picture.name: picture for picture in shown}
    if name is not None and name not in named:
        raise ValueError(f"{page} has no picture {name!r:.40}; use one of: {', '.join(named)}.")
    return shown[0] if name is None else named[name]


def _compute(state: State, report: Report) -> None:
    """Compute what is kept of a long text, with a report."""
    long.studied(fitting(long.asked(state)), long.course(state), report)

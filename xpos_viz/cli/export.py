"""All of a page as one file."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.figure import chosen, pictures
from xpos_viz.cli.output import check_path, progress, save
from xpos_viz.cli.settings import asked, settings_options
from xpos_viz.export import Recipe, bundle
from xpos_viz.export.animation import animation_gif, animation_html, sweep, usual_values
from xpos_viz.export.handout import handout
from xpos_viz.state import State
from xpos_viz.texts import texts

FORMS = ("zip", "html", "gif")
"""Endings of the files."""


@click.command(cls=Command, short_help=summary("export"))
@click.argument("page", required=False)
@click.argument("picture", required=False)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The file: .zip is a bundle, .html a hand-out, with --sweep .html or .gif move.",
)
@click.option("--sweep", "parameter", help="What moves: gamma, scale_base, base or length.")
@settings_options
def command(
    page: str | None,
    picture: str | None,
    out: Path,
    parameter: str | None,
    link: str | None,
    preset: str | None,
    **values: str | None,
) -> None:
    """Write all of a page, or a picture of it in motion.

    A bundle has pictures, numbers, captions, sources, the recipe and a notebook; a hand-out is
    the page compare with its live map, without network: xpos-viz export compare --out all.zip
    """
    check_path(out, FORMS)
    name, state = asked(page, link, preset, values)
    if parameter is not None:
        save(out, _moving(name, picture, state, parameter, out.suffix[1:]))
        return
    if picture is not None:
        raise ValueError(
            f"without --sweep all of a page is exported, got the picture {picture!r:.40}; "
            "use the command figure for one."
        )
    if out.suffix[1:] not in _WHOLE:
        raise ValueError(f"a {out.suffix} file moves; use --sweep gamma, or {', '.join(_WHOLE)}.")
    save(out, _WHOLE[out.suffix[1:]](name, state))


def _moving(page: str, picture: str | None, state: State, parameter: str, form: str) -> bytes:
    """A picture in motion."""
    if form == "zip":
        raise ValueError("a picture in motion is .html or .gif, got .zip; use one of these.")
    language = state.language or "en"
    shown = chosen(pictures(page, state), picture, page)
    recipe = Recipe.of(page, (shown,), state, language).text()
    values = usual_values(parameter, state)
    with progress(parameter) as report:
        moving = sweep(page, shown.name, state, parameter, values, texts(language), report)
    if form == "html":
        return animation_html(moving, texts(language), recipe).encode()
    with progress("frames") as report:
        return animation_gif(moving, report, recipe)


def _bundle(page: str, state: State) -> bytes:
    """All of a page."""
    with progress("bundle") as report:
        return bundle(page, state, state.language or "en", report=report)


def _handout(page: str, state: State) -> bytes:
    """The live map without network."""
    if page != "compare":
        raise ValueError(f"only the page compare has a hand-out, got {page!r}; use a .zip.")
    language = state.language or "en"
    recipe = Recipe.of(page, pictures(page, state), state, language)
    return handout(state, texts(language), recipe.text()).encode()


_WHOLE: Mapping[str, Callable[[str, State], bytes]] = MappingProxyType(
    {"zip": _bundle, "html": _handout}
)

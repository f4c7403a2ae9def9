"""All of a page as one file, or a picture of it in motion."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import click

from xpos_viz.cli.numbers import values_of
from xpos_viz.cli.output import progress, save
from xpos_viz.cli.pictures import Wanted, picture_command
from xpos_viz.export import bundle
from xpos_viz.export.animation import MOVING, animate
from xpos_viz.export.handouts import HANDOUTS
from xpos_viz.export.sweeps import SWEPT, sweep


@picture_command("export", "zip", *MOVING)
@click.option("--sweep", "parameter", help=f"What moves, if it can: {', '.join(SWEPT)}.")
@click.option("--values", default="", help="Its values between commas, else the usual ones.")
def command(wanted: Wanted, parameter: str | None, values: str) -> None:
    """A .zip is a bundle, an .html the hand-out; with --sweep a picture moves, as .html or .gif.

    A bundle has pictures, numbers, captions, sources, the recipe and a notebook; a hand-out is
    the page compare with its live map, or all lessons of the page learn to be printed (with
    --teacher yes a teacher's), without network: xpos-viz export compare --out all.zip
    """
    swept = values_of("values", values)
    save(wanted.out, whole(wanted) if parameter is None else _moving(wanted, parameter, swept))


def _moving(wanted: Wanted, parameter: str, values: list[float]) -> bytes:
    """A picture in motion."""
    if wanted.form not in MOVING:
        raise ValueError(f"a picture in motion is .html or .gif, got .{wanted.form}; use these.")
    shown, text = wanted.chosen(), wanted.text
    with progress(f"Computing the picture for each {parameter}") as report:
        moving = sweep(wanted.page, shown.name, wanted.state, parameter, values, text, report)
    with progress("Drawing the frames") as report:
        return animate(moving, wanted.form, wanted.recipe(shown).moving(moving), text, report)


def whole(wanted: Wanted) -> bytes:
    """Return all of a page as one file."""
    if wanted.picture is not None:
        raise ValueError(
            "without --sweep all of a page is exported, got the picture "
            f"{wanted.picture!r:.40}; use the command figure for one."
        )
    if wanted.form not in _WHOLE:
        raise ValueError(f"a .{wanted.form} file moves; use --sweep gamma, or {', '.join(_WHOLE)}.")
    return _WHOLE[wanted.form](wanted)


def _bundle(wanted: Wanted) -> bytes:
    """Pictures, numbers and words."""
    with progress("Making the bundle") as report:
        return bundle(
            wanted.page,
            wanted.state,
            wanted.language,
            link=wanted.link,
            paper=wanted.paper,
            report=report,
        )


def _handout(wanted: Wanted) -> bytes:
    """The page without network."""
    if wanted.page not in HANDOUTS:
        pages = " and ".join(HANDOUTS)
        raise ValueError(f"only {pages} have a hand-out, got {wanted.page!r}; use a .zip.")
    recipe = wanted.recipe(*wanted.pictures())
    return HANDOUTS[wanted.page](wanted.state, wanted.text, recipe.text()).encode()


_WHOLE: Mapping[str, Callable[[Wanted], bytes]] = MappingProxyType(
    {"zip": _bundle, "html": _handout}
)

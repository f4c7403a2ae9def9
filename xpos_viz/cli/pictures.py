"""What commands on pictures share: which picture, with what settings, on what paper."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from xpos_viz.cli.command import Command, summary
from xpos_viz.cli.data import NAMES, capture_of, data_options
from xpos_viz.cli.output import check_path, progress
from xpos_viz.cli.settings import asked, settings_options
from xpos_viz.export.recipe import Recipe
from xpos_viz.figures.files import SIZES, Paper
from xpos_viz.pictures import PICTURES, Picture, long
from xpos_viz.state import State
from xpos_viz.studies.long import fitting
from xpos_viz.texts import Text, texts
from xpos_viz.theme import INKS


@dataclass(frozen=True)
class Wanted:
    """What is asked for.

    Parameters
    ----------
    page, picture
        Which picture of which page, or the page alone.
    state
        All that is set.
    out, paper
        The file, and what is drawn on.
    link
        The address of the page, if it is known with its host.
    """

    page: str
    picture: str | None
    state: State
    out: Path
    paper: Paper
    link: str = ""

    @property
    def language(self) -> str:
        """The language of words."""
        return self.state.language or "en"

    @property
    def text(self) -> Text:
        """Sentences of that language."""
        return texts(self.language)

    @property
    def form(self) -> str:
        """The ending of the file."""
        return self.out.suffix[1:]

    def pictures(self) -> tuple[Picture, ...]:
        """Return the pictures of the page; long work shows how far it is."""
        if self.page == "long":
            with progress("Computing the maps") as report:
                long.studied(fitting(long.asked(self.state)), long.course(self.state), report)
        return PICTURES[self.page](self.state, self.text)

    def chosen(self) -> Picture:
        """Return the picture that is named, or the first.

        Raises
        ------
        ValueError
            If there is none.
        """
        return chosen(self.pictures(), self.picture, self.page)

    def recipe(self, *shown: Picture) -> Recipe:
        """Return the recipe of some pictures of the page."""
        return Recipe.of(
            self.page, shown, self.state, self.language, link=self.link, paper=self.paper
        )


def picture_command(name: str, *forms: str) -> Callable[[Callable[..., None]], Command]:
    """A command that writes one of some forms of files; its function takes a :class:`Wanted`."""

    def decorate(function: Callable[..., None]) -> Command:
        own = {option.name for option in getattr(function, "__click_params__", ())}

        def called(  # noqa: ANN202 - as the function
            page: str | None,
            picture: str | None,
            out: Path,
            link: str | None,
            preset: str | None,
            **given: Any,  # noqa: ANN401 - what click has parsed
        ):
            check_path(out, forms)
            paper = Paper(**{each: given.pop(each) for each in ("size", "mode", "caption")})
            more = {each: given.pop(each) for each in own}
            brought = capture_of(*(given.pop(each) for each in NAMES))
            which, state = asked(page, link, preset, given, brought)
            return function(Wanted(which, picture, state, out, paper), **more)

        update_wrapper(called, function)
        called.__doc__ = f"{summary(name)}\n\n{cleandoc(str(function.__doc__))}\n\n{_SETTINGS}"
        options = (settings_options, data_options, paper_options(Paper()))
        for option in (*options, out_option(*forms, required=True), _picture, _page):
            option(called)
        return click.command(name, cls=Command, short_help=summary(name))(called)

    return decorate


def out_option(*forms: str, required: bool = False) -> Callable[..., Any]:
    """Add `--out`, a file of one of some forms."""
    words = f"The file, by its ending: {', '.join(forms)}."
    return click.option("--out", required=required, type=click.Path(path_type=Path), help=words)


def paper_options(usual: Paper | None) -> Callable[..., Any]:
    """Add `--size`, `--mode` and `--caption`, with what they usually are."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, words in reversed(_PAPER.items()):
            default = getattr(usual, name, None)
            shown = bool(default)
            function = click.option(f"--{name}", default=default, show_default=shown, help=words)(
                function
            )
        return function

    return add


def chosen(shown: tuple[Picture, ...], name: str | None, where: object) -> Picture:
    """Return the picture of that name, or the first.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not shown:
        raise ValueError(
            f"with these settings {where} has no picture; choose an encoding, a format or a text."
        )
    named = {picture.name: picture for picture in shown}
    if name is not None and name not in named:
        raise ValueError(f"{where} has no picture {name!r:.40}; use one of: {', '.join(named)}.")
    return shown[0] if name is None else named[name]


_PAPER = {
    "size": f"Of what is drawn: {', '.join(SIZES)}.",
    "mode": f"The ground of what is drawn: {', '.join(INKS)}.",
    "caption": "A text under what is drawn.",
}
_page = click.argument("page", required=False)
_picture = click.argument("picture", required=False)
_SETTINGS = """PAGE and PICTURE are names of `xpos-viz list pages`; a link or a preset names a page,
too. Settings are those of the dashboard's addresses."""

"""A file made again from the recipe within it."""

from dataclasses import dataclass

from xpos_viz.choice import check_choice
from xpos_viz.export.animation import animation_html
from xpos_viz.export.handouts import HANDOUTS
from xpos_viz.export.held import Made, data_in, holds, recipe_in
from xpos_viz.export.recipe import Recipe, data_of, fingerprint
from xpos_viz.export.sweeps import Sweep, sweep
from xpos_viz.inputs import Capture
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.files import read_capture
from xpos_viz.pictures import PICTURES, Picture
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State, from_address
from xpos_viz.texts import texts


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Pictures that were made again.

    Parameters
    ----------
    recipe
        What the file says of itself.
    state
        All that was set.
    pictures
        The pictures as they are made here.
    moving
        The picture in motion, if it is one.
    same
        Whether all their numbers and words are those of the recipe, and those that a file of
        numbers, a bundle or a page holds besides, to the last bit.
    """

    recipe: Recipe
    state: State
    pictures: tuple[Picture, ...]
    moving: Sweep | None
    same: bool


def reproduce(
    content: bytes, report: Report = lambda _: None, *, data: Capture | None = None
) -> Reproduction:
    """Make again what a file shows.

    Parameters
    ----------
    content
        A PNG, SVG, PDF, GIF, Parquet, NPZ, HTML or ZIP file made by xpos_viz, or a recipe.
    report
        Is told the share that is done; raises to end the work.
    data
        The queries and keys that somebody brought, where the file was made from them; a bundle
        has them within.

    Raises
    ------
    ValueError
        If it is damaged, or holds no recipe, settings that cannot be used here, or other data
        than are here.
    """
    recipe = Recipe.read(recipe_in(content))
    brought = data or _brought(content)  # held, so that it is found
    if brought is not None:
        _check_data(recipe, keep(brought))
    state = _state(recipe)
    pictures = _pictures(recipe, state)
    moving = _moving(recipe, state, report) if recipe.sweep else None
    report(1.0)
    drawn = [each.description for each in pictures] if moving is None else moving.frames
    same = fingerprint(drawn) == recipe.numbers and holds(
        content, Made(pictures, lambda: _page(recipe, state, moving))
    )
    return Reproduction(recipe, state, pictures, moving, same)


def _brought(content: bytes) -> Capture | None:
    """The queries and keys that a bundle has within."""
    within = data_in(content)
    return None if within is None else read_capture(within)


def _check_data(recipe: Recipe, here: str) -> None:
    """Raise ValueError unless these are the data of the recipe."""
    if recipe.data != here:
        raise ValueError(
            f"the file was made from queries and keys with the fingerprint {recipe.data:.12}…, "
            f"got {here:.12}…; use the file that it was made from, read in the same way."
        )


def _state(recipe: Recipe) -> State:
    """All that was set, if it can be set here and has the same data here."""
    check_choice("page", recipe.page, PICTURES)
    state, refused = from_address(recipe.settings)
    if missing := [each.reason for each in refused if each.key == "data"]:
        raise ValueError(missing[0])
    if refused:
        asked = ", ".join(f"{each.key}={each.value}" for each in refused)
        raise ValueError(
            f"these settings cannot be used here: {asked}; the file was made by xpos_viz "
            f"{recipe.versions.get('xpos_viz', 'of unknown version')}."
        )
    if recipe.data != (here := data_of(state)):
        raise ValueError(
            f"the file was made from queries and keys with the fingerprint {recipe.data:.12}…, "
            f"got {here:.12}…; use the bundle that contains them."
        )
    return state


def _pictures(recipe: Recipe, state: State) -> tuple[Picture, ...]:
    """The pictures that the file shows."""
    every = PICTURES[recipe.page](state, texts(state.language or "en"))
    chosen = tuple(each for each in every if recipe.picture in ("", each.name))
    if not chosen:
        raise ValueError(
            f"unknown picture {recipe.picture!r:.40} of the page {recipe.page!r}; use one of: "
            f"{', '.join(each.name for each in every)}."
        )
    return chosen


def _moving(recipe: Recipe, state: State, report: Report) -> Sweep:
    """The picture in motion that the file shows."""
    text = texts(state.language or "en")
    parameter, words = (recipe.sweep.get(name, "") for name in ("parameter", "values"))
    try:
        values = [float(word) for word in words.split(",")]
    except ValueError as error:
        raise ValueError(
            f"a recipe has the values of a sweep between commas, got {words!r:.60}; use a file as "
            "xpos_viz wrote it."
        ) from error
    return sweep(recipe.page, recipe.picture, state, parameter, values, text, report)


def _page(recipe: Recipe, state: State, moving: Sweep | None) -> str:
    """The page that shows the picture in motion, or the hand-out."""
    text = texts(state.language or "en")
    if moving is not None:
        return animation_html(moving, text, recipe.text())
    check_choice("hand-out", recipe.page, HANDOUTS)
    return HANDOUTS[recipe.page](state, text, recipe.text())

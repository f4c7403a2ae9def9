"""A file made again from the recipe within it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from types import MappingProxyType
from zipfile import BadZipFile, ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from xpos_viz.export.data import RECIPE
from xpos_viz.export.recipe import Recipe, data_of, fingerprint
from xpos_viz.export.sweeps import Sweep, sweep
from xpos_viz.figures.recipes import recipe_of
from xpos_viz.pictures import PICTURES, Picture
from xpos_viz.pooling.sides import Report
from xpos_viz.state import State, from_address
from xpos_viz.texts import texts

SIDECAR = "recipe.json"
"""The recipe of a bundle, beside its files."""

_BLOCK = re.compile(r'<script type="application/json" id="xpos_viz">(.*?)</script>', re.DOTALL)
_MOST = 1 << 22  # bytes of a recipe at most


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
        Whether all their numbers and words are those of the file, to the last bit.
    """

    recipe: Recipe
    state: State
    pictures: tuple[Picture, ...]
    moving: Sweep | None
    same: bool


def reproduce(content: bytes, report: Report = lambda _: None) -> Reproduction:
    """Make again what a file shows.

    Parameters
    ----------
    content
        A PNG, SVG, PDF, GIF, Parquet, NPZ, HTML or ZIP file made by xpos_viz, or a recipe.
    report
        Is told the share that is done; raises to end the work.

    Raises
    ------
    ValueError
        If it holds no recipe, settings that cannot be used here, or other data than are here.
    """
    recipe = Recipe.read(recipe_in(content))
    state = _state(recipe)
    pictures = _pictures(recipe, state)
    moving = _moving(recipe, state, report) if recipe.sweep else None
    report(1.0)
    drawn = [each.description for each in pictures] if moving is None else moving.frames
    return Reproduction(recipe, state, pictures, moving, fingerprint(drawn) == recipe.numbers)


def recipe_in(content: bytes) -> str:
    """Return the recipe within a file, whatever kind of file it is.

    Raises
    ------
    ValueError
        If there is none.
    """
    read = next((read for start, read in _READERS.items() if content.startswith(start)), _in_text)
    return read(content)


def _state(recipe: Recipe) -> State:
    """All that was set, if it can be set here and has the same data here."""
    if recipe.page not in PICTURES:
        raise ValueError(f"unknown page {recipe.page!r:.40}; use one of: {', '.join(PICTURES)}.")
    state, refused = from_address(recipe.settings)
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


def _in_gif(content: bytes) -> str:
    """The recipe of a picture in motion: the file's comment."""
    try:
        with Image.open(BytesIO(content)) as image:
            return image.info.get("comment", b"").decode()
    except OSError as error:
        raise ValueError("this GIF file cannot be read; use a whole file.") from error


def _in_parquet(content: bytes) -> str:
    """The recipe of a table."""
    try:
        metadata = pq.read_schema(pa.BufferReader(content)).metadata or {}
    except pa.ArrowException as error:
        raise ValueError(f"this Parquet file cannot be read: {error!s:.80}") from error
    return metadata.get(RECIPE.encode(), b"").decode()


def _in_zip(content: bytes) -> str:
    """The recipe of a bundle, or of arrays."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            names = archive.namelist()
            found = next((name for name in (SIDECAR, f"{RECIPE}.npy") if name in names), None)
            if found is None or archive.getinfo(found).file_size > _MOST:
                raise ValueError(f"there is no recipe in this archive, got {names!r:.80}.")
            within = archive.read(found)
    except BadZipFile as error:
        raise ValueError(f"this archive cannot be read: {error}.") from error
    if found == SIDECAR:
        return within.decode()
    return str(np.load(BytesIO(within), allow_pickle=False))


def _in_text(content: bytes) -> str:
    """The recipe of a page, or a recipe itself."""
    text = content.decode("utf-8", "replace")
    block = _BLOCK.search(text)
    if block:
        return block[1]
    if "<svg" in text[:4096]:
        return recipe_of(content)
    return text


_READERS: Mapping[bytes, Callable[[bytes], str]] = MappingProxyType(
    {
        b"\x89PNG": recipe_of,
        b"%PDF": recipe_of,
        b"GIF8": _in_gif,
        b"PAR1": _in_parquet,
        b"PK": _in_zip,
    }
)
"""What finds the recipe, by how a file begins."""

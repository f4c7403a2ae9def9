"""Files of a picture: drawn, or as numbers; written whole or not at all."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from xpos_viz.export.data import RECIPE, arrays, csv, npz, parquet, tidy
from xpos_viz.export.recipe import Recipe
from xpos_viz.figures.files import KINDS
from xpos_viz.figures.paper_pen import save
from xpos_viz.pictures import Picture


@dataclass(frozen=True)
class Form:
    """A kind of file: its media type, and what makes it."""

    mime: str
    make: Callable[[Picture, Recipe], bytes]


def _drawn(kind: str, mime: str) -> Form:
    """A kind of drawing."""
    return Form(
        mime, lambda shown, recipe: save(shown.description, kind, recipe.paper, recipe.text())
    )


def _columns(shown: Picture, recipe: Recipe) -> bytes:
    """The numbers of a picture, with the recipe in the file's metadata."""
    return parquet(tidy(shown), {RECIPE: recipe.text()})


def _arrays(shown: Picture, recipe: Recipe) -> bytes:
    """What is drawn, with the recipe among it."""
    return npz({RECIPE: np.array(recipe.text()), **dict(arrays(shown.description))})


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        **{kind: _drawn(kind, mime) for kind, mime in KINDS.items()},
        "csv": Form("text/csv", lambda shown, _: csv(tidy(shown))),
        "parquet": Form("application/vnd.apache.parquet", _columns),
        "npz": Form("application/octet-stream", _arrays),
    }
)
"""Kinds of files by the ending of their names."""


def make(picture: Picture, form: str, recipe: Recipe) -> bytes:
    """Return the content of a file of a picture.

    Parameters
    ----------
    picture
        What it shows.
    form
        A key of :data:`FORMS`.
    recipe
        What the picture was made from, and the paper; all forms but CSV hold it.

    Raises
    ------
    ValueError
        For an unknown form.
    """
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r:.40}; use one of: {', '.join(FORMS)}.")
    return FORMS[form].make(picture, recipe)


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that none is left half-written.

    Raises
    ------
    OSError
        If it cannot be written; what stood there before stands there still.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"{path} could not be written: {reason}; use a folder that exists, may be written "
            f"to, and has room for {len(content):,} bytes."
        ) from error
    finally:
        beside.unlink(missing_ok=True)

"""Files of a picture: drawn, or as numbers; written whole or not at all."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from xpos_viz.choice import check_choice
from xpos_viz.export.data import NUMBERS, arrays, tidy
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


def _numbers(form: str, mime: str) -> Form:
    """A kind of numbers: a row for each, or what is drawn as arrays."""

    def made(shown: Picture, recipe: Recipe) -> bytes:
        return NUMBERS[form](tidy(shown), dict(arrays(shown.description)), recipe.text())

    return Form(mime, made)


_NUMBERS = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "npz": "application/octet-stream",
}
FORMS: Mapping[str, Form] = MappingProxyType(
    {
        **{kind: _drawn(kind, mime) for kind, mime in KINDS.items()},
        **{form: _numbers(form, mime) for form, mime in _NUMBERS.items()},
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
    check_choice("form", form, FORMS)
    return FORMS[form].make(picture, recipe)


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that none is left half-written.

    Raises
    ------
    OSError
        If it cannot be written; what stood there before stands there still.
    """
    with _beside(path, f", may be written to, and has room for {len(content):,} bytes") as beside:
        beside.write_bytes(content)
        beside.replace(path)


def check(path: Path) -> None:
    """Try if a file can be written there, before there is one.

    Raises
    ------
    OSError
        If it cannot; where there is too little room is known only in the end.
    """
    with _beside(path, " and may be written to") as beside:
        beside.touch()


@contextmanager
def _beside(path: Path, wish: str) -> Iterator[Path]:
    """A place beside another one, at which nothing stays; errors say what the folder must be."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"{path} could not be written: {reason}; use a folder that exists{wish}."
        ) from error
    finally:
        with suppress(OSError):  # as there is none
            beside.unlink()

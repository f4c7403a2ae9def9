"""Files of a picture: drawn, or as numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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

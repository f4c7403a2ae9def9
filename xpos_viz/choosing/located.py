"""Errors that know which part of a description they are about."""

from collections.abc import Iterator
from contextlib import contextmanager

Path = tuple[str | int, ...]
"""Keys, and places in lists counted from 0, from the whole to a part."""


class PartError(ValueError):
    """What is wrong with a part of a description.

    Parameters
    ----------
    message
        What is wrong, with the value and a way out.
    path
        Where the part is.
    """

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.path = path


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """Add to errors which part they are about; an outer one names the whole around it.

    Examples
    --------
    >>> try:
    ...     with at("objectives", 1), at("weight"):
    ...         raise ValueError("weight must be …")
    ... except PartError as error:
    ...     error.path
    ('objectives', 1, 'weight')
    """
    try:
        yield
    except PartError as error:
        error.path = path + error.path
        raise
    except ValueError as error:
        raise PartError(str(error), path) from error

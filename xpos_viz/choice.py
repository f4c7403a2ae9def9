"""A word that is to be one of a few."""

from collections.abc import Collection
from difflib import get_close_matches

_ALL = 24
"""Most words that are told; of more than these, some that are like the one that was asked for."""

_SOME = 6


def check_choice(what: str, word: object, legal: Collection[str]) -> None:
    """Raise ValueError, with the words there are, unless it is one of them.

    Examples
    --------
    >>> check_choice("layout", "full", ("interleaved", "half"))
    Traceback (most recent call last):
        ...
    ValueError: unknown layout 'full'; use one of: interleaved, half.
    >>> check_choice("row", "row_8", [f"row{number}" for number in range(30)])
    Traceback (most recent call last):
        ...
    ValueError: unknown row 'row_8'; use one of 30, such as: row8, row28, row18, row9, row7, row6.
    """
    if word not in tuple(legal):  # which compares also what has no hash, such as a list
        raise ValueError(f"unknown {what} {word!r:.40}; {_way_out(word, [*filter(None, legal)])}.")


def _way_out(word: object, options: list[str]) -> str:
    """The words there are, or some of many."""
    if len(options) <= _ALL:
        return f"use one of: {', '.join(options)}"
    like = get_close_matches(f"{word!s:.40}", options, _SOME, 0)
    return f"use one of {len(options)}, such as: {', '.join(like)}"

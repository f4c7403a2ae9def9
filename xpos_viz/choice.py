"""A word that is to be one of a few."""

from collections.abc import Collection


def check_choice(what: str, word: object, legal: Collection[str]) -> None:
    """Raise ValueError, with the words there are, unless it is one of them.

    Examples
    --------
    >>> check_choice("layout", "full", ("interleaved", "half"))
    Traceback (most recent call last):
        ...
    ValueError: unknown layout 'full'; use one of: interleaved, half.
    """
    if word not in legal:
        options = ", ".join(filter(None, legal))
        raise ValueError(f"unknown {what} {word!r:.40}; use one of: {options}.")

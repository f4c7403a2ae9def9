"""Words of others, as Markdown that shows them letter by letter."""

import re

_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(words: str) -> str:
    r"""Return words as Markdown that is never read as markup: each sign is escaped.

    Examples
    --------
    >>> print(plain("**bold** <b> www.example.org"))
    \*\*bold\*\* \<b\> www\.example\.org
    """
    return _SIGNS.sub(r"\\\1", words)

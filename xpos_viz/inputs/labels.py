"""How tokens are named: pieces of a text, with white space visible and split letters counted."""

from collections.abc import Iterable, Sequence
from itertools import groupby

_FRACTIONS = {(1, 2): "½", (1, 3): "⅓", (2, 3): "⅔"}
_SPACES = " \n\t\u00a0\u3000"  # that a gap may be made of
LETTERS = 8000
"""Most characters of a text that are shown to be read at once."""

_LONGEST = 40  # characters of a label; a token can be as long as its author likes


def pieces(text: str, spans: Iterable[Sequence[int]]) -> tuple[str, ...]:
    """Return the piece of a text that each token stands for, or the share of a split letter.

    Parameters
    ----------
    text
        The text.
    spans
        Where each token starts and stops in it, in characters. Tokens that follow each other
        with one span are shares of what stands there.

    Examples
    --------
    >>> pieces("to 位", [(0, 2), (2, 4), (2, 4)])
    ('to', ' 位 ½', ' 位 2/2')
    """
    runs = ((text[slice(*span)], len(list(run))) for span, run in groupby(map(tuple, spans)))
    return tuple(
        _share(piece, share, shares) for piece, shares in runs for share in range(1, shares + 1)
    )


def label(piece: str) -> str:
    r"""Return a name of a token that can be shown anywhere as text.

    White space around it is left out, or made visible where there is nothing else; what is not
    printable is left out, and a long token is cut.

    Examples
    --------
    >>> label(" lighthouse"), label(" "), label("\n"), label("\x1b\u202e")
    ('lighthouse', '␣', '⏎', '�')
    """
    shown = piece.strip() or piece.replace("\n", "⏎").replace(" ", "␣")
    shown = "".join(character for character in shown if character.isprintable()) or "�"
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def plain_text(text: str) -> str:
    r"""Return a text that can be shown anywhere: without what is neither printable nor a space.

    Examples
    --------
    >>> plain_text("tide\n\x1b\u202ebook")
    'tide\nbook'
    """
    return "".join(letter for letter in text if letter.isprintable() or letter in _SPACES)


def beginning(text: str) -> str:
    r"""Return the beginning of a text, at most :data:`LETTERS`, that can be shown anywhere.

    Examples
    --------
    >>> beginning("tide\x1bbook"), len(beginning("tide" * LETTERS)) == LETTERS
    ('tidebook', True)
    """
    return plain_text(text[:LETTERS])


def within(text: str, most: int) -> str:
    """Return the beginning of a text, of at most so many bytes in UTF-8: no letter is split.

    Examples
    --------
    >>> within("tidebook", 4), within("潮汐", 5)
    ('tide', '潮')
    """
    return text.encode()[:most].decode(errors="ignore")


def gap(piece: str) -> str:
    """Return the white space in front of a token, so that its text can be read.

    Examples
    --------
    >>> gap(" lighthouse"), gap("house")
    (' ', '')
    """
    space = piece[: len(piece) - len(piece.lstrip())]
    return "".join(letter for letter in space[:_LONGEST] if letter in _SPACES)


def _share(piece: str, share: int, shares: int) -> str:
    """A piece, and which share of it, if it is split."""
    return (
        piece if shares == 1 else f"{piece} {_FRACTIONS.get((share, shares), f'{share}/{shares}')}"
    )

"""Parts of a capture from a table of one head: a row for each token, q and then k."""

import csv
from io import StringIO

import torch

from xpos_viz.inputs.files.parts import Parts
from xpos_viz.limits import Limits


def read_csv(content: bytes, limits: Limits) -> Parts:
    """Return the parts that a table holds.

    Columns whose names begin with q and k are those, and `token` the text of a token; without
    a row of names the first half is q and the second k.
    """
    rows = _rows(content, limits)
    names, rows = (rows[0], rows[1:]) if _is_head(rows[0]) else (_plain(len(rows[0])), rows)
    columns = {
        letter: [place for place, name in enumerate(names) if name.strip().lower()[:1] == letter]
        for letter in "qkt"
    }
    widths = len(columns["q"]), len(columns["k"])
    if not rows or widths[0] != widths[1] or not widths[0] or widths[0] % 2:
        raise ValueError(
            f"the file must be .npz, .npy, .safetensors or a table with a row for each token and "
            f"as many columns of q as of k, an even number, got text that begins with "
            f"{_beginning(content)}: {len(rows)} rows, {widths[0]} columns of q and {widths[1]} of "
            "k; use commas between columns, and the names token, q0, q1 … k0, k1 …"
        )
    q, k = (
        torch.tensor(
            [[_number(row[place]) for place in columns[side]] for row in rows], dtype=torch.float64
        )
        for side in "qk"
    )
    words = {"reading": "tokens head_dim"}
    tokens = [row[columns["t"][0]] for row in rows] if columns["t"] else []
    return Parts(q, k, words | ({"tokens": tokens} if tokens else {}))


def _rows(content: bytes, limits: Limits) -> list[list[str]]:
    """The rows of a table, all of one length."""
    if len(content) > limits.letters:
        raise ValueError(
            f"a table must be at most {limits.letters:,} bytes, got {len(content):,}; "
            "use .npz, or set XPOS_VIZ_MAX_LETTERS."
        )
    try:
        rows = [row for row in csv.reader(StringIO(content.decode("utf-8-sig"), "")) if row]
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(
            f"the file must be .npz, .npy, .safetensors or a table of numbers in UTF-8, got "
            f"one that begins with {_beginning(content)}; use save_capture."
        ) from None
    lengths = sorted({len(row) for row in rows})
    if len(lengths) != 1:
        raise ValueError(
            f"the file must be .npz, .npy, .safetensors or a table with rows of one length, got "
            f"text that begins with {_beginning(content)} and lengths {lengths[:4] or 'none'}; "
            "use commas between columns."
        )
    return rows


def _beginning(content: bytes) -> str:
    """What a file begins with, as a message shows it: text, or bytes where it is none."""
    try:
        return repr(content.decode("utf-8-sig")[:16])
    except UnicodeDecodeError:
        return repr(content[:16])


def _is_head(row: list[str]) -> bool:
    """Whether a row is one of names."""
    return any(field.strip().lower()[:1] in ("q", "k", "t") for field in row)


def _plain(columns: int) -> list[str]:
    """The names of columns that have none."""
    return ["q" if place < columns // 2 else "k" for place in range(columns)]


def _number(text: str) -> float:
    """An entry as a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"a table must hold numbers, got {text!r:.40}; use the names token, q0 … k0 … above."
        ) from None

"""What the program takes at most, in one place; an operator may set each by a variable."""

import os
from dataclasses import asdict, dataclass

from xpos_viz.choice import check_choice

_PREFIX = "XPOS_VIZ_MAX_"

MODELS = "XPOS_VIZ_MODELS"
"""The variable by which an operator offers models to visitors of the dashboard.

It is a folder that holds models: folders with config.json, tokenizer and model.safetensors, or
`.gguf` files. Visitors choose among their names and type a text. Without it, or without
transformers, nothing is offered; a computer with little memory should not offer any.
"""


TRAINING = "XPOS_VIZ_TRAINING"
"""The variable by which an operator switches off that visitors train models: on or off."""


def is_on(variable: str) -> bool:
    """Return whether a variable is "on", as it is unless it is set.

    Raises
    ------
    ValueError
        If it is neither "on" nor "off".
    """
    word = os.environ.get(variable, "on")
    check_choice(variable, word, ("on", "off"))
    return word == "on"


def cap(name: str, usual: int, *, step: int = 1) -> int:
    """Read a cap that the operator may set as XPOS_VIZ_MAX_NAME, a multiple of `step`.

    Raises
    ------
    ValueError
        For a value that is none.
    """
    text = os.environ.get(_PREFIX + name, str(usual))
    plain = text.isascii() and text.isdecimal() and len(text) < 16
    if not plain or int(text) < step or int(text) % step:
        kind = "an even integer" if step == 2 else "an integer"
        raise ValueError(f"{_PREFIX}{name} must be {kind} ≥ {step}, got {text!r:.40}; use {usual}.")
    return int(text)


@dataclass(frozen=True)
class Limits:
    """What is taken of queries and keys that someone brings.

    Parameters
    ----------
    upload
        Bytes of a file (XPOS_VIZ_MAX_UPLOAD): 64 MiB. The dashboard's server takes no more than
        `server.maxUploadSize` in .streamlit/config.toml, whatever is set here. While a file is
        read, it takes up to four times its size in memory (35 MiB: 98 MiB; 56 MiB: 200 MiB).
    unpacked
        Bytes of q, and of k, once unpacked (XPOS_VIZ_MAX_UNPACKED): 64 MiB.
    letters
        Bytes of what is text in it: tokens, header, or a table (XPOS_VIZ_MAX_LETTERS): 4 MiB.
    tokens
        Queries, and keys (XPOS_VIZ_MAX_TOKENS): 4096.
    width
        Columns of a head (XPOS_VIZ_MAX_WIDTH): 1024.
    heads
        Layers × heads (XPOS_VIZ_MAX_HEADS): 2^14, such as 128 layers of 128 heads.
    cells
        Layers × heads × queries × keys (XPOS_VIZ_MAX_CELLS): 2^30, such as 64 heads of 4096
        tokens.
    kept
        Bytes of all captures that one process keeps (XPOS_VIZ_MAX_KEPT): 1 GiB. For a new one
        those go that were not looked at for the longest.
    """

    upload: int = 1 << 26
    unpacked: int = 1 << 26
    letters: int = 1 << 22
    tokens: int = 4096
    width: int = 1024
    heads: int = 1 << 14
    cells: int = 1 << 30
    kept: int = 1 << 30

    @classmethod
    def set_by_operator(cls) -> "Limits":
        """Return the limits that the environment sets, and the usual ones beside them."""
        return cls(**{name: cap(name.upper(), usual) for name, usual in asdict(cls()).items()})

    def check_size(self, layers: int, heads: int, queries: int, keys: int, width: int) -> None:
        """Raise ValueError for more tokens, columns, heads or cells than are taken."""
        if (tokens := max(queries, keys)) > self.tokens:
            raise ValueError(
                f"queries and keys must be at most {self.tokens:,} tokens, got {tokens:,}; "
                f"use a part of them, or set {_PREFIX}TOKENS."
            )
        if width > self.width:
            raise ValueError(
                f"head_dim must be at most {self.width:,}, got {width:,}; "
                f"use a part of the columns, or set {_PREFIX}WIDTH."
            )
        if layers * heads > self.heads:
            raise ValueError(
                f"layers × heads must be at most {self.heads:,}, got {layers} × {heads}; "
                f"use fewer of them, or set {_PREFIX}HEADS."
            )
        if (cells := layers * heads * queries * keys) > self.cells:
            raise ValueError(
                f"layers × heads × queries × keys must be at most {self.cells:,}, got {layers} × "
                f"{heads} × {queries} × {keys} = {cells:,}; use fewer layers or heads, or set "
                f"{_PREFIX}CELLS."
            )


LIMITS = Limits.set_by_operator()
"""The limits of this process."""

TRAINS = is_on(TRAINING)
"""Whether this process trains models."""

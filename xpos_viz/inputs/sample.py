"""Queries and keys that a real model computed, bundled with the package.

They are those of SmolLM2-135M-Instruct (Hugging Face, Apache-2.0) on four short texts,
taken where they enter the rotary embedding, so before any rotation; float16, nine query
heads over three key heads. The model's own attention is RoPE with base 100,000 and the
half layout.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.inputs.vectors import Vectors

SAMPLES: tuple[str, ...] = ("tidebook", "harbour", "pronoun", "chinese")
"""Names of the bundled captures."""

HEAD_DIM = 64
"""Width of the captured heads."""

MODEL_BASE = 100_000.0
"""The base of the model's own RoPE; at another base a sample shows no attention of the model."""

_FRACTIONS = {(1, 2): "½", (1, 3): "⅓", (2, 3): "⅔"}


@cache
def read_sample(name: str) -> Mapping[str, NDArray[Any]]:
    """Return the arrays of a bundled capture, read-only.

    Parameters
    ----------
    name
        One of :data:`SAMPLES`.

    Returns
    -------
    Mapping
        q (layers, 9, tokens, 64), k (layers, 3, tokens, 64), layers, tokens, offsets, text,
        and weights_last4, the model's own weights of the last four queries.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    if name not in SAMPLES:
        raise ValueError(f"unknown sample {name!r}; use one of: {', '.join(SAMPLES)}.")
    path = files("xpos_viz.inputs") / "samples" / f"{name}.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    for array in arrays.values():
        array.flags.writeable = False
    return MappingProxyType(arrays)


@dataclass(frozen=True)
class Sample:
    """One head of a bundled capture.

    Parameters
    ----------
    name
        One of :data:`SAMPLES`.
    layer
        One of the captured layers (:func:`layers_of`).
    head
        A query head; it reads key head `head // 3`.

    Raises
    ------
    ValueError
        For a name, layer or head that was not captured.
    """

    name: str = "tidebook"
    layer: int = 3
    head: int = 0

    def __post_init__(self) -> None:
        if type(self.layer) is not int or self.layer not in layers_of(self.name):
            legal = ", ".join(str(layer) for layer in layers_of(self.name))
            raise ValueError(f"{self.name} has no layer {self.layer!r}; use one of: {legal}.")
        if type(self.head) is not int or self.head not in range(heads_of(self.name)):
            last = heads_of(self.name) - 1
            raise ValueError(f"{self.name} has no head {self.head!r}; use 0 to {last}.")

    @property
    def head_dim(self) -> int | None:
        """The only width there is; None where any is."""
        return HEAD_DIM

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return len(read_sample(self.name)["tokens"])

    def load(self, head_dim: int) -> Vectors:
        """Return the captured vectors, which have width 64 and no other."""
        if head_dim != HEAD_DIM:
            raise ValueError(f"samples have head_dim {HEAD_DIM}, got {head_dim}; use {HEAD_DIM}.")
        arrays = read_sample(self.name)
        layer = layers_of(self.name).index(self.layer)
        group = arrays["q"].shape[1] // arrays["k"].shape[1]
        q = torch.as_tensor(arrays["q"][layer, self.head].astype(np.float64))
        k = torch.as_tensor(arrays["k"][layer, self.head // group].astype(np.float64))
        return Vectors(q, k, "half", token_labels(self.name))


def layers_of(name: str) -> tuple[int, ...]:
    """Return the numbers of the captured layers of a sample."""
    return tuple(int(layer) for layer in read_sample(name)["layers"])


def heads_of(name: str) -> int:
    """Return the number of query heads of a sample."""
    return int(read_sample(name)["q"].shape[1])


def layer_vectors(
    name: str, layer: int
) -> tuple[Float[Tensor, "heads tokens head_dim"], Float[Tensor, "key_heads tokens head_dim"]]:
    """Return the captured queries and keys of all heads of a layer, half layout.

    They are float32, which holds the captured float16 as it is. Head h reads key head h // 3,
    as :func:`xpos_viz.attention_scores` has it.
    """
    arrays, place = read_sample(name), layers_of(name).index(layer)
    q, k = (torch.as_tensor(arrays[side][place].astype(np.float32)) for side in ("q", "k"))
    return q, k


@cache
def token_labels(name: str) -> tuple[str, ...]:
    """Return one label per token of a sample: its text, or the share of a split character.

    Examples
    --------
    >>> token_labels("chinese")[:3]
    ('位 ½', '位 2/2', '置')
    """
    arrays = read_sample(name)
    text = str(arrays["text"])
    spans = [(int(start), int(stop)) for start, stop in arrays["offsets"]]
    characters = ((text[slice(*span)], len(list(shares))) for span, shares in groupby(spans))
    return tuple(
        _label(piece, share, shares)
        for piece, shares in characters
        for share in range(1, shares + 1)
    )


@cache
def token_gaps(name: str) -> tuple[str, ...]:
    """Return the white space in front of each token of a sample, so that its text can be read.

    Examples
    --------
    >>> token_gaps("pronoun")[:3], token_gaps("chinese")[:3]
    (('', ' ', ' '), ('', '', ''))
    """
    arrays = read_sample(name)
    pieces = (str(arrays["text"])[start:stop] for start, stop in arrays["offsets"])
    return tuple(piece[: len(piece) - len(piece.lstrip())] for piece in pieces)


def _label(piece: str, share: int, shares: int) -> str:
    """Name a token: its characters, white space made visible, and its share if split."""
    shown = piece.strip() or piece.replace("\n", "⏎").replace(" ", "␣")
    shown = "".join(character for character in shown if character.isprintable())
    return (
        f"{shown} {_FRACTIONS.get((share, shares), f'{share}/{shares}')}" if shares > 1 else shown
    )

"""Queries and keys that a real model computed, bundled with the package.

They are those of SmolLM2-135M-Instruct (Hugging Face, Apache-2.0) on short texts,
taken where they enter the rotary embedding, so before any rotation; float16, nine query
heads over three key heads. The model's own attention is RoPE with base 100,000 and the
half layout. A sample is made by two commands, the first for any text and layers; those of the
lessons are lantern (layers 18,23), bridge (17,22) and translation (9,15)::

    xpos-viz capture SmolLM2-135M-Instruct.Q4_1.gguf "$TEXT" --layers 18,23 --out lantern.npz
    python -m xpos_viz.models.samples FOLDER lantern.npz
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.encoding import rope
from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.labels import pieces
from xpos_viz.inputs.vectors import Vectors

SAMPLES: tuple[str, ...] = (
    *("tidebook", "harbour", "pronoun", "chinese"),
    *("lantern", "bridge", "translation"),
)
"""Names of the bundled captures."""

HEAD_DIM = 64
"""Width of the captured heads."""

MODEL_BASE = 100_000.0
"""The base of the model's own RoPE; at another base a sample shows no attention of the model."""


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
    check_choice("sample", name, SAMPLES)
    path = files("xpos_viz.inputs") / "samples" / f"{name}.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    for array in arrays.values():
        array.flags.writeable = False
    return MappingProxyType(arrays)


@cache
def sample_capture(name: str) -> Capture:
    """Return a bundled capture, with what the model's own attention is.

    Parameters
    ----------
    name
        One of :data:`SAMPLES`.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> sample_capture("pronoun").labels[:3], sample_capture("pronoun").layers
    (('The', 'trophy', 'does'), (0, 8, 16, 24, 29))
    """
    arrays = read_sample(name)
    text = str(arrays["text"])
    return Capture(
        torch.as_tensor(arrays["q"].copy()),
        torch.as_tensor(arrays["k"].copy()),
        layers=tuple(arrays["layers"].tolist()),
        tokens=pieces(text, arrays["offsets"].tolist()),
        encodings=(rope(HEAD_DIM, base=MODEL_BASE),),
        model="SmolLM2-135M-Instruct",
        text=text,
    )


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
    def capture(self) -> Capture:
        """All layers and heads of the sample."""
        return sample_capture(self.name)

    @property
    def head_dim(self) -> int | None:
        """The only width there is; None where any is."""
        return HEAD_DIM

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return len(self.capture.tokens)

    @property
    def first(self) -> int:
        """The first token that has a query."""
        return 0

    def load(self, head_dim: int) -> Vectors:
        """Return the captured vectors, which have width 64 and no other."""
        if head_dim != HEAD_DIM:
            raise ValueError(f"samples have head_dim {HEAD_DIM}, got {head_dim}; use {HEAD_DIM}.")
        return self.capture.vectors(self.layer, self.head)


def layers_of(name: str) -> tuple[int, ...]:
    """Return the numbers of the captured layers of a sample."""
    return sample_capture(name).layers


def heads_of(name: str) -> int:
    """Return the number of query heads of a sample."""
    return sample_capture(name).heads


def layer_vectors(
    name: str, layer: int
) -> tuple[Float[Tensor, "heads tokens head_dim"], Float[Tensor, "key_heads tokens head_dim"]]:
    """Return the captured queries and keys of all heads of a layer, half layout.

    They are float32, which holds the captured float16 as it is. Head h reads key head h // 3,
    as :func:`xpos_viz.attention_scores` has it.
    """
    return sample_capture(name).layer_vectors(layer)


def token_labels(name: str) -> tuple[str, ...]:
    """Return one label per token of a sample: its text, or the share of a split character.

    Examples
    --------
    >>> token_labels("chinese")[:3]
    ('位 ½', '位 2/2', '置')
    """
    return sample_capture(name).labels


def token_gaps(name: str) -> tuple[str, ...]:
    """Return the white space in front of each token of a sample, so that its text can be read.

    Examples
    --------
    >>> token_gaps("pronoun")[:3], token_gaps("chinese")[:3]
    (('', ' ', ' '), ('', '', ''))
    """
    return sample_capture(name).gaps

"""Queries and keys that are made: all ones, or drawn at random."""

from dataclasses import dataclass

import torch

from xpos_viz.choice import check_choice
from xpos_viz.entry import check_whole
from xpos_viz.inputs.vectors import Vectors

MAX_SEED = 2**31
"""The largest seed; a browser counts whole numbers safely up to far beyond it."""


@dataclass(frozen=True)
class Expectation:
    """q = k = ones: every score is 2·g[m − n], the expectation curve of the paper.

    Parameters
    ----------
    length
        Tokens.

    Raises
    ------
    ValueError
        If `length` is not an integer ≥ 1.
    """

    length: int = 512

    def __post_init__(self) -> None:
        check_whole("length", self.length, 1)

    @property
    def head_dim(self) -> int | None:
        """The only width there is; None where any is."""
        return None

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return self.length

    @property
    def first(self) -> int:
        """The first token that has a query."""
        return 0

    def load(self, head_dim: int, dtype: torch.dtype = torch.float64) -> Vectors:
        """Return the vectors at that width, of that dtype."""
        ones = torch.ones(self.length, head_dim, dtype=dtype)
        return Vectors(ones, ones, "interleaved")


@dataclass(frozen=True)
class Random:
    """Standard normal queries and keys, the same for the same seed.

    Parameters
    ----------
    length
        Tokens.
    seed
        Seed of the generator.
    keys
        "same" (k = q) or "independent".

    Raises
    ------
    ValueError
        If `length` or `seed` is not an integer in range, or `keys` is unknown.
    """

    length: int = 512
    seed: int = 0
    keys: str = "same"

    def __post_init__(self) -> None:
        check_whole("length", self.length, 1)
        check_whole("seed", self.seed, 0)
        if self.seed > MAX_SEED:
            raise ValueError(f"seed must be at most {MAX_SEED}, got {self.seed}; use 0.")
        check_choice("keys", self.keys, ("same", "independent"))

    @property
    def head_dim(self) -> int | None:
        """The only width there is; None where any is."""
        return None

    @property
    def tokens(self) -> int:
        """How many tokens there are."""
        return self.length

    @property
    def first(self) -> int:
        """The first token that has a query."""
        return 0

    def load(self, head_dim: int, dtype: torch.dtype = torch.float64) -> Vectors:
        """Return the vectors at that width, of that dtype; each dtype draws its own numbers."""
        generator = torch.Generator().manual_seed(self.seed)
        q, k = torch.randn(2, self.length, head_dim, generator=generator, dtype=dtype).unbind()
        return Vectors(q, q if self.keys == "same" else k, "interleaved")

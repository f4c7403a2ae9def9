"""How much memory a capture needs, said before anything is loaded."""

from dataclasses import dataclass

from xpos_viz.models.library import library


@dataclass(frozen=True)
class Estimate:
    """Memory that a capture needs, bytes.

    Parameters
    ----------
    weights
        For the model while it is loaded; 0 if it is there.
    attention
        For the attention of one layer, which is formed whole.
    vectors
        For the queries and keys that are kept.
    free
        What is free.
    """

    weights: int
    attention: int
    vectors: int
    free: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.attention + self.vectors

    def __str__(self) -> str:
        """Say it."""
        return (
            f"about {amount(self.total)} ({amount(self.weights)} for weights, "
            f"{amount(self.attention)} for attention, {amount(self.vectors)} for queries and "
            f"keys), and {amount(self.free)} are free"
        )

    def check(self) -> None:
        """Raise MemoryError if there is not enough."""
        if self.total > self.free:
            raise MemoryError(
                f"this capture needs {self}; use a smaller model, bfloat16, fewer layers or a "
                "shorter text."
            )


_COPIES = 4  # of a layer's attention: scores, with the mask, in float32, and its weights


def estimate(
    weights: int, size: int, heads: int, columns: int, layers: int, tokens: int
) -> Estimate:
    """Return what a capture needs.

    Parameters
    ----------
    weights
        Bytes that loading takes.
    size
        Bytes of a number of queries and keys.
    heads
        Query heads of a layer.
    columns
        Of the queries and keys of a layer, all heads together.
    layers
        How many layers are kept.
    tokens
        How many tokens are read.

    Examples
    --------
    >>> estimate(2 * 10**9, 2, 32, 5120, 16, 1000).total
    2675840000
    """
    return Estimate(
        weights=weights,
        attention=_COPIES * 4 * heads * tokens**2,
        vectors=size * layers * columns * tokens,
        free=library("psutil").virtual_memory().available,
    )


def amount(count: int) -> str:
    """Write bytes.

    Examples
    --------
    >>> amount(0), amount(54_321_000), amount(13_500_000_000)
    ('0 MB', '54 MB', '13.5 GB')
    """
    return f"{count / 1e6:.0f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"

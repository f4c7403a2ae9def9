r"""Masks as data: which keys a query may attend to.

Every mask here is an interval of key positions for each query position m,

.. math:: \mathrm{first}(m) \le n \le \mathrm{last}(m)

written as a word, with a size in tokens where it has one: `"causal"`, `"none"`,
`"sliding:256"`, `"blockwise:512"`. A kind of mask is a function from m and the size to
the interval's ends, under the :func:`mask_kind` decorator.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

PositionTensor = Float[Tensor, "..."]
Ends = Callable[[PositionTensor, float], tuple[PositionTensor, PositionTensor]]


@dataclass(frozen=True)
class MaskKind:
    """A row of the registry: a mask's name, whether it has a size, its formula and source."""

    name: str
    sized: bool
    formula: str
    source: str
    ends: Ends

    @property
    def spelling(self) -> str:
        """How masks of this kind are written."""
        return f"{self.name}:size" if self.sized else self.name


MASKS: dict[str, MaskKind] = {}
"""All kinds of masks, by name."""


def mask_kind(
    name: str, *, sized: bool = False, formula: str, source: str
) -> Callable[[Ends], Ends]:
    """Register a function from query positions and a size to the ends of what they see."""

    def register(ends: Ends) -> Ends:
        MASKS[name] = MaskKind(name, sized, formula, source, ends)
        return ends

    return register


@dataclass(frozen=True)
class Mask:
    """A mask: the name of its kind and, where that has one, its size.

    Parameters
    ----------
    name
        A key of :data:`MASKS`.
    size
        Tokens; None for a mask without a size.

    Raises
    ------
    ValueError
        For an unknown name, or a size that is missing, needless, or no integer ≥ 1.

    Examples
    --------
    >>> import torch
    >>> str(Mask("sliding", 2)), Mask.of("sliding:2") == Mask("sliding", 2)
    ('sliding:2', True)
    >>> Mask("sliding", 2).visible(torch.arange(3.0), torch.arange(3.0)).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """

    name: str
    size: int | None = None

    def __post_init__(self) -> None:
        kind = MASKS.get(self.name)
        whole = isinstance(self.size, int) and not isinstance(self.size, bool) and self.size >= 1
        if kind is None or (not whole if kind.sized else self.size is not None):
            written = self.name if self.size is None else f"{self.name}:{self.size}"
            raise ValueError(_refusal(written))

    def __str__(self) -> str:
        """Return how the mask is written."""
        return self.name if self.size is None else f"{self.name}:{self.size}"

    @classmethod
    def of(cls, mask: object) -> "Mask":
        """Return the mask that a word describes, or the mask itself.

        Raises
        ------
        ValueError
            For a word that describes no mask.
        """
        if isinstance(mask, Mask):
            return mask
        if not isinstance(mask, str):
            raise ValueError(_refusal(mask))
        name, colon, size = mask.partition(":")
        if colon and not (size.isascii() and size.isdecimal() and len(size) < 16):
            raise ValueError(_refusal(mask))
        return cls(name, int(size) if colon else None)

    def ends(self, query_positions: PositionTensor) -> tuple[PositionTensor, PositionTensor]:
        """Return the first and the last key position that queries at m see, both included."""
        return MASKS[self.name].ends(query_positions, float(self.size or 0))

    def visible(
        self,
        query_positions: Float[Tensor, "*batch query_tokens"],
        key_positions: Float[Tensor, "*batch key_tokens"],
    ) -> Bool[Tensor, "*batch query_tokens key_tokens"]:
        """Return which keys at n each query at m may attend to (True)."""
        first, last = (end[..., :, None] for end in self.ends(query_positions))
        keys = key_positions[..., None, :]
        return (keys >= first) & (keys <= last)


def _refusal(mask: object) -> str:
    """What is said about a mask that there is not."""
    legal = ", ".join(kind.spelling for kind in MASKS.values())
    return f"unknown mask {mask!r:.60}; use one of: {legal} (size ≥ 1 token), or a bool tensor."


def _everywhere(m: PositionTensor, end: float) -> PositionTensor:
    """The same end for every query."""
    return torch.full_like(m, end)


@mask_kind("causal", formula="n ≤ m", source="Vaswani et al. 2017, arXiv:1706.03762")
def _causal(m: PositionTensor, _: float) -> tuple[PositionTensor, PositionTensor]:
    """Keys at or before the query."""
    return _everywhere(m, -math.inf), m


@mask_kind("none", formula="every n", source="Vaswani et al. 2017, arXiv:1706.03762")
def _none(m: PositionTensor, _: float) -> tuple[PositionTensor, PositionTensor]:
    """All keys."""
    return _everywhere(m, -math.inf), _everywhere(m, math.inf)


@mask_kind(
    "sliding",
    sized=True,
    formula="m − size < n ≤ m",
    source="Beltagy et al. 2020, arXiv:2004.05150, causal as in Mistral 7B, arXiv:2310.06825",
)
def _sliding(m: PositionTensor, size: float) -> tuple[PositionTensor, PositionTensor]:
    """The last `size` keys, the query's own position among them."""
    return torch.nextafter(m - size, m), m


@mask_kind(
    "blockwise",
    sized=True,
    formula="(⌊m/size⌋ − 1)·size ≤ n ≤ m",
    source="Sun et al. 2022, arXiv:2212.10554, §3.3, where size is half the training length",
)
def _blockwise(m: PositionTensor, size: float) -> tuple[PositionTensor, PositionTensor]:
    """The query's own block, causally, and the whole block before it."""
    return ((m / size).floor() - 1) * size, m

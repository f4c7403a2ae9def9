"""What reads: a small causal transformer over bytes, with any encoding of the registry.

All that differs between two models of a setting and a seed is the encoding: their weights begin
equal, and they read the same bytes in the same order.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from xpos_viz.choice import check_choice
from xpos_viz.encoding import REGISTRY, Encoding, alibi, alibi_slopes, nope, rope, xpos
from xpos_viz.entry import check_whole, is_finite
from xpos_viz.masks import Mask
from xpos_viz.module import RotaryXPos
from xpos_viz.precision import largest_position

BYTES = 256
"""What a model reads and predicts."""

REACH = 16
"""Up to how many training lengths models read."""

_HEAD_DIM = 32  # of all contenders but ALiBi
_ROWS = 256  # queries that meet their keys at once under a mask
_ROOM = 1e8  # what products of a query and a key may be, beside the growth of their factors


_LEAST = {"length": 2, "layers": 1, "width": 1, "batch": 1, "steps": 1}
_TOO_MANY = 100_000_000


@dataclass(frozen=True)
class Setting:
    """How large a model is, and how it is trained.

    Parameters
    ----------
    name
        How it is called.
    length
        L, the training length, tokens (bytes).
    layers, width
        Of the transformer.
    batch, steps
        Texts of length L that are read at once, and how often.
    rate
        The largest learning rate.

    Raises
    ------
    ValueError
        For numbers that are none, or too small or too large.
    """

    name: str
    length: int
    layers: int
    width: int
    batch: int
    steps: int
    rate: float

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            check_whole(name, getattr(self, name), least, below=_TOO_MANY)
        if not is_finite(self.rate) or self.rate <= 0:
            raise ValueError(f"rate must be above 0, got {self.rate!r}; use 0.003.")

    @property
    def longest(self) -> int:
        """The longest text that its models read, tokens."""
        return REACH * self.length


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        row.name: row
        for row in (
            Setting("quick", length=64, layers=2, width=64, batch=32, steps=600, rate=4e-3),
            Setting("main", length=128, layers=4, width=128, batch=32, steps=1300, rate=3e-3),
        )
    }
)
"""One for a minute, and one for a few."""


def encoding_of(setting: Setting, name: str) -> Encoding:
    """Return a contender, or another encoding of the registry with its usual values.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    known = contenders(setting)
    check_choice("encoding", name, dict.fromkeys([*known, *REGISTRY]))
    return known[name] if name in known else Encoding(name, (("head_dim", _HEAD_DIM),))


@lru_cache(maxsize=16)
def contenders(setting: Setting) -> Mapping[str, Encoding]:
    """Return the encodings that are compared at a setting, by name.

    ALiBi's heads are narrower where there would be too few slopes of them.
    """
    narrow = min(_HEAD_DIM, setting.width // 4)
    return MappingProxyType(
        {
            "rope": rope(_HEAD_DIM),
            "xpos_half": xpos(_HEAD_DIM, scale_base=setting.length / 2),
            "xpos_512": xpos(_HEAD_DIM, scale_base=512.0),
            "alibi": alibi(narrow, slope=alibi_slopes(setting.width // narrow)),
            "nope": nope(_HEAD_DIM),
        }
    )


@dataclass(frozen=True, eq=False)
class Sight:
    """What some queries see.

    Parameters
    ----------
    queries, keys
        Places of the queries, and of all keys that any of them sees.
    added
        What is added to their logits: a bias, and −∞ for keys that are hidden. None for all of a
        text under a causal mask, which needs nothing.
    """

    queries: slice
    keys: slice
    added: Float[Tensor, "1 #heads queries keys"] | None


class Transformer(nn.Module):
    r"""A causal transformer over bytes (pre-norm; Vaswani et al. 2017), tied at both ends.

    Parameters
    ----------
    setting
        How large it is.
    encoding
        Its width gives the heads: as many as fit the model's width.
    seed
        Of the weights that it begins with.

    Raises
    ------
    ValueError
        If heads do not fit the width, or the encoding grows beyond float32 in the longest text.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> model = Transformer(SETTINGS["quick"], rope(32), seed=0)
    >>> model(torch.tensor([list(b"six tokens")])).shape
    torch.Size([1, 10, 256])
    """

    def __init__(self, setting: Setting, encoding: Encoding, *, seed: int) -> None:
        super().__init__()
        check_trainable(setting, encoding)
        self.setting, self.encoding = setting, encoding
        self.embedding = nn.Embedding(BYTES, setting.width)
        blocks = nn.ModuleList(_Block(setting, encoding) for _ in range(setting.layers))
        self.blocks = cast("list[_Block]", blocks)
        self.norm = nn.LayerNorm(setting.width, bias=False)
        self._begin(seed)

    def forward(
        self, tokens: Int[Tensor, "texts tokens"], mask: Mask | str = "causal"
    ) -> Float[Tensor, "texts tokens 256"]:
        """Return the logits of the byte after each token, of those that the mask lets it see."""
        *_, x = self._stream(tokens, mask)
        return self.norm(x) @ self.embedding.weight.T

    def listen(
        self, tokens: Int[Tensor, "texts tokens"], mask: Mask | str = "causal"
    ) -> list[tuple[Tensor, Tensor]]:
        """Return q and k of each layer before the encoding, (texts, heads, tokens, d) each."""
        entering = self._stream(tokens, mask)
        vectors = (
            block.attention.vectors(block.before(x))
            for block, x in zip(self.blocks, entering, strict=False)
        )
        return [(q, k) for q, k, _ in vectors]

    def _stream(self, tokens: Tensor, mask: Mask | str) -> Iterator[Tensor]:
        """What enters each block, and what leaves the last."""
        x = self.embedding(tokens)
        sights = self.blocks[0].attention.sights(tokens.shape[-1], mask)
        yield x
        for block in self.blocks:
            x = block(x, sights)
            yield x

    def _begin(self, seed: int) -> None:
        """Draw the weights; what adds to the stream begins smaller, the deeper the model is."""
        chance = torch.Generator().manual_seed(seed)
        deep = (2 * self.setting.layers) ** -0.5
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                spread = 0.02 * (deep if name.endswith("onward.weight") else 1.0)
                nn.init.normal_(weight, std=spread, generator=chance)


class _Block(nn.Module):
    """Attention, then each token for itself; both add to what runs through."""

    def __init__(self, setting: Setting, encoding: Encoding) -> None:
        super().__init__()
        width = setting.width
        self.before = nn.LayerNorm(width, bias=False)
        self.attention = Attention(width, encoding, setting.longest / 2)
        self.between = nn.LayerNorm(width, bias=False)
        self.widen = nn.Linear(width, 4 * width, bias=False)
        self.onward = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, sights: Sequence[Sight]) -> Tensor:
        """Return what runs on."""
        x = x + self.attention(self.before(x), sights)
        return x + self.onward(nn.functional.gelu(self.widen(self.between(x))))


class Attention(nn.Module):
    """Causal attention whose queries and keys an encoding turns and scales."""

    def __init__(self, width: int, encoding: Encoding, middle: float) -> None:
        super().__init__()
        self.heads, self.middle = width // encoding.head_dim, middle
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.rotary = RotaryXPos(encoding)
        self.onward = nn.Linear(width, width, bias=False)

    def vectors(self, x: Float[Tensor, "texts tokens width"]) -> Tensor:
        """Return q, k and v before any encoding, (3, texts, heads, tokens, d)."""
        return self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)

    def sights(self, tokens: int, mask: Mask | str) -> list[Sight]:
        """Return what the queries of a text see in all layers, some of them at a time."""
        mask = Mask.of(mask)
        if mask == Mask("causal") and self.rotary.encoding.bias is None:
            return [Sight(slice(None), slice(None), None)]
        return [
            self._sight(start, min(start + _ROWS, tokens), tokens, mask)
            for start in range(0, tokens, _ROWS)
        ]

    def forward(self, x: Tensor, sights: Sequence[Sight]) -> Tensor:
        """Return what each token reads."""
        q, k, v = self.vectors(x)
        q, k = self.rotary(q, k, origin=self.middle)
        read = [
            scaled_dot_product_attention(
                *(q[..., some.queries, :], k[..., some.keys, :], v[..., some.keys, :], some.added),
                is_causal=some.added is None,
                scale=self.rotary.logit_factor,
            )
            for some in sights
        ]
        whole = torch.cat(read, -2) if len(read) > 1 else read[0]  # one is not copied
        return self.onward(whole.transpose(1, 2).flatten(2))

    def _sight(self, start: int, stop: int, tokens: int, mask: Mask) -> Sight:
        """What queries from start to stop see."""
        m = torch.arange(start, stop, dtype=torch.float64)
        first, last = mask.ends(m)
        keys = range(math.ceil(max(0.0, first.min())), int(min(tokens - 1.0, last.max())) + 1)
        n = torch.arange(keys.start, keys.stop)
        shape = torch.empty(1, self.heads, 1, self.rotary.encoding.head_dim)
        q, k = (shape.expand(-1, -1, len(at), -1) for at in (m, n))
        added = self.rotary.attn_mask(q, k, mask=mask, query_positions=m, key_positions=n)
        # the kernel that never holds all weights takes four dimensions
        added = added.reshape(1, -1, len(m), len(n))
        return Sight(slice(start, stop), slice(keys.start, keys.stop), added)


def check_trainable(setting: Setting, encoding: Encoding) -> None:
    """Raise ValueError unless heads fit the width, and float32 holds the longest text."""
    if setting.width % encoding.head_dim:
        raise ValueError(
            f"a width of {setting.width} must be a multiple of head_dim, got "
            f"{encoding.head_dim}; use 32."
        )
    if encoding.heads not in (None, setting.width // encoding.head_dim):
        raise ValueError(
            f"an encoding must have values for {setting.width // encoding.head_dim} heads, got "
            f"{encoding.heads}; use another head_dim, or one value for all heads."
        )
    if (most := largest_position(encoding, torch.float32, _ROOM)) < setting.longest:
        raise ValueError(
            f"an encoding must hold {setting.longest} tokens in float32, got {encoding!r}, which "
            f"holds {most}; use a larger scale_base."
        )

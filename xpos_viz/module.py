r"""A drop-in layer: queries and keys in, rotated and scaled queries and keys out.

:class:`RotaryXPos` is the factor form of :func:`xpos_viz.apply_encoding` for models that
are trained, compiled and decoded with a cache. It has no parameters and nothing in its
state_dict, and keeps its rates in float64 whatever dtype the model is cast to.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from xpos_viz.attention import AnyMask, root_scale, visible_keys
from xpos_viz.encoding import Encoding
from xpos_viz.entry import (
    DTYPES,
    FAR,
    Layout,
    Rates,
    check_batches,
    check_layout,
    check_origin,
    check_vectors,
    placed,
    share_heads,
    table_device,
)
from xpos_viz.kernel import turn

_COARSE = (torch.bool, torch.float16, torch.bfloat16)  # they cannot count tokens


@dataclass(frozen=True, eq=False)
class KeyCache:
    """Keys as :meth:`RotaryXPos.decode` keeps them: turned about one origin.

    Parameters
    ----------
    keys
        k' of the last L tokens, (…, L, d).
    tokens
        How many tokens there have been: the position of the next one.
    origin
        o, the position about which the keys are turned.
    """

    keys: Float[Tensor, "*batch key_tokens head_dim"]
    tokens: int
    origin: int

    @property
    def positions(self) -> Int[Tensor, " key_tokens"]:
        """Where the keys stand, tokens."""
        start = self.tokens - self.keys.shape[-2]
        return torch.arange(start, self.tokens, device=self.keys.device)

    def last(self, tokens: int) -> "KeyCache":
        """Return a cache of the last keys only, for a sliding window in bounded memory.

        Raises
        ------
        ValueError
            If `tokens` is negative.
        """
        if tokens < 0:
            raise ValueError(f"a cache keeps ≥ 0 tokens, got {tokens!r}; use 0 to keep none.")
        return replace(self, keys=self.keys[..., max(0, self.keys.shape[-2] - tokens) :, :])


class RotaryXPos(nn.Module):
    r"""Rotate and scale queries and keys by an encoding, for scaled_dot_product_attention.

    Parameters
    ----------
    encoding
        Any encoding: :func:`xpos_viz.xpos`, :func:`xpos_viz.rope`, …
    layout
        How columns form pairs: "interleaved" (2i, 2i+1) or "half" (i, i + d/2).

    Raises
    ------
    ValueError
        For an unknown layout; when called, for widths, heads, dtypes or positions that do
        not fit. The values of positions are not looked at, so that the layer compiles.

    Notes
    -----
    An encoding's temperature and bias belong to the logits, so q' and k' do not have them:
    pass :attr:`logit_factor` as `scale=` and :meth:`attn_mask` as `attn_mask=`. Without a bias and
    with as many queries as keys, `is_causal=True` does the same as the mask. A score whose
    key is after its query grows with their distance, and ∞ − ∞ is NaN: where attention adds a
    mask to all scores, one call may span :func:`xpos_viz.precision.largest_position` tokens.

    Examples
    --------
    A whole attention layer, which takes sequences at once or goes on from a cache. For
    training alone, `q, k = self.rotary(q, k)` is enough.

    >>> import torch
    >>> from torch import nn
    >>> from torch.nn.functional import scaled_dot_product_attention
    >>> from xpos_viz import xpos
    >>> from xpos_viz.module import RotaryXPos
    >>> class Attention(nn.Module):
    ...     def __init__(self, width, heads):
    ...         super().__init__()
    ...         self.heads, self.project = heads, nn.Linear(width, 3 * width)
    ...         self.rotary = RotaryXPos(xpos(width // heads))
    ...
    ...     def forward(self, x, cache=None, values=None):
    ...         q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
    ...         q, cache = self.rotary.decode(q, k, cache)
    ...         values = v if values is None else torch.cat([values, v], -2)
    ...         mask = self.rotary.attn_mask(q, cache.keys)
    ...         y = scaled_dot_product_attention(
    ...             q, cache.keys, values, mask, scale=self.rotary.logit_factor
    ...         )
    ...         return y.transpose(1, 2).flatten(2), cache, values
    >>> layer, x = Attention(16, heads=2), torch.randn(1, 5, 16)
    >>> whole, _, _ = layer(x)
    >>> start, *state = layer(x[:, :3])
    >>> rest, *state = layer(x[:, 3:], *state)
    >>> torch.allclose(torch.cat([start, rest], 1), whole, atol=1e-6)
    True
    """

    _bits: Int[Tensor, "*heads pairs 2"]

    def __init__(self, encoding: Encoding, *, layout: Layout = "interleaved") -> None:
        super().__init__()
        check_layout(layout)
        self.encoding = encoding
        self.layout: Layout = layout
        temperatures = torch.as_tensor(encoding.temperature, dtype=torch.float64)
        scale = root_scale(encoding)
        self._factors = [scale * float(each) for each in temperatures.reshape(-1)]
        self._width = encoding.rotary_width
        self._bias = encoding.bias
        fastest = -float(encoding.log_decay.min())
        self._chunks = {dtype: _chunk(fastest, dtype) for dtype in DTYPES}
        self.register_buffer("_bits", _bits(encoding), persistent=False)

    def forward(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*key_batch key_tokens head_dim"],
        query_positions: Tensor | None = None,
        key_positions: Tensor | None = None,
        *,
        origin: float = 0.0,
    ) -> tuple[
        Float[Tensor, "*turned_batch query_tokens head_dim"],
        Float[Tensor, "*turned_key_batch key_tokens head_dim"],
    ]:
        r"""Rotate and scale queries and keys of one sequence, as :func:`xpos_viz.apply_encoding`.

        Parameters
        ----------
        q, k
            Queries (…, H_q, L_q, d) and keys (…, H_k, L_k, d), of one floating dtype; H_q
            may be a multiple of H_k (then attend with `enable_gqa=True`).
        query_positions, key_positions
            Tensors of positions in tokens, (L,) or (batch, L), of an integer dtype, float32
            or float64. Keys stand at 0 … L_k−1 and queries at the last L_q positions of the
            keys unless told otherwise.
        origin
            o, tokens: the position that is left as it is. The middle of the longest
            sequence doubles the length that a dtype can hold (:mod:`xpos_viz.precision`).

        Returns
        -------
        tuple of Tensor
            q' and k', of the dtype and device of q and k. Where an encoding has rates for
            each head, k' has as many heads as q'.
        """
        check_origin(origin)
        rates = self._rates_for(q, k)
        given = _real(query_positions, "query_positions"), _real(key_positions, "key_positions")
        m, n = placed(q.shape[-2], k.shape[-2], *given)
        check_batches(q, k, m, n)
        return self._turned(q, k, rates, m - origin, n - origin)

    def decode(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*key_batch new_tokens head_dim"],
        cache: KeyCache | None = None,
    ) -> tuple[Float[Tensor, "*turned_batch query_tokens head_dim"], KeyCache]:
        r"""Add new keys to a cache, and turn the queries that shall meet all of its keys.

        Keys are kept as :math:`k\,e^{-\bar\lambda(n - o)}`. Before a factor can overflow, the
        origin o moves on by a shift and the keys are multiplied by :math:`e^{\bar\lambda\,
        shift}`, whose size is ζ^(shift/B) ≤ 1, so decoding can go on forever. Keys that fade
        to zero on the way are right: their scores are zero in that dtype.

        Parameters
        ----------
        q, k
            Queries and keys of the new tokens; queries stand at the last L_q positions. The
            first call may bring a whole prompt, cut into chunks where XPos asks for it.
        cache
            What the last call returned; None is an empty cache. It is not changed.

        Returns
        -------
        tuple
            q', and the cache whose `keys` are the k' to attend to.

        Raises
        ------
        ValueError
            If there are more queries than new keys, or than :meth:`chunk` allows, or if the
            cache does not fit the keys.

        Notes
        -----
        The cache grows by one key a token. How long it may become is the caller's business:
        :meth:`KeyCache.last` keeps a window of it. Left padding needs a mask only, since a
        score depends on the lag alone. A key that is re-based N times is rounded N times
        more, by up to eps each, after each :meth:`chunk` of tokens.
        """
        rates = self._rates_for(q, k)
        chunk = self.chunk(k.dtype)
        if not q.shape[-2] <= min(k.shape[-2], chunk):
            raise ValueError(
                f"q must have at most as many tokens as k and at most {chunk} of {k.dtype}, got "
                f"{q.shape[-2]} beside {k.shape[-2]} of k; use the last ones, or smaller chunks."
            )
        start = 0 if cache is None else cache.tokens
        tokens = start + k.shape[-2]
        first = tokens - q.shape[-2]
        origin = first - first % chunk
        offsets = torch.arange(start - origin, tokens - origin, dtype=torch.float64)
        turned_q, keys = self._turned(q, k, rates, offsets[first - start :], offsets)
        if cache is not None:
            keys = torch.cat([self._rebased(cache, keys, rates, origin), keys], -2)
        return turned_q, KeyCache(keys, tokens, origin)

    @property
    def logit_factor(self) -> float:
        """The encoding's temperature / √d, for `scaled_dot_product_attention(scale=…)`.

        Raises
        ------
        ValueError
            If heads have temperatures of their own, which one scale cannot hold.
        """
        if len(self._factors) > 1:
            raise ValueError(
                f"logit_factor must be one number, got {self.encoding!r} with temperatures of "
                f"{len(self._factors)} heads; use q * encoding.temperature, and None for 1/√d."
            )
        return self._factors[0]

    def chunk(self, dtype: torch.dtype) -> int:
        """How many queries :meth:`decode` takes at a time in a dtype; 2^53 without decay.

        A chunk and what came since the origin then grow by no more than the square root of
        the dtype's largest number.

        Examples
        --------
        >>> from xpos_viz import xpos
        >>> RotaryXPos(xpos(64)).chunk(torch.bfloat16)
        9064
        """
        if dtype not in self._chunks:
            legal = ", ".join(str(known) for known in self._chunks)
            raise ValueError(f"dtype must be one of {legal}, got {dtype}; use torch.float32.")
        return self._chunks[dtype]

    def attn_mask(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*key_batch key_tokens head_dim"],
        *,
        mask: AnyMask = "causal",
        query_positions: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Float[Tensor, "*mask_batch query_tokens key_tokens"]:
        r"""The encoding's bias, and −inf where a mask hides a key: an `attn_mask` to add.

        Parameters
        ----------
        q, k
            Queries and keys; only their shapes, dtype and device count.
        mask
            As in :func:`xpos_viz.attention_logits`.
        query_positions, key_positions
            As in :meth:`forward`. A lag is all that counts, except for blockwise masks.

        Returns
        -------
        Tensor
            (L_q, L_k), with heads or a batch before it where the bias or positions have them;
            dtype and device of q.

        Raises
        ------
        ValueError
            For a mask or positions that do not fit.
        """
        given = _real(query_positions, "query_positions"), _real(key_positions, "key_positions")
        m, n = (at.to(table_device(q.device)) for at in placed(q.shape[-2], k.shape[-2], *given))
        check_batches(q, k, m, n)
        lags = m[..., :, None] - n[..., None, :]
        bias = torch.zeros_like(lags) if self._bias is None else self._bias(lags)
        visible = visible_keys(mask, m, n)
        if lags.ndim > 2:
            bias = _beside(bias, q)
            visible = visible if isinstance(mask, Tensor) else _beside(visible, q)
        return torch.where(visible.to(bias.device), bias, -math.inf).to(q)

    def extra_repr(self) -> str:
        """Return what stands between the brackets when the layer is printed."""
        return f"{self.encoding!r}, layout={self.layout!r}"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the bias, a function that may be unfit for pickling."""
        return {name: value for name, value in self.__dict__.items() if name != "_bias"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the layer, and derive the bias anew."""
        # torch gives the argument of Module.__setstate__ no type
        super().__setstate__(state)  # pyright: ignore[reportUnknownMemberType]
        self._bias = self.encoding.bias

    def _rates_for(self, q: Tensor, k: Tensor) -> Rates:
        """The rates, on the device where tables for q are formed, once q and k are known to fit."""
        bits = self._bits.to(table_device(q.device))
        rates = torch.view_as_complex(bits.view(torch.float64))
        check_vectors(q, k, self.encoding, rates, self.layout)
        return rates

    def _turned(
        self, q: Tensor, k: Tensor, rates: Rates, m: Tensor, n: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Turn q and k, which stand at these offsets from their origin."""
        if rates.ndim > 1:
            k = share_heads(k, q)
        how = (self.layout, self._width)
        m, n = (offsets.to(rates.device) for offsets in (m, n))
        return turn(q, rates, m, *how), turn(k, -rates.conj(), n, *how)

    def _rebased(self, cache: KeyCache, keys: Tensor, rates: Rates, origin: int) -> Tensor:
        """The keys of a cache about another origin."""
        kept = cache.keys
        if (kept.shape[:-2], kept.dtype) != (keys.shape[:-2], keys.dtype):
            raise ValueError(
                f"the cache must fit keys {tuple(keys.shape)} of {keys.dtype}, got "
                f"{tuple(kept.shape)} of {kept.dtype}; use None to start another cache."
            )
        if origin == cache.origin:
            return kept
        shift = torch.tensor([float(origin - cache.origin)], dtype=torch.float64)
        return turn(kept, rates.conj(), shift.to(rates.device), self.layout, self._width)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move or cast the layer; the rates are derived anew, also after `to_empty`."""
        # torch gives the arguments of Module._apply no type
        super()._apply(fn, recurse)  # pyright: ignore[reportUnknownMemberType]
        self._bits = _bits(self.encoding).to(self._bits.device)
        return self


def _beside(cells: Tensor, q: Tensor) -> Tensor:
    """Cells (batch, …, L_q, L_k) with room for the heads of q."""
    gap = [1] * (q.ndim - cells.ndim)
    return cells.reshape(cells.shape[0], *gap, *cells.shape[1:])


def _chunk(fastest: float, dtype: torch.dtype) -> int:
    """How many tokens grow at the fastest rate by the fourth root of a dtype's largest number."""
    room = math.log(torch.finfo(dtype).max) / 4
    return int(max(1.0, min(FAR, room / fastest))) if fastest else int(FAR)


def _bits(encoding: Encoding) -> Int[Tensor, "*heads pairs 2"]:
    """The rates of an encoding, their float64 bits as integers, which no cast of a model rounds."""
    return torch.view_as_real(encoding.rates).view(torch.int64)


def _real(positions: object, name: str) -> Float[Tensor, "..."] | None:
    """Positions in float64, if their dtype can count tokens."""
    if positions is None:
        return None
    if not isinstance(positions, Tensor) or positions.dtype in _COARSE or positions.is_complex():
        kind = getattr(positions, "dtype", type(positions).__name__)
        raise ValueError(
            f"{name} must be a tensor of integers, float32 or float64, got {kind}; "
            "use torch.arange(8), for instance."
        )
    return positions.double()

r"""What a model computed on a text: queries and keys of its layers and heads, and what it does.

A :class:`Capture` holds q and k before any position encoding, in the dtype they came in, and
in words all that the model's own attention needs beside them: encoding, mask and factor of
each layer, and a cap on the logits.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout, check_layout
from xpos_viz.inputs.checks import (
    check_encoding,
    check_factors,
    check_layers,
    check_texts,
    check_vectors,
    each_layer,
    positions_of,
    row,
)
from xpos_viz.inputs.labels import gap, label
from xpos_viz.inputs.vectors import Vectors
from xpos_viz.kernel import attention_scores, turn
from xpos_viz.masks import Mask


def _usual() -> Tensor:
    """Positions that are not given."""
    return torch.empty(0, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class Capture:
    r"""Queries and keys of a model's layers and heads, before any position encoding.

    What is left empty has its usual value. `encodings`, `masks` and `scales` hold one value for
    each layer, or one for all of them. Query head h reads key head ⌊h·H_k/H_q⌋. Its tensors are
    not to be changed.

    Parameters
    ----------
    q
        (layers, heads, queries, d), float16, bfloat16, float32 or float64, within ±10¹⁵; d is even.
    k
        (layers, key_heads, keys, d), of the same dtype; the heads of q are a multiple of its.
    layers
        The numbers of the layers in their model, ascending; usually 0, 1, 2 …
    layout
        How columns form pairs: "half" (i, i + d/2), or "interleaved" (2i, 2i+1).
    tokens
        The piece of text of each key, with the white space in front of it
        (:func:`xpos_viz.inputs.labels.pieces`); none where there is no text.
    query_positions, key_positions
        (queries,) and (keys,), tokens; usually keys stand at 0, 1, 2 … and queries at the last
        positions of the keys.
    encodings
        The model's own encodings, of width d; usually None, not known.
    masks
        The model's own masks, words of :mod:`xpos_viz.masks`; usually "causal".
    scales
        The model's own factor on its scores; usually 1/√d.
    softcap
        Cap c of the model's own logits, c·tanh(logits/c); usually 0, none.
    model, text
        Names of the model and what was read by it.

    Raises
    ------
    ValueError
        For shapes, dtypes or words that do not fit, or entries that are not finite or too large.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> q, k = torch.ones(2, 4, 3, 8), torch.ones(2, 1, 3, 8)
    >>> capture = Capture(q, k, layers=(0, 5), tokens=("to", " be", " so"), encodings=(rope(8),))
    >>> capture
    <Capture of 2 layers, 4 heads over 1, 3 queries, 3 keys, head_dim 8, torch.float32>
    >>> capture.masks, capture.labels
    (('causal', 'causal'), ('to', 'be', 'so'))
    >>> capture.weights(5)[0]
    tensor([[1.0000, 0.0000, 0.0000],
            [0.4186, 0.5814, 0.0000],
            [0.1740, 0.3458, 0.4803]])
    """

    q: Tensor
    k: Tensor
    layers: tuple[int, ...] = ()
    layout: Layout = "half"
    tokens: tuple[str, ...] = ()
    query_positions: Tensor = field(default_factory=_usual)
    key_positions: Tensor = field(default_factory=_usual)
    encodings: tuple[Encoding | None, ...] = (None,)
    masks: tuple[str, ...] = ("causal",)
    scales: tuple[float, ...] = ()
    softcap: float = 0.0
    model: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        check_vectors(self.q, self.k)
        check_layout(self.layout)
        (count, heads, queries, width), keys = self.q.shape, self.k.shape[-2]
        m, n = positions_of(queries, keys, self.query_positions, self.key_positions)
        masks = [str(Mask.of(mask)) for mask in row("masks", self.masks)]
        checked: dict[str, Any] = {
            "q": self.q.detach().cpu().contiguous(),
            "k": self.k.detach().cpu().contiguous(),
            "layers": row("layers", self.layers) or tuple(range(count)),
            "tokens": row("tokens", self.tokens),
            "query_positions": m,
            "key_positions": n,
            "encodings": each_layer("encodings", self.encodings, count),
            "masks": each_layer("masks", masks, count),
            "scales": each_layer("scales", self.scales or (width**-0.5,), count),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        check_layers(self.layers, count)
        check_texts(self.tokens, keys, model=self.model, text=self.text)
        check_factors(self.scales, self.softcap)
        for encoding in self.encodings:
            check_encoding(encoding, heads, width)

    def __repr__(self) -> str:
        """Return what there is in a line, without any of its entries or texts."""
        (layers, heads, queries, width), keys = self.q.shape, self.k.shape[2]
        return (
            f"<Capture of {layers} layers, {heads} heads over {self.key_heads}, {queries} queries, "
            f"{keys} keys, head_dim {width}, {self.q.dtype}>"
        )

    @property
    def heads(self) -> int:
        """The number of query heads."""
        return self.q.shape[1]

    @property
    def key_heads(self) -> int:
        """The number of key heads."""
        return self.k.shape[1]

    @property
    def head_dim(self) -> int:
        """Width d of queries and keys."""
        return self.q.shape[-1]

    @property
    def bytes(self) -> int:
        """How many bytes q and k take."""
        return self.q.nbytes + self.k.nbytes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name of each key that can be shown as text; none where there is no text."""
        return tuple(map(label, self.tokens))

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """The white space in front of each key."""
        return tuple(map(gap, self.tokens))

    @cached_property
    def hash(self) -> str:
        """SHA-256 over all that the capture holds, 64 hexadecimal digits."""
        digest = sha256(json.dumps(self.words, sort_keys=True).encode())
        for name in ("q", "k", "query_positions", "key_positions"):
            tensor: Tensor = getattr(self, name)
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()

    @property
    def words(self) -> dict[str, Any]:
        """All that is not an array, as JSON has it."""
        return {
            "layers": list(self.layers),
            "layout": self.layout,
            "tokens": list(self.tokens),
            "encodings": [
                None if encoding is None else {"name": encoding.name, **dict(encoding.parameters)}
                for encoding in self.encodings
            ],
            "masks": list(self.masks),
            "scales": list(self.scales),
            "softcap": self.softcap,
            "model": self.model,
            "text": self.text,
        }

    def place(self, layer: int) -> int:
        """Return where a layer stands in q and k, by its number.

        Raises
        ------
        ValueError
            For a layer that was not captured.
        """
        if type(layer) is not int or layer not in self.layers:
            legal = ", ".join(map(str, self.layers))
            raise ValueError(f"there is no layer {layer!r:.40}; use one of: {legal}.")
        return self.layers.index(layer)

    def key_head(self, head: int) -> int:
        """Return the key head that a query head reads.

        Raises
        ------
        ValueError
            For a head that was not captured.
        """
        if type(head) is not int or head not in range(self.heads):
            raise ValueError(f"there is no head {head!r:.40}; use 0 to {self.heads - 1}.")
        return head * self.key_heads // self.heads

    def vectors(self, layer: int, head: int) -> Vectors:
        """Return the queries of a head, and the keys that it reads, float64.

        Raises
        ------
        ValueError
            For a layer or head that was not captured.
        """
        place = self.place(layer)
        k = self.k[place, self.key_head(head)]
        return Vectors(self.q[place, head].double(), k.double(), self.layout, self.labels)

    def layer_vectors(
        self, layer: int
    ) -> tuple[Float[Tensor, "heads queries head_dim"], Float[Tensor, "key_heads keys head_dim"]]:
        """Return the queries and keys of all heads of a layer, float32 or float64.

        These hold what was captured as it is.
        """
        place = self.place(layer)
        exact = torch.promote_types(self.q.dtype, torch.float32)
        return self.q[place].to(exact), self.k[place].to(exact)

    def weights(
        self, layer: int, encoding: Encoding | None = None
    ) -> Float[Tensor, "heads queries keys"]:
        r"""Return the weights of all heads of a layer, with the model's own mask, factor and cap.

        Parameters
        ----------
        layer
            One of `layers`.
        encoding
            What takes the place of the model's own encoding; None is that.

        Returns
        -------
        Tensor
            (heads, queries, keys), float32 or float64; rows sum to 1.

        Raises
        ------
        ValueError
            For a layer that was not captured, an encoding that does not fit, or none where the
            model's own is not known.
        """
        q, k = self.layer_vectors(layer)
        m, n = self.query_positions, self.key_positions
        return attention_weights(self.logits(layer, self.encoding(layer, encoding), q, k, m, n))

    def logits(
        self,
        layer: int,
        encoding: Encoding,
        q: Float[Tensor, "*heads queries head_dim"],
        k: Float[Tensor, "*key_heads keys head_dim"],
        query_positions: Float[Tensor, " queries"],
        key_positions: Float[Tensor, " keys"],
    ) -> Float[Tensor, "*heads queries keys"]:
        """Return the logits of some queries and keys, as a layer makes them.

        Parameters
        ----------
        layer
            One of `layers`: its mask, factor and cap are used.
        encoding
            The model's own or another.
        q, k
            Some of its queries and keys.
        query_positions, key_positions
            Their positions, tokens.

        Returns
        -------
        Tensor
            (…, queries, keys); −∞ where a query does not see a key.
        """
        place, at = self.place(layer), {"query_positions": query_positions}
        at |= {"key_positions": key_positions}
        scores = attention_scores(q, k, encoding, layout=self.layout, **at)
        mask, scale = self.masks[place], self.scales[place]
        logits = attention_logits(scores, encoding, mask=mask, scale=scale, **at)
        if not self.softcap:
            return logits
        capped = self.softcap * (logits / self.softcap).tanh()
        return torch.where(logits.isneginf(), logits, capped)

    def unrotated(self, encoding: Encoding | None = None) -> "Capture":
        r"""Return the capture before an encoding that was applied to it already.

        .. math:: q = q'\,e^{-\lambda m}, \qquad k = k'\,e^{\bar\lambda n}

        Parameters
        ----------
        encoding
            What was applied to all layers; None is each layer's own, which must be known.

        Returns
        -------
        Capture
            With these encodings, and q and k formed in float64 and kept in float32 or float64:
            what is left of an error is the rounding of those that were captured.

        Raises
        ------
        ValueError
            For an encoding that does not fit, or none where a layer's own is not known.

        Examples
        --------
        >>> import torch
        >>> from xpos_viz import apply_encoding, rope
        >>> q, k = torch.randn(2, 1, 4, 9, 8, dtype=torch.float64)
        >>> turned = Capture(*apply_encoding(q, k, rope(8)), layout="interleaved")
        >>> torch.allclose(turned.unrotated(rope(8)).k, k)
        True
        """
        used = [self.encoding(layer, encoding) for layer in self.layers]
        for each in used:
            check_encoding(each, self.heads, self.head_dim)
            if each.heads not in (None, self.key_heads):
                raise ValueError(
                    f"keys of {self.key_heads} heads cannot be turned back for {each.heads}, got "
                    f"{each!r:.80}; use one number for each parameter."
                )
        rates = [each.rates for each in used]
        q = self._turned(self.q, self.query_positions, used, [-each for each in rates])
        k = self._turned(self.k, self.key_positions, used, [each.conj() for each in rates])
        return replace(self, q=q, k=k, encodings=tuple(used))

    def _turned(
        self, x: Tensor, positions: Tensor, encodings: Sequence[Encoding], rates: Sequence[Tensor]
    ) -> Tensor:
        """Layers turned at their rates, in float64, and kept in float32 or float64."""
        exact = torch.promote_types(x.dtype, torch.float32)
        turned = (
            turn(layer.double(), each, positions, self.layout, encoding.rotary_width).to(exact)
            for layer, encoding, each in zip(x, encodings, rates, strict=True)
        )
        return torch.stack(list(turned))

    def encoding(self, layer: int, other: Encoding | None = None) -> Encoding:
        """Return another encoding, or if there is none, the model's own of a layer.

        Raises
        ------
        ValueError
            If that is not known.
        """
        own = other or self.encodings[self.place(layer)]
        if own is None:
            raise ValueError(
                f"the model's own encoding of layer {layer} is not known; "
                f"use an encoding, such as rope({self.head_dim})."
            )
        return own

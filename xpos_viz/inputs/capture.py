r"""What a model computed on a text: queries and keys of its layers and heads, and what it does.

A :class:`Capture` holds q and k before any position encoding, in the dtype they came in, and
in words all that the model's own attention needs beside them: encoding, mask and factor of
each layer, and a cap on the logits.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.encoding import Encoding
from xpos_viz.entry import (
    DTYPES,
    Layout,
    check_layout,
    is_finite,
    real_positions,
    token_positions,
)
from xpos_viz.inputs.labels import gap, label
from xpos_viz.inputs.vectors import Vectors
from xpos_viz.kernel import attention_scores, turn
from xpos_viz.masks import Mask

T = TypeVar("T")


def _usual() -> Tensor:
    """Positions that are not given."""
    return torch.empty(0, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class Capture:
    r"""Queries and keys of a model's layers and heads, before any position encoding.

    What is left empty has its usual value. `encodings`, `masks` and `scales` hold one value
    for each layer, or one for all of them. Query head h reads key head ⌊h·H_k/H_q⌋.

    Parameters
    ----------
    q
        (layers, heads, queries, d), float16, bfloat16, float32 or float64, finite; d is even.
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
        For shapes, dtypes or words that do not fit, or entries that are not finite.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> q, k = torch.ones(2, 4, 3, 8), torch.ones(2, 1, 3, 8)
    >>> capture = Capture(q, k, layers=(0, 5), tokens=("to", " be", " so"), encodings=(rope(8),))
    >>> capture.heads, capture.masks, capture.labels
    (4, ('causal', 'causal'), ('to', 'be', 'so'))
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
        count, width = len(self.q), self.q.shape[-1]
        m, n = _positions(self)
        words: dict[str, Any] = {
            "q": self.q.detach().cpu().contiguous(),
            "k": self.k.detach().cpu().contiguous(),
            "layers": tuple(self.layers) or tuple(range(count)),
            "tokens": tuple(self.tokens),
            "query_positions": m,
            "key_positions": n,
            "encodings": _each("encodings", self.encodings, count),
            "masks": _each("masks", self.masks, count),
            "scales": _each("scales", self.scales or (width**-0.5,), count),
        }
        for name, value in words.items():
            object.__setattr__(self, name, value)
        _check_layers(self.layers, count)
        _check_texts(self)
        _check_attention(self)

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
            _check_encoding(each, self)
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


def check_vectors(q: object, k: object) -> None:
    """Raise ValueError unless q and k are queries and keys of the same layers."""
    for name, x, dimensions in (("q", q, "queries"), ("k", k, "keys")):
        _check_vector(name, x, f"(layers, heads, {dimensions}, head_dim)")
    if not (isinstance(q, Tensor) and isinstance(k, Tensor)):
        return
    if q.dtype != k.dtype:
        raise ValueError(f"q and k must share a dtype, got {q.dtype} and {k.dtype}; use k.to(q).")
    if (len(q), q.shape[-1]) != (len(k), k.shape[-1]):
        raise ValueError(
            f"q and k must have the same layers and head_dim, got {tuple(q.shape)} and "
            f"{tuple(k.shape)}; use (layers, heads, tokens, head_dim) for both."
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"the heads of q must be a multiple of the heads of k, got {q.shape[1]} and "
            f"{k.shape[1]}; use (layers, heads, tokens, head_dim) for both."
        )


def _check_vector(name: str, x: object, shape: str) -> None:
    """Raise ValueError unless `x` is a finite floating tensor of four dimensions."""
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{name} must be a torch tensor, got {type(x).__name__}; use torch.as_tensor({name})."
        )
    if x.dtype not in DTYPES:
        legal = ", ".join(str(dtype).removeprefix("torch.") for dtype in DTYPES)
        raise ValueError(f"{name} must be one of {legal}, got {x.dtype}; use {name}.float().")
    if x.ndim != 4:
        raise ValueError(
            f"{name} must have the shape {shape}, got {tuple(x.shape)}; "
            "use 1 for a dimension that is not there."
        )
    if 0 in x.shape:
        raise ValueError(
            f"{name} must have the shape {shape}, all at least 1, got {tuple(x.shape)}; "
            "use keys and queries of some tokens."
        )
    if x.shape[-1] % 2:
        raise ValueError(
            f"head_dim must be an even integer ≥ 2, got {x.shape[-1]} in {name} of shape "
            f"{tuple(x.shape)}; use {shape}."
        )
    if not bool(x.isfinite().all()):
        count = int((~x.isfinite()).sum())
        raise ValueError(
            f"{name} must be finite, got {count} entries of {x.numel()} that are NaN or infinite; "
            "use a capture in float32."
        )


def _positions(capture: Capture) -> tuple[Tensor, Tensor]:
    """Positions of queries and keys, given or usual."""
    m, n = (
        None if len(given) == 0 else real_positions(given, name)
        for name, given in (
            ("query_positions", capture.query_positions),
            ("key_positions", capture.key_positions),
        )
    )
    m, n = token_positions(capture.q.shape[-2], capture.k.shape[-2], m, n)
    for name, positions in (("query_positions", m), ("key_positions", n)):
        if positions.ndim != 1:
            raise ValueError(
                f"{name} must be one number for each token, got the shape "
                f"{tuple(positions.shape)}; use one row."
            )
    return m, n


def _each(name: str, values: Sequence[T], layers: int) -> tuple[T, ...]:
    """One value for each layer."""
    if len(values) not in (1, layers):
        raise ValueError(
            f"{name} must hold one value for each of {layers} layers, or one for all, "
            f"got {len(values)}; use one."
        )
    return tuple(values) if len(values) == layers else (values[0],) * layers


def _check_layers(layers: tuple[int, ...], count: int) -> None:
    """Raise ValueError unless there is a number for each layer, ascending."""
    whole = all(type(layer) is int and layer >= 0 for layer in layers)
    if not whole or len(layers) != count or list(layers) != sorted(set(layers)):
        raise ValueError(
            f"layers must be {count} whole numbers ≥ 0, ascending, got {layers!r:.60}; "
            "use the place of each layer in its model."
        )


def _check_texts(capture: Capture) -> None:
    """Raise ValueError unless the words are words, one for each key."""
    keys = capture.k.shape[-2]
    if capture.tokens and len(capture.tokens) != keys:
        raise ValueError(
            f"tokens must be as many as there are keys, {keys}, got {len(capture.tokens)}; "
            "use one piece of text for each key, or none."
        )
    named = [("model", capture.model), ("text", capture.text)]
    for name, word in (*named, *(("tokens", token) for token in capture.tokens)):
        _check_text(name, word)


def _check_text(name: str, word: object) -> None:
    """Raise ValueError unless a word is text that can be written: half a surrogate cannot."""
    if not isinstance(word, str) or any("\ud800" <= letter <= "\udfff" for letter in word):
        raise ValueError(f"{name} must be Unicode text, got {word!r:.60}; use str.")


def _check_attention(capture: Capture) -> None:
    """Raise ValueError unless encodings, masks, scales and cap are those of some attention."""
    object.__setattr__(capture, "masks", tuple(str(Mask.of(mask)) for mask in capture.masks))
    for encoding in capture.encodings:
        _check_encoding(encoding, capture)
    for scale in capture.scales:
        if not (is_finite(scale) and scale > 0):
            raise ValueError(f"scales must be finite numbers > 0, got {scale!r}; use 1/√d.")
    if not (is_finite(capture.softcap) and 0 <= capture.softcap < math.inf):
        raise ValueError(
            f"softcap must be a finite number ≥ 0, got {capture.softcap!r}; use 0 for none."
        )


def _check_encoding(encoding: object, capture: Capture) -> None:
    """Raise ValueError unless an encoding, if there is one, fits the width and the heads."""
    if encoding is None:
        return
    if not isinstance(encoding, Encoding) or (
        encoding.head_dim != capture.head_dim or encoding.heads not in (None, capture.heads)
    ):
        raise ValueError(
            f"encodings must fit {capture.heads} heads of head_dim {capture.head_dim}, got "
            f"{encoding!r:.80}; use rope({capture.head_dim}) or the like, or None."
        )

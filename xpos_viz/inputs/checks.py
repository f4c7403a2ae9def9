"""What enters a capture, checked once: vectors, positions, words, and what the model does."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import floating, is_finite, real_positions, token_positions

T = TypeVar("T")

_LARGEST = 1e15  # then scores of the widest heads fit float32, in which they are drawn


def check_vectors(q: object, k: object) -> None:
    """Raise ValueError unless q and k are queries and keys of the same layers."""
    q = _vectors("q", q, "(layers, heads, queries, head_dim)")
    k = _vectors("k", k, "(layers, heads, keys, head_dim)")
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


def _vectors(name: str, x: object, shape: str) -> Tensor:
    """Return `x` if it is a floating tensor of four dimensions and usual size, else raise."""
    x = floating(name, x)
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
    if count := sum(int((~layer.isfinite()).sum()) for layer in x):
        raise ValueError(
            f"{name} must be finite, got {count} entries of {x.numel()} that are NaN or infinite; "
            "use a capture in float32."
        )
    if (largest := max(abs(float(end)) for layer in x for end in layer.aminmax())) > _LARGEST:
        raise ValueError(
            f"{name} must lie within ±{_LARGEST:g}, got {largest:g}; "
            f"use {name} / {name}.abs().max()."
        )
    return x


def positions_of(
    queries: int, keys: int, query_positions: Tensor, key_positions: Tensor
) -> tuple[Tensor, Tensor]:
    """Return one position for each query and key: those given, or the usual ones for none."""
    m, n = (
        real_positions(given, name) if given.numel() else None
        for name, given in (("query_positions", query_positions), ("key_positions", key_positions))
    )
    m, n = token_positions(queries, keys, m, n)
    for name, positions in (("query_positions", m), ("key_positions", n)):
        if positions.ndim != 1:
            raise ValueError(
                f"{name} must be one number for each token, got the shape "
                f"{tuple(positions.shape)}; use one row."
            )
    return m, n


def row(name: str, values: object) -> tuple[Any, ...]:
    """Return values as a tuple; a word or a number alone is none."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(
            f"{name} must be a tuple, got {values!r:.40}; use brackets, an entry for each."
        )
    return tuple(cast("Iterable[Any]", values))


def each_layer(name: str, values: Sequence[T], layers: int) -> tuple[T, ...]:
    """Return one value for each layer, of which there is one for each or one for all."""
    values = row(name, values)
    if len(values) not in (1, layers):
        raise ValueError(
            f"{name} must hold one value for each of {layers} layers, or one for all, "
            f"got {len(values)}; use one."
        )
    return values if len(values) == layers else values * layers


def check_layers(layers: tuple[int, ...], count: int) -> None:
    """Raise ValueError unless there is a number for each layer, ascending."""
    whole = all(type(layer) is int and layer >= 0 for layer in layers)
    if not whole or len(layers) != count or list(layers) != sorted(set(layers)):
        raise ValueError(
            f"layers must be {count} whole numbers ≥ 0, ascending, got {layers!r:.60}; "
            "use the place of each layer in its model."
        )


def check_texts(tokens: Sequence[object], keys: int, **words: object) -> None:
    """Raise ValueError unless each key has a piece of text, or none has, and words are text."""
    if tokens and len(tokens) != keys:
        raise ValueError(
            f"tokens must be as many as there are keys, {keys}, got {len(tokens)}; "
            "use one piece of text for each key, or none."
        )
    for name, word in (*words.items(), *(("tokens", token) for token in tokens)):
        _check_text(name, word)


def _check_text(name: str, word: object) -> None:
    """Raise ValueError unless a word is text that can be written: half a surrogate cannot."""
    if not isinstance(word, str) or any("\ud800" <= letter <= "\udfff" for letter in word):
        raise ValueError(f"{name} must be Unicode text, got {word!r:.60}; use str.")


def check_factors(scales: Sequence[float], softcap: float) -> None:
    """Raise ValueError unless factors are numbers above zero, and a cap is one or zero."""
    for scale in scales:
        if not (is_finite(scale) and scale > 0):
            raise ValueError(f"scales must be finite numbers > 0, got {scale!r}; use 1/√d.")
    if not (is_finite(softcap) and softcap >= 0):
        raise ValueError(f"softcap must be a finite number ≥ 0, got {softcap!r}; use 0 for none.")


def check_encoding(encoding: object, heads: int, head_dim: int) -> None:
    """Raise ValueError unless an encoding, if there is one, fits the width and the heads."""
    if encoding is None:
        return
    if not isinstance(encoding, Encoding) or (
        encoding.head_dim != head_dim or encoding.heads not in (None, heads)
    ):
        raise ValueError(
            f"encodings must fit {heads} heads of head_dim {head_dim}, got {encoding!r:.80}; "
            f"use rope({head_dim}) or the like, or None."
        )

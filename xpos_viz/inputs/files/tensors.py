"""Parts of a capture from a file of safetensors."""

from typing import Any, cast

import torch
from safetensors import (
    SafetensorError,
    deserialize,  # pyright: ignore[reportUnknownVariableType]
)
from torch import Tensor

from xpos_viz.inputs.files.parts import VECTORS, WORDS, Parts, parse_json, parse_words
from xpos_viz.limits import Limits

LENGTH = 8
"""Bytes in front of the header, which say how long it is."""

Stored = dict[str, Any]
"""A tensor as it is stored: dtype, shape and data."""

_DTYPES = {
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
    "I64": torch.int64,
    "I32": torch.int32,
}


def read_safetensors(content: bytes, limits: Limits) -> Parts:
    """Return the parts that a file holds: tensors, and words in its metadata."""
    length = int.from_bytes(content[:LENGTH], "little")
    if length > min(limits.letters, len(content) - LENGTH):
        raise ValueError(
            f"the header must be at most {limits.letters:,} bytes and within the file, got "
            f"{length:,} of {len(content):,}; use a file that was written whole."
        )
    try:
        tensors = dict(cast("list[tuple[str, Stored]]", deserialize(content)))
    except SafetensorError as error:
        raise ValueError(
            f"the file must be safetensors, got one that is broken: {error!s:.80}; "
            "use a file that was written whole."
        ) from None
    header = parse_json("the header", content[LENGTH : LENGTH + length].decode())
    if not set(VECTORS) <= set(tensors):
        held = ", ".join(f"{name!r:.40}" for name in sorted(tensors)[:8]) or "nothing"
        raise ValueError(
            f'the file must hold tensors q and k, got {held}; use save_file({{"q": q, "k": k}}).'
        )
    q, k = (_tensor(name, tensors[name]) for name in VECTORS)
    return Parts(q, k, _words(header.get("__metadata__", {}), limits) | _small(tensors, limits))


def _tensor(name: str, stored: Stored) -> Tensor:
    """A tensor from its bytes, dtype and shape."""
    dtype = _DTYPES.get(stored["dtype"])
    if dtype is None or not stored["data"]:
        raise ValueError(
            f"{name} must be one of {', '.join(_DTYPES)} with 1 entry or more, got "
            f"{stored['dtype']} of the shape {tuple(stored['shape'])!s:.60}; use {name}.float()."
        )
    return torch.frombuffer(stored["data"], dtype=dtype).reshape(stored["shape"])


def _small(tensors: dict[str, Stored], limits: Limits) -> dict[str, Any]:
    """The words that are tensors, as Python has them."""
    found = {name: _tensor(name, tensors[name]) for name in WORDS if name in tensors}
    for name, tensor in found.items():
        if tensor.numel() > 2 * limits.tokens:
            raise ValueError(
                f"{name} must be at most {2 * limits.tokens:,} entries, got the shape "
                f"{tuple(tensor.shape)}; use fewer tokens, or set XPOS_VIZ_MAX_TOKENS."
            )
    return {name: tensor.numpy().tolist() for name, tensor in found.items()}


def _words(metadata: dict[str, str], limits: Limits) -> dict[str, Any]:
    """The words of the metadata: all of them in one text, or simple ones by their names."""
    words = parse_words(metadata["words"], limits) if "words" in metadata else {}
    words |= {name: metadata[name] for name in ("layout", "model", "text") if name in metadata}
    if "base" in metadata:
        words["base"] = _number(metadata["base"])
    return words


def _number(text: str) -> float:
    """The base as a number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"base must be a number, got {text!r:.40}; use 10000.") from None

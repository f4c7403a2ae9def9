"""One array of NumPy's own format, its size known before it is read; nothing is unpickled."""

import math
import re
import sys
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from xpos_viz.limits import Limits

MAGIC = b"\x93NUMPY"

_TYPE = re.compile(r"""['"]descr['"]\s*:\s*['"]([^'"]*)['"]""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([\d\s,]{0,200})\)""")
_PLAIN = re.compile(r"[<>=|]?(f[248]|[iu][1248]|U\d{1,7})")
_LONGEST_HEADER = 4096
_MOST_DIMENSIONS = 8
_CHUNK = 1 << 20
_REASONS = {
    "O": "objects, which can run code",
    "V": "bytes without a type, such as bfloat16, which NumPy has not",
    "S": "bytes instead of text",
    "c": "complex numbers",
    "b": "yes and no",
}


@dataclass(frozen=True)
class Header:
    """What an array says of itself before its data."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def count(self) -> int:
        """How many entries it says it has."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes it says they take."""
        return self.count * self.dtype.itemsize


def read_header(file: IO[bytes], name: str) -> Header:
    """Read the header of an array, which leaves the file where its data begin.

    Raises
    ------
    ValueError
        For what is no array of numbers or text.
    """
    start = file.read(len(MAGIC) + 2)
    if not start.startswith(MAGIC) or len(start) < len(MAGIC) + 2:
        raise ValueError(
            f"{name} must be an array as NumPy writes it, got {start!r:.40}; use np.save."
        )
    width = 2 if start[-2] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    text = file.read(min(length, _LONGEST_HEADER)).decode("latin-1")
    found = [pattern.search(text) for pattern in (_TYPE, _ORDER, _SHAPE)]
    if len(text) < length or not all(found[1:]):
        raise ValueError(
            f"{name} must have a header as NumPy writes it, got {length} bytes that begin with "
            f"{text!r:.60}; use np.save."
        )
    kind, order, shape = (match[1] if match else "" for match in found)
    sizes = tuple(int(size) for size in shape.replace(",", " ").split())
    return Header(name, _dtype(name, kind), _checked_shape(name, sizes), order == "True")


def read_data(file: IO[bytes], header: Header) -> NDArray[Any]:
    """Read as many bytes as the header says, no more, into an array that may be written.

    Raises
    ------
    ValueError
        If there are fewer or more.
    """
    data = bytearray(header.bytes)
    view, got = memoryview(data), 0
    while part := file.read(min(_CHUNK, len(data) - got)):
        view[got : got + len(part)] = part
        got += len(part)
    rest = file.read(1)
    if got < len(data) or rest:
        raise ValueError(
            f"{header.name} must hold the {len(data):,} bytes of its shape {header.shape}, got "
            f"{'more' if rest else f'{got:,}'}; use a file that was written whole."
        )
    shape = header.shape[::-1] if header.fortran else header.shape
    array = np.frombuffer(data, header.dtype) if data else np.zeros(header.count, header.dtype)
    array = array.reshape(shape)
    return (array.T if header.fortran else array).astype(header.dtype.newbyteorder("="), copy=False)


def check_vectors(header: Header, limits: Limits) -> None:
    """Raise ValueError unless the array can be queries or keys, and is not too large."""
    if header.dtype.kind != "f":
        hint = " (bfloat16 as bits?)" if header.dtype == np.uint16 else ""
        raise ValueError(
            f"{header.name} must be float16, float32 or float64, got {header.dtype}{hint}; "
            f"use {header.name}.astype(np.float32), or .safetensors for bfloat16."
        )
    if header.bytes > limits.unpacked:
        raise ValueError(
            f"{header.name} must be at most {limits.unpacked:,} bytes, got the shape "
            f"{header.shape}, {header.bytes:,} bytes; use fewer layers, heads or tokens, "
            "or set XPOS_VIZ_MAX_UNPACKED."
        )


def check_word(header: Header, limits: Limits) -> None:
    """Raise ValueError unless the array is small enough for something said of a capture."""
    if header.count > 2 * limits.tokens or header.bytes > 4 * limits.letters:
        raise ValueError(
            f"{header.name} must be at most {2 * limits.tokens:,} entries and "
            f"{limits.letters:,} letters, got the shape {header.shape} of {header.dtype}; "
            "use fewer tokens, or set XPOS_VIZ_MAX_TOKENS or XPOS_VIZ_MAX_LETTERS."
        )


def values(array: NDArray[Any], name: str) -> Any:  # noqa: ANN401 - numbers or text, or lists
    """An array as Python has it: a number or a text, or lists of them."""
    if array.dtype.kind == "U" and _letters(array).max() > sys.maxunicode:
        raise ValueError(f"{name} must be Unicode text, got other bytes; use str.")
    return array.tolist()


def _letters(array: NDArray[np.str_]) -> NDArray[np.uint32]:
    """The code points of an array of text, which NumPy does not check."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint32)


def _dtype(name: str, kind: str) -> np.dtype[Any]:
    """The dtype of a header, if it is one of plain numbers or text."""
    if not _PLAIN.fullmatch(kind):
        letter = kind.lstrip("<>=|")[:1]
        said = _REASONS.get(letter, "something else") if kind else "fields or objects"
        raise ValueError(
            f"{name} must hold plain numbers or text, got {kind!r:.40}, {said}; "
            f"use {name}.astype(np.float32), or .safetensors for bfloat16."
        )
    return np.dtype(kind)


def _checked_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape, if it has some entries and not too many dimensions."""
    if 0 in shape or len(shape) > _MOST_DIMENSIONS:
        raise ValueError(
            f"{name} must have 1 entry or more in up to {_MOST_DIMENSIONS} dimensions, got the "
            f"shape {shape!s:.60}; use an array that is not empty."
        )
    return shape

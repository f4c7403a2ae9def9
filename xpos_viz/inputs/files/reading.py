"""From any file to a capture, by what it begins with."""

from pathlib import Path
from typing import Any, BinaryIO

from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.files.arrays import MAGIC
from xpos_viz.inputs.files.numpy_files import read_npy, read_npz
from xpos_viz.inputs.files.parts import Reader
from xpos_viz.inputs.files.tables import read_csv
from xpos_viz.inputs.files.tensors import LENGTH, read_safetensors
from xpos_viz.limits import LIMITS, Limits

_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_OBJECT = b"{"
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def read_capture(
    file: str | Path | bytes | BinaryIO, *, reading: str = "", limits: Limits = LIMITS
) -> Capture:
    """Read a capture from a file that may hold anything.

    Nothing in it is run, nothing is written, and no more memory is taken than the limits say.

    Parameters
    ----------
    file
        A path, the bytes of a file, or a file that is open: .npz, .npy, .safetensors or .csv,
        which is told by its first bytes (:mod:`xpos_viz.inputs.files`).
    reading
        The order of the dimensions, such as "layers tokens heads head_dim"; needed only where
        the shapes can be read in several ways.
    limits
        The most that is taken.

    Returns
    -------
    Capture
        What the file holds. Its words can be changed by :func:`dataclasses.replace`.

    Raises
    ------
    UnclearOrderError
        If the shapes can be read in several ways; a ValueError, with the `readings`.
    WrongOrderError
        If they cannot be read in that order; a ValueError.
    ValueError
        For anything else that is no capture, or more than the limits.
    OSError
        If a path cannot be opened.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from xpos_viz import read_capture
    >>> file = io.BytesIO()
    >>> np.savez(file, q=np.ones((9, 4, 64)), k=np.ones((3, 4, 64)), tokens=list("help"))
    >>> capture = read_capture(file.getvalue())
    >>> capture.q.shape, capture.k.shape, capture.labels
    (torch.Size([1, 9, 4, 64]), torch.Size([1, 3, 4, 64]), ('h', 'e', 'l', 'p'))
    """
    content = _content(file, limits)
    return _reader(content)(content, limits).capture(reading, limits)


def _content(file: str | Path | bytes | BinaryIO, limits: Limits) -> bytes:
    """The bytes of a file, of which no more are read than are taken."""
    if isinstance(file, str | Path) and file:
        with Path(file).open("rb") as opened:
            content: object = opened.read(limits.upload + 1)
    else:
        content = file if isinstance(file, bytes) else _read(file, limits.upload + 1)
    if not isinstance(content, bytes):
        raise ValueError(
            f"file must be a path, bytes, or a file opened with 'rb', got {content!r:.40}; "
            'use read_capture("mine.npz").'
        )
    if not content:
        raise ValueError("the file must hold q and k, got an empty file; use save_capture.")
    if len(content) > limits.upload:
        raise ValueError(
            f"a file must be at most {limits.upload:,} bytes, got more; "
            "use fewer layers or tokens, or set XPOS_VIZ_MAX_UPLOAD."
        )
    return content


def _read(file: Any, count: int) -> object:  # noqa: ANN401 - a file, or anything that is none
    """What a file that is open holds; what is none is returned."""
    return file.read(count) if hasattr(file, "read") else file


def _reader(content: bytes) -> Reader:
    """The reader of what a file begins with."""
    if content.startswith(_ZIPS):
        return read_npz
    if content.startswith(MAGIC):
        return read_npy
    if content[LENGTH : LENGTH + 1] == _OBJECT:
        return read_safetensors
    if content.startswith(_PICKLES):
        raise ValueError(
            f"the file must be .npz, .npy, .safetensors or .csv, got a pickle ({content[:2]!r}), "
            "which can run code; use save_capture."
        )
    return read_csv

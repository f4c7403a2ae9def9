"""From a capture to a file; equal captures make equal files."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor

from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.files.orders import STANDARD
from xpos_viz.writing import write

_ARRAYS = ("q", "k", "query_positions", "key_positions")


def save_capture(path: str | Path, capture: Capture) -> None:
    """Write a capture as a file that :func:`xpos_viz.read_capture` reads, and anything else can.

    Parameters
    ----------
    path
        Where it is written: a name that ends with .npz, or .safetensors, which has bfloat16.
    capture
        The capture.

    Raises
    ------
    ValueError
        For another name, or for bfloat16 in .npz.
    OSError
        If it cannot be written; what stood there before stands there still.

    Examples
    --------
    >>> import tempfile, torch
    >>> from xpos_viz import Capture, read_capture, save_capture
    >>> q, k = torch.randn(2, 4, 9, 64), torch.randn(2, 2, 9, 64)
    >>> capture = Capture(q, k, layers=(3, 7), tokens=tuple("character"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_capture(folder + "/mine.npz", capture)
    ...     read_capture(folder + "/mine.npz").hash == capture.hash
    True
    """
    path = Path(path)
    write(path, capture_bytes(capture, path.suffix))


def capture_bytes(capture: Capture, suffix: str = ".npz") -> bytes:
    """Return what :func:`xpos_viz.save_capture` writes to a file of that suffix."""
    words = json.dumps({**capture.words, "reading": STANDARD})
    tensors: dict[str, Tensor] = {name: getattr(capture, name).clone() for name in _ARRAYS}
    if suffix == ".safetensors":
        return save(tensors, {"words": words})
    if suffix != ".npz":
        raise ValueError(
            f"a capture is saved as .npz or .safetensors, got {suffix!r:.40}; use .npz."
        )
    if capture.q.dtype == torch.bfloat16:
        raise ValueError("NumPy has no bfloat16, got that for .npz; use .safetensors.")
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    return _archive({**arrays, "words": np.array(words)})


def _archive(arrays: dict[str, NDArray[Any]]) -> bytes:
    """An archive as NumPy writes it, without the time of day."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = ZipInfo(f"{name}.npy")
            info.compress_type = ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return file.getvalue()

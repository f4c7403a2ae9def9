"""Parts of a capture from NumPy's files: an archive of arrays (.npz), or one array (.npy)."""

import zlib
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import torch
from numpy.typing import NDArray

from xpos_viz.inputs.files.arrays import (
    check_vectors,
    check_word,
    read_data,
    read_header,
    values,
)
from xpos_viz.inputs.files.parts import VECTORS, WORDS, Parts, parse_words
from xpos_viz.limits import Limits

_BROKEN = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
_ENTRY = b"PK\x01\x02"  # in front of each entry of the directory, all of which zipfile reads
_MOST_MEMBERS = 256
_ENCRYPTED = 1


def read_npz(content: bytes, limits: Limits) -> Parts:
    """Return the parts that an archive holds; what is in it beside them is not read."""
    if (count := content.count(_ENTRY)) > _MOST_MEMBERS:
        raise ValueError(
            f"the file must hold at most {_MOST_MEMBERS} arrays, got {count:,}; use q and k."
        )
    with _whole(*_BROKEN, ValueError):
        archive = ZipFile(BytesIO(content))
    members = _members(archive)
    with _whole(*_BROKEN):
        arrays = {name: _array(archive, name, members[name], limits) for name in members}
    q, k = (torch.as_tensor(arrays.pop(name)) for name in VECTORS)
    words = {name: values(array, name) for name, array in arrays.items()}
    return Parts(q, k, (_all_words(words.pop("words"), limits) if "words" in words else {}) | words)


def read_npy(content: bytes, limits: Limits) -> Parts:
    """Return the parts that one array holds: q and k, stacked in its first dimension."""
    file = BytesIO(content)
    header = read_header(file, "the array")
    check_vectors(header, limits)
    if header.shape[:1] != (2,):
        raise ValueError(
            f"the array must hold q and k, so its first dimension must be 2, got the shape "
            f"{header.shape}; use np.save(path, np.stack([q, k]))."
        )
    q, k = torch.as_tensor(read_data(file, header)).unbind()
    return Parts(q, k)


@contextmanager
def _whole(*errors: type[Exception]) -> Generator[None]:
    """Say of what zipfile raises that the archive is broken."""
    try:
        yield
    except errors as error:
        raise ValueError(
            "the file must be an archive as NumPy writes it, got one that is broken: "
            f"{error!s:.80}; use np.savez, and a file that was written whole."
        ) from None


def _members(archive: ZipFile) -> dict[str, ZipInfo]:
    """The arrays of an archive that are wanted, by name."""
    infos = archive.infolist()
    wanted = {f"{name}.npy": name for name in (*VECTORS, *WORDS)}
    found = [info for info in infos if info.filename in wanted]
    names = [wanted[info.filename] for info in found]
    if not set(VECTORS) <= set(names):
        held = ", ".join(f"{info.filename!r:.40}" for info in infos[:8]) or "nothing"
        raise ValueError(
            f"the file must hold arrays q and k, got {held}; use np.savez(path, q=q, k=k)."
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the file must hold {twice} once, got it more often; use np.savez.")
    for name, info in zip(names, found, strict=True):
        if info.flag_bits & _ENCRYPTED or info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(
                f"{name} must be stored or deflated, got it encrypted or packed in another way; "
                "use np.savez or np.savez_compressed."
            )
    return dict(zip(names, found, strict=True))


def _array(archive: ZipFile, name: str, info: ZipInfo, limits: Limits) -> NDArray[Any]:
    """One array of an archive, read if what it says of itself is not too much."""
    with _whole(*_BROKEN, ValueError):
        file = archive.open(info)
    with file:
        header = read_header(file, name)
        (check_vectors if name in VECTORS else check_word)(header, limits)
        return read_data(file, header)


def _all_words(text: object, limits: Limits) -> dict[str, Any]:
    """The words of an archive that stand in one text."""
    if not isinstance(text, str):
        raise ValueError(f"words must be one text, got {text!r:.40}; use json.dumps.")
    return parse_words(text, limits)

"""What is read: bytes to learn from, and others that no model has seen.

A corpus is cut by a hash of each file's path, so that the same files are held out whatever else
there is, and no part of a held-out file is learned.
"""

import platform
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import torch
from jaxtyping import UInt8
from torch import Tensor

ONE_IN = 8
"""One file in so many is held out."""

MOST = 1 << 28
"""Bytes of a corpus at most."""

_TESTS = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}


@dataclass(frozen=True, eq=False)
class Corpus:
    """Bytes of one kind of text, in two parts.

    Parameters
    ----------
    name
        What it is, with its version where it has one.
    train, held_out
        Bytes to learn from, and bytes to read afterwards, (bytes,), uint8.
    files
        From how many files each part is.
    """

    name: str
    train: UInt8[Tensor, " bytes"]
    held_out: UInt8[Tensor, " bytes"]
    files: tuple[int, int] = (1, 1)

    @cached_property
    def hash(self) -> str:
        """Sixteen hexadecimal digits of the SHA-256 of both parts."""
        parts = (self.train, self.held_out)
        hashes = (sha256(part.numpy().tobytes()).digest() for part in parts)
        return sha256(b"".join(hashes)).hexdigest()[:16]

    def check(self, train: int, held_out: int) -> None:
        """Raise ValueError unless each part has at least so many bytes."""
        for words, part, least in (
            ("to learn from", self.train, train),
            ("held out", self.held_out, held_out),
        ):
            if len(part) < least:
                raise ValueError(
                    f"{self.name} must have at least {least:,} bytes {words}, got {len(part):,}; "
                    "use more text, or a setting with a shorter training length."
                )


def standard_library() -> Corpus:
    """Return the sources of the running Python's standard library, without their tests.

    Raises
    ------
    ValueError
        If this Python came without sources.
    """
    root = Path(sysconfig.get_path("stdlib"))
    paths = [
        path for path in root.rglob("*.py") if not _TESTS & {*path.relative_to(root).parts[:-1]}
    ]
    if not paths:
        raise ValueError(
            f"Python's standard library has no .py files in {root}, got none; "
            "use a folder or a text file of your own."
        )
    return _cut(f"Python {platform.python_version()} standard library", root, paths)


def corpus_at(path: Path | None) -> Corpus:
    """Return the corpus in a folder or a file; the standard library if there is no path."""
    if path is None:
        return standard_library()
    return folder(path) if path.is_dir() else text_file(path)


def folder(path: str | Path) -> Corpus:
    """Return all text files below a folder, as UTF-8 names text: binary files are left out.

    Raises
    ------
    ValueError
        If there is no such folder, or fewer than two files of text in it.
    """
    root = Path(path)
    if not root.is_dir():
        raise ValueError(f"a corpus must be a folder that exists, got {str(path)!r}.")
    return _cut(root.resolve().name, root, (found for found in root.rglob("*") if found.is_file()))


def text_file(path: str | Path) -> Corpus:
    """Return one file of text, whose last eighth is held out.

    Raises
    ------
    ValueError
        If there is no such file, or it is empty or binary.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"a corpus must be a file that exists, got {str(path)!r}.")
    _check_size(path, [path])
    content = path.read_bytes()
    if not content:
        raise ValueError(f"a corpus must have text, got {str(path)!r}, which is empty.")
    if not _is_text(content):
        raise ValueError(f"a corpus must be text in UTF-8, got {str(path)!r}, which is not.")
    end = len(content) - len(content) // ONE_IN
    return Corpus(path.name, _bytes(content[:end]), _bytes(content[end:]))


def _cut(name: str, root: Path, paths: Iterable[Path]) -> Corpus:
    """A corpus of files, each of which is on the side that its path says."""
    parts: tuple[list[bytes], list[bytes]] = ([], [])
    _check_size(root, paths := sorted(paths))
    for path in paths:
        if _is_text(content := path.read_bytes()):
            place = sha256(path.relative_to(root).as_posix().encode()).digest()[0]
            parts[place % ONE_IN == 0].append(content)
    if not all(parts):
        counts = " and ".join(str(len(part)) for part in parts)
        raise ValueError(
            f"{root} must hold files of text to learn from and to hold out, got {counts} of "
            "them; use a folder with more files, or one file of text."
        )
    train, held_out = (_bytes(b"".join(part)) for part in parts)
    return Corpus(name, train, held_out, (len(parts[0]), len(parts[1])))


def _check_size(name: Path, paths: Iterable[Path]) -> None:
    """Raise ValueError if files are too large together."""
    size = sum(path.stat().st_size for path in paths)
    if size > MOST:
        raise ValueError(
            f"a corpus must have at most {MOST:,} bytes, got {size:,} in {name}; use a part of it."
        )


def _is_text(content: bytes) -> bool:
    """Whether bytes are text."""
    try:
        return bool(content.decode()) and b"\0" not in content
    except UnicodeDecodeError:
        return False


def _bytes(content: bytes) -> UInt8[Tensor, " bytes"]:
    """Bytes as a tensor."""
    return torch.frombuffer(bytearray(content), dtype=torch.uint8) if content else _NOTHING


_NOTHING = torch.empty(0, dtype=torch.uint8)

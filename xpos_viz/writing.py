"""Files are written whole or not at all."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that none is left half-written.

    Raises
    ------
    OSError
        If it cannot be written; what stood there before stands there still.
    """
    with _beside(path, f", may be written to, and has room for {len(content):,} bytes") as beside:
        beside.write_bytes(content)
        beside.replace(path)


def check(path: Path) -> None:
    """Try if a file can be written there, before there is one.

    Raises
    ------
    OSError
        If it cannot; where there is too little room is known only in the end.
    """
    with _beside(path, " and may be written to") as beside:
        beside.touch()


def clear(folder: Path, name: str) -> None:
    """Remove what a process left that was killed while it wrote files of a name or pattern."""
    for left in folder.glob(f".{name}.*.part"):
        left.unlink(missing_ok=True)


@contextmanager
def _beside(path: Path, wish: str) -> Generator[Path]:
    """A place beside another one, at which nothing stays; errors say what the folder must be."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"{path} could not be written: {reason}; use a folder that exists{wish}."
        ) from error
    finally:
        with suppress(OSError):  # as there is none
            beside.unlink()

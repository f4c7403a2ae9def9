"""Files that are written whole or not at all."""

import os
from pathlib import Path


def write(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that none is left half-written.

    Raises
    ------
    OSError
        If it cannot be written; what stood there before stands there still.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"{path} could not be written: {reason}; use a folder that exists, may be written "
            f"to, and has room for {len(content):,} bytes."
        ) from error
    finally:
        beside.unlink(missing_ok=True)

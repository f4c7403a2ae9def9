"""What a file holds: its recipe, and numbers, which may be those of pictures made again."""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from types import MappingProxyType
from typing import TypeVar
from zipfile import BadZipFile, ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from xpos_viz.export.data import RECIPE, arrays, csv, npy, tidy
from xpos_viz.figures.recipes import recipe_of
from xpos_viz.limits import LIMITS
from xpos_viz.pictures import Picture

SIDECAR = "recipe.json"
"""The recipe of a bundle, beside its files."""

DATA: Mapping[str, str] = MappingProxyType({".npz": "data.npz", ".safetensors": "data.safetensors"})
"""The queries and keys of a bundle that somebody brought, by the kind of their file."""

Kind = TypeVar("Kind")

_BLOCK = re.compile(r'<script type="application/json" id="xpos_viz">(.*?)</script>', re.DOTALL)
_NUMBERS = re.compile(r'<script type="[a-z/]+" id="(sweep|payload)">(.*?)</script>', re.DOTALL)
_MOST = 1 << 22  # bytes of a recipe at most
_BROKEN = (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError)


@dataclass(frozen=True, eq=False)
class Made:
    """What was made again: pictures, and the page that shows them when it is asked for."""

    pictures: Sequence[Picture]
    page: Callable[[], str]


def recipe_in(content: bytes) -> str:
    """Return the recipe within a file, whatever kind of file it is.

    Raises
    ------
    ValueError
        If there is none, or the file is damaged.
    """
    try:
        return _known(content, _RECIPES, _in_text)(content)
    except UnicodeDecodeError as wrong:
        raise ValueError(
            f"the recipe within the file is damaged: {wrong}; use a whole file."
        ) from wrong


def data_in(content: bytes) -> bytes | None:
    """Return the file of queries and keys within a bundle, if there is one.

    Raises
    ------
    ValueError
        If it is larger than is read.
    """
    if not content.startswith(b"PK"):
        return None
    archive = _whole(content)
    found = next((name for name in archive.namelist() if name in DATA.values()), None)
    if found is None or SIDECAR not in archive.namelist():
        return None
    if (size := archive.getinfo(found).file_size) > LIMITS.upload:
        raise ValueError(
            f"queries and keys must be at most {LIMITS.upload:,} bytes, got {found} with {size:,}; "
            "set XPOS_VIZ_MAX_UPLOAD."
        )
    return archive.read(found)


def holds(content: bytes, made: Made) -> bool:
    """Return whether a file of numbers, a bundle or a page holds what was made again.

    A drawing holds no numbers but those of its recipe.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    return _known(content, _HELD, lambda *_: True)(content, made)


def _known(content: bytes, by_start: Mapping[bytes, Kind], other: Kind) -> Kind:
    """What is for this kind of file, which is known by how it begins."""
    return next((what for start, what in by_start.items() if content.startswith(start)), other)


def _in_gif(content: bytes) -> str:
    """The recipe of a picture in motion: the file's comment."""
    if not content.endswith(_END_OF_GIF):
        raise ValueError("the GIF is cut off; use a whole file.")
    try:
        with Image.open(BytesIO(content)) as image:
            return image.info.get("comment", b"").decode()
    except (OSError, Image.DecompressionBombError, Image.DecompressionBombWarning) as wrong:
        raise ValueError("this GIF file cannot be read; use a whole file.") from wrong


def _in_parquet(content: bytes) -> str:
    """The recipe of a table."""
    try:
        metadata = pq.read_schema(pa.BufferReader(content)).metadata or {}
    except (pa.ArrowException, OSError) as wrong:
        raise _unread(wrong) from wrong
    return metadata.get(RECIPE.encode(), b"").decode()


def _in_zip(content: bytes) -> str:
    """The recipe of a bundle, or of arrays."""
    archive = _whole(content)
    names = archive.namelist()
    found = next((name for name in (SIDECAR, f"{RECIPE}.npy") if name in names), None)
    if found is None:
        raise ValueError(
            f"there is no recipe in this archive, got {names!r:.80}; use a bundle or an NPZ file "
            "of xpos_viz."
        )
    if (size := archive.getinfo(found).file_size) > _MOST:
        raise ValueError(
            f"a recipe has at most {_MOST:,} bytes, got {found} with {size:,}; use a file as "
            "xpos_viz wrote it."
        )
    within = archive.read(found)
    if found == SIDECAR:
        return within.decode()
    return str(np.load(BytesIO(within), allow_pickle=False))


def _whole(content: bytes) -> ZipFile:
    """An archive, every member of which is whole."""
    try:
        archive = ZipFile(BytesIO(content))
        broken = archive.testzip()
    except (*_BROKEN, zlib.error) as wrong:
        raise ValueError(f"this archive cannot be read: {wrong}; use a whole file.") from wrong
    if broken is not None:
        raise ValueError(f"{broken} in this archive is damaged; use a whole file.")
    return archive


def _in_page(content: bytes) -> str:
    """The recipe of a page that is whole."""
    if not content.rstrip().endswith(b"</html>"):
        raise ValueError("the page is cut off; use a whole file.")
    return _in_text(content)


def _in_text(content: bytes) -> str:
    """The recipe of a page, or a recipe itself."""
    text = content.decode("utf-8", "replace")
    block = _BLOCK.search(text)
    if block:
        return block[1]
    if "<svg" in text[:4096]:
        return recipe_of(content)
    return text


def _table_is(content: bytes, made: Made) -> bool:
    """Whether a table has these rows."""
    expected = pa.Table.from_pandas(tidy(made.pictures[0]), preserve_index=False)
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        known = file.metadata.num_rows == len(expected)  # a hostile file may claim any number
        return known and file.read().equals(expected)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as wrong:
        raise _unread(wrong) from wrong


def _members_are(content: bytes, made: Made) -> bool:
    """Whether an archive has these tables, or these arrays."""
    with ZipFile(BytesIO(content)) as archive:
        held = {each.filename: (each.CRC, each.file_size) for each in archive.infolist()}
    if SIDECAR in held:
        members = {f"{each.name}.csv": csv(tidy(each)) for each in made.pictures}
    else:
        members = {f"{n}.npy": npy(array) for n, array in arrays(made.pictures[0].description)}
    return all(held.get(name) == (zlib.crc32(data), len(data)) for name, data in members.items())


def _page_is(content: bytes, made: Made) -> bool:
    """Whether a page has these numbers."""
    return _NUMBERS.findall(content.decode("utf-8", "replace")) == _NUMBERS.findall(made.page())


def _unread(wrong: Exception) -> ValueError:
    """Say that a table cannot be read."""
    return ValueError(f"this Parquet file cannot be read: {wrong!s:.80}; use a whole file.")


_END_OF_GIF = b";"
_PAGE = b"<!doctype html>"
_RECIPES: Mapping[bytes, Callable[[bytes], str]] = MappingProxyType(
    {
        b"\x89PNG": recipe_of,
        b"%PDF": recipe_of,
        b"GIF8": _in_gif,
        b"PAR1": _in_parquet,
        b"PK": _in_zip,
        _PAGE: _in_page,
    }
)
"""What finds the recipe, by how a file begins."""

_HELD: Mapping[bytes, Callable[[bytes, Made], bool]] = MappingProxyType(
    {b"PAR1": _table_is, b"PK": _members_are, _PAGE: _page_is}
)
"""What compares the numbers, by how a file begins."""

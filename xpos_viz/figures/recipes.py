"""The recipe of a figure, as its file carries it: read without any library for pictures.

A PNG has it in an iTXt chunk, an SVG in an element of its metadata, a PDF in its keywords.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from xml.etree import ElementTree
from xml.sax.saxutils import escape

KEY = "xpos_viz"
"""Keyword of the PNG's chunk, and how the keywords of a PDF begin."""

ELEMENT = "{urn:xpos_viz}recipe"
"""The element of an SVG."""

_PNG = b"\x89PNG\r\n\x1a\n"
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def recipe_of(content: bytes) -> str:
    """Return the recipe that a file carries.

    Parameters
    ----------
    content
        Of a PNG, SVG or PDF.

    Returns
    -------
    str
        What :func:`xpos_viz.figures.paper_pen.save` was given.

    Raises
    ------
    ValueError
        For a file without a recipe, one that is not whole, or one of another kind.

    Examples
    --------
    >>> recipe_of(b"<svg><metadata>" + svg_element('{"γ": 0.4}').encode() + b"</metadata></svg>")
    '{"γ": 0.4}'
    """
    kind, found = _found(content)
    if found is None:
        raise ValueError(
            f"this {kind} has no recipe of xpos_viz in its metadata; use a file as xpos_viz wrote "
            "it: other programs may leave metadata out."
        )
    return found


def svg_element(recipe: str) -> str:
    """Return the element of an SVG that carries a recipe."""
    return f'<recipe xmlns="urn:xpos_viz">{escape(recipe, {chr(13): "&#13;"})}</recipe>'


def _found(content: bytes) -> tuple[str, str | None]:
    """What kind of file it is, and its recipe if it has one."""
    if content.startswith(_PNG):
        return "PNG", _of_png(content)
    if content.startswith(b"%PDF"):
        return "PDF", _of_pdf(content)
    if b"<svg" in content[:4096]:
        return "SVG", _of_svg(content)
    raise ValueError(
        f"neither PNG, SVG nor PDF: the file begins with {content[:16]!r}; use a figure that was "
        "saved by xpos_viz."
    )


def _of_png(content: bytes) -> str | None:
    """The text of the chunk with our keyword: keyword, 0, not packed, 0, language, 0, key, 0."""
    start = KEY.encode() + b"\0\0\0\0\0"
    texts = [data for name, data in _chunks(content) if name == b"iTXt" and data.startswith(start)]
    return texts[0][len(start) :].decode() if texts else None


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG, each with the right checksum, up to its end."""
    place, name = len(_PNG), b""
    while name != b"IEND":
        length, name = struct.unpack(">I4s", content[place : place + 8].ljust(8, b"\0"))
        data = content[place + 8 : place + 8 + length]
        checksum = content[place + 8 + length : place + 12 + length]
        if checksum != zlib.crc32(name + data).to_bytes(4, "big"):
            raise ValueError(f"the PNG is damaged at byte {place:,}; use a whole file.")
        yield name, data
        place += length + 12


def _of_svg(content: bytes) -> str | None:
    """The text of our element."""
    try:
        elements = [element for _, element in ElementTree.iterparse(BytesIO(content))]
    except ElementTree.ParseError as error:
        raise ValueError(f"the SVG is damaged: {error}; use a whole file.") from error
    return next((element.text or "" for element in elements if element.tag == ELEMENT), None)


def _of_pdf(content: bytes) -> str | None:
    """The keywords behind our key: a string in parentheses, in ASCII or UTF-16."""
    if not content.rstrip().endswith(b"%%EOF"):
        raise ValueError("the PDF is cut off; use a whole file.")
    for found in re.finditer(rb"/Keywords\s*\(((?:[^\\()]|\\.)*)\)", content, re.DOTALL):
        raw = re.sub(
            rb"\\(.)", lambda part: _ESCAPED.get(part[1], part[1]), found[1], flags=re.DOTALL
        )
        utf_16 = raw.startswith(b"\xfe\xff")
        text = raw.decode("utf-16" if utf_16 else "latin-1")
        if text.startswith(f"{KEY} "):
            return text.removeprefix(f"{KEY} ")
    return None

"""Figures as files: metadata with the recipe, fonts in every file, bitmaps without smoothing."""

import re
import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.backends import _backend_pdf_ps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pdf import Name, PdfFile, RendererPdf
from matplotlib.figure import Figure
from numpy.typing import NDArray

from xpos_viz.figures.fonts.embedded import drawn_glyphs, faces
from xpos_viz.figures.paper.cells import BITMAP_DPI, Bitmap
from xpos_viz.figures.recipes import KEY, svg_element

Words = Mapping[str, str]
"""Title, alternative text ("alt") and recipe."""

Chunk = tuple[bytes, bytes]
"""Name and data of a part of a PNG."""

Pixels = NDArray[np.uint8]

_TRUE_COLOUR, _INDEXED = 2, 3  # kinds of pixels of a PNG
_AS_BEFORE = 2  # the filter of a line that is written as what it adds to the one before
_STAND_IN = re.compile(rb'xlink:href="data:image/png;base64,[^"]*"')
_TEXT = re.compile(r'<text style="([^"]*)"[^>]*>([^<]*)</text>')


def png(figure: Figure, words: Words) -> bytes:
    """Return the content of a PNG."""
    drawn = pixels(figure)
    height, width, _ = drawn.shape
    rows = drawn.reshape(height, -1)
    new = np.r_[True, (rows[1:] != rows[:-1]).any(1)]
    dots = struct.pack(">IIB", *[round(figure.dpi / 0.0254)] * 2, 1)  # a meter
    texts = {"Title": words["title"], "Description": words["alt"], KEY: words["recipe"]}
    about = [(b"pHYs", dots), *((b"iTXt", _text(*each)) for each in texts.items() if each[1])]
    return _png((width, height), _TRUE_COLOUR, about, zlib.compress(_lines(rows[new], new), 3))


def pixels(figure: Figure) -> Pixels:
    """Return (height, width, 3) colours."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def svg(figure: Figure, words: Words) -> bytes:
    """Return the content of an SVG, with the glyphs that it uses."""
    pictures, file = _stand_ins(figure), BytesIO()
    metadata = {"Title": words["title"], "Description": words["alt"], "Date": None}
    figure.savefig(file, format="svg", metadata=metadata)
    order = iter(pictures)
    content = _STAND_IN.sub(lambda _: next(order).reference(), file.getvalue()).decode()
    used: dict[bool, set[str]] = {False: set(), True: set()}
    for look, text in _TEXT.findall(content):
        used["font-weight" in look].update(unescape(text))
    content = content.replace('<style type="text/css">', f'<style type="text/css">{faces(used)}', 1)
    if words["recipe"]:
        content = content.replace("</metadata>", f"{svg_element(words['recipe'])}</metadata>", 1)
    families = re.compile("font-family: '[^;<>\"]*'")  # a last resort, for what drops our fonts
    return families.sub(r"\g<0>, sans-serif", content).encode()


def pdf(figure: Figure, words: Words) -> bytes:
    """Return the content of a PDF."""
    pictures, file, dpi = _stand_ins(figure, -1), BytesIO(), figure.dpi  # as Matplotlib has them
    metadata = {"Title": words["title"], "Subject": words["alt"], "CreationDate": None}
    if words["recipe"]:
        metadata["Keywords"] = f"{KEY} {words['recipe']}"
    width, height = figure.get_size_inches()
    figure.dpi = 72
    document = _File(file, pictures, metadata)
    whole, _backend_pdf_ps.get_glyphs_subset = _backend_pdf_ps.get_glyphs_subset, drawn_glyphs
    try:
        document.newPage(width, height)
        pen = RendererPdf(document, dpi, height, width)
        renderer: Any = MixedModeRenderer(figure, width, height, dpi, pen)
        figure.draw(renderer)
        renderer.finalize()
        document.finalize()
    finally:
        _backend_pdf_ps.get_glyphs_subset = whole
        document.close()
    return file.getvalue()


@dataclass(frozen=True, eq=False)
class _Picture:
    """A bitmap of few colours, enlarged and packed.

    Parameters
    ----------
    width, height
        Pixels.
    palette
        Red, green and blue of each colour.
    packed
        The lines as PNG and PDF have them: in front of each stands whether it is given, or the
        same as the one before.
    """

    width: int
    height: int
    palette: bytes
    packed: bytes

    @classmethod
    def of(cls, image: Bitmap, step: int) -> "_Picture":
        """Return a bitmap as fine as files need it, from its first or (−1) from its last line."""
        codes = np.ascontiguousarray(image.cells).view(np.uint32)[..., 0]
        palette, index = np.unique(codes, return_inverse=True)
        colours = palette.view(np.uint8).reshape(-1, 4)[:, :3]
        rows, columns = image.places(BITMAP_DPI)
        shown = rows[::step]
        new = np.diff(shown, prepend=-1) != 0
        lines = index.reshape(codes.shape).astype(np.uint8)[shown[new]][:, columns]
        packed = zlib.compress(_lines(lines, new), 3)
        return cls(len(columns), len(rows), colours.tobytes(), packed)

    def reference(self) -> bytes:
        """Return it as the link of an SVG to a PNG within itself."""
        size, palette = (self.width, self.height), (b"PLTE", self.palette)
        content = _png(size, _INDEXED, [palette], self.packed)
        return b'xlink:href="data:image/png;base64,' + b64encode(content) + b'"'


class _File(PdfFile):
    """A PDF whose bitmaps are taken from a list; Matplotlib draws stand-ins of one pixel."""

    def __init__(
        self, file: BytesIO, pictures: list[_Picture], metadata: dict[str, str | None]
    ) -> None:
        super().__init__(file, metadata=metadata)
        self._pictures = pictures

    def _writeImg(self, data: NDArray[np.uint8], id: int, smask: object = None) -> None:  # noqa: A002, ARG002, N802
        picture = self._pictures[int(data[0, 0, 2])]
        colours = len(picture.palette) // 3
        about = {
            "Type": Name("XObject"),
            "Subtype": Name("Image"),
            "Width": picture.width,
            "Height": picture.height,
            "ColorSpace": [Name("Indexed"), Name("DeviceRGB"), colours - 1, picture.palette],
            "BitsPerComponent": 8,
        }
        png = {"Predictor": 10, "Colors": 1, "Columns": picture.width, "BitsPerComponent": 8}
        self.beginStream(id, self.reserveObject("length of image stream"), about, png=png)
        if self.currentstream:
            self.currentstream.write(picture.packed)
        self.endStream()


def _stand_ins(figure: Figure, step: int = 1) -> list[_Picture]:
    """The bitmaps of a figure, on which a stand-in knows its place among them."""
    bitmaps = [image for axes in figure.axes for image in axes.images if isinstance(image, Bitmap)]
    for place, image in enumerate(bitmaps):
        image.stand_in(place)
    return [_Picture.of(image, step) for image in bitmaps]


def _lines(given: Pixels, new: NDArray[np.bool_]) -> bytes:
    """Lines of a PNG: the filter of each, and its pixels; one that is not new adds nothing."""
    lines = np.zeros((len(new), given.shape[1] + 1), np.uint8)
    lines[~new, 0] = _AS_BEFORE
    lines[new, 1:] = given
    return lines.tobytes()


def _png(size: tuple[int, int], kind: int, about: Sequence[Chunk], packed: bytes) -> bytes:
    """A PNG of a kind of pixels, with the chunks that stand before its lines."""
    header = b"IHDR", struct.pack(">IIBBBBB", *size, 8, kind, 0, 0, 0)
    chunks = (header, *about, (b"IDAT", packed), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _text(key: str, text: str) -> bytes:
    """A text of a PNG with its key: in UTF-8, not packed, of no language."""
    return key.encode() + b"\0\0\0\0\0" + text.encode()


def _chunk(name: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

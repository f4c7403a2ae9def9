"""The glyphs that a text uses, as fonts within an SVG or a page."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font
from fontTools.ttLib import TTFont
from matplotlib.backends._backend_pdf_ps import SubsetResults
from matplotlib.font_manager import FontPath

from xpos_viz.figures.fonts import FAMILIES, HAN, face, file_of

_UNUSED = ("GSUB", "GDEF", "FFTM", "DSIG")
_SETTING = ("GPOS", "kern")  # tables with which letters are set


def faces(used: Mapping[bool, Set[str]]) -> str:
    """Return the @font-face rules of characters, by whether they are bold.

    Each font has the glyphs of its own characters only, so that a file stays small.
    """
    rules = [
        (FAMILIES[path == HAN], "bold" if bold else "normal", path, bold)
        for bold in used
        for path in (face(bold=bold), HAN)
    ]
    parts = []
    for family, weight, path, bold in rules:
        own = {character for character in used[bold] if file_of(character, bold=bold) == path}
        if own:
            data = b64encode(_subset(path, "".join(sorted(own)))).decode()
            parts.append(
                f"@font-face{{font-family:'{family}';font-weight:{weight};"
                f"src:url(data:font/woff;base64,{data}) format('woff')}}"
            )
    return "".join(parts)


@contextmanager
def drawn_glyphs(path: FontPath, glyphs: Iterable[int]) -> Iterator[SubsetResults]:
    """Take from a font the glyphs that a PDF draws, as Matplotlib does it.

    Nothing else of the font is read: where its letters stand is known by then.
    """
    options = Options(notdef_outline=True, font_number=path.face_index)
    with _reduced(path, options, _SETTING, gids=glyphs) as (font, places):
        yield SubsetResults(font, places)


@lru_cache(64)
def _subset(path: Path, characters: str) -> bytes:
    """A font with some characters, and their kerning, as WOFF."""
    options, file = Options(layout_features=["kern"], hinting=False, notdef_outline=True), BytesIO()
    with _reduced(path, options, (), text=characters) as (font, _):
        font.flavor, font.recalcTimestamp = "woff", False
        font.save(file)
    return file.getvalue()


@contextmanager
def _reduced(
    path: Path | FontPath,
    options: Options,
    without: Sequence[str],
    *,
    text: str = "",
    gids: Iterable[int] = (),
) -> Iterator[tuple[TTFont, dict[int, int]]]:
    """A font reduced to what is kept, without some tables; and where its glyphs have gone."""
    options.drop_tables = [*options.drop_tables, *_UNUSED, *without]
    subsetter = Subsetter(options)
    subsetter.populate(text=text, gids=gids)
    with load_font(str(path), options) as font:
        subsetter.subset(font)
        yield font, subsetter.glyph_index_map

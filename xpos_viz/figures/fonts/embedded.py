"""The glyphs that a text uses, as fonts within an SVG or a page."""

from base64 import b64encode
from collections.abc import Mapping, Set
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter, load_font

from xpos_viz.figures.fonts import FAMILIES, HAN, face, file_of

_UNUSED = ("GSUB", "GDEF", "FFTM", "DSIG")


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


@lru_cache(64)
def _subset(path: Path, characters: str) -> bytes:
    """A font with some characters, and their kerning, as WOFF."""
    options = Options(layout_features=["kern"], hinting=False, notdef_outline=True)
    options.drop_tables = [*options.drop_tables, *_UNUSED]
    subsetter, file = Subsetter(options), BytesIO()
    subsetter.populate(text=characters)
    with load_font(str(path), options) as font:
        subsetter.subset(font)
        font.flavor, font.recalcTimestamp = "woff", False
        font.save(file)
    return file.getvalue()

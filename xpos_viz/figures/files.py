"""What a file of a figure may be: its kind, its size, its ground and its caption."""

from dataclasses import dataclass

from xpos_viz.choice import check_choice
from xpos_viz.theme import INKS, Mode

KINDS: dict[str, str] = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
"""What :func:`xpos_viz.figures.paper_pen.save` writes, and its media type."""


@dataclass(frozen=True)
class Size:
    """A size of paper with its type.

    Parameters
    ----------
    width, height
        Inches; without a height it is as high as what is on it, up to :data:`HIGHEST`.
    dpi
        Resolution of a PNG.
    title, body, tick, small, note
        Sizes of type, points: of the first line, of other words and legends, of the numbers at
        ticks, of tokens that are many, of what stands below.
    """

    width: float
    height: float | None
    dpi: int
    title: float
    body: float
    tick: float
    small: float
    note: float


SIZES: dict[str, Size] = {
    "page": Size(10.0, 5.625, 288, 12.5, 10.0, 8.5, 7.0, 8.5),
    "slide": Size(40 / 3, 7.5, 288, 22.0, 16.0, 14.0, 12.0, 12.0),
    "column": Size(8.5 / 2.54, None, 600, 8.0, 7.0, 6.5, 6.0, 6.5),
}
"""A page to read, a 16:9 slide to be read from the last row, a column of a paper (8.5 cm)."""


HIGHEST = 23 / 2.54
"""The most height of a column, inches: what margins leave of a page of A4 or Letter."""


@dataclass(frozen=True)
class Paper:
    """What a figure is drawn on.

    Parameters
    ----------
    size
        A key of :data:`SIZES`.
    mode
        "light" or "dark".
    caption
        Text under the figure, or none.

    Raises
    ------
    ValueError
        For another size or mode.

    Examples
    --------
    >>> Paper("poster")
    Traceback (most recent call last):
        ...
    ValueError: unknown size of paper 'poster'; use one of: page, slide, column.
    """

    size: str = "page"
    mode: Mode = "light"
    caption: str = ""

    def __post_init__(self) -> None:
        check_choice("size of paper", self.size, SIZES)
        check_choice("mode", self.mode, INKS)


def check_kind(kind: str) -> None:
    """Refuse a kind of file that is none of :data:`KINDS`.

    Raises
    ------
    ValueError
        With those that are.
    """
    check_choice("kind of file", kind, KINDS)

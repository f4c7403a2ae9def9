"""The sheet under the pen: its size, its ink and its type."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from xpos_viz.figures.files import HIGHEST, Size
from xpos_viz.figures.fonts import is_latin
from xpos_viz.figures.paper.type import LEADING, broken, font, style, widest, width_of
from xpos_viz.theme import Ink

_LEAST = 0.4  # height of a figure, inches of a page


@dataclass(frozen=True)
class _Line:
    """A line of a title: its type and ink, and its distance from the line before, inches."""

    text: str
    size: float
    bold: bool
    ink: str
    step: float


@dataclass(frozen=True, eq=False)
class Sheet:
    """A figure, on which things are placed in inches from its upper left corner.

    Parameters
    ----------
    figure
        Of that size; its height may change once, by :meth:`fit`.
    size
        Of the paper and its type.
    ink
        Of all that is not data.
    caption
        What is written under everything.
    """

    figure: Figure
    size: Size
    ink: Ink
    caption: str = ""

    @property
    def unit(self) -> float:
        """The size of the type over that of a page: spaces and lines grow with it."""
        return self.size.body / 10

    @property
    def margin(self) -> float:
        """Around everything, inches."""
        return 0.15 * self.unit

    @property
    def height(self) -> float:
        """Inches."""
        return float(self.figure.get_figheight())

    def smaller(self) -> "Sheet":
        """Return the same sheet with titles in smaller type, for many small panels."""
        size = replace(self.size, title=self.size.body, body=self.size.tick)
        return replace(self, size=size)

    def fit(self, rest: float, wish: float) -> float:
        """Return the height that `rest` leaves; paper as high as needed grants the wish it can."""
        if self.size.height is None:
            self.figure.set_figheight(min(rest + wish, HIGHEST))
        return self.height - rest

    def check(self, height: float) -> None:
        """Refuse words that leave nearly no height for the figure.

        Raises
        ------
        ValueError
            With what is left, and a way out.
        """
        if height < _LEAST * self.unit:
            raise ValueError(
                f"the words around the figure leave {max(height, 0.0):.1f} of {self.height:.1f} "
                "inches of height for it; use a shorter caption, show less, or use the size "
                f"'column', which may be {HIGHEST:.1f} inches high."
            )

    def place(self, left: float, top: float, width: float, height: float) -> Axes:
        """Put axes on the sheet."""
        across, down = self.size.width, self.height
        return self.figure.add_axes(
            (left / across, 1 - (top + height) / down, width / across, height / down),
            facecolor=self.ink.page,
        )

    def rule(self, axes: Axes) -> None:
        """Make frame and ticks thin."""
        line, ink = 0.6 * self.unit, self.ink.faint
        axes.tick_params(which="both", length=2.5 * self.unit, width=line, color=ink)
        axes.tick_params(which="both", pad=3 * self.unit)
        axes.spines[:].set(linewidth=line, edgecolor=ink)

    def title_height(self, title: Sequence[str], width: float) -> float:
        """Return the height of a title so wide, with the space under it, inches."""
        return sum(line.step for line in self._title(title, width)) + 0.1 * self.unit

    def title_width(self, title: Sequence[str], width: float) -> float:
        """Return the width of the widest line of a title that may be so wide, inches."""
        return max(
            width_of(line.text, line.size, bold=line.bold) for line in self._title(title, width)
        )

    def write_title(self, left: float, top: float, title: Sequence[str], width: float) -> None:
        """Write a title downwards: the first sentence in larger type, the last one faint."""
        for line in self._title(title, width):
            top += line.step
            self._write(left, top, line.text, font(line.size, bold=line.bold), line.ink)

    def notes_height(self, notes: Sequence[str], left: float) -> float:
        """Return the height of notes and of the caption under them, inches."""
        lines = self._below(notes, left)
        return len(lines) * self.size.note * LEADING + 0.05 * self.unit * bool(self.caption)

    def write_notes(
        self, left: float, top: float, notes: Sequence[str], *, inset: float = 0.0
    ) -> None:
        """Write notes downwards, and the caption: at the inset, if there they are short enough."""
        rows = self._below(notes, left)
        length = widest([line for line, _ in rows] or [""], self.size.note)
        left = max(self._outer(left), min(inset, self.size.width - self.margin - length))
        for place, (line, ink) in enumerate(rows, 1):
            base = top + place * self.size.note * LEADING - 0.04 * self.unit
            base += 0.05 * self.unit * (ink == self.ink.text)
            self._write(left, base, line, font(self.size.note), ink)

    def name_axis(self, label: Callable[..., object], text: str, width: float) -> None:
        """Write the title of an axis by the method that sets it, no longer than `width`."""
        lines = "\n".join(broken(text, self.size.body, width))
        label(
            lines,
            rotation_mode="anchor",
            labelpad=2.5 * self.unit,
            **style(font(self.size.body), self.ink.text),
        )

    def name_height(self, text: str, width: float) -> float:
        """Return how much higher the title of an axis is than one line, inches."""
        return (len(broken(text, self.size.body, width)) - 1) * 1.2 / 72 * self.size.body

    def name_width(self, text: str, width: float) -> float:
        """Return the width of the title of an axis that may be so wide, inches."""
        return widest(broken(text, self.size.body, width), self.size.body)

    def _title(self, title: Sequence[str], width: float) -> list[_Line]:
        """The lines of a title."""
        head, *others = [text for text in title if text]
        inks = [self.ink.text] * (len(others) - 1) + [self.ink.faint]
        bold, size, body = is_latin(head), self.size.title, self.size.body
        lines = [
            _Line(text, size, bold, self.ink.text, 1.05 / 72 * size)
            for text in broken(head, size, width, bold=bold)
        ]
        lines += [
            _Line(text, body, False, ink, LEADING * body)
            for other, ink in zip(others, inks, strict=False)
            for text in broken(other, body, width)
        ]
        return lines

    def _below(self, notes: Sequence[str], left: float) -> list[tuple[str, str]]:
        """Lines under a picture, and their ink."""
        width = self.size.width - self._outer(left) - self.margin
        texts = [(note, self.ink.faint) for note in notes]
        texts += [(line, self.ink.text) for line in self.caption.splitlines()]
        return [(line, ink) for text, ink in texts for line in broken(text, self.size.note, width)]

    def _outer(self, left: float) -> float:
        """Where notes begin: at the left edge of what is narrow."""
        return left if self.size.height else self.margin

    def _write(self, left: float, base: float, text: str, type_: FontProperties, ink: str) -> None:
        """A line of text on its base line."""
        x, y = left / self.size.width, 1 - base / self.height
        self.figure.text(x, y, text, va="baseline", **style(type_, ink))

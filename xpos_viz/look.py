"""How a picture is looked at, beside what an experiment says: the same on screen and in files."""

from collections.abc import Mapping
from dataclasses import dataclass

from xpos_viz.choice import check_choice
from xpos_viz.comparison import KINDS
from xpos_viz.theme import PALETTES

LOOKS: Mapping[str, tuple[str, ...]] = {
    "axis": ("linear", "log"),
    "difference": tuple(KINDS),
    "colours": tuple(PALETTES),
}
"""How a picture may be looked at, the usual way first."""


@dataclass(frozen=True)
class Look:
    """How a picture is looked at.

    Parameters
    ----------
    difference
        How the last panel compares: a key of :data:`xpos_viz.comparison.KINDS`.
    colours
        A key of :data:`xpos_viz.theme.PALETTES`.
    axis
        How the distance axis of the curves is divided: "linear" or "log".

    Raises
    ------
    ValueError
        For an unknown name.
    """

    difference: str = "plain"
    colours: str = "blue_red"
    axis: str = "linear"

    def __post_init__(self) -> None:
        for name in ("difference", "colours", "axis"):
            check_choice(name, getattr(self, name), LOOKS[name])

"""A picture: what is drawn, and the numbers behind it."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from xpos_viz.figures.description import Description


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure and its numbers.

    Parameters
    ----------
    description
        What either pen draws.
    table
        Forms the numbers, when they are asked for.
    measured
        Whether they are times, which are others each time that they are measured.
    """

    description: Description
    table: Callable[[], pd.DataFrame]
    measured: bool = False

    @property
    def name(self) -> str:
        """A short name, its own on its page."""
        return self.description.name

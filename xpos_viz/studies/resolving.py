"""The resolution of long texts under masks, over the length and over the scale base."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import pandas as pd

from xpos_viz.curves import expectation_resolution, lag_counts
from xpos_viz.encoding import Encoding
from xpos_viz.pooling.sides import Report

WAYS: tuple[str, ...] = ("length", "scale_base")
"""What the resolution may be followed over."""

SCALE_POWERS = range(4, 17)
"""Exponents of 2 of the scale bases: from 16 to 65,536 tokens."""


@dataclass(frozen=True)
class Course:
    """How the resolution is followed: over the length up to L, or over the scale base at L.

    Parameters
    ----------
    encodings
        Encodings of one width; those without a scale base keep their resolution over it.
    masks
        Words of masks.
    tokens
        L.
    normalisation
        A key of :data:`xpos_viz.curves.NORMALISATIONS`.
    over
        One of :data:`WAYS`.
    """

    encodings: tuple[Encoding, ...]
    masks: tuple[str, ...]
    tokens: int
    normalisation: str
    over: str = "length"

    @property
    def steps(self) -> list[int]:
        """The lengths, or the scale bases, tokens: powers of 2, and L itself."""
        if self.over == "scale_base":
            return [2**power for power in SCALE_POWERS]
        return [*(2**power for power in range(6, (self.tokens - 1).bit_length())), self.tokens]


def resolutions(course: Course, report: Report) -> pd.DataFrame:
    """Resolution of expectation curves along a course (Sun et al. 2022, eq. 3).

    Returns
    -------
    DataFrame
        Columns encoding (the family's name), mask, length (tokens), scale_base (tokens, NaN
        where there is none) and resolution, without a unit.
    """
    rows = []
    panels = list(product(course.encodings, course.masks, course.steps))
    for done, (encoding, mask, step) in enumerate(panels):
        report(done / len(panels))
        rows.append(_row(course, encoding, mask, step))
    return pd.DataFrame(rows)


def _row(course: Course, encoding: Encoding, mask: str, step: int) -> dict[str, object]:
    """The resolution at one step."""
    tokens, scaled = course.tokens, "scale_base" in dict(encoding.parameters)
    if course.over == "length":
        tokens = step
    elif scaled:
        encoding = encoding.replace(scale_base=float(step))
    return {
        "encoding": encoding.name,
        "mask": mask,
        "length": tokens,
        "scale_base": encoding["scale_base"] if scaled else math.nan,
        "resolution": resolution_of(encoding, mask, tokens, course.normalisation),
    }


def resolution_of(encoding: Encoding, mask: str, tokens: int, normalisation: str) -> float:
    """Resolution of an expectation curve (:func:`xpos_viz.curves.expectation_resolution`).

    A mask shows all lags up to its farthest, so a causal text that ends there has the same.
    """
    return _causal(encoding, _farthest(mask, tokens), normalisation)


@lru_cache(maxsize=1024)
def _causal(encoding: Encoding, tokens: int, normalisation: str) -> float:
    """The resolution without another mask; computed once."""
    return expectation_resolution(encoding, tokens=tokens, normalisation=normalisation).item()


@lru_cache(maxsize=1024)
def _farthest(mask: str, tokens: int) -> int:
    """The farthest lag that a mask shows in a text of one token more."""
    lags, _ = lag_counts(mask, tokens + 1)
    return int(lags[-1])

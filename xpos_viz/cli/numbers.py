"""Numbers and words between commas."""

import numpy as np
from numpy.typing import NDArray

MOST = 1_000_000
"""Most lags of a curve."""


def words_of(text: str) -> tuple[str, ...]:
    """Return words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def wholes_of(name: str, text: str) -> list[int]:
    """Return whole numbers between commas.

    Raises
    ------
    ValueError
        For anything else.
    """
    try:
        return [int(word) for word in words_of(text)]
    except ValueError:
        raise ValueError(
            f"{name} must be whole numbers between commas, got {text!r:.60}; use 512,2048."
        ) from None


def values_of(name: str, text: str) -> list[float]:
    """Return numbers between commas.

    Raises
    ------
    ValueError
        For anything else.
    """
    try:
        return [float(word) for word in words_of(text)]
    except ValueError:
        raise ValueError(
            f"{name} must be numbers between commas, got {text!r:.60}; use 0.1,0.4."
        ) from None


def lags_of(text: str) -> NDArray[np.float64]:
    """Return lags that are written one by one, or as start:stop:step.

    Raises
    ------
    ValueError
        For anything else, for none, or for too many.

    Examples
    --------
    >>> lags_of("0,2.5"), lags_of("8:0:-4"), lags_of("0:3")
    (array([0. , 2.5]), array([8., 4.]), array([0., 1., 2.]))
    """
    way_out = "use 0,100,1024 or start:stop:step, such as 0:4097:64."
    try:
        if ":" in text:
            lags = range(*(int(part) for part in text.split(":")))
            count = max(0, -(-(lags.stop - lags.start) // lags.step))
        else:
            lags = [float(word) for word in words_of(text)]
            count = len(lags)
    except (ValueError, TypeError):
        raise ValueError(f"lags must be numbers of tokens, got {text!r:.60}; {way_out}") from None
    if not count:
        raise ValueError(f"lags must be at least one, got none in {text!r:.60}; {way_out}")
    if count > MOST:
        raise ValueError(f"lags must be at most {MOST:,}, got {count:,} in {text!r:.60}; {way_out}")
    return np.array(lags, dtype=np.float64)

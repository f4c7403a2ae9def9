"""How results are written: the machine, quartiles, and tables in the README.md."""

import os
import platform
import statistics
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch

README = Path(__file__).with_name("README.md")
_PACKAGES = ("torch", "streamlit", "plotly")


def machine() -> str:
    """Return a line on where and with what was measured."""
    packages = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    return (
        f"{date.today()}: {platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"{torch.get_num_threads()} torch threads by default, "
        f"Python {platform.python_version()}, {packages}."
    )


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the first quartile, the median and the third quartile.

    Examples
    --------
    >>> quartiles([1.0, 2.0, 3.0, 4.0, 5.0])
    (2.0, 3.0, 4.0)
    """
    if len(values) == 1:
        return values[0], values[0], values[0]
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, median, third


def spread(values: Sequence[float], form: str = ".3f") -> str:
    """Write the median and, in brackets, the quartiles.

    Examples
    --------
    >>> spread([1.0, 2.0, 3.0, 4.0, 5.0], ".1f")
    '3.0 (2.0–4.0)'
    """
    first, median, third = quartiles(values)
    return f"{median:{form}} ({first:{form}}–{third:{form}})"


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile, a whole number of percent.

    Examples
    --------
    >>> percentile([1.0, 2.0, 3.0, 4.0, 5.0], 75)
    4.0
    """
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table.

    Examples
    --------
    >>> table(["n", "ms"], [["256", "8.1"]])
    ['| n | ms |', '|---|---|', '| 256 | 8.1 |']
    """
    lines = [f"| {' | '.join(row)} |" for row in (header, *rows)]
    return [lines[0], "|" + "---|" * len(header), *lines[1:]]


def verdict(reached: bool) -> str:
    """Say whether a goal is reached."""
    return "reached" if reached else "**missed**"


def record(name: str, text: str) -> None:
    """Write a result into the README.md, between its two markers."""
    begin, end = f"<!-- {name}: written by --record -->", f"<!-- {name}: end -->"
    before, _, rest = README.read_text(encoding="utf-8").partition(begin)
    _, _, after = rest.partition(end)
    README.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8", newline="\n")

"""The numbers behind a picture as files: tables with units in their headers, and arrays."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from xpos_viz.figures.description import Bars, Curves, Description, Grid, Heatmaps, Plane
from xpos_viz.pictures import Picture

Named = tuple[str, NDArray[Any]]
Arrays = Mapping[str, NDArray[Any]]

RECIPE = "xpos_viz"
"""The name under which files of numbers hold their recipe."""

_IN_TOKENS = (
    *("query", "key", "lag", "position", "place", "length", "scale_base"),
    *("query_first", "query_last", "key_first", "key_last"),
    *("distance_before", "distance_after"),
)
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # wide letters, too
UNITS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_IN_TOKENS, "tokens") | dict.fromkeys(("start", "centred"), "log10")
)
"""Units by column; all others are numbers without one, or words."""


def tidy(picture: Picture) -> pd.DataFrame:
    """Return the numbers of a picture, a row for each, with units in the header."""
    table = picture.table()
    return table.rename(columns=lambda name: f"{name} [{UNITS[name]}]" if name in UNITS else name)


def csv(table: pd.DataFrame) -> bytes:
    """Write a table as text; it has no place for a recipe that all its readers would pass over.

    Words that a spreadsheet would run as a formula have one ' before them, and so have those that
    already have some: taking one away gives every word back. Numbers are as they are.

    See "CSV Injection", OWASP.

    Examples
    --------
    >>> csv(pd.DataFrame({"token": ["=1", "'=1", "'s"], "lag": [-1, 0, 1]})).decode().split()
    ['token,lag', "'=1,-1", "''=1,0", "'s,1"]
    """
    words = table.select_dtypes(exclude=["number", "bool"]).map(_inert)
    inert = {str(name): column for name, column in words.items()}
    return table.assign(**inert).to_csv(index=False).encode()


def parquet(table: pd.DataFrame, metadata: Mapping[str, str]) -> bytes:
    """Write a table as columns, with words by name in the file's metadata."""
    columns, file = pa.Table.from_pandas(table, preserve_index=False), BytesIO()
    known = columns.schema.metadata or {}
    pq.write_table(columns.replace_schema_metadata({**known, **metadata}), file)
    return file.getvalue()


def rows(table: pd.DataFrame) -> str:
    """Write a table as JSON, an object for each row.

    Null is no number, and "inf" and "-inf" lie beyond all of them.
    """
    written = [
        {name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")
    ]
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"


def columns(table: pd.DataFrame) -> Arrays:
    """Return the columns of a table by name, as numbers or as words."""
    return {str(name): _array(column) for name, column in table.items()}


def npz(arrays: Arrays) -> bytes:
    """Write arrays of numbers and words by name; nothing in it is pickled."""
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


NUMBERS: Mapping[str, Callable[[pd.DataFrame, Arrays, str], bytes]] = MappingProxyType(
    {
        "csv": lambda table, _, __: csv(table),
        "json": lambda table, _, __: rows(table).encode(),
        "parquet": lambda table, _, recipe: parquet(table, {RECIPE: recipe}),
        "npz": lambda _, arrays, recipe: npz({RECIPE: np.array(recipe), **arrays}),
    }
)
"""What writes a table, or the arrays behind it, with their recipe, by the ending of the name."""


def npy(array: NDArray[Any]) -> bytes:
    """Write one array, as it stands in an NPZ file."""
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def arrays(description: Description) -> Iterator[Named]:
    """Return what a description draws, as named arrays.

    Maps have `positions` and `values_0`, `values_1` …, with `titles` for them; curves have
    `x_0`, `y_0` … (and `low_0`, `high_0` of a band) with `labels`; a grid has `columns`, `rows`
    and `values`; bars have `labels`, `series` and `heights`; a plane has `labels`, `steps` and
    complex `paths`.
    """
    yield from _ARRAYS[type(description)](description)


def _inert(value: Any) -> Any:  # noqa: ANN401 - what a table holds
    """A word that no spreadsheet runs; what is no word as it is."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _plain(value: Any) -> Any:  # noqa: ANN401 - what a table holds
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _array(column: pd.Series) -> NDArray[Any]:
    """A column as numbers, or as words."""
    return column.to_numpy() if column.dtype.kind in "biuf" else column.to_numpy(dtype=np.str_)


def _maps(drawn: Heatmaps) -> Iterator[Named]:
    """Arrays of maps."""
    yield "positions", drawn.axis.positions
    yield "titles", np.array(["\n".join(panel.title) for panel in drawn.panels])
    yield from ((f"values_{place}", panel.values) for place, panel in enumerate(drawn.panels))


def _curves(drawn: Curves) -> Iterator[Named]:
    """Arrays of curves."""
    yield "labels", np.array([curve.label for curve in drawn.curves])
    for place, curve in enumerate(drawn.curves):
        yield f"x_{place}", curve.x
        yield f"y_{place}", curve.y
        if curve.band is not None:
            yield f"low_{place}", curve.band[0]
            yield f"high_{place}", curve.band[1]


def _grid(drawn: Grid) -> Iterator[Named]:
    """Arrays of a grid."""
    yield "columns", np.asarray(drawn.columns)
    yield "rows", np.asarray(drawn.rows)
    yield "values", drawn.values


def _bars(drawn: Bars) -> Iterator[Named]:
    """Arrays of bars."""
    yield "labels", np.array(drawn.labels)
    yield "series", np.array([name for name, _ in drawn.series])
    yield "heights", np.stack([heights for _, heights in drawn.series])


def _plane(drawn: Plane) -> Iterator[Named]:
    """Arrays of a plane."""
    yield "labels", np.array(drawn.labels)
    yield "steps", np.array(drawn.steps)
    yield "paths", drawn.paths


_ARRAYS: Mapping[type, Callable[[Any], Iterator[Named]]] = MappingProxyType(
    {Heatmaps: _maps, Curves: _curves, Grid: _grid, Bars: _bars, Plane: _plane}
)

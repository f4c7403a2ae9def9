"""Where results go: a table, JSON or a file; and how far the work is."""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xpos_viz.export import data
from xpos_viz.export.files import write

Arrays = Mapping[str, NDArray[Any]]


def output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--json` and `--out`; the function takes `as_json` and `out`."""
    to_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, an object for each row."
    )
    to_file = click.option(
        "--out",
        type=click.Path(path_type=Path),
        callback=_checked,
        help=f"Write a file instead, by its ending: {', '.join(FORMS)}.",
    )
    return to_json(to_file(function))


def put(
    table: pd.DataFrame, arrays: Arrays | None = None, *, as_json: bool, out: Path | None
) -> None:
    """Print a table, or write it to a file; of NPZ the arrays are given, or are its columns."""
    if out is not None and as_json:
        raise ValueError(
            "--json prints and --out writes; use one of them: --out a.json, for instance."
        )
    if out is not None:
        save(out, FORMS[out.suffix[1:]](table, arrays))
    elif as_json:
        click.echo(_json(table), nl=False)
    else:
        click.echo(table.to_string(index=False) if len(table) else "nothing")


def save(out: Path, content: bytes) -> None:
    """Write a file whole or not at all, and say so."""
    write(out, content)
    click.echo(f"Wrote {out}: {len(content):,} bytes.", err=True)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """Show the share of the work that is done, on standard error."""
    with click.progressbar(length=1000, label=label, file=sys.stderr) as bar:
        yield lambda share: bar.update(round(1000 * share) - bar.pos)


def _checked(_: click.Context, __: click.Parameter, out: Path | None) -> Path | None:
    """The path, if its ending and its folder are such that it can be written at the end."""
    if out is not None:
        check_path(out, tuple(FORMS))
    return out


def check_path(out: Path, forms: tuple[str, ...]) -> None:
    """Raise ValueError unless a file of one of the forms may stand there."""
    if out.suffix[1:] not in forms:
        ending = f"the ending {out.suffix}" if out.suffix else "no ending"
        legal = ", ".join(f".{form}" for form in forms)
        raise ValueError(f"{out} has {ending}; use one of: {legal}.")
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder {out.parent}; make it, or use another one.")


def _json(table: pd.DataFrame, _: Arrays | None = None) -> str:
    """Rows as objects; null is no number, and "inf" and "-inf" lie beyond all of them."""
    rows = [
        {name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401 - what a table holds
    """A value as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _columns(table: pd.DataFrame) -> Arrays:
    """The columns of a table by name, as numbers or as words."""
    return {str(name): _array(column) for name, column in table.items()}


def _array(column: pd.Series) -> NDArray[Any]:
    """A column as numbers, or as words."""
    return column.to_numpy() if column.dtype.kind in "biuf" else column.to_numpy(dtype=np.str_)


FORMS: Mapping[str, Callable[[pd.DataFrame, Arrays | None], bytes]] = MappingProxyType(
    {
        "csv": lambda table, _: data.csv(table),
        "json": lambda table, _: _json(table).encode(),
        "parquet": lambda table, _: data.parquet(table, {}),
        "npz": lambda table, arrays: data.npz(arrays or _columns(table)),
    }
)
"""Kinds of files by the ending of their names."""

"""Where results go: a table, JSON or a file; and how far the work is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pandas as pd

from xpos_viz.cli.command import GIVEN
from xpos_viz.export.data import NUMBERS, Arrays, columns, rows
from xpos_viz.export.recipe import told
from xpos_viz.writing import check, write


def output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--json` and `--out`; the function takes `as_json` and `out`."""
    to_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, an object for each row."
    )
    to_file = click.option(
        "--out",
        type=click.Path(path_type=Path),
        callback=_checked,
        help=f"Write a file instead, by its ending: {', '.join(NUMBERS)}.",
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
        save(out, NUMBERS[out.suffix[1:]](table, arrays or columns(table), provenance()))
    elif as_json:
        click.echo(rows(table), nl=False)
    else:
        click.echo(table.to_string(index=False) if len(table) else "nothing")


def save(out: Path, content: bytes) -> None:
    """Write a file whole or not at all, and say so."""
    write(out, content)
    click.echo(f"Wrote {out}: {len(content):,} bytes.", err=True)


def tell_failures(points: pd.DataFrame) -> None:
    """Say how many points of a sweep failed, and why the first did, if any did."""
    reasons = points["error"].dropna()
    if len(reasons):
        said = f"{len(reasons):,} of {len(points):,} points failed, the first one so: "
        click.echo(said + reasons.iloc[0], err=True)


@contextmanager
def progress(doing: str) -> Iterator[Callable[[float], None]]:
    """Say what is being done, and show the share that is, on standard error."""
    with click.progressbar(length=1000, label=f"{doing}…", file=sys.stderr) as bar:
        yield lambda share: bar.update(round(1000 * share) - bar.pos)


def _checked(_: click.Context, __: click.Parameter, out: Path | None) -> Path | None:
    """The path, if a file can be written there at the end."""
    if out is not None:
        check_path(out, tuple(NUMBERS))
    return out


def check_path(out: Path, forms: tuple[str, ...]) -> None:
    """Raise ValueError or OSError unless a file of one of the forms can be written there."""
    if out.suffix[1:] not in forms:
        ending = f"the ending {out.suffix}" if out.suffix else "no ending"
        legal = ", ".join(f".{form}" for form in forms)
        raise ValueError(f"{out} has {ending}; use one of: {legal}.")
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder {out.parent}; make it, or use another one.")
    check(out)
    if out.is_dir():
        raise ValueError(f"{out} is a folder; use the name of a file in it.")


def provenance() -> str:
    """Return the command that writes a file, as it was given, when, and with which versions."""
    return told(click.get_current_context().meta[GIVEN])

"""What the commands of the lab share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from xpos_viz.cli import INTERRUPTED
from xpos_viz.lab.corpus import Corpus

corpus_option = click.option(
    "--corpus",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of texts, or one text in UTF-8. [Python's standard library]",
)


def say(corpus: Corpus) -> None:
    """Say what is read."""
    sizes = f"{len(corpus.train):,} bytes to learn from, {len(corpus.held_out):,} held out"
    click.echo(f"{corpus.name}: {sizes}.", err=True)


@contextmanager
def goes_on(folder: Path) -> Iterator[None]:
    """Say that work which is interrupted is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"Interrupted; the same command goes on from what is in {folder}.", err=True)
        click.get_current_context().exit(INTERRUPTED)


def spoken(seconds: float) -> str:
    """Return how long something takes, in words."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"

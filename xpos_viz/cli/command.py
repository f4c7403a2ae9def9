"""What all commands share: what they say of themselves, and how they fail."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

import click

from xpos_viz.cli import COMMANDS

GIVEN = "xpos_viz.given"
"""Where the context of a command keeps what was given, as it is typed in a shell."""


class Command(click.Command):
    """A command whose errors are messages and exit codes: 1 failed, 2 wrong use."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read options; --scale_base, as in Python, is --scale-base."""
        words = ctx.command_path.removeprefix(f"{ctx.find_root().command_path} ")
        ctx.meta[GIVEN] = shlex.join([*words.split(), *args])
        with _said(ctx):
            return super().parse_args(ctx, [_dashed(each) for each in args])

    def invoke(self, ctx: click.Context) -> object:
        """Run it."""
        with _said(ctx):
            for name, value in ctx.params.items():
                if isinstance(value, Path) and name != "out":
                    check_out(value, ctx.params.get("out"))
            return super().invoke(ctx)


def check_out(read: Path, out: Path | None) -> None:
    """Raise ValueError if what is written would take the place of what is read."""
    if out and out.is_file() and read.is_file() and out.samefile(read):
        raise ValueError(f"--out must be another file than what is read, got {str(out)!r}.")


def summary(name: str) -> str:
    """Return what a command does, in one sentence."""
    return COMMANDS[name]


def as_option(name: str) -> str:
    """Return a name of Python as an option."""
    return "--" + name.replace("_", "-")


@contextmanager
def _said(ctx: click.Context) -> Iterator[None]:
    """Make errors messages."""
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough; click ends quietly
        raise
    except ValueError as error:
        if not _ours(error):
            raise
        raise click.UsageError(str(error), ctx) from error
    except (MemoryError, RuntimeError) as error:
        if not _lacks_memory(error):
            raise
        said = f"this needs more memory than there is ({error}); use fewer tokens, cells or lags."
        raise click.ClickException(said) from error
    except OSError as error:
        raise click.ClickException(str(error)) from error


def _ours(error: ValueError) -> bool:
    """Whether this package refuses what it was given; others' errors are failures of ours."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals["__name__"]).startswith("xpos_viz.")


def _lacks_memory(error: MemoryError | RuntimeError) -> bool:
    """Whether there is too little memory; torch has no error of its own for it."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def _dashed(argument: str) -> str:
    """An option with dashes in its name; anything else as it is."""
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else argument

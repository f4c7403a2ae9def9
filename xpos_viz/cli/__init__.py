"""The command line: pictures, tables and the dashboard without a line of Python.

Results go to standard output, words and progress to standard error. A command is a module of
this package, imported when it is called, so that `--help` need not wait for torch.
"""

import gc
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

import click

from xpos_viz.version import __version__

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "app": "Start the dashboard and print its address.",
        "figure": "Draw a picture of a page into a file.",
        "export": "Write all of a page, or a picture of it in motion.",
        "reproduce": "Make a file again, and say if its numbers are the same.",
        "capture": "Take the queries and keys of a model that reads a text.",
        "lab": "Train small models, and see what they lose beyond their length.",
        "curve": "Print curves of encodings over distance.",
        "map": "Print a map of scores or weights in blocks of tokens.",
        "pairs": "Print how the pairs of encodings turn and fade.",
        "precision": "Print where number formats end and what their angles lose.",
        "resolution": "Print how well encodings tell distances apart.",
        "sweep": "Try many settings of an encoding, and keep what each gives.",
        "best": "Print the best setting of a sweep for each length.",
        "list": "Print the encodings, samples, presets or pages that there are.",
    }
)
"""What each command does, by its name."""


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


class Commands(click.Group):
    """The commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        gc.disable()  # what is imported stays: looking for garbage in it takes a second
        try:
            return import_module(f"{__name__}.{cmd_name}").command
        finally:
            gc.freeze()
            gc.enable()

    def invoke(self, ctx: click.Context) -> object:
        """Import and run a command, unless it is interrupted."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted; nothing was written.", err=True)
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def main() -> None:
    """See what XPos changes in attention beside RoPE.

    Names and defaults are those of the Python package. Results go to standard output, words and
    progress to standard error.

    Exit codes: 0 done; 1 failed, as where a file cannot be read or written, memory does not
    suffice, or numbers are not those of a file; 2 wrong use, words of the command that cannot be
    meant; 130 interrupted.
    """

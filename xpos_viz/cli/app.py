"""The dashboard."""

from pathlib import Path

import click
from streamlit.web.cli import main as streamlit

from xpos_viz.cli.command import Command, summary

PACKAGE = Path(__file__).parent.parent


def script() -> Path:
    """Where app.py is: inside of an installed package, beside that of a repository."""
    installed = PACKAGE / "dashboard" / "app.py"
    return installed if installed.exists() else PACKAGE.parent / "app.py"


@click.command(
    cls=Command,
    short_help=summary("app"),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def command(options: tuple[str, ...]) -> None:
    """Start the dashboard and print its address.

    OPTIONS go to Streamlit: --server.port 8600, for instance, or --server.address 0.0.0.0
    --browser.serverAddress NAME to serve others. Ctrl-C ends it.
    """
    streamlit(["run", str(script()), *options], prog_name="streamlit", standalone_mode=False)

"""A file of queries and keys on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from xpos_viz.inputs import Capture
from xpos_viz.inputs.files import read_capture
from xpos_viz.inputs.rotation import before_rotation

NAMES: tuple[str, ...] = ("data", "order", "rotated")
"""The options that :func:`data_options` adds, as Python has them."""


def data_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--data`, and what must be said of some files: `--order` and `--rotated`."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "--rotated",
            type=float,
            metavar="BASE",
            help="If the file has q and k after a RoPE of that base, which is undone.",
        ),
        click.option(
            "--order",
            default="",
            metavar="ORDER",
            help='The order of its dimensions where it is unclear: "heads tokens head_dim".',
        ),
        click.option(
            "--data",
            type=file,
            metavar="FILE",
            help="Queries and keys of your own: .npz, .npy, .safetensors or .csv.",
        ),
    ):
        function = option(function)
    return function


def capture_of(data: Path | None, order: str, rotated: float | None) -> Capture | None:
    """Return what a file holds, before any rotation; None without a file.

    Raises
    ------
    ValueError
        For a file that cannot be used.
    """
    if data is None:
        return None
    capture = read_capture(data, reading=order)
    return capture if rotated is None else before_rotation(capture, rotated)

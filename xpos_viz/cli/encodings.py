"""Encodings by name, with their parameters as options."""

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any

import click

from xpos_viz.cli.command import Command, as_option, summary
from xpos_viz.encoding import PARAMETERS, REGISTRY, Encoding, lookup
from xpos_viz.experiment import Experiment
from xpos_viz.state.model import MAX_HEAD_DIM
from xpos_viz.texts import catalogue

Given = Mapping[str, tuple[str, ...]]
"""What was given for each parameter: once for all encodings, or once for each that has it."""

PARAMETER_NAMES: tuple[str, ...] = tuple(
    name for name, row in PARAMETERS.items() if row.each != "bucket"
)
"""Parameters that can be written on a command line."""


def encoding_command(name: str) -> Callable[[Callable[..., None]], Command]:
    """A command on encodings; its function takes `names`, `head_dim` and `parameters`."""

    def decorate(function: Callable[..., None]) -> Command:
        def called(**values: Any) -> None:  # noqa: ANN401 - what click has parsed
            parameters = {name: values.pop(name) for name in PARAMETER_NAMES}
            function(parameters={n: given for n, given in parameters.items() if given}, **values)

        update_wrapper(called, function)  # with the options that were added to it
        called.__doc__ = f"{summary(name)}\n\n{_ENCODINGS}\n\n{function.__doc__}"
        for option in (*reversed([_head_dim, *map(_option, PARAMETER_NAMES)]), _names):
            option(called)
        return click.command(name, cls=Command, short_help=summary(name))(called)

    return decorate


def entries_of(names: Sequence[str], head_dim: int, parameters: Given) -> dict[str, str]:
    """Return the encodings as entries of :meth:`Experiment.from_dict`.

    Raises
    ------
    ValueError
        For a width beyond the cap, a parameter that no encoding has, or one that is given
        neither once nor once for each.
    """
    if head_dim > MAX_HEAD_DIM:
        raise ValueError(
            f"head_dim must be at most {MAX_HEAD_DIM} here, got {head_dim}; use {MAX_HEAD_DIM}, "
            "or set XPOS_VIZ_MAX_HEAD_DIM."
        )
    names = names or ("rope", "xpos")
    entries = {"encodings": ",".join(names), "head_dim": str(head_dim)}
    for parameter, given in parameters.items():
        entries |= _placed(names, parameter, given)
    return entries


def encodings_of(names: Sequence[str], head_dim: int, parameters: Given) -> tuple[Encoding, ...]:
    """Return the encodings; `("rope", "xpos")` where none is named."""
    entries = entries_of(names, head_dim, parameters)
    return Experiment.from_dict({**entries, "source": "expectation"}).encodings


def _placed(names: Sequence[str], parameter: str, given: tuple[str, ...]) -> dict[str, str]:
    """The values of a parameter by the place of the encoding."""
    places = [n for n, name in enumerate(names, 1) if parameter in lookup(name).defaults]
    option = as_option(parameter)
    if not places:
        having = ", ".join(name for name, row in REGISTRY.items() if parameter in row.defaults)
        raise ValueError(
            f"{option} is no parameter of {', '.join(names)}, got {given[0]!r}; "
            f"leave it out, or use one of: {having}."
        )
    values = given * len(places) if len(given) == 1 else given
    if len(values) != len(places):
        raise ValueError(
            f"{option} must be given once, or once for each encoding that has it "
            f"({', '.join(names[place - 1] for place in places)}), got {len(given)} values: "
            f"{', '.join(given)}."
        )
    return {f"{parameter}.{n}": value for n, value in zip(places, values, strict=True)}


def _option(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option for a parameter."""
    families = [row.name for row in REGISTRY.values() if name in row.defaults]
    words = catalogue("en").get(f"ui.{name}_help", "")
    return click.option(
        as_option(name),
        name,
        multiple=True,
        metavar="NUMBER",
        help=f"{words} [{', '.join(families)}]",
    )


_names = click.argument("names", metavar="[ENCODING]...", nargs=-1)
_head_dim = click.option(
    "--head-dim",
    type=int,
    default=64,
    show_default=True,
    help="Width of a query or key, even.",
)
_ENCODINGS = """ENCODING is a name of `xpos-viz list encodings`, or several; rope and xpos where
there is none. A parameter holds for all encodings that have it; given several times, the first is
for the first of them, and so on: xpos xpos --scale-base 64 --scale-base 512. Numbers between
commas are one for each head: --gamma 0.2,0.4."""

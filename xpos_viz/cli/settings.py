"""The settings of the dashboard as options: by link, by preset, one by one."""

from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qsl, urlsplit

import click

from xpos_viz.choice import check_choice
from xpos_viz.cli.command import as_option
from xpos_viz.inputs import Capture
from xpos_viz.inputs.captured import keep
from xpos_viz.pictures import PICTURES
from xpos_viz.state import OWN, PRESETS, SETTINGS, Refusal, State, from_address, opening
from xpos_viz.state.model import MAX_HEAD_DIM, MAX_LENGTH
from xpos_viz.studies.reading import MOST_BYTES
from xpos_viz.texts import catalogue

KEYS: tuple[str, ...] = tuple(
    dict.fromkeys(
        key
        for key in (
            *("source", "name", "layer", "head", "length", "head_dim", "keys", "seed"),
            *("base", "base.1", "base.2", "gamma", "scale_base"),
            *opening().to_dict(),
            *("stop", *SETTINGS, *OWN, "lang"),
        )
        if key not in ("encodings", "cells", "present", "show")
    )
)
"""What an address may set of a picture."""


_CAPS = {"length": MAX_LENGTH, "head_dim": MAX_HEAD_DIM, "passage": MOST_BYTES}


def settings_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--link`, `--preset` and an option for every setting."""
    for key in reversed(KEYS):
        function = click.option(as_option(key), _place(key), metavar="VALUE", help=_help(key))(
            function
        )
    names = ", ".join(PRESETS)
    preset = click.option("--preset", metavar="NAME", help=f"Settings worth a look: {names}.")
    link = click.option("--link", metavar="URL", help="A link of the dashboard.")
    return link(preset(function))


def asked(
    page: str | None,
    link: str | None,
    preset: str | None,
    values: Mapping[str, str | None],
    brought: Capture | None = None,
) -> tuple[str, State]:
    """Return the page and the state that are asked for.

    A preset is changed by a link, and both by what is given itself. Queries and keys that
    somebody brought are the source, unless another is given.

    Raises
    ------
    ValueError
        For an unknown page or preset, or with all that cannot be used.
    """
    usual, parameters = _preset(preset)
    if link is not None:
        parts = _parts(link)
        usual = parts.path.rstrip("/").rpartition("/")[2] or usual or next(iter(PICTURES))
        parameters |= dict(parse_qsl(parts.query, keep_blank_values=True))
    if brought is not None:
        parameters |= _data(parameters, keep(brought))
    parameters |= {key: text for key in KEYS if (text := values[_place(key)]) is not None}
    state, refused = from_address(parameters)
    if refused:
        raise ValueError("\n".join(map(_said, refused)))
    return _page(page or usual), state


def _data(parameters: Mapping[str, str], here: str) -> dict[str, str]:
    """The source and the name of data, if they are those that a link asks for."""
    if (wanted := parameters.get("data", here)) != here:
        raise ValueError(
            f"the link asks for data with the hash {wanted:.12}…, got {here:.12}…; use the file "
            "that it was made from, read in the same way."
        )
    return {"source": "capture", "data": here}


def _parts(link: str) -> SplitResult:
    """The parts of a link."""
    try:
        return urlsplit(link)
    except ValueError as error:
        raise ValueError(
            f"{link!r:.80} is no link ({error}); use one that the dashboard shows under Share."
        ) from error


def _preset(name: str | None) -> tuple[str, dict[str, str]]:
    """The page and the settings of a preset."""
    if name is None:
        return "", {}
    check_choice("preset", name, PRESETS)
    page, parameters = PRESETS[name]
    return page, dict(parameters)


def _page(name: str) -> str:
    """The name of a page, if there is one."""
    if not name:
        raise ValueError(f"a page must be named; use one of: {', '.join(PICTURES)}.")
    check_choice("page", name, PICTURES)
    return name


def _said(refusal: Refusal) -> str:
    """What is wrong about a setting, and the way out."""
    if refusal.used is None:
        return f"there is no setting {refusal.key} here, got {refusal.value!r}; leave it out."
    return f"{as_option(refusal.key)} {refusal.value}: {refusal.reason}"


def _place(key: str) -> str:
    """A setting as a name in Python."""
    return key.replace(".", "__")


def _help(key: str) -> str:
    """What a setting is, and what it may be."""
    family, _, own = key.partition(".")
    words = catalogue("en").get(f"ui.{own if key in OWN else family}_help", "")
    if key in _CAPS:
        words = words.format(cap=f"{_CAPS[key]:,}")
    if key in OWN:
        return f"{words} [{family}; usually {OWN[key]:g}]"
    legal = getattr(SETTINGS.get(key), "legal", ())
    return f"{words} [{', '.join(legal)}]" if legal else words

"""Every sentence that a reader sees, in one catalogue per language.

A catalogue is a folder of TOML files, one per room or page; `figure.stage.scores` is a key.
Values in braces are filled in: `text("figure.block", block=4)`.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES: dict[str, str] = {"en": "English", "zh": "简体中文"}
"""Languages by code, each by its own name."""

TAGS: dict[str, str] = {"en": "en", "zh": "zh-Hans"}
"""Languages as a page in HTML names them, by code."""

_APART = re.compile(r"(?<=[\u4e00-\u9fff），。：；]) (?=[\u4e00-\u9fff（])")

Text = Callable[..., str]
"""A function from a key, and values to fill in, to a sentence of one language."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return all sentences of a language by key.

    Raises
    ------
    ValueError
        For a language without a catalogue.
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}; use one of: {', '.join(LANGUAGES)}.")
    folder = files("xpos_viz.texts") / language
    parts = [
        tomllib.loads(part.read_text(encoding="utf-8"))
        for part in folder.iterdir()
        if part.name.endswith(".toml")
    ]
    return dict(pair for part in parts for pair in _flat("", part))


@cache
def texts(language: str) -> Text:
    """Return the function that looks up and fills in sentences of a language.

    Examples
    --------
    >>> texts("en")("figure.stage.scores")
    'raw scores q·k'
    """
    sentences = catalogue(language)

    def text(key: str, /, **values: object) -> str:
        return _joined(sentences[key].format(**values)) if values else sentences[key]

    return text


def _joined(sentence: str) -> str:
    """A sentence without spaces between two Chinese characters, as where a name was filled in."""
    return _APART.sub("", sentence)


def _flat(prefix: str, table: dict[str, Any]) -> list[tuple[str, str]]:
    """The sentences of nested tables under dotted keys."""
    return [
        pair
        for name, value in table.items()
        for pair in (
            _flat(f"{prefix}{name}.", value)
            if isinstance(value, dict)
            else [(prefix + name, value)]
        )
    ]

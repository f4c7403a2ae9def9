"""A sweep as a file that people write: TOML, whose errors show the line."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xpos_viz.choice import check_choice
from xpos_viz.choosing import located
from xpos_viz.choosing.located import PartError, at
from xpos_viz.choosing.spec import Spec
from xpos_viz.inputs import Capture
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.files import WrongOrderError, read_capture
from xpos_viz.inputs.rotation import before_rotation

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\]\[]+?)\s*\]\]?\s*(#.*)?$")
_ENTRY = re.compile(r"\s*([\w\-.\s\"']+?)\s*=")
_OF_FILES = ("file", "order", "rotated")
_OF_TEXTS = ("sample", *_OF_FILES, "layers", "heads")


def read_spec(path: str | Path) -> Spec:
    r"""Read a sweep from a TOML file.

    Keys are those of :class:`xpos_viz.choosing.Spec`, with `[[objectives]]` for its goals.
    Beside a `sample`, a text may be a `file` of queries and keys, beside the TOML file unless
    its path is whole, with its `order` of dimensions and the base by which it is `rotated` as
    the command line has them.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Spec
        What it asks for; captures are kept (:func:`xpos_viz.inputs.captured.keep`).

    Raises
    ------
    ValueError
        For what is not legal, with the line, the value, and what would be.
    OSError
        If a file cannot be read.
    """
    path = Path(path)
    entries = _entries(path)
    with lines_of(path):
        spec = Spec.from_dict(_with_files(entries, path.parent))
        for place, each in enumerate(spec.texts):
            with at("texts", place):
                each.check()
        return spec


@contextmanager
def lines_of(path: Path) -> Iterator[None]:
    """Say of errors which file they are about, and which line of it, where that is known."""
    try:
        yield
    except PartError as error:
        line = line_of(path.read_text(encoding="utf-8"), error.path)
        raise ValueError(f"{path}, line {line}: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def line_of(text: str, path: located.Path) -> int:
    r"""Return the line of a part of a TOML text, counted from 1, or that of what it is a part of.

    Examples
    --------
    >>> line_of(
    ...     'seed = 1\n[[texts]]\nsample = "harbour"\n[[texts]]\nlayers = [99]\n',
    ...     ("texts", 1, "layers"),
    ... )
    5
    """
    lines = dict(_parts(text))
    found = (lines.get(path[:length]) for length in range(len(path), 0, -1))
    return next((line for line in found if line), 1)


def _entries(path: Path) -> dict[str, Any]:
    """What a file has, as TOML; numbers of thousands of digits and deep brackets are none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no TOML: {error}; use key = value.") from error


def _parts(text: str) -> Iterator[tuple[located.Path, int]]:
    """The parts of a text and their lines, the last one of each first kept."""
    table: located.Path = ()
    seen: Counter[located.Path] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _TABLE.match(line):
            table = _keys(header[2])
            if header[1] == "[[":
                seen[table] += 1
                table = (*table, seen[table] - 1)
            yield table, number
        elif entry := _ENTRY.match(line):
            keys = _keys(entry[1])
            yield from (((*table, *keys[:end]), number) for end in range(1, len(keys) + 1))


def _keys(words: str) -> located.Path:
    """A dotted key as keys."""
    return tuple(word.strip().strip("\"'") for word in words.split("."))


def _with_files(entries: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same entries, with a hash for each file of queries and keys."""
    texts = entries.get("texts")
    if not isinstance(texts, list):
        return entries
    found = []
    for place, text in enumerate(texts):
        with at("texts", place):
            found.append(_with_file(text, folder))
    return {**entries, "texts": found}


def _with_file(text: object, folder: Path) -> object:
    """The same text, with a hash for its file."""
    if not isinstance(text, dict):
        return text
    _check_keys(text)
    if "sample" in text:
        return text
    capture = _read(text, folder)
    if "rotated" in text:
        with at("rotated"):
            capture = before_rotation(capture, text["rotated"])
    rest = {key: value for key, value in text.items() if key not in _OF_FILES}
    return {**rest, "data": keep(capture)}


def _read(text: dict[str, Any], folder: Path) -> Capture:
    """The capture of a text; a wrong order is an error of that, all else of the file."""
    try:
        return read_capture(folder / str(text["file"]), reading=str(text.get("order", "")))
    except ValueError as error:
        ordered = isinstance(error, WrongOrderError) and "order" in text
        raise PartError(str(error), ("order" if ordered else "file",)) from error


def _check_keys(text: dict[str, Any]) -> None:
    """Raise ValueError for a key that a text has not, or a text without a sample or a file."""
    sampled = "sample" in text
    legal = tuple(key for key in _OF_TEXTS if not (sampled and key in _OF_FILES))
    for key in text:
        with at(key):
            check_choice("key of a text", key, legal)
    if not sampled and "file" not in text:
        raise ValueError(
            'a text must have a sample or a file, got neither; use sample = "tidebook", '
            "for instance."
        )

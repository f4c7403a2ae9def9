"""What a file was made from: enough to make it again, and to know that it is the same."""

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from urllib.parse import urlencode

import numpy as np

from xpos_viz.export.sweeps import Sweep
from xpos_viz.figures.files import Paper
from xpos_viz.inputs import Captured, Sample
from xpos_viz.measurements import load
from xpos_viz.pictures import Picture
from xpos_viz.state import State, recorded, to_address
from xpos_viz.version import __version__

PACKAGES: tuple[str, ...] = ("torch", "numpy", "pandas", "matplotlib", "plotly")
"""Those that have a part in the numbers or the drawing."""


@dataclass(frozen=True)
class Recipe:
    """How a file was made.

    Parameters
    ----------
    page, picture
        Which picture of which page; no picture is all of the page.
    settings
        All settings, the language too (:func:`xpos_viz.state.recorded`).
    paper
        What it is drawn on.
    sweep
        Of a picture in motion, the `parameter` and its `values` between commas; else empty.
    numbers
        Fingerprint of all numbers and words that are drawn (SHA-256, hexadecimal); of a picture
        in motion, those of its frames.
    data
        Fingerprint of queries and keys that are not made from the settings, or ""; of a capture
        that somebody brought, its hash, by which its file is asked for.
    link
        The address of the page with these settings.
    date
        When the file was made, UTC, ISO 8601.
    versions
        Version by package.
    """

    page: str
    picture: str
    settings: Mapping[str, str]
    paper: Paper
    sweep: Mapping[str, str]
    numbers: str
    data: str
    link: str
    date: str
    versions: Mapping[str, str]

    @classmethod
    def of(
        cls,
        page: str,
        pictures: Sequence[Picture],
        state: State,
        language: str,
        *,
        link: str = "",
        paper: Paper | None = None,
    ) -> "Recipe":
        """Return the recipe of some pictures of a page; a link without a host if none is given."""
        spoken = replace(state, language=language)
        return cls(
            page,
            pictures[0].name if len(pictures) == 1 else "",
            recorded(spoken),
            paper or Paper(),
            {},
            fingerprint([picture.description for picture in pictures]),
            data_of(state),
            link or f"/{page}?{urlencode(to_address(spoken), safe=',:')}",
            datetime.now(UTC).isoformat(timespec="seconds"),
            versions(),
        )

    def moving(self, shown: Sweep) -> "Recipe":
        """Return the recipe of the picture in motion."""
        values = ",".join(repr(float(value)) for value in shown.values)
        swept = {"parameter": shown.parameter, "values": values}
        return replace(self, sweep=swept, numbers=fingerprint(shown.frames))

    def text(self) -> str:
        """Write the recipe as JSON."""
        return json.dumps({"xpos_viz": asdict(self)}, ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "Recipe":
        """Read what :meth:`text` wrote.

        Raises
        ------
        ValueError
            For anything else.
        """
        try:
            entries = json.loads(text)["xpos_viz"]
            words: dict[str, Any] = {
                each.name: _words(entries[each.name], each.type) for each in fields(cls)
            }
            return cls(paper=Paper(**words.pop("paper")), **words)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"a recipe is the JSON that stands in figures made by xpos_viz, got {text!r:.120}; "
                "use such a file, or the recipe.json of a bundle; a command is run again."
            ) from error


def told(command: str) -> str:
    """Write which command of `xpos-viz` made a table, and when, with which versions, as JSON."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    entries = {"command": command, "date": date, "versions": versions()}
    return json.dumps({"xpos_viz": entries}, ensure_ascii=False)


def versions() -> dict[str, str]:
    """Return the versions that take part in numbers and drawing."""
    known = {name: version(name) for name in PACKAGES}
    return {"xpos_viz": __version__, "python": platform.python_version(), **known}


def data_of(state: State) -> str:
    """Return the fingerprint of queries and keys that settings alone cannot make, or ""."""
    experiment = state.experiment
    if isinstance(experiment.inputs, Captured):
        return experiment.inputs.data
    if not isinstance(experiment.inputs, Sample):
        return ""
    vectors = load(experiment.inputs, experiment.encodings[0].head_dim)
    return fingerprint([vectors.q.numpy(), vectors.k.numpy()])


def fingerprint(value: object) -> str:
    """Return the SHA-256 of all numbers and words within a value: dataclasses, arrays, tuples.

    Examples
    --------
    >>> fingerprint((1.0, "a")) == fingerprint([1.0, "a"]) != fingerprint((1.0, "b"))
    True
    """
    digest = hashlib.sha256()
    for piece in _pieces(value):
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()


def _pieces(value: object) -> Iterator[bytes]:
    """Everything within a value, as bytes."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        yield f"{array.dtype.str}{array.shape}".encode()
        yield array.tobytes()
    elif is_dataclass(value):
        for entry in fields(value):
            yield from _pieces(getattr(value, entry.name))
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for item in value:
            yield from _pieces(item)
    else:
        yield repr(value).encode()


def _words(value: Any, kind: object) -> Any:  # noqa: ANN401 - what JSON holds
    """Return words, or words by name; raise TypeError for anything else."""
    if isinstance(value, dict) == (kind is str):
        raise TypeError(value)
    words = [value] if kind is str else value.values()
    if not all(isinstance(word, str) for word in words):
        raise TypeError(value)
    return value

"""An experiment: which encodings, on which queries and keys, seen how.

An :class:`Experiment` is a value: frozen, checked, hashable, and the same after a trip
through a flat dict of strings, which is an address or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, cast, get_args

from xpos_viz.choice import check_choice
from xpos_viz.encoding import Encoding, Value, lookup
from xpos_viz.entry import check_whole
from xpos_viz.inputs import SOURCES, Inputs
from xpos_viz.masks import Mask

D = TypeVar("D", bound="Inputs | View")
Stage = Literal["scores", "scaled", "masked", "weights"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""Raw q·k; divided by √d; as logits, masked; after the softmax."""


@dataclass(frozen=True)
class View:
    """What is shown of an experiment.

    Parameters
    ----------
    stage
        One of :data:`STAGES`.
    mask
        A word of :mod:`xpos_viz.masks`: "causal", "none", "sliding:256", "blockwise:512" …
    start, stop
        The tokens shown, start ≤ t < stop; None is the last. Weights still see every key.
    cells
        Most cells a side; more tokens than that are shown as block means.

    Raises
    ------
    ValueError
        For an unknown stage or mask, or numbers out of range.
    """

    stage: Stage = "scores"
    mask: str = "causal"
    start: int = 0
    stop: int | None = None
    cells: int = 256

    def __post_init__(self) -> None:
        check_choice("stage", self.stage, STAGES)
        object.__setattr__(self, "mask", str(Mask.of(self.mask)))
        check_whole("start", self.start, 0)
        if self.stop is not None:
            check_whole("stop", self.stop, self.start + 1)
        check_whole("cells", self.cells, 1)


@dataclass(frozen=True)
class Experiment:
    """Encodings to compare, on queries and keys, under one view.

    Parameters
    ----------
    encodings
        One or more, of one width.
    inputs
        Where queries and keys come from.
    view
        What is shown of them.

    Raises
    ------
    ValueError
        If the widths differ or do not fit the inputs, or the view lies outside the tokens.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> experiment = Experiment((rope(64), xpos(64)), Expectation(128))
    >>> experiment.to_dict()["scale_base"]
    '512'
    >>> Experiment.from_dict(experiment.to_dict()) == experiment
    True
    """

    encodings: tuple[Encoding, ...]
    inputs: Inputs
    view: View = field(default_factory=View)

    def __post_init__(self) -> None:
        widths = sorted({encoding.head_dim for encoding in self.encodings})
        if not widths:
            raise ValueError("an experiment needs an encoding, got none; use (rope(64), xpos(64)).")
        if len(widths) != 1:
            raise ValueError(f"the encodings must share one head_dim, got {widths}; use one width.")
        if self.inputs.head_dim not in (None, widths[0]):
            raise ValueError(
                f"these inputs have head_dim {self.inputs.head_dim}, got encodings of {widths[0]}; "
                f"use {self.inputs.head_dim}, or expectation or random inputs."
            )
        first, last = self.inputs.first, self.inputs.tokens
        if not first <= self.view.start < last or (self.view.stop or 0) > last:
            within = f"{last} tokens" if first == 0 else f"the {last - first} tokens with a query"
            raise ValueError(
                f"the view must lie within {within}, got {self.view.start} to {self.view.stop}; "
                f"use {first} to {last}."
            )

    @property
    def window(self) -> range:
        """The tokens that are shown."""
        stop = self.inputs.tokens if self.view.stop is None else self.view.stop
        return range(self.view.start, stop)

    def to_dict(self) -> dict[str, str]:
        """Return the experiment as a flat dict of strings, whole and readable.

        A parameter stands under its name where all encodings that have it agree, and as
        `name.1`, `name.2` … (the encoding's place) where they do not. Values of heads stand
        between commas, rows of a table between semicolons.
        """
        entries: dict[str, Any] = {
            "encodings": ",".join(encoding.name for encoding in self.encodings),
            "head_dim": self.encodings[0].head_dim,
        }
        placed = {
            f"{name}.{place}": value
            for place, encoding in enumerate(self.encodings, 1)
            for name, value in encoding.parameters[1:]
        }
        if any("rotary_width" in key for key in placed):  # then that of the others matters, too
            placed |= {f"rotary_width.{n}": e.rotary_width for n, e in enumerate(self.encodings, 1)}
        for name in dict.fromkeys(key.split(".")[0] for key in placed):
            own = {key: value for key, value in placed.items() if key.split(".")[0] == name}
            entries |= {name: next(iter(own.values()))} if len(set(own.values())) == 1 else own
        source = next(name for name, kind in SOURCES.items() if type(self.inputs) is kind)
        entries |= {"source": source} | _entries(self.inputs) | _entries(self.view)
        return {key: _written(value) for key, value in entries.items() if value is not None}

    @classmethod
    def from_dict(cls, entries: Mapping[str, str]) -> "Experiment":
        """Return the experiment that :meth:`to_dict` wrote; what is left out has its default.

        Raises
        ------
        ValueError
            For an unknown key, or a value that does not parse or is not legal.
        """
        rest = dict(entries)
        names = rest.pop("encodings", "rope,xpos").split(",")
        head_dim = parse_whole("head_dim", rest.pop("head_dim", "64"))
        source = rest.pop("source", "sample")
        check_choice("source", source, SOURCES)
        encodings = tuple(
            Encoding(name, (("head_dim", head_dim), *_parameters(rest, name, place)))
            for place, name in enumerate(names, 1)
        )
        parameters = [
            key
            for place, encoding in enumerate(encodings, 1)
            for name in (*encoding.family.defaults, "rotary_width")
            for key in (name, f"{name}.{place}")
        ]
        described = [entry.name for kind in (SOURCES[source], View) for entry in fields(kind)]
        legal = sorted({*parameters, *described})
        if unknown := [key for key in rest if key not in legal]:
            raise ValueError(f"unknown setting {unknown[0]!r}; use: {', '.join(legal)}.")
        return cls(encodings, _parsed(SOURCES[source], rest), _parsed(View, rest))


def _written(value: object) -> str:
    """A setting as text: numbers in full precision, whole ones without a point.

    Tuples are written as 0.2,0.4 and tables as rows between semicolons; one number or row
    alone keeps its mark: 0.2,
    """
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        mark = ";" if isinstance(items[0], tuple) else ","
        return mark.join(map(_written, items)) + mark * (len(items) == 1)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _entries(part: Inputs | View) -> dict[str, Any]:
    """The fields of a description by name."""
    return {entry.name: getattr(part, entry.name) for entry in fields(part)}


def _parameters(entries: Mapping[str, str], name: str, place: int) -> tuple[tuple[str, Value], ...]:
    """The parameters given for the encoding at `place`, parsed."""
    legal = (*lookup(name).defaults, "rotary_width")
    given = {key: entries.get(f"{key}.{place}", entries.get(key)) for key in legal}
    return tuple((key, _value(key, text)) for key, text in given.items() if text is not None)


def _value(name: str, text: str) -> Value:
    """Parse a number, numbers between commas, or rows of them between semicolons."""
    if name == "rotary_width":
        return parse_whole(name, text)
    if ";" in text:
        return tuple(_numbers(name, row) for row in text.removesuffix(";").split(";"))
    return _numbers(name, text) if "," in text else parse_number(name, text)


def _numbers(name: str, text: str) -> tuple[float, ...]:
    """Parse numbers between commas."""
    return tuple(parse_number(name, part) for part in text.removesuffix(",").split(","))


def _parsed(kind: type[D], entries: Mapping[str, str]) -> D:
    """A description made from the entries that are its fields, parsed by their types."""
    given: dict[str, Any] = {}
    for entry in fields(kind):
        if entry.name in entries:
            text = entries[entry.name]
            given[entry.name] = parse_whole(entry.name, text) if "int" in str(entry.type) else text
    return kind(**given)


def written_encoding(encoding: Encoding, usual: Encoding | None = None) -> str:
    """Return an encoding without its width, as :func:`parse_encoding` reads it.

    Parameters
    ----------
    encoding
        What is written.
    usual
        One of its family whose parameters are left out; None is the family's defaults.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> written_encoding(xpos(64)), written_encoding(xpos(64, gamma=0.8, scale_base=64.0))
    ('xpos', 'xpos:gamma:0.8:scale_base:64')
    """
    names = encoding.family.defaults
    known = names if usual is None else dict(usual.parameters)
    own = ((name, encoding[name]) for name in names if encoding[name] != known[name])
    return ":".join((encoding.name, *(f"{name}:{_written(value)}" for name, value in own)))


def parse_encoding(text: str, **usual: Value) -> Encoding:
    """Return an encoding whose parameters are numbers.

    Parameters
    ----------
    text
        Its name, and pairs of parameter and number.
    usual
        Its `head_dim` and `rotary_width`, and parameters that the text need not have.

    Raises
    ------
    ValueError
        For a text that is none, or parameters that are not legal.

    Examples
    --------
    >>> parse_encoding("xpos:gamma:0.8", head_dim=64)
    xpos(64, base=10000.0, gamma=0.8, scale_base=512.0)
    """
    name, *words = text.split(":")
    if len(words) % 2:
        raise ValueError(
            f"an encoding must be its name and pairs of parameter and number, got {text!r:.40}; "
            "use xpos:gamma:0.8:scale_base:64."
        )
    pairs = zip(words[::2], words[1::2], strict=True)
    own = ((parameter, parse_number(parameter, number)) for parameter, number in pairs)
    return Encoding(name, (*usual.items(), *own))


def parse_number(name: str, text: str) -> float:
    """Return the real number that a text is, else raise ValueError."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r:.40}; use 0.4 or 1e4.") from None


def parse_whole(name: str, text: str) -> int:
    """Return the integer that a text is, else raise ValueError."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{name} must be a whole number, got {text!r:.40}; use 1, 2, 3 …"
        ) from None

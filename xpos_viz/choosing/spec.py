r"""A sweep as data: an encoding whose parameters vary, on what it is tried, and what is wanted.

A *setting* is one value of each parameter; a *case* is what it is tried on, a length or a head
of a text; a *point* is a setting in a case, and has a number. Points are counted setting by
setting, and within one case by case, so that a number says all: no list of them is ever made.

Where several parameters have values or steps, settings are all combinations of these; where
spans have no steps, each combination is taken with `points` of a Sobol sequence over the spans
(Sobol' 1967; scrambled, Owen 1998).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch.quasirandom import SobolEngine

from xpos_viz.choice import check_choice
from xpos_viz.choosing.goals import Goal, goal_of
from xpos_viz.choosing.located import at
from xpos_viz.choosing.ranges import MOST, Range, Span, check_range, range_of, written_range
from xpos_viz.encoding import PARAMETERS, Encoding, check_head_dim, lookup
from xpos_viz.entry import check_whole
from xpos_viz.experiment import Experiment
from xpos_viz.inputs import Capture, Captured, Computed, Expectation, Sample
from xpos_viz.inputs.captured import lookup as lookup_capture
from xpos_viz.inputs.sample import SAMPLES, sample_capture
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.limits import LIMITS
from xpos_viz.studies.tokens import own_encoding

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

Case: TypeAlias = Expectation | Computed
"""What a setting is tried on."""

LONGEST = 1 << 24
"""Most tokens of a length."""

MOST_POINTS = 10**10
"""Most points of a sweep: their numbers have ten digits in the names of files."""

COLUMNS: tuple[str, ...] = (
    *("point", "setting", "length", "text", "layer", "head", "error"),
    *("loss", "allowed", "front"),
)
"""Names of columns that no label may have."""


@dataclass(frozen=True)
class Text:
    """Heads of a captured text.

    Parameters
    ----------
    sample
        A bundled text, one of :data:`xpos_viz.inputs.sample.SAMPLES`, or "".
    data
        Otherwise the hash of a capture that is kept (:func:`xpos_viz.inputs.captured.keep`).
    layers, heads
        Which of them, by number; none is all.

    Raises
    ------
    ValueError
        For neither or both, an unknown sample, or layers or heads that a sample has not; those
        of data, which need not be here yet, are what :meth:`check` looks at.

    Examples
    --------
    >>> [head.head for head in Text("pronoun", layers=(8,), heads=(2, 3)).inputs]
    [2, 3]
    """

    sample: str = ""
    data: str = ""
    layers: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.sample) == bool(self.data):
            raise ValueError(
                f"a text must be a sample or data, got {self.sample!r:.40} and {self.data!r:.40}; "
                'use sample = "tidebook", for instance.'
            )
        if self.sample:
            with at("sample"):
                check_choice("sample", self.sample, SAMPLES)
            self.check()

    def check(self) -> None:
        """Raise ValueError for layers or heads that it has not, or data that are not kept."""
        capture = self._capture
        for name, have in (("layers", capture.place), ("heads", capture.key_head)):
            with at(name):
                for number in getattr(self, name):
                    have(number)

    @property
    def _capture(self) -> Capture:
        """All of it."""
        return sample_capture(self.sample) if self.sample else lookup_capture(self.data)

    @property
    def inputs(self) -> tuple[Computed, ...]:
        """The heads one by one."""
        capture = self._capture
        return tuple(
            Sample(self.sample, layer, head) if self.sample else Captured(self.data, layer, head)
            for layer in self.layers or capture.layers
            for head in self.heads or range(capture.heads)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the text as it is written."""
        entries = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in entries.items()
            if value
        }


@dataclass(frozen=True)
class Spec:
    """What is swept or searched, frozen and checked, and the same after a trip through a dict.

    Parameters
    ----------
    encoding
        A family of the registry.
    parameters
        Pairs of parameter and range; what is left out has its usual value.
    goals
        What is wanted, one or more.
    head_dim
        Width d, at most the `width` of :class:`xpos_viz.limits.Limits`.
    lengths
        Tokens, for objectives that need a length; at most :data:`LONGEST`.
    texts
        Heads of texts, for objectives that need one.
    points
        How many of a Sobol sequence, over the spans without steps; at most
        :data:`xpos_viz.choosing.ranges.MOST`.
    seed
        Of that sequence, and of a search.

    Raises
    ------
    ValueError
        Where something is not legal; `path` of the error says where.

    Examples
    --------
    >>> spec = Spec(
    ...     parameters=(("gamma", (0.2, 0.4)), ("scale_base", Span(64.0, 1024.0, 5, log=True))),
    ...     goals=(Goal("half_life", wanted=1000.0),),
    ... )
    >>> spec.settings, spec.total, spec.encoding_at(9)
    (10, 10, xpos(64, base=10000.0, gamma=0.4, scale_base=1024.0))
    >>> Spec.from_dict(spec.to_dict()) == spec
    True
    """

    encoding: str = "xpos"
    parameters: tuple[tuple[str, Range], ...] = ()
    goals: tuple[Goal, ...] = ()
    head_dim: int = 64
    lengths: tuple[int, ...] = (1024,)
    texts: tuple[Text, ...] = ()
    points: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        with at("encoding"):
            defaults = lookup(self.encoding).defaults
        with at("head_dim"):
            _check_width(self.head_dim)
        for name, values in self.parameters:
            with at("parameters", name):
                check_choice(f"parameter of {self.encoding}", name, tuple(defaults))
                check_range(name, values, self.head_dim)
        for name, most in (("points", MOST), ("seed", MAX_SEED)):
            with at(name):
                check_whole(name, getattr(self, name), 0, below=most + 1)
        with at("lengths"):
            for length in self.lengths:
                check_whole("a length", length, 1, below=LONGEST + 1)
        self._check_goals()

    def _check_goals(self) -> None:
        """Raise ValueError for goals that cannot be told apart, or lack what they need."""
        if not self.goals:
            raise ValueError('a sweep must have an objective, got none; use name = "resolution".')
        labels = [goal.label for goal in self.goals]
        for place, (goal, label) in enumerate(zip(self.goals, labels, strict=True)):
            with at("objectives", place):
                if label in labels[:place] or label in (*COLUMNS, *dict(self.parameters)):
                    raise ValueError(
                        f"each objective must have a label of its own, got {label!r} again; "
                        'use label = "another".'
                    )
                if not self._given(goal):
                    raise ValueError(
                        f"{goal.objective} needs a {goal.row.needs}, got none; "
                        f"use {_NEEDED[goal.row.needs]}."
                    )

    def _given(self, goal: Goal) -> bool:
        """Whether there is what a goal needs."""
        return bool(self.lengths if goal.row.needs == "length" else self.texts)

    @property
    def spans(self) -> dict[str, Span]:
        """The parameters that a search may move, by name."""
        return {name: each for name, each in self.parameters if isinstance(each, Span)}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to workers: all that was given, and nothing that follows from it."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @cached_property
    def grid(self) -> dict[str, Array]:
        """The parameters that have some values, by name."""
        values = {name: np.array(_values(each), dtype=np.float64) for name, each in self.parameters}
        return {name: each for name, each in values.items() if len(each)}

    @property
    def drawn(self) -> tuple[str, ...]:
        """The parameters whose values are drawn."""
        return tuple(name for name, _ in self.parameters if name not in self.grid)

    @property
    def settings(self) -> int:
        """How many settings there are.

        Raises
        ------
        ValueError
            If spans have no steps and no points are asked for.
        """
        if self.drawn and not self.points:
            with at("parameters", self.drawn[0]):
                raise ValueError(
                    f"{self.drawn[0]} has no steps, and there are no points to draw; "
                    "use steps = 9, or points = 256 for all spans without steps."
                )
        return math.prod(map(len, self.grid.values())) * (self.points if self.drawn else 1)

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """What each setting is tried on, as far as a goal needs it."""
        needs = {goal.row.needs for goal in self.goals}
        lengths = map(Expectation, self.lengths if "length" in needs else ())
        texts = self.texts if "text" in needs else ()
        return (*lengths, *(head for text in texts for head in text.inputs))

    @property
    def data(self) -> tuple[str, ...]:
        """The hashes of the captures that are read."""
        return tuple(dict.fromkeys(text.data for text in self.texts if text.data))

    @property
    def total(self) -> int:
        """How many points there are.

        Raises
        ------
        ValueError
            If they are more than :data:`MOST_POINTS`, or as :attr:`settings` does.
        """
        total = self.settings * len(self.cases)
        if total > MOST_POINTS:
            with at("parameters"):
                raise ValueError(
                    f"a sweep must have at most {MOST_POINTS:,} points, got {total:,}; "
                    "use fewer steps or values."
                )
        return total

    def values(self, settings: Numbers) -> dict[str, Array]:
        """Return the parameters that were given, by name, at some settings."""
        drawn, place = {}, settings
        if self.drawn:
            place, row = np.divmod(settings, self.points)
            columns = _sobol(len(self.drawn), self.points, self.seed)[row]
            drawn = {
                name: self.spans[name].clipped(self.spans[name].at(columns[:, column]))
                for column, name in enumerate(self.drawn)
            }
        grid = {}
        for name, each in reversed(self.grid.items()):
            place, step = np.divmod(place, len(each))
            grid[name] = each[step]
        found = grid | drawn
        return {name: _whole(name, found[name]) for name, _ in self.parameters}

    def encoding_of(self, values: Mapping[str, float]) -> Encoding:
        """Return the encoding with some values of its parameters."""
        return Encoding(self.encoding, (("head_dim", self.head_dim), *values.items()))

    def encoding_at(self, setting: int) -> Encoding:
        """Return the encoding of a setting."""
        values = self.values(np.array([setting]))
        return self.encoding_of({name: float(each[0]) for name, each in values.items()})

    def to_dict(self) -> dict[str, Any]:
        """Return the spec as :meth:`from_dict` reads it, and JSON and TOML write it."""
        return {
            "encoding": self.encoding,
            "head_dim": self.head_dim,
            "parameters": {name: written_range(each) for name, each in self.parameters},
            "lengths": list(self.lengths),
            "texts": [text.to_dict() for text in self.texts],
            "points": self.points,
            "seed": self.seed,
            "objectives": [goal.to_dict() for goal in self.goals],
        }

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "Spec":
        """Return what :meth:`to_dict` wrote; what is left out has its usual value.

        Raises
        ------
        ValueError
            For an unknown key, or a value that is not legal; `path` of the error says where.
        """
        for key in entries:
            with at(key):
                check_choice("key of a sweep", key, _KEYS)
        given = {key: entries[key] for key in _KEYS if key in entries}
        parts: dict[str, Any] = {"goals": _each(given, "objectives", goal_of)}
        parts["texts"] = _each(given, "texts", _text_of)
        parts["parameters"] = _parameters(given.pop("parameters", {}))
        with at("lengths"):
            if "lengths" in given:
                given["lengths"] = _list("lengths", given["lengths"])
        return cls(**given, **parts)


_KEYS = ("encoding", "head_dim", "parameters", "lengths", "texts", "points", "seed", "objectives")
_NEEDED = {"length": "lengths = [1024]", "text": '[[texts]] with sample = "tidebook"'}


def experiment(encoding: Encoding, case: Case) -> Experiment:
    """Return the experiment of an encoding in a case; of a text, with the model's own first."""
    if isinstance(case, Computed):
        return Experiment((own_encoding(case, encoding), encoding), case)
    return Experiment((encoding,), case)


def _values(values: Range) -> tuple[float, ...]:
    """The values of a grid; none of a span without steps."""
    if isinstance(values, Span):
        return values.grid if values.steps else ()
    return values if isinstance(values, tuple) else (values,)


def _check_width(head_dim: object) -> None:
    """Raise ValueError unless encodings of a width can be tried."""
    width = check_head_dim(head_dim)
    if width > LIMITS.width:
        raise ValueError(
            f"head_dim must be at most {LIMITS.width:,} in a sweep, got {width:,}; "
            "use 64, for instance, or set XPOS_VIZ_MAX_WIDTH."
        )


def _whole(name: str, values: Array) -> Array:
    """Values of a parameter; whole ones where it takes no others."""
    return np.rint(values) if PARAMETERS[name].whole else values


@lru_cache(maxsize=4)
def _sobol(dimensions: int, points: int, seed: int) -> Array:
    """A scrambled Sobol sequence, (points, dimensions), in [0, 1)."""
    engine = SobolEngine(dimensions, scramble=True, seed=seed)
    drawn: Array = engine.draw(points).double().numpy()
    drawn.flags.writeable = False
    return drawn


def _each(given: dict[str, Any], key: str, read: Any) -> tuple[Any, ...]:  # noqa: ANN401 - of either
    """Take a list of tables out, each of them read."""
    with at(key):
        entries = _list(key, given.pop(key, []))
    found = []
    for place, entry in enumerate(entries):
        with at(key, place):
            found.append(read(entry))
    return tuple(found)


def _list(key: str, value: object) -> tuple[Any, ...]:
    """A list as a tuple."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{key} must be a list, got {value!r:.40}; use brackets.")
    return tuple(value)


def _parameters(entries: object) -> tuple[tuple[str, Range], ...]:
    """The ranges by name."""
    if not isinstance(entries, Mapping):
        with at("parameters"):
            raise ValueError(f"parameters must be a table, got {entries!r:.40}; use [parameters].")
    found = []
    for name, entry in entries.items():
        with at("parameters", str(name)):
            found.append((str(name), range_of(entry)))
    return tuple(found)


def _text_of(entries: object) -> Text:
    """A text as it is written."""
    if not isinstance(entries, Mapping):
        raise ValueError(f'a text must be a table, got {entries!r:.40}; use sample = "tidebook".')
    legal = [entry.name for entry in fields(Text)]
    for key in entries:
        with at(str(key)):
            check_choice("key of a text", key, legal)
    given = dict(entries)
    for key in ("layers", "heads"):
        with at(key):
            given[key] = _list(key, given.get(key, ()))
    return Text(**given)

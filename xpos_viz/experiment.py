"""An experiment: which encodings, on which queries and keys, seen how; and its result.

An :class:`Experiment` is a value: frozen, checked, hashable, and the same after a trip
through a flat dict of strings, which is an address or a file. :func:`run` turns it into a
:class:`Result` of arrays with labels. What one encoding gives is computed once
(:func:`measure`, :func:`shift_error`), whatever the other does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from xpos_viz.attention import MASKS, Mask, attention_logits, attention_weights, visible_keys
from xpos_viz.curves import decay_table
from xpos_viz.encoding import Encoding, lookup
from xpos_viz.inputs import SOURCES, Inputs
from xpos_viz.kernel import apply_encoding, attention_scores
from xpos_viz.pooling import block_mean, block_size, robust_limit

Array = NDArray[np.float64]
D = TypeVar("D", bound="Inputs | View")
Stage = Literal["scores", "scaled", "masked", "weights"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""Raw q·k; divided by √d; as logits, masked; after the softmax."""

SHIFT = 1000
"""Tokens by which the self-check moves every position."""

NEVER = 1e9
"""A scale base, tokens, at which XPos has all but become RoPE."""

_CURVE_LAGS = 2048  # the last lag of the decay curves


@dataclass(frozen=True)
class View:
    """What is shown of an experiment.

    Parameters
    ----------
    stage
        One of :data:`STAGES`.
    mask
        "causal" or "none".
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
    mask: Mask = "causal"
    start: int = 0
    stop: int | None = None
    cells: int = 256

    def __post_init__(self) -> None:
        for name, value, legal in (("stage", self.stage, STAGES), ("mask", self.mask, MASKS)):
            if value not in legal:
                raise ValueError(f"unknown {name} {value!r}; use one of: {', '.join(legal)}.")
        if self.start < 0:
            raise ValueError(f"start must be a token ≥ 0, got {self.start}; use 0 for the first.")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError(
                f"stop must be after start, got {self.start} to {self.stop}; "
                f"use {self.start + 1} or more."
            )
        if self.cells < 1:
            raise ValueError(f"cells must be ≥ 1, got {self.cells}; use 256, for instance.")


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
        if len(widths) != 1:
            raise ValueError(f"the encodings must share one head_dim, got {widths}; use one width.")
        if self.inputs.head_dim not in (None, widths[0]):
            raise ValueError(
                f"these inputs have head_dim {self.inputs.head_dim}, got encodings of {widths[0]}; "
                f"use {self.inputs.head_dim}, or expectation or random inputs."
            )
        if self.view.start >= self.inputs.tokens or (self.view.stop or 0) > self.inputs.tokens:
            raise ValueError(
                f"the view must lie within {self.inputs.tokens} tokens, got {self.view.start} to "
                f"{self.view.stop}; use 0 to {self.inputs.tokens}."
            )

    @property
    def window(self) -> range:
        """The tokens that are shown."""
        stop = self.inputs.tokens if self.view.stop is None else self.view.stop
        return range(self.view.start, stop)

    def to_dict(self) -> dict[str, str]:
        """Return the experiment as a flat dict of strings, whole and readable.

        A parameter stands under its name where all encodings that have it agree, and as
        `name.1`, `name.2` … (the encoding's place) where they do not.
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
        head_dim = _whole("head_dim", rest.pop("head_dim", "64"))
        source = rest.pop("source", "sample")
        if source not in SOURCES:
            raise ValueError(f"unknown source {source!r}; use one of: {', '.join(SOURCES)}.")
        encodings = tuple(
            Encoding(name, (("head_dim", head_dim), *_parameters(rest, name, place)))
            for place, name in enumerate(names, 1)
        )
        parameters = [
            key
            for place, encoding in enumerate(encodings, 1)
            for name, _ in encoding.parameters[1:]
            for key in (name, f"{name}.{place}")
        ]
        described = [entry.name for kind in (SOURCES[source], View) for entry in fields(kind)]
        legal = sorted({*parameters, *described})
        if unknown := [key for key in rest if key not in legal]:
            raise ValueError(f"unknown setting {unknown[0]!r}; use: {', '.join(legal)}.")
        return cls(encodings, _parsed(SOURCES[source], rest), _parsed(View, rest))


@dataclass(frozen=True, eq=False)
class Measurement:
    """What one encoding gives on some inputs.

    Parameters
    ----------
    values
        (blocks, blocks), the stage's values, rows are queries; NaN where nothing is seen.
    far_magnitude
        Mean |score| over seen cells at least half the window back.
    far_share
        Mean share of a query's attention on keys more than a quarter of the window back,
        over the queries that have such keys.
    first_share
        Mean share of a query's attention on token 0, over the later queries.
    """

    values: Array
    far_magnitude: float
    far_share: float
    first_share: float


@dataclass(frozen=True, eq=False)
class Result:
    """Arrays of an experiment with what is needed to label them.

    Parameters
    ----------
    experiment
        What was run.
    measurements
        One per encoding, in order.
    difference
        Last minus first map, (blocks, blocks); zero everywhere for one encoding.
    seen
        (blocks, blocks), bool: which cells are not masked.
    limit, difference_limit
        Colour limits: the 99.5 % quantile of the seen magnitudes of all maps, and of the
        difference.
    block
        Tokens per cell side.
    positions
        The token at the centre of each row and column, counted from 0.
    labels
        One label per row and column where a cell is one token and there is text.
    """

    experiment: Experiment
    measurements: tuple[Measurement, ...]
    difference: Array
    seen: NDArray[np.bool_]
    limit: float
    difference_limit: float
    block: int
    positions: Array
    labels: tuple[str, ...]

    @property
    def lags(self) -> Array:
        """Lag Δ = m − n of each cell's centre, tokens, (blocks, blocks)."""
        return self.positions[:, None] - self.positions[None, :]

    def table(self) -> pd.DataFrame:
        """Return the seen cells as rows: query, key, lag (tokens) and one value per map."""
        rows, columns = np.nonzero(self.seen)
        data: dict[str, NDArray[Any]] = {
            "query": self.positions[rows],
            "key": self.positions[columns],
            "lag": self.lags[rows, columns],
        }
        for encoding, measurement in zip(self.experiment.encodings, self.measurements, strict=True):
            data[repr(encoding)] = measurement.values[rows, columns]
        data["difference"] = self.difference[rows, columns]
        return pd.DataFrame(data)


def run(experiment: Experiment) -> Result:
    """Compute an experiment.

    Parameters
    ----------
    experiment
        What to compute.

    Returns
    -------
    Result
        Read-only arrays, labels and limits.

    Examples
    --------
    >>> from xpos_viz import Experiment, rope, run, xpos
    >>> from xpos_viz.inputs import Expectation
    >>> result = run(Experiment((rope(64), xpos(64)), Expectation(8)))
    >>> result.measurements[1].values[7, :2].round(2)
    array([46.31, 46.93])
    """
    inputs, view, window = experiment.inputs, experiment.view, experiment.window
    measurements = tuple(measure(inputs, encoding, view) for encoding in experiment.encodings)
    with np.errstate(invalid="ignore"):  # inf − inf has no difference and is shown as such
        difference = measurements[-1].values - measurements[0].values
    block = block_size(len(window), view.cells)
    edges: NDArray[np.int64] = np.arange(window.start, window.stop, block)
    last = np.minimum(edges + block, window.stop) - 1
    positions: Array = (edges + last) / 2
    labels = inputs.load(experiment.encodings[0].head_dim).labels if block == 1 else ()
    return Result(
        experiment=experiment,
        measurements=measurements,
        difference=_frozen(difference),
        seen=_frozen(_seen(edges, last, view.mask)),
        limit=robust_limit(*(measurement.values for measurement in measurements)),
        difference_limit=robust_limit(difference),
        block=block,
        positions=_frozen(positions),
        labels=labels[window.start : window.stop],
    )


@lru_cache(maxsize=64)
def measure(inputs: Inputs, encoding: Encoding, view: View) -> Measurement:
    """Compute what one encoding gives; the same arguments are computed once."""
    stop = inputs.tokens if view.stop is None else view.stop
    shown, tokens = slice(view.start, stop), stop - view.start
    m, n = torch.arange(view.start, stop).double(), torch.arange(inputs.tokens).double()
    scores = _scores(inputs, encoding, shown)
    seen = visible_keys(view.mask, m, n)
    logits = attention_logits(scores, encoding, mask=seen, query_positions=m)
    weights = attention_weights(logits)
    stages: dict[Stage, Tensor] = {
        "scores": scores,
        "scaled": scores * encoding.head_dim**-0.5,
        "masked": logits,
        "weights": weights,
    }
    block = block_size(tokens, view.cells)
    lags = m[:, None] - n
    far = scores[seen & (2 * lags >= tokens)]
    further = weights.masked_fill(lags <= tokens // 4, 0.0)[m > tokens // 4]
    return Measurement(
        values=_frozen(block_mean(stages[view.stage][:, shown], seen[:, shown], block).numpy()),
        far_magnitude=float(far.abs().mean()),
        far_share=float(further.sum(-1).mean()),
        first_share=float(weights[m > 0, 0].mean()),
    )


def curves(experiment: Experiment) -> pd.DataFrame:
    """Return the expectation curve g of each encoding at lags 0 … 2048 (:func:`decay_table`)."""
    return pd.concat(
        [_curve(encoding) for encoding in dict.fromkeys(experiment.encodings)], ignore_index=True
    )


@dataclass(frozen=True)
class SelfCheck:
    """Three things that must hold, measured on the data that is shown.

    Parameters
    ----------
    shift
        Largest change of a causal score when every position moves by :data:`SHIFT`.
    norm
        Largest relative change of a query's or key's norm under the encodings without
        decay; NaN if there is none.
    rope
        Largest difference of a causal score from RoPE's once the scale base is
        :data:`NEVER`; NaN if no encoding has one.
    """

    shift: float
    norm: float
    rope: float


def self_check(experiment: Experiment) -> SelfCheck:
    """Measure the invariants on the queries and keys of an experiment.

    The shift is measured in factor form about one fixed origin, where a wrong scale or
    sign would show; NaN or inf there means that the factor form itself left float64.
    """
    inputs, window = experiment.inputs, experiment.window
    span = (window.start, window.stop)
    pure = [e for e in experiment.encodings if not e.log_decay.any()]
    scaled = [e for e in experiment.encodings if "scale_base" in dict(e.parameters)]
    return SelfCheck(
        shift=max(shift_error(inputs, encoding, *span) for encoding in experiment.encodings),
        norm=max((norm_error(inputs, encoding) for encoding in pure), default=np.nan),
        rope=max((rope_error(inputs, encoding, *span) for encoding in scaled), default=np.nan),
    )


@lru_cache(maxsize=256)
def shift_error(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> float:
    """Return the largest change of a causal score when every position moves by SHIFT."""
    vectors = inputs.load(encoding.head_dim)
    moved = torch.arange(start, stop) + SHIFT
    q, k = apply_encoding(
        vectors.q[start:stop],
        vectors.k[start:stop],
        encoding,
        query_positions=moved,
        key_positions=moved,
        layout=vectors.layout,
        origin=float(start),
    )
    scores = _scores(inputs, encoding, slice(start, stop))[:, start:stop]
    return float((q @ k.mT - scores).tril().abs().max())


@lru_cache(maxsize=256)
def norm_error(inputs: Inputs, encoding: Encoding) -> float:
    """Return the largest relative change of a norm when vectors are encoded."""
    vectors = inputs.load(encoding.head_dim)
    before = (vectors.q, vectors.k)
    after = apply_encoding(*before, encoding, layout=vectors.layout)
    old, new = (torch.cat(vectors).square().sum(-1).sqrt() for vectors in (before, after))
    return float((new / old - 1).abs().max())


@lru_cache(maxsize=256)
def rope_error(inputs: Inputs, encoding: Encoding, start: int, stop: int) -> float:
    """Return the largest difference of a causal score from RoPE's at scale base NEVER."""
    head_dim, shown = encoding.head_dim, slice(start, stop)
    limit = _scores(inputs, encoding.replace(scale_base=NEVER), shown)
    rope = _scores(
        inputs, Encoding("rope", (("head_dim", head_dim), ("base", encoding["base"]))), shown
    )
    return float((limit - rope)[:, shown].tril().abs().max())


@lru_cache(maxsize=64)
def _curve(encoding: Encoding) -> pd.DataFrame:
    """The rows of one encoding; the same encoding is computed once."""
    return decay_table([encoding], range(_CURVE_LAGS + 1))


def _scores(inputs: Inputs, encoding: Encoding, shown: slice) -> Tensor:
    """Scores of the shown queries with all keys, float64."""
    vectors = inputs.load(encoding.head_dim)
    return attention_scores(
        vectors.q[shown],
        vectors.k,
        encoding,
        query_positions=range(shown.start, shown.stop),
        layout=vectors.layout,
    )


def _seen(edges: NDArray[np.int64], last: NDArray[np.int64], mask: Mask) -> NDArray[np.bool_]:
    """Which blocks have a visible cell: the last query of one sees its first key."""
    first, final = (torch.as_tensor(e, dtype=torch.float64) for e in (edges, last))
    return visible_keys(mask, final, first).numpy()


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def _written(value: object) -> str:
    """A setting as text: numbers in full precision, whole ones without a point."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _entries(part: Inputs | View) -> dict[str, Any]:
    """The fields of a description by name."""
    return {entry.name: getattr(part, entry.name) for entry in fields(part)}


def _whole(name: str, text: str) -> int:
    """Parse an integer."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{name} must be a whole number, got {text!r:.40}; use 1, 2, 3 …"
        ) from None


def _parameters(entries: Mapping[str, str], name: str, place: int) -> tuple[tuple[str, float], ...]:
    """The parameters given for the encoding at `place`, parsed."""
    given = {key: entries.get(f"{key}.{place}", entries.get(key)) for key in lookup(name).defaults}
    return tuple((key, _number(key, text)) for key, text in given.items() if text is not None)


def _parsed(kind: type[D], entries: Mapping[str, str]) -> D:
    """A description made from the entries that are its fields, parsed by their types."""
    given: dict[str, Any] = {}
    for entry in fields(kind):
        if entry.name in entries:
            text = entries[entry.name]
            given[entry.name] = _whole(entry.name, text) if "int" in str(entry.type) else text
    return kind(**given)


def _number(name: str, text: str) -> float:
    """Parse a real number."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, got {text!r:.40}; use 0.4 or 1e4.") from None

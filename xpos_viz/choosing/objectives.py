r"""What may matter of an encoding: objectives, each one number of one experiment.

An objective is a function from an :class:`xpos_viz.Experiment` and options to a number, under
the :func:`objective` decorator, which adds it to :data:`OBJECTIVES`. The last encoding of the
experiment is the one that is judged. Some objectives need a length alone, so inputs that are
made; the others read a captured text, and there the first encoding is the model's own.

No objective has a formula of its own: each calls what the rest of the package computes with.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.choosing.reading import Strip, mean_of_queries
from xpos_viz.curves import (
    NORMALISATIONS,
    decay_curve,
    envelope,
    envelope_reach,
    expectation_resolution,
    first_negative_lag,
)
from xpos_viz.curves import half_life as half_lives
from xpos_viz.encoding import Encoding
from xpos_viz.entry import DTYPES, FAR, check_whole
from xpos_viz.experiment import Experiment
from xpos_viz.inputs import Computed, Inputs
from xpos_viz.precision import largest_position
from xpos_viz.statistics import (
    attention_distance,
    attention_entropy,
    total_variation,
    window_share,
)

Better = Literal["smaller", "larger"]
Needs = Literal["length", "text"]
Option: TypeAlias = int | str | None
Number: TypeAlias = float | Tensor
Measure = Callable[..., Number]

_FORMATS: Mapping[str, torch.dtype] = MappingProxyType(
    {str(dtype).removeprefix("torch."): dtype for dtype in DTYPES}
)


@dataclass(frozen=True)
class Objective:
    """A row of the registry: what a number says, and what gives it.

    Parameters
    ----------
    name
        What it is called.
    unit
        The unit of its values, or nothing.
    better
        Whether a "smaller" or a "larger" value is better, unless someone wants it otherwise.
    needs
        What its experiment has to have: a "length", or a captured "text".
    formula, source
        How it is computed, and who says so.
    measure
        The function: an experiment and options to a number, or a tensor that holds one and may
        have a gradient.
    """

    name: str
    unit: str
    better: Better
    needs: Needs
    formula: str
    source: str
    measure: Measure

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """The options by name, with their usual values."""
        _, *rest = inspect.signature(self.measure).parameters.values()
        return MappingProxyType({each.name: each.default for each in rest})

    @property
    def words(self) -> str:
        """What it computes, in a sentence."""
        return (self.measure.__doc__ or "").partition("\n")[0]

    def reads(self, case: Inputs) -> bool:
        """Whether it is computed of such inputs."""
        return (self.needs == "text") == isinstance(case, Computed)

    def check(self, options: Mapping[str, object]) -> None:
        """Raise ValueError for an option that it has not, or a value that is not legal."""
        for name, value in options.items():
            check_choice(f"option of {self.name}", name, self.options)
            if value is not None or self.options[name] is not None:
                _CHECKS[name](value)

    def value(self, experiment: Experiment, options: Mapping[str, Option]) -> float:
        """Return the number of an experiment.

        Raises
        ------
        ValueError
            Where there is no such number.
        """
        return float(self.measure(experiment, **options))


OBJECTIVES: dict[str, Objective] = {}
"""All objectives, by name."""


def objective(
    *, unit: str = "", better: Better, needs: Needs, formula: str, source: str
) -> Callable[[Measure], Measure]:
    """Register a function as an objective of its own name."""

    def register(measure: Measure) -> Measure:
        name = measure.__name__
        OBJECTIVES[name] = Objective(name, unit, better, needs, formula, source, measure)
        return measure

    return register


def _judged(experiment: Experiment) -> Encoding:
    """The encoding whose number is asked for."""
    return experiment.encodings[-1]


@objective(
    better="larger",
    needs="length",
    formula="R(s) = Σ e^(s_i)(e^(s_i) − e^(s_(i+1))) / (Σ e^(s_i))²,  s = g / normalisation",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 3",
)
def resolution(experiment: Experiment, *, normalisation: str = "sqrt_d") -> Tensor:
    """Resolution of the expectation curve over the length."""
    length = experiment.inputs.tokens
    return expectation_resolution(_judged(experiment), tokens=length, normalisation=normalisation)


@objective(
    unit="share of its start",
    better="larger",
    needs="length",
    formula="Σ ζ_i^(Δ/B) / (d/2)",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 8 without rotation",
)
def envelope_left(experiment: Experiment, *, lag: int | None = None) -> Tensor:
    """What is left of the envelope at a lag; without one, at the length."""
    encoding = _judged(experiment)
    distance = experiment.inputs.tokens if lag is None else lag
    return envelope(encoding, distance) / (encoding.head_dim / 2)


@objective(
    unit="tokens",
    better="larger",
    needs="length",
    formula="Δ with Σ ζ_i^(Δ/B) = d/4, linear between whole Δ",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 8 without rotation",
)
def half_life(experiment: Experiment) -> Tensor:
    """Tokens in which the envelope falls to one half."""
    encoding = _judged(experiment)
    with torch.no_grad():
        whole = envelope_reach(encoding)
    if whole.isinf():
        return whole
    here, beyond = envelope(encoding, torch.stack([whole, whole + 1]))
    return whole + (here - encoding.head_dim / 4) / (here - beyond)


@objective(
    unit="tokens",
    better="larger",
    needs="length",
    formula="−B ln 2 / ln ζ_i",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 9",
)
def pair_half_life(experiment: Experiment, *, pair: int = 0) -> Tensor:
    """Tokens in which one pair fades to one half."""
    lives = half_lives(_judged(experiment))
    way_out = f"use one below {len(lives)}, the number of pairs."
    check_whole("pair", pair, 0, way_out, below=len(lives))
    return lives[pair]


@objective(
    unit="tokens",
    better="larger",
    needs="length",
    formula="min {Δ < L : g[Δ] < 0}, else L",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 8",
)
def first_negative(experiment: Experiment) -> float:
    """The first lag within the length at which g is below zero; without one, the length."""
    length = experiment.inputs.tokens
    found = first_negative_lag(_judged(experiment), limit=length - 1)
    return length if found is None else found


@objective(
    unit="share of g[0]",
    better="larger",
    needs="length",
    formula="min {g[Δ] : 0 ≤ Δ < L} / (d/2)",
    source="Men et al. 2024, arXiv:2405.14591, where it bounds the base",
)
def smallest(experiment: Experiment) -> Tensor:
    """The smallest value of g within the length."""
    encoding = _judged(experiment)
    curve = decay_curve(encoding, range(experiment.inputs.tokens))
    return curve.min() / (encoding.head_dim / 2)


@objective(
    unit="lengths",
    better="larger",
    needs="length",
    formula="(n_max + 1) / L",
    source="xpos_viz.precision.largest_position",
)
def headroom(experiment: Experiment, *, dtype: str = "float16") -> float:
    """How many times longer a text may be until a number of the factor form leaves a dtype."""
    last = largest_position(_judged(experiment), _FORMATS[dtype])
    return (last + 1) / experiment.inputs.tokens


@objective(
    unit="share of attention",
    better="smaller",
    needs="text",
    formula="mean over m of ½ Σ_n |w'_n − w_n|, both softmaxes over |m − n| < window",
    source="total variation; the mask of Beltagy et al. 2020, arXiv:2004.05150",
)
def disturbed(experiment: Experiment, *, window: int = 512) -> Tensor:
    """How much of the attention within a window is other than the model's own.

    Both softmaxes run over the window alone, so that what is lost beyond it does not count:
    that is :func:`beyond`.
    """

    def moved(before: Strip, after: Strip) -> Tensor:
        found = total_variation(before.within(window), after.within(window))
        return found.masked_fill(after.near(window).sum(-1) < 2, torch.nan)

    return mean_of_queries(experiment.inputs, experiment.encodings, moved)


@objective(
    unit="share of attention",
    better="smaller",
    needs="text",
    formula="mean over m of Σ w_n, |m − n| ≥ window",
    source="Beltagy et al. 2020, arXiv:2004.05150",
)
def beyond(experiment: Experiment, *, window: int = 512) -> Tensor:
    """How much attention is left beyond a window, of queries that see anything there."""

    def far(strip: Strip) -> Tensor:
        inside = window_share(strip.weights, window, **strip.places)
        nothing = strip.seen.sum(-1) == strip.near(window).sum(-1)
        return (1 - inside).masked_fill(nothing, torch.nan)

    return mean_of_queries(experiment.inputs, experiment.encodings[-1:], far)


@objective(
    unit="nats",
    better="smaller",
    needs="text",
    formula="mean over m of −Σ w_n ln w_n",
    source="Shannon 1948; for attention Ghader and Monz 2017, arXiv:1710.03348",
)
def entropy(experiment: Experiment) -> Tensor:
    """How spread the attention is, of queries that see more than one key."""

    def spread(strip: Strip) -> Tensor:
        return strip.choosing(attention_entropy(strip.weights))

    return mean_of_queries(experiment.inputs, experiment.encodings[-1:], spread)


@objective(
    unit="tokens",
    better="smaller",
    needs="text",
    formula="mean over m of Σ w_n |m − n|",
    source="Vig and Belinkov 2019, arXiv:1906.04284",
)
def distance(experiment: Experiment) -> Tensor:
    """How far the attention goes, of queries that see more than one key."""

    def far(strip: Strip) -> Tensor:
        return strip.choosing(attention_distance(strip.weights, **strip.places))

    return mean_of_queries(experiment.inputs, experiment.encodings[-1:], far)


_LAGS = int(FAR) + 1  # tokens that float64 does not count

_CHECKS: Mapping[str, Callable[[object], None]] = MappingProxyType(
    {
        "normalisation": lambda value: check_choice("normalisation", value, tuple(NORMALISATIONS)),
        "dtype": lambda value: check_choice("dtype", value, tuple(_FORMATS)),
        "lag": lambda value: check_whole("lag", value, 0, below=_LAGS),
        "pair": lambda value: check_whole("pair", value, 0, below=_LAGS),
        "window": lambda value: check_whole("window", value, 1, below=_LAGS),
    }
)
"""What refuses an option that is not legal, by its name."""

"""All settings of a session as one immutable value, how it opens, and the caps it keeps."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from xpos_viz.choosing.landscape import BUDGETS, GOALS
from xpos_viz.encoding import PARAMETERS, REGISTRY, Encoding, lookup, rope, xpos
from xpos_viz.experiment import Experiment, parse_encoding, written_encoding
from xpos_viz.inputs import Captured, Computed, Expectation, Inputs, Random, Sample
from xpos_viz.inputs.captured import lookup as captured
from xpos_viz.inputs.rotation import base_of as known_base
from xpos_viz.inputs.rotation import own_value
from xpos_viz.inputs.sample import MODEL_BASE
from xpos_viz.inputs.synthetic import MAX_SEED
from xpos_viz.lessons import ANSWERS, MAX_PLACES, STEPS
from xpos_viz.limits import LIMITS, cap
from xpos_viz.livemap.message import MASKED
from xpos_viz.look import LOOKS, Look
from xpos_viz.pooling.maps import MAP_STAGES, REDUCES
from xpos_viz.state.settings import (
    Words,
    ends,
    few,
    limit,
    one,
    settings,
    several,
    typed,
    whole,
    words,
)
from xpos_viz.studies.changes import MEASURES
from xpos_viz.studies.decay import ASSUMPTIONS, READINGS
from xpos_viz.studies.lab import MODELS, REACH, SIZES
from xpos_viz.studies.pairs import FAMILIES
from xpos_viz.studies.precision import FORMATS, PARTS
from xpos_viz.studies.reading import MOST_BYTES
from xpos_viz.studies.resolving import WAYS
from xpos_viz.studies.yours import MOST, Trained, normal

SWITCH: tuple[str, ...] = ("no", "yes")
"""Off and on."""

LONG_INPUTS: tuple[str, ...] = ("expectation", "same", "independent", "text")
"""Queries and keys of a long text: ones, or random, with keys the same or drawn apart, or those
of a model that read one."""

LONG_MASKS: tuple[str, ...] = ("causal", "sliding", "blockwise")
"""Kinds of masks of a long text."""

CONTROLS: tuple[str, ...] = (
    *("source", "name", "data", "layer", "head", "length", "head_dim", "keys", "seed", "apart"),
    *("base", "xpos_base", "gamma", "scale_base", "window", "stage", "mask"),
    *("difference", "axis", "colours", "reset"),
    *("curves", "kept_curves", "distance", "reading", "assumption", "rho"),
    *("pair_encoding", "query", "key", "panels", "measure"),
    *("long_inputs", "long_length", "long_seed", "long_stage", "long_reduce"),
    *("compare_masks", "long_mask", "window_size", "block_size"),
    *("normalisation", "resolution_over"),
    *("goal", "second_goal", "goal_limit", "second_limit", "goal_weight"),
    *("wanted", "goal_length", "goal_window"),
    *("gammas", "scale_bases", "budget"),
    *("lab_size", "models", "blocks", "reach", "passage", "reader", "training", "trained"),
    *("lesson", "at", "answers", "teacher"),
    *("formats", "kept", "k_max", "text_length", "left", "right"),
)
"""The controls of which an address may choose those that are shown."""

SHARED: tuple[str, ...] = ("base", "gamma", "scale_base")
"""Parameters that all encodings of a session share; the others are each family's own."""


MAX_LENGTH = cap("LENGTH", 2048, step=2)
"""Most tokens of a made input; the operator may set XPOS_VIZ_MAX_LENGTH."""

MAX_LONG_LENGTH = cap("LONG_LENGTH", 1 << 20, step=2)
"""Most tokens of a long text; the operator may set XPOS_VIZ_MAX_LONG_LENGTH."""

MAX_HEAD_DIM = cap("HEAD_DIM", 512, step=2)
"""Largest width of a head; the operator may set XPOS_VIZ_MAX_HEAD_DIM."""

MAX_KEPT_CURVES = 5
"""Most curves that are kept: with the one that is moved as many as a colour has strokes."""

_LAST = max(MAX_LENGTH, 2048, LIMITS.tokens) - 1  # of the tokens: samples have no cap
_SCALE_BASES = {
    "tidebook": 512.0,
    "harbour": 24.0,
    "pronoun": 8.0,
    "chinese": 24.0,
    "lantern": 24.0,
    "bridge": 16.0,
    "translation": 12.0,
}
_WIDTH = ("head_dim", "rotary_width")
_MOST = 1e12  # of a limit
_FADED = 3  # scale bases to the length of a text that was brought, as with most samples
_BASE = 10_000.0  # where a model has none, or none that is known
_HEADS = {
    "tidebook": (3, 0),
    "harbour": (8, 3),
    "pronoun": (8, 2),
    "chinese": (8, 3),
    "lantern": (18, 6),
    "bridge": (17, 3),
    "translation": (9, 2),
}


def _kept(text: str) -> str:
    """Return the text of an encoding as it is written, else raise ValueError."""
    return written_encoding(parse_encoding(text, head_dim=2))


def _model(text: str) -> str:
    """Return the name of a trained model, or the text of one's own as it is written."""
    return text if text in MODELS else normal(text)


@dataclass(frozen=True)
class State:
    """All settings of a session; a page reads those that concern it.

    Parameters
    ----------
    experiment
        RoPE and XPos, the queries and keys, and the window, stage and mask.
    language
        A chosen language; None follows the browser.
    own
        Parameters of families that are not :data:`SHARED`, as ("yarn.factor", 8.0), where
        they are not usual.
    apart
        Whether RoPE and XPos have bases of their own.
    axis, difference, colours
        How the live map is looked at (:class:`xpos_viz.look.Look`).
    query
        The token whose query is looked at; the last one where there are fewer.
    panels
        What the panels of all heads show.
    measure
        What the map of all layers and heads shows.
    pair_encoding
        The encoding whose pairs are shown.
    key
        The token whose key is looked at; the nearest one that the query sees.
    long_inputs, long_length, long_seed, long_stage, long_reduce
        What the maps of a long text are of (:class:`xpos_viz.studies.long.Long`).
    compare_masks, long_mask, window_size, block_size
        Whether they show masks side by side, or else which; sizes in tokens.
    normalisation, resolution_over
        How resolution is followed (:class:`xpos_viz.studies.resolving.Course`).
    formats, kept, k_max, text_length
        Number formats, what is kept in them, the largest key, and tokens, whose precision is
        looked at (:mod:`xpos_viz.studies.precision`).
    lesson, at
        The step of a lesson, and at which of its values what is moved stands; -1 is its start.
    answers
        What was answered, as step-option.
    teacher
        Whether a teacher's notes are shown, and answers folded away.
    goal, second_goal, wanted, goal_length, goal_window
        Choose: what matters (:data:`xpos_viz.choosing.landscape.GOALS`), a half-life that is
        wanted, the length that is judged, and the window of what is read of a text, tokens.
    goal_limit, second_limit, goal_weight
        The least that is allowed of each goal, or the most where less of it is better; and how
        much the first one counts beside the second, percent.
    gammas, scale_bases, budget
        Between which γ and B it is looked for, and at how many settings.
    lab_size, models, blocks, reach
        Lab: which trained models are looked at, whether they read with blockwise attention, and
        how far (:class:`xpos_viz.studies.lab.Lab`).
    training, trained
        Lab: which model would be trained next, and those of one's own that stand beside the others
        (:meth:`xpos_viz.studies.yours.Trained.parse`).
    passage, reader
        A text that they read, none for the first on which they were measured, and the model whose
        words are shown (:class:`xpos_viz.studies.reading.Read`).
    present
        Whether type and lines are large, for a projector.
    show
        The controls that are shown; none named is all of them.
    curves, kept_curves, distance, reading, assumption, rho
        Decay: of which encodings as they are set, and of which others
        (:func:`xpos_viz.experiment.parse_encoding`), up to how many tokens, what is read of them,
        what is assumed of q and k, and their correlation, percent.
    left, right
        Neighbours: which two encodings stand side by side.
    """

    experiment: Experiment
    language: str | None = None
    own: tuple[tuple[str, float], ...] = ()
    apart: str = words(SWITCH)
    axis: str = words(LOOKS["axis"])
    difference: str = words(LOOKS["difference"])
    colours: str = words(LOOKS["colours"])
    query: int = whole(2047, 0, _LAST)
    panels: str = words(("change", "rope", "xpos"))
    measure: str = words(MEASURES)
    pair_encoding: str = words(FAMILIES)
    key: int = whole(0, 0, _LAST)
    long_inputs: str = words(LONG_INPUTS)
    long_length: int = whole(min(1 << 16, MAX_LONG_LENGTH), 1, MAX_LONG_LENGTH)
    long_seed: int = whole(0, 0, MAX_SEED)
    long_stage: str = words(MAP_STAGES)
    long_reduce: str = words(REDUCES)
    compare_masks: str = words(SWITCH)
    long_mask: str = words(LONG_MASKS)
    window_size: int = whole(4096, 2, 1 << 20)
    block_size: int = whole(4096, 2, 1 << 20)
    normalisation: str = words(("sqrt_d", "half_d", "raw"))
    resolution_over: str = words(WAYS)
    formats: tuple[str, ...] = several(FORMATS, FORMATS)
    kept: str = words(PARTS)
    k_max: int = whole(1, 1, 65_504)
    text_length: int = whole(8192, 2, 1 << 20)
    curves: tuple[str, ...] = several(REGISTRY, ("rope", "xpos"))
    kept_curves: tuple[str, ...] = few(_kept, MAX_KEPT_CURVES)
    distance: int = whole(4096, 1, 1_000_000)
    reading: str = words(READINGS)
    assumption: str = words(ASSUMPTIONS)
    rho: int = whole(50, -100, 100)
    left: str = words(sorted(REGISTRY, key="rope".__ne__))
    right: str = words(sorted(REGISTRY, key="xpos".__ne__))
    goal: str = words(GOALS)
    second_goal: str = words(("none", *GOALS))
    goal_limit: float | None = limit(-_MOST, _MOST)
    second_limit: float | None = limit(-_MOST, _MOST)
    goal_weight: int = whole(50, 1, 99)
    wanted: int = whole(1024, 1, 1 << 20)
    goal_length: int = whole(2048, 2, 1 << 17)
    goal_window: int = whole(64, 1, LIMITS.tokens)
    gammas: tuple[float, float] = ends((0.05, 3.2), 0.001, 100.0)
    scale_bases: tuple[float, float] = ends((32.0, 8192.0), 1.0, 1e9)
    budget: str = words(BUDGETS)
    lab_size: str = words(SIZES)
    models: tuple[str, ...] = several(MODELS, MODELS)
    blocks: str = words(SWITCH)
    reach: int = whole(REACH, 2, REACH)
    training: str = one("xpos:scale_base:128:seed:0", normal)
    trained: tuple[str, ...] = few(normal, MOST)
    passage: str = typed(MOST_BYTES)
    reader: str = one(MODELS[0], _model)
    lesson: str = words(STEPS)
    at: int = whole(-1, -1, MAX_PLACES - 1)
    answers: tuple[str, ...] = several(ANSWERS, ())
    teacher: str = words(SWITCH)
    present: str = words(SWITCH)
    show: tuple[str, ...] = several(CONTROLS, ())

    @property
    def look(self) -> Look:
        """How the picture is looked at."""
        return Look(**{name: getattr(self, name) for name in LOOKS})

    def encoding(self, name: str) -> Encoding:
        """Return an encoding of the registry with the shared parameters and its own.

        Raises
        ------
        ValueError
            For an unknown name, or parameters that do not go together.
        """
        own = {
            key.partition(".")[2]: value for key, value in self.own if key.startswith(f"{name}.")
        }
        given = self._shared(name, *_WIDTH, *lookup(name).defaults) | own
        return Encoding(name, tuple(given.items()))

    def kept_encoding(self, text: str) -> Encoding:
        """Return one of the kept curves' encodings, as wide as what is set."""
        return parse_encoding(text, **self._shared(text.partition(":")[0], *_WIDTH))

    @property
    def drawn_curves(self) -> tuple[Encoding, ...]:
        """What is kept and then what is set, each once and as wide as what is set."""
        kept = map(self.kept_encoding, self.kept_curves)
        return tuple(dict.fromkeys((*kept, *map(self.encoding, self.curves))))

    @property
    def own_models(self) -> tuple[Trained, ...]:
        """The models of one's own."""
        return tuple(map(Trained.parse, self.trained))

    def _shared(self, name: str, *keys: str) -> dict[str, Any]:
        """Those of some parameters that an encoding shares with RoPE and XPos."""
        first, second = self.experiment.encodings
        near, other = (second, first) if name == "xpos" else (first, second)
        shared = {**dict(other.parameters), **dict(near.parameters)}
        return {key: shared[key] for key in keys if key in shared}


SETTINGS = settings(State)
"""The settings beside the experiment, by name."""

OWN: Mapping[str, float] = {
    f"{family.name}.{name}": value
    for family in REGISTRY.values()
    for name, value in family.defaults.items()
    if name not in SHARED and PARAMETERS[name].steps and isinstance(value, int | float)
}
"""The parameters that are a family's own, with their usual values."""


def opening(source: str = "sample", name: str = "tidebook") -> Experiment:
    """Return the settings that a source opens with.

    A sample brings the base of its model, a head on which XPos matters, and a scale base
    that suits its length; so does a capture, by its hash, but with the first of its heads, and
    with γ and B of its model where that has them.

    Raises
    ------
    ValueError
        For a capture that is not here, or without a query for each token.
    """
    if source == "sample":
        layer, head = _HEADS[name]
        return _pair(Sample(name, layer, head), MODEL_BASE, _SCALE_BASES[name])
    if source == "capture":
        return _brought(name)
    made = {"expectation": Expectation, "random": Random}[source](length=min(512, MAX_LENGTH))
    return _pair(made, 10_000.0, 512.0, min(64, MAX_HEAD_DIM))


def opened(experiment: Experiment) -> Experiment:
    """Return the settings that the source of an experiment opens with."""
    inputs = experiment.inputs
    if isinstance(inputs, Sample):
        return opening("sample", inputs.name)
    if isinstance(inputs, Captured):
        return opening("capture", inputs.data)
    return opening(source_of(experiment))


def within_caps(experiment: Experiment) -> Experiment:
    """Return the experiment, or raise ValueError if it is more than the page may show."""
    for name, value, most in (
        ("length", experiment.inputs.tokens, MAX_LENGTH),
        ("head_dim", experiment.encodings[0].head_dim, MAX_HEAD_DIM),
    ):
        if value > most and not isinstance(experiment.inputs, Computed):
            raise ValueError(f"{name} must be at most {most} here, got {value}; use {most}.")
    Words(MASKED).check("mask", experiment.view.mask)
    for encoding in experiment.encodings:
        if encoding.heads is not None:
            raise ValueError(f"this page shows one head, got {encoding.heads}; use one number.")
    return experiment


def source_of(experiment: Experiment) -> str:
    """Return the name of the source of an experiment."""
    return experiment.to_dict()["source"]


def has_gamma(inputs: Inputs) -> bool:
    """Return whether a model has a γ of its own."""
    return isinstance(inputs, Computed) and own_value(inputs.capture, "gamma") is not None


def numbers(experiment: Experiment) -> dict[str, list[float]]:
    """Return the numbers that sliders show, by the name of the slider."""
    return {
        "head_dim": [experiment.encodings[0].head_dim],
        "length": [experiment.inputs.tokens],
    }


def base_of(inputs: Computed) -> float:
    """Return the base of a layer's own encoding, or the usual one where it has none."""
    capture = inputs.capture
    return known_base(capture, capture.place(inputs.layer)) or _BASE


def _brought(data: str) -> Experiment:
    """What a capture opens with."""
    capture = captured(data)
    queries, keys = (len(x) for x in (capture.query_positions, capture.key_positions))
    if queries < keys:
        raise ValueError(
            f"pages show a query of every token, got {queries} queries and {keys} keys; capture "
            "the whole text at once, or use Capture.weights, which takes fewer queries."
        )
    inputs = Captured(data, capture.layers[0])
    own, steps = capture.encodings[0], PARAMETERS["scale_base"].steps
    suiting = min(steps, key=lambda step: abs(math.log(_FADED * step / keys)))
    scale_base = own_value(capture, "scale_base") or suiting
    turned = capture.head_dim if own is None else own.rotary_width
    opened = _pair(inputs, base_of(inputs), scale_base, turned, capture.head_dim)
    gamma = own_value(capture, "gamma")
    return opened if gamma is None else with_gamma(opened, gamma)


def with_gamma(experiment: Experiment, gamma: float) -> Experiment:
    """Return the experiment with another γ of XPos."""
    first, second = experiment.encodings
    return replace(experiment, encodings=(first, second.replace(gamma=gamma)))


@lru_cache(maxsize=32)
def _pair(
    inputs: Inputs, base: float, scale_base: float, turned: int = 64, head_dim: int | None = None
) -> Experiment:
    """RoPE and XPos on some inputs, on the first columns if heads are wider."""
    pair = (rope(turned, base=base), xpos(turned, base=base, scale_base=scale_base))
    return Experiment(tuple(each.within(head_dim or turned) for each in pair), inputs)

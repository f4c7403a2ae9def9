"""Models that somebody trains here, to stand beside those that come along.

All have the small setting and read the text of those, so that nothing but the encoding and the
seed differs; and all are measured on the same bytes.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import pandas as pd

from xpos_viz import limits
from xpos_viz.choice import check_choice
from xpos_viz.encoding import PARAMETERS, REGISTRY, Encoding
from xpos_viz.entry import check_whole
from xpos_viz.experiment import parse_encoding, parse_whole, written_encoding
from xpos_viz.lab import bundle
from xpos_viz.lab.corpus import Corpus, standard_library
from xpos_viz.lab.model import SETTINGS, Transformer, check_trainable, encoding_of
from xpos_viz.lab.results import of_run
from xpos_viz.lab.store import State
from xpos_viz.lab.training import Run, train
from xpos_viz.one_core import one_core
from xpos_viz.studies.kept import Kept

SETTING = SETTINGS["quick"]
"""What is trained."""

MOST = 3
"""Models of one's own that stand beside the others at a time."""

MAX_SEED = 9999
"""The largest seed of a model."""

EVERY = 10
"""Steps whose mean loss is told."""

FAMILIES: tuple[str, ...] = tuple(
    name
    for name, family in REGISTRY.items()
    if all(PARAMETERS[parameter].steps for parameter in family.defaults)
)
"""Encodings that can be trained: no number of theirs is learned, as the table of T5 is."""

_TRAINING = 0.65  # share of the time until a model is trained; then it is measured
_SEED = ":seed:"


@dataclass(frozen=True)
class Trained:
    """What makes a model.

    Parameters
    ----------
    encoding
        Its position encoding.
    seed
        Of its weights, and of the order in which it reads.

    Examples
    --------
    >>> Trained.parse("xpos:scale_base:64:seed:3").encoding
    xpos(32, base=10000.0, gamma=0.4, scale_base=64.0)
    >>> Trained.parse("alibi").text
    'alibi:seed:0'
    """

    encoding: Encoding
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("encoding", self.encoding.name, FAMILIES)
        check_trainable(SETTING, self.encoding)
        check_whole("seed", self.seed, 0, f"use 0 to {MAX_SEED}.", below=MAX_SEED + 1)

    @property
    def text(self) -> str:
        """The model as :meth:`parse` reads it."""
        usual = encoding_of(SETTING, self.encoding.name)
        return f"{written_encoding(self.encoding, usual)}{_SEED}{self.seed}"

    @classmethod
    def parse(cls, text: str) -> "Trained":
        """Read an encoding (:func:`xpos_viz.experiment.parse_encoding`) and a seed.

        Raises
        ------
        ValueError
            For a text that is none, or a model that cannot be trained.
        """
        written, given, seed = text.partition(_SEED)
        name = written.partition(":")[0]
        check_choice("encoding", name, FAMILIES)
        usual = encoding_of(SETTING, name)
        encoding = parse_encoding(written, **dict(usual.parameters))
        return cls(encoding, parse_whole("seed", seed) if given else 0)


@dataclass(frozen=True)
class Progress:
    """How far a model is.

    Parameters
    ----------
    losses
        Bits per byte of each step so far.
    share
        Of the work that is done: first it is trained, then measured.
    """

    losses: tuple[float, ...] = ()
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class Learned:
    """A model that was trained here.

    Parameters
    ----------
    trained
        What made it.
    state
        Its weights in float16, as those that come along, and the bits per byte of each step.
    table
        What it loses, as :func:`xpos_viz.lab.bundle.results` has it of the others.
    """

    trained: Trained
    state: State
    table: pd.DataFrame

    @cached_property
    def model(self) -> Transformer:
        """The model itself."""
        return self.state.model()


Report = Callable[[Progress], None]
"""Told how far it is; what it raises ends the work."""


def normal(text: str) -> str:
    """Return the text of a model as it is written, else raise ValueError."""
    return Trained.parse(text).text


def learned(trained: Trained, report: Report = lambda _: None) -> Learned:
    """Train and measure a model; one that was trained lately is not trained again.

    One is trained at a time, by one core: so the same gives the same numbers to the last bit.

    Raises
    ------
    ValueError
        If this process trains none, or this Python came without sources.
    """
    with _alone:
        return lately(trained) or _learn(trained, report)


def lately(trained: Trained) -> Learned | None:
    """Return a model if it is kept."""
    return _kept.get(trained)


def course(losses: Sequence[float]) -> pd.DataFrame:
    """Return how losses fell: means over some steps each, a row at the last of these."""
    steps = pd.Series(range(1, len(losses) + 1), name="step")
    ends = (steps - 1) // EVERY
    table = pd.DataFrame({"step": steps, "loss": [*losses]})
    return table.groupby(ends).agg({"step": "max", "loss": "mean"}).reset_index(drop=True)


def courses(yours: Sequence[Learned]) -> pd.DataFrame:
    """Return how the losses of models fell, a row for each model and step."""
    rows = [course(each.state.losses).assign(model=each.trained.text) for each in yours]
    return pd.concat(rows, ignore_index=True)[["model", "step", "loss"]]


def joined(results: pd.DataFrame, yours: Sequence[Learned]) -> pd.DataFrame:
    """Return results with those of one's own models below them."""
    return pd.concat([results, *(each.table for each in yours)], ignore_index=True)


def _learn(trained: Trained, report: Report) -> Learned:
    """Train a model, measure it and keep it."""
    if not limits.TRAINS:
        raise ValueError(
            f"models are not trained here, got {trained.text}; set {limits.TRAINING}=on, or use "
            "xpos-viz lab train."
        )
    with one_core():
        run = Run(SETTING, trained.encoding, trained.seed, _corpus())
        train(run, lambda run: report(_so_far(run, _TRAINING * run.step / run.setting.steps)))
        state = run.state().half()
        table = of_run(
            trained.text,
            state,
            bundle.texts(SETTING.name),
            lambda share: report(_so_far(run, _TRAINING + (1 - _TRAINING) * share)),
        )
    found = Learned(trained, state, table)
    _kept.put(trained, found)
    return found


def _so_far(run: Run, share: float) -> Progress:
    """How far a run is."""
    return Progress(tuple(run.losses), share)


@cache
def _corpus() -> Corpus:
    """What models read."""
    return standard_library()


_alone = threading.Lock()
_kept: Kept[Learned] = Kept(8)

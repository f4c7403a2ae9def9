"""What trained models lose beyond their training length, over the seeds: tables for pictures.

A value is the mean over seeds, and beside it stand the least and the most of a seed. Its standard
error is that over texts, which all seeds read, so that it does not shrink with their number.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from xpos_viz.encoding import Encoding
from xpos_viz.lab import SETTINGS, Setting, Transformer, bundle, contenders
from xpos_viz.lab.bundle import results
from xpos_viz.lab.model import REACH
from xpos_viz.lab.results import lengths, masks, near
from xpos_viz.studies.yours import Learned, joined

SIZES: tuple[str, ...] = tuple(sorted(SETTINGS, key="main".__ne__))
"""Settings of models, that of the larger ones first."""

MODELS: tuple[str, ...] = tuple(contenders(SETTINGS["main"]))
"""What is compared, by name."""

_KEYS = ["encoding", "mask", "length", "place"]
_ROOM = 0.05  # below and above what is drawn, of its height


@dataclass(frozen=True)
class Lab:
    """Which models are looked at, and what they see.

    Parameters
    ----------
    size
        One of :data:`SIZES`.
    models
        Some of :data:`MODELS`, or of one's own.
    blocks
        Whether they read with blockwise causal attention.
    reach
        Up to how many training lengths their losses are followed.
    yours
        Models of one's own; those that are looked at are among `models`, by their texts.
    """

    size: str
    models: tuple[str, ...]
    blocks: bool = False
    reach: int = REACH
    yours: tuple[Learned, ...] = ()

    @property
    def setting(self) -> Setting:
        """How large they are, and how they were trained."""
        return SETTINGS[self.size]

    @property
    def masks(self) -> tuple[str, str]:
        """Of a whole text, and in blocks."""
        causal, blockwise = masks(self.setting)
        return causal, blockwise

    @property
    def mask(self) -> str:
        """What they read with."""
        return self.masks[self.blocks]

    @property
    def near(self) -> str:
        """What they are compared with: windows of L."""
        return near(self.setting)

    @property
    def beyond(self) -> tuple[int, ...]:
        """The lengths from L on, tokens."""
        return lengths(self.setting)[1:]

    @property
    def encodings(self) -> dict[str, Encoding]:
        """All that may be looked at, by name."""
        own = {each.trained.text: each.trained.encoding for each in self.yours}
        return {**contenders(self.setting), **own}

    def model(self, name: str) -> Transformer:
        """Return one of those that may be looked at."""
        own = {each.trained.text: each for each in self.yours}
        return own[name].model if name in own else bundle.model(self.size, name)

    @property
    def seeds(self) -> int:
        """How many models there are of each that comes along."""
        return int(results(self.size)["seed"].nunique())


def spread(lab: Lab, measure: str, *seen: str) -> pd.DataFrame:
    """Return what was measured of the models, over their seeds.

    Parameters
    ----------
    lab
        Which models.
    measure
        One of those of :func:`xpos_viz.lab.measured`.
    seen
        Under which masks; none is that which they read with.

    Returns
    -------
    DataFrame
        Columns encoding, mask, length and place (tokens), value (the mean), error, least and most.
    """
    found = _spread(lab.size, lab.yours, measure)
    here = found["encoding"].isin(lab.models) & found["mask"].isin(seen or (lab.mask,))
    return found[here].reset_index(drop=True)


def rows(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the part of a table that is of one model."""
    return table[table["encoding"] == name]


def by_place(lab: Lab, *seen: str) -> pd.DataFrame:
    """Return what bytes cost by their place in the longest text, as far as they are followed."""
    found = spread(lab, "place", *seen)
    return found[found["place"] < lab.reach * lab.setting.length].reset_index(drop=True)


def reference(lab: Lab) -> pd.DataFrame:
    """Return what bytes cost the first of the models in windows of L."""
    return rows(by_place(lab, lab.near), lab.models[0])


def at_training_length(table: pd.DataFrame, length: int, along: str) -> float:
    """Return the value of one model at the training length, between two places if need be."""
    return float(np.interp(length, table[along], table["value"]))


def limits(found: pd.DataFrame, *held: float, above: float = _ROOM) -> tuple[float, float]:
    """Return ends of an axis that hold the least and the most of a table.

    Parameters
    ----------
    found
        From :func:`spread`, of all masks whose pictures share the axis.
    held
        Other values that it holds.
    above
        Room above all of it, as a share of its height.
    """
    low, high = min([found["least"].min(), *held]), max([found["most"].max(), *held])
    return float(low - _ROOM * (high - low)), float(high + above * (high - low))


def excess(lab: Lab, *seen: str) -> pd.DataFrame:
    """Return the paired excess at the longest text, a row for each model, by name."""
    return spread(lab, "excess", *seen).set_index("encoding").loc[list(lab.models)]


@lru_cache(maxsize=32)
def doubled(lab: Lab) -> pd.DataFrame:
    """Compare the change of the mean from L to 2 L with the paired excess between both.

    Returns
    -------
    DataFrame
        A row for each model, by name, with columns change (of the mean), and excess, least and most
        (of the bytes from L to 2 L of the longest text), bits per byte.
    """
    (causal, _), length = lab.masks, lab.setting.length
    means = _of_seeds(lab, "mean", "length")[causal].unstack("length")
    change = (means[2 * length] - means[length]).groupby("encoding").mean()
    costs = _of_seeds(lab, "place", "place")
    places = costs.index.get_level_values("place")
    early = costs[(places > length) & (places < 2 * length)]
    lost = (early[causal] - early[lab.near]).groupby(["encoding", "seed"]).mean()
    parts = {"change": change, "excess": (seeds := lost.groupby("encoding")).mean()}
    parts |= {"least": seeds.min(), "most": seeds.max()}
    return pd.DataFrame(parts).loc[list(lab.models)]


def profile(lab: Lab) -> pd.DataFrame:
    """Return the mean logit by lag, over the seeds; all of it is of a whole text."""
    return spread(lab, "logit", "causal")


def profile_limits(lab: Lab) -> tuple[float, float] | None:
    """Return ends of an axis for the models that add no bias, which would leave no room."""
    plain = [name for name in lab.models if lab.encodings[name].bias is None]
    if len(plain) in (0, len(lab.models)):
        return None
    table = profile(lab)
    return limits(table[table["encoding"].isin(plain)], 0.0)


def resolved(lab: Lab) -> pd.DataFrame:
    """Return the resolution of the mean logits, a row for each model and a column for each length.

    Lengths are those from L on.
    """
    return _resolutions(lab.size, lab.yours).loc[list(lab.models), list(lab.beyond)]


def ranked(values: pd.Series) -> list[str]:
    """Return the names of values, the least first."""
    return [str(name) for name in values.sort_values().index]


@lru_cache(maxsize=32)
def _spread(size: str, yours: tuple[Learned, ...], measure: str) -> pd.DataFrame:
    """A measure of all models over the seeds, with every mask."""
    table = joined(results(size), yours)
    grouped = table[table["measure"] == measure].groupby(_KEYS, dropna=False)
    values = grouped["value"]
    found = {"value": values.mean(), "error": grouped["error"].mean()}
    found |= {"least": values.min(), "most": values.max()}
    return pd.DataFrame(found).reset_index()


@lru_cache(maxsize=8)
def _resolutions(size: str, yours: tuple[Learned, ...]) -> pd.DataFrame:
    """The resolution of all models, a column for each length."""
    found = _spread(size, yours, "resolution")
    causal = found[found["mask"] == "causal"]
    return causal.pivot_table(index="encoding", columns="length", values="value")


def _of_seeds(lab: Lab, measure: str, along: str) -> pd.DataFrame:
    """A measure of each model, seed, and length or place, a column for each mask."""
    table = joined(results(lab.size), lab.yours)
    part = table[table["measure"] == measure]
    return part.pivot_table(index=["encoding", "seed", along], columns="mask", values="value")

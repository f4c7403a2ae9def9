"""Maps of scores or weights of any length."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import cast

import click
import torch

from xpos_viz.cli.command import as_option
from xpos_viz.cli.data import capture_of, data_options
from xpos_viz.cli.encodings import Given, encoding_command, entries_of
from xpos_viz.cli.output import Arrays, output_options, progress, put
from xpos_viz.experiment import Experiment
from xpos_viz.inputs import SOURCES, Capture
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES
from xpos_viz.pooling import block_size, pooled_map
from xpos_viz.pooling.maps import MAP_STAGES, REDUCES, MapStage, Reduce
from xpos_viz.state import opening
from xpos_viz.state.model import MAX_LONG_LENGTH
from xpos_viz.state.settings import Words
from xpos_viz.studies.long import LongMap, map_table
from xpos_viz.texts import catalogue

INPUTS: tuple[str, ...] = tuple(
    name
    for name in dict.fromkeys(entry.name for kind in SOURCES.values() for entry in fields(kind))
    if name != "data"  # which is a file here
)
"""What queries and keys are described by, beside their source."""

_WAYS = {"capture": "--data"}
"""How a source is given, if not by its name."""


def _inputs(function: Callable[..., None]) -> Callable[..., None]:
    """Add options for queries and keys."""
    words = catalogue("en")
    for name in reversed(INPUTS):
        having = [source for source, kind in SOURCES.items() if name in kind.__annotations__]
        meaning = words[f"ui.{name}_help"].format(cap=f"{MAX_LONG_LENGTH:,}")
        said = f"{meaning} [{', '.join(having)}]"
        function = click.option(as_option(name), help=said)(function)
    said = words["ui.source_help"]
    sources = click.Choice(tuple(SOURCES))
    option = click.option("--source", type=sources, default="sample", show_default=True, help=said)
    return option(function)


@encoding_command("map")
@data_options
@_inputs
@click.option("--size", type=int, default=512, show_default=True, help="Rows and columns at most.")
@click.option("--reduce", type=click.Choice(REDUCES), default="mean", show_default=True)
@click.option("--stage", type=click.Choice(MAP_STAGES), default="scores", show_default=True)
@click.option("--mask", default="causal", show_default=True, help="Such as none or sliding:256.")
@output_options
def command(
    names: tuple[str, ...],
    head_dim: int,
    parameters: Given,
    size: int,
    reduce: str,
    stage: str,
    mask: str,
    *,
    as_json: bool,
    out: Path | None,
    source: str,
    data: Path | None,
    order: str,
    rotated: float | None,
    **inputs: str | None,
) -> None:
    """Each block is the mean, smallest or largest of its visible cells (pooled_map).

    Ends of blocks are in tokens, included; NPZ holds the maps as
    arrays: values_0, counts_0 … and positions.
    """
    encodings = entries_of(names, head_dim, parameters)
    brought = capture_of(data, order, rotated)
    _check_given(source if brought is None else "capture", inputs)
    opened = _opened(source, **inputs) if brought is None else _brought(brought, **inputs)
    experiment = Experiment.from_dict({**encodings, **opened})
    maps = _maps(_affordable(experiment), size, reduce, stage, mask)
    put(map_table(maps), _arrays(maps), as_json=as_json, out=out)


def _check_given(source: str, given: Mapping[str, str | None]) -> None:
    """Refuse what is given of queries and keys that are not described by it."""
    for name, value in given.items():
        having = [other for other, kind in SOURCES.items() if name in kind.__annotations__]
        if value is not None and source not in having:
            ways = " or ".join(_WAYS.get(other, f"--source {other}") for other in having)
            raise ValueError(
                f"{as_option(name)} is not for {_WAYS.get(source, f'--source {source}')}, "
                f"got {value!r:.40}; use it with {ways}, or leave it out."
            )


def _opened(source: str, name: str | None = None, **others: str | None) -> dict[str, str]:
    """Queries and keys as a source opens, with what is given instead."""
    entries = opening(source, Words(SAMPLES).check("name", name or SAMPLES[0])).to_dict()
    given = {"name": name, **others}
    usual = {key: entries[key] for key in INPUTS if key in entries}
    chosen = {key: value for key, value in given.items() if value is not None}
    return {"source": source, **usual, **chosen}


def _brought(capture: Capture, **given: str | None) -> dict[str, str]:
    """Queries and keys of a file as they open, with what is given instead."""
    chosen = {key: value for key, value in given.items() if value is not None}
    data = keep(capture)
    return {"source": "capture", "data": data, "layer": str(capture.layers[0]), **chosen}


def _affordable(experiment: Experiment) -> Experiment:
    """The experiment, or ValueError if it is more than one map can show."""
    tokens, most = experiment.inputs.tokens, MAX_LONG_LENGTH
    if tokens > most:
        raise ValueError(
            f"length must be at most {most} here, got {tokens}; use {most}, "
            "or set XPOS_VIZ_MAX_LONG_LENGTH."
        )
    for encoding in experiment.encodings:
        if encoding.heads is not None:
            raise ValueError(f"a map shows one head, got {encoding.heads}; use one number.")
    return experiment


def _maps(experiment: Experiment, size: int, reduce: str, stage: str, mask: str) -> list[LongMap]:
    """A map for each encoding."""
    encodings, tokens = experiment.encodings, experiment.inputs.tokens
    vectors, maps = experiment.inputs.load(encodings[0].head_dim), []
    with progress("Computing the maps") as report:
        for done, encoding in enumerate(encodings):
            pooled = pooled_map(
                vectors.q,
                vectors.k,
                encoding,
                size=size,
                reduce=cast("Reduce", reduce),
                stage=cast("MapStage", stage),
                mask=mask,
                layout=vectors.layout,
                progress=lambda share, done=done: report((done + share) / len(encodings)),
            )
            values, counts = pooled.values.to(torch.float64).numpy(), pooled.counts.numpy()
            maps.append(LongMap(encoding, mask, values, counts, block_size(tokens, size), tokens))
    return maps


def _arrays(maps: list[LongMap]) -> Arrays:
    """The maps as they are, by name."""
    values = {f"values_{place}": each.values for place, each in enumerate(maps)}
    counts = {f"counts_{place}": each.counts for place, each in enumerate(maps)}
    return {**values, **counts, "positions": maps[0].positions}

"""What there is: encodings, samples, presets, pages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import click
import pandas as pd

from xpos_viz.cli.command import Command, as_option, summary
from xpos_viz.cli.output import output_options, put
from xpos_viz.encoding import REGISTRY
from xpos_viz.export.sweeps import pictures_of
from xpos_viz.inputs.sample import SAMPLES, heads_of, layers_of, read_sample
from xpos_viz.pictures import PICTURES
from xpos_viz.state import PRESETS
from xpos_viz.texts import LANGUAGES, Text, texts


def _encodings(_: Text) -> pd.DataFrame:
    """Families of encodings, with parameters and sources."""
    rows = [
        {
            "name": row.name,
            "label": row.label,
            "parameters": ", ".join(row.defaults),
            "formula": row.formula,
            "source": row.source,
        }
        for row in REGISTRY.values()
    ]
    return pd.DataFrame(rows)


def _samples(text: Text) -> pd.DataFrame:
    """Bundled texts."""
    rows = [
        {
            "name": name,
            "tokens": len(read_sample(name)["tokens"]),
            "layers": ", ".join(map(str, layers_of(name))),
            "heads": heads_of(name),
            "about": text(f"ui.samples.{name}"),
        }
        for name in SAMPLES
    ]
    return pd.DataFrame(rows)


def _presets(text: Text) -> pd.DataFrame:
    """Settings worth a look."""
    rows = [
        {
            "name": name,
            "page": page,
            "settings": " ".join(f"{as_option(key)} {value}" for key, value in settings.items()),
            "about": text(f"presets.{name}.words"),
        }
        for name, (page, settings) in PRESETS.items()
    ]
    return pd.DataFrame(rows)


def _pages(text: Text) -> pd.DataFrame:
    """Pages of the dashboard, and their pictures."""
    rows = [
        {
            "name": name,
            "pictures": ", ".join(pictures_of(name)),
            "title": text(f"pages.{name}.title"),
            "about": text(f"pages.{name}.question"),
        }
        for name in PICTURES
    ]
    return pd.DataFrame(rows)


LISTS: Mapping[str, Callable[[Text], pd.DataFrame]] = MappingProxyType(
    {"encodings": _encodings, "samples": _samples, "presets": _presets, "pages": _pages}
)
"""What can be listed."""


@click.command(cls=Command, short_help=summary("list"))
@click.argument("what", type=click.Choice(tuple(LISTS)))
@click.option("--lang", type=click.Choice(tuple(LANGUAGES)), default="en", show_default=True)
@output_options
def command(what: str, lang: str, *, as_json: bool, out: Path | None) -> None:
    """Print the encodings, samples, presets or pages that there are."""
    put(LISTS[what](texts(lang)), as_json=as_json, out=out)

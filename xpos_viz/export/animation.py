"""A picture in motion: a sweep as a page with a scrubber, or as GIF."""

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from io import BytesIO
from typing import Any, cast

import numpy as np
from PIL import Image

from xpos_viz.choice import check_choice
from xpos_viz.export.page import data, document, script
from xpos_viz.export.recipe import Recipe
from xpos_viz.export.sweeps import Sweep
from xpos_viz.figures import plotly_pen
from xpos_viz.figures.description import Description, Heatmaps, Plane
from xpos_viz.figures.files import Paper
from xpos_viz.figures.paper_pen import pixels
from xpos_viz.pooling.sides import Report
from xpos_viz.texts import Text

MOVING: dict[str, str] = {"html": "text/html", "gif": "image/gif"}
"""What :func:`animate` makes, and its media type."""

_STEP, _REST = 350, 1400  # milliseconds that a frame of a GIF and the last one are shown
_WIDTH = 960  # pixels of a GIF
_COLOURS = 256


def animate(
    moving: Sweep, form: str, recipe: Recipe, text: Text, report: Report = lambda _: None
) -> bytes:
    """Return the content of a file of a sweep.

    Parameters
    ----------
    moving
        From :func:`xpos_viz.export.sweeps.sweep`.
    form
        A key of :data:`MOVING`.
    recipe
        What it was made from; a GIF is drawn on its paper.
    text
        Sentences of the same language.
    report
        Is told the share that is done; raises to end the work.

    Raises
    ------
    ValueError
        For an unknown form.
    """
    check_choice("form", form, MOVING)
    if form == "html":
        page = animation_html(moving, text, recipe.text()).encode()
        report(1.0)
        return page
    return animation_gif(moving, recipe.paper, report, recipe.text())


def animation_html(moving: Sweep, text: Text, recipe: str = "") -> str:
    """Return a page that shows a sweep under a slider, and plays it; it needs no network.

    Parameters
    ----------
    moving
        From :func:`xpos_viz.export.sweeps.sweep`.
    text
        Sentences of the same language.
    recipe
        JSON that says what it was made from.
    """
    title = text("export.sweep", parameter=moving.label)
    pool: dict[str, int] = {}
    shown = [
        {
            "figure": _pooled(_figure(frame), pool),
            "value": value,
            "alt": frame.alt,
            "notes": frame.notes,
        }
        for value, frame in zip(moving.written, moving.frames, strict=True)
    ]
    told = {
        "frames": shown,
        "pool": [json.loads(part) for part in pool],
        "play": text("export.play"),
        "stop": text("export.stop"),
    }
    last = len(shown) - 1
    kind = "maps" if isinstance(moving.frames[0], Heatmaps) else "other"
    body = (
        f"<h1>{html.escape(title)}</h1>",
        '<div class="controls">',
        '<button id="play" type="button"></button>',
        f'<label for="place">{html.escape(moving.label)}</label>',
        f'<input id="place" type="range" min="0" max="{last}" value="0" step="1">',
        '<output id="value" for="place"></output>',
        "</div>",
        f'<div class="{kind}"><div id="picture" role="img"></div></div><div id="notes"></div>',
        data("sweep", json.dumps(told, ensure_ascii=False, allow_nan=False)),
        script(plotly_pen.library(), "text/javascript"),
        script(files("xpos_viz.export").joinpath("js/animation.js").read_text(encoding="utf-8")),
    )
    return document(title, body, text, style=_STYLE, recipe=recipe)


def animation_gif(
    moving: Sweep, paper: Paper, report: Report = lambda _: None, recipe: str = ""
) -> bytes:
    """Return a sweep as a GIF that begins again, drawn by the pen for paper.

    Parameters
    ----------
    moving
        From :func:`xpos_viz.export.sweeps.sweep`.
    paper
        Shape, ground and caption of a frame.
    report
        Is told the share that is done; raises to end the work.
    recipe
        What it was made from, for the comment of the file.
    """
    drawn: list[Image.Image] = []
    for frame in moving.frames:
        drawn.append(_bitmap(frame, paper))
        report(len(drawn) / len(moving.frames))
    colours = _palette(drawn)
    still = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in drawn]
    file, times = BytesIO(), [_STEP] * (len(still) - 1) + [_REST]
    still[0].save(
        file,
        "GIF",
        save_all=True,
        append_images=still[1:],
        duration=times,
        loop=0,
        comment=(recipe or moving.frames[0].alt).encode(),
    )
    return file.getvalue()


_STYLE = """
:root { color-scheme: light; color: #1f2430; background: #fff; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem;
  margin-bottom: 0.75rem; }
.controls input { flex: 1 1 12rem; min-height: 2rem; }
.controls output { min-width: 7rem; font-weight: 600; font-variant-numeric: tabular-nums; }
button { font: inherit; min-width: 5rem; min-height: 2.2rem; }
.maps { overflow-x: auto; } .maps #picture { min-width: 40rem; }
#notes { color: #565d6b; font-size: 0.9rem; }
@media print { .controls button, .controls input { display: none; } }
"""


def _figure(frame: Description) -> dict[str, Any]:
    """What the pen for the screen draws, as JSON values; points stand at the end of their paths."""
    if isinstance(frame, Plane):
        frame = replace(frame, paths=frame.paths[:, ::-1], steps=frame.steps[::-1])
    drawn = json.loads(cast("str", plotly_pen.draw(frame).to_json()))
    layout = drawn["layout"] | {"uirevision": "kept"}  # a zoom stays
    left = {key: value for key, value in layout.items() if key not in ("sliders", "updatemenus")}
    return {"data": drawn["data"], "layout": left}


def _pooled(figure: dict[str, Any], pool: dict[str, int]) -> dict[str, Any]:
    """A figure whose values are places in a pool: what frames have in common is there once."""

    def placed(part: Mapping[str, Any]) -> dict[str, int]:
        written = {key: json.dumps(value, ensure_ascii=False) for key, value in part.items()}
        return {key: pool.setdefault(value, len(pool)) for key, value in written.items()}

    return {"data": [placed(trace) for trace in figure["data"]], "layout": placed(figure["layout"])}


def _bitmap(frame: Description, paper: Paper) -> Image.Image:
    """A frame as the pen for paper draws it, twice as fine, so that cells are of one size."""
    return Image.fromarray(pixels(frame, 2 * _WIDTH, paper)).reduce(2)


def _palette(drawn: Sequence[Image.Image]) -> Image.Image:
    """Colours that serve all frames alike."""
    parts = [np.asarray(image)[::3, ::3] for image in drawn]
    return Image.fromarray(np.concatenate(parts)).quantize(_COLOURS)

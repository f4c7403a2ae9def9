"""A hand-out: one page that holds the live map and all that explains it, and needs no network."""

import html
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import asdict
from importlib.resources import files
from typing import Any, cast
from urllib.parse import urlencode

from xpos_viz import livemap
from xpos_viz.encoding import REGISTRY
from xpos_viz.export.page import checked, data, document, script
from xpos_viz.figures.description import Description
from xpos_viz.figures.paper_pen import save
from xpos_viz.figures.words import data_words, encoding_words, excerpt_words, label, mask_words
from xpos_viz.inputs import Computed
from xpos_viz.inputs.labels import beginning
from xpos_viz.pictures import PICTURES
from xpos_viz.state import State, to_address
from xpos_viz.texts import Text
from xpos_viz.theme import INKS, Mode

_EXPLAINED = ("base", "gamma", "scale_base")
_LEFT_OUT = ("streaming", "streamed")  # no server answers: the browser computes all weights
_ACCENTS: dict[Mode, str] = {"light": "#1f5d99", "dark": "#5590d6"}


def handout(state: State, text: Text, recipe: str = "") -> str:
    """Return a page with the live map, its curves, what they mean, and what is set.

    Parameters
    ----------
    state
        All that is set.
    text
        Sentences of one language.
    recipe
        JSON that says what the page was made from; its `link` is shown.

    Raises
    ------
    ValueError
        If `recipe` is no JSON, or the live map cannot draw what is set.

    Examples
    --------
    >>> from xpos_viz.state import opening
    >>> from xpos_viz.texts import texts
    >>> page = handout(State(opening("expectation")), texts("en"))
    >>> "<title>RoPE beside XPos</title>" in page
    True
    """
    link = _link(recipe) or f"/compare?{urlencode(to_address(state), safe=',:')}"
    own = ("base",) if state.apart == "yes" else ()
    described = livemap.payload(state.experiment, text, "light", state.look, own)
    title = text("pages.compare.title")
    body = (
        f"<h1>{_safe(title)}</h1>",
        f"<p>{_safe(text('pages.compare.question'))}</p>",
        *_pictures(state, text),
        *_settings(state, text, link),
        *_explained(text),
        *_read(state, text),
        *_live(described),
    )
    return document(title, body, text, style=_style(), recipe=recipe)


def _pictures(state: State, text: Text) -> Iterator[str]:
    """The live map, and still pictures for paper and for readers without scripts."""
    reset = _safe(text("export.reset"))
    yield f'<div class="live"><div id="map"></div><button id="reset">{reset}</button></div>'
    yield '<div class="still">'
    for picture in PICTURES["compare"](state, text):
        yield _still(picture.description)
    yield "</div>"
    yield "<noscript><style>.live { display: none; } .still { display: block; }</style>"
    yield f"<p>{_safe(text('export.scripts'))}</p></noscript>"


def _still(description: Description) -> str:
    """A picture as paper has it."""
    source = b64encode(save(description, "png")).decode()
    return f'<img alt="{_safe(description.alt)}" src="data:image/png;base64,{source}">'


def _settings(state: State, text: Text, link: str) -> Iterator[str]:
    """What the page opens with, and where it can be set otherwise."""
    experiment = state.experiment
    stage = text(f"figure.stage.{experiment.view.stage}")
    shown = [
        data_words(experiment, text),
        *(label(encoding, text) for encoding in experiment.encodings),
        text("figure.state", stage=stage, mask=mask_words(experiment.view.mask, text)),
    ]
    yield f"<h2>{_safe(text('export.settings'))}</h2>"
    yield f"<ul>{''.join(f'<li>{_safe(line)}</li>' for line in shown)}</ul>"
    address = _safe(link)
    if link.startswith(("http://", "https://")):
        address = f'<a href="{address}">{address}</a>'
    yield f"<p>{_safe(text('export.link'))} {address}</p>"


def _link(recipe: str) -> str:
    """The link that a recipe has, or nothing."""
    made: Any = json.loads(checked(recipe)) if recipe else {}
    known: Any = made.get("xpos_viz", {}) if isinstance(made, dict) else {}
    link = cast("dict[str, Any]", known).get("link", "") if isinstance(known, dict) else ""
    return link if isinstance(link, str) else ""


def _explained(text: Text) -> Iterator[str]:
    """The formula, what it says and what its parameters do, and where the encodings are from."""
    yield f"<h2>{_safe(text('ui.formula'))}</h2>"
    yield files("xpos_viz.export").joinpath("formula.html").read_text(encoding="utf-8")
    yield f"<p>{_safe(text('ui.formula_words'))}</p><dl>"
    for name in _EXPLAINED:
        yield f"<dt>{_safe(text(f'ui.{name}'))}</dt><dd>{_safe(text(f'ui.{name}_help'))}</dd>"
    yield "</dl>"
    for row in (REGISTRY["rope"], REGISTRY["xpos"]):
        yield f'<p class="faint">{_safe(encoding_words(row, text))}</p>'


def _read(state: State, text: Text) -> Iterator[str]:
    """The text that the model read, if there is one."""
    inputs = state.experiment.inputs
    if isinstance(inputs, Computed) and inputs.capture.text:
        yield f"<h2>{_safe(text('export.text'))}</h2>"
        yield f'<p class="text">{_safe(beginning(inputs.capture.text))}</p>'
        for line in excerpt_words(inputs, text):
            yield f'<p class="faint">{_safe(line)}</p>'


def _live(described: dict[str, Any]) -> Iterator[str]:
    """What the live map is given, its modules, and who answers it."""
    whole = {key: value for key, value in described.items() if key not in _LEFT_OUT}
    packed = b64encode(livemap.packed(whole)).decode()
    opening = {key: described[key] for key in ("encodings", "view", "sliders")}
    modules = livemap.source().replace("\nexport const ", "\nconst ")
    host = files("xpos_viz.export").joinpath("js/handout.js").read_text(encoding="utf-8")
    yield f'<script type="text/plain" id="payload">{packed}</script>'
    yield data("opening", json.dumps(opening))
    yield script(f"{modules}\n{host}")


def _style() -> str:
    """Light or dark as the reader's system asks; paper is light."""
    return _STYLE.replace("$light", _colours("light")).replace("$dark", _colours("dark"))


def _colours(mode: Mode) -> str:
    """The colours of a mode, by the names that the live map knows."""
    ink = asdict(INKS[mode])
    return (
        f"--st-text-color: {ink['text']}; --st-background-color: {ink['page']}; "
        f"--st-primary-color: {_ACCENTS[mode]}; --faint: {ink['faint']};"
    )


def _safe(words: str) -> str:
    """Words as HTML, which is never markup."""
    return html.escape(words)


_STYLE = """
:root { color-scheme: light dark; $light }
@media (prefers-color-scheme: dark) { :root { $dark } }
body { color: var(--st-text-color); background: var(--st-background-color); }
button { font: inherit; font-size: 0.875rem; min-height: 2rem; margin-top: 0.75rem; }
math { font-size: 1.15rem; overflow-x: auto; padding: 0.25rem 0; }
.bar { border-top: 1px solid; }
dt { font-weight: 600; } dd { margin: 0 0 0.5rem; }
.faint { color: var(--faint); font-size: 0.9rem; margin: 0.25rem 0; }
.text { white-space: pre-wrap; }
.still { display: none; } .still img { width: 100%; height: auto; margin: 0.5rem 0; }
@page { margin: 1.5cm; }
@media print {
  :root { color-scheme: light; $light }
  body { padding: 0; max-width: none; font-size: 0.85rem; }
  #reset, #map .lm-controls { display: none; }
  #map canvas { max-width: 100%; height: auto !important; }
  .dark .live { display: none; } .dark .still { display: block; }
  h2, dt { break-after: avoid; } .lm-maps, img, math { break-inside: avoid; }
}
"""

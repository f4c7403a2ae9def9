"""What trained models lose beyond their training length: by place, by length, and in pairs."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from xpos_viz.figures.description import Bars, Curve, Curves, Mark
from xpos_viz.figures.lines import FAMILY_LINES, Line, lines
from xpos_viz.figures.training import your_words
from xpos_viz.figures.words import (
    bound,
    clauses,
    curve_ends,
    fixed,
    number,
    rounded,
    short_labels,
)
from xpos_viz.lab.model import contenders
from xpos_viz.lessons.longer import LENGTHS, PAPER
from xpos_viz.studies.lab import (
    Lab,
    at_training_length,
    by_place,
    excess,
    limits,
    profile,
    profile_limits,
    reference,
    rows,
    spread,
)
from xpos_viz.texts import Text
from xpos_viz.theme import LEVEL

_WRITTEN = 0.3  # of the height of bars, for what stands above them
_PAPER_TRAINED = 1024  # tokens; Sun et al. 2022
_PAPER_LINES: dict[str, Line] = {
    "absolute": (LEVEL, "dash"),
    "alibi": FAMILY_LINES["alibi"],
    "rope": FAMILY_LINES["rope"],
    "rope_blocks": (FAMILY_LINES["rope"][0], "dot"),
    "xpos": FAMILY_LINES["xpos"],
    "lex": (FAMILY_LINES["xpos"][0], "dot"),
}
"""The line of each method of the paper; those with blocks are dotted."""


def place_curves(lab: Lab, text: Text, *, logarithmic: bool = False) -> Curves:
    """Describe what each byte of the longest text costs, by its place.

    Parameters
    ----------
    lab
        Which models.
    text
        Sentences of one language.
    logarithmic
        Whether places stand on a logarithmic axis.

    Returns
    -------
    Curves
        A line for each model with a band over its seeds, and what the first of them costs in
        windows of L; a mark at the training length.
    """
    found, near, length = by_place(lab, lab.mask), reference(lab), lab.setting.length
    first = names(lab, text)[lab.models[0]]
    label = text("lab.near", name=first, length=number(length))
    level = Curve(label, _column(near, "place"), _column(near, "value"), line=LEVEL, dash="solid")
    curves = [*_curves(lab, found, "place", text), level]
    return Curves(
        name="lab_places",
        alt=_alt("places", curves, lab, text),
        title=(text("lab.title.places"), read_words(lab, text)),
        x=text("lab.axis.place"),
        y=text("lab.axis.bits"),
        logarithmic=logarithmic,
        curves=tuple(curves),
        notes=(*_models(lab, text), text("lab.band", name=first), text("lab.pieces")),
        marks=(_trained(length, at_training_length(near, length, "place"), text),),
        y_limits=limits(by_place(lab, *lab.masks)),
    )


def mean_curves(lab: Lab, text: Text) -> Curves:
    """Describe what bytes cost on average, by the length of the text (:func:`place_curves`)."""
    found, length = spread(lab, "mean"), lab.setting.length
    curves = list(_curves(lab, found, "length", text))
    first = at_training_length(rows(found, lab.models[0]), length, "length")
    return Curves(
        name="lab_means",
        alt=_alt("means", curves, lab, text),
        title=(text("lab.title.means"), read_words(lab, text)),
        x=text("lab.axis.length"),
        y=text("lab.axis.bits"),
        logarithmic=True,
        curves=tuple(curves),
        notes=(text("lab.same_bytes"),),
        marks=(_trained(length, first, text),),
        y_limits=limits(spread(lab, "mean", *lab.masks)),
    )


def excess_bars(lab: Lab, text: Text) -> Bars:
    """Describe the paired excess of each model: a bar, the least and the most of a seed."""
    found, named = excess(lab), names(lab, text)
    value = _column(found, "value")
    return Bars(
        name="lab_excess",
        alt=text(
            "lab.alt.excess",
            read=_beyond_words(lab, text),
            each=excess_words(found, lab, text),
        ),
        title=(text("lab.title.excess"), _beyond_words(lab, text)),
        x=text("lab.axis.encoding"),
        y=text("lab.axis.excess"),
        labels=tuple(named[name] for name in lab.models),
        series=((text("lab.excess"), value),),
        notes=(text("lab.whiskers"),),
        y_limits=limits(excess(lab, *lab.masks), 0.0, above=_WRITTEN),
        lines=tuple(line for line, _ in model_lines(lab).values()),
        spans=(_column(found, "least"), _column(found, "most")),
        written=tuple(
            (fixed(row, 3), f"± {fixed(error, 3)}")
            for row, error in zip(value, found["error"], strict=True)
        ),
    )


def logit_curves(lab: Lab, text: Text, *, logarithmic: bool = False) -> Curves:
    """Describe the mean logit of each model at each lag (:func:`place_curves`)."""
    found, length = profile(lab), lab.setting.length
    found = found[found["place"] > 0] if logarithmic else found
    curves = list(_curves(lab, found, "place", text, band=False))
    first = at_training_length(rows(found, lab.models[0]), length, "place")
    shared = profile_limits(lab)
    beneath = (text("lab.beneath"),) if shared else ()
    return Curves(
        name="lab_logits",
        alt=_alt("logits", curves, lab, text),
        title=(text("lab.title.logits"), text("lab.averaged")),
        x=text("lab.axis.lag"),
        y=text("lab.axis.logit"),
        logarithmic=logarithmic,
        curves=tuple(curves),
        notes=beneath,
        marks=(_trained(length, first, text),),
        y_limits=shared,
    )


def paper_curves(text: Text) -> Curves:
    """Describe the perplexities that the paper reports, of its tables 2 and 5."""
    found = {  # where both tables have a method, the first one has more lengths
        name: (np.array(LENGTHS[table], np.float64), np.array(row))
        for table in ("parts", "perplexity")
        for name, row in PAPER[table].items()
    }
    curves = [
        Curve(text(f"learn.tables.{name}"), *found[name], line=line, dash=dash)
        for name, (line, dash) in _PAPER_LINES.items()
    ]
    at = LENGTHS["perplexity"].index(_PAPER_TRAINED)
    return Curves(
        name="lab_paper",
        alt=text("lab.alt.paper", ends=curve_ends([(c.label, c.y) for c in curves], text)),
        title=(text("lab.title.paper"), text("lab.paper_source")),
        x=text("lab.axis.paper_length"),
        y=text("lab.axis.perplexity"),
        logarithmic=True,
        curves=tuple(curves),
        notes=(text("lab.paper_parts"),),
        logarithmic_y=True,
        marks=(_trained(_PAPER_TRAINED, PAPER["perplexity"]["rope"][at], text, "paper_trained"),),
    )


def names(lab: Lab, text: Text) -> dict[str, str]:
    """What the models that may be looked at are called, by the names of their encodings."""
    known = contenders(lab.setting)
    named = dict(zip(known, short_labels([*known.values()], text), strict=True))
    return named | {each.trained.text: your_words(each.trained, text) for each in lab.yours}


def model_lines(lab: Lab) -> dict[str, Line]:
    """The line of each model that is looked at, the same whichever others are."""
    found = dict(zip(lab.encodings, lines(lab.encodings.values()), strict=True))
    return {name: found[name] for name in lab.models}


def excess_words(found: pd.DataFrame, lab: Lab, text: Text) -> str:
    """Write the paired excess of each model with its standard error."""
    named = names(lab, text)
    said = [
        text("lab.each", name=named[name], value=fixed(value, 3), error=fixed(error, 3))
        for name, value, error in zip(found.index, found["value"], found["error"], strict=True)
    ]
    return clauses(said, text)


def resolution_rows(resolved: pd.DataFrame, lab: Lab, text: Text) -> pd.DataFrame:
    """Describe the resolution at each length, a row for each model under its name."""
    named = names(lab, text)
    return pd.DataFrame(
        [[rounded(value) for value in resolved.loc[name]] for name in resolved.index],
        index=pd.Index([bound(named[name]) for name in resolved.index]),
        columns=pd.Index(
            [text("lab.bytes", count=number(int(length))) for length in resolved.columns]
        ),
    )


def _curves(
    lab: Lab, found: pd.DataFrame, along: str, text: Text, *, band: bool = True
) -> Iterator[Curve]:
    """A line for each model, and the least and the most of its seeds around it."""
    named = names(lab, text)
    for name, (line, dash) in model_lines(lab).items():
        own = rows(found, name)
        around = (_column(own, "least"), _column(own, "most")) if band else None
        x, y = _column(own, along), _column(own, "value")
        yield Curve(named[name], x, y, around, line=line, dash=dash)


def _column(table: pd.DataFrame, name: str) -> np.ndarray:
    """The numbers of a column."""
    return table[name].to_numpy(np.float64)


def _trained(length: int, y: float, text: Text, key: str = "trained") -> Mark:
    """The mark at the training length."""
    return Mark(length, y, text(f"lab.{key}", length=number(length)), LEVEL)


def read_words(lab: Lab, text: Text) -> str:
    """How the models read."""
    how = "blocks" if lab.blocks else "whole"
    return text(f"lab.read.{how}", size=number(lab.setting.length // 2))


def _beyond_words(lab: Lab, text: Text) -> str:
    """How the models read, and which bytes count."""
    row, how = lab.setting, "blocks" if lab.blocks else "whole"
    sizes = {"length": row.length, "longest": row.longest, "size": row.length // 2}
    return text(f"lab.beyond.{how}", **{name: number(value) for name, value in sizes.items()})


def _models(lab: Lab, text: Text) -> tuple[str, ...]:
    """How large the models are, and how they were trained."""
    row = lab.setting
    sizes = {name: number(getattr(row, name)) for name in ("layers", "width", "steps", "batch")}
    return (text("lab.models", length=number(row.length), seeds=number(lab.seeds), **sizes),)


def _alt(name: str, curves: Iterable[Curve], lab: Lab, text: Text) -> str:
    """The curves in words, with where they begin and end."""
    ends = curve_ends([(curve.label, curve.y) for curve in curves], text)
    return text(f"lab.alt.{name}", read=read_words(lab, text), ends=ends)

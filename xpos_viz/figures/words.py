"""Numbers and encodings as a reader sees them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from xpos_viz.encoding import Encoding, Family, Parameter, Value
from xpos_viz.experiment import Experiment
from xpos_viz.figures.description import Axis
from xpos_viz.inputs import SOURCES, Captured, Computed, Inputs
from xpos_viz.inputs.labels import LETTERS
from xpos_viz.inputs.labels import label as shown_as
from xpos_viz.masks import Mask
from xpos_viz.texts import Text

_DIGITS = 12  # of the hash of data, enough to know them again
_VALUED = re.compile(r"(?:(?<=\b[A-Za-zα-ω])|(?<=\b[A-Za-z]₀)) (?=−?\d)")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    r"""Write a number for a reader, in full: 100,000 and 0.4 and 2.5 × 10¹².

    Examples
    --------
    >>> number(1e5), number(0.40001), number(-0.0), number(float("inf"))
    ('100,000', '0.40001', '0', '∞')
    >>> number(-2.5e12).replace("\u00a0", " "), number(1e-300)
    ('−2.5 × 10¹²', '10⁻³⁰⁰')
    """
    return _written(value)


def rounded(value: float) -> str:
    """Write a measured number with three digits: 40.3 and 1,230 and 0.0123.

    Examples
    --------
    >>> rounded(40.3257), rounded(1234.5), rounded(float("nan"))
    ('40.3', '1,230', '–')
    """
    return _written(value, 3)


def counted(count: float) -> str:
    r"""Write a count in full, or with three digits from 10⁹ on.

    Examples
    --------
    >>> counted(1_048_576), counted(2**54).replace("\u00a0", " ")
    ('1,048,576', '1.8 × 10¹⁶')
    """
    return number(count) if abs(count) < 1e9 else rounded(count)


def many(count: float, text: Text) -> str:
    """Write a large count with the word that a language has for its size: 4.3 billion."""
    units = [unit.split() for unit in text("figure.units").split(", ")]
    fitting = [(10 ** int(power), word) for power, word in units if count >= 10 ** int(power)]
    if not fitting:
        return counted(count)
    size, word = fitting[-1]
    return f"{rounded(count / size)}\u00a0{word}"


def fixed(value: float, decimals: int) -> str:
    """Write a number with so many decimals, as in a column.

    Examples
    --------
    >>> fixed(1.0, 3), fixed(-0.0848, 3), fixed(-1e-9, 3)
    ('1.000', '−0.085', '0.000')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def percent(share: float) -> str:
    r"""Write a share for a reader, with one decimal.

    Examples
    --------
    >>> percent(0.486), percent(-1e-9), percent(float("nan"))
    ('48.6\xa0%', '0.0\xa0%', '–')
    """
    if not math.isfinite(share):
        return "–"
    return f"{fixed(100 * share, 1)}\u00a0%"


def portion(share: float) -> str:
    r"""Write a share with three digits: it may be far less than a percent, or below zero.

    Examples
    --------
    >>> portion(-0.000123), portion(-0.0)
    ('−0.0123\xa0%', '0\xa0%')
    """
    return f"{rounded(100 * share)}\u00a0%"


def tiny(error: float) -> str:
    r"""Write an error for a reader, with two digits.

    Examples
    --------
    >>> tiny(5.12e-12).replace("\u00a0", " "), tiny(0.0)
    ('5.1 × 10⁻¹²', '0')
    """
    return _written(error, 2)


def _written(value: float, digits: int | None = None) -> str:
    """A number with so many digits, or with all."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    places = None if digits is None else digits - 1
    exact = np.format_float_scientific(value, places, trim="-")
    large = abs(value) >= 1e9
    plain = exact if large else f"{float(exact) + 0.0:,}"
    mantissa, _, power = plain.removesuffix(".0").partition("e")
    mantissa = mantissa.replace("-", "−")
    if not power:
        return mantissa
    raised = "10" + str(int(power)).translate(_RAISED)
    alone = mantissa in {"1", "−1"}
    return mantissa.replace("1", raised) if alone else f"{mantissa}\u00a0×\u00a0{raised}"


def factors(limit: float, most: int = 6) -> dict[float, str]:
    """Write exponents of 2 between −limit and limit as factors, at most about so many.

    Where the limit is no doubling, its ends are written.

    Examples
    --------
    >>> factors(2.5)
    {-2: '1/4', -1: '1/2', 0: '1', 1: '2', 2: '4'}
    >>> factors(0.5)
    {-0.5: '1/1.41', 0: '1', 0.5: '1.41'}
    """
    if limit < 1:
        places = [-limit, 0, limit] if _factor(limit) != "1" else [0]
        return {place: _factor(place) for place in places}
    steps = (round(10**power) * digit for power in range(9) for digit in (1, 2, 5))
    step = next(step for step in steps if step * most >= 2 * limit)
    end = int(limit // step) * step
    return {place: _factor(place) for place in range(-end, end + 1, step)}


def _factor(power: float) -> str:
    """Write 2^power."""
    size = rounded(2.0 ** abs(power))
    return f"1/{size}" if -30 < power < 0 else rounded(2.0**power)


def tokens(count: float, text: Text) -> str:
    """Write a number of tokens: 1 token, 1,230 tokens."""
    shown = rounded(count) if isinstance(count, float) else counted(count)
    return text(f"figure.tokens.{'one' if shown == '1' else 'many'}", count=shown)


def span(window: range, text: Text) -> str:
    """Write which tokens are shown: tokens 3 to 27, or token 3."""
    first, last = number(window[0]), number(window[-1])
    return text(f"figure.span.{'one' if first == last else 'many'}", first=first, last=last)


def data_words(experiment: Experiment, text: Text) -> str:
    """Write which queries and keys are seen, by the names that a reader knows."""
    head_dim = experiment.encodings[0].head_dim
    return inputs_words(experiment.inputs, experiment.window, text, head_dim=head_dim)


def inputs_words(inputs: Inputs, window: range, text: Text, **more: object) -> str:
    """Write which queries and keys these are, and which tokens of them are seen."""
    source = next(name for name, kind in SOURCES.items() if type(inputs) is kind)
    entries = {entry.name: str(getattr(inputs, entry.name)) for entry in fields(inputs)}
    names = {"name": "ui.samples", "keys": "ui.keys_words"}
    entries |= {key: text(f"{names[key]}.{entries[key]}") for key in names if key in entries}
    if isinstance(inputs, Captured):
        entries |= {"model": model_name(inputs, text), "data": inputs.data[:_DIGITS]}
    return text(f"figure.data.{source}", **entries, **more, span=span(window, text))


def text_words(inputs: Computed, text: Text) -> str:
    """Write what was read by which model: a bundled text, or data that somebody brought."""
    if isinstance(inputs, Captured):
        return text(
            "figure.brought",
            model=model_name(inputs, text),
            data=inputs.data[:_DIGITS],
            tokens=tokens(inputs.tokens, text),
        )
    return text("figure.bundled", name=text(f"ui.samples.{inputs.name}"))


def excerpt_words(inputs: Computed, text: Text) -> list[str]:
    """Say how much of a text is shown where it is not shown whole."""
    letters = len(inputs.capture.text)
    if letters <= LETTERS:
        return []
    return [text("figure.excerpt", shown=number(LETTERS), letters=number(letters))]


def model_name(inputs: Captured, text: Text) -> str:
    """Write what the model of a capture is called, which may be any word."""
    name = inputs.capture.model
    return shown_as(name) if name.strip() else text("figure.no_model")


def mask_words(mask: str, text: Text) -> str:
    """Write a mask for a reader: causal mask, or sliding window of 256 tokens."""
    described = Mask.of(mask)
    return text(f"figure.mask.{described.name}", size=tokens(described.size or 0, text))


def listed(items: Sequence[str], text: Text) -> str:
    """Write some words one after the other, as a language does."""
    return _joined(items, "figure.list", text)


def clauses(items: Sequence[str], text: Text) -> str:
    """Write some clauses one after the other, as a language does."""
    return _joined(items, "figure.clauses", text)


def sentences(items: Sequence[str], text: Text) -> str:
    """Write some sentences one after the other, as a language does."""
    return _joined(items, "figure.sentences", text)


def curve_ends(curves: Iterable[tuple[str, NDArray[np.float64]]], text: Text) -> str:
    """Say where each curve, of a name and its values, begins and ends."""
    said = [
        text("figure.curve_alt", label=name, first=rounded(values[0]), last=rounded(values[-1]))
        for name, values in curves
    ]
    return clauses(said, text)


def _joined(items: Sequence[str], key: str, text: Text) -> str:
    """Items put together two by two, by a sentence of a head and a tail."""
    return reduce(lambda head, tail: text(key, head=head, tail=tail), items or [""])


def settings(encoding: Encoding, text: Text) -> str:
    """Write the parameters of an encoding: base 100,000, γ 0.4, B 512.

    Several values are written by the smallest and the largest: γ 0.2 … 0.8 in 3 heads. Where only
    some columns are turned, that is the last of the settings.
    """
    described = [
        _setting(row, encoding[row.name], text) for row in encoding.family.parameters.values()
    ]
    return listed(described + _part(encoding, text), text)


def _part(encoding: Encoding, text: Text) -> list[str]:
    """Write how many columns are turned, unless all are."""
    width, head_dim = encoding.rotary_width, encoding.head_dim
    return [text("figure.part", width=width, head_dim=head_dim)] if width < head_dim else []


def _setting(parameter: Parameter, value: Value, text: Text) -> str:
    """Write the value, or the range of the values, of one parameter."""
    symbol = text(f"symbols.{parameter.name}")
    if not isinstance(value, tuple):
        return f"{symbol} {number(value)}"
    kind = "head" if isinstance(value[0], tuple) else parameter.each
    return text(
        f"figure.each.{kind}",
        symbol=symbol,
        least=number(float(np.min(value))),
        most=number(float(np.max(value))),
        count=len(value),
    )


def bound(words: str) -> str:
    r"""Keep each symbol, a letter, in one line with its value.

    Examples
    --------
    >>> bound("base 500, γ 0.4, L₀ 2,048")
    'base 500, γ\xa00.4, L₀\xa02,048'
    """
    return _VALUED.sub("\u00a0", words)


def family_name(family: Family, text: Text) -> str:
    """Write what a family of encodings is called: XPos, or Decay only."""
    return text(f"families.{family.name}")


def family_formula(family: Family) -> str:
    """Write the formula of a family, with lowered indices; a limit is not broken in two.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> family_formula(rope(64).family)
    'λᵢ = iθᵢ,  θᵢ = base^(−2i/d)'
    """
    return re.sub(" ([<≥]) ", "\u00a0\\1\u00a0", family.formula.replace("_i", "ᵢ"))


def encoding_words(family: Family, text: Text) -> str:
    """Write a family of encodings with its formula and where it is from."""
    return text(
        "figure.encoding",
        name=family_name(family, text),
        formula=family_formula(family),
        source=family.source,
    )


def label(encoding: Encoding, text: Text) -> str:
    """Write an encoding with its parameters: XPos (base 100,000, γ 0.4, B 512)."""
    return _with_settings(encoding, settings(encoding, text), text)


def _with_settings(encoding: Encoding, described: str, text: Text) -> str:
    """An encoding's family, and settings in brackets, if there are any."""
    name = family_name(encoding.family, text)
    return text("figure.label", name=name, settings=described) if described else name


def short_labels(encodings: Sequence[Encoding], text: Text) -> list[str]:
    """Write families, and of several of one family what they differ in: RoPE, XPos (B 64)."""
    return [_told_apart(encoding, encodings, text) for encoding in encodings]


def _told_apart(encoding: Encoding, among: Sequence[Encoding], text: Text) -> str:
    """An encoding's family, and the parameters in which others of it differ."""
    others = [other for other in among if other.name == encoding.name]
    described = listed(
        [
            _setting(row, encoding[row.name], text)
            for row in encoding.family.parameters.values()
            if any(other[row.name] != encoding[row.name] for other in others)
        ],
        text,
    )
    return _with_settings(encoding, described, text)


def token_axis(
    positions: NDArray[np.float64], block: int, text: Text, labels: tuple[str, ...] = ()
) -> Axis:
    """Return the axis of maps of scores: query tokens run down, key tokens across."""
    return Axis(
        queries=text("figure.queries"),
        keys=text("figure.keys"),
        query=text("figure.query"),
        key=text("figure.key"),
        lag=text("figure.lag"),
        positions=positions,
        block=block,
        labels=labels,
    )

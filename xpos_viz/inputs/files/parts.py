"""What a file holds, before it is a capture: q and k in some order, and words about them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor

from xpos_viz.encoding import Encoding, rope
from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.files.orders import STANDARD, WrongOrderError, order_of, readings, sizes
from xpos_viz.inputs.labels import pieces
from xpos_viz.limits import Limits

VECTORS = ("q", "k")
"""What a file must hold."""

WORDS = (
    *("layers", "layout", "tokens", "offsets", "query_positions", "key_positions"),
    *("base", "encodings", "masks", "scales", "softcap", "model", "text", "reading", "words"),
)
"""What it may hold beside them; `words` is all of them, as JSON."""

_DEEPEST = 8
_MOST_DIGITS = 18
_LISTS = ("layers", "tokens", "encodings", "masks", "scales")


@dataclass(frozen=True)
class Parts:
    """Queries, keys, and words about them.

    Parameters
    ----------
    q, k
        Of two to four dimensions, in some order.
    words
        Some of :data:`WORDS`, as Python has them.
    """

    q: Tensor
    k: Tensor
    words: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def known(self) -> dict[str, int | None]:
        """How many layers, queries and keys the words tell of."""
        words = self.words
        keys = _length(words, "tokens", "offsets", "key_positions")
        return {
            "layers": _length(words, "layers"),
            "queries": _length(words, "query_positions"),
            "keys": keys,
        }

    def order(self, reading: str) -> str:
        """Return the order of the dimensions: a chosen one if it fits, or the one there is.

        Raises
        ------
        UnclearOrderError
            If there are several and none was chosen.
        WrongOrderError
            If there is not the one that was chosen.
        ValueError
            If there is none.
        """
        chosen = reading or self.words.get("reading", "")
        if not chosen:
            return order_of(self.q.shape, self.k.shape, **self.known)
        legal = readings(self.q.shape, self.k.shape, **self.known)
        if chosen not in legal:
            raise WrongOrderError(
                f"the shapes {tuple(self.q.shape)} of q and {tuple(self.k.shape)} of k cannot be "
                f"read as {chosen!r:.60}; use {' or '.join(map(repr, legal[:2])) or STANDARD}."
            )
        return chosen

    def capture(self, reading: str, limits: Limits) -> Capture:
        """Return the capture that the parts are, else raise ValueError."""
        parts = self.without_batch()
        order = parts.order(reading)
        of_q, of_k = sizes(order, parts.q.shape), sizes(order, parts.k.shape)
        layers, heads, queries, width = of_q.values()
        limits.check_size(layers, heads, queries, of_k["tokens"], width)
        q, k = (_ordered(x, order) for x in (parts.q, parts.k))
        return Capture(q, k, **_arguments(parts.words, q.shape[-1], limits))

    def without_batch(self) -> "Parts":
        """Return the same without a dimension of one that stands beside four others."""
        q, k = self.q, self.k
        ones = [axis for axis in range(min(q.ndim, k.ndim)) if q.shape[axis] == k.shape[axis] == 1]
        if q.ndim != k.ndim:
            raise ValueError(
                f"q and k must have the same dimensions, got the shapes {tuple(q.shape)} and "
                f"{tuple(k.shape)}; use {STANDARD} for both."
            )
        if q.ndim == 5 and ones:
            return Parts(q.squeeze(ones[0]), k.squeeze(ones[0]), self.words)
        return self


def parse_words(text: str, limits: Limits) -> dict[str, Any]:
    """Return the words that a JSON text holds.

    Raises
    ------
    ValueError
        For what is no JSON object with some of :data:`WORDS`, or is too long.
    """
    if len(text) > limits.letters:
        raise ValueError(
            f"words must be at most {limits.letters:,} letters, got {len(text):,}; "
            "use fewer tokens, or set XPOS_VIZ_MAX_LETTERS."
        )
    words = parse_json("words", text)
    unknown = [name for name in words if name not in WORDS[:-1]]
    if unknown:
        raise ValueError(f"unknown word {unknown[0]!r:.40}; use: {', '.join(WORDS[:-1])}.")
    return words


def parse_json(name: str, text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, with no name twice; else raise ValueError."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_int=_small)
        _check_depth(found)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(
            f"{name} must be JSON, got {text!r:.40}: {reason:.80}; use {{}}."
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r:.40}; use {{}}.")
    return cast("dict[str, Any]", found)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, each of whose names stands once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _small(digits: str) -> int:
    """A whole number that float64 has."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _check_depth(found: object) -> None:
    """Raise ValueError for lists in lists in lists … that no word needs."""
    inner = [found]
    for _ in range(_DEEPEST):
        inner = [entry for each in inner for entry in _entries(each)]
    if inner:
        raise ValueError("nested too deeply")


def _entries(found: object) -> list[Any]:
    """What stands in a list or an object of JSON."""
    if isinstance(found, dict):
        return list(cast("dict[str, Any]", found).values())
    return cast("list[Any]", found) if isinstance(found, list) else []


def _length(words: Mapping[str, Any], *names: str) -> int | None:
    """How many entries the first of some words has that is there."""
    found = next((words[name] for name in names if name in words), None)
    return len(cast("list[object]", found)) if isinstance(found, list) and found else None


def _ordered(x: Tensor, order: str) -> Tensor:
    """A tensor as (layers, heads, tokens, head_dim)."""
    names = order.split()
    here = [name for name in STANDARD.split() if name in names]
    size = sizes(order, x.shape)
    return x.permute([names.index(name) for name in here]).reshape(tuple(size.values()))


def _arguments(words: Mapping[str, Any], head_dim: int, limits: Limits) -> dict[str, Any]:
    """What a capture is made of beside q and k, as its constructor takes it."""
    given = {name: words[name] for name in ("layout", "softcap", "model", "text") if name in words}
    given |= {name: tuple(_list(name, words[name])) for name in _LISTS if name in words}
    given |= {
        name: torch.tensor(_numbers(name, words[name]), dtype=torch.float64)
        for name in ("query_positions", "key_positions")
        if name in words
    }
    if "offsets" in words:
        given["tokens"] = _pieces(words.get("text", ""), words["offsets"], limits)
    if "base" in words:
        given["encodings"] = (rope(head_dim, base=_one("base", words["base"])),)
    if "encodings" in words:
        given["encodings"] = tuple(map(_encoding, given["encodings"]))
    return given


def _list(name: str, value: object) -> list[Any]:
    """A list, one for each layer or key."""
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list, got {value!r:.40}; use [{value!r:.40}].")
    return cast("list[Any]", value)


def _numbers(name: str, value: object) -> list[float]:
    """A list of numbers."""
    return [_one(name, entry) for entry in _list(name, value)]


def _one(name: str, value: object) -> float:
    """A number that float64 has."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    except OverflowError:
        pass
    raise ValueError(f"{name} must be a number, got {value!r:.40}; use one, such as 10000.")


def _pieces(text: object, offsets: object, limits: Limits) -> tuple[str, ...]:
    """The piece of a text that each token is, from where it starts and stops."""
    spans = [_list("offsets", span) for span in _list("offsets", offsets)]
    if not isinstance(text, str) or not all(_is_span(span, len(text)) for span in spans):
        raise ValueError(
            f"offsets must be (tokens, 2) whole numbers beside a text, 0 ≤ start ≤ stop ≤ its "
            f"length, got {offsets!r:.40}; use where each token starts and stops in it."
        )
    if (letters := sum(stop - start for start, stop in spans)) > limits.letters:
        raise ValueError(
            f"offsets must be of at most {limits.letters:,} letters together, got {letters:,}; "
            "use where each token starts and stops, or set XPOS_VIZ_MAX_LETTERS."
        )
    return pieces(text, spans)


def _is_span(span: Sequence[Any], length: int) -> bool:
    """Whether two ends are those of a piece of a text of some length."""
    whole = len(span) == 2 and all(type(end) is int for end in span)
    return whole and 0 <= span[0] <= span[1] <= length


def _encoding(value: object) -> Encoding | None:
    """An encoding from its name and parameters; null is not known."""
    if value is None:
        return None
    given = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    name, parameters = given.get("name"), {n: v for n, v in given.items() if n != "name"}
    if not isinstance(name, str):
        raise ValueError(
            f"encodings must be objects with a name and parameters, got {value!r:.40}; "
            'use {"name": "rope", "head_dim": 64, "base": 10000}.'
        )
    return Encoding(name, tuple((key, _tuples(number)) for key, number in parameters.items()))


def _tuples(value: Any) -> Any:  # noqa: ANN401 - what JSON holds
    """Lists as tuples, at any depth."""
    return tuple(map(_tuples, cast("list[Any]", value))) if isinstance(value, list) else value


Reader = Callable[[bytes, Limits], Parts]
"""A function from the bytes of a file to its parts; what they are not is a ValueError."""

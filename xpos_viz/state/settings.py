"""Settings of the pages beside the experiment: what is legal, and how it is written.

A field of a dataclass that is made by :func:`words`, :func:`several`, :func:`one`, :func:`few`,
:func:`whole`, :func:`ends`, :func:`limit` or :func:`typed` holds a setting; :func:`settings`
returns them by name. The usual value is left out of an address.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, cast

from xpos_viz.choice import check_choice
from xpos_viz.entry import is_finite
from xpos_viz.experiment import parse_number
from xpos_viz.inputs.labels import within


class Setting(Protocol):
    """What a setting may be, and how it is read and written in an address."""

    @property
    def usual(self) -> Any:  # noqa: ANN401 - a word, words or a number
        """The value that an address leaves out."""

    def check(self, name: str, value: object) -> Any:  # noqa: ANN401
        """Return a legal value, else raise ValueError with the value and a way out."""

    def parse(self, name: str, text: str) -> Any:  # noqa: ANN401
        """Read a value, else raise ValueError."""

    def parted(self, text: str) -> tuple[Any, str]:
        """Return what can be used of a text that is not legal, and what cannot."""
        ...

    def written(self, value: Any) -> str:  # noqa: ANN401
        """The value as text."""
        ...


@dataclass(frozen=True)
class Words:
    """One of some words, the usual one first."""

    legal: tuple[str, ...]

    @property
    def usual(self) -> str:
        """The first."""
        return self.legal[0]

    def check(self, name: str, value: object) -> str:
        """Return one of the words."""
        check_choice(name, value, self.legal)
        return cast("str", value)

    def parse(self, name: str, text: str) -> str:
        """Read a word."""
        return self.check(name, text)

    def parted(self, text: str) -> tuple[str, str]:
        """Return the usual word, and all of the text."""
        return self.usual, text

    def written(self, value: str) -> str:
        """The word."""
        return value


@dataclass(frozen=True)
class Several:
    """Any of some words, in the order in which they are given, none of them twice."""

    legal: tuple[str, ...]
    usual: tuple[str, ...]

    def check(self, name: str, value: object) -> tuple[str, ...]:
        """Return the words."""
        given = tuple(cast("Iterable[object]", value))
        one = Words(self.legal)
        return tuple(dict.fromkeys(one.check(name, word) for word in given))

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        """Read words between commas; no text is no word."""
        return self.check(name, text.split(",") if text else ())

    def parted(self, text: str) -> tuple[tuple[str, ...], str]:
        """Return the legal words, or the usual ones if there are none, and the others."""
        given = dict.fromkeys(text.split(","))
        legal = tuple(word for word in given if word in self.legal)
        return legal or self.usual, ",".join(word for word in given if word not in self.legal)

    def written(self, value: tuple[str, ...]) -> str:
        """The words between commas."""
        return ",".join(value)


@dataclass(frozen=True)
class One:
    """A text as `normal` returns it."""

    usual: str
    normal: Callable[[str], str]

    def check(self, name: str, value: object) -> str:
        """Return the text."""
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text, got {value!r:.40}; use {self.usual}.")
        return self.normal(value)

    def parse(self, name: str, text: str) -> str:
        """Read the text."""
        return self.check(name, text)

    def parted(self, text: str) -> tuple[str, str]:
        """Return the usual text, and all of this one."""
        return self.usual, text

    def written(self, value: str) -> str:
        """The text."""
        return value


@dataclass(frozen=True)
class Few:
    """At most so many texts, each as `normal` returns it, in order, none of them twice."""

    normal: Callable[[str], str]
    most: int

    @property
    def usual(self) -> tuple[str, ...]:
        """None."""
        return ()

    def check(self, name: str, value: object) -> tuple[str, ...]:
        """Return the texts."""
        texts = tuple(dict.fromkeys(map(self.normal, cast("Iterable[str]", value))))
        if len(texts) > self.most:
            raise ValueError(
                f"{name} must be at most {self.most}, got {len(texts)}; leave some of them out."
            )
        return texts

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        """Read texts between commas; no text is none."""
        return self.check(name, text.split(",") if text else ())

    def parted(self, text: str) -> tuple[tuple[str, ...], str]:
        """Return the first of the legal texts, and all others."""
        legal: list[str] = []
        lost: list[str] = []
        for each in text.split(","):
            try:
                legal.append(self.normal(each))
            except ValueError:
                lost.append(each)
        first, more = (once := [*dict.fromkeys(legal)])[: self.most], once[self.most :]
        return tuple(first), ",".join([*lost, *more])

    def written(self, value: tuple[str, ...]) -> str:
        """The texts between commas."""
        return ",".join(value)


@dataclass(frozen=True)
class Whole:
    """A whole number of a range."""

    usual: int
    lower: int
    upper: int

    def check(self, name: str, value: object) -> int:
        """Return the number."""
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
        if number is not None and self.lower <= number <= self.upper:
            return number
        raise ValueError(self.refusal(name, value))

    def refusal(self, name: str, value: object) -> str:
        """Return what is said of a value that is not legal."""
        return (
            f"{name} must be a whole number from {self.lower} to {self.upper}, "
            f"got {value!r:.40}; use {self.usual}."
        )

    def parse(self, name: str, text: str) -> int:
        """Read a number."""
        plain = text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 16
        return self.check(name, int(text) if plain else text)

    def parted(self, text: str) -> tuple[int, str]:
        """Return the usual number, and all of the text."""
        return self.usual, text

    def written(self, value: int) -> str:
        """The number."""
        return str(value)


@dataclass(frozen=True)
class Ends:
    """The two ends of a range of numbers, the lower one first."""

    usual: tuple[float, float]
    lower: float
    upper: float

    def check(self, name: str, value: object) -> tuple[float, float]:
        """Return the ends."""
        given = tuple(cast("Iterable[Any]", value))
        if len(given) == 2 and all(is_finite(end) for end in given):
            low, high = map(float, given)
            if self.lower <= low < high <= self.upper:
                return low, high
        raise ValueError(self._refusal(name, ":".join(map(str, given))))

    def parse(self, name: str, text: str) -> tuple[float, float]:
        """Read two numbers with a colon between them."""
        try:
            return self.check(name, [parse_number(name, end) for end in text.split(":")])
        except ValueError as error:
            raise ValueError(self._refusal(name, text)) from error

    def _refusal(self, name: str, text: str) -> str:
        """What is said of a value that is not legal."""
        return (
            f"{name} must be two rising numbers from {self.lower:g} to {self.upper:g}, got "
            f"{text!r:.40}; use {self.written(self.usual)}."
        )

    def parted(self, text: str) -> tuple[tuple[float, float], str]:
        """Return the usual ends, and all of the text."""
        return self.usual, text

    def written(self, value: tuple[float, float]) -> str:
        """The ends with a colon between them."""
        return ":".join(repr(end).removesuffix(".0") for end in value)


@dataclass(frozen=True)
class Typed:
    """A text of at most so many bytes in UTF-8, usually none."""

    most: int

    @property
    def usual(self) -> str:
        """None."""
        return ""

    def check(self, name: str, value: object) -> str:
        """Return the text."""
        text = str(value)
        if broken := set(text) - set(_whole_letters(text)):
            raise ValueError(f"{name} must have no {min(broken)!r}, got one; leave it out.")
        if (size := len(text.encode())) > self.most:
            raise ValueError(
                f"{name} must be at most {self.most} bytes in UTF-8, got {size}; use a part of it."
            )
        return text

    def parse(self, name: str, text: str) -> str:
        """Read a text."""
        return self.check(name, text)

    def parted(self, text: str) -> tuple[str, str]:
        """Return the beginning of what can be read, and all of the text."""
        return within(_whole_letters(text), self.most), text

    def written(self, value: str) -> str:
        """The text."""
        return value


def _whole_letters(text: str) -> str:
    """A text without NUL and halves of surrogate pairs."""
    return text.encode(errors="ignore").decode().replace("\0", "")


@dataclass(frozen=True)
class Limit:
    """A number of a range, or usually none."""

    lower: float
    upper: float

    @property
    def usual(self) -> None:
        """None."""

    def check(self, name: str, value: object) -> float | None:
        """Return the number, or None."""
        if value is None:
            return None
        if is_finite(value) and self.lower <= (number := float(cast("float", value))) <= self.upper:
            return number
        raise ValueError(self._refusal(name, value))

    def parse(self, name: str, text: str) -> float | None:
        """Read a number; no text is none."""
        try:
            return self.check(name, parse_number(name, text) if text else None)
        except ValueError as error:
            raise ValueError(self._refusal(name, text)) from error

    def _refusal(self, name: str, value: object) -> str:
        """What is said of a value that is not legal."""
        return (
            f"{name} must be a number from {self.lower:g} to {self.upper:g}, got {value!r:.40}; "
            "leave it out where there is no limit."
        )

    def parted(self, text: str) -> tuple[None, str]:
        """Return none, and all of the text."""
        return None, text

    def written(self, value: float | None) -> str:
        """The number, or no text."""
        return "" if value is None else repr(value).removesuffix(".0")


def words(legal: Iterable[str]) -> Any:  # noqa: ANN401 - as dataclasses.field
    """A field that is one of some words, the usual one first."""
    return _field(Words(tuple(legal)))


def several(legal: Iterable[str], usual: Iterable[str]) -> Any:  # noqa: ANN401
    """A field that is any of some words."""
    return _field(Several(tuple(legal), tuple(usual)))


def one(usual: str, normal: Callable[[str], str]) -> Any:  # noqa: ANN401
    """A field that is one text."""
    return _field(One(usual, normal))


def few(normal: Callable[[str], str], most: int) -> Any:  # noqa: ANN401
    """A field that is at most so many texts."""
    return _field(Few(normal, most))


def whole(usual: int, lower: int, upper: int) -> Any:  # noqa: ANN401
    """A field that is a whole number from `lower` to `upper`."""
    return _field(Whole(usual, lower, upper))


def ends(usual: tuple[float, float], lower: float, upper: float) -> Any:  # noqa: ANN401
    """A field that is the two ends of a range within `lower` and `upper`."""
    return _field(Ends(usual, lower, upper))


def typed(most: int) -> Any:  # noqa: ANN401
    """A field that is a text of at most so many bytes."""
    return _field(Typed(most))


def limit(lower: float, upper: float) -> Any:  # noqa: ANN401
    """A field that is a number within `lower` and `upper`, or none."""
    return _field(Limit(lower, upper))


def settings(kind: type) -> dict[str, Setting]:
    """The settings among the fields of a dataclass, by name."""
    return {
        entry.name: entry.metadata["setting"]
        for entry in fields(kind)
        if "setting" in entry.metadata
    }


def _field(setting: Setting) -> Any:  # noqa: ANN401
    """A field with the usual value, which knows its setting."""
    return field(default=setting.usual, metadata={"setting": setting})

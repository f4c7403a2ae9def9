"""The data model: terms, families and their registry, and the encoding itself."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, update_wrapper
from types import MappingProxyType
from typing import Any, ParamSpec

import numpy as np
import torch
from jaxtyping import Complex, Float
from torch import Tensor
from torch.nn.functional import pad

from xpos_viz.choice import check_choice
from xpos_viz.encoding.parameters import (
    PARAMETERS,
    Parameter,
    PerHead,
    Value,
    check_head_dim,
    check_rotary_width,
)

P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class Terms:
    """What a family derives from its parameters; all that belongs to heads broadcasts.

    Parameters
    ----------
    theta
        Rotation θ of each pair, rad/token, (d/2,) or (heads, d/2), float64.
    log_decay
        ln(ζ)/B of each pair, per token, (d/2,) or (heads, d/2), float64, ≤ 0.
    bias
        A second, additive term on the logits, or None: a function of the lags that
        gives (…, L_q, L_k), or (…, heads, L_q, L_k) if heads differ.
    temperature
        A factor on the logits, () or (heads,).
    rotary_width
        How many columns are turned, counted from the first; None is all of them.
    """

    theta: Float[Tensor, "*heads pairs"]
    log_decay: Float[Tensor, "*heads pairs"]
    bias: Callable[[Tensor], Tensor] | None = None
    temperature: Float[Tensor, "*heads"] | float = 1.0
    rotary_width: int | None = None


def column(value: PerHead) -> Float[Tensor, "*heads one"]:
    """Return one number as (1,), or one for each head as (heads, 1), float64.

    Either broadcasts with what has one value per pair, so that a family is written once
    for one head and for many.

    Examples
    --------
    >>> column(0.4).shape, column((0.2, 0.4, 0.8)).shape
    (torch.Size([1]), torch.Size([3, 1]))
    """
    return torch.as_tensor(value, dtype=torch.float64)[..., None]


@dataclass(frozen=True)
class Family:
    """A row of the registry: how an encoding is called, made, written and cited."""

    name: str
    label: str
    formula: str
    source: str
    terms: Callable[..., Terms]

    @cached_property
    def defaults(self) -> Mapping[str, Value]:
        """The parameters beside `head_dim`, in order, with their default values."""
        _, *rest = inspect.signature(self.terms).parameters.values()
        return MappingProxyType({parameter.name: parameter.default for parameter in rest})

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters beside `head_dim`, in order, with symbols and ranges."""
        return MappingProxyType({name: PARAMETERS[name] for name in self.defaults})


REGISTRY: dict[str, Family] = {}
"""All families of encodings, by name."""


def lookup(name: str) -> Family:
    """Return the family called `name`, or raise ValueError with the names there are."""
    check_choice("encoding", name, REGISTRY)
    return REGISTRY[name]


@dataclass(frozen=True)
class Encoding:
    r"""A position encoding: a family's name and its parameters, and nothing else.

    Equal parameters make equal encodings with equal hashes; tensors are derived anew
    at each access. Use the constructors, such as :func:`rope` and :func:`xpos`.

    Parameters
    ----------
    name
        A key of :data:`REGISTRY`.
    parameters
        Pairs of parameter name and value; what is left out takes its default. A real
        parameter may be a tuple with one value for each head. Beside those of its family,
        every encoding takes `rotary_width`: see :meth:`within`.

    Raises
    ------
    ValueError
        For an unknown family, an unknown or missing parameter, a value out of range, or
        tuples for different numbers of heads.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> xpos(64).name, xpos(64) == xpos(64, gamma=0.4), xpos(64) == xpos(64, gamma=0.5)
    ('xpos', True, False)
    >>> xpos(4).rates.shape, xpos(4, gamma=(0.2, 0.4, 0.8)).rates.shape
    (torch.Size([2]), torch.Size([3, 2]))
    """

    name: str
    parameters: tuple[tuple[str, Value], ...] = field(default=())

    def __post_init__(self) -> None:
        defaults = lookup(self.name).defaults
        given = dict(self.parameters)
        legal = ("head_dim", *defaults, "rotary_width")
        if unknown := [name for name in given if name not in legal]:
            raise ValueError(
                f"{self.name} has no parameter {unknown[0]!r}; use: {', '.join(legal)}."
            )
        head_dim = check_head_dim(given.get("head_dim"))
        width = check_rotary_width(given.get("rotary_width", head_dim), head_dim)
        values = {
            name: PARAMETERS[name].check(given.get(name, default), width)
            for name, default in defaults.items()
        }
        partial = {"rotary_width": width} if width < head_dim else {}
        checked = {"head_dim": head_dim, **values, **partial}
        object.__setattr__(self, "parameters", tuple(checked.items()))
        self._check_together(values)

    def _check_together(self, values: Mapping[str, Value]) -> None:
        """Raise ValueError unless the values, each of them legal, fit each other."""
        if len(set(self._heads.values())) > 1:
            counts = " and ".join(f"{count} for {name}" for name, count in self._heads.items())
            raise ValueError(
                f"parameters of heads must be for one number of heads, got {counts}; "
                "use one number, or as many as there are heads."
            )
        for row in self.family.parameters.values():
            if row.below and np.any(np.greater_equal(values[row.name], values[row.below])):
                raise ValueError(
                    f"{row.name} must be below {row.below}, got {values[row.name]!r} and "
                    f"{values[row.below]!r}; {row.way_out}"
                )

    def __repr__(self) -> str:
        """Return the call that makes this encoding."""
        (_, head_dim), *rest = self.parameters
        return f"{self.name}({', '.join([str(head_dim), *(f'{n}={v!r}' for n, v in rest)])})"

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (a Value; most readers know which)
        """Return one parameter's value: a number, or a tuple."""
        return dict(self.parameters)[name]

    def replace(self, **changes: Value) -> "Encoding":
        """Return the same encoding with some parameters changed."""
        return Encoding(self.name, tuple((dict(self.parameters) | changes).items()))

    def within(self, width: int) -> "Encoding":
        r"""Return the same encoding for the first columns of wider vectors; the rest stay still.

        Many models turn only a part of the columns ("partial rotary"). The family's formula
        then counts the pairs of that part alone, d being its `rotary_width`, and the pairs of
        the other columns have the rate zero.

        Parameters
        ----------
        width
            Width of a query or key, even, and at least that of this encoding.

        Returns
        -------
        Encoding
            Of that `head_dim`, with this one's as its `rotary_width`.

        Raises
        ------
        ValueError
            For a width that is odd or too small.

        Examples
        --------
        >>> from xpos_viz import rope
        >>> rope(4).within(8)
        rope(8, base=10000.0, rotary_width=4)
        >>> rope(4).within(8).theta
        tensor([1.0000, 0.0100, 0.0000, 0.0000], dtype=torch.float64)
        """
        return self.replace(head_dim=width, rotary_width=self.rotary_width)

    @property
    def family(self) -> Family:
        """The row of the registry that this encoding belongs to."""
        return REGISTRY[self.name]

    @property
    def terms(self) -> Terms:
        """Everything that is derived from the parameters."""
        given: dict[str, Any] = dict(self.parameters)
        width: int | None = given.pop("rotary_width", None)
        if width is None:
            return self.family.terms(**given)
        terms = self.family.terms(**(given | {"head_dim": width}))
        still = (0, (self.head_dim - width) // 2)
        theta, decay = pad(terms.theta, still), pad(terms.log_decay, still)
        return replace(terms, theta=theta, log_decay=decay, rotary_width=width)

    @property
    def head_dim(self) -> int:
        """Width d of a query or key."""
        return int(self["head_dim"])

    @property
    def _heads(self) -> dict[str, int]:
        """For how many heads each parameter has values, where it has one for each."""
        own = self.family.parameters
        found = {name: row.heads(self[name]) for name, row in own.items()}
        return {name: heads for name, heads in found.items() if heads is not None}

    @property
    def heads(self) -> int | None:
        """For how many heads there are values; None if all heads share one."""
        return next(iter(self._heads.values()), None)

    @property
    def rotary_width(self) -> int:
        """How many columns are turned, counted from the first."""
        width = self.terms.rotary_width
        return self.head_dim if width is None else width

    @property
    def theta(self) -> Float[Tensor, "*heads pairs"]:
        """Rotation θ of each pair, rad/token, (d/2,) or (heads, d/2), float64."""
        return self.rates.imag

    @property
    def log_decay(self) -> Float[Tensor, "*heads pairs"]:
        """ln(ζ)/B of each pair, per token, (d/2,) or (heads, d/2), float64, ≤ 0."""
        return self.rates.real

    @property
    def rates(self) -> Complex[Tensor, "*heads pairs"]:
        """λ = iθ + ln(ζ)/B of each pair, per token, (d/2,) or (heads, d/2), complex128."""
        terms = self.terms
        shape = (self.head_dim // 2,) if self.heads is None else (self.heads, self.head_dim // 2)
        return torch.complex(terms.log_decay.expand(shape), terms.theta.expand(shape))

    @property
    def bias(self) -> Callable[[Tensor], Tensor] | None:
        """The additive term on the logits as a function of the lags, or None.

        Lags (…, L_q, L_k) or (L,) give a bias of that shape; where heads differ, it is
        (…, heads, L_q, L_k) or (heads, L).
        """
        return self.terms.bias

    @property
    def temperature(self) -> Float[Tensor, "heads 1 1"] | float:
        """The factor on the logits, (heads, 1, 1) where heads differ; 1 is neutral."""
        temperature = torch.as_tensor(self.terms.temperature, dtype=torch.float64)
        return temperature[:, None, None] if temperature.ndim else float(temperature)


def family(
    name: str, label: str, *, formula: str, source: str
) -> Callable[[Callable[P, Terms]], Callable[P, Encoding]]:
    """Register a function from parameters to :class:`Terms` as a family of encodings.

    The decorated function becomes the constructor: it takes the same arguments, checks
    them, and returns an :class:`Encoding`. `name` must be the function's own; each
    parameter must have a row in :data:`PARAMETERS`.
    """

    def register(terms: Callable[P, Terms]) -> Callable[P, Encoding]:
        signature = inspect.signature(terms)
        REGISTRY[name] = Family(name, label, formula, source, terms)

        def construct(*args: P.args, **kwargs: P.kwargs) -> Encoding:
            return Encoding(name, tuple(signature.bind(*args, **kwargs).arguments.items()))

        update_wrapper(construct, terms)
        construct.__annotations__ = {**terms.__annotations__, "return": Encoding}
        return construct

    return register

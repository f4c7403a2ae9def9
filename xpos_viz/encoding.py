r"""Position encodings as data: one complex rate per pair of features.

An encoding of the rotary family turns and shrinks pair :math:`i` of a vector by

.. math:: \lambda_i = i\,\theta_i + \frac{\ln \zeta_i}{B}

for every token of distance. Everything else in this package follows from these
rates (:mod:`xpos_viz.kernel`). A family of encodings is a function from parameters
to :class:`Terms` under the :func:`family` decorator, which adds it to
:data:`REGISTRY` and turns the function into a constructor of :class:`Encoding`.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import update_wrapper
from numbers import Integral, Real
from types import MappingProxyType
from typing import ParamSpec, TypeGuard, TypeVar

import torch
from jaxtyping import Complex, Float
from torch import Tensor

P = ParamSpec("P")
N = TypeVar("N", Real, Integral)


def _is_number(value: object, kind: type[N]) -> TypeGuard[N]:
    """Whether `value` is of that kind of number; True and False are none."""
    return not isinstance(value, bool) and isinstance(value, kind)


@dataclass(frozen=True)
class Parameter:
    """A number that a family of encodings takes: its symbol, lower bound and usual value."""

    name: str
    symbol: str
    bound: float
    exclusive: bool
    way_out: str

    def check(self, value: object) -> float:
        """Return `value` as a float, or raise ValueError with the value and a way out."""
        try:
            number = float(value) if _is_number(value, Real) else math.nan
        except OverflowError:  # an integer larger than any float
            number = math.inf
        below = number <= self.bound if self.exclusive else number < self.bound
        if below or not math.isfinite(number):
            sign = ">" if self.exclusive else "≥"
            raise ValueError(
                f"{self.name} must be a finite number {sign} {self.bound:g}, "
                f"got {value!r}; {self.way_out}"
            )
        return number


PARAMETERS: Mapping[str, Parameter] = MappingProxyType(
    {
        row.name: row
        for row in (
            Parameter("base", "base", 1.0, False, "the usual base is 10000."),
            Parameter("gamma", "γ", 0.0, True, "the usual value is 0.4."),
            Parameter(
                "scale_base",
                "B",
                0.0,
                True,
                "the usual value is 512 tokens, and rope() is the limit without decay.",
            ),
        )
    }
)
"""The parameters that encodings share, by name."""


def check_head_dim(value: object) -> int:
    """Return `value` if it is an even integer ≥ 2, else raise ValueError."""
    number = int(value) if _is_number(value, Integral) else 0
    if number >= 2 and number % 2 == 0:
        return number
    way_out = f"use {number - 1} or {number + 1}." if number > 2 else "use 64, for instance."
    raise ValueError(f"head_dim must be an even integer ≥ 2, got {value!r}; {way_out}")


@dataclass(frozen=True, eq=False)
class Terms:
    """What a family derives from its parameters; `…` may be head dimensions.

    Parameters
    ----------
    theta
        Rotation θ of each pair, rad/token, (…, d/2), float64.
    log_decay
        ln(ζ)/B of each pair, per token, (…, d/2), float64, ≤ 0.
    bias
        A second, additive term on the logits: a function of the lags, or None.
    temperature
        A factor on the logits.
    rotary_width
        How many columns are turned, counted from the first; None is all of them.
    """

    theta: Float[Tensor, "*heads pairs"]
    log_decay: Float[Tensor, "*heads pairs"]
    bias: Callable[[Tensor], Tensor] | None = None
    temperature: float = 1.0
    rotary_width: int | None = None


@dataclass(frozen=True)
class Family:
    """A row of the registry: how an encoding is called, made, written and cited."""

    name: str
    label: str
    formula: str
    source: str
    terms: Callable[..., Terms]

    @property
    def defaults(self) -> dict[str, float]:
        """The parameters beside `head_dim`, in order, with their default values."""
        _, *rest = inspect.signature(self.terms).parameters.values()
        return {parameter.name: float(parameter.default) for parameter in rest}


REGISTRY: dict[str, Family] = {}
"""All families of encodings, by name."""


def lookup(name: str) -> Family:
    """Return the family called `name`, or raise ValueError with the names there are."""
    if name not in REGISTRY:
        raise ValueError(f"unknown encoding {name!r}; use one of: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


@dataclass(frozen=True)
class Encoding:
    r"""A position encoding: a family's name and its parameters, and nothing else.

    Equal parameters make equal encodings with equal hashes; tensors are derived anew
    at each access. Use the constructors :func:`rope`, :func:`xpos`, :func:`nope`.

    Parameters
    ----------
    name
        A key of :data:`REGISTRY`.
    parameters
        Pairs of parameter name and value; what is left out takes its default.

    Raises
    ------
    ValueError
        For an unknown family, an unknown or missing parameter, or a value out of range.

    Examples
    --------
    >>> xpos(64).name, xpos(64) == xpos(64, gamma=0.4), xpos(64) == xpos(64, gamma=0.5)
    ('xpos', True, False)
    >>> xpos(4).rates.shape
    torch.Size([2])
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = field(default=())

    def __post_init__(self) -> None:
        defaults = lookup(self.name).defaults
        given = dict(self.parameters)
        legal = ("head_dim", *defaults)
        if unknown := [name for name in given if name not in legal]:
            raise ValueError(
                f"{self.name} has no parameter {unknown[0]!r}; use: {', '.join(legal)}."
            )
        checked = [("head_dim", check_head_dim(given.get("head_dim")))]
        checked += [
            (name, PARAMETERS[name].check(given.get(name, default)))
            for name, default in defaults.items()
        ]
        object.__setattr__(self, "parameters", tuple(checked))

    def __repr__(self) -> str:
        """Return the call that makes this encoding."""
        (_, head_dim), *rest = self.parameters
        return f"{self.name}({', '.join([str(head_dim), *(f'{n}={v!r}' for n, v in rest)])})"

    def __getitem__(self, name: str) -> float:
        """Return one parameter's value."""
        return dict(self.parameters)[name]

    def replace(self, **changes: float) -> "Encoding":
        """Return the same encoding with some parameters changed."""
        return Encoding(self.name, tuple((dict(self.parameters) | changes).items()))

    @property
    def family(self) -> Family:
        """The row of the registry that this encoding belongs to."""
        return REGISTRY[self.name]

    @property
    def terms(self) -> Terms:
        """Everything that is derived from the parameters."""
        return self.family.terms(**dict(self.parameters))

    @property
    def head_dim(self) -> int:
        """Width d of a query or key."""
        return int(self["head_dim"])

    @property
    def rotary_width(self) -> int:
        """How many columns are turned, counted from the first."""
        width = self.terms.rotary_width
        return self.head_dim if width is None else width

    @property
    def theta(self) -> Float[Tensor, "*heads pairs"]:
        """Rotation θ of each pair, rad/token, (…, d/2), float64."""
        return self.terms.theta

    @property
    def log_decay(self) -> Float[Tensor, "*heads pairs"]:
        """ln(ζ)/B of each pair, per token, (…, d/2), float64, ≤ 0."""
        return self.terms.log_decay

    @property
    def rates(self) -> Complex[Tensor, "*heads pairs"]:
        """λ = iθ + ln(ζ)/B of each pair, per token, (…, d/2), complex128."""
        terms = self.terms
        return terms.log_decay + 1j * terms.theta

    @property
    def bias(self) -> Callable[[Tensor], Tensor] | None:
        """The additive term on the logits as a function of the lags, or None."""
        return self.terms.bias

    @property
    def temperature(self) -> float:
        """The factor on the logits; 1 is neutral."""
        return self.terms.temperature


def family(
    name: str, label: str, *, formula: str, source: str
) -> Callable[[Callable[P, Terms]], Callable[P, Encoding]]:
    """Register a function from parameters to :class:`Terms` as a family of encodings.

    The decorated function becomes the constructor: it takes the same arguments, checks
    them, and returns an :class:`Encoding`. `name` must be the function's own.
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


def _steps(head_dim: int) -> Float[Tensor, " pairs"]:
    """2i/d of each pair i."""
    return torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim


def _theta(head_dim: int, base: float) -> Float[Tensor, " pairs"]:
    """θ_i = base^(−2i/d), rad/token."""
    return base ** -_steps(head_dim)


def _log_zeta(head_dim: int, gamma: float) -> Float[Tensor, " pairs"]:
    """Ln ζ_i, ζ_i = (2i/d + γ)/(1 + γ), to full relative precision for every γ > 0."""
    steps = _steps(head_dim)
    zeta = (steps + gamma) / (1 + gamma)
    return torch.where(zeta < 0.5, zeta.log(), torch.log1p((steps - 1) / (1 + gamma)))


@family("nope", "NoPE", formula="λ = 0", source="Kazemnejad et al. 2023, arXiv:2305.19466")
def nope(head_dim: int) -> Terms:
    r"""No position encoding: every rate is zero, and a score is q·k at any distance.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.

    Returns
    -------
    Encoding
        With all rates λ_i = 0.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2.

    Examples
    --------
    >>> nope(4).rates.abs().sum().item()
    0.0
    """
    zero = torch.zeros(head_dim // 2, dtype=torch.float64)
    return Terms(zero, zero)


@family(
    "rope",
    "RoPE",
    formula="λ_i = iθ_i,  θ_i = base^(−2i/d)",
    source="Su et al. 2021, arXiv:2104.09864",
)
def rope(head_dim: int, *, base: float = 10_000.0) -> Terms:
    r"""RoPE: pair i turns by θ_i = base^(−2i/d) for every token of distance.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        Base of the geometric series of rates; a larger base turns the slow pairs more slowly.

    Returns
    -------
    Encoding
        With λ_i = iθ_i: rotation without decay.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2 or `base` is not a finite number ≥ 1.

    Examples
    --------
    >>> rope(4).theta
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    theta = _theta(head_dim, base)
    return Terms(theta, torch.zeros_like(theta))


@family(
    "xpos",
    "XPos",
    formula="λ_i = iθ_i + ln(ζ_i)/B,  ζ_i = (2i/d + γ)/(1 + γ)",
    source="Sun et al. 2022, arXiv:2212.10554, eq. 9",
)
def xpos(
    head_dim: int, *, base: float = 10_000.0, gamma: float = 0.4, scale_base: float = 512.0
) -> Terms:
    r"""XPos: RoPE whose pair i also shrinks by ζ_i for every B tokens of distance.

    .. math:: \zeta_i = \frac{2i/d + \gamma}{1 + \gamma}

    (Sun et al. 2022, eq. 9). The defaults of γ and B are not in the paper's text: they
    are those of the authors' code, torchscale.

    Parameters
    ----------
    head_dim
        Width d of a query or key, even.
    base
        Base of the rotation rates, as in :func:`rope`.
    gamma
        γ: how alike the pairs fade; a larger γ fades all of them less.
    scale_base
        B, tokens: a larger B fades everything more slowly, and B → ∞ is RoPE.

    Returns
    -------
    Encoding
        With λ_i = iθ_i + ln(ζ_i)/B: rotation and decay.

    Raises
    ------
    ValueError
        If `head_dim` is not an even integer ≥ 2, `base` not a finite number ≥ 1, or
        `gamma` or `scale_base` not a finite number > 0.

    Examples
    --------
    >>> xpos(4, scale_base=1.0).log_decay.exp()
    tensor([0.2857, 0.6429], dtype=torch.float64)
    """
    # the clamp keeps the rate a number when scale_base is near the smallest float64
    log_decay = (_log_zeta(head_dim, gamma) / scale_base).clamp(min=-torch.finfo(torch.float64).max)
    return Terms(_theta(head_dim, base), log_decay)

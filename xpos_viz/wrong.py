r"""A gallery of mistakes: XPos as it is often got wrong, each with the size of its error.

Every variant is made of the right pieces with one thing changed, such as another argument
of :func:`xpos_viz.apply_encoding`, and names the invariant in :data:`CHECKS` that it
breaks. The right formula keeps all of them:

>>> from xpos_viz import attention_scores, xpos
>>> max(check(attention_scores, xpos(8)) for check in CHECKS.values()) < 1e-9
True
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from xpos_viz.encoding import Encoding, Terms, rope
from xpos_viz.entry import LAYOUTS, Layout, Positions, from_pairs, to_pairs, token_positions
from xpos_viz.kernel import apply_encoding, attention_scores, lag_response

_TOKENS = 48  # in the checks

Scores = Float[Tensor, "*batch query_tokens key_tokens"]


class Call(NamedTuple):
    """What scores are formed of: vectors, encoding, positions m and n, and layout."""

    q: Tensor
    k: Tensor
    encoding: Encoding
    m: Tensor
    n: Tensor
    layout: Layout


ScoreFunction = Callable[..., Scores]
"""What is called as :func:`xpos_viz.attention_scores` is: that, and the scores of a variant."""

Check = Callable[[ScoreFunction, Encoding], float]


@dataclass(frozen=True)
class Variant:
    """A row of the gallery: a mistake, the invariant that it breaks, and its scores.

    Parameters
    ----------
    name
        A key of :data:`VARIANTS`.
    breaks
        A key of :data:`CHECKS`.
    mistake
        One sentence: what is wrong.
    formula
        The wrong scores of a call of :func:`xpos_viz.attention_scores`.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> variant = VARIANTS["same_direction"]
    >>> variant.mistake
    'Queries and keys are both multiplied by ζ^(position/B), so the factors do not cancel.'
    >>> variant.breaks, CHECKS[variant.breaks](variant.scores, xpos(8)) > 1
    ('shift', True)
    >>> variant.error(torch.ones(3, 8), torch.ones(3, 8), xpos(8, scale_base=2.0))
    5.2296
    """

    name: str
    breaks: str
    mistake: str
    formula: Callable[[Call], Tensor] = field(repr=False)

    def scores(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*batch key_tokens head_dim"],
        encoding: Encoding,
        *,
        query_positions: Positions | None = None,
        key_positions: Positions | None = None,
        layout: Layout = "interleaved",
    ) -> Scores:
        """Return the wrong scores (…, L_q, L_k), called as :func:`xpos_viz.attention_scores` is.

        Raises
        ------
        ValueError
            For an encoding other than XPos, the same for all heads, or what does not fit.

        Notes
        -----
        Queries and keys have the same heads. The factor form is used where the mistake is in
        it, and then overflows where that does (:mod:`xpos_viz.precision`).
        """
        _check_xpos(encoding)
        m, n = token_positions(q.shape[-2], k.shape[-2], query_positions, key_positions)
        return self.formula(Call(q, k, encoding, m, n, layout))

    def error(
        self,
        q: Float[Tensor, "*batch query_tokens head_dim"],
        k: Float[Tensor, "*batch key_tokens head_dim"],
        encoding: Encoding,
        *,
        query_positions: Positions | None = None,
        key_positions: Positions | None = None,
        layout: Layout = "interleaved",
    ) -> float:
        """Return the size of the largest error of any causal score, in units of a score.

        Parameters
        ----------
        q, k, encoding, query_positions, key_positions, layout
            As in :meth:`scores`.

        Raises
        ------
        ValueError
            As :meth:`scores`.
        """
        m, n = token_positions(q.shape[-2], k.shape[-2], query_positions, key_positions)
        wrong, right = (
            function(q, k, encoding, query_positions=m, key_positions=n, layout=layout)
            for function in (self.scores, attention_scores)
        )
        return _largest_causal(wrong - right, m, n)


def _check_xpos(encoding: Encoding) -> None:
    """Raise ValueError unless the encoding is XPos, of which the mistakes are, for all heads."""
    if encoding.name != "xpos" or encoding.rates.ndim > 1:
        raise ValueError(
            f"the encoding must be xpos, the same for all heads, got {encoding!r}; "
            f"use xpos({encoding.head_dim})."
        )


def _largest_causal(scores: Tensor, m: Tensor, n: Tensor) -> float:
    """The largest size of a score whose key is not after its query."""
    return float(scores.abs().masked_fill(m[..., :, None] < n[..., None, :], 0.0).amax())


def _content(encoding: Encoding) -> tuple[Tensor, Tensor]:
    """Seeded queries and keys (L, d) for the checks, float64."""
    generator = torch.Generator().manual_seed(0)
    shape = (2, _TOKENS, encoding.head_dim)
    q, k = torch.randn(shape, generator=generator, dtype=torch.float64).unbind()
    return q, k


def _at(scores: ScoreFunction, encoding: Encoding, positions: Tensor) -> Tensor:
    """Scores of the content of the checks, queries and keys at the same positions."""
    q, k = _content(encoding)
    return scores(q, k, encoding, query_positions=positions, key_positions=positions)


def _shift(scores: ScoreFunction, encoding: Encoding) -> float:
    """Moving all positions by B tokens changes no score."""
    at = torch.arange(_TOKENS).double()
    moved = _at(scores, encoding, at + encoding["scale_base"])
    return _largest_causal(moved - _at(scores, encoding, at), at, at)


def _same_place(scores: ScoreFunction, encoding: Encoding) -> float:
    """A query and a key at the same position have the score q·k."""
    q, k = _content(encoding)
    return float((scores(q, k, encoding).diagonal() - (q * k).sum(-1)).abs().amax())


def _bound(scores: ScoreFunction, encoding: Encoding) -> float:
    """No causal score is larger than Σ|q_i||k_i|, since nothing grows with distance."""
    q, k = _content(encoding)
    at = torch.arange(_TOKENS).double() * encoding["scale_base"] / 8
    sizes_q, sizes_k = (to_pairs(x, "interleaved", encoding.head_dim).abs() for x in (q, k))
    beyond = _at(scores, encoding, at).abs() - sizes_q @ sizes_k.mT
    return _largest_causal(beyond.clamp(min=0.0), at, at)


def _limit(scores: ScoreFunction, encoding: Encoding) -> float:
    """For B → ∞ the scores are those of RoPE."""
    at = torch.arange(_TOKENS).double()
    slow = _at(scores, encoding.replace(scale_base=1e15), at)
    return _largest_causal(slow - _at(attention_scores, _rope(encoding), at), at, at)


def _fade(scores: ScoreFunction, encoding: Encoding) -> float:
    """Over B tokens pair i shrinks to ζ_i of its size, whatever its phase."""
    columns = torch.eye(encoding.head_dim, dtype=torch.float64).reshape(-1, 2, encoding.head_dim)
    far = encoding["scale_base"]
    both_phases = scores(
        columns[:, :1], columns, encoding, query_positions=[far], key_positions=[0.0, 0.0]
    ).squeeze(-2)
    zeta = lag_response(encoding, far).abs()
    return float((both_phases.square().sum(-1).sqrt() - zeta).abs().amax())


def _layouts(scores: ScoreFunction, encoding: Encoding) -> float:
    """Half layout gives the same scores once the columns are put in its order."""
    q, k = _content(encoding)
    order = torch.arange(encoding.head_dim).reshape(-1, 2).T.reshape(-1)  # 0, 2, …, 1, 3, …
    at = torch.arange(_TOKENS).double()
    other = scores(q[:, order], k[:, order], encoding, layout="half")
    return _largest_causal(other - scores(q, k, encoding), at, at)


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "shift": _shift,
        "same_place": _same_place,
        "bound": _bound,
        "limit": _limit,
        "fade": _fade,
        "layouts": _layouts,
    }
)
"""Invariants of the right scores, by name: functions from scores and an XPos encoding to the
largest departure from the invariant, in units of a score; 0 but for rounding if it holds."""


@dataclass(frozen=True, repr=False)
class _Changed(Encoding):
    """An encoding with something done to its terms."""

    change: Callable[[Terms], Terms] = field(default=lambda terms: terms)

    @property
    def terms(self) -> Terms:
        return self.change(super().terms)


def _rope(encoding: Encoding) -> Encoding:
    """RoPE of the same width and base."""
    return rope(encoding.head_dim, base=encoding["base"])


def _changed(encoding: Encoding, change: Callable[[Terms], Terms]) -> Encoding:
    """The same encoding with its terms changed."""
    return _Changed(encoding.name, encoding.parameters, change)


def _backwards(terms: Terms) -> Terms:
    """Every pair turned the other way."""
    return replace(terms, theta=-terms.theta)


def _still(terms: Terms) -> Terms:
    """No pair turned."""
    return replace(terms, theta=torch.zeros_like(terms.theta))


def _next_zeta(terms: Terms) -> Terms:
    """The decay of pair i + 1 for pair i; that of the last is ζ = 1."""
    decay = terms.log_decay
    return replace(terms, log_decay=torch.cat([decay[1:], torch.zeros_like(decay[:1])]))


def _right(call: Call) -> Tensor:
    """The right scores of a call; variants change it before."""
    q, k, encoding, m, n, layout = call
    return attention_scores(q, k, encoding, query_positions=m, key_positions=n, layout=layout)


def _with(call: Call, encoding: Encoding) -> Tensor:
    """The right scores of another encoding."""
    return _right(call._replace(encoding=encoding))


def _turned(
    x: Tensor, positions: Tensor, encoding: Encoding, layout: Layout
) -> tuple[Tensor, Tensor]:
    """Vectors as queries and as keys, both at the same positions."""
    return apply_encoding(
        x, x, encoding, query_positions=positions, key_positions=positions, layout=layout
    )


def _as_query(x: Tensor, positions: Tensor, encoding: Encoding, layout: Layout) -> Tensor:
    """Turn and scale vectors as queries are."""
    return _turned(x, positions, encoding, layout)[0]


def _as_key(x: Tensor, positions: Tensor, encoding: Encoding, layout: Layout) -> Tensor:
    """Turn and scale vectors as keys are."""
    return _turned(x, positions, encoding, layout)[1]


def _same_direction(call: Call) -> Tensor:
    """Keys scaled as queries are."""
    how = (call.encoding, call.layout)
    return _as_query(call.q, call.m, *how) @ _as_query(call.k, call.n, *how).mT


def _swapped(call: Call) -> Tensor:
    """Queries scaled as keys are, and keys as queries."""
    how = (call.encoding, call.layout)
    return _as_key(call.q, call.m, *how) @ _as_query(call.k, call.n, *how).mT


def _query_only(call: Call) -> Tensor:
    """Keys that are only turned."""
    q = _as_query(call.q, call.m, call.encoding, call.layout)
    return q @ _as_key(call.k, call.n, _rope(call.encoding), call.layout).mT


def _by_position(call: Call, factor: Callable[[Tensor], Tensor]) -> Tensor:
    """Vectors that are turned, and multiplied by a factor of their position, in units of B."""
    q, k = (
        (x * factor(positions[..., None] / call.encoding["scale_base"])).to(x)
        for x, positions in ((call.q, call.m), (call.k, call.n))
    )
    return _with(call._replace(q=q, k=k), _rope(call.encoding))


def _other(layout: Layout) -> Layout:
    """The layout that this is not."""
    return LAYOUTS[1 - LAYOUTS.index(layout)]


def _columns(numbers: Tensor, layout: Layout) -> Tensor:
    """One number of each pair, written into both of its columns."""
    return from_pairs(torch.complex(numbers, numbers), layout, 2 * numbers.shape[-1])


def _mixed_layouts(call: Call) -> Tensor:
    """Cosines and sines of one layout, times columns that are swapped as in the other."""
    width, response = call.encoding.head_dim, partial(lag_response, call.encoding)

    def turned(x: Tensor, table: Tensor) -> Tensor:
        """A column and its partner, which is not the one that the table is for."""
        swapped = from_pairs(
            1j * to_pairs(x, _other(call.layout), width), _other(call.layout), width
        )
        cosines, sines = (_columns(part, call.layout) for part in (table.real, table.imag))
        return (x * cosines + swapped * sines).to(x)

    return turned(call.q, response(call.m)) @ turned(call.k, response(-call.n).conj()).mT


def _scales_apart(call: Call) -> Tensor:
    """Columns turned as pairs of one layout, and scaled as pairs of the other."""
    encoding = call.encoding
    q = _as_query(call.q, call.m, _rope(encoding), call.layout)
    k = _as_key(call.k, call.n, _rope(encoding), call.layout)
    scale_q, scale_k = (
        _columns(lag_response(encoding, lags).abs(), _other(call.layout)).to(q)
        for lags in (call.m, -call.n)
    )
    return (q * scale_q) @ (k * scale_k).mT


def _centre_off_by_one(call: Call) -> Tensor:
    """Queries scaled, but not turned, by one token more."""
    scale = _changed(call.encoding, _still)
    return _right(call._replace(q=_as_query(call.q, torch.ones_like(call.m), scale, call.layout)))


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        row.name: row
        for row in (
            Variant(
                "same_direction",
                "shift",
                "Queries and keys are both multiplied by ζ^(position/B), "
                "so the factors do not cancel.",
                _same_direction,
            ),
            Variant(
                "swapped",
                "bound",
                "Queries take the factor of keys and keys that of queries, "
                "so scores grow with distance.",
                _swapped,
            ),
            Variant(
                "query_only",
                "shift",
                "Only queries are scaled, so a score fades with the position of its query, "
                "not with the distance.",
                _query_only,
            ),
            Variant(
                "linear_growth",
                "shift",
                "Queries and keys are multiplied by 1 + position/B, "
                "which grows with the absolute position.",
                lambda call: _by_position(call, lambda place: 1 + place),
            ),
            Variant(
                "by_importance",
                "shift",
                "Each position has a weight of its own, B/(B + position), "
                "so that the first ones matter most.",
                lambda call: _by_position(call, lambda place: 1 / (1 + place)),
            ),
            Variant(
                "no_scale_base",
                "limit",
                "The exponent is not divided by B, so everything fades within a few tokens.",
                lambda call: _with(call, call.encoding.replace(scale_base=1.0)),
            ),
            Variant(
                "half_scale_base",
                "fade",
                "The weights were trained with twice this B.",
                lambda call: _with(
                    call, call.encoding.replace(scale_base=call.encoding["scale_base"] / 2)
                ),
            ),
            Variant(
                "other_gamma",
                "fade",
                "The weights were trained with a γ that is 0.1 less.",
                lambda call: _with(call, call.encoding.replace(gamma=call.encoding["gamma"] + 0.1)),
            ),
            Variant(
                "zeta_off_by_one",
                "fade",
                "Pair i takes the ζ of pair i + 1, as if pairs were counted from one.",
                lambda call: _with(call, _changed(call.encoding, _next_zeta)),
            ),
            Variant(
                "no_decay",
                "fade",
                "Nothing is scaled, which is RoPE.",
                lambda call: _with(call, _rope(call.encoding)),
            ),
            Variant(
                "centre_off_by_one",
                "same_place",
                "The scales of queries and of keys are centred one token apart.",
                _centre_off_by_one,
            ),
            Variant(
                "late_queries",
                "same_place",
                "Queries are counted one position too far, as with a wrong cache offset.",
                lambda call: _right(call._replace(m=call.m + 1)),
            ),
            Variant(
                "backwards",
                "limit",
                "The sines have the wrong sign, so every pair turns backwards.",
                lambda call: _with(call, _changed(call.encoding, _backwards)),
            ),
            Variant(
                "half_layout",
                "layouts",
                "Columns i and i + d/2 are paired, but the weights were trained with "
                "2i and 2i + 1 paired.",
                lambda call: _right(call._replace(layout="half")),
            ),
            Variant(
                "mixed_layouts",
                "same_place",
                "Cosines and sines are those of one layout, and columns are swapped as in the "
                "other, so nothing is turned.",
                _mixed_layouts,
            ),
            Variant(
                "scales_apart",
                "shift",
                "Columns are turned in one layout and scaled in the other, so both columns of a "
                "pair fade by different factors.",
                _scales_apart,
            ),
        )
    }
)
"""All wrong variants, by name."""

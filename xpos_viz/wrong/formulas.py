"""Wrong scores: the right pieces of the core with one thing changed."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from xpos_viz.encoding import Encoding, Terms
from xpos_viz.entry import LAYOUTS, Layout, from_pairs, to_pairs
from xpos_viz.kernel import apply_encoding, attention_scores, lag_response
from xpos_viz.wrong.checks import rope_of


class Call(NamedTuple):
    """What scores are formed of: vectors, encoding, positions m and n, and layout."""

    q: Tensor
    k: Tensor
    encoding: Encoding
    m: Tensor
    n: Tensor
    layout: Layout


@dataclass(frozen=True, repr=False)
class _Changed(Encoding):
    """An encoding with something done to its terms."""

    change: Callable[[Terms], Terms] = field(default=lambda terms: terms)

    @property
    def terms(self) -> Terms:
        return self.change(super().terms)


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


def same_direction(call: Call) -> Tensor:
    """Scale keys as queries are."""
    how = (call.encoding, call.layout)
    return _as_query(call.q, call.m, *how) @ _as_query(call.k, call.n, *how).mT


def swapped(call: Call) -> Tensor:
    """Scale queries as keys are, and keys as queries."""
    how = (call.encoding, call.layout)
    return _as_key(call.q, call.m, *how) @ _as_query(call.k, call.n, *how).mT


def query_only(call: Call) -> Tensor:
    """Turn keys, and no more."""
    q = _as_query(call.q, call.m, call.encoding, call.layout)
    return q @ _as_key(call.k, call.n, rope_of(call.encoding), call.layout).mT


def _by_position(call: Call, factor: Callable[[Tensor], Tensor]) -> Tensor:
    """Vectors that are turned, and multiplied by a factor of their position, in units of B."""
    q, k = (
        (x * factor(positions[..., None] / call.encoding["scale_base"])).to(x)
        for x, positions in ((call.q, call.m), (call.k, call.n))
    )
    return _with(call._replace(q=q, k=k), rope_of(call.encoding))


def _other(layout: Layout) -> Layout:
    """The layout that this is not."""
    return LAYOUTS[1 - LAYOUTS.index(layout)]


def _columns(numbers: Tensor, layout: Layout) -> Tensor:
    """One number of each pair, written into both of its columns."""
    return from_pairs(torch.complex(numbers, numbers), layout, 2 * numbers.shape[-1])


def mixed_layouts(call: Call) -> Tensor:
    """Take cosines and sines of one layout, and columns that are swapped as in the other."""
    width, response = call.encoding.head_dim, partial(lag_response, call.encoding)

    def turned(x: Tensor, table: Tensor) -> Tensor:
        """A column and its partner, which is not the one that the table is for."""
        swapped = from_pairs(
            1j * to_pairs(x, _other(call.layout), width), _other(call.layout), width
        )
        cosines, sines = (_columns(part, call.layout) for part in (table.real, table.imag))
        return (x * cosines + swapped * sines).to(x)

    return turned(call.q, response(call.m)) @ turned(call.k, response(-call.n).conj()).mT


def scales_apart(call: Call) -> Tensor:
    """Turn columns as pairs of one layout, and scale them as pairs of the other."""
    encoding = call.encoding
    q = _as_query(call.q, call.m, rope_of(encoding), call.layout)
    k = _as_key(call.k, call.n, rope_of(encoding), call.layout)
    scale_q, scale_k = (
        _columns(lag_response(encoding, lags).abs(), _other(call.layout)).to(q)
        for lags in (call.m, -call.n)
    )
    return (q * scale_q) @ (k * scale_k).mT


def centre_off_by_one(call: Call) -> Tensor:
    """Scale queries, but do not turn them, by one token more."""
    scale = _changed(call.encoding, _still)
    return _right(call._replace(q=_as_query(call.q, torch.ones_like(call.m), scale, call.layout)))


def linear_growth(call: Call) -> Tensor:
    """Multiply vectors by 1 + position/B."""
    return _by_position(call, lambda place: 1 + place)


def by_importance(call: Call) -> Tensor:
    """Multiply vectors by B/(B + position)."""
    return _by_position(call, lambda place: 1 / (1 + place))


def no_scale_base(call: Call) -> Tensor:
    """Take B = 1."""
    return _with(call, call.encoding.replace(scale_base=1.0))


def half_scale_base(call: Call) -> Tensor:
    """Take half of B."""
    return _with(call, call.encoding.replace(scale_base=call.encoding["scale_base"] / 2))


def other_gamma(call: Call) -> Tensor:
    """Take a γ that is 0.1 more."""
    return _with(call, call.encoding.replace(gamma=call.encoding["gamma"] + 0.1))


def zeta_off_by_one(call: Call) -> Tensor:
    """Take the ζ of the next pair."""
    return _with(call, _changed(call.encoding, _next_zeta))


def no_decay(call: Call) -> Tensor:
    """Take RoPE."""
    return _with(call, rope_of(call.encoding))


def late_queries(call: Call) -> Tensor:
    """Count queries one position too far."""
    return _right(call._replace(m=call.m + 1))


def backwards(call: Call) -> Tensor:
    """Turn every pair the other way."""
    return _with(call, _changed(call.encoding, _backwards))


def half_layout(call: Call) -> Tensor:
    """Pair columns i and i + d/2, whatever the layout."""
    return _right(call._replace(layout="half"))

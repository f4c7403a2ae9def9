r"""The one formula, stable at every length.

.. math:: s(m, n) = \operatorname{Re} \sum_i q_i(m)\, \overline{k_i(n)}\, e^{\lambda_i (m - n)}

Here :math:`q_i, k_i` are the pairs of a query and a key read as complex numbers, and
:math:`\lambda_i` the rates of an encoding (Sun et al. 2022, eq. 9 and 10, with signs as
in the authors' code). The *factor form* turns q by :math:`e^{\lambda m}` and k by
:math:`e^{-\bar\lambda n}` and takes one matrix product; the *lag form* weighs each pair by
:math:`e^{\lambda\Delta}`. Both call :func:`_powers`, the only place where a rate is raised.

A score depends on the lag alone, so nothing in it has to overflow. A matrix is cut into
tiles until each is one of four: so short that its growth fits the dtype; causal, where an
origin between keys and queries keeps both factors ≤ 1; acausal, where the same holds once
the fastest pair's growth is divided out; or a few cells, in lag form.
"""

import math

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import (
    FAR,
    Layout,
    Pairs,
    Positions,
    Rates,
    check_origin,
    checked,
    from_pairs,
    real_positions,
    share_heads,
    table_device,
    to_pairs,
)

QueryPairs = Complex[Tensor, "... query_tokens pairs"]
KeyPairs = Complex[Tensor, "... key_tokens pairs"]

SCORE_ERROR = 8.0
"""C in |error| ≤ C·eps·Σ_i |q_i||k_i| (ζ_i^(Δ/B) + tiny) + tiny, for every score with Δ ≥ 0.

eps and tiny are the dtype's (`torch.finfo`), λ the float64 numbers `encoding.rates`. C covers
the rounding of the two factors, of two complex products and of the sum; angles are exact at
whole positions, and at real ones as exact as float64 holds the difference of two of them.
"""

_GROWTH = 2 / 3  # share of a dtype's exponent range that growth inside one product may take
_LEAF = 32  # tokens a side at which a tile near the diagonal is summed cell by cell, of one head
_CELLS = 1 << 16  # cells summed at a time in lag form, which bounds its memory
_LOST = 1e-290  # a float64 sum below this may have lost terms to underflow


def apply_encoding(
    q: Float[Tensor, "*batch query_tokens head_dim"],
    k: Float[Tensor, "*key_batch key_tokens head_dim"],
    encoding: Encoding,
    *,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
    layout: Layout = "interleaved",
    origin: float = 0.0,
) -> tuple[
    Float[Tensor, "*turned_batch query_tokens head_dim"],
    Float[Tensor, "*turned_key_batch key_tokens head_dim"],
]:
    r"""Rotate and scale queries and keys: the factor form of the formula.

    .. math:: q'_m = q\,e^{\lambda (m - o)}, \qquad k'_n = k\,e^{-\bar\lambda (n - o)}

    Parameters
    ----------
    q, k
        Queries (…, L_q, d) and keys (…, L_k, d), of one floating dtype; the dimension
        before the tokens is heads, and H_q may be a multiple of H_k (grouped queries).
    encoding
        The encoding, of width d.
    query_positions, key_positions
        Positions in tokens, whole or real, (L,) or (batch, L). Keys stand at
        0 … L_k−1 and queries at the last L_q positions of the keys unless told otherwise.
    layout
        How columns form pairs: "interleaved" (2i, 2i+1) or "half" (i, i + d/2).
    origin
        o, tokens: the position that is left as it is. Queries and keys that meet must
        share it, so it is never derived from a length.

    Returns
    -------
    tuple of Tensor
        q' and k', of the dtype and device of q and k. Where an encoding has rates for
        each head, k' has as many heads as q'.

    Raises
    ------
    ValueError
        For widths, heads, dtypes, layouts or positions that do not fit.

    Notes
    -----
    Far from the origin a factor can exceed the dtype, and the result is ±inf or NaN there;
    :func:`attention_scores` has no such limit.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import apply_encoding, rope
    >>> q = k = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> apply_encoding(q, k, rope(2))[0]
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    rates, m, n = checked(q, k, encoding, query_positions, key_positions, layout)
    check_origin(origin)
    if rates.ndim > 1:
        k = share_heads(k, q)
    width = encoding.rotary_width
    turned_q = turn(q, rates, m - origin, layout, width)
    return turned_q, turn(k, -rates.conj(), n - origin, layout, width)


def attention_scores(
    q: Float[Tensor, "*batch query_tokens head_dim"],
    k: Float[Tensor, "*key_batch key_tokens head_dim"],
    encoding: Encoding,
    *,
    query_positions: Positions | None = None,
    key_positions: Positions | None = None,
    layout: Layout = "interleaved",
) -> Float[Tensor, "*score_batch query_tokens key_tokens"]:
    r"""Scores q'·k' of every query with every key, unscaled and unmasked.

    Stable at any length, offset and parameter: entries with lag Δ = m − n ≥ 0 are finite
    and as exact as :data:`SCORE_ERROR` says; entries with Δ < 0, where XPos grows, are
    true values, or ±inf of the true sign where the dtype ends.

    Parameters
    ----------
    q, k, encoding, query_positions, key_positions, layout
        As in :func:`apply_encoding`.

    Returns
    -------
    Tensor
        (…, L_q, L_k): rows are queries, columns are keys; dtype and device of q.

    Raises
    ------
    ValueError
        For widths, heads, dtypes, layouts or positions that do not fit.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import attention_scores, xpos
    >>> q, k = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[0.5, -1.0, 2.0, 0.25]])
    >>> attention_scores(q, k, xpos(4), query_positions=[3], key_positions=[1])
    tensor([[5.6532]])
    """
    rates, m, n = checked(q, k, encoding, query_positions, key_positions, layout)
    width = encoding.rotary_width
    queries, keys = (to_pairs(x, layout, width) for x in (q, share_heads(k, q)))
    if m.ndim != n.ndim:
        m, n = (p.expand(q.shape[0], -1) for p in (m, n))
    return pair_scores(queries, keys, rates, m, n).to(q)


def turn(
    x: Float[Tensor, "*batch tokens head_dim"],
    rates: Rates,
    offsets: Float[Tensor, "*offset_batch #tokens"],
    layout: Layout,
    width: int,
) -> Float[Tensor, "*turned_batch tokens head_dim"]:
    r"""Multiply each pair of a token by :math:`e^{\lambda_i x}`: half of :func:`apply_encoding`.

    Nothing is checked and no branch looks at data, so it can be compiled.

    Parameters
    ----------
    x
        Vectors (…, tokens, d).
    rates
        λ, (d/2,) or (heads, d/2), complex128; those of an encoding, its negative conjugate …
    offsets
        The offset x of each token, (tokens,) or (batch, tokens), float64; one for all: (1,).
    layout, width
        How columns form pairs, and how many of them are turned.

    Returns
    -------
    Tensor
        The shape of `x`, and its dtype: the table is formed in float64, then rounded.

    Examples
    --------
    >>> import torch
    >>> quarter = torch.tensor([0.5j * torch.pi], dtype=torch.complex128)
    >>> turn(torch.tensor([[1.0, 2.0]]), quarter, torch.tensor([1.0]).double(), "interleaved", 2)
    tensor([[-2.0000, 1.0000]])
    """
    pairs = turn_pairs(to_pairs(x, layout, width), rates, offsets)
    return from_pairs(pairs, layout, width).to(x)


def lag_response(
    encoding: Encoding, lags: Positions | float
) -> Complex[Tensor, "*heads_and_lags pairs"]:
    r"""What each pair does to a product at each lag: :math:`e^{\lambda_i\Delta}`, the lag form.

    Parameters
    ----------
    encoding
        The encoding.
    lags
        Lags Δ = m − n in tokens, whole or real, of any shape.

    Returns
    -------
    Tensor
        (…, lags, d/2), complex128: the argument is the angle turned, the modulus the share
        left (more than 1 for Δ < 0).

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import lag_response, xpos
    >>> lag_response(xpos(4), [0, 512]).abs()
    tensor([[1.0000, 1.0000],
            [0.2857, 0.6429]], dtype=torch.float64)
    """
    distance = real_positions(lags, "lags")
    return _powers(over_lags(encoding.rates, distance), distance[..., None])


def lag_sum(
    products: Complex[Tensor, "*cells pairs"],
    rates: Complex[Tensor, "*#cells pairs"],
    lags: Float[Tensor, "*#cells"],
) -> Float[Tensor, "*cells"]:
    r"""The formula in lag form: :math:`\operatorname{Re}\sum_i w_i e^{\lambda_i\Delta}`.

    The largest exponent of the pairs with :math:`w_i \ne 0` is taken out of the sum and
    multiplied back last, so the result is never NaN: it is ±inf where float64 ends.

    Parameters
    ----------
    products
        :math:`w_i = q_i \bar k_i`, complex128.
    rates
        λ_i, per token, complex128.
    lags
        Δ, tokens, float64.

    Returns
    -------
    Tensor
        The scores, float64.
    """
    lags = lags[..., None]
    exponents = rates.real * lags
    peak = torch.where(products == 0, -math.inf, exponents).amax(-1, keepdim=True)
    peak = peak.clamp(-FAR, FAR)  # finite: no pair may speak, or all beyond float64
    total = (products * _powers(rates, lags, peak)).real.sum(-1)
    return _scaled(total, peak.squeeze(-1))


def _powers(
    rates: Complex[Tensor, "*#shape pairs"],
    offsets: Float[Tensor, "*#shape one"],
    peak: Float[Tensor, "*#shape one"] | None = None,
) -> Complex[Tensor, "*shape pairs"]:
    """exp(λ_i x), complex128; with `peak`, exp(λ_i x − peak) where that does not exceed 1."""
    decay, lost_decay = _exact_product(rates.real, offsets)
    angle, lost_angle = _exact_product(rates.imag, offsets)
    if peak is not None:
        decay = (decay - peak).clamp(max=0.0)
    size = decay.exp() * (1 + lost_decay)
    one = torch.ones_like(angle)
    unit = torch.polar(one, angle) * torch.polar(one, lost_angle)
    return torch.complex(size * unit.real, size * unit.imag)  # part by part: inf stays inf


def _exact_product(a: Float[Tensor, "..."], b: Float[Tensor, "..."]) -> tuple[Tensor, Tensor]:
    """a·b, rounded, and what the rounding lost (Dekker 1971): far away an angle needs both."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, lost.nan_to_num(0.0, 0.0, 0.0)  # nothing is known to be lost near overflow


def _halves(x: Float[Tensor, "..."]) -> tuple[Tensor, Tensor]:
    """Return x as a sum of two numbers of 26 bits, whose products are exact."""
    shifted = x * (2.0**27 + 1)
    high = shifted - (shifted - x)
    return high, x - high


def _table(
    pairs: Pairs, rates: Rates, offsets: Float[Tensor, "*batch #tokens"]
) -> Complex[Tensor, "... #tokens pairs"]:
    """exp(λ_i x) at the offset x of each token, with room for the dimensions of the pairs."""
    by_batch = offsets.reshape(*offsets.shape[:-1], *[1] * (pairs.ndim - 1 - offsets.ndim), -1, 1)
    return _powers(rates[..., None, :], by_batch)


def turn_pairs(pairs: Pairs, rates: Rates, offsets: Float[Tensor, "*batch tokens"]) -> Pairs:
    """Pairs times exp(λ_i x) at the offset x of each token: half of the factor form."""
    return _turn(pairs, _table(pairs, rates, offsets))


def _turn(pairs: Pairs, table: Complex[Tensor, "... #tokens pairs"]) -> Pairs:
    """Multiply each pair by its entry of the table."""
    return pairs * table.to(pairs)


def _product(
    q: QueryPairs, k: KeyPairs, rates: Rates, m: Float[Tensor, "..."], n: Float[Tensor, "..."]
) -> Float[Tensor, "..."]:
    """Scores in factor form: turn both, then one matrix product."""
    table = _table(q, rates, m)
    shared = q.ndim == k.ndim and torch.equal(m, n)  # e^(−λ̄n) is then 1 / conj e^(λm)
    inverse = table.conj().reciprocal() if shared else _table(k, -rates.conj(), n)
    return turned_product(_turn(q, table), _turn(k, inverse))


def turned_product(
    q: QueryPairs, k: KeyPairs, out: Float[Tensor, "... query_tokens key_tokens"] | None = None
) -> Float[Tensor, "... query_tokens key_tokens"]:
    """Re Σ_i q'_i · conj(k'_i) of queries and keys that are turned already, in `out` if given."""
    columns_q, columns_k = (torch.view_as_real(x).flatten(-2) for x in (q, k))
    return torch.matmul(columns_q, columns_k.mT, out=out)


def pair_scores(
    q: QueryPairs, k: KeyPairs, rates: Rates, m: Float[Tensor, "..."], n: Float[Tensor, "..."]
) -> Float[Tensor, "..."]:
    """Scores at any positions: in one product where its growth fits, else cut into tiles."""
    if 0 in (q.numel(), k.numel()):
        return _product(q, k, rates, m, n)
    if rates.ndim == 1 and not rates.any():  # nothing is turned, for no head
        return turned_product(q, k)
    low, high = torch.minimum(m.amin(-1), n.amin(-1)), torch.maximum(m.amax(-1), n.amax(-1))
    longest = longest_span(q, k, rates)
    if float((high - low).max()) <= longest:
        middle = ((low + high) / 2)[..., None]
        return _product(q, k, rates, m - middle, n - middle)
    if m.ndim > 1:
        return torch.stack(
            [pair_scores(*row) for row in zip(q, k, [rates] * len(q), m, n, strict=True)]
        )
    rows, columns = torch.argsort(m, stable=True), torch.argsort(n, stable=True)
    tiles = _tiles(q[..., rows, :], k[..., columns, :], rates, m[rows], n[columns], longest)
    if torch.equal(m[rows], m) and torch.equal(n[columns], n):
        return tiles
    return tiles[..., rows.argsort(), :][..., columns.argsort()]


def _tiles(
    q: QueryPairs,
    k: KeyPairs,
    rates: Rates,
    m: Float[Tensor, " query_tokens"],
    n: Float[Tensor, " key_tokens"],
    longest: float,
) -> Float[Tensor, "... query_tokens key_tokens"]:
    """Scores at ascending positions, cut at the middle query until each tile is stable.

    Where most keys come before all queries, they are cut off first: one product is stable there.
    """
    if 0 in (len(m), len(n)):
        return _product(q, k, rates, m, n)
    first_m, last_m, first_n, last_n = (float(p[end]) for p in (m, n) for end in (0, -1))
    low, high = min(first_m, first_n), max(last_m, last_n)
    if high - low <= longest:
        return _product(q, k, rates, m - (low + high) / 2, n - (low + high) / 2)
    if last_n <= first_m:
        return _product(q, k, rates, m - last_n, n - last_n)
    if last_m <= first_n:
        return _acausal(q, k, rates, m, n)
    heads = max(math.prod(x.shape[:-2]) for x in (q, k))
    if heads * len(m) * len(n) <= _LEAF**2:
        return _cell_by_cell(q, k, rates, m, n)
    half = len(m) // 2
    before, until = (int(torch.searchsorted(n, m[row], right=True)) for row in (0, half))
    row, column = (0, before) if 2 * before > len(n) else (half, until)
    bands = [
        torch.cat(
            [
                _tiles(q[..., rows, :], k[..., columns, :], rates, m[rows], n[columns], longest)
                for columns in (slice(column), slice(column, None))
            ],
            -1,
        )
        for rows in (slice(row), slice(row, None))
    ]
    return torch.cat(bands, -2)


def _acausal(
    q: QueryPairs,
    k: KeyPairs,
    rates: Rates,
    m: Float[Tensor, " query_tokens"],
    n: Float[Tensor, " key_tokens"],
) -> Float[Tensor, "... query_tokens key_tokens"]:
    """Scores where no key is before a query, the fastest pair's growth multiplied back last."""
    exact_q, exact_k = _exact(q), _exact(k)
    fastest = rates.real.amin(-1, keepdim=True)
    lags = m[:, None] - n
    rest = _product(exact_q, exact_k, rates - fastest, m - n[0], n - n[0])
    scores = _scaled(rest, fastest[..., None] * lags)
    spoken = (exact_q != 0).any(-1)[..., :, None] & (exact_k != 0).any(-1)[..., None, :]
    lost = torch.nonzero((rest.abs() < _LOST) & spoken)
    return _resummed(scores, lost, exact_q, exact_k, rates, lags).to(q.real)


def _resummed(
    scores: Float[Tensor, "... query_tokens key_tokens"],
    cells: Int[Tensor, "cells dimensions"],
    q: QueryPairs,
    k: KeyPairs,
    rates: Rates,
    lags: Float[Tensor, "query_tokens key_tokens"],
) -> Float[Tensor, "... query_tokens key_tokens"]:
    """The same scores with some cells, given by their indices, summed in lag form."""
    every_q, every_k = (x.expand(*scores.shape[:-2], -1, -1) for x in (q, k))
    every_rate = rates[..., None, None, :].expand(*scores.shape, -1)
    for part in (cells[start : start + _CELLS] for start in range(0, len(cells), _CELLS)):
        *heads, row, column = torch.unbind(part, 1)
        products = every_q[*heads, row] * every_k[*heads, column].conj()
        sums = lag_sum(products, every_rate[*heads, row, column], lags[row, column])
        scores = scores.index_put((*heads, row, column), sums)
    return scores


def _cell_by_cell(
    q: QueryPairs,
    k: KeyPairs,
    rates: Rates,
    m: Float[Tensor, " query_tokens"],
    n: Float[Tensor, " key_tokens"],
) -> Float[Tensor, "... query_tokens key_tokens"]:
    """Scores in lag form, for few tokens on either side of the diagonal."""
    products = _exact(q)[..., :, None, :] * _exact(k).conj()[..., None, :, :]
    return lag_sum(products, rates[..., None, None, :], m[:, None] - n).to(q.real)


def _scaled(values: Float[Tensor, "..."], exponents: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """values·e^exponents, float64: ±inf where that ends, and with finite gradients there."""
    half = (exponents / 2).clamp(max=700.0).exp()
    return values * half * half


def longest_span(q: QueryPairs, k: KeyPairs, rates: Rates) -> float:
    """The longest span, tokens, whose growth fits one product of these queries and keys."""
    fastest = -float(rates.detach().real.amin())
    if fastest == 0:
        return math.inf
    ends = (torch.aminmax(torch.view_as_real(x.detach())) for x in (q, k))
    largest = (max(-float(low), float(high)) for low, high in ends)
    size = math.prod(largest) * 4 * q.shape[-1]
    room = math.log(torch.finfo(q.real.dtype).max)
    used = math.log(size) if 0 < size < math.inf else 0.0
    return max(0.0, min(_GROWTH * room, room - used)) / fastest


def _exact(pairs: Pairs) -> Pairs:
    """The same pairs in complex128, on a device that has it."""
    return pairs.to(table_device(pairs.device), torch.complex128)


def over_lags(rates: Rates, lags: Tensor) -> Rates:
    """Give rates (…, pairs) room for the dimensions of the lags: (…, 1 …, pairs)."""
    return rates.reshape(*rates.shape[:-1], *[1] * lags.ndim, rates.shape[-1])

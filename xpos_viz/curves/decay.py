r"""Curves over distance: what an encoding does when content is left out.

A long range of evenly spaced whole lags is a ladder in a ladder, :math:`\Delta = a + b`.
There :math:`e^{\lambda\Delta} = e^{\lambda a} e^{\lambda b}`, so a million lags need a
thousand responses each way, and memory for the curve alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.curves.shared import by_head, head_numbers, tidy, whole_lags
from xpos_viz.encoding import Encoding
from xpos_viz.entry import Positions, Rates, check_whole, real_positions
from xpos_viz.kernel import lag_response, lag_sum, over_lags

Curve = Float[Tensor, "*heads_and_lags"]
Responses = Complex[Tensor, "*heads lags pairs"]

_LAGS = 1 << 12  # lags summed at a time, which bounds the memory; a longer range is split
_PARTS = 1 << 6  # into which a range is cut where a lag is looked for
_BITS = 54  # powers of two up to 2^53, the farthest lag
_STRETCH = 1 << 16  # lags of a curve that is walked along and not kept


def decay_curve(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    r"""The expectation curve :math:`g[\Delta] = \operatorname{Re}\sum_i e^{\lambda_i\Delta}`.

    For XPos this is Σ_i cos(Δθ_i) ζ_i^(Δ/B) (Sun et al. 2022, eq. 8, over the d/2 pairs).
    With q = k = ones, the score is 2·g[m − n].

    Parameters
    ----------
    encoding
        The encoding.
    lags
        Lags Δ = m − n, tokens, whole or real, of any shape.

    Returns
    -------
    Tensor
        (…, lags), float64, without a unit; d/2 at lag 0. For Δ < 0, where XPos grows, ±inf
        where float64 ends.

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import decay_curve, rope, xpos
    >>> decay_curve(rope(64), [0, 1024])
    tensor([32.0000,  8.4136], dtype=torch.float64)
    >>> decay_curve(xpos(64), [0, 1024])
    tensor([32.0000,  5.8173], dtype=torch.float64)
    """
    rates = encoding.rates
    return _curve(
        encoding,
        lags,
        lambda part: _total(over_lags(rates, part), part),
        lambda far, near: (far @ near.mT).real,
    )


def envelope(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    r"""The most that g can be: :math:`\sum_i |e^{\lambda_i\Delta}| = \sum_i \zeta_i^{\Delta/B}`.

    It is g without rotation, |g| ≤ envelope, and it never rises. For RoPE it is d/2 at every
    lag: what falls there is the interference of pairs, not their size (Sun et al. 2022, eq. 8).

    Parameters
    ----------
    encoding, lags
        As in :func:`decay_curve`.

    Returns
    -------
    Tensor
        (…, lags), float64, without a unit; d/2 at lag 0, inf where float64 ends.

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import rope, xpos
    >>> envelope(rope(64), [0, 1024]), envelope(xpos(64), [0, 1024])
    (tensor([32., 32.], dtype=torch.float64), tensor([32.0000, 14.1285], dtype=torch.float64))
    """
    sizes = _sizes(encoding)
    return _curve(
        encoding,
        lags,
        lambda part: _total(over_lags(sizes, part), part),
        lambda far, near: far.abs() @ near.abs().mT,
    )


def bound_curve(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    r"""RoFormer's bound: :math:`\frac{1}{d/2}\sum_{j=1}^{d/2}|\sum_{i<j} e^{\lambda_i\Delta}|`.

    Su et al. 2021, §3.4.3, whose long-term decay it shows for RoPE. By Abel's summation a
    score is at most d/2 times this curve times the largest step of q_i·conj(k_i) from one
    pair to the next, the last step being that to zero; that holds for any rates.

    Parameters
    ----------
    encoding, lags
        As in :func:`decay_curve`.

    Returns
    -------
    Tensor
        (…, lags), float64, without a unit; (d/2 + 1)/2 at lag 0, inf where float64 ends.

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> bound_curve(rope(128), [0, 10, 256])
    tensor([32.5000, 17.9541,  6.5431], dtype=torch.float64)
    """
    return _curve(
        encoding,
        lags,
        lambda part: _partial_sums(lag_response(encoding, part)),
        lambda far, near: _partial_sums(far[..., :, None, :] * near[..., None, :, :]),
    )


def bias_curve(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    """The additive term of an encoding on the logits, such as ALiBi's, over the same lags.

    Press et al. 2021 (arXiv:2108.12409) for ALiBi: −slope·Δ. Unlike the other curves it adds
    to the logits, and so is no multiple of q·k.

    Parameters
    ----------
    encoding, lags
        As in :func:`decay_curve`.

    Returns
    -------
    Tensor
        (…, lags), float64, in units of the logits; zero for an encoding without a bias.

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> bias_curve(rope(64), [0, 1024])
    tensor([0., 0.], dtype=torch.float64)
    """
    distance = real_positions(lags, "lags")
    if encoding.bias is None:
        return torch.zeros_like(distance)
    row = encoding.bias(distance.reshape(1, -1)).double()[..., 0, :]
    return row.reshape(row.shape[:-1] + distance.shape)


def running_mean(encoding: Encoding, lags: Positions | float) -> Float[Tensor, "*heads_and_lags"]:
    r"""Mean of g over the whole lags so far: :math:`\frac{1}{\Delta+1}\sum_{t=0}^{\Delta} g[t]`.

    It takes the oscillation out of g (Sun et al. 2022, eq. 8) and leaves the trend.

    Parameters
    ----------
    encoding
        The encoding.
    lags
        Lags Δ ≥ 0, whole, tokens, of any shape. Time grows with the largest, memory does not.

    Returns
    -------
    Tensor
        (…, lags), float64, without a unit; d/2 at lag 0.

    Raises
    ------
    ValueError
        If a lag is not a whole number within 0 … 2^53.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> running_mean(rope(64), [0, 1, 1024])
    tensor([32.0000, 31.4584,  8.9064], dtype=torch.float64)
    """
    distance = whole_lags(lags, 0, "a running mean")
    flat = distance.reshape(-1)
    heads = encoding.rates.shape[:-1]
    means, total = flat.new_zeros(*heads, len(flat)), flat.new_zeros(*heads, 1)
    last = int(flat.max()) if len(flat) else -1
    for start in range(0, last + 1, _STRETCH):
        stop = min(start + _STRETCH, last + 1)
        sums = total + decay_curve(encoding, range(start, stop)).cumsum(-1)
        here = torch.nonzero((flat >= start) & (flat < stop)).flatten()
        means[..., here] = sums[..., (flat[here] - start).long()] / (flat[here] + 1)
        total = sums[..., -1:]
    return means.reshape((*heads, *distance.shape))


def first_negative_lag(encoding: Encoding, *, limit: int, head: int = 0) -> int | None:
    """The smallest whole lag at which g is below zero, up to a limit; None if there is none.

    There the sum of pairs (Sun et al. 2022, eq. 8) prefers what is unlike. Every whole lag is
    looked at, in bounded memory.

    Parameters
    ----------
    encoding
        The encoding.
    limit
        The last lag that is looked at, tokens, ≥ 0.
    head
        Which head, for an encoding with rates for each; the others have only head 0.

    Returns
    -------
    int or None
        Tokens.

    Raises
    ------
    ValueError
        If `limit` is no whole number ≥ 0, or there is no such head.

    Examples
    --------
    >>> from xpos_viz import rope, xpos
    >>> first_negative_lag(rope(64), limit=4096), first_negative_lag(xpos(64), limit=1024)
    (725, None)
    """
    heads = encoding.rates.shape[:-1].numel()
    check_whole("limit", limit, 0, "use 1024 tokens, for instance.")
    check_whole("head", head, 0, f"use one below {heads}, the number of heads.", below=heads)
    for start in range(0, limit + 1, _STRETCH):
        part = range(start, min(start + _STRETCH, limit + 1))
        curve = decay_curve(encoding, part).reshape(heads, -1)[head]
        negative = torch.nonzero(curve < 0)
        if len(negative):
            return start + int(negative[0])
    return None


def envelope_reach(encoding: Encoding, fraction: float = 0.5) -> Float[Tensor, "*heads"]:
    """The largest whole lag at which the envelope is at least a fraction of its start.

    The envelope never rises, so a power of two is found first, and then the part between it and
    the next one, again and again.
    Its value for one half is the half-life of the encoding as a whole (Sun et al. 2022, eq. 8
    without rotation).

    Parameters
    ----------
    encoding
        The encoding.
    fraction
        Share of the envelope at lag 0, in (0, 1].

    Returns
    -------
    Tensor
        (…), float64, tokens; inf where the envelope is as large even 2^53 tokens away.

    Raises
    ------
    ValueError
        If `fraction` is not in (0, 1].

    Examples
    --------
    >>> from xpos_viz import rope, xpos
    >>> envelope_reach(rope(64)).item(), envelope_reach(xpos(64)).item()
    (inf, 831.0)
    """
    if not 0 < fraction <= 1:
        raise ValueError(
            f"fraction must be a number in (0, 1], got {fraction!r}; use 0.5 for one half."
        )
    sizes = _sizes(encoding)[..., None, :]
    least = fraction * sizes.shape[-1]
    powers = 2.0 ** torch.arange(_BITS, dtype=torch.float64)
    held = (_total(sizes, powers) >= least).sum(-1, keepdim=True)
    inside = torch.where(held > 0, 2.0 ** (held - 1), 0.0)  # and twice that is outside
    width = inside
    while bool((width > 1).any()):
        width = (width / _PARTS).clamp(min=1.0)
        cuts = inside + width * torch.arange(_PARTS)
        inside = inside + width * ((_total(sizes, cuts) >= least).sum(-1, keepdim=True) - 1)
    return inside.where(held < _BITS, torch.inf).squeeze(-1)


CURVES: Mapping[str, Callable[[Encoding, Positions], Curve]] = MappingProxyType(
    {
        "g": decay_curve,
        "envelope": envelope,
        "running_mean": running_mean,
        "bound": bound_curve,
        "bias": bias_curve,
    }
)
"""Every curve over lags, by the name of its column in a table."""


def curve_table(
    encodings: Sequence[Encoding], lags: Positions, names: Sequence[str] = tuple(CURVES)
) -> pd.DataFrame:
    """Curves of several encodings, one row per encoding, head and lag.

    Parameters
    ----------
    encodings
        The encodings.
    lags
        Lags, tokens, (L,).
    names
        Keys of :data:`CURVES`, one column each; the running mean needs whole lags ≥ 0.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), head, lag (tokens) and one per name: bias
        in units of the logits, all others without a unit.

    Raises
    ------
    ValueError
        For a lag or a name that does not fit.

    Examples
    --------
    >>> from xpos_viz import rope
    >>> curve_table([rope(2, base=10.0)], [0, 1], ["g", "envelope"]).round(4)
                encoding  head  lag       g  envelope
    0  rope(2, base=10.0)     0  0.0  1.0000       1.0
    1  rope(2, base=10.0)     0  1.0  0.5403       1.0
    """
    distance = real_positions(lags, "lags").reshape(-1)
    blocks: list[dict[str, Tensor | str]] = []
    for encoding in encodings:
        curves = curves_of(encoding, distance, names)
        heads = head_numbers([*curves.values()])
        blocks.append({"encoding": repr(encoding), "head": heads, "lag": distance} | curves)
    return tidy(["encoding", "head", "lag", *names], blocks)


def curves_of(
    encoding: Encoding, lags: Float[Tensor, " lags"], names: Sequence[str]
) -> dict[str, Float[Tensor, "..."]]:
    """Curves of an encoding by name, (heads, lags) or (1, lags)."""
    for name in names:
        check_choice("curve", name, CURVES)
    return {name: by_head(CURVES[name](encoding, lags)) for name in names}


def decay_table(encodings: Sequence[Encoding], lags: Positions) -> pd.DataFrame:
    """Expectation curves of several encodings: :func:`curve_table` of g alone.

    Parameters
    ----------
    encodings
        The encodings.
    lags
        Lags, tokens, (L,).

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), head, lag (tokens) and g (no unit).

    Raises
    ------
    ValueError
        If a lag is not a finite number within ±2^53.

    Examples
    --------
    >>> from xpos_viz import decay_table, rope
    >>> decay_table([rope(2, base=10.0)], [0, 1]).round(4)
                encoding  head  lag       g
    0  rope(2, base=10.0)     0  0.0  1.0000
    1  rope(2, base=10.0)     0  1.0  0.5403
    """
    return curve_table(encodings, lags, ["g"])


def _curve(
    encoding: Encoding,
    lags: Positions | float,
    at: Callable[[Tensor], Tensor],
    across: Callable[[Responses, Responses], Tensor],
) -> Curve:
    """A curve by its values at some lags, or across the sums of two ladders of lags."""
    distance = real_positions(lags, "lags")
    flat, heads = distance.reshape(-1), encoding.rates.shape[:-1]
    ladders = _ladders(flat)
    if ladders is None:
        curve = flat.new_empty(*heads, len(flat))
        for cut in _cuts(len(flat), _LAGS):
            curve[..., cut] = at(flat[cut])
    else:
        far, near = (lag_response(encoding, rungs) for rungs in ladders)
        curve = flat.new_empty(*heads, far.shape[-2], near.shape[-2])
        for cut in _cuts(far.shape[-2], max(1, _LAGS // near.shape[-2])):
            curve[..., cut, :] = across(far[..., cut, :], near)
        curve = curve.flatten(-2)[..., : len(flat)]
    return curve.reshape((*heads, *distance.shape))


def _ladders(lags: Float[Tensor, " lags"]) -> tuple[Tensor, Tensor] | None:
    """Two ladders whose sums begin with these lags, if they are many, whole, even and ≥ 0."""
    count = len(lags)
    if count <= _LAGS:
        return None
    first, step = float(lags[0]), float(lags[1] - lags[0])
    even = torch.arange(count, dtype=torch.float64) * step + first
    if first < 0 or step <= 0 or first % 1 or step % 1 or not torch.equal(even, lags):
        return None
    side = math.isqrt(count - 1) + 1
    rungs = torch.arange(side, dtype=torch.float64) * step
    return first + side * rungs[: -(-count // side)], rungs


def _cuts(length: int, size: int) -> list[slice]:
    """Slices of that size that cover a length."""
    return [slice(start, start + size) for start in range(0, length, size)]


def _total(rates: Rates, lags: Float[Tensor, "*#cells"]) -> Float[Tensor, "*cells"]:
    """The sum of all pairs with equal content."""
    return lag_sum(torch.ones(rates.shape[-1], dtype=rates.dtype), rates, lags)


def _sizes(encoding: Encoding) -> Rates:
    """The rates without their rotation."""
    return encoding.rates.real.to(torch.complex128)


def _partial_sums(responses: Complex[Tensor, "*cells pairs"]) -> Float[Tensor, "*cells"]:
    """Mean size of the sums of the first 1, 2, … pairs, inf where float64 ends."""
    return responses.cumsum(-1).abs().mean(-1).nan_to_num(torch.inf, torch.inf)

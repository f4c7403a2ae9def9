r"""Where a dtype ends: how far the factor form reaches, and what angles lose on the way.

The factor form multiplies a key at position n by :math:`e^{-\bar\lambda n}`, whose size
:math:`\zeta_i^{-n/B}` grows without end. The fastest pair of XPos is pair 0, so it overflows
first, beyond

.. math:: n_{\max} = \left\lfloor
    \frac{\ln(M / |k|_{\max})}{\max_i(-\operatorname{Re} \lambda_i)} \right\rfloor
    = \left\lfloor B\,\frac{\ln(M / |k|_{\max})}{\ln((1 + \gamma)/\gamma)} \right\rfloor

where M is the dtype's largest number plus half a unit in its last place: rounding goes to
infinity only from there. :func:`xpos_viz.attention_scores` has no such limit.

Angles θn lose their accuracy long before: a dtype that keeps few digits cannot tell
neighbouring positions apart. That is measured here (:func:`table_error`), not estimated.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType

import pandas as pd
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import DTYPES, FAR, Positions, check_whole, real_positions
from xpos_viz.kernel import turn

_TOKENS = 1 << 14  # positions measured at a time, which bounds the memory


def growth(encoding: Encoding) -> float:
    r"""How fast the largest factor of a key grows: ln of it per token.

    Parameters
    ----------
    encoding
        The encoding; its fastest decaying pair decides, over all heads.

    Returns
    -------
    float
        :math:`\max_i(-\operatorname{Re} \lambda_i)`, ≥ 0, per token.

    Examples
    --------
    >>> from xpos_viz import xpos
    >>> round(growth(xpos(64)) * 512, 4)  # ln((1 + γ)/γ)
    1.2528
    """
    return -float(encoding.log_decay.min())


def largest_position(encoding: Encoding, dtype: torch.dtype, largest: float = 1.0) -> int:
    r"""The largest position n whose keys k' fit a dtype, counted from the origin.

    Parameters
    ----------
    encoding
        The encoding; its fastest decaying pair decides, over all heads.
    dtype
        What k' is kept in: float16, bfloat16, float32 or float64.
    largest
        |k|max, the largest modulus of a pair of any key. Below 1 it counts as 1, since the
        table of factors must fit as well.

    Returns
    -------
    int
        n_max, tokens; 2^53, up to which positions are counted exactly, without decay.

    Raises
    ------
    ValueError
        For another dtype, or a `largest` that the dtype does not hold.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> largest_position(xpos(64), torch.float16), largest_position(xpos(64), torch.float32)
    (4532, 36260)
    """
    room = _log_limit(dtype) - _log_size(largest, dtype)
    fastest = growth(encoding)
    return math.floor(min(FAR, room / fastest)) if fastest else int(FAR)


def centred_length(encoding: Encoding, dtype: torch.dtype, largest: float = 1.0) -> int:
    r"""The longest sequence whose q' and k' fit a dtype if its middle is the origin.

    Keys then stand no further than n_max after the origin, and queries, which grow in the
    other direction, no further before it: 2·n_max + 1 tokens instead of n_max + 1.

    Parameters
    ----------
    encoding, dtype
        As in :func:`largest_position`.
    largest
        The largest modulus of a pair of any query or key.

    Returns
    -------
    int
        Length, tokens.

    Raises
    ------
    ValueError
        As :func:`largest_position`.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> centred_length(xpos(64), torch.float16)
    9065
    """
    return 2 * largest_position(encoding, dtype, largest) + 1


def limits_table(
    encodings: Sequence[Encoding],
    dtypes: Sequence[torch.dtype] = DTYPES,
    largest: float = 1.0,
) -> pd.DataFrame:
    """How far each dtype reaches, one row per encoding and dtype.

    Parameters
    ----------
    encodings, dtypes
        The encodings and dtypes.
    largest
        As in :func:`centred_length`.

    Returns
    -------
    DataFrame
        Columns encoding (the call that makes it), dtype, position (n_max) and
        centred_length, both in tokens.

    Raises
    ------
    ValueError
        As :func:`largest_position`.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import xpos
    >>> limits_table([xpos(64, scale_base=64.0)], [torch.float16])[["position", "centred_length"]]
       position  centred_length
    0       566            1133
    """
    rows = [
        (
            repr(encoding),
            _name(dtype),
            largest_position(encoding, dtype, largest),
            centred_length(encoding, dtype, largest),
        )
        for encoding, dtype in product(encodings, dtypes)
    ]
    return pd.DataFrame(rows, columns=["encoding", "dtype", "position", "centred_length"])


Kept = Callable[[Tensor, Tensor, torch.dtype], Complex[Tensor, "... tokens pairs"]]


def _circle(angles: Float[Tensor, "..."]) -> Complex[Tensor, "..."]:
    """Cos + i·sin of angles, as implementations form it."""
    return torch.polar(torch.ones_like(angles), angles)


def _kept_positions(theta: Tensor, n: Tensor, dtype: torch.dtype) -> Tensor:
    """Positions in the dtype."""
    return _circle(theta * n.to(dtype).double())


def _kept_theta(theta: Tensor, n: Tensor, dtype: torch.dtype) -> Tensor:
    """Inverse frequencies θ in the dtype, as after `model.half()`."""
    return _circle(theta.to(dtype).double() * n)


def _kept_angles(theta: Tensor, n: Tensor, dtype: torch.dtype) -> Tensor:
    """Positions, θ and their product in the dtype."""
    return _circle((theta.to(dtype) * n.to(dtype)).double())


def _kept_table(theta: Tensor, n: Tensor, dtype: torch.dtype) -> Tensor:
    """Angles in float64, and only cos and sin in the dtype."""
    return torch.view_as_complex(torch.view_as_real(_circle(theta * n)).to(dtype).double())


KEPT: Mapping[str, Kept] = MappingProxyType(
    {
        "positions": _kept_positions,
        "theta": _kept_theta,
        "angles": _kept_angles,
        "table": _kept_table,
    }
)
"""What may be kept in a dtype while the rest is float64: positions, θ, all of n, θ and θ·n, or
only the finished table of cos and sin."""


def table_error(
    encoding: Encoding, positions: Positions, dtype: torch.dtype, *, kept: str = "angles"
) -> Float[Tensor, "*heads tokens pairs"]:
    r"""How far a rotation table is from the true :math:`e^{i\theta n}` if a part is in a dtype.

    Parameters
    ----------
    encoding
        The encoding, whose θ are turned.
    positions
        Positions n, tokens, (L,).
    dtype
        float16, bfloat16, float32 or float64.
    kept
        What is kept in the dtype: a key of :data:`KEPT`.

    Returns
    -------
    Tensor
        |table − e^{iθn}|, (…, L, d/2), float64, the error of a turned pair as a share of its
        size: 0 to 2. While it is small it is the error of the angle in rad. NaN where a
        position exceeds the dtype, as 65,520 does float16.

    Raises
    ------
    ValueError
        For another dtype, another name in `kept`, or positions that are no numbers.

    Examples
    --------
    bfloat16 cannot tell position 257 from 256, which the fastest pair takes for 1 rad:

    >>> import torch
    >>> from xpos_viz import rope
    >>> table_error(rope(4), [256, 257], torch.bfloat16, kept="positions")
    tensor([[0.0000, 0.0000],
            [0.9589, 0.0100]], dtype=torch.float64)
    """
    _check_dtype(dtype)
    if kept not in KEPT:
        raise ValueError(f"unknown part {kept!r} in kept; use one of: {', '.join(KEPT)}.")
    theta, n = encoding.theta, real_positions(positions, "positions").reshape(-1)
    ones = torch.ones(len(n), theta.shape[-1], dtype=torch.complex128)
    columns = torch.view_as_real(ones).flatten(-2)
    turned = turn(columns, 1j * theta, n, "interleaved", columns.shape[-1])
    exact = torch.view_as_complex(turned.reshape(*turned.shape[:-1], -1, 2))
    return (KEPT[kept](theta[..., None, :], n[:, None], dtype) - exact).abs()


def accuracy_table(
    encoding: Encoding,
    lengths: Sequence[int] = (512, 2048, 8192),
    dtypes: Sequence[torch.dtype] = DTYPES,
    kept: Sequence[str] = tuple(KEPT),
) -> pd.DataFrame:
    r"""The largest error of a rotation table by dtype, part kept in it, and length.

    Parameters
    ----------
    encoding
        The encoding.
    lengths
        Lengths L, tokens: positions are 0 … L−1.
    dtypes, kept
        As in :func:`table_error`.

    Returns
    -------
    DataFrame
        Columns dtype, kept, length (tokens) and error: the largest :func:`table_error` of any
        head, position and pair, 0 to 2 without a unit, in rad while it is small.

    Raises
    ------
    ValueError
        As :func:`table_error`, or for a length that is no integer ≥ 1.

    Examples
    --------
    >>> import torch
    >>> from xpos_viz import rope
    >>> accuracy_table(rope(64), [512, 8192], [torch.bfloat16], ["theta"]).round(2)
          dtype   kept  length  error
    0  bfloat16  theta     512   0.22
    1  bfloat16  theta    8192   2.00
    """
    for length in lengths:
        check_whole("a length", length, 1, "use 512.")
    rows: list[tuple[str, str, int, float]] = []
    for dtype, part in product(dtypes, kept):
        worst = _worst(encoding, max(lengths, default=0), dtype, part)
        rows += [(_name(dtype), part, length, float(worst[:length].max())) for length in lengths]
    return pd.DataFrame(rows, columns=["dtype", "kept", "length", "error"])


def _worst(
    encoding: Encoding, length: int, dtype: torch.dtype, kept: str
) -> Float[Tensor, " tokens"]:
    """The largest error at each position, over heads and pairs."""
    parts = [torch.empty(0, dtype=torch.float64)]
    for start in range(0, length, _TOKENS):
        positions = range(start, min(start + _TOKENS, length))
        errors = table_error(encoding, positions, dtype, kept=kept).amax(-1)
        parts.append(errors.reshape(-1, len(positions)).amax(0))
    return torch.cat(parts)


def _log_limit(dtype: torch.dtype) -> float:
    """Ln of where rounding goes to infinity: half a unit beyond the largest number."""
    _check_dtype(dtype)
    limits = torch.finfo(dtype)
    return math.log(limits.max) + math.log1p(limits.eps / 4 / (1 - limits.eps / 2))


def _log_size(largest: float, dtype: torch.dtype) -> float:
    """Ln |k|max, at least 0, if the dtype holds such a key."""
    if not 0 < largest <= torch.finfo(dtype).max:
        raise ValueError(
            f"largest must be a number > 0 that {_name(dtype)} holds, got {largest!r}; "
            "use the largest modulus of a pair, such as 1.0."
        )
    return max(0.0, math.log(largest))


def _check_dtype(dtype: torch.dtype) -> None:
    """Raise ValueError unless queries and keys may have this dtype."""
    if dtype not in DTYPES:
        legal = ", ".join(_name(each) for each in DTYPES)
        raise ValueError(f"dtype must be one of {legal}, got {dtype}; use torch.float32.")


def _name(dtype: torch.dtype) -> str:
    """A dtype's name without its package."""
    return str(dtype).removeprefix("torch.")

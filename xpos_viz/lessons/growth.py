r"""The other side: where XPos grows, and where its factors leave the numbers of a computer."""

import math

import numpy as np
import torch
from torch import Tensor

from xpos_viz.attention import attention_logits, attention_weights
from xpos_viz.encoding import xpos
from xpos_viz.entry import DTYPES
from xpos_viz.kernel import apply_encoding, attention_scores, lag_response
from xpos_viz.lessons.model import Chapter, Control, Lines, Matrix, Seen, Step
from xpos_viz.lessons.toy import DECAY, LIMIT, XPOS, K, Q
from xpos_viz.precision import centred_length, growth, largest_position

FASTER = DECAY.replace(scale_base=3.0)
"""Pairs that are not turned, and fade within a few tokens."""

HALF = Q.half()
"""The query, and the key, of each token in float16."""

USUAL = xpos(64)
LAST = 8192.0
"""Last token of the text of the last step."""

PLACES = torch.arange(0, LAST + 1, 64, dtype=torch.float64)

_LARGEST = torch.finfo(torch.float16).max
_SHIFTS = (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 53.0, 60.0, 80.0)
_BASES = (64.0, 256.0, 512.0, 1024.0, 2048.0)
_ORIGINS = (0.0, 2048.0, 4096.0, 6144.0, 8192.0)
_FAR = np.logspace(1, 7, 601)


def logits(mask: str) -> Tensor:
    """What enters the softmax, with or without a mask."""
    return attention_logits(attention_scores(Q, K, FASTER), FASTER, mask=mask)


def _side(mask: str) -> Seen:
    """All logits that are not masked, and what the first query makes of them."""
    seen = logits(mask)
    weights = attention_weights(seen)
    numbers = {"mask": mask, "own": float(seen[0, 0]), "after": float(seen[0, 5])}
    numbers |= {"itself": float(weights[0, 0]), "last": float(weights[0, 5])}
    return Seen(Matrix(seen.masked_fill(seen == -math.inf, math.nan).numpy(), 6.0), numbers)


def in_float16(start: float) -> Tensor:
    """Scores by both factors in float16, of six tokens from that position on."""
    return torch.einsum("md,nd->mn", *apply_encoding(HALF, HALF, XPOS, origin=-start))


def _overflow(start: float) -> Seen:
    """The scores that float16 gives, how many are numbers, and how far it reaches."""
    seen = in_float16(start).double()
    numbers = {"start": start, "end": start + 5, "lost": float((~seen.isfinite()).sum())}
    numbers |= {"largest": _LARGEST, "reach": float(largest_position(XPOS, torch.float16))}
    numbers["cells"] = float(seen.numel())
    numbers["factor"] = float(lag_response(XPOS, -(start + 5)).abs()[0])
    return Seen(Matrix(seen.numpy(), LIMIT), numbers)


def reaches(scale_base: float) -> Tensor:
    """The last position of a key in float16, bfloat16, float32 and float64."""
    return torch.tensor([largest_position(xpos(64, scale_base=scale_base), d) for d in DTYPES])


def _formats(scale_base: float) -> Seen:
    """The largest factor of a key, and where it leaves each format."""
    digits = growth(xpos(64, scale_base=scale_base)) * _FAR / math.log(10)
    half, brain, single, double = reaches(scale_base).tolist()
    ends = {dtype: math.log10(torch.finfo(dtype).max) for dtype in DTYPES}
    marks = {
        "half": (float(half), ends[torch.float16]),
        "single": (float(single), ends[torch.float32]),
        "double": (float(double), ends[torch.float64]),
    }
    numbers = {"scale_base": scale_base, "half_reach": float(half), "brain_reach": float(brain)}
    numbers |= {"single_reach": float(single), "double_reach": float(double)}
    numbers["ratio"] = brain / half
    return Seen(
        Lines(_FAR, {"digits": digits}, marks, logarithmic=True, limits=(0.0, 330.0)), numbers
    )


def largest(origin: float) -> Tensor:
    """The largest factor of any query or key of a text that is counted from an origin."""
    return lag_response(USUAL, -(PLACES - origin).abs()).abs().max()


def _origin(origin: float) -> Seen:
    """The factors of queries and keys along a text, and where float16 ends."""
    query = lag_response(USUAL, PLACES - origin).abs()[:, 0]
    key = lag_response(USUAL, origin - PLACES).abs()[:, 0]
    end = torch.full_like(PLACES, _LARGEST)
    numbers = {"origin": origin, "last": LAST, "end": _LARGEST}
    numbers |= {"largest": float(largest(origin))}
    numbers |= {"start": float(largest_position(USUAL, torch.float16) + 1)}
    numbers |= {"centred": float(centred_length(USUAL, torch.float16))}
    held = "fits" if largest(origin) <= _LARGEST else "over"
    lines = {"query": query.numpy(), "key": key.numpy(), "limit": end.numpy()}
    shown = Lines(PLACES.numpy(), lines, logarithmic_y=True, limits=(1e-9, 1e10))
    return Seen(shown, numbers | {"held": held})


GROWTH = Chapter(
    "growth",
    (
        Step(
            "side",
            right="b",
            control=Control(("none", "causal"), "none"),
            see=_side,
            formula=r"\zeta_i^{(m-n)/B}=\zeta_i^{-|m-n|/B}\;>\;1\qquad(m<n)",
            line=logits,
            parts=(attention_logits,),
            families=("decay",),
        ),
        Step(
            "overflow",
            right="a",
            control=Control(_SHIFTS, 50.0),
            see=_overflow,
            formula=r"q'_m=q\,e^{\lambda m},\qquad k'_n=k\,e^{-\overline{\lambda}n},"
            r"\qquad\left|e^{-\overline{\lambda}n}\right|=\zeta_i^{-n/B}",
            line=in_float16,
            parts=(apply_encoding,),
            families=("xpos",),
        ),
        Step(
            "formats",
            right="a",
            control=Control(_BASES, 512.0),
            see=_formats,
            formula=r"\role{0}{\log_{10}\zeta_0^{-n/B}}=\frac{n}{B}\log_{10}\frac{1+\gamma}{\gamma}\le\log_{10}M",
            line=reaches,
            parts=(growth, largest_position),
            families=("xpos",),
        ),
        Step(
            "origin",
            right="b",
            control=Control(_ORIGINS, 4096.0),
            see=_origin,
            formula=r"\role{0}{\zeta_0^{(m-o)/B}}\cdot\role{1}{\zeta_0^{-(n-o)/B}}=\zeta_0^{(m-n)/B},\qquad\zeta_0^{-|n-o|/B}\le\role{2}{M}",
            line=largest,
            parts=(lag_response, centred_length),
            families=("xpos",),
        ),
    ),
)

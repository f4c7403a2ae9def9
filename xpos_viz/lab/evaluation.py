"""What it loses: bits per byte far beyond the training length, by place and by mask.

All lengths read the same bytes. The mean of a long text hides a loss beyond the training length,
since early bytes, which know little of what is before them, become few; so each byte is also
compared with itself as a window of the training length shows it (:func:`paired_excess`).
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.model import Setting, Transformer
from xpos_viz.masks import Mask

WINDOWS = 100
"""How many texts are read, where there are as many."""

_BYTES = 1 << 13  # that are read at once


@dataclass(frozen=True)
class Mean:
    """A mean over texts, and its standard error: texts are independent, bytes of one are not."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Float[Tensor, "texts bytes"]) -> "Mean":
        """Return the mean of all bytes, and its error by the spread of the texts' means."""
        texts = values.double().mean(-1)
        error = texts.std() / math.sqrt(len(texts)) if len(texts) > 1 else math.nan
        return cls(float(texts.mean()), float(error))


def windows(corpus: Corpus, setting: Setting, most: int = WINDOWS) -> Int[Tensor, "texts bytes"]:
    """Return texts of held-out bytes, (texts, 16 L + 1), evenly spread over them.

    Raises
    ------
    ValueError
        If there are too few bytes for one text.
    """
    size = setting.longest + 1
    corpus.check(0, size)
    count = min(most, len(corpus.held_out) // size)
    last = len(corpus.held_out) - size
    starts = torch.linspace(0, last, count, dtype=torch.float64).long()[:, None]
    return corpus.held_out[starts + torch.arange(size)].long()


def reading(
    model: Transformer,
    texts: Int[Tensor, "texts bytes"],
    length: int,
    mask: Mask | str = "causal",
) -> Float[Tensor, "texts places"]:
    """Return what each byte costs a model that reads texts of some length, in bits.

    Parameters
    ----------
    model
        What reads.
    texts
        From :func:`windows`, (texts, bytes + 1).
    length
        Tokens that are read at once: texts are cut into such pieces.
    mask
        What each byte may see of its piece.

    Returns
    -------
    Tensor
        Bits per byte of all but the first byte, (texts, bytes), float32.

    Raises
    ------
    ValueError
        If the texts cannot be cut into such pieces.
    """
    places = texts.shape[-1] - 1
    if length < 1 or places % length:
        raise ValueError(f"length must divide {places}, got {length}; use a power of two.")
    pieces, targets = (part.reshape(-1, length) for part in (texts[:, :-1], texts[:, 1:]))
    return _costs(model, pieces, targets, mask).reshape(len(texts), places)


def windowed(
    model: Transformer, texts: Int[Tensor, "texts bytes"], length: int
) -> Float[Tensor, "texts places"]:
    """Return what each byte costs a model that never reads more than some length, in bits.

    A window of that length slides over the texts by half of it, and is read as a text of its own:
    each byte beyond the first has half a window to a whole one before it.

    Parameters
    ----------
    model
        What reads.
    texts
        (texts, bytes + 1), of any length.
    length
        Of a window, at least 2; the training length shows a model what it is used to.

    Returns
    -------
    Tensor
        Bits per byte of all but the first byte, (texts, bytes), float32; the first window costs
        what it costs :func:`reading`.

    Raises
    ------
    ValueError
        If the window cannot be halved.
    """
    if length < 2:
        raise ValueError(
            f"a window must have at least 2 bytes, got {length}; use the training length."
        )
    places, step = texts.shape[-1] - 1, length // 2
    rest = max(length - places, (length - places) % step)  # is not read by anything before it
    pieces, targets = (
        pad(part, (0, rest)).unfold(-1, length, step).flatten(0, 1)
        for part in (texts[:, :-1], texts[:, 1:])
    )
    costs = _costs(model, pieces, targets, "causal").unflatten(0, (len(texts), -1))
    fresh = costs[..., -step:].flatten(1)
    return torch.cat([costs[:, 0, :-step], fresh], dim=-1)[:, :places]


def paired_excess(
    whole: Float[Tensor, "texts places"], near: Float[Tensor, "texts places"], beyond: int
) -> Mean:
    """Return what each byte beyond the training length costs more than in a window of it.

    Parameters
    ----------
    whole, near
        From :func:`reading` and :func:`windowed` of the same texts by the same model.
    beyond
        L, the training length, tokens.
    """
    return Mean.of((whole - near)[:, beyond:])


@torch.no_grad()
def _costs(model: Transformer, pieces: Tensor, targets: Tensor, mask: Mask | str) -> Tensor:
    """What the next bytes of pieces cost, a few pieces at once; all are (pieces, bytes)."""
    some = max(1, _BYTES // pieces.shape[-1])
    costs = [
        cross_entropy(model(x, mask).mT, y, reduction="none")
        for x, y in zip(pieces.split(some), targets.split(some), strict=True)
    ]
    return torch.cat(costs) / math.log(2)

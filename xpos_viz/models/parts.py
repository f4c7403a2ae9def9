"""What is kept of a layer that was heard, once it is known to be what its configuration says."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from xpos_viz.encoding import Encoding, nope
from xpos_viz.kernel import apply_encoding
from xpos_viz.masks import Mask
from xpos_viz.models.families import TESTED, Family
from xpos_viz.models.library import library
from xpos_viz.models.listening import Heard
from xpos_viz.models.reading import Reading
from xpos_viz.models.rotary import encoding_of, mask_of


@dataclass(frozen=True, eq=False)
class Part:
    """What is kept of one layer.

    Parameters
    ----------
    q, k
        (heads, tokens, d), without padding.
    encoding, mask, scale, softcap
        What its attention does to them, as in :class:`xpos_viz.inputs.capture.Capture`.
    """

    q: Tensor
    k: Tensor
    encoding: Encoding
    mask: str
    scale: float
    softcap: float


def part_of(
    heard: Heard,
    config: Any,  # noqa: ANN401 - a configuration of transformers
    family: Family,
    reading: Reading,
    where: str,
) -> Part:
    """Return what is kept of a layer.

    Parameters
    ----------
    heard
        What its attention was called with.
    config, family
        The configuration of the text model, and its row of the table.
    reading
        What the model reads.
    where
        What a message calls the layer.

    Raises
    ------
    ValueError
        If the layer turns or masks otherwise than its configuration says, or its vectors are
        not finite.
    """
    kept, at = reading.kept, reading.positions.double()
    q, k, turned_q, turned_k = (
        x[0, :, kept].cpu() for x in (heard.q, heard.k, heard.turned_q, heard.turned_k)
    )
    _check_finite(turned_q, turned_k, where)
    width = q.shape[-1]
    still = heard.stretch is None
    encoding = nope(width) if still else encoding_of(config, heard.layer, width, reading.reach)
    stretch = _stretch(heard, encoding)
    q, k = (_alike(x, encoding.rotary_width, stretch) for x in (q, k))
    turned = apply_encoding(
        q, k, encoding, query_positions=at, key_positions=at, layout=family.layout
    )
    for mine, own in zip(turned, (turned_q, turned_k), strict=True):
        _check_turned(mine * stretch, own, encoding, float(at.abs().max()), where)
    mask = mask_of(config, heard.layer)
    expected = Mask.of(mask).visible(at, at)
    if not torch.equal(_seen(heard.mask, kept), expected):
        raise ValueError(f"{where} has another mask than {mask}; {_way_out()}")
    scale = heard.scale * stretch**2 / float(encoding.temperature)
    return Part(q, k, encoding, mask, scale, heard.softcap)


def _check_finite(q: Tensor, k: Tensor, where: str) -> None:
    """Raise ValueError unless all entries are finite."""
    if not all(bool(x.isfinite().all()) for x in (q, k)):
        raise ValueError(
            f"{where} has queries or keys that are not finite; use float32, or other weights."
        )


def _stretch(heard: Heard, encoding: Encoding) -> float:
    """What vectors are multiplied by: that of the encoding, unless the model has its own."""
    usual = float(encoding.temperature) ** 0.5
    if heard.stretch is None or abs(heard.stretch - usual) <= 8 * _eps(heard.q) * usual:
        return usual
    return heard.stretch


def _alike(x: Tensor, width: int, stretch: float) -> Tensor:
    """Vectors whose columns that are not turned may be stretched like the others."""
    if stretch == 1:
        return x
    return torch.cat([x[..., :width], x[..., width:] / stretch], -1)


def _check_turned(mine: Tensor, own: Tensor, encoding: Encoding, far: float, where: str) -> None:
    """Raise ValueError unless the model turned its vectors as the encoding does."""
    error = float((mine.double() - own.double()).abs().max() / own.double().abs().max())
    allowed = 8 * _eps(own) + 2 * torch.finfo(torch.float32).eps * far  # of float32 angles
    if error > allowed:
        raise ValueError(
            f"{where} turns its queries and keys otherwise than {encoding!r:.200}, by {error:.1g} "
            f"of the largest; {_way_out()}"
        )


def _seen(mask: Tensor | None, kept: Tensor) -> Tensor:
    """Which keys each query sees, without padding; a mask is added to the logits."""
    kept = kept.cpu()
    if mask is None:
        return torch.ones(int(kept.sum()), int(kept.sum()), dtype=torch.bool)
    mask = mask[0, 0].cpu()
    return (mask if mask.dtype == torch.bool else mask == 0)[kept][:, kept]


def _way_out() -> str:
    """What to do about a model that differs from its configuration."""
    here = library("transformers").__version__
    return f"use transformers {TESTED}, with which this was tested (here is {here})."


def _eps(x: Tensor) -> float:
    """The rounding unit of a tensor's dtype."""
    return torch.finfo(x.dtype).eps

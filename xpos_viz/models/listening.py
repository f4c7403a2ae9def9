"""Listen to the attention of a model: what enters the rotary embedding, and what comes out.

The modules of transformers call two functions of their own by name: `apply_rotary_pos_emb`,
which turns queries and keys, and `eager_attention_forward`, which takes the result with mask,
factor and cap. For the time of one run both are replaced by functions that listen and then do
the same.
"""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import Any

import torch
from torch import Tensor

from xpos_viz.models.families import Call, Family

_ALONE = Lock()  # modules are shared by all threads


@dataclass(frozen=True, eq=False)
class Heard:
    """What the attention of one layer was called with; vectors are (batch, heads, tokens, d).

    Parameters
    ----------
    layer
        Its number.
    q, k
        Before the rotary embedding; those after it where the layer has none.
    turned_q, turned_k
        After it.
    stretch
        What the rotary embedding multiplies by, beside turning; None where there is none.
    mask
        What is added to the logits, or None.
    scale, softcap
        The factor on the scores, and the cap on the logits, 0 for none.
    """

    layer: int
    q: Tensor
    k: Tensor
    turned_q: Tensor
    turned_k: Tensor
    stretch: float | None
    mask: Tensor | None
    scale: float
    softcap: float


@contextmanager
def listening(model: Any, family: Family, tell: Callable[[Heard], None]) -> Iterator[None]:  # noqa: ANN401
    """Tell what each layer of a model is called with, in order, while the context lasts."""
    layer = next(part for part in model.modules() if hasattr(part, "layer_idx"))
    code: Any = sys.modules[type(layer).__module__]
    calls: list[Call] = []
    here = get_ident()  # other threads may run models meanwhile

    def turn_aloud(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        if get_ident() == here:
            calls.append(args)
        return turn(*args, **options)

    def attend_aloud(layer: Any, q: Tensor, k: Tensor, v: Tensor, mask: Any, **options: Any) -> Any:  # noqa: ANN401
        if get_ident() == here:
            heard = _heard(family, calls, q, k)
            calls.clear()
            softcap = options.get("softcap") or 0.0
            tell(Heard(layer.layer_idx, *heard, mask, options["scaling"], softcap))
        return attend(layer, q, k, v, mask, **options)

    with _ALONE:  # what is replaced is the module's own, never what another thread put there
        turn, attend = code.apply_rotary_pos_emb, code.eager_attention_forward
        code.apply_rotary_pos_emb, code.eager_attention_forward = turn_aloud, attend_aloud
        try:
            yield
        finally:
            code.apply_rotary_pos_emb, code.eager_attention_forward = turn, attend


def _heard(
    family: Family, calls: list[Call], turned_q: Tensor, turned_k: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, float | None]:
    """Queries and keys before and after the rotary embedding, and how it stretches."""
    if not calls:
        return turned_q, turned_k, turned_q, turned_k, None
    q, k = family.turned(calls)
    whole_q, whole_k = (
        torch.cat([before, after[..., before.shape[-1] :]], -1)
        for before, after in ((q, turned_q), (k, turned_k))
    )
    return whole_q, whole_k, turned_q, turned_k, _stretch(*calls[0][-2:])


def _stretch(cos: Tensor, sin: Tensor) -> float:
    """The length of (cos, sin), which is 1 if the two only turn."""
    return math.hypot(float(cos.flatten()[0]), float(sin.flatten()[0]))

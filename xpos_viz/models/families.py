"""Which models can be captured: how the attention of each family applies its rotary embedding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from torch import Tensor

from xpos_viz.entry import Layout

TESTED = "5.24.0"
"""The version of transformers that the table was tested with."""

Call = tuple[Tensor, ...]


def together(calls: Sequence[Call]) -> tuple[Tensor, Tensor]:
    """Queries and keys (batch, heads, tokens, columns) of one call f(q, k, cos, sin)."""
    ((q, k, *_),) = calls
    return q, k


def keys_first(calls: Sequence[Call]) -> tuple[Tensor, Tensor]:
    """Queries and keys of two calls f(x, sin, cos) on (batch, tokens, heads, columns)."""
    (k, *_), (q, *_) = calls
    return q.transpose(1, 2), k.transpose(1, 2)


@dataclass(frozen=True)
class Family:
    """A row of the table.

    Parameters
    ----------
    layout
        How the columns that are turned form pairs.
    turned
        Queries and keys, from the calls of `apply_rotary_pos_emb` by one layer.
    """

    layout: Layout
    turned: Callable[[Sequence[Call]], tuple[Tensor, Tensor]] = together


_HALF = (
    *("llama", "mistral", "mixtral", "ministral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe"),
    *("gemma", "gemma2", "gemma3_text", "phi", "phi3", "phimoe", "gpt_neox", "granite"),
    *("olmo", "olmo2", "olmo3", "smollm3", "stablelm", "starcoder2", "exaone4", "arcee"),
    *("apertus", "seed_oss", "bitnet"),
)
_INTERLEAVED = ("cohere", "cohere2", "glm", "glm4", "helium", "ernie4_5")

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        **dict.fromkeys(_HALF, Family("half")),
        **dict.fromkeys(_INTERLEAVED, Family("interleaved")),
        **dict.fromkeys(("gptj", "codegen"), Family("interleaved", keys_first)),
    }
)
"""The families by the `model_type` of their configuration."""


def family_of(config: Any) -> Family:  # noqa: ANN401 - transformers is not imported here
    """Return the row of a configuration's family.

    Raises
    ------
    ValueError
        For a family that is not in the table.
    """
    if config.model_type not in FAMILIES:
        raise ValueError(
            f"models of the family {config.model_type!r:.40} cannot be captured; use one of: "
            f"{', '.join(sorted(FAMILIES))} (tested with transformers {TESTED})."
        )
    return FAMILIES[config.model_type]

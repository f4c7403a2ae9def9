"""What a model reads: a text and its tokens, or token numbers that were made elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from xpos_viz.inputs.labels import pieces

Read = str | Mapping[str, Any]
"""A text, or what a tokenizer made of one: `input_ids`, and, if they are not all ones and
0, 1, 2 …, `attention_mask` and `position_ids`."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Tokens of one text.

    Parameters
    ----------
    inputs
        What the model is called with: input_ids, attention_mask and position_ids, each (1, L).
    tokens
        The piece of text of each token that is no padding, or none.
    text
        The text, or "".
    """

    inputs: dict[str, Tensor]
    tokens: tuple[str, ...]
    text: str

    @property
    def kept(self) -> Tensor:
        """The places of all tokens that are no padding, (L,), bool."""
        return self.inputs["attention_mask"][0].bool()

    @property
    def positions(self) -> Tensor:
        """Positions of the tokens that are no padding, tokens."""
        return self.inputs["position_ids"][0, self.kept]

    @property
    def reach(self) -> int:
        """The last position and one more, padding included."""
        return 1 + int(self.inputs["position_ids"].max())

    @property
    def length(self) -> int:
        """How many tokens the model reads, with padding."""
        return self.inputs["input_ids"].shape[1]


def read(text: Read, tokenizer: Any) -> Reading:  # noqa: ANN401 - a tokenizer of transformers
    """Return the tokens of a text.

    Raises
    ------
    ValueError
        For a text without tokens, or without a tokenizer; or for token numbers that are not
        those of one text.
    """
    if isinstance(text, Mapping):
        return _numbered(text, tokenizer)
    if tokenizer is None:
        raise ValueError(
            "a text needs a tokenizer, and none was given with the model; use tokenizer=…, "
            "or a mapping with input_ids."
        )
    found = tokenizer(text, return_offsets_mapping=tokenizer.is_fast)
    ids = torch.tensor([found["input_ids"]], dtype=torch.long)
    if ids.numel() == 0:
        raise ValueError(f"a text must have at least one token, got {text!r:.40}; use a sentence.")
    if not tokenizer.is_fast:
        return Reading(_inputs(ids), _decoded(ids[0], tokenizer), text)
    words = pieces(text, _joined(text, found["offset_mapping"]))
    special = set(tokenizer.all_special_ids)
    named = tokenizer.convert_ids_to_tokens(found["input_ids"])
    tokens = (
        name if number in special else word
        for name, number, word in zip(named, found["input_ids"], words, strict=True)
    )
    return Reading(_inputs(ids), tuple(tokens), text)


def _numbered(given: Mapping[str, Any], tokenizer: Any) -> Reading:  # noqa: ANN401
    """The tokens with given numbers."""
    rows = {
        name: torch.as_tensor(given[name]).long()
        for name in ("input_ids", "attention_mask", "position_ids")
        if given.get(name) is not None
    }
    shapes = {name: tuple(row.shape) for name, row in rows.items()}
    sizes = {shape[-1:] for shape in shapes.values()}
    one_row = all(len(shape) == 1 or shape[:-1] == (1,) for shape in shapes.values())
    if "input_ids" not in rows or len(sizes) > 1 or not one_row or rows["input_ids"].numel() == 0:
        raise ValueError(
            "tokens must be input_ids of one text, with an attention_mask and position_ids of the "
            f"same shape (1, tokens) if any, got {shapes}; use tokenizer(text, "
            "return_tensors='pt')."
        )
    inputs = _inputs(**{name: row.reshape(1, -1) for name, row in rows.items()})
    numbers = inputs["input_ids"][0, inputs["attention_mask"][0].bool()]
    return Reading(inputs, _decoded(numbers, tokenizer) if tokenizer else (), "")


def _inputs(
    input_ids: Tensor, attention_mask: Tensor | None = None, position_ids: Tensor | None = None
) -> dict[str, Tensor]:
    """What a model is called with; what is not given has its usual value."""
    usual = torch.arange(input_ids.shape[1])[None]
    return {
        "input_ids": input_ids,
        "attention_mask": torch.ones_like(input_ids) if attention_mask is None else attention_mask,
        "position_ids": usual if position_ids is None else position_ids,
    }


def _decoded(numbers: Tensor, tokenizer: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Tokens as the tokenizer writes them one by one."""
    return tuple(tokenizer.decode([number]) for number in numbers.tolist())


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans, each with the white space in front of it."""
    joined, end = [], 0
    for start, stop in spans:
        alone = start >= end and text[end:start].isspace()
        joined.append((end if alone else start, stop))
        end = max(end, stop)
    return joined

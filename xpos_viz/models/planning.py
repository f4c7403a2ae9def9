"""Take a model's queries and keys on a text, with all that its own attention does to them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch

from xpos_viz.entry import Layout
from xpos_viz.inputs.capture import Capture
from xpos_viz.inputs.checks import row
from xpos_viz.models.families import family_of
from xpos_viz.models.listening import Heard, listening
from xpos_viz.models.loading import Model, Source, source_of
from xpos_viz.models.memory import Estimate, estimate
from xpos_viz.models.parts import Part, part_of
from xpos_viz.models.reading import Read, Reading, read
from xpos_viz.models.telling import Progress

_LOADED = 0.5  # share of the work that is done when a model is loaded


class _EnoughError(Exception):
    """Raised inside of a model when the last layer that is wanted was heard."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A capture that is about to be made: everything is known but its numbers.

    Parameters
    ----------
    source
        Where the model comes from.
    config
        The configuration of its text model.
    width
        Columns of a head.
    layers
        The numbers of the layers that are kept, ascending.
    reading
        The tokens.
    estimate
        The memory that it needs.
    """

    source: Source
    config: Any
    width: int
    layers: tuple[int, ...]
    reading: Reading
    estimate: Estimate = field(repr=False)

    def run(self, progress: Progress | None = None) -> Capture:
        """Make the capture.

        Parameters
        ----------
        progress
            What is told the share of the work that is done; what it raises ends the work, also
            while weights are loaded.

        Raises
        ------
        MemoryError
            If it needs more memory than there is.
        ValueError
            If the attention does something else than this package knows of.
        """
        self.estimate.check()
        report = progress or (lambda _: None)
        model = self.source.load(lambda share: report(_LOADED * share))
        report(_LOADED)
        family, name = family_of(self.config), self.source.name
        parts: dict[int, Part] = {}

        def hear(heard: Heard) -> None:
            if heard.layer in self.layers:
                where = f"layer {heard.layer} of {name} ({self.config.model_type})"
                parts[heard.layer] = part_of(heard, self.config, family, self.reading, where)
            report(_LOADED + (1 - _LOADED) * (heard.layer + 1) / (self.layers[-1] + 1))
            if heard.layer == self.layers[-1]:
                raise _EnoughError

        inputs = {name: row.to(model.device) for name, row in self.reading.inputs.items()}
        with (
            listening(model, family, hear),
            _as_it_answers(model),
            suppress(_EnoughError),
            torch.no_grad(),
        ):
            model.base_model(**inputs, use_cache=False)
        return self._capture([parts[layer] for layer in self.layers], family.layout)

    def _capture(self, parts: Sequence[Part], layout: Layout) -> Capture:
        """The parts as one."""
        positions = self.reading.positions.double()
        return Capture(
            q=torch.stack([part.q for part in parts]),
            k=torch.stack([part.k for part in parts]),
            layers=self.layers,
            layout=layout,
            tokens=self.reading.tokens,
            query_positions=positions,
            key_positions=positions,
            encodings=tuple(part.encoding for part in parts),
            masks=tuple(part.mask for part in parts),
            scales=tuple(part.scale for part in parts),
            softcap=parts[0].softcap,
            model=self.source.name,
            text=self.reading.text,
        )


def capture(
    model: object,
    text: Read,
    *,
    layers: Sequence[int] | None = None,
    tokenizer: object = None,
    dtype: str = "float32",
    progress: Progress | None = None,
) -> Capture:
    r"""Return a model's queries and keys on a text, before its rotary embedding.

    Where the model has norms of queries and keys, they are applied. What else its attention
    does is told beside them, so that :meth:`Capture.weights` are its own weights.

    Parameters
    ----------
    model
        A folder, a `.gguf` file, a name on the Hugging Face Hub, or a model of transformers, of
        one of the families in :data:`xpos_viz.models.FAMILIES`.
    text
        A text; or what a tokenizer made of one, where tokens that the `attention_mask` hides,
        padding, are left out.
    layers
        The numbers of the layers to keep; None is all of them.
    tokenizer
        The tokenizer; None is the one that lies with the model.
    dtype
        What the weights are loaded as: "float32", "bfloat16" or "float16". A model that is
        loaded keeps its own.
    progress
        What is told the share of the work that is done.

    Returns
    -------
    Capture
        (layers, heads, tokens, d), in the dtype of the model.

    Raises
    ------
    ValueError
        For a model that cannot be read or is of no family in the table, for layers that it does
        not have, for a text without tokens, or if its attention does something else than its
        configuration says.
    MemoryError
        If this needs more memory than there is; nothing has been loaded then.

    Notes
    -----
    Some rotary embeddings also stretch what they turn (YaRN, LongRoPE). That is the temperature
    of the encoding, times whatever it does not account for, which is in `scales`. It falls on the
    columns that are turned alone; where there are others, those are divided by it here, so that
    all of them can be multiplied by it.
    """
    return plan(model, text, layers=layers, tokenizer=tokenizer, dtype=dtype).run(progress)


def plan(
    model: object,
    text: Read,
    *,
    layers: Sequence[int] | None = None,
    tokenizer: object = None,
    dtype: str = "float32",
) -> Plan:
    """Return what :func:`capture` is about to do, with the memory that it needs.

    Parameters
    ----------
    model, text, layers, tokenizer, dtype
        As in :func:`capture`.

    Raises
    ------
    ValueError
        As :func:`capture`.
    """
    source = source_of(model, tokenizer, dtype)
    config = source.config.get_text_config()
    family_of(config)
    wanted = _checked_layers(layers, config.num_hidden_layers)
    reading = read(text, source.tokenizer)
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    needed = estimate(
        weights=source.weights(),
        size=source.dtype.itemsize,
        heads=heads,
        columns=(heads + key_heads) * width,
        layers=len(wanted),
        tokens=reading.length,
    )
    return Plan(source, config, width, wanted, reading, needed)


def _checked_layers(layers: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The numbers of the layers that are kept, ascending."""
    if layers is None:
        return tuple(range(count))
    legal, layers = range(count), row("layers", layers)
    if unknown := [layer for layer in layers if type(layer) is not int or layer not in legal]:
        raise ValueError(f"there is no layer {unknown[0]!r:.40}; use 0 to {count - 1}.")
    if not layers:
        raise ValueError(f"layers must be at least one, got none; use 0 to {count - 1}.")
    return tuple(sorted(set(layers)))


@contextmanager
def _as_it_answers(model: Model) -> Iterator[None]:
    """Without dropout or texts of before, and with attention that is written out."""
    training, attention = model.training, model.config._attn_implementation  # noqa: SLF001
    model.eval()
    model.set_attn_implementation("eager")
    for part in model.modules():  # dynamic NTK remembers the longest text, and turns as for that
        for name in [name for name in vars(part) if name.endswith("max_seq_len_cached")]:
            setattr(part, name, 0)
    try:
        yield
    finally:
        model.train(training)
        model.set_attn_implementation(attention)

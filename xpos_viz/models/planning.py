"""Take a model's queries and keys on a text, with all that its own attention does to them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import Layout
from xpos_viz.inputs.capture import Capture
from xpos_viz.kernel import apply_encoding
from xpos_viz.masks import Mask
from xpos_viz.models.families import TESTED, Family, family_of
from xpos_viz.models.library import library
from xpos_viz.models.listening import Heard, listening
from xpos_viz.models.loading import Model, Source, source_of
from xpos_viz.models.memory import Estimate, estimate
from xpos_viz.models.reading import Read, Reading, read
from xpos_viz.models.rotary import encoding_of, mask_of, still

Progress = Callable[[float], None]
"""What is told the share of the work that is done."""

_LOADED = 0.5  # share of the work that is done when a model is loaded


class _EnoughError(Exception):
    """Raised inside of a model when the last layer that is wanted was heard."""


@dataclass(frozen=True, eq=False)
class Part:
    """What is kept of one layer: q and k (heads, tokens, d), and what its attention does."""

    q: Tensor
    k: Tensor
    encoding: Encoding
    mask: str
    scale: float
    softcap: float


@dataclass(frozen=True, eq=False)
class Plan:
    """A capture that is about to be made: everything is known but its numbers.

    Parameters
    ----------
    source
        Where the model comes from.
    config
        The configuration of its text model.
    layers
        The numbers of the layers that are kept, ascending.
    reading
        The tokens.
    estimate
        The memory that it needs.
    """

    source: Source
    config: Any
    layers: tuple[int, ...]
    reading: Reading
    estimate: Estimate = field(repr=False)

    def run(self, progress: Progress | None = None) -> Capture:
        """Make the capture.

        Parameters
        ----------
        progress
            What is told the share of the work that is done.

        Raises
        ------
        MemoryError
            If it needs more memory than there is.
        ValueError
            If the attention does something else than this package knows of.
        """
        self.estimate.check()
        report = progress or (lambda _: None)
        model = self.source.load()
        report(_LOADED)
        parts: dict[int, Part] = {}

        def hear(heard: Heard) -> None:
            if heard.layer in self.layers:
                parts[heard.layer] = self._part(heard, family)
            report(_LOADED + (1 - _LOADED) * (heard.layer + 1) / (self.layers[-1] + 1))
            if heard.layer == self.layers[-1]:
                raise _EnoughError

        family = family_of(self.config)
        inputs = {name: row.to(model.device) for name, row in self.reading.inputs.items()}
        with (
            _as_it_answers(model),
            listening(model, family, hear),
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

    def _part(self, heard: Heard, family: Family) -> Part:
        """What is kept of a layer, once it is known to be what its configuration says."""
        kept, positions = self.reading.kept, self.reading.positions.double()
        q, k, turned_q, turned_k = (
            x[0, :, kept].cpu() for x in (heard.q, heard.k, heard.turned_q, heard.turned_k)
        )
        if heard.stretch is None:
            encoding = still(q.shape[-1])
        else:
            encoding = encoding_of(
                self.config,
                heard.layer,
                q.shape[-1],
                1 + int(self.reading.inputs["position_ids"].max()),
            )
        stretch = _stretch(heard, encoding)
        q, k = (_alike(x, encoding.rotary_width, stretch) for x in (q, k))
        mask = mask_of(self.config, heard.layer)
        turned = apply_encoding(
            q, k, encoding, query_positions=positions, key_positions=positions, layout=family.layout
        )
        far = float(positions.abs().max())
        for mine, own in zip(turned, (turned_q, turned_k), strict=True):
            _check_turned(mine * stretch, own, encoding, far, self._where(heard))
        _check_mask(mask, heard.mask, kept.cpu(), positions, self._where(heard))
        scale = heard.scale * stretch**2 / float(encoding.temperature)
        return Part(q, k, encoding, mask, scale, heard.softcap)

    def _where(self, heard: Heard) -> str:
        """Which layer of what is meant."""
        return f"layer {heard.layer} of {self.source.name} ({self.config.model_type})"


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
    config = source.config().get_text_config()
    family_of(config)
    wanted = _checked_layers(layers, config.num_hidden_layers)
    reading = read(text, source.tokenizer())
    heads = config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    key_heads = getattr(config, "num_key_value_heads", None) or heads
    needed = estimate(
        parameters=source.parameters(),
        size=source.dtype.itemsize,
        heads=heads,
        columns=(heads + key_heads) * width,
        layers=len(wanted),
        tokens=reading.length,
    )
    return Plan(source, config, wanted, reading, needed)


def _checked_layers(layers: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The numbers of the layers that are kept, ascending."""
    if layers is None:
        return tuple(range(count))
    legal = range(count)
    if unknown := [layer for layer in layers if type(layer) is not int or layer not in legal]:
        raise ValueError(f"there is no layer {unknown[0]!r:.40}; use 0 to {count - 1}.")
    if len(layers) == 0:
        raise ValueError(f"layers must be at least one, got none; use 0 to {count - 1}.")
    return tuple(sorted(set(layers)))


@contextmanager
def _as_it_answers(model: Model) -> Iterator[None]:
    """Without dropout, and with attention that is written out, while the context lasts."""
    training, attention = model.training, model.config._attn_implementation  # noqa: SLF001
    model.eval()
    model.set_attn_implementation("eager")
    try:
        yield
    finally:
        model.train(training)
        model.set_attn_implementation(attention)


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
    if not error <= allowed:
        raise ValueError(
            f"{where} turns its queries and keys otherwise than {encoding!r:.200}, by {error:.1g} "
            f"of the largest; {_way_out()}"
        )


def _check_mask(
    word: str, mask: Tensor | None, kept: Tensor, positions: Tensor, where: str
) -> None:
    """Raise ValueError unless the model hides the keys that the mask's word says."""
    expected = Mask.of(word).visible(positions, positions)
    own = torch.ones_like(expected) if mask is None else _seen(mask[0, 0].cpu())[kept][:, kept]
    if not torch.equal(own, expected):
        raise ValueError(f"{where} has another mask than {word}; {_way_out()}")


def _seen(mask: Tensor) -> Tensor:
    """Which cells a mask leaves."""
    return mask if mask.dtype == torch.bool else mask == 0


def _way_out() -> str:
    """What to do about a model that differs from its configuration."""
    here = library("transformers").__version__
    return f"use transformers {TESTED}, with which this was tested (here is {here})."


def _eps(x: Tensor) -> float:
    """The rounding unit of a tensor's dtype."""
    return torch.finfo(x.dtype).eps

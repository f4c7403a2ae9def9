"""The encoding and the mask of a model's layer, read from its configuration."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xpos_viz.encoding import (
    Encoding,
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    rope,
    yarn_hf,
)

Config = Any
"""A configuration of transformers, which is not imported here."""

Given = Mapping[str, Any]
"""The rotary parameters of a layer, as a configuration has them."""


def _default(width: int, given: Given, _: Config, __: int) -> Encoding:
    """RoPE as it is."""
    return rope(width, base=given["rope_theta"])


def _linear(width: int, given: Given, _: Config, __: int) -> Encoding:
    """Position interpolation."""
    return interpolation(width, base=given["rope_theta"], factor=given["factor"])


def _dynamic(width: int, given: Given, config: Config, length: int) -> Encoding:
    """Dynamic NTK, for a text of that length."""
    return dynamic_ntk(
        width,
        base=given["rope_theta"],
        factor=given["factor"],
        train_length=config.max_position_embeddings,
        current_length=length,
    )


def _yarn(width: int, given: Given, config: Config, _: int) -> Encoding:
    """YaRN; its temperature is that of the registry."""
    return yarn_hf(
        width,
        base=given["rope_theta"],
        factor=_factor(given, config),
        train_length=given["original_max_position_embeddings"],
        low_turns=given.get("beta_slow") or 1.0,
        high_turns=given.get("beta_fast") or 32.0,
        truncate=int(given.get("truncate", True)),
    )


def _longrope(width: int, given: Given, config: Config, length: int) -> Encoding:
    """LongRoPE: one set of factors within the training length, another for longer texts."""
    trained = given["original_max_position_embeddings"]
    return longrope(
        width,
        base=given["rope_theta"],
        factors=tuple(given["long_factor" if length > trained else "short_factor"]),
        factor=max(_factor(given, config), 1.0),
        train_length=trained,
    )


def _llama3(width: int, given: Given, _: Config, __: int) -> Encoding:
    """The ramp of Llama 3."""
    return llama3(
        width,
        base=given["rope_theta"],
        factor=given["factor"],
        train_length=given["original_max_position_embeddings"],
        low_turns=given["low_freq_factor"],
        high_turns=given["high_freq_factor"],
    )


def _factor(given: Given, config: Config) -> float:
    """How many times longer texts may be than in training."""
    trained = given["original_max_position_embeddings"]
    return given.get("factor") or config.max_position_embeddings / trained


KINDS: Mapping[str, Callable[[int, Given, Config, int], Encoding]] = MappingProxyType(
    {
        "default": _default,
        "linear": _linear,
        "dynamic": _dynamic,
        "yarn": _yarn,
        "longrope": _longrope,
        "llama3": _llama3,
    }
)
"""Kinds of rotary embeddings by their `rope_type`: functions from the rotary width, parameters,
configuration and length of the text to an encoding of that width."""


def encoding_of(config: Config, layer: int, head_dim: int, length: int) -> Encoding:
    """Return the encoding of a layer that turns its queries and keys.

    Parameters
    ----------
    config
        The configuration of the text model.
    layer
        Its number.
    head_dim
        Width of its queries and keys; where fewer columns are turned, those are the encoding's
        `rotary_width`.
    length
        The last position of the text and one more, tokens: some encodings depend on it.

    Raises
    ------
    ValueError
        For a kind of rotary embedding that is not in :data:`KINDS`, or its parameters.
    """
    given = _given(config, layer)
    kind = given.get("rope_type", "default")
    if kind not in KINDS:
        raise ValueError(
            f"a rotary embedding of the kind {kind!r:.40} cannot be captured; "
            f"use a model with one of: {', '.join(KINDS)}."
        )
    width = _width(config, given, head_dim)
    return KINDS[kind](width, given, config, length).within(head_dim)


def mask_of(config: Config, layer: int) -> str:
    """Return the mask of a layer, as a word of :mod:`xpos_viz.masks`."""
    window = getattr(config, "sliding_window", None)
    slides = _kind(config, layer) in ("", "sliding_attention")
    return f"sliding:{window}" if window and slides else "causal"


def _kind(config: Config, layer: int) -> str:
    """The kind of attention of a layer; "" where layers have no kinds."""
    kinds = getattr(config, "layer_types", None)
    return kinds[layer] if kinds else ""


def _given(config: Config, layer: int) -> Given:
    """The rotary parameters of a layer; models before these had names have the usual base."""
    given: dict[str, Any] = getattr(config, "rope_parameters", None) or {"rope_theta": 10_000.0}
    return given.get(_kind(config, layer), given)


def _width(config: Config, given: Given, head_dim: int) -> int:
    """How many columns are turned."""
    width = getattr(config, "rotary_dim", None)
    return width or int(head_dim * given.get("partial_rotary_factor", 1.0))

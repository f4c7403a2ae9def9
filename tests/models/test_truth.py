"""Weights from captured queries and keys are the model's own, for every family of the table."""

from pathlib import Path

import pytest
import torch

from tests import tolerances
from tests.models import tiny
from xpos_viz.encoding import nope, rope
from xpos_viz.models import FAMILIES, capture

PARTIAL = {
    "phi": 8,
    "phi3": 12,
    "gpt_neox": 4,
    "stablelm": 4,
    "glm": 8,
    "glm4": 8,
    "gptj": 8,
    "codegen": 8,
}
SLIDING = {
    "mistral": "ssss", "mixtral": "ssss", "phi3": "ssss", "phimoe": "ssss", "starcoder2": "ssss",
    **dict.fromkeys(
        ("ministral", "qwen2", "gemma2", "gemma3_text", "olmo3", "exaone4", "cohere2"), "scsc"
    ),
}  # fmt: skip
STILL = {"smollm3": [2], "exaone4": [1, 3], "cohere2": [1, 3]}
MASKS = {"s": f"sliding:{tiny.WINDOW}", "c": "causal"}
GROUPED = set(FAMILIES) - {"gpt_neox", "gptj", "codegen"}


def test_every_family_of_the_table_is_tested():
    assert set(tiny.OWN) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_those_of_the_model(family):
    model = tiny.build(family)
    error, taken = tiny.error(model, input_ids=tiny.tokens())
    assert error < tolerances.MODEL
    assert taken.layers == (0, 1, 2, 3)
    assert taken.q.shape == (4, 4, 24, 16)
    assert taken.k.shape == (4, 2 if family in GROUPED else 4, 24, 16)
    assert (taken.q.dtype, taken.q.requires_grad) == (torch.float32, False)
    assert taken.model == family
    assert taken.masks == tuple(MASKS[letter] for letter in SLIDING.get(family, "cccc"))
    still = [layer for layer in taken.layers if taken.encodings[layer] == nope(16)]
    assert still == STILL.get(family, [])
    assert tiny.encoding(taken).rotary_width == PARTIAL.get(family, 16)
    assert taken.softcap == (3.0 if family == "gemma2" else 0.0)
    own = {"gemma2": 24**-0.5, "gemma3_text": 24**-0.5, "granite": 0.4}
    assert set(taken.scales) == {own.get(family, 0.25)}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_would_be_missed_by_another_attention(family):
    """The attention is neither flat nor one key's, and each part of it is needed."""
    model = tiny.build(family)
    _, taken = tiny.error(model, input_ids=tiny.tokens())
    weights = taken.weights(0)
    assert 0.15 < float(weights[:, 12:].amax(-1).median()) < 0.9
    own = tiny.encoding(taken)
    for other in (own.replace(base=3.0), nope(16), own.replace(rotary_width=2)):
        assert float((taken.weights(0, other) - weights).abs().max()) > 0.01
    assert float((taken.q[0] - taken.q[1]).abs().max()) > 0.1


ROTARIES = {
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "llama3": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
    "yarn, its ramp between real pairs": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8,
        "beta_fast": 1.7, "beta_slow": 0.01, "truncate": False,
    },
    "yarn, stretched by a number of the model": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8,
        "attention_factor": 1.5,
    },
    "yarn, stretched as in DeepSeek": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8,
        "mscale": 1.2, "mscale_all_dim": 0.6,
    },
}  # fmt: skip


@pytest.mark.parametrize("family", ["llama", "qwen2", "gpt_neox", "stablelm", "cohere"])
@pytest.mark.parametrize("rotary", ROTARIES)
def test_scaled_rotary_embeddings(family, rotary):
    given = {"rope_theta": 500.0, **ROTARIES[rotary]}
    if family in PARTIAL:
        given["partial_rotary_factor"] = 0.5
    model = tiny.build(family, rope_parameters=given)
    error, taken = tiny.error(model, input_ids=tiny.tokens(40))
    assert error < tolerances.MODEL
    names = {"linear": "interpolation", "dynamic": "dynamic_ntk", "yarn": "yarn_hf"}
    kind = given["rope_type"]
    own = tiny.encoding(taken)
    assert set(taken.encodings) == {own}
    assert (own.name, own["base"]) == (names.get(kind, kind), 500.0)
    assert own.rotary_width == (8 if family in PARTIAL else 16)
    plain = rope(own.rotary_width, base=500.0).within(16)
    assert float((taken.weights(0, plain) - taken.weights(0)).abs().max()) > 0.01


@pytest.mark.parametrize("share", [1.0, 0.75])
@pytest.mark.parametrize(("count", "which"), [(12, "short_factor"), (24, "long_factor")])
def test_longrope_has_factors_for_short_and_for_long_texts(share, count, which):
    """As in Phi-3 and Phi-4-mini, which turns and stretches only a part of its columns."""
    pairs = round(8 * share)
    given = {
        "rope_type": "longrope",
        "short_factor": [1.0 + 0.1 * pair for pair in range(pairs)],
        "long_factor": [2.0 + 0.5 * pair for pair in range(pairs)],
        "partial_rotary_factor": share,
    }
    model = tiny.build(
        "phi3",
        rope_parameters=given,
        max_position_embeddings=128,
        original_max_position_embeddings=16,
        sliding_window=None,
    )
    error, taken = tiny.error(model, input_ids=tiny.tokens(count))
    assert error < tolerances.MODEL
    own = tiny.encoding(taken)
    assert own["factors"] == tuple(given[which])
    assert own.temperature == pytest.approx(1 + 3 / 4)  # 1 + ln 8/ln 16
    assert own.rotary_width == 2 * pairs


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("counted", [True, False])
def test_padding_is_left_out(family, counted):
    """Left padding, its positions counted or not, hides keys and shifts the others."""
    ids = torch.cat([torch.zeros(1, 5, dtype=torch.long), tiny.tokens(19)], -1)
    seen = (torch.arange(24)[None] >= 5).long()
    at = torch.arange(24)[None] if counted else (torch.arange(24)[None] - 5).clamp(min=0)
    error, taken = tiny.error(
        tiny.build(family), input_ids=ids, attention_mask=seen, position_ids=at
    )
    assert error < tolerances.MODEL
    assert taken.q.shape[2] == taken.k.shape[2] == 19
    first = 5 if counted else 0
    assert taken.key_positions.tolist() == list(range(first, first + 19))


def test_padding_on_the_right_is_left_out():
    ids = torch.cat([tiny.tokens(19), torch.zeros(1, 5, dtype=torch.long)], -1)
    error, taken = tiny.error(tiny.build("gemma2"), input_ids=ids, attention_mask=(ids != 0).long())
    assert error < tolerances.MODEL
    assert taken.key_positions.tolist() == list(range(19))


def test_a_model_that_also_sees_is_captured_by_its_text():
    """Gemma 3 from 4B on is a text model inside of one for pictures."""
    text = tiny.build("gemma3_text").config
    pictures = {
        "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "image_size": 28, "patch_size": 14,
    }  # fmt: skip
    config = tiny.transformers.Gemma3Config(
        text_config=text, vision_config=pictures, mm_tokens_per_image=4
    )
    torch.manual_seed(0)
    kind = tiny.transformers.Gemma3ForConditionalGeneration
    model = kind._from_config(config, attn_implementation="eager").eval()
    error, taken = tiny.error(model, input_ids=tiny.tokens())
    assert error < tolerances.MODEL
    assert taken.masks == ("sliding:7", "causal") * 2
    names = [tiny.encoding(taken, layer).name for layer in taken.layers]
    assert names == ["rope", "interpolation"] * 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_vectors_keep_the_dtype_of_the_model(dtype):
    model = tiny.build("llama").to(dtype)
    error, taken = tiny.error(model, input_ids=tiny.tokens())
    assert taken.q.dtype == taken.k.dtype == dtype
    assert error < 8 * torch.finfo(dtype).eps  # the model rounds its scores
    assert taken.scales == (0.25,) * 4


def test_the_text_decides_how_dynamic_ntk_turns():
    given = {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 500.0}
    model = tiny.build("llama", rope_parameters=given)
    for count, longest in ((20, 32), (40, 40), (36, 36), (20, 32)):  # not the longest so far
        taken = capture(model, {"input_ids": tiny.tokens(count)})
        fresh = tiny.build("llama", rope_parameters=given)
        error, again = tiny.error(fresh, input_ids=tiny.tokens(count))
        assert error < tolerances.MODEL
        own = tiny.encoding(taken)
        assert own == tiny.encoding(again)
        assert torch.equal(own.theta, own.replace(current_length=longest).theta)
        assert torch.equal(taken.q, again.q)


def test_the_readme_counts_the_families():
    readme = Path(__file__).parent.parent.parent / "README.md"
    assert f"{len(FAMILIES)} in all" in readme.read_text(encoding="utf-8")

"""A GGUF file is the model that it was made of, its columns in another order."""

import numpy as np
import pytest
import torch

from tests.models import tiny
from xpos_viz.models import capture, plan
from xpos_viz.models.library import library

gguf = library("gguf")
TEXT = "to be"
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def interleaved(weight, heads):
    """Rows of q or k as llama.cpp has them: the halves of each head in turn."""
    rows = weight.reshape(heads, 2, -1, weight.shape[-1])
    return np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(weight.shape)


@pytest.fixture(scope="module")
def model():
    return tiny.build("llama", vocab_size=260)


@pytest.fixture(scope="module")
def path(tmp_path_factory, model):
    """The model and its tokenizer in one file."""
    at = tmp_path_factory.mktemp("models") / "small-F32.gguf"
    config, words = model.config, tiny.tokenizer()
    writer = gguf.GGUFWriter(at, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list([*words.convert_ids_to_tokens(range(259)), "zz"])
    writer.add_token_types([3, 3, 3] + [1] * 257)
    writer.add_token_merges(["z z"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for name, tensor in tensors(model):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return at


def tensors(model):
    """Names and weights as GGUF has them."""
    yield "token_embd.weight", model.embed_tokens.weight.detach().numpy()
    yield "output_norm.weight", model.norm.weight.detach().numpy()
    for number, layer in enumerate(model.layers):
        for name, short in NAMES.items():
            weight = layer.get_submodule(name).weight.detach().numpy()
            heads = {"attn_q": tiny.HEADS, "attn_k": tiny.KEY_HEADS}.get(short)
            yield f"blk.{number}.{short}.weight", interleaved(weight, heads) if heads else weight


def test_a_file_is_the_model_that_it_was_made_of(path, model):
    taken = capture(path, TEXT)
    ids = tiny.tokenizer()(TEXT, add_special_tokens=False)["input_ids"]
    expected = capture(model, {"input_ids": ids})
    assert taken.model == "small-F32"
    assert taken.encodings == expected.encodings
    for layer in range(tiny.LAYERS):
        assert torch.allclose(taken.weights(layer), expected.weights(layer), atol=1e-6)


def test_memory_is_estimated_from_its_configuration(path, model):
    planned = plan(path, TEXT, dtype="bfloat16")
    counts = [weight.numel() for weight in model.parameters()]
    unpacked = 2 * 4 * max(counts)  # two copies in float32 of the largest of them
    assert planned.estimate.weights == 2 * sum(counts) + unpacked


def test_loading_tells_how_far_it_is_and_can_be_ended(path, model):
    told = []

    def three(share):
        told.append(share)
        if len(told) == 3:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        capture(path, TEXT, progress=three)
    weights = len(list(model.parameters()))
    assert told == [0.5 * done / weights for done in (1, 2, 3)]
    assert capture(path, TEXT, layers=[1]).layers == (1,)

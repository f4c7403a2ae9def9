"""Tiny models of each family, made from their configurations, with attention that is not flat."""

import torch

from xpos_viz.models import capture
from xpos_viz.models.library import library

transformers = library("transformers")

VOCABULARY, LAYERS, HEADS, KEY_HEADS, WIDTH, WINDOW = 97, 4, 4, 2, 16, 7

SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KEY_HEADS,
    "head_dim": WIDTH,
    "max_position_embeddings": 32,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
SMALL = {
    "vocab_size": VOCABULARY,
    "n_embd": 64,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": 64,
}
ALTERNATING = ["sliding_attention", "full_attention"] * (LAYERS // 2)
EXPERTS = {
    "num_local_experts": 2,
    "num_experts": 2,
    "num_experts_per_tok": 1,
    "moe_intermediate_size": 32,
}

OWN = {
    "llama": {},
    "mistral": {"sliding_window": WINDOW},
    "mixtral": {"sliding_window": WINDOW, **EXPERTS},
    "ministral": {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "qwen2": {"sliding_window": WINDOW, "use_sliding_window": True, "layer_types": ALTERNATING},
    "qwen2_moe": {**EXPERTS},
    "qwen3": {},
    "qwen3_moe": {**EXPERTS},
    "gemma": {},
    "gemma2": {
        "sliding_window": WINDOW, "query_pre_attn_scalar": 24, "attn_logit_softcapping": 3.0,
        "layer_types": ALTERNATING,
    },
    "gemma3_text": {
        "sliding_window": WINDOW, "query_pre_attn_scalar": 24, "layer_types": ALTERNATING,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    },
    "phi": {"partial_rotary_factor": 0.5, "qk_layernorm": True},
    "phi3": {"sliding_window": WINDOW, "partial_rotary_factor": 0.75},
    "phimoe": {"sliding_window": WINDOW, **EXPERTS},
    "gpt_neox": {"rotary_pct": 0.25},
    "granite": {"attention_multiplier": 0.4},
    "olmo": {},
    "olmo2": {},
    "olmo3": {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "smollm3": {"no_rope_layers": [1, 1, 0, 1]},
    "stablelm": {"partial_rotary_factor": 0.25, "qk_layernorm": True},
    "starcoder2": {"sliding_window": WINDOW},
    "exaone4": {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "arcee": {},
    "apertus": {},
    "seed_oss": {},
    "bitnet": {},
    "cohere": {"use_qk_norm": True},
    "cohere2": {"sliding_window": WINDOW, "layer_types": ALTERNATING},
    "glm": {"partial_rotary_factor": 0.5},
    "glm4": {"partial_rotary_factor": 0.5},
    "helium": {},
    "ernie4_5": {},
    "gptj": {**SMALL, "rotary_dim": 8},
    "codegen": {**SMALL, "n_head": 4, "rotary_dim": 8},
}  # fmt: skip


def build(family, **changes):
    """A model of a family, its weights drawn anew so that the weights of attention are uneven."""
    own = {**({} if "n_embd" in OWN[family] else SIZES), **OWN[family], **changes}
    config = transformers.AutoConfig.for_model(family, **own)
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 1 or "norm" in name:
                weight.add_(torch.randn_like(weight) * 0.3)
            else:
                weight.normal_(std=1.4 * weight.shape[-1] ** -0.5)
    return model


def tokens(count=24, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, VOCABULARY, (1, count), generator=generator)


@torch.no_grad()
def own_attention(model, **inputs):
    """What the model itself attends to: a matrix (heads, queries, keys) for each layer."""
    return [each[0] for each in model(**inputs, output_attentions=True).attentions]


def error(model, **inputs):
    """How far the weights of a capture are from the model's own, and the capture."""
    taken = capture(model, inputs)
    own = own_attention(model, **inputs)
    seen = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))[0].bool()
    far = [
        float((taken.weights(layer) - weights[:, seen][..., seen]).abs().max())
        for layer, weights in enumerate(own)
    ]
    return max(far), taken


def encoding(taken, layer=0):
    """The encoding of a layer, which is known."""
    found = taken.encodings[taken.place(layer)]
    assert found is not None
    return found


def tokenizer():
    """One token for each byte, and <s> in front of a text."""
    tokenizers = library("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    words = {word: number for number, word in enumerate(["<pad>", "<s>", "</s>", *letters])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=words, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )

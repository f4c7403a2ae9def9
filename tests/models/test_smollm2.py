"""SmolLM2-135M, from the GGUF file of a package: its attention, and the samples that it made."""

import numpy as np
import pytest
import torch

from tests import tolerances
from tests.models import tiny
from xpos_viz import rope
from xpos_viz.inputs.sample import HEAD_DIM, MODEL_BASE, SAMPLES, read_sample
from xpos_viz.models import capture, plan
from xpos_viz.models.loading import source_of
from xpos_viz.models.samples import model_file, sample_arrays

pytestmark = pytest.mark.model
TEXT = "The ferry left at noon, 三 hours late, so Maria walked home along the quay."


@pytest.fixture(scope="module")
def smollm2():
    """The model and its tokenizer."""
    source = source_of(model_file())
    model = source.load()
    model.set_attn_implementation("eager")
    return model, source.tokenizer


def test_weights_are_those_of_the_model(smollm2):
    model, tokenizer = smollm2
    taken = capture(model, TEXT, tokenizer=tokenizer)
    assert taken.layers == tuple(range(30))
    assert set(taken.encodings) == {rope(HEAD_DIM, base=MODEL_BASE)}
    assert "".join(taken.tokens[:4]) == "The ferry left at"
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    own = tiny.own_attention(model, input_ids=ids)
    far = [float((taken.weights(layer) - own[layer]).abs().max()) for layer in taken.layers]
    assert max(far) < tolerances.MODEL


def test_a_file_is_read_with_its_memory_said(smollm2):
    model, _ = smollm2
    planned = plan(model_file(), TEXT, layers=[2])
    assert planned.source.name == "SmolLM2-135M-Instruct.Q4_1"
    counts = [weight.numel() for weight in model.parameters()]
    assert planned.estimate.weights == 4 * (sum(counts) + 2 * max(counts))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_bundled_samples_are_made_again(name, smollm2):
    """Equal to the last bit on one processor; another one may round the last bit otherwise."""
    there = read_sample(name)
    arrays = sample_arrays(str(there["text"]), there["layers"].tolist(), *smollm2)
    assert set(arrays) == set(there)
    for key, own in there.items():
        if own.dtype.kind == "f":
            assert (own.dtype, own.shape) == (arrays[key].dtype, arrays[key].shape)
            assert np.allclose(own, arrays[key], rtol=tolerances.REMADE, atol=tolerances.MODEL)
        else:
            assert np.array_equal(own, arrays[key])


@pytest.mark.parametrize("name", ["lantern", "bridge", "translation"])
def test_a_sample_of_the_lessons_is_what_the_documented_command_takes(name, smollm2):
    """The command writes float32; the sample holds it as float16."""
    there = read_sample(name)
    layers = there["layers"].tolist()
    taken = capture(smollm2[0], str(there["text"]), layers=layers, tokenizer=smollm2[1])
    for key, own in (("q", taken.q), ("k", taken.k)):
        found = own.numpy().astype(np.float16)
        assert np.allclose(there[key], found, rtol=tolerances.REMADE, atol=tolerances.MODEL)

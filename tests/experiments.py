"""Small experiments, and what they give by the core functions alone."""

import math

import torch

from xpos_viz import (
    Experiment,
    attention_logits,
    attention_scores,
    attention_weights,
    results,
    rope,
    xpos,
)
from xpos_viz.experiment import View
from xpos_viz.measurements import attend, measure
from xpos_viz.results import (
    norm_error,
    rope_error,
    shift_error,
)

PAIR = (rope(64, base=100_000.0), xpos(64, base=100_000.0, scale_base=24.0))
SMALL = (rope(8), xpos(8, scale_base=16.0))
CACHED = (measure, attend, shift_error, norm_error, rope_error, results._curve)


def of(inputs, encodings=SMALL, **view):
    return Experiment(encodings, inputs, View(**view))


def forget():
    """Empty the caches."""
    for function in CACHED:
        function.cache_clear()


def straight(inputs, encoding, stage, mask):
    """All values of a stage, whole, by the core functions alone; and which cells are seen."""
    vectors = inputs.load(encoding.head_dim)
    scores = attention_scores(vectors.q, vectors.k, encoding, layout=vectors.layout)
    logits = attention_logits(scores, encoding, mask=mask)
    seen = torch.ones_like(scores, dtype=torch.bool)
    values = {
        "scores": scores,
        "scaled": scores / math.sqrt(encoding.head_dim),
        "masked": logits,
        "weights": attention_weights(logits),
    }
    return values[stage].numpy(), (seen.tril() if mask == "causal" else seen).numpy()

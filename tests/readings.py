"""Untrained models that stand for those that come along, and texts that they read."""

import pytest
import torch

from xpos_viz.lab import SETTINGS, Transformer, bundle, contenders
from xpos_viz.studies import reading

QUICK = SETTINGS["quick"]
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)> **bold** [x](javascript:1)',
    "\u202eevil\u202c שלום عالم 👩‍👩‍👧 e\u0301 &amp;",
    "a" * 300,
    " \n\t\u00a0\u3000 \n",
    "潮汐的力量来自月球。" * 9,
)


def loud(name):
    """A model whose attention does something, as a trained one's does."""
    model = Transformer(QUICK, contenders(QUICK)[name], seed=0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(8.0 if weight.ndim > 1 else 1.0)
    return model.eval()


@pytest.fixture
def untrained(monkeypatch):
    """What is read is read by such models, and nothing of it is kept."""
    models = {}

    def model(size, name):
        assert size == "quick"
        return models.setdefault(name, loud(name))

    line = torch.tensor([*b"def tide(moon):\n    return moon\n" * 40])
    monkeypatch.setattr(bundle, "model", model)
    monkeypatch.setattr(reading, "texts", lambda _: line[None, : QUICK.longest + 1])
    for cache in (reading._bits, reading._measured):
        cache.cache_clear()
    yield model
    for cache in (reading._bits, reading._measured):
        cache.cache_clear()

"""Training that takes no time: fewer steps of a smaller model, and two texts to read."""

from dataclasses import replace

import torch

import xpos_viz.figures.training
import xpos_viz.ui.training
from xpos_viz.lab import Corpus, bundle
from xpos_viz.studies import yours
from xpos_viz.studies.kept import Kept

TINY = replace(yours.SETTING, layers=1, batch=4, steps=25)
LINE = torch.tensor([*b"def f(x):\n    return x + 1\n\n\n" * 40], dtype=torch.uint8)
TEXTS = bundle.texts(TINY.name)[:2]


def shrink(patch=setattr):
    """Let models be tiny, and none be known yet."""
    for module in (yours, xpos_viz.figures.training, xpos_viz.ui.training):
        patch(module, "SETTING", TINY)
    patch(yours, "_corpus", lambda: Corpus("a few lines", LINE, LINE[:0]))
    patch(yours, "_kept", Kept(8))
    patch(bundle, "texts", lambda _: TEXTS)
    patch(xpos_viz.ui.training.TRAININGS, "_runs", {})

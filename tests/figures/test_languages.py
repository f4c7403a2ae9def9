"""Both languages say the same of a comparison, and each all of it."""

import re

import pytest

from tests import drawn
from tests.figures.comparing import decay
from xpos_viz.experiment import STAGES
from xpos_viz.inputs import Random


def all_words(description):
    """Everything that a reader of a description sees or hears."""
    if hasattr(description, "panels"):
        axis = description.axis
        yield from (axis.queries, axis.keys, axis.query, axis.key, axis.lag)
        yield from (line for panel in description.panels for line in panel.title)
        yield from (bar.label for bar in description.bars)
    else:
        yield from (*description.title, description.x, description.y)
        yield from (curve.label for curve in description.curves)
    yield from (description.alt, *description.notes)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("mask", ["causal", "none"])
def test_both_languages_are_complete(stage, mask):
    """No placeholder is left, and no sentence stays English in a Chinese picture."""
    pictures = {
        language: (
            drawn.maps(Random(40), language=language, stage=stage, mask=mask, cells=9)[1],
            decay(*drawn.PAIR, language=language),
        )
        for language in ("en", "zh")
    }
    for english, chinese in zip(*pictures.values(), strict=True):
        pairs = list(zip(all_words(english), all_words(chinese), strict=True))
        assert not any(set("{}") & set(words) for pair in pairs for words in pair)
        for words, translated in pairs:
            assert words != translated or not re.search("[a-z]{2} [a-z]{2}", words)
        assert sum(words != translated for words, translated in pairs) >= len(pairs) // 2

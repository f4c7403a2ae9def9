"""All layers and heads as data: the map, its notes, and the words beside it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests import cases
from xpos_viz import Capture, nope, rope, xpos
from xpos_viz.figures.layers import heads_map, most_words
from xpos_viz.figures.words import label, tokens
from xpos_viz.inputs import Captured, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.studies.changes import MEASURES, changes, of_text
from xpos_viz.texts import LANGUAGES, texts

EN = texts("en")
TEXT = Sample("pronoun", 8, 2)
XPOS = xpos(64, base=1e5, scale_base=8.0)


def brought(**words: Any):
    """A head of two layers of two heads, on five tokens."""
    q, k = cases.normal(2, 2, 2, 5, 8)
    words = {"encodings": (rope(8),)} | words
    return Captured(keep(Capture(2 * q, k, layers=(3, 7), **words)), 3)


def drawn(inputs, measure="variation", language="en"):
    """The map of a text."""
    encoding = xpos(inputs.capture.head_dim, base=1e5, scale_base=8.0)
    return heads_map(of_text(inputs, encoding), inputs, measure, texts(language))


def test_a_cell_is_a_head_of_a_layer_and_colours_end_at_the_largest():
    found = changes(sample_capture("pronoun"), scale_base=8.0)
    before, after = found.entropy_before, found.entropy_after
    wanted = {
        "variation": (found.total_variation, "sequential"),
        "entropy": (after - before, "diverging"),
        "distance": (found.distance_after - found.distance_before, "diverging"),
    }
    assert tuple(wanted) == MEASURES
    for measure, (values, scale) in wanted.items():
        grid = drawn(TEXT, measure)
        assert np.array_equal(grid.values, values)
        assert grid.rows == ("0", "8", "16", "24", "29")
        assert grid.columns == tuple("012345678")
        assert (grid.bar.limit, grid.bar.scale) == (np.abs(values).max(), scale)
        assert grid.title[1] == "the model's own encoding with a decay (γ 0.4, B 8)"


def test_the_map_in_words():
    grid = drawn(TEXT)
    assert grid.alt == (
        "Attention that moves in 5 layers of 9 heads: the model's own encoding with a decay "
        "(γ 0.4, B 8). Layer 8, head 7 changes most: 31.9\u00a0% of a query's attention moves, its "
        "entropy goes from 1.87 to 1.77 nats and its mean distance from 7.91 to 3.69 tokens."
    )
    assert grid.notes == (
        "SmolLM2-135M-Instruct on the text “Pronoun (sentence, 28 tokens)”.",
        EN("layers.learnt"),
        "All numbers are means over the queries that see more than one key.",
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_not_known_or_turns_nothing_is_said(language):
    text = texts(language)
    inputs = brought(encodings=(None, nope(8)), model="mine")
    notes = drawn(inputs, language=language).notes
    given = {"model": "mine", "data": inputs.data[:12], "tokens": tokens(5, text)}
    assert notes[0] == text("figure.brought", **given)
    assert text("layers.unturned", layers="7") in notes
    assert text("tokens.unknown", own=label(rope(8, base=1e5), text)) in notes
    assert text("layers.learnt") in notes


def test_where_nothing_moves_that_is_said():
    assert most_words(of_text(TEXT, XPOS.replace(scale_base=1e12)), EN) == (
        "No head moves more than 0.0001\u00a0% of its attention: at this B the decay is all but "
        "none."
    )
    q, k = cases.normal(2, 1, 2, 1, 8)
    alone = Captured(keep(Capture(q, k, encodings=(rope(8),))))
    assert drawn(alone).alt.endswith("No query sees more than one key, so no attention can move.")


def test_a_text_is_computed_once_for_all_its_heads():
    told = []
    first = of_text(brought(), XPOS, told.append)
    assert told == [0.5, 1.0]
    again = of_text(replace(brought(), layer=7, head=1), XPOS.replace(base=3.0), told.append)
    assert again is first
    assert len(told) == 2
    assert of_text(brought(), XPOS.replace(gamma=0.5)) is not first


def test_long_layers_say_how_far_they_are(monkeypatch):
    monkeypatch.setattr("xpos_viz.studies.changes._CELLS", 2 * 5 * 2)
    told = []
    changes(brought().capture, progress=told.append)
    assert told == pytest.approx([1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0])
    assert torch.equal(brought().capture.key_positions, torch.arange(5.0, dtype=torch.float64))

"""The pictures of long texts as data."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from xpos_viz import Capture, rope, xpos
from xpos_viz.figures.long import block_maps, resolution_curves, sizes
from xpos_viz.figures.words import rounded
from xpos_viz.inputs import Captured, Expectation, Random, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.pooling import robust_limit
from xpos_viz.studies.long import Beginning, Long, long_maps
from xpos_viz.studies.resolving import Course, resolutions
from xpos_viz.texts import texts
from xpos_viz.theme import DASHES

EN = texts("en")
PAIR = (rope(8), xpos(8, scale_base=64.0))
MASKS = ("causal", "sliding:32", "blockwise:64")
LONG = Long(Expectation(1024), PAIR, ("causal",))


def maps(long=LONG, language="en", **options):
    """The maps, and their description."""
    found = long_maps(long, lambda _: None)
    return found, block_maps(found, long, texts(language), **options)


def test_panels_are_the_maps():
    found, described = maps(colours="teal_brown")
    assert described.name == "long_maps"
    for each, panel in zip(found, described.panels, strict=True):
        assert panel.values is each.values
        assert np.array_equal(panel.seen, each.counts > 0)
        assert not panel.unknown.any()
    (bar,) = described.bars
    assert bar.limit == robust_limit(*(each.values for each in found))
    assert (bar.scale, bar.colours) == ("diverging", "teal_brown")
    assert bar.label == "Block means of the score q·k (no unit)"
    assert (described.axis.block, described.axis.positions[0]) == (8, 3.5)
    assert described.axis.span == (-0.5, 1023.5)


def test_titles_name_what_differs():
    _, two = maps()
    assert [panel.title for panel in two.panels] == [
        ("RoPE", "base 10,000", "raw scores q·k, causal"),
        ("XPos", "base 10,000, γ 0.4, B 64", "raw scores q·k, causal"),
    ]
    _, three = maps(replace(LONG, encodings=PAIR[1:], masks=MASKS))
    assert [panel.title for panel in three.panels] == [
        ("causal", "all that came before", "XPos, raw scores q·k"),
        ("sliding window", "32 tokens", "XPos, raw scores q·k"),
        ("blockwise causal", "64 tokens", "XPos, raw scores q·k"),
    ]
    assert three.notes[1] == (
        "XPos (base 10,000, γ 0.4, B 64); causal mask, sliding window of 32 tokens, blockwise "
        "causal mask, blocks of 64 tokens."
    )


def test_notes_say_what_is_seen():
    _, described = maps()
    limit = described.bars[0].limit
    assert described.notes == (
        "q = k = ones, head dimension 8, tokens 0 to 1,023: a score is 2·g[m − n].",
        "RoPE (base 10,000), XPos (base 10,000, γ 0.4, B 64); causal mask.",
        "Each cell is the mean of a block of 8 × 8 tokens, over its visible cells.",
        EN("long.limit", limit=f"{limit:.3g}"),
    )
    inputs = Random(1024, 7, "same")
    _, described = maps(Long(inputs, PAIR, ("causal",), "weights", "max"), "zh")
    assert described.notes[0] == (
        "标准正态的查询与键（种子 7，键：与查询相同），头维度 8，词元 0 到 1,023。"
    )
    assert described.notes[2] == "每格是 8 × 8 个词元的块中可见格的最大值。"
    assert described.bars[0].scale == "sequential"


def test_notes_of_a_text_say_which_and_what_it_was_learnt_under():
    own = xpos(8, scale_base=5.0)
    q, k = torch.ones(2, 1, 1, 16, 8).unbind()
    data = keep(Capture(q, k, encodings=(own,), model="mine"))
    _, described = maps(Long(Beginning(Captured(data), 16), PAIR, ("causal",)))
    which = f"Queries and keys of mine, layer 0, head 0, brought along (SHA-256 {data[:12]}…)"
    learnt = "The vectors were learnt under XPos, by a model that was trained with it."
    assert described.notes[:2] == (f"{which}, tokens 0 to 15.", learnt)
    sample = Beginning(Sample("pronoun", 8, 2), 24)
    pair = (rope(64), xpos(64))
    _, described = maps(Long(sample, pair, ("causal",)))
    assert described.notes[1] == (
        "The vectors were learnt under RoPE: a model trained with XPos would have others."
    )


def test_sizes_are_said_and_so_is_what_nobody_sees():
    found, described = maps()
    near, far = (f"{value:.3g}" for value in (found[1].near, found[1].far))
    said = sizes(found[1], LONG, EN)
    assert said == (
        f"XPos, causal mask: the mean magnitude of a cell is {near} up to about 128 tokens back, "
        f"and {far} at least 512 tokens back."
    )
    assert (
        described.alt
        == f"Block means of the score q·k (no unit). {sizes(found[0], LONG, EN)} {said}"
    )
    window = replace(LONG, masks=("sliding:32",))
    found, _ = maps(window)
    assert math.isnan(found[0].far)
    assert sizes(found[0], window, EN) == (
        "RoPE, sliding window of 32 tokens: the mean magnitude of a cell is "
        f"{found[0].near:.3g} up to about 128 tokens back; no query sees as far as 512 tokens."
    )


@pytest.mark.parametrize("over", ["length", "scale_base"])
def test_resolution_has_a_colour_per_encoding_and_a_stroke_per_mask(over):
    course = Course(PAIR, MASKS, 1000, "half_d", over)
    table = resolutions(course, lambda _: None)
    described = resolution_curves(table, course, EN)
    assert [curve.label for curve in described.curves[2:4]] == [
        "RoPE, blockwise causal mask, blocks of 64 tokens",
        "XPos, causal mask",
    ]
    assert [curve.line for curve in described.curves] == [0, 0, 0, 1, 1, 1]
    assert [curve.dash for curve in described.curves] == [*DASHES[:3]] * 2
    for curve in described.curves:
        assert curve.x.tolist() == course.steps
    values = np.concatenate([curve.y for curve in described.curves])
    assert np.array_equal(values, table["resolution"].to_numpy())
    assert described.logarithmic
    assert described.logarithmic_y
    assert described.y == "R(g/(d/2)) (no unit)"
    assert described.title[0] == "Resolution R(g/(d/2)) of the expectation curve"
    words = {"length": "length (tokens)", "scale_base": "scale base B (tokens)"}
    assert described.x == words[over]
    assert f"XPos, causal mask goes from {rounded(values[3 * len(course.steps)])}" in described.alt

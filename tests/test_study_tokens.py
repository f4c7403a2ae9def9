"""What a query reads before and after, and all heads of a layer, against slow loops."""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from tests import reference, tolerances
from tests.test_capture import random
from xpos_viz import Capture, rope, xpos
from xpos_viz.attention import visible_keys
from xpos_viz.encoding import alibi
from xpos_viz.inputs import Captured, Sample
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import SAMPLES, layers_of, read_sample, token_gaps, token_labels
from xpos_viz.pooling import block_mean
from xpos_viz.statistics import attention_entropy
from xpos_viz.studies import tokens as module
from xpos_viz.studies.tokens import PIECE, all_heads, beside, own_encoding, read

SHORT = Sample("pronoun", 8, 2)
ROPE = rope(64, base=100_000.0)
FADING = xpos(64, base=100_000.0, gamma=0.3, scale_base=8.0)
RATES = {
    "before": reference.rope(64, 100_000.0),
    "after": reference.xpos(64, 100_000.0, gamma=0.3, scale_base=8.0),
}


@cache
def expected(side, head, query):
    """Logits and weights of the keys 0 … query in layer 8 of SHORT's text, by loops."""
    arrays = read_sample("pronoun")
    layer = layers_of("pronoun").index(8)
    q = arrays["q"][layer, head, query].tolist()
    keys = arrays["k"][layer, head // 3, : query + 1].tolist()
    logits = [
        reference.score(q, k, query - place, RATES[side], "half") / 8
        for place, k in enumerate(keys)
    ]
    return logits, reference.softmax(logits, [True] * len(logits))


def numbers(weights):
    """Entropy, mean distance and share on token 0 of one query, by loops."""
    last = len(weights) - 1
    distance = math.fsum(weight * (last - place) for place, weight in enumerate(weights))
    return reference.entropy(weights), distance, weights[0]


@pytest.mark.parametrize("query", [0, 1, 11, 27])
def test_a_query_reads_what_loops_read(query):
    reading = read(SHORT, FADING, query)
    for side, row in (("before", reading.before), ("after", reading.after)):
        logits, weights = expected(side, 2, query)
        assert row.logits == pytest.approx(logits, abs=1e2 * tolerances.EXACT)
        assert row.weights == pytest.approx(weights, abs=1e2 * tolerances.EXACT)
        found = (row.entropy, row.distance, row.sink)
        assert found == pytest.approx(numbers(weights), abs=1e3 * tolerances.EXACT)
    gained = np.subtract(expected("after", 2, query)[1], expected("before", 2, query)[1])
    assert reading.change == pytest.approx(gained, abs=1e2 * tolerances.EXACT)
    assert abs(reading.change.sum()) < 1e2 * tolerances.EXACT


@pytest.mark.parametrize("name", SAMPLES)
def test_before_is_the_attention_of_the_model_itself(name):
    layer, last = layers_of(name)[1], len(token_labels(name)) - 1
    own = read_sample(name)["weights_last4"][1, 5, -1]
    reading = read(Sample(name, layer, 5), FADING, last)
    assert np.abs(reading.before.weights - own).max() < tolerances.SAMPLE
    assert reading.own == ROPE


def test_a_query_beyond_the_text_is_the_last():
    assert read(SHORT, FADING, 2047).query == 27
    assert read(SHORT, FADING, 2047).before is read(SHORT, FADING, 27).before


def test_heads_are_the_means_of_all_later_queries():
    heads = all_heads(SHORT, FADING)
    for side, layer in (("before", heads.before), ("after", heads.after)):
        for head in (0, 8):
            rows = [expected(side, head, query)[1] for query in range(28)]
            means = np.mean([numbers(row) for row in rows[1:]], 0)
            found = layer.entropy[head], layer.distance[head], layer.sink[head]
            assert found == pytest.approx(means, rel=tolerances.SINGLE)
            square = np.full((28, 28), np.nan)
            for query, row in enumerate(rows):
                square[query, : query + 1] = row
            assert np.allclose(
                layer.weights[head], square, atol=tolerances.FLOAT32_WEIGHTS, equal_nan=True
            )


def test_maps_are_weights_or_their_change():
    heads = all_heads(SHORT, FADING)
    before, after, change = (heads.maps(shown) for shown in ("rope", "xpos", "change"))
    assert before is heads.before.weights
    assert after is heads.after.weights
    assert np.array_equal(change, after - before, equal_nan=True)


def test_blocks_of_a_long_text_are_the_means_of_their_visible_cells():
    heads = all_heads(Sample("tidebook", 3, 4), FADING)
    assert (heads.block, heads.before.weights.shape) == (16, (9, 63, 63))
    assert heads.positions[[0, -1]].tolist() == [7.5, 999.5]
    sample = Sample("tidebook", 3, 4)
    rows = [read(sample, FADING, query).after.weights for query in range(992, 1002)]
    whole = heads.after.weights[4]
    first, last = (np.mean([row[keys] for row in rows]) for keys in (slice(16), slice(976, 992)))
    own = np.concatenate([row[992:] for row in rows]).mean()
    assert whole[62, [0, 61, 62]] == pytest.approx([first, last, own], rel=tolerances.SINGLE)
    assert np.isnan(whole[61, 62])
    assert np.isnan(whole).sum() == 63 * 62 / 2


def test_the_strongest_keys_stand_in_the_order_of_the_text():
    reading = read(SHORT, FADING, 20)
    weights = np.maximum(reading.before.weights, reading.after.weights)
    keys = reading.strongest(5)
    assert keys.tolist() == sorted(keys.tolist())
    assert weights[keys].min() >= np.delete(weights, keys).max()
    assert reading.strongest(50).tolist() == list(range(21))


@pytest.mark.parametrize(
    ("query", "piece"),
    [(0, (0, PIECE)), (147, (0, PIECE)), (148, (1, 161)), (500, (353, 513)), (1001, (842, 1002))],
)
def test_a_long_text_is_read_around_the_query(query, piece):
    shown = read(Sample("tidebook"), FADING, query).piece
    assert (shown.start, shown.stop) == piece
    assert query in shown


def test_a_short_text_is_read_whole():
    assert read(SHORT, FADING, 3).piece == range(28)


def test_tables_have_a_row_for_each_key_and_cell():
    reading, heads = read(SHORT, FADING, 11), all_heads(SHORT, FADING)
    table = reading.table()
    names = [repr(ROPE), repr(FADING)]
    assert list(table) == ["query", "key", "token", *names, "change"]
    assert table["token"].tolist()[:3] == ["The", "trophy", "does"]
    assert table["key"].tolist() == list(range(12))
    assert table[names[1]].to_numpy() == pytest.approx(reading.after.weights, abs=0)
    cells = heads.table()
    assert list(cells) == ["head", "query", "key", *names]
    assert len(cells) == 9 * 28 * 29 / 2
    row = cells[(cells["head"] == 2) & (cells["query"] == 11)]
    given = reading.before.weights
    assert row[names[0]].to_numpy() == pytest.approx(given, abs=tolerances.FLOAT32_WEIGHTS)
    last = all_heads(Sample("tidebook"), FADING).table().iloc[-1]
    assert (last["query"], last["key"]) == (996.5, 996.5)


@pytest.mark.parametrize("name", ["harbour", "pronoun"])
def test_gaps_and_labels_are_the_text(name):
    pairs = zip(token_gaps(name), token_labels(name), strict=True)
    assert "".join(gap + label for gap, label in pairs) == str(read_sample(name)["text"])


def test_arrays_are_read_only():
    reading, heads = read(SHORT, FADING, 4), all_heads(SHORT, FADING)
    for array in (reading.before.weights, reading.after.logits, heads.after.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# Captures that somebody brought


def brought(**changes):
    """The third head of a layer of a capture with two layers, four heads on two key heads."""
    q, k = random(queries=70, keys=70)
    given: dict[str, Any] = {"encodings": (rope(8, base=500.0),)} | changes
    return Captured(keep(Capture(q, k, layers=(2, 7), **given)), 7, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"masks": ("sliding:9",)},
        {"masks": ("causal", "none")},
        {"masks": ("blockwise:8",), "query_positions": torch.arange(70.0) + 5}
        | {"key_positions": torch.arange(70.0) + 5},
        {"softcap": 2.0, "scales": (0.2, 0.9)},
        {"layout": "interleaved", "encodings": (rope(8), rope(4).within(8))},
        {"encodings": (alibi(8, slope=(0.1, 0.2, 0.4, 0.8)),)},
    ],
    ids=str,
)
def test_a_capture_is_read_as_its_layer_reads(changes, monkeypatch):
    inputs = brought(**changes)
    own = inputs.capture.weights(7)
    fading = beside(inputs, xpos(8, scale_base=9.0))
    after = inputs.capture.weights(7, fading)
    for query in (0, 1, 40, 69):
        reading = read(inputs, fading, query)
        for row, weights in ((reading.before, own), (reading.after, after)):
            whole = np.zeros(70)
            whole[: len(row.weights)] = row.weights
            assert whole == pytest.approx(weights[2, query].numpy(), abs=tolerances.FLOAT32_WEIGHTS)
        seen = visible_keys(
            inputs.capture.masks[1], inputs.capture.query_positions, inputs.capture.key_positions
        )
        assert reading.seen.tolist() == np.flatnonzero(seen[query]).tolist()
        assert reading.table()["key"].tolist() == reading.seen.tolist()
    for most in (module._MOST, 1):
        monkeypatch.setattr(module, "_MOST", most)
        module._layer.cache_clear()
        heads = all_heads(inputs, fading)
        assert heads.block == 2
        for layer, weights in ((heads.before, own), (heads.after, after)):
            expected = block_mean(weights.double(), seen, 2)
            found = torch.from_numpy(layer.weights.copy())
            assert torch.allclose(found, expected, atol=1e-6, equal_nan=True)
            entropy = attention_entropy(weights)[:, 1:].mean(-1)
            assert layer.entropy == pytest.approx(entropy.numpy(), rel=tolerances.SINGLE)


def test_xpos_stands_beside_the_own_encoding():
    fading = xpos(8, base=70.0, scale_base=9.0)
    assert beside(brought(), fading) == fading.replace(base=500.0)
    partial = brought(encodings=(rope(4, base=500.0).within(8),))
    assert beside(partial, fading) == xpos(4, base=500.0, scale_base=9.0).within(8)
    assert beside(brought(encodings=(alibi(8),)), fading) == fading


def test_an_unknown_encoding_is_a_rope_of_the_base_that_is_set():
    unknown = brought(encodings=(None,))
    assert own_encoding(unknown, xpos(8, base=70.0)) == rope(8, base=70.0)
    assert own_encoding(unknown, xpos(4).within(8)) == rope(4).within(8)
    assert read(unknown, xpos(8, base=70.0), 5).own == rope(8, base=70.0)


def test_tokens_without_text_are_called_by_their_numbers():
    assert read(brought(), xpos(8), 2).table()["token"].tolist() == ["0", "1", "2"]
    one = Captured(keep(Capture(*random(queries=1, keys=1))))
    heads = all_heads(one, xpos(8))
    assert heads.still
    assert heads.before.entropy.tolist() == [0.0] * 4

"""What XPos would do to every head: against straight computation, loops, and the page Tokens."""

import math

import numpy as np
import pytest
import torch

from tests import cases, tolerances
from xpos_viz import Capture, nope, rope, xpos
from xpos_viz.encoding import alibi, dynamic_ntk, longrope, yarn_hf
from xpos_viz.inputs import Sample
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.statistics import attention_distance, attention_entropy, total_variation
from xpos_viz.studies import changes as study
from xpos_viz.studies import tokens
from xpos_viz.studies.changes import changes
from xpos_viz.studies.kept import Kept

GAMMA, SCALE_BASE = 0.3, 6.0


ROPE = (rope(8, base=100.0),)


def small(encodings=ROPE, **others):
    """Two layers of four heads over two, and eleven tokens."""
    q, _ = cases.normal(2, 2, 4, 11, 8)
    _, k = cases.normal(2, 2, 2, 11, 8)
    return Capture(2 * q, k, layers=(3, 7), encodings=encodings, **others)


def means(numbers):
    return numbers[..., 1:].mean(-1).numpy()


OWN = [
    (rope(8, base=100.0), xpos(8, base=100.0, gamma=GAMMA, scale_base=SCALE_BASE)),
    (rope(4).within(8), xpos(4, gamma=GAMMA, scale_base=SCALE_BASE).within(8)),
    (
        rope(8, base=(10.0, 100.0, 1e3, 1e4)),
        xpos(8, base=(10.0, 100.0, 1e3, 1e4), gamma=GAMMA, scale_base=SCALE_BASE),
    ),
]


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize(("own", "other"), OWN, ids=repr)
def test_rope_that_fades_is_xpos(own, other, layout):
    capture = small(
        (own,), layout=layout, masks=("causal", "sliding:4"), scales=(0.5, 0.2), softcap=2.0
    )
    found = changes(capture, gamma=GAMMA, scale_base=SCALE_BASE)
    assert (found.layers, found.gamma, found.scale_base) == ((3, 7), GAMMA, SCALE_BASE)
    for row, layer in enumerate(capture.layers):
        before, after = capture.weights(layer), capture.weights(layer, other)
        expected = {
            "total_variation": total_variation(before, after),
            "entropy_before": attention_entropy(before),
            "entropy_after": attention_entropy(after),
            "distance_before": attention_distance(before),
            "distance_after": attention_distance(after),
            "sink_before": before[..., 0],
            "sink_after": after[..., 0],
        }
        for name, numbers in expected.items():
            own_numbers = getattr(found, name)[row]
            assert own_numbers == pytest.approx(means(numbers), rel=tolerances.KEPT)
    assert found.total_variation.min() > 0.01


@pytest.mark.parametrize(
    "own",
    [dynamic_ntk(8, current_length=9000), yarn_hf(8, factor=8.0), longrope(8, factors=3.0)],
    ids=repr,
)
def test_a_stretched_rotation_fades_with_its_own_angles(own):
    """Its rates and those of the decay are added: a loop over pairs and lags says so."""
    capture = small((own,))
    found = changes(capture, gamma=GAMMA, scale_base=SCALE_BASE)
    fading = xpos(8, gamma=GAMMA, scale_base=SCALE_BASE).log_decay
    rates = [complex(a, b) for a, b in zip(fading.tolist(), own.theta.tolist(), strict=True)]
    q, k = capture.q[1, 2].tolist(), capture.k[1, 1].tolist()
    moved = []
    for m in range(1, 11):
        weights = []
        for each in ([1j * rate.imag for rate in rates], rates):
            logits = [
                _score(q[m], k[n], each, m - n) * own.temperature / math.sqrt(8)
                for n in range(m + 1)
            ]
            largest = max(logits)
            powers = [math.exp(logit - largest) for logit in logits]
            weights.append([power / sum(powers) for power in powers])
        moved.append(sum(abs(a - b) for a, b in zip(*weights, strict=True)) / 2)
    assert found.total_variation[1, 2] == pytest.approx(sum(moved) / 10, rel=tolerances.KEPT)


def _score(q, k, rates, lag):
    """One score in half layout, pair by pair."""
    pairs = len(rates)
    return sum(
        (
            complex(q[i], q[i + pairs])
            * complex(k[i], k[i + pairs]).conjugate()
            * np.exp(rate * lag)
        ).real
        for i, rate in enumerate(rates)
    )


def test_without_decay_nothing_changes():
    found = changes(small(), scale_base=1e15)
    assert found.total_variation.max() < tolerances.KEPT
    assert found.entropy_before == pytest.approx(found.entropy_after, rel=tolerances.KEPT)


@pytest.mark.parametrize("still", [nope(8), alibi(8)], ids=repr)
def test_layers_that_turn_nothing_stay_as_they_are(still):
    found = changes(small((rope(8), still)), scale_base=4.0)
    assert found.total_variation[0].min() > 0.01
    assert (found.total_variation[1] == 0).all()
    assert np.array_equal(found.distance_before[1], found.distance_after[1])


def test_before_is_what_the_page_tokens_says():
    capture = sample_capture("harbour")
    found = changes(capture, gamma=0.4, scale_base=64.0)
    other = xpos(64, base=1e5, scale_base=64.0)
    for row, layer in enumerate(capture.layers):
        heads = tokens.all_heads(Sample("harbour", layer, 0), other)
        for place, side in (("before", heads.before), ("after", heads.after)):
            entropy = getattr(found, f"entropy_{place}")[row]
            distance = getattr(found, f"distance_{place}")[row]
            assert entropy == pytest.approx(side.entropy, rel=1e-5)  # of float32 weights
            assert distance == pytest.approx(side.distance, rel=1e-5)


def test_strips_do_not_matter(monkeypatch):
    whole = changes(small())
    monkeypatch.setattr(study, "_CELLS", 4 * 11 * 3)
    strips = changes(small())
    for name in study._NUMBERS:
        assert getattr(strips, name) == pytest.approx(getattr(whole, name), rel=tolerances.KEPT)


def test_the_table_has_a_row_for_each_head_and_the_largest_come_first():
    told = []
    found = changes(small(), scale_base=4.0, progress=told.append)
    table = found.table()
    assert table.columns.tolist() == [
        "layer", "head", "total_variation", "entropy_before", "entropy_after", "distance_before",
        "distance_after", "sink_before", "sink_after",
    ]  # fmt: skip
    assert list(zip(table["layer"], table["head"], strict=True)) == [
        (layer, head) for layer in (3, 7) for head in range(4)
    ]
    assert table["total_variation"].to_numpy().reshape(2, 4) == pytest.approx(found.total_variation)
    ranked = table.sort_values("total_variation", ascending=False)
    assert found.largest == list(zip(ranked["layer"], ranked["head"], strict=True))
    assert told == [0.5, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        found.total_variation[0, 0] = 1.0


def test_positions_and_dtypes_are_those_of_the_capture():
    q, k = cases.normal(2, 1, 2, 5, 8)
    at = torch.tensor([3.0, 4.0, 9.0, 20.0, 21.0])

    half = Capture(q.half(), k.half(), encodings=(rope(8),), query_positions=at, key_positions=at)
    exact = Capture(
        half.q.double(), half.k.double(), encodings=(rope(8),), query_positions=at, key_positions=at
    )
    a, b = (changes(each, scale_base=4.0) for each in (half, exact))
    assert a.total_variation == pytest.approx(b.total_variation, rel=1e-5)
    assert b.distance_before.max() > 5


def test_a_single_token_has_no_choice():
    q, k = cases.normal(2, 1, 2, 1, 8)
    found = changes(Capture(q, k, encodings=(rope(8),)))
    assert np.isnan(found.total_variation).all()


def test_what_is_refused():
    with pytest.raises(ValueError) as caught:
        changes(small((None,)))
    assert str(caught.value) == (
        "the model's own encoding of layer 3 is not known; use an encoding, such as rope(8)."
    )
    assert changes(small((None,)), own=rope(8)).total_variation.shape == (2, 4)
    with pytest.raises(ValueError) as caught:
        changes(small((xpos(8),)))
    assert str(caught.value) == (
        "the encoding of layer 3 fades already, got xpos(8, base=10000.0, gamma=0.4, "
        "scale_base=512.0); use rope or another that does not, or compare weights of a capture."
    )
    with pytest.raises(ValueError) as caught:
        changes(small(), gamma=0.0)
    assert str(caught.value) == (
        "gamma must be a finite number > 0, got 0.0; the usual value is 0.4."
    )


def test_weights_with_own_encodings_are_kept_within_a_limit():
    kept: Kept[str] = Kept(10, len)
    for key, value in (("a", "1234"), ("b", "12345"), ("a", "12"), ("c", "1234")):
        kept.put(key, value)
    assert [kept.get(key) for key in "abc"] == ["12", None, "1234"]
    kept.put("d", "more than ten")
    assert [kept.get(key) for key in "acd"] == [None, None, None]


def test_what_was_read_before_does_not_depend_on_what_is_kept(monkeypatch):
    capture = small()
    first = changes(capture, scale_base=4.0)
    for most in (0, 1 << 26):  # nothing is kept, all is
        kept: Kept[study._Read] = Kept(most, lambda read: read.weights.nbytes)
        monkeypatch.setattr(study, "_own", kept)
        for _ in range(2):
            again = changes(capture, scale_base=4.0)
            for name in study._NUMBERS:
                assert np.array_equal(getattr(again, name), getattr(first, name))

"""The gallery of mistakes: each breaks its invariant, by an error that a slow loop has too."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import attention_scores, nope, rope, xpos
from xpos_viz.wrong import CHECKS, VARIANTS

each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
each_check = pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
XPOS = [xpos(64), xpos(8), xpos(16, base=100.0, gamma=1.5, scale_base=64.0)]

ROWS = range(15, 512, 16)
GOLDEN = {  # by reference.largest_error: the largest causal error of these queries, and where it is
    "same_direction": (13.794652215396491, 479, 469),
    "swapped": (43.19495856798069, 495, 14),
    "query_only": (9.276588791344993, 479, 469),
    "linear_growth": (85.38023819873476, 511, 312),
    "no_scale_base": (28.57887132832316, 511, 312),
    "half_scale_base": (5.49343474666002, 431, 65),
    "other_gamma": (0.7970767422944522, 495, 14),
    "zeta_off_by_one": (0.5346038466199836, 415, 9),
    "no_decay": (11.561448343812906, 495, 14),
    "centre_off_by_one": (0.030483404847995388, 239, 141),
    "late_queries": (8.482853454513673, 431, 359),
    "backwards": (30.19086643952538, 191, 133),
    "half_layout": (43.851065929822575, 319, 218),
    "by_importance": (17.83813877135197, 463, 437),
    "mixed_layouts": (34.02945003631102, 383, 250),
    "scales_apart": (4.752953757008646, 463, 72),
}

FACTS = {  # largest causal error of other data, whose scores have the standard deviation 3.80
    "swapped": 20.5,
    "same_direction": 19.0,
    "query_only": 7.1,
    "no_scale_base": 18.7,
    "half_layout": 23.0,
    "backwards": 20.1,
    "no_decay": 6.25,
    "half_scale_base": 3.40,
    "other_gamma": 0.478,
    "zeta_off_by_one": 0.314,
    "centre_off_by_one": 0.027,
}


@pytest.fixture(scope="module")
def content():
    """The queries and keys of the golden numbers."""
    return cases.normal(512, 64), cases.normal(512, 64, seed=1)


@each_check
@pytest.mark.parametrize("encoding", [*XPOS, xpos(2, scale_base=1.0)], ids=repr)
def test_the_right_formula_keeps_every_invariant(encoding, check):
    assert check(attention_scores, encoding) < tolerances.KEPT


@each_variant
@pytest.mark.parametrize("encoding", XPOS, ids=repr)
def test_a_variant_breaks_its_invariant(encoding, variant):
    assert CHECKS[variant.breaks](variant.scores, encoding) > tolerances.BROKEN


def test_every_invariant_is_broken_by_some_variant():
    assert {variant.breaks for variant in VARIANTS.values()} == set(CHECKS)


@each_variant
def test_the_golden_errors(variant, content):
    q, k = content
    error, m, n = GOLDEN[variant.name]
    found = variant.error(q[list(ROWS)], k, xpos(64), query_positions=ROWS)
    assert found == pytest.approx(error, abs=tolerances.KEPT)
    wrong = variant.scores(q[m : m + 1], k[n : n + 1], xpos(64), **cases.at([m], [n]))
    expected = reference.wrong_score(variant.name, q[m].tolist(), k[n].tolist(), m, n)
    assert wrong.item() == pytest.approx(expected, abs=tolerances.KEPT)


@pytest.mark.parametrize("name", FACTS)
def test_errors_have_the_size_of_the_facts(name, content):
    q, k = content
    spread = attention_scores(q, k, xpos(64))[torch.ones(512, 512).tril().bool()].std()
    share = VARIANTS[name].error(q, k, xpos(64)) / float(spread)
    assert 0.5 < share / (FACTS[name] / 3.80) < 2


@each_variant
@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("encoding", XPOS[1:], ids=repr)
def test_scores_by_the_oracle(encoding, layout, variant):
    q, k = cases.normal(3, encoding.head_dim), cases.normal(4, encoding.head_dim, seed=1)
    positions = ([5, 9, 40], [0, 7, 9, 30])
    options = dict(encoding.parameters[1:])
    scores = variant.scores(q, k, encoding, layout=layout, **cases.at(*positions))
    for row, m in enumerate(positions[0]):
        for column, n in enumerate(positions[1]):
            pair = q[row].tolist(), k[column].tolist()
            expected = reference.wrong_score(variant.name, *pair, m, n, **options, layout=layout)
            assert scores[row, column].item() == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(
    name=st.sampled_from(list(VARIANTS)),
    gamma=cases.positive(0.05, 10.0),
    scale_base=cases.positive(4.0, 1e4),
)
@settings(max_examples=40)
def test_only_causal_errors_count(name, gamma, scale_base):
    encoding = xpos(8, gamma=gamma, scale_base=scale_base)
    q, k = cases.normal(2, 5, 8), cases.normal(2, 5, 8, seed=1)
    wrong, right = VARIANTS[name].scores(q, k, encoding), attention_scores(q, k, encoding)
    expected = float((wrong - right).tril().abs().max())
    assert VARIANTS[name].error(q, k, encoding) == pytest.approx(expected, rel=tolerances.EXACT)


@each_variant
def test_rows_can_be_read(variant):
    assert variant.mistake.endswith(".")
    assert variant.mistake[:1].isupper()
    assert variant.name in repr(variant)


@each_variant
@pytest.mark.parametrize("encoding", [rope(8), nope(8), cases.Headed.of(xpos(8))], ids=repr)
def test_only_xpos_can_be_got_wrong(encoding, variant):
    x = torch.zeros(2, 8)
    for call in (variant.scores, variant.error):
        with pytest.raises(ValueError) as caught:
            call(x, x, encoding)
        assert str(caught.value) == (
            f"the encoding must be xpos, the same for all heads, got {encoding!r}; use xpos(8)."
        )

"""The families of encodings: golden numbers, limits, values for each head, bias, temperature."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import (
    Encoding,
    apply_encoding,
    attention_logits,
    attention_scores,
    attention_weights,
    decay_curve,
    decay_table,
    lag_response,
    nope,
    rope,
    xpos,
)
from xpos_viz.encoding import (
    PARAMETERS,
    REGISTRY,
    alibi,
    alibi_slopes,
    decay,
    dynamic_ntk,
    interpolation,
    llama3,
    longrope,
    ntk,
    p_rope,
    retnet,
    retnet_decays,
    t5,
    t5_bidirectional,
    t5_bucket,
    yarn,
    yarn_hf,
)

FAMILIES = [
    "nope", "rope", "p_rope", "xpos", "decay", "retnet", "interpolation", "ntk", "dynamic_ntk",
    "longrope", "yarn", "yarn_hf", "llama3", "alibi", "t5", "t5_bidirectional",
]  # fmt: skip
each_registered = pytest.mark.parametrize("encoding", cases.registered(8), ids=repr)
each_per_head = pytest.mark.parametrize("encoding", list(cases.per_head(8)), ids=repr)


def message(function, *args, **options):
    """The text of the error that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def bias_of(encoding, lags):
    """What an encoding adds to the logits at some lags."""
    assert encoding.bias is not None
    return encoding.bias(lags)


# The registry


def test_the_registry_holds_them_in_the_order_of_controls():
    assert list(REGISTRY) == FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_controls_can_be_built_from_a_row(name):
    """Symbol, range and default of each parameter; every default is one number, or a table."""
    row = REGISTRY[name]
    assert list(row.parameters) == list(row.defaults)
    for key, parameter in row.parameters.items():
        default = row.defaults[key]
        assert parameter.name == key
        assert parameter.symbol
        assert parameter.lower < parameter.upper
        assert parameter.check(default, 64) == default
        kind = tuple if parameter.each == "bucket" else int if parameter.whole else float
        assert type(default) is type(Encoding(name, (("head_dim", 64),))[key]) is kind


def test_every_parameter_belongs_to_a_family():
    assert {key for row in REGISTRY.values() for key in row.defaults} == set(PARAMETERS)


def test_labels_differ():
    assert len({row.label for row in REGISTRY.values()}) == len(REGISTRY)


# Golden numbers

LADDER = np.arange(32)
SCALED = {
    "default_L512": rope(64),
    "default_500k_L512": rope(64, base=500_000.0),
    "linear_f4_L512": interpolation(64, factor=4.0),
    "dynamic_f2_L512": dynamic_ntk(64, factor=2.0, train_length=2048, current_length=512),
    "dynamic_f2_L4096": dynamic_ntk(64, factor=2.0, train_length=2048, current_length=4096),
    "yarn_f4_L512": yarn_hf(64, factor=4.0, train_length=2048),
    "yarn_f16_notrunc_L512": yarn_hf(64, factor=16.0, train_length=2048, truncate=0),
    "yarn_f4_paper_ramp": yarn(64, factor=4.0, train_length=2048),
    "longrope_L512": longrope(64, factors=tuple(1 + LADDER / 100), factor=4.0, train_length=2048),
    "longrope_L4096": longrope(64, factors=tuple(1 + LADDER / 10), factor=4.0, train_length=2048),
    "llama3_L512": llama3(64),
    "proportional_p25_L512": p_rope(64, share=0.25),
}


def golden_of(prefix):
    """The golden numbers under a prefix, by the rest of their names."""
    return {
        key.removeprefix(prefix): value
        for key, value in cases.golden().items()
        if key.startswith(prefix)
    }


def test_every_golden_case_is_compared():
    assert {key.split("/")[0] for key in golden_of("rope_scaling/")} == set(SCALED)
    assert len(golden_of("bias/")) == 7 + 3


@pytest.mark.parametrize("case", SCALED)
def test_golden_angles_and_temperatures(case):
    golden, encoding = golden_of(f"rope_scaling/{case}/"), SCALED[case]
    for name in {"inv_freq", "ref_inv_freq"} & golden.keys():
        expected = torch.from_numpy(golden[name])
        exact = expected.dtype == torch.float64
        allowed = tolerances.EXACT if exact else tolerances.GOLDEN_ANGLES
        assert torch.allclose(encoding.theta, expected.double(), rtol=allowed, atol=0)
    factor = golden.get("attention_scaling", math.sqrt(encoding.temperature))
    assert encoding.temperature == pytest.approx(factor**2, rel=tolerances.EXACT)
    assert not encoding.log_decay.any()


def test_the_two_ramps_of_yarn_are_not_the_same():
    """By up to 44 % of transformers' angle, at pair 15."""
    ratio = SCALED["yarn_f4_paper_ramp"].theta / SCALED["yarn_f4_L512"].theta
    assert ratio.argmin() == 15
    assert round(1 - ratio.min().item(), 2) == 0.44


@pytest.mark.parametrize("heads", [1, 2, 4, 8, 12, 16, 20])
def test_golden_slopes(heads):
    expected = cases.golden()[f"bias/alibi_slopes_h{heads}"]
    assert alibi_slopes(heads) == pytest.approx(expected, rel=tolerances.EXACT)


@pytest.mark.parametrize(
    ("constructor", "both_ways"), [(t5, False), (t5_bidirectional, True)], ids=["t5", "both"]
)
def test_golden_buckets(constructor, both_ways):
    """A table that holds each bucket's number gives the buckets."""
    lags = -torch.from_numpy(cases.golden()["bias/t5_rel"])
    encoding = constructor(8, table=range_of_buckets())
    expected = torch.from_numpy(cases.golden()[f"bias/t5_bucket_bidir{both_ways}"])
    assert bias_of(encoding, lags).tolist() == expected.tolist()


def range_of_buckets():
    return tuple(float(bucket) for bucket in range(32))


# Limits


@pytest.mark.parametrize(
    ("special", "general"),
    [
        (interpolation(16, factor=1.0), rope(16)),
        (ntk(16, factor=1.0), rope(16)),
        (dynamic_ntk(16, current_length=2048), rope(16)),
        (dynamic_ntk(16, current_length=1), rope(16)),
        (dynamic_ntk(16, factor=1.0, current_length=4096), ntk(16, factor=2.0)),
        (longrope(16, factors=1.0), rope(16)),
        (longrope(16, factors=(2.0,) * 8), interpolation(16, factor=2.0)),
        (yarn(16, factor=1.0), rope(16)),
        (yarn_hf(16, factor=1.0), rope(16)),
        (llama3(16, factor=1.0), rope(16, base=500_000.0)),
        (llama3(16, high_turns=32.0), yarn(16, base=500_000.0, factor=8.0, train_length=8192)),
        (p_rope(16, share=0.0), nope(16)),
        (p_rope(16, share=1.0), rope(16)),
        (retnet(2, decay=1.0), rope(2)),
        (alibi(16), nope(16)),
        (t5(16), nope(16)),
    ],
    ids=repr,
)
def test_rates_at_the_ends_are_those_of_another(special, general):
    assert torch.allclose(special.rates, general.rates, rtol=tolerances.EXACT, atol=0)


def test_pure_decay_is_xpos_without_rotation():
    assert torch.equal(decay(16, gamma=0.7).log_decay, xpos(16, gamma=0.7).log_decay)
    assert not decay(16).theta.any()
    curve = decay_curve(decay(16), range(2000))
    assert bool((curve.diff() < 0).all())


def test_stretching_keeps_the_fastest_pair_and_slows_the_slowest():
    plain = rope(64).theta
    for encoding in (ntk(64), yarn(64), yarn_hf(64)):
        assert encoding.theta[0] == plain[0]
        assert encoding.theta[-1].item() == pytest.approx(plain[-1].item() / 4)
        ratio = encoding.theta / plain
        assert bool((ratio.diff() <= tolerances.EXACT).all())
    assert llama3(64).theta[-1] * 8 == rope(64, base=500_000.0).theta[-1]


def test_retnet_has_one_decay_for_all_pairs_and_ends_at_one_over_base():
    encoding = retnet(64, decay=retnet_decays(8))
    expected = [[math.log(1 - 2 ** (-5 - head))] * 32 for head in range(8)]
    assert encoding.log_decay.tolist() == pytest.approx(np.array(expected), rel=tolerances.EXACT)
    assert encoding.theta[0, [0, -1]].tolist() == pytest.approx([1.0, 1e-4])


@pytest.mark.parametrize("head_dim", [2, 4, 100])
@pytest.mark.parametrize("base", [1.0, 1e300])
@pytest.mark.parametrize("length", [2, 10**15])
def test_extreme_parameters_give_numbers(head_dim, base, length):
    """One pair, one angle for all, training lengths with no full turn or with many."""
    for name, row in REGISTRY.items():
        extreme = {"base": base, "train_length": length, "current_length": 10**15, "factor": 1e9}
        own = {key: value for key, value in extreme.items() if key in row.defaults}
        for low in {"low_turns", "truncate"} & row.defaults.keys() or {""}:
            given = {**own, low: 0} if low else own
            encoding = Encoding(name, (("head_dim", head_dim), *given.items()))
            assert torch.view_as_real(encoding.rates).isfinite().all()
            assert math.isfinite(encoding.temperature)


def test_a_share_counts_whole_pairs():
    """29 % of 100 pairs are 29, though 0.29·100 is less in float64."""
    assert p_rope(200, share=0.29).theta.count_nonzero() == 29


# Values of each head


@each_per_head
def test_rates_of_heads_are_those_of_each(encoding):
    heads = list(cases.each_head(encoding))
    assert encoding.heads == len(heads) == 3
    assert encoding.rates.shape == encoding.theta.shape == encoding.log_decay.shape == (3, 4)
    expected = torch.tensor([cases.oracle_rates(head) for head in heads], dtype=torch.complex128)
    assert torch.allclose(encoding.rates, expected, rtol=tolerances.EXACT, atol=1e-15)
    temperatures = torch.as_tensor(encoding.temperature, dtype=torch.float64).expand(3, 1, 1)
    assert temperatures.flatten().tolist() == [head.temperature for head in heads]


@each_per_head
def test_scores_logits_and_weights_of_heads_are_those_of_each(encoding):
    q, k = cases.normal(2, 3, 40, 8)
    together = {"many": (q, k), "one": (q[0], k[0])}
    for kind, (queries, keys) in together.items():
        scores = attention_scores(queries, keys, encoding, layout="half")
        logits = attention_logits(scores, encoding)
        weights = attention_weights(logits)
        for head, alone in enumerate(cases.each_head(encoding)):
            own = (queries[head], keys[head]) if kind == "many" else (queries, keys)
            expected = attention_scores(*own, alone, layout="half")
            assert tolerances.within(scores[head], expected, 1e-9 * expected.abs().max())
            expected = attention_logits(expected, alone)
            assert torch.allclose(logits[head], expected, atol=1e-9)
            assert torch.allclose(weights[head], attention_weights(expected), atol=1e-9)


def test_steep_heads_are_cut_into_tiles_with_the_others():
    encoding = xpos(8, scale_base=(0.1, 16.0, 512.0))
    q, k = cases.normal(2, 3, 90, 8)
    scores = attention_scores(q, k, encoding)
    for head, alone in enumerate(cases.each_head(encoding)):
        expected = attention_scores(q[head], k[head], alone)
        assert bool(torch.isclose(scores[head], expected, rtol=1e-9, atol=1e-12).all())


@each_per_head
def test_curves_of_heads_are_those_of_each(encoding):
    lags, heads = [0, 1, 40.5, -3], list(cases.each_head(encoding))
    curve, response = decay_curve(encoding, lags), lag_response(encoding, lags)
    assert curve.shape == (3, 4)
    assert response.shape == (3, 4, 4)
    for head, alone in enumerate(heads):
        assert torch.allclose(curve[head], decay_curve(alone, lags), rtol=tolerances.EXACT)
        assert torch.allclose(response[head], lag_response(alone, lags), rtol=tolerances.EXACT)
    table = decay_table([encoding, rope(8)], lags)
    assert table["head"].tolist() == [head for head in (0, 1, 2, 0) for _ in lags]
    assert table["g"].tolist()[:12] == curve.flatten().tolist()
    assert set(table["encoding"]) == {repr(encoding), "rope(8, base=10000.0)"}


@each_per_head
def test_values_of_heads_are_plain_tuples(encoding):
    for key, value in encoding.parameters[1:]:
        assert type(encoding[key]) in (float, int, tuple)
        arrays = encoding.replace(**{key: np.array(value)}), encoding.replace(**{key: value})
        if np.ndim(value):
            arrays += (encoding.replace(**{key: torch.tensor(value, dtype=torch.float64)}),)
            arrays += (encoding.replace(**{key: list(value)}),)
        assert set(arrays) == {encoding}
    assert encoding != encoding.replace(**dict(REGISTRY[encoding.name].defaults))


def test_scalars_stay_plain_floats():
    values: list[Any] = [1, 1.0, np.float32(1), np.int64(1), torch.tensor(1.0)]
    for value in values:
        encoding = xpos(8, gamma=value)
        assert type(encoding["gamma"]) is float
        assert encoding == xpos(8, gamma=1.0)
    whole: list[Any] = [np.int64(512), 512.0, torch.tensor(512)]
    for value in whole:
        encoding = yarn(8, train_length=value)
        assert type(encoding["train_length"]) is int
        assert encoding == yarn(8, train_length=512)


def test_one_value_for_one_head_is_not_a_scalar():
    assert xpos(8, gamma=(0.4,)) != xpos(8)
    assert xpos(8, gamma=(0.4,)).rates.shape == (1, 4)


# The second term


@given(st.floats(0, 2), st.lists(st.integers(-300, 300), min_size=1, max_size=5))
def test_alibi_falls_with_distance(slope, lags):
    bias = bias_of(alibi(8, slope=slope), torch.tensor(lags))
    assert bias.tolist() == [-slope * abs(lag) for lag in lags]


def test_buckets_are_those_of_exact_integers():
    lags = [*range(-3, 300), 2**20]
    for buckets in (16, 32):
        expected = [reference.t5_bucket(lag, buckets) for lag in lags]
        assert t5_bucket(torch.tensor(lags), buckets).tolist() == expected
    assert t5_bucket(torch.tensor([3.9, -0.5, -(2.0**53)])).tolist() == [3, 0, 0]


def test_t5_reads_its_table():
    lags = range(-40, 200)
    table, both = (
        bias_of(constructor(8, table=cases.LEARNED), torch.tensor(lags)).tolist()
        for constructor in (t5, t5_bidirectional)
    )
    assert table == [cases.LEARNED[reference.t5_bucket(lag)] for lag in lags]
    assert both == [
        cases.LEARNED[reference.t5_bucket(abs(lag), 16) + 16 * (lag < 0)] for lag in lags
    ]
    assert not bias_of(t5(8), torch.arange(-5, 5)).any()


BIASED = [
    alibi(8, slope=0.3),
    alibi(8, slope=cases.OWN["slope"]),
    t5(8, table=cases.LEARNED),
    t5(8, table=cases.OWN["table"]),
    t5_bidirectional(8, table=cases.OWN["table"]),
]


@pytest.mark.parametrize("shape", [(), (7,), (5, 6), (2, 5, 6), (4, 2, 5, 6)], ids=str)
@pytest.mark.parametrize("encoding", BIASED, ids=repr)
def test_a_bias_has_its_heads_before_the_matrix(encoding, shape):
    lags = torch.randint(-50, 50, shape, generator=torch.Generator().manual_seed(0))
    bias = bias_of(encoding, lags)
    assert bias.dtype == torch.float64
    if encoding.heads is None:
        assert bias.shape == shape
        return
    where = max(len(shape) - 2, 0)
    assert bias.shape == (*shape[:where], 3, *shape[where:])
    for head, alone in enumerate(cases.each_head(encoding)):
        assert torch.equal(bias.select(where, head), bias_of(alone, lags))


@pytest.mark.parametrize("encoding", BIASED, ids=repr)
def test_logits_are_scaled_scores_plus_bias(encoding):
    """By loops; for a matrix, heads, a batch, and positions of a batch."""
    at = torch.tensor([[0, 1, 2, 3], [7, 9, 30, 200]])
    heads = [encoding] if encoding.heads is None else list(cases.each_head(encoding))
    for shape, positions in (((4, 4), at[1]), ((3, 4, 4), at[1]), ((2, 3, 4, 4), at)):
        scores = cases.normal(*shape)
        logits = attention_logits(scores, encoding, mask="none", **cases.at(positions))
        many = len(heads) > 1 or len(shape) > 2
        assert logits.shape == ((3, 4, 4) if many and len(shape) == 2 else shape)
        tables = logits.reshape(-1, logits.shape[-3] if many else 1, 4, 4)
        whole = scores.reshape(len(tables), -1, 4, 4).expand(tables.shape)
        for batch, head, row, column in np.ndindex(tables.shape):
            own = positions if positions.ndim == 1 else positions[batch]
            bias = bias_of(heads[head % len(heads)], own[row] - own[column]).item()
            expected = whole[batch, head, row, column].item() / math.sqrt(8) + bias
            assert tables[batch, head, row, column].item() == pytest.approx(expected)


def test_a_mask_may_differ_by_head_where_the_encoding_does():
    encoding, scores = alibi(8, slope=(0.1, 0.2, 0.3)), cases.normal(4, 4)
    mask = torch.rand(3, 4, 4, generator=torch.Generator().manual_seed(0)) < 0.5
    logits = attention_logits(scores, encoding, mask=mask)
    assert torch.equal(logits == -torch.inf, ~mask)


@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_logits_keep_their_dtype(dtype):
    scores = cases.normal(3, 4, 4, dtype=dtype)
    for encoding in (*cases.registered(8), *cases.per_head(8)):
        assert attention_logits(scores, encoding).dtype == dtype


def test_heads_that_do_not_fit_the_scores_are_refused():
    encoding = alibi(8, slope=(0.1, 0.2))
    assert message(attention_logits, torch.zeros(3, 4, 4), encoding) == (
        "the encoding has values for 2 heads, got scores of shape (3, 4, 4); "
        "use an encoding with as many heads, or scores[:, None]."
    )
    at = cases.at(torch.zeros(2, 4))
    assert message(attention_logits, torch.zeros(2, 4, 4), encoding, **at) == (
        "scores must have each dimension of the bias (batch, heads, L_q, L_k), got (2, 4, 4) "
        "and a bias (2, 2, 4, 4); use scores[:, None]."
    )
    assert attention_logits(torch.zeros(2, 1, 4, 4), encoding, **at).shape == (2, 2, 4, 4)
    with pytest.raises(ValueError, match="has values for 2 heads"):
        attention_logits(torch.zeros(3, 4, 4), yarn(8, factor=(1.0, 2.0)))
    rates_alone = xpos(8, gamma=(0.2, 0.4))  # its scores may be those of one head, by text
    assert attention_logits(torch.zeros(3, 4, 4), rates_alone).shape == (3, 4, 4)


# Temperature


@given(cases.encodings())
def test_temperature_is_that_of_the_oracle(encoding):
    expected = reference.temperature(encoding.name, **dict(encoding.parameters[1:]))
    assert encoding.temperature == pytest.approx(expected, rel=tolerances.EXACT)


@pytest.mark.parametrize("encoding", [yarn(8), yarn_hf(8), longrope(8)], ids=repr)
def test_a_temperature_is_applied_once_and_on_the_logits(encoding):
    """Turned vectors keep their norms, and scores are those of the angles alone."""
    q, k = cases.normal(2, 5, 8)
    turned, _ = apply_encoding(q, k, encoding)
    assert torch.allclose(turned.norm(dim=-1), q.norm(dim=-1), rtol=tolerances.EXACT)
    scores = attention_scores(q, k, encoding)
    logits = attention_logits(scores, encoding, mask="none")
    assert encoding.temperature > 1.1
    assert torch.allclose(logits, scores * encoding.temperature / math.sqrt(8))


# Encodings that turn only some columns


INNER = [each for each in (*cases.assorted(8), *cases.per_head(8)) if each.bias is None]


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("inner", INNER, ids=repr)
def test_columns_beyond_the_rotary_width_are_left_as_they_are(inner, layout):
    encoding = inner.within(16)
    assert (encoding.head_dim, encoding.rotary_width) == (16, 8)
    assert encoding.heads == inner.heads
    assert encoding.rates.shape == (*inner.rates.shape[:-1], 8)
    heads = inner.heads or 1
    q, k = cases.normal(2, heads, 20, 16)
    turned, _ = apply_encoding(q, k, encoding, layout=layout)
    alone, _ = apply_encoding(q[..., :8], k[..., :8], inner, layout=layout)
    assert torch.allclose(turned, torch.cat([alone, q[..., 8:]], -1), rtol=tolerances.EXACT)
    scores = attention_scores(q, k, encoding, layout=layout)
    short = attention_scores(q[..., :8], k[..., :8], inner, layout=layout)
    expected = short + q[..., 8:] @ k[..., 8:].mT
    assert torch.allclose(scores, expected, rtol=tolerances.EXACT, atol=tolerances.EXACT)
    curve = decay_curve(inner, range(9)) + 4
    assert torch.allclose(decay_curve(encoding, range(9)), curve, rtol=tolerances.EXACT)


def test_a_part_of_the_columns_is_data_like_every_other_parameter():
    encoding = rope(8, base=100.0).within(16)
    assert repr(encoding) == "rope(16, base=100.0, rotary_width=8)"
    assert encoding == Encoding("rope", (("head_dim", 16), ("base", 100.0), ("rotary_width", 8)))
    assert hash(encoding) != hash(rope(16, base=100.0))
    assert encoding.replace(base=7.0) == rope(8, base=7.0).within(16)
    assert encoding.within(32).rotary_width == 8
    assert (
        encoding.replace(rotary_width=16) == rope(16, base=100.0) == rope(16, base=100.0).within(16)
    )
    assert longrope(4, factors=(1.0, 2.0)).within(8).theta.tolist() == [1.0, 0.005, 0.0, 0.0]


@pytest.mark.parametrize("width", [0, 3, 18, 8.0, True, None, "8"])
def test_a_rotary_width_that_does_not_fit_is_refused(width):
    with pytest.raises(ValueError) as caught:
        rope(16).replace(rotary_width=width)
    assert str(caught.value) == (
        f"rotary_width must be an even integer from 2 to 16, the head_dim, got {width!r}; "
        "use 16 to turn all columns."
    )


# Messages

FACTOR = "use 1 for the range of training, or how many times longer the texts are."
TABLE = "use the learned values of a model, rows for heads."
FEW = tuple(float(n) for n in range(31))


@pytest.mark.parametrize(
    ("constructor", "parameters", "text"),
    [
        (
            xpos,
            {"gamma": (0.2, -1)},
            "gamma must be a finite number > 0, got -1 in (0.2, -1); the usual value is 0.4.",
        ),
        (
            xpos,
            {"gamma": ()},
            "gamma must be one number, or one for each head, got (); the usual value is 0.4.",
        ),
        (
            xpos,
            {"gamma": (0.2, 0.4), "scale_base": (64, 128, 512)},
            (
                "parameters of heads must be for one number of heads, got 2 for gamma and 3 for "
                "scale_base; use one number, or as many as there are heads."
            ),
        ),
        (
            p_rope,
            {"share": 1.5},
            "share must be a finite number ≥ 0 and ≤ 1, got 1.5; 0 is nope() and 1 is rope().",
        ),
        (
            retnet,
            {"decay": 0},
            (
                "decay must be a finite number > 0 and ≤ 1, got 0; "
                "use 1 − 2^(−5−h) for head h: retnet_decays(8)."
            ),
        ),
        (
            retnet,
            {"decay": (0.5, True)},
            (
                "decay must be a finite number > 0 and ≤ 1, got True in (0.5, True); "
                "use 1 − 2^(−5−h) for head h: retnet_decays(8)."
            ),
        ),
        (interpolation, {"factor": 0.5}, f"factor must be a finite number ≥ 1, got 0.5; {FACTOR}"),
        (
            longrope,
            {"factors": (1.0, 2.0)},
            f"factors must be one number, or 4, one for each pair, got (1.0, 2.0); {FACTOR}",
        ),
        (
            yarn,
            {"train_length": 100.5},
            (
                "train_length must be an integer ≥ 2, got 100.5; "
                "use the length of the texts in training, such as 2048 tokens."
            ),
        ),
        (
            yarn,
            {"train_length": (100, 200)},
            (
                "train_length must be one number, got (100, 200); "
                "use the length of the texts in training, such as 2048 tokens."
            ),
        ),
        (
            dynamic_ntk,
            {"current_length": 0},
            (
                "current_length must be an integer ≥ 1, got 0; "
                "use the length of the text, such as 4096 tokens."
            ),
        ),
        (
            yarn_hf,
            {"truncate": 2},
            (
                "truncate must be an integer ≥ 0 and ≤ 1, got 2; "
                "use 1 for a ramp between whole pairs, or 0."
            ),
        ),
        (
            llama3,
            {"low_turns": 4.0},
            "low_turns must be below high_turns, got 4.0 and 4.0; the usual value is 1.",
        ),
        (
            yarn,
            {"low_turns": (1, 9), "high_turns": (8, 8)},
            (
                "low_turns must be below high_turns, got (1.0, 9.0) and (8.0, 8.0); "
                "the usual value is 1."
            ),
        ),
        (
            yarn,
            {"high_turns": -1},
            (
                "high_turns must be a finite number ≥ 0, got -1; "
                "the usual value is 32 in YaRN, 4 in Llama 3."
            ),
        ),
        (
            alibi,
            {"slope": -0.5},
            "slope must be a finite number ≥ 0, got -0.5; use alibi_slopes(8) for 8 heads.",
        ),
        (t5, {"table": 0.5}, f"table must be 32 numbers, or 32 for each head, got 0.5; {TABLE}"),
        (
            t5,
            {"table": FEW},
            f"table must be 32 numbers, or 32 for each head, got {FEW!r:.60}; {TABLE}",
        ),
        (
            t5,
            {"table": [[0.0] * 32, [0.0] * 31]},
            f"table must be 32 numbers, or 32 for each head, got {[[0.0] * 32]!r:.60}; {TABLE}",
        ),
        (
            t5,
            {"table": [math.inf] * 32},
            f"table must be a finite number, got inf in {[math.inf] * 32!r:.60}; {TABLE}",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)[:40]),
)
def test_what_a_parameter_may_not_be(constructor, parameters, text):
    assert message(constructor, 8, **parameters) == text


@pytest.mark.parametrize("function", [alibi_slopes, retnet_decays])
@pytest.mark.parametrize("heads", [0, -1, 1.5, True, "8"])
def test_an_impossible_number_of_heads_is_refused(function, heads):
    assert message(function, heads) == (
        f"heads must be an integer ≥ 1, got {heads!r}; use 8, for instance."
    )


def test_q_of_other_heads_is_refused():
    q = torch.zeros(4, 5, 8)
    assert message(attention_scores, q, q, alibi(8, slope=(0.1, 0.2))) == (
        "the encoding has rates for 2 heads, got q with 4; use an encoding with as many heads as q."
    )


@each_registered
def test_no_width_is_too_large_to_be_described(encoding):
    """Tensors are made when they are asked for, so that an address cannot ask for all memory."""
    assert encoding.replace(head_dim=10**12).head_dim == 10**12

"""The one formula: theorem, oracle, golden numbers, positions, heads, layouts."""

import pytest
import torch

from tests import cases, reference, tolerances
from xpos_viz import apply_encoding, attention_scores, lag_response, nope, rope, xpos
from xpos_viz.entry import Layout

each_layout = pytest.mark.parametrize("layout", cases.LAYOUTS)
each_encoding = pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)


def as_pairs(x, layout):
    """(…, d) → complex (…, d/2), written out for both layouts."""
    half = x.shape[-1] // 2
    if layout == "half":
        return torch.complex(x[..., :half], x[..., half:])
    return torch.complex(x[..., 0::2], x[..., 1::2])


def lag_form(q, k, encoding, m, n, layout):
    """The formula of the README, and Σ |q_i||k_i| ζ_i^(Δ/B), for (…, tokens, d)."""
    lags = (m[:, None] - n).flatten()
    response = lag_response(encoding, lags).unflatten(-2, (len(m), len(n)))
    products = as_pairs(q, layout)[..., :, None, :] * as_pairs(k, layout).conj()[..., None, :, :]
    return (products * response).real.sum(-1), (products.abs() * response.abs()).sum(-1)


@each_layout
@each_encoding
@pytest.mark.parametrize(
    ("offset", "origin"), [(0, 0.0), (1000, 0.0), (-37.5, 0.0), (1000, 990.0), (10**9, 1e9)]
)
def test_factor_form_is_lag_form(encoding, offset, origin, layout):
    """The theorem: q e^(λm) · k e^(−λ̄n) depends on m − n alone, and is Σ q k̄ e^(λ(m−n))."""
    q, k = cases.normal(2, 12, 8)
    m = offset + torch.arange(12, dtype=torch.float64)
    n = m + 0.25 * torch.arange(12) - 3
    expected, sizes = lag_form(q, k, encoding, m, n, layout)
    at = cases.at(m, n)
    turned_q, turned_k = apply_encoding(q, k, encoding, origin=origin, layout=layout, **at)
    scores = attention_scores(q, k, encoding, layout=layout, **at)
    assert tolerances.within(turned_q @ turned_k.mT, expected, tolerances.EXACT * sizes)
    assert tolerances.within(scores, expected, tolerances.EXACT * sizes)


@each_layout
@each_encoding
def test_scores_are_those_of_the_oracle(encoding, layout):
    q, k = cases.normal(2, 9, 8, seed=1)
    positions = range(9)
    rates = cases.oracle_rates(encoding)
    expected = reference.matrix(reference.score, q, k, positions, positions, rates, layout)
    sizes = reference.matrix(reference.bound, q, k, positions, positions, rates, layout)
    error = abs(attention_scores(q, k, encoding, layout=layout).numpy() - expected)
    assert (error <= tolerances.EXACT * sizes).all()


@pytest.mark.parametrize(
    ("m", "n", "expected"),
    [
        (0, 0, 5.5),
        (1, 0, 4.433873933312),
        (3, 1, 5.653247128252),
        (512, 0, 6.444516787723),
        (1024, 0, 0.102179128071),
    ],
)
def test_hand_case(m, n, expected):
    """Computed by hand, d = 4; with real content decay is not monotone: it rises at 512."""
    q = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    k = torch.tensor([[0.5, -1.0, 2.0, 0.25]], dtype=torch.float64)
    score = attention_scores(q, k, xpos(4), query_positions=[m], key_positions=[n])
    assert score.item() == pytest.approx(expected, abs=tolerances.HAND)


SCORES = [name for name in cases.golden() if name.startswith("scores/")]
DECODE = [name for name in cases.golden() if name.startswith("decode/")]


def golden_layout(name) -> Layout:
    return "half" if name.split("/")[1] in ("flash_attn_half", "hf_llama") else "interleaved"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", SCORES)
def test_scores_are_those_of_other_implementations(name, dtype):
    case = name.split("/")[-1]
    encoding, layout = cases.golden_encoding(case), golden_layout(name)
    rows = torch.from_numpy(cases.golden()[f"rows/{case}"]).double()
    q, k = (x[rows.long()] for x in cases.golden_inputs(encoding.head_dim))
    q, k = q.to(dtype), k.to(dtype)
    scores = attention_scores(q, k, encoding, layout=layout, **cases.at(rows)).double()
    error = (scores - torch.from_numpy(cases.golden()[name])).abs()
    causal = rows[:, None] >= rows
    _, sizes = lag_form(q, k, encoding, rows, rows, layout)
    assert error[causal].max() <= tolerances.GOLDEN[512 if "_L512_" in case else 64]
    assert (error / sizes)[~causal].max() <= tolerances.GOLDEN_ACAUSAL


@pytest.mark.parametrize("name", DECODE)
def test_a_cached_decode_step_needs_no_positions(name):
    """The last queries against all cached keys: the default positions are the right ones."""
    case = name.split("/")[-1]
    columns = torch.from_numpy(cases.golden()[f"columns/{case}"]).long()
    expected = torch.from_numpy(cases.golden()[name]).double()
    q, k = cases.golden_inputs(64)
    scores = attention_scores(
        q[-len(expected) :], k, cases.golden_encoding(case), layout=golden_layout(name)
    )
    lags = torch.arange(512 - len(expected), 512)[:, None] - columns
    error = (scores[:, columns] - expected)[lags >= 0].abs()
    assert error.max() <= tolerances.GOLDEN[512]


def test_every_implementation_is_represented():
    names = {name.split("/")[1] for name in (*SCORES, *DECODE)}
    assert names == {
        "torchscale", "rotary_embedding_torch", "x_transformers", "hf_llama", "ref_scores",
        "flash_attn_half", "flash_attn_interleaved", "audiocraft",
    }  # fmt: skip
    assert {len(cases.golden()[name]) for name in DECODE} == {1, 7}


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
def test_default_positions(encoding):
    q, k = cases.normal(3, 8), cases.normal(10, 8, seed=1)
    plain = attention_scores(q, k, encoding)
    told = attention_scores(q, k, encoding, query_positions=[7, 8, 9], key_positions=range(10))
    assert torch.equal(plain, told)
    whole = attention_scores(torch.cat([cases.normal(7, 8, seed=2), q]), k, encoding)
    assert torch.allclose(whole[7:], plain, rtol=tolerances.EXACT, atol=tolerances.EXACT)


def test_default_query_positions_follow_the_keys_given():
    q, k = cases.normal(2, 8), cases.normal(5, 8, seed=1)
    keys = [3, 10, 11, 40, 41]
    given = attention_scores(q, k, xpos(8), key_positions=keys)
    told = attention_scores(q, k, xpos(8), key_positions=keys, query_positions=[40, 41])
    assert torch.equal(given, told)


@pytest.mark.parametrize("kind", [list, tuple, "numpy", torch.tensor])
def test_positions_may_be_of_any_kind(kind):
    q, k = cases.normal(2, 4, 8)
    numbers = torch.tensor([0.5, 1.0, 7.25, 30.0])
    at = numbers.numpy() if kind == "numpy" else kind(numbers.tolist())
    scores = attention_scores(q, k, xpos(8), **cases.at(at))
    exact = numbers.double()
    expected, sizes = lag_form(q, k, xpos(8), exact, exact, "interleaved")
    assert tolerances.within(scores, expected, tolerances.EXACT * sizes)


@pytest.mark.parametrize("scale_base", [512.0, 0.1], ids="B={}".format)
def test_each_text_of_a_batch_has_its_own_positions(scale_base):
    encoding = xpos(8, scale_base=scale_base)
    q, k = cases.normal(2, 3, 70, 8), cases.normal(2, 3, 70, 8, seed=1)
    at = torch.stack([torch.arange(70), 5 * torch.arange(70) - 9])
    together = attention_scores(q, k, encoding, **cases.at(at))
    turned = apply_encoding(q, k, encoding, **cases.at(at))
    for i, positions in enumerate(at):
        own = cases.at(positions)
        assert torch.equal(together[i], attention_scores(q[i], k[i], encoding, **own))
        for x, alone in zip(turned, apply_encoding(q[i], k[i], encoding, **own), strict=True):
            assert torch.allclose(x[i], alone, rtol=0, atol=0, equal_nan=True)


def test_one_set_of_key_positions_may_serve_a_batch_of_query_positions():
    q, k = cases.normal(2, 1, 4, 8), cases.normal(2, 1, 6, 8, seed=1)
    queries = torch.tensor([[2, 3, 4, 5], [5, 6, 7, 8]])
    scores = attention_scores(q, k, xpos(8), query_positions=queries)
    for i in range(2):
        alone = attention_scores(q[i], k[i], xpos(8), query_positions=queries[i])
        assert torch.allclose(scores[i], alone, rtol=tolerances.EXACT, atol=tolerances.EXACT)


@pytest.mark.parametrize("scale_base", [512.0, 0.1], ids="B={}".format)
@pytest.mark.parametrize(("query_heads", "key_heads"), [(6, 6), (6, 3), (6, 2), (6, 1)])
def test_neighbouring_query_heads_share_a_key_head(query_heads, key_heads, scale_base):
    encoding = xpos(8, scale_base=scale_base)
    q = cases.normal(2, query_heads, 70, 8)
    k = cases.normal(2, key_heads, 70, 8, seed=1)
    scores = attention_scores(q, k, encoding)
    assert scores.shape == (2, query_heads, 70, 70)
    for head in range(query_heads):
        shared = k[:, reference.key_head(head, query_heads, key_heads)]
        alone = attention_scores(q[:, head, None], shared[:, None], encoding)[:, 0]
        close = torch.isclose(scores[:, head], alone, rtol=1e-9, atol=tolerances.EXACT)
        assert bool(close.all())


def test_grouped_heads_are_turned_without_being_repeated():
    q, k = cases.normal(2, 6, 5, 8), cases.normal(2, 3, 5, 8, seed=1)
    turned_q, turned_k = apply_encoding(q, k, xpos(8))
    assert (turned_q.shape, turned_k.shape) == (q.shape, k.shape)
    scores = turned_q @ turned_k.repeat_interleave(2, 1).mT
    assert torch.allclose(scores, attention_scores(q, k, xpos(8)), atol=tolerances.EXACT)


@each_layout
@pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
def test_dtype_and_device_are_those_of_the_input(dtype, layout):
    q, k = cases.normal(2, 3, 40, 8, dtype=dtype)
    for encoding in (*cases.assorted(8), xpos(8, scale_base=0.1)):
        turned = apply_encoding(q, k, encoding, layout=layout)
        for x in (*turned, attention_scores(q, k, encoding, layout=layout)):
            assert (x.dtype, x.device) == (dtype, q.device)


@pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
@pytest.mark.parametrize(("queries", "keys"), [(0, 0), (0, 5), (5, 0)])
def test_an_empty_sequence_gives_an_empty_matrix(encoding, queries, keys):
    q, k = torch.zeros(2, queries, 8), torch.zeros(2, keys, 8)
    positions = cases.at(range(queries), range(keys))
    assert attention_scores(q, k, encoding, **positions).shape == (2, queries, keys)
    turned = apply_encoding(q, k, encoding, **positions)
    assert [x.shape for x in turned] == [q.shape, k.shape]


def test_no_heads_and_no_batch_give_empty_matrices():
    assert attention_scores(torch.zeros(0, 3, 8), torch.zeros(0, 3, 8), xpos(8)).shape == (0, 3, 3)
    q = torch.zeros(0, 2, 3, 8)
    assert attention_scores(q, q, xpos(8, scale_base=0.01)).shape == (0, 2, 3, 3)


def test_inputs_are_left_as_they_were():
    q, k = cases.normal(2, 5, 8, dtype=torch.float32)
    before = q.clone(), k.clone()
    attention_scores(q, k, xpos(8))
    apply_encoding(q, k, nope(8))[0].add_(1.0)
    assert torch.equal(q, before[0])
    assert torch.equal(k, before[1])


def test_a_transposed_view_is_read_as_what_it_shows():
    q, k = cases.normal(2, 5, 3, 8).transpose(1, 2)
    expected = attention_scores(q.contiguous(), k.contiguous(), rope(8))
    assert torch.equal(attention_scores(q, k, rope(8)), expected)

"""The drop-in layer: training, compiling, casting, and decoding for ever."""

import copy
import math
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from tests import cases, reference, tolerances
from xpos_viz import (
    Encoding,
    apply_encoding,
    attention_logits,
    attention_scores,
    attention_weights,
    nope,
    rope,
    xpos,
)
from xpos_viz.entry import FAR
from xpos_viz.module import KeyCache, RotaryXPos

LONG = 100_000
each_encoding = pytest.mark.parametrize("encoding", cases.assorted(8), ids=repr)
each_dtype = pytest.mark.parametrize("dtype", cases.DTYPES, ids=str)
steep = xpos(8, scale_base=8.0)
EMPTY: Any = None


headed = cases.Headed.of(xpos(8, scale_base=64.0))


class Warm(Encoding):
    """RoPE whose two heads have temperatures of their own."""

    @property
    def heads(self):
        return 2

    @property
    def temperature(self) -> Any:
        return torch.tensor([[[1.0]], [[2.0]]])


def met(turned, cache):
    """Scores of turned queries with the keys of a cache, which neighbouring heads share."""
    keys = cache.keys
    if keys.ndim > 2 and keys.shape[-3] != turned.shape[-3]:
        keys = keys.repeat_interleave(turned.shape[-3] // keys.shape[-3], -3)
    return turned.double() @ keys.double().mT


def fed(rotary, q, k, chunks, window=None):
    """Scores of the queries of each chunk with all keys so far, and the last cache."""
    cache, rows, start = EMPTY, [], 0
    for size in chunks:
        tokens = slice(start, start + size)
        turned, cache = rotary.decode(q[..., tokens, :], k[..., tokens, :], cache)
        cache = cache if window is None else cache.last(window)
        scores = met(turned, cache)
        rows.append(torch.nn.functional.pad(scores, (0, k.shape[-2] - scores.shape[-1])))
        start += size
    return torch.cat(rows, -2), cache


def sizes(q, k, encoding, m, n):
    """Σ |q_i||k_i| ζ_i^(Δ/B) of each cell, 0 in the acausal half."""
    lags = torch.as_tensor(m).double()[:, None] - torch.as_tensor(n).double()
    decay = encoding.log_decay[..., None, None, :] * lags[..., None]
    moduli = [x.double().unflatten(-1, (-1, 2)).norm(dim=-1) for x in (q, k)]
    products = moduli[0][..., :, None, :] * moduli[1][..., None, :, :]
    return (products * decay.exp()).sum(-1).masked_fill(lags < 0, 0.0)


def assert_same(scores, q, k, encoding, m, n, rebased=0):
    """Causal scores are those of the whole sequence, within the rounding of their dtype."""
    exact = attention_scores(
        q.double(), k.double(), encoding, query_positions=m, key_positions=n
    ).tril(int(m[0] - n[0]))
    size = sizes(q, k, encoding, m, n)
    constant = tolerances.FACTOR_FORM + rebased
    allowed = tolerances.allowance(q.dtype, encoding.rates.flatten(), len(n), size, constant)
    assert tolerances.within(scores.double().tril(int(m[0] - n[0])), exact, allowed)


@each_dtype
@each_encoding
def test_products_are_the_scores_of_the_formula(encoding, dtype):
    q, k = cases.normal(2, 20, 8, dtype=dtype), cases.normal(2, 23, 8, seed=1, dtype=dtype)
    turned_q, turned_k = RotaryXPos(encoding)(q, k)
    assert (turned_q.dtype, turned_k.dtype) == (dtype, dtype)
    exact = torch.stack(
        [
            torch.from_numpy(
                reference.matrix(
                    reference.score,
                    *(q[b].tolist(), k[b].tolist()),
                    *(range(3, 23), range(23), encoding.rates.tolist()),
                )
            )
            for b in range(2)
        ]
    ).tril(3)
    size = sizes(q, k, encoding, range(3, 23), range(23))
    allowed = tolerances.allowance(dtype, encoding.rates, 23, size, tolerances.FACTOR_FORM)
    product = turned_q.double() @ turned_k.double().mT
    assert tolerances.within(product.tril(3), exact, allowed)


@pytest.mark.parametrize("layout", cases.LAYOUTS)
@pytest.mark.parametrize("encoding", [*cases.assorted(8), headed], ids=repr)
def test_the_layer_is_apply_encoding(encoding, layout):
    q, k = cases.normal(2, 4, 5, 8), cases.normal(2, 2, 9, 8, seed=1)
    rotary = RotaryXPos(encoding, layout=layout)
    rows = torch.stack([torch.arange(9), torch.arange(9) - 4])
    for positions in ({}, cases.at(rows[0, 4:] + 3, rows[0]), cases.at(rows[:, 4:] + 0.5, rows)):
        ours = rotary(q, k, *positions.values(), origin=4.5)
        theirs = apply_encoding(q, k, encoding, layout=layout, origin=4.5, **positions)
        assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize("encoding", [*cases.assorted(8), steep, headed], ids=repr)
def test_a_cache_filled_in_chunks_gives_the_scores_of_the_whole(encoding, size, dtype):
    q = cases.normal(4, 280, 8, dtype=dtype)
    k = cases.normal(2, 280, 8, seed=1, dtype=dtype)
    rotary = RotaryXPos(encoding)
    size = min(size, rotary.chunk(dtype))
    scores, cache = fed(rotary, q, k, [size] * (280 // size) + [280 % size] * (280 % size > 0))
    rebased = 280 // rotary.chunk(dtype)
    exact_k = k.repeat_interleave(2, 0)
    assert_same(scores, q, exact_k, encoding, range(280), range(280), rebased)
    assert (cache.tokens, cache.positions.tolist()) == (280, list(range(280)))
    assert cache.keys.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("encoding", [rope(4), xpos(4), xpos(4, scale_base=2.0)], ids=repr)
def test_decoding_goes_on_beyond_100_000_tokens(encoding, size, dtype):
    steps = 140
    q = cases.normal(steps, 4, dtype=dtype)
    k = cases.normal(LONG + steps, 4, seed=1, dtype=dtype)
    rotary = RotaryXPos(encoding)
    _, cache = rotary.decode(k[LONG - 1 : LONG], k[:LONG])
    rows, origins = [], {cache.origin}
    for start in range(0, steps, size):
        tokens = slice(start, start + size)
        turned, cache = rotary.decode(q[tokens], k[LONG:][tokens], cache)
        rows.append(met(turned, cache)[-1])
        origins.add(cache.origin)
    assert cache.tokens == len(cache.keys) == LONG + steps
    assert cache.keys.isfinite().all()
    assert (len(origins) > 1) == (rotary.chunk(dtype) < steps)
    for last in (0, len(rows) - 1):
        row = (last + 1) * size - 1
        m, n = LONG + row, range(LONG + row + 1)
        assert_same(rows[last][None], q[row : row + 1], k[: m + 1], encoding, [m], n, len(origins))


def test_a_million_tokens_later_nothing_has_grown():
    rotary = RotaryXPos(xpos(4, scale_base=64.0))
    ones = torch.ones(1, 4, dtype=torch.float16)
    cache = KeyCache(ones, 10**6, 10**6 - 10)
    turned = ones
    for _ in range(3 * rotary.chunk(torch.float16)):
        turned, cache = rotary.decode(ones, ones, cache.last(50))
    assert cache.keys.abs().max() <= torch.finfo(torch.float16).max ** 0.5
    assert cache.tokens > 10**6
    assert cache.origin > 10**6
    assert met(turned, cache)[0, -1].item() == pytest.approx(4.0, rel=torch.finfo(torch.half).eps)


@given(
    encoding=cases.encodings(head_dims=(4,), scale_bases=(0.1, 1e4)),
    chunks=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    dtype=st.sampled_from(cases.DTYPES),
)
def test_any_chunks_of_any_encoding(encoding, chunks, dtype):
    rotary = RotaryXPos(encoding)
    chunks = [min(size, rotary.chunk(dtype)) for size in chunks]
    total = sum(chunks)
    q, k = cases.normal(total, 4, dtype=dtype), cases.normal(total, 4, seed=1, dtype=dtype)
    scores, cache = fed(rotary, q, k, chunks)
    assert_same(scores, q, k, encoding, range(total), range(total), len(chunks))
    assert not cache.keys.isnan().any()


def test_a_window_of_the_cache_keeps_its_positions():
    q, k = cases.normal(100, 8), cases.normal(100, 8, seed=1)
    whole, _ = fed(RotaryXPos(steep), q, k, [1] * 100)
    rows, cache = fed(RotaryXPos(steep), q, k, [1] * 100, window=10)
    assert cache.positions.tolist() == list(range(90, 100))
    assert cache.keys.shape == (10, 8)
    torch.testing.assert_close(rows[-1, :10], whole[-1, 90:])
    assert cache.last(0).keys.shape == (0, 8)
    assert torch.equal(cache.last(99).keys, cache.keys)


def test_decoding_changes_no_cache():
    rotary, x = RotaryXPos(steep), cases.normal(3, 8)
    _, cache = rotary.decode(x, x)
    before = cache.keys.clone()
    for _ in range(2):
        _, later = rotary.decode(x[:1], x[:1].expand(5000, -1), cache)
        assert later.origin > cache.origin
    assert torch.equal(cache.keys, before)


CASTS = {
    "half": lambda rotary: rotary.half(),
    "to bfloat16": lambda rotary: rotary.to(torch.bfloat16),
    "to device and dtype": lambda rotary: rotary.to("cpu", torch.float16),
    "inside of a model": lambda rotary: torch.nn.Sequential(rotary).half()[0],
    "deepcopy": lambda rotary: copy.deepcopy(rotary).half(),
    "pickle": lambda rotary: pickle.loads(pickle.dumps(rotary)),
    "meta and back": lambda rotary: rotary.to("meta").to_empty(device="cpu"),
}


@pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)
@pytest.mark.parametrize("encoding", [xpos(8), headed], ids=repr)
def test_no_cast_of_a_model_degrades_the_rates(encoding, cast):
    q, k = cases.normal(4, 5, 8), cases.normal(4, 5, 8, seed=1)
    at = torch.arange(5) + 3000
    expected = apply_encoding(q, k, encoding, **cases.at(at))
    actual = cast(RotaryXPos(encoding))(q, k, at, at)
    assert all(torch.equal(*pair) for pair in zip(actual, expected, strict=True))


def test_the_layer_has_no_state():
    rotary = RotaryXPos(xpos(8))
    assert list(rotary.parameters()) == []
    assert rotary.state_dict() == {}
    assert str(rotary.load_state_dict({})) == "<All keys matched successfully>"
    assert repr(rotary) == f"RotaryXPos({xpos(8)!r}, layout='interleaved')"


def compiled(function):
    """The same function as one graph for every length."""
    torch.compiler.reset()
    return torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)


def test_the_layer_compiles_whole():
    rotary = RotaryXPos(headed)
    layer = compiled(rotary)
    for tokens in (5, 9):
        q, k = cases.normal(2, 4, tokens - 2, 8), cases.normal(2, 2, tokens, 8, seed=tokens)
        positions = (None, torch.arange(tokens) + 1000)
        options = {"origin": tokens / 4}
        actual, expected = layer(q, k, *positions, **options), rotary(q, k, *positions, **options)
        assert all(torch.equal(*pair) for pair in zip(actual, expected, strict=True))


def test_decoding_compiles_whole():
    rotary = RotaryXPos(cases.Headed.of(xpos(4, scale_base=1.0)))

    def attend(x, cache):
        turned, cache = rotary.decode(x[:, :1], x, cache)
        return turned @ cache.keys.mT + rotary.attn_mask(turned, cache.keys), cache

    step, caches = compiled(attend), [EMPTY, EMPTY]
    for tokens in (9, 350):
        x = cases.normal(4, tokens, 4)
        actual, caches[0] = step(x, caches[0])
        expected, caches[1] = attend(x, caches[1])
        assert torch.equal(actual, expected)
        assert caches[0].origin == caches[1].origin
    assert caches[0].origin > 0


@pytest.mark.parametrize("encoding", [xpos(4, scale_base=4.0), rope(4), nope(4)], ids=repr)
def test_gradients_are_those_of_finite_differences(encoding):
    rotary = RotaryXPos(encoding, layout="half")
    q, k = (cases.normal(2, 4, 4, seed=seed).requires_grad_() for seed in (0, 1))

    def decoded(q, k):
        _, cache = rotary.decode(q[..., :2, :], k[..., :2, :])
        turned, cache = rotary.decode(q[..., 2:3, :].expand(-1, 1, -1), k[..., 2:, :], cache)
        return turned, cache.keys

    assert torch.autograd.gradcheck(rotary, (q, k))
    assert torch.autograd.gradcheck(decoded, (q, k))


@pytest.mark.parametrize("encoding", [xpos(8), rope(8), headed], ids=repr)
@pytest.mark.parametrize("mask", ["causal", "sliding:3"])
def test_torch_attends_as_our_weights_do(encoding, mask):
    q, k, v = (cases.normal(2, 4, 6, 8, seed=seed) for seed in range(3))
    rotary = RotaryXPos(encoding)
    logits = attention_logits(attention_scores(q, k, encoding), encoding, mask=mask)
    expected = attention_weights(logits) @ v
    hidden = rotary.attn_mask(q, k, mask=mask)
    turned_q, turned_k = rotary(q, k)
    actual = scaled_dot_product_attention(turned_q, turned_k, v, hidden, scale=rotary.logit_factor)
    torch.testing.assert_close(actual, expected)


def test_grouped_heads_attend_with_enable_gqa():
    q, k, v = cases.normal(2, 4, 6, 8), *(cases.normal(2, 2, 6, 8, seed=seed) for seed in (1, 2))
    expected = attention_weights(attention_logits(attention_scores(q, k, xpos(8)), xpos(8)))
    turned_q, turned_k = RotaryXPos(xpos(8))(q, k)
    actual = scaled_dot_product_attention(turned_q, turned_k, v, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(actual, expected @ v.repeat_interleave(2, 1))


@pytest.mark.parametrize("encoding", [steep, headed], ids=repr)
def test_attention_with_a_cache_is_that_of_the_whole(encoding):
    q, k, v = (cases.normal(2, 4, 30, 8, seed=seed) for seed in range(3))
    logits = attention_logits(attention_scores(q, k, encoding), encoding)
    expected = attention_weights(logits) @ v
    rotary, cache = RotaryXPos(encoding), EMPTY
    for end in (11, 12, 19, 30):
        new = slice(cache.tokens if cache else 0, end)
        turned, cache = rotary.decode(q[..., new, :], k[..., new, :], cache)
        hidden = rotary.attn_mask(turned, cache.keys)
        actual = scaled_dot_product_attention(
            turned, cache.keys, v[..., :end, :], hidden, scale=rotary.logit_factor
        )
        torch.testing.assert_close(actual, expected[..., new, :])


@pytest.mark.parametrize("mask", ["causal", "blockwise:2", torch.ones(2, 3, dtype=torch.bool)])
@pytest.mark.parametrize("encoding", [rope(8), xpos(8)], ids=repr)
def test_a_mask_knows_positions_in_batches(encoding, mask):
    q, k = cases.normal(2, 4, 2, 8), cases.normal(2, 4, 3, 8)
    rows = torch.tensor([[0, 1, 2], [2, 1, 0]])
    for batch, positions in ((2, cases.at(rows[:, 1:], rows)), (1, cases.at(rows[1, 1:], rows[1]))):
        added = RotaryXPos(encoding).attn_mask(q, k, mask=mask, **positions)
        blank = torch.zeros(batch, 1, 2, 3).double()
        expected = attention_logits(blank, encoding, mask=mask, **positions)
        assert torch.equal(added, expected if batch == 2 else expected[0, 0])


def test_a_mask_is_no_word_or_of_numbers():
    rotary, x = RotaryXPos(rope(8)), torch.zeros(2, 8)
    assert message(rotary.attn_mask, x, x, mask="casual") == message(
        attention_logits, torch.zeros(2, 2), rope(8), mask="casual"
    )
    assert message(rotary.attn_mask, x, x, mask=torch.ones(2, 2)) == (
        "mask must be bool (True = may attend), got torch.float32; use mask.bool()."
    )


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_the_bias(copied):
    x = cases.normal(4, 3, 8)
    rotary = RotaryXPos(headed)
    assert torch.equal(copied(rotary).attn_mask(x, x), rotary.attn_mask(x, x))


def test_chunks_by_dtype():
    assert RotaryXPos(rope(64)).chunk(torch.float16) == FAR
    assert RotaryXPos(xpos(64)).chunk(torch.float16) == 1133  # 512·ln(65504)/4/ln(3.5)
    assert RotaryXPos(xpos(64)).chunk(torch.float32) == 9065  # 512·ln(3.4e38)/4/ln(3.5)
    assert RotaryXPos(xpos(64, scale_base=0.01)).chunk(torch.float32) == 1
    with pytest.raises(ValueError) as caught:
        RotaryXPos(rope(64)).chunk(torch.int64)
    assert str(caught.value) == (
        "dtype must be one of torch.float16, torch.bfloat16, torch.float32, torch.float64, "
        "got torch.int64; use torch.float32."
    )


POSITIONS = (
    "{} must be a tensor of integers, float32 or float64, got {}; "
    "use torch.arange(8), for instance."
)
QUERIES = (
    "q must have at most as many tokens as k and at most {} of torch.{}, got {} beside {} of k; "
    "use the last ones, or smaller chunks."
)
CACHE = (
    "the cache must fit keys {} of torch.{}, got {} of torch.{}; use None to start another cache."
)


def message(function: Any, *args: Any, **options: Any) -> str:
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_an_unknown_layout_lists_the_layouts():
    assert message(RotaryXPos, rope(8), layout="neox") == (
        f"unknown layout 'neox'; use one of: {', '.join(cases.LAYOUTS)}."
    )


@pytest.mark.parametrize(
    ("positions", "kind"),
    [
        ([0, 1], "list"),
        (torch.arange(2).bfloat16(), "torch.bfloat16"),
        (torch.arange(2).half(), "torch.float16"),
        (torch.ones(2, dtype=torch.bool), "torch.bool"),
        (torch.ones(2, dtype=torch.complex64), "torch.complex64"),
    ],
    ids=str,
)
def test_positions_that_cannot_count(positions, kind):
    rotary, x = RotaryXPos(rope(8)), torch.zeros(2, 8)
    assert message(rotary, x, x, positions) == POSITIONS.format("query_positions", kind)
    assert message(rotary, x, x, None, positions) == POSITIONS.format("key_positions", kind)


def test_positions_and_vectors_that_do_not_fit():
    rotary, x = RotaryXPos(rope(8)), torch.zeros(2, 8)
    assert message(rotary, x, x, torch.arange(3)) == (
        "query_positions must have the shape (2,) or (batch, 2), got (3,); "
        "use one position per query."
    )
    assert message(rotary, x, torch.zeros(1, 8)) == (
        "queries stand at the last positions of the keys, got 2 queries and 1 keys; "
        "use query_positions to say where they stand."
    )
    for call in (rotary, rotary.decode):
        assert message(call, x, x.half()) == (
            "q and k must share dtype and device, got torch.float32 on cpu and torch.float16 on "
            "cpu; use k.to(q)."
        )


def test_more_queries_than_a_cache_can_take():
    rotary = RotaryXPos(steep)
    x = torch.zeros(20, 8).half()
    assert message(rotary.decode, x[:3], x[:2]) == QUERIES.format(17, "float16", 3, 2)
    assert message(rotary.decode, x, x) == QUERIES.format(17, "float16", 20, 20)
    assert message(RotaryXPos(rope(8)).decode, x, x[:1]) == QUERIES.format(2**53, "float16", 20, 1)


def test_a_cache_of_other_keys():
    rotary, x = RotaryXPos(rope(8)), torch.zeros(2, 8)
    _, cache = rotary.decode(x, x)
    for other, dtype in ((torch.zeros(3, 2, 8), "float32"), (x.double(), "float64")):
        assert message(rotary.decode, other, other, cache) == CACHE.format(
            tuple(other.shape), dtype, (2, 8), "float32"
        )


@pytest.mark.parametrize("origin", [math.inf, -math.inf, math.nan], ids=repr)
def test_an_origin_that_is_nowhere(origin):
    x = torch.zeros(2, 8)
    assert message(RotaryXPos(rope(8)), x, x, origin=origin) == (
        f"origin must be a finite position in tokens, got {origin!r}; use 0.0."
    )


def test_a_window_of_fewer_than_no_tokens():
    _, cache = RotaryXPos(rope(8)).decode(torch.zeros(2, 8), torch.zeros(2, 8))
    assert message(cache.last, -1) == "a cache keeps ≥ 0 tokens, got -1; use 0 to keep none."


def test_temperatures_that_one_scale_cannot_hold():
    warm = Warm("rope", (("head_dim", 8),))
    rotary = RotaryXPos(warm)
    with pytest.raises(ValueError) as caught:
        _ = rotary.logit_factor
    assert str(caught.value) == (
        f"logit_factor must be one number, got {warm!r} with temperatures of 2 heads; "
        "use q * encoding.temperature, and None for 1/√d."
    )
    q, k, v = (cases.normal(2, 6, 8, seed=seed) for seed in range(3))
    turned_q, turned_k = rotary(q * warm.temperature, k)
    actual = scaled_dot_product_attention(turned_q, turned_k, v, is_causal=True)
    expected = attention_weights(attention_logits(attention_scores(q, k, warm), warm)) @ v
    torch.testing.assert_close(actual, expected)

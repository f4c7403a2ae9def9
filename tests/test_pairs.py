"""Pairs one by one: how fast they turn and fade, and their shares of a score."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import cases, reference, tolerances
from xpos_viz import attention_scores, kernel, nope, rope, xpos
from xpos_viz.curves import half_life, pair_shares, pair_table, turns, wavelength

each_kind = pytest.mark.parametrize("encoding", cases.all_kinds(8), ids=repr)


def message(function, *args, **options):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **options)
    return str(caught.value)


@each_kind
def test_wavelength_half_life_and_turns_are_those_of_the_rates(encoding):
    columns = [f.reshape(-1).tolist() for f in (wavelength(encoding), half_life(encoding))]
    around = turns(encoding, 100).reshape(-1).tolist()
    rates = [rate for head in cases.heads_of(encoding) for rate in head]
    for rate, wave, half, count in zip(rates, *columns, around, strict=True):
        assert wave == pytest.approx(2 * math.pi / rate.imag if rate.imag else math.inf)
        assert half == pytest.approx(math.log(0.5) / rate.real if rate.real else math.inf)
        assert count == pytest.approx(100 * rate.imag / 2 / math.pi)
    assert wavelength(encoding).shape == half_life(encoding).shape == encoding.rates.shape


@pytest.mark.parametrize(("head_dim", "last"), [(64, 15_721), (128, 31_620.5)])
def test_computed_half_lives(head_dim, last):
    found = half_life(xpos(head_dim))
    assert found[0].item() == pytest.approx(283.3, abs=0.05)
    assert found[-1].item() == pytest.approx(last, abs=0.5)


def test_what_neither_turns_nor_fades_never_ends():
    assert wavelength(nope(8)).tolist() == half_life(nope(8)).tolist() == [math.inf] * 4
    assert turns(nope(8), 10**9).tolist() == [0] * 4
    assert half_life(rope(8)).tolist() == [math.inf] * 4


@pytest.mark.parametrize("length", [0, -1, math.inf, math.nan])
def test_a_length_is_a_length(length):
    assert message(turns, rope(8), length) == (
        f"length must be a finite number > 0, got {length!r}; use 1024 tokens."
    )


@given(cases.encodings(head_dims=(2, 4, 8)), st.integers(0, 3000), st.integers(0, 99))
def test_shares_sum_to_the_score(encoding, lag, seed):
    """Within the rounding of the score: the sum of the shares is its definition."""
    q, k = cases.normal(2, encoding.head_dim, seed=seed)
    rates = cases.oracle_rates(encoding)
    for layout in cases.LAYOUTS:
        shares = pair_shares(q, k, encoding, lag, layout=layout)
        [score] = attention_scores(
            q[None], k[None], encoding, layout=layout, **cases.at([lag], [0])
        ).flatten()
        true, sizes = (
            torch.tensor(f(q, k, lag, rates, layout), dtype=torch.float64)
            for f in (reference.score, reference.bound)
        )
        allowed = tolerances.allowance(torch.float64, rates, lag, sizes, kernel.SCORE_ERROR)
        assert tolerances.within(shares.sum(), true, allowed)
        assert tolerances.within(shares.sum(), score, 2 * allowed)


@pytest.mark.parametrize("lag", [0, 7, 512, -30])
@pytest.mark.parametrize("layout", cases.LAYOUTS)
def test_a_share_is_the_score_of_its_pair_alone(layout, lag):
    q, k = cases.normal(2, 8)
    encoding = xpos(8, scale_base=64.0)
    shares = pair_shares(q, k, encoding, lag, layout=layout)
    for pair, share in enumerate(shares):
        columns = [2 * pair, 2 * pair + 1] if layout == "interleaved" else [pair, pair + 4]
        alone = torch.zeros(8).double().index_fill(0, torch.tensor(columns), 1.0) * q
        true = reference.score(alone, k, lag, cases.oracle_rates(encoding), layout)
        assert share.item() == pytest.approx(true, rel=10 * tolerances.EXACT, abs=1e-15)


def test_shares_of_whole_numbers_at_lag_0_are_exact():
    q, k = torch.arange(8.0), torch.arange(8.0).flip(0) - 3
    assert pair_shares(q, k, xpos(8), 0).tolist() == [3, 7, -5, -33]
    assert pair_shares(q, k, xpos(8), 0).sum() == q @ k


def test_shares_of_heads():
    """Heads with rates of their own; and neighbours that share a key head."""
    encoding = cases.mixed_heads(8)
    q, k = cases.normal(2, 6, 8), cases.normal(2, 2, 8, seed=1)
    with pytest.raises(ValueError, match="rates for 3 heads"):
        pair_shares(q, k, encoding, 5)
    assert pair_shares(q, k, xpos(8), 5).shape == (2, 6, 4)
    shares = pair_shares(q[:, :3], k[:, :1], encoding, 5)
    assert shares.shape == (2, 3, 4)
    for head, alone in enumerate([xpos(8), xpos(8, base=100.0, scale_base=64.0), rope(8)]):
        expected = pair_shares(q[:, head : head + 1], k[:, :1], alone, 5)
        assert torch.allclose(shares[:, head : head + 1], expected, rtol=tolerances.EXACT)
    grouped = pair_shares(q, k, xpos(8), 5)
    assert torch.equal(grouped[:, 2], pair_shares(q[:, 2], k[:, 0], xpos(8), 5))
    assert torch.equal(grouped[:, 3], pair_shares(q[:, 3], k[:, 1], xpos(8), 5))


def test_a_share_beyond_float64_is_infinite_with_its_sign():
    steep = xpos(4, scale_base=1.0)
    shares = pair_shares(torch.ones(4), torch.ones(4), steep, -5000)
    assert shares.abs().tolist() == [math.inf, math.inf]
    expected = [math.cos(5000), math.cos(50)]
    assert shares.sign().tolist() == [math.copysign(1, x) for x in expected]
    assert pair_shares(torch.zeros(4), torch.ones(4), steep, -5000).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("q", "k", "lag", "text"),
    [
        (torch.ones(6), torch.ones(6), 0, "q must have the shape (…, tokens, 8)"),
        ([1.0] * 8, torch.ones(8), 0, "q must be a torch tensor, got list"),
        (torch.ones(8), torch.ones(8).double(), 0, "q and k must share dtype and device"),
        (torch.ones(8), torch.ones(8), math.nan, "lag must be finite numbers of tokens"),
        (torch.tensor(1.0), torch.ones(8), 0, "q must have the shape (…, tokens, 8)"),
    ],
)
def test_vectors_that_do_not_fit(q, k, lag, text):
    assert message(pair_shares, q, k, rope(8), lag).startswith(text)


@each_kind
def test_a_table_of_pairs(encoding):
    table = pair_table([nope(4), encoding], 64)
    assert table.columns.tolist() == [
        "encoding",
        "head",
        "pair",
        "theta",
        "wavelength",
        "log_decay",
        "half_life",
        "turns",
    ]
    assert [table[name].dtype.kind for name in ("head", "pair", "theta")] == ["i", "i", "f"]
    rows, heads = table[2:], encoding.rates.shape[:-1].numel()
    assert set(rows["encoding"]) == {repr(encoding)}
    assert rows["head"].tolist() == [head for head in range(heads) for _ in range(4)]
    assert rows["pair"].tolist() == [*range(4)] * heads
    assert rows["theta"].tolist() == encoding.theta.flatten().tolist()
    assert rows["wavelength"].tolist() == wavelength(encoding).flatten().tolist()
    assert rows["log_decay"].tolist() == encoding.log_decay.flatten().tolist()
    assert rows["half_life"].tolist() == half_life(encoding).flatten().tolist()
    assert rows["turns"].tolist() == turns(encoding, 64).flatten().tolist()
    assert pair_table([], 64).columns.tolist() == table.columns.tolist()

"""What a model shows, as one table: each number against loops, or against what it is made of."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from tests import reference
from xpos_viz import nope, rope, xpos
from xpos_viz.encoding import alibi, alibi_slopes
from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.evaluation import reading, windows
from xpos_viz.lab.model import SETTINGS, Setting, Transformer
from xpos_viz.lab.results import (
    COLUMNS,
    captured,
    lengths,
    masks,
    mean_logits,
    measured,
    near,
    read_results,
    summed_up,
)

TINY = Setting("tiny", length=8, layers=2, width=32, batch=2, steps=3, rate=1e-3)
HELD_OUT = torch.randint(256, (400,), generator=torch.Generator().manual_seed(0)).byte()
TEXTS = windows(Corpus("noise", torch.empty(0).byte(), HELD_OUT), TINY)
SLOPES = alibi_slopes(2)
ENCODINGS = {
    "nope": (nope(16), reference.nope(16)),
    "rope": (rope(16), reference.rope(16)),
    "xpos": (xpos(16, scale_base=16.0), reference.xpos(16, scale_base=16.0)),
    "alibi": (alibi(16, slope=SLOPES), reference.nope(16)),
}


def loud(encoding):
    """A model whose logits are far from zero, though it has learned nothing."""
    model = Transformer(TINY, encoding, seed=0)
    for block in model.blocks:
        block.attention.project.weight.data *= 20
    return model


def softmax_costs(model, texts, mask):
    """Bits of each byte of whole texts, one text at a time, in float64."""
    costs = []
    for text in texts:
        odds = model(text[None, :-1], mask)[0].detach().double().exp()
        right = odds[torch.arange(len(text) - 1), text[1:]]
        costs.append((odds.sum(-1) / right).log2())
    return torch.stack(costs).numpy()


def window_costs(model, texts):
    """The same in windows of 8 bytes that slide by 4: a byte is in the second half of its own."""
    costs = []
    for place in range(texts.shape[-1] - 1):
        start = max(0, 4 * (place // 4 - 1))
        costs.append(softmax_costs(model, texts[:, start : place + 2], "causal")[:, -1])
    return np.stack(costs, -1)


@pytest.fixture(scope="module")
def table():
    return measured(loud(rope(16)), TEXTS)


@pytest.mark.parametrize("name", ENCODINGS)
def test_mean_logits_are_those_of_loops_and_lag_zero_is_first(name):
    encoding, rates = ENCODINGS[name]
    model, text = loud(encoding), TEXTS[0, :11]
    sums = np.zeros(11)
    for heard in model.listen(text[None]):
        q, k = (each[0].detach().double().numpy() for each in heard)
        for head in range(2):
            for m in range(11):
                for n in range(m + 1):
                    score = reference.score(q[head, m], k[head, n], m - n, rates) / math.sqrt(16)
                    bias = SLOPES[head] * (m - n) if name == "alibi" else 0.0
                    sums[m - n] += score - bias
    expected = sums / (4 * np.arange(11, 0, -1))
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(mean_logits(model, text), expected, rtol=1e-9, atol=1e-12)


def test_the_settings_are_read_from_half_their_length_to_sixteen_times_it():
    assert lengths(SETTINGS["quick"]) == (32, 64, 128, 256, 512, 1024)
    assert masks(SETTINGS["main"]) == ("causal", "blockwise:64")
    assert near(SETTINGS["main"]) == "windows:128"


def test_the_table_has_a_row_for_each_number(table):
    assert tuple(table.columns) == COLUMNS
    assert table.groupby("measure", sort=False).size().to_dict() == {
        "mean": 2 * 6 + 1,
        "place": 3 * 128,
        "excess": 2,
        "logit": 128,
        "resolution": 6,
    }
    logits = table[table["measure"] == "logit"]
    assert logits["place"].tolist() == list(range(128))
    assert table["value"].notna().all()


def test_means_places_and_excess_are_those_of_texts_read_one_by_one(table):
    model = loud(rope(16))
    costs = {mask: softmax_costs(model, TEXTS, mask) for mask in masks(TINY)}
    costs["windows:8"] = window_costs(model, TEXTS)
    assert len(TEXTS) == 3
    for mask, bits in costs.items():
        rows = table[(table["mask"] == mask) & (table["length"] == 128)].set_index("measure")
        mean = rows.loc["mean"]
        assert mean["value"] == pytest.approx(bits.mean(), abs=1e-5)
        assert mean["error"] == pytest.approx(bits.mean(1).std(ddof=1) / math.sqrt(3), abs=1e-5)
        places = rows.loc["place"]
        np.testing.assert_allclose(places["value"], bits.mean(0), atol=1e-4)
        np.testing.assert_allclose(places["place"], np.arange(128) + 0.5)
    for mask in ("causal", "blockwise:4"):
        row = table[(table["measure"] == "excess") & (table["mask"] == mask)].iloc[0]
        excess = (costs[mask] - costs["windows:8"])[:, 8:]
        assert row["value"] == pytest.approx(excess.mean(), abs=1e-5)
        assert row["error"] == pytest.approx(excess.mean(1).std(ddof=1) / math.sqrt(3), abs=1e-5)
        assert abs(row["value"]) > 1e-4


def test_up_to_the_training_length_masks_change_nothing(table):
    means = table[table["measure"] == "mean"].pivot_table("value", "length", "mask")
    blocks, whole = means["blockwise:4"], means["causal"]
    np.testing.assert_allclose(blocks[[4, 8]], whole[[4, 8]], atol=1e-6)
    assert (abs(blocks[[32, 128]] - whole[[32, 128]]) > 1e-5).all()


def test_resolution_is_that_of_the_mean_logits(table):
    s = table[table["measure"] == "logit"]["value"].to_numpy()
    found = table[table["measure"] == "resolution"].set_index("length")["value"]
    for length in lengths(TINY):
        e = np.exp(s[:length])
        expected = (e[:-1] * (e[:-1] - e[1:])).sum() / e[:-1].sum() ** 2
        assert found[length] == pytest.approx(expected, abs=1e-9)


def test_work_says_its_share_and_can_be_stopped():
    shares = []
    measured(loud(nope(16)), TEXTS[:1], shares.append)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (1 / 7, 1.0)

    def stop(_):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        measured(loud(nope(16)), TEXTS[:1], stop)


def test_results_are_summed_up_over_seeds():
    common = {"setting": "tiny", "encoding": "rope", "mask": "causal"}

    def row(seed, measure, length, value, error=0.5):
        return {
            **common, "seed": seed, "measure": measure, "length": length, "value": value,
            "error": error,
        }  # fmt: skip

    rows = [
        row(0, "mean", 8, 2.0), row(1, "mean", 8, 4.0), row(0, "mean", 16, 5.0),
        row(1, "mean", 16, 6.0), row(0, "excess", 16, 1.0, 0.2), row(1, "excess", 16, 2.0, 0.4),
        row(0, "logit", 16, 9.0), {**row(0, "mean", 8, 7.0), "mask": "windows:8"},
    ]  # fmt: skip
    first, second = summed_up(pd.DataFrame(rows)).to_dict("records")
    assert first == {
        **common, "8": 3.0, "16": 5.5, "seeds": 2,
        "excess": 1.5, "error": pytest.approx(0.3), "least": 1.0, "most": 2.0,
    }  # fmt: skip
    assert (second["mask"], second["8"], second["seeds"]) == ("windows:8", 7.0, 1)
    assert all(math.isnan(second[name]) for name in ("16", "excess", "error", "least", "most"))


def test_a_file_that_holds_no_results_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    said = (
        f"{path} must be results of xpos-viz lab eval, got another file, or one that is damaged; "
        "remove it, and let them be made again."
    )
    path.write_bytes(b"PAR1 and not more")
    with pytest.raises(ValueError) as damaged:
        read_results(path)
    pd.DataFrame({"value": [1.0]}).to_parquet(path)
    with pytest.raises(ValueError) as other:
        read_results(path)
    assert str(damaged.value) == str(other.value) == said


def test_queries_and_keys_of_a_model_can_be_opened():
    model = loud(xpos(16, scale_base=16.0))
    capture = captured(model, b"a text", "mine")
    assert capture.q.shape == capture.k.shape == (2, 2, 6, 16)
    assert capture.tokens == tuple("a text")
    assert capture.encodings == (model.encoding,) * 2
    heard = model.listen(torch.tensor([list(b"a text")]))
    assert torch.equal(capture.k, torch.cat([k for _, k in heard]).detach())
    assert capture.text == "a text"
    parted = captured(model, "é 潮\n".encode() + b"\xff", "mine")
    assert parted.tokens == ("é ½", "é 2/2", " ", "潮 ⅓", "潮 ⅔", "潮 3/3", "\n", "?")
    assert parted.text == "é 潮\n?"
    assert len(captured(model, b"a" * 128, "mine").tokens) == 128
    for text in (b"", b"a" * 129):
        with pytest.raises(ValueError) as error:
            captured(model, text, "mine")
        assert str(error.value) == (
            f"a text must have 1 to 128 bytes, got {len(text)}; use a part of it."
        )


def test_costs_at_a_length_are_in_the_table(table):
    mean = table[(table["measure"] == "mean") & (table["mask"] == "blockwise:4")]
    found = mean.set_index("length")["value"]
    for length in (4, 64):
        costs = reading(loud(rope(16)), TEXTS, length, "blockwise:4")
        assert found[length] == pytest.approx(float(costs.double().mean()))

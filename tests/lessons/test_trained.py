"""Beyond what was learned: what follows from the bundled models, and what does not."""

import math
from itertools import pairwise

import numpy as np
import pytest

from tests.lessons.steps import places, see
from xpos_viz.lab import SETTINGS
from xpos_viz.lab.bundle import results
from xpos_viz.lab.results import masks, near
from xpos_viz.lessons.trained import ENCODINGS, PLACES, costs, excess, found, gains, resolutions

MAIN = SETTINGS["main"]
(WHOLE, BLOCKS), NEAR = masks(MAIN), near(MAIN)
XPOS = "xpos_half"
DISTANT = ("rope", "xpos_half", "xpos_512", "alibi")  # which know distances


def rows(encoding, measure, mask=WHOLE):
    """Rows of the bundled table."""
    return results("main").query(
        "encoding == @encoding and measure == @measure and mask == @mask",
        local_dict={"encoding": encoding, "measure": measure, "mask": mask},
    )


def means(encoding, times, mask=WHOLE):
    """Bits per byte of each seed, in texts so many times as long as in training."""
    found = rows(encoding, "mean", mask)
    return found[found["length"] == times * MAIN.length].sort_values("seed")["value"].to_numpy()


def early(encoding, times):
    """What bytes from L to so many times L cost more than in windows of L, of each seed."""
    found = []
    for _, of_seed in results("main").groupby("seed"):
        costs = of_seed.query(
            "encoding == @encoding and measure == 'place'", local_dict={"encoding": encoding}
        )
        costs = costs[costs["place"].between(MAIN.length, times * MAIN.length)]
        bits = costs.groupby("mask")["value"].mean()
        found.append(bits[WHOLE] - bits[NEAR])
    return np.array(found)


def octaves(encoding, mask=WHOLE):
    """Bits per byte at places from L to 2 L, to 4 L, …, of all seeds."""
    found = rows(encoding, "place", mask)
    return [
        found[found["place"].between(low, 2 * low)]["value"].mean()
        for low in (MAIN.length * 2**power for power in range(4))
    ]


# -- beyond the training length


def test_points_are_of_all_pieces_the_farther_on_the_more():
    found = rows("rope", "place").groupby("place")["value"].mean()
    drawn = costs("rope", WHOLE).numpy()
    np.testing.assert_allclose(drawn[:16], found.iloc[:16])
    np.testing.assert_allclose(drawn[[16, -1]], [found.iloc[16:18].mean(), found.iloc[-8:].mean()])
    assert PLACES.diff().min() > 0
    assert found.index[0] == PLACES[0]
    assert found.index[-8:].to_numpy().mean() == PLACES[-1]


def test_bytes_cost_rope_more_and_more_beyond_its_training_length():
    learned = rows("rope", "place").query("place < @MAIN.length")["value"].mean()
    rising = [learned, *octaves("rope")]
    assert rising == sorted(rising)
    assert rising[-1] > learned + 1


@pytest.mark.parametrize("encoding", DISTANT)
def test_what_the_last_bytes_alone_cost_does_not_rise(encoding):
    learned = rows(encoding, "place").query("place < @MAIN.length")["value"].mean()
    assert max(octaves(encoding, NEAR)) < learned + 0.2


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_sentence_has_the_numbers_of_both_halves(encoding):
    seen = see("beyond", encoding).numbers
    late = rows(encoding, "place").query("place > @MAIN.longest / 2").groupby("seed")["value"]
    assert seen["whole"] == pytest.approx(late.mean().mean())
    assert (seen["least"], seen["most"]) == pytest.approx((late.mean().min(), late.mean().max()))
    assert seen["least"] < seen["whole"] < seen["most"]
    near = rows(encoding, "place", NEAR).query("place > @MAIN.longest / 2")["value"].mean()
    assert seen["near"] == pytest.approx(near)
    assert seen["seeds"] == rows(encoding, "mean")["seed"].nunique() >= 3


def test_curves_of_all_encodings_share_their_limits():
    shown = [see("beyond", name).shown for name in ENCODINGS]
    shown += [see("kept_near", blocks).shown for blocks in places("kept_near")]
    assert len({each.limits for each in shown}) == 1
    low, high = shown[0].limits
    drawn = np.concatenate([line for each in shown for line in each.lines.values()])
    assert low < drawn.min() < drawn.max() < high


# -- means and pairs


@pytest.mark.parametrize("mask", [WHOLE, BLOCKS])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_differences_of_means_give_the_excess_that_pairs_gave(encoding, mask):
    found = rows(encoding, "excess", mask).sort_values("seed")["value"].to_numpy()
    np.testing.assert_allclose(excess(encoding, mask)[:, -1].numpy(), found, atol=1e-4)


def test_the_mean_hides_what_xpos_loses_at_twice_the_training_length():
    plain, paired = gains(XPOS)[:, 0].numpy(), excess(XPOS)[:, 0].numpy()
    np.testing.assert_allclose(plain, means(XPOS, 2) - means(XPOS, 1))
    np.testing.assert_allclose(paired, early(XPOS, 2))
    assert max(plain) < 0 < min(paired)


def test_no_mean_hides_what_rope_loses():
    series = see("averaged", "rope").shown.series
    assert min(series["plain"].min(), series["paired"].min()) > 0


def test_rope_loses_more_than_xpos_in_every_seed_as_the_paper_says():
    rope, xpos = (excess(name)[:, -1].numpy() for name in ("rope", XPOS))
    assert min(rope) > 3 * max(xpos) > 0
    assert min(xpos) > 0


# -- blocks


@pytest.mark.parametrize("encoding", DISTANT)
def test_with_blocks_nothing_is_lost_or_gained_beyond_the_training_length(encoding):
    blocks, whole = (see("kept_near", key).numbers[f"{encoding}_more"] for key in ("on", "off"))
    assert abs(blocks) < 0.01
    assert whole > 0


def test_blocks_do_not_rescue_a_model_without_positions():
    assert (excess("nope", BLOCKS)[:, -1] > 0.5 * excess("nope")[:, -1]).all()


def test_with_blocks_rope_and_xpos_differ_by_less_than_seeds_do():
    rope, xpos = (means(name, 16, BLOCKS) for name in ("rope", XPOS))
    assert abs(rope.mean() - xpos.mean()) < max(np.ptp(rope), np.ptp(xpos))
    seen = see("kept_near", "on").numbers
    assert (seen["rope_least"], seen["rope_most"]) == (min(rope), max(rope))
    assert (seen["xpos_half_least"], seen["xpos_half_most"]) == (min(xpos), max(xpos))


# -- resolution


def resolved(logits):
    """R of a curve: how much more weight each distance has than the next (eq. 3)."""
    weights = [math.exp(logit - max(logits)) for logit in logits]
    steps = (near * (near - far) for near, far in pairwise(weights))
    return sum(steps) / sum(weights[:-1]) ** 2


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_resolution_is_that_of_the_mean_logits(encoding):
    each = [
        resolved(found.sort_values("place")["value"].tolist()[: 2 * MAIN.length])
        for _, found in rows(encoding, "logit").groupby("seed")
    ]
    mean = float(resolutions()[ENCODINGS.index(encoding), 0])
    assert mean == pytest.approx(sum(each) / len(each), rel=1e-6)


def test_neither_a_high_resolution_nor_a_low_one_goes_with_a_small_loss():
    """What the lesson says, in each seed, and at each length if it says so."""
    resolution = {name: found(name, "resolution")[:, 2:].numpy() for name in ENCODINGS}
    lost = {name: excess(name).numpy() for name in ENCODINGS}
    others = [name for name in ENCODINGS if name != "alibi"]
    assert (lost["alibi"] < np.min([lost[name] for name in others], axis=0)).all()
    assert (resolution["alibi"][:, 0] < 0.5 * resolution[XPOS][:, 0]).all()
    assert (resolution["alibi"][:, -1] > [resolution[n][:, -1] for n in others]).all()
    np.testing.assert_allclose(np.ptp(resolution["alibi"], axis=1), 0, atol=1e-5)
    assert (lost[XPOS] < 0.1 * lost["rope"]).all()
    assert (resolution[XPOS][:, 0] > resolution["rope"][:, 0]).all()
    assert (resolution[XPOS][:, -1] < resolution["rope"][:, -1]).sum() >= 2
    assert (100 * resolution["nope"] < resolution["rope"]).all()
    assert (lost["nope"] < lost["rope"]).all()


@pytest.mark.parametrize("length", places("resolving"))
def test_both_are_multiples_of_those_of_rope(length):
    series = see("resolving", length).shown.series
    assert series["rope"].tolist() == [1, 1]
    times = length // MAIN.length
    lost = [early(name, times).mean() for name in (XPOS, "rope")]
    assert series[XPOS][1] == pytest.approx(lost[0] / lost[1])

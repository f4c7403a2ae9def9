"""What trained models lose, over their seeds: against sums that are written out."""

import math
from collections import defaultdict
from functools import cache

import pandas as pd
import pytest

from xpos_viz.lab import SETTINGS
from xpos_viz.lab.bundle import results
from xpos_viz.studies import lab as study
from xpos_viz.studies.lab import MODELS, SIZES, Lab

LAB = Lab("quick", ("rope", "nope"))


@cache
def read():
    """All values with their seeds and errors, by what they are of, from the table itself."""
    found = defaultdict(list)
    for row in results("quick").to_dict("records"):
        at = row["place"] if row["measure"] == "place" else row["length"]
        key = (row["measure"], row["encoding"], row["mask"], at)
        found[key].append((row["seed"], row["value"], row["error"]))
    return found


def values(measure, encoding, mask, at):
    """The values of all seeds at one length or place."""
    found = read()[measure, encoding, mask, at]
    assert len(found) == 3
    return sorted(found)


def mean(numbers):
    """Their mean."""
    numbers = list(numbers)
    return math.fsum(numbers) / len(numbers)


def test_what_there_is():
    assert SIZES == ("main", "quick")
    assert MODELS == ("rope", "xpos_half", "xpos_512", "alibi", "nope")
    assert LAB.masks == ("causal", "blockwise:32")
    assert (LAB.mask, Lab("quick", (), blocks=True).mask) == LAB.masks
    assert (LAB.near, LAB.beyond) == ("windows:64", (64, 128, 256, 512, 1024))
    assert LAB.setting is SETTINGS["quick"]
    assert LAB.seeds == 3


@pytest.mark.parametrize("mask", ["causal", "blockwise:32", "windows:64"])
@pytest.mark.parametrize("name", LAB.models)
def test_a_mean_has_its_seeds_around_it(name, mask):
    table = study.spread(LAB, "mean", mask)
    assert {*table["encoding"]} == {"rope", "nope"}
    for row in study.rows(table, name).to_dict("records"):
        found = values("mean", name, mask, row["length"])
        seeds = [value for _, value, _ in found]
        assert row["value"] == pytest.approx(mean(seeds))
        assert (row["least"], row["most"]) == (min(seeds), max(seeds))
        assert row["error"] == pytest.approx(mean(error for *_, error in found))


def test_a_mask_that_is_not_named_is_that_which_models_read_with():
    blocks = Lab("quick", ("rope",), blocks=True)
    assert {*study.spread(blocks, "mean")["mask"]} == {"blockwise:32"}
    assert {*study.excess(blocks)["mask"]} == {"blockwise:32"}


def test_losses_are_followed_as_far_as_is_asked():
    near = study.by_place(Lab("quick", ("rope",), reach=2), "causal", "windows:64")
    assert near["place"].max() == 124
    assert near["place"].min() == 4
    assert {*near["mask"]} == {"causal", "windows:64"}
    assert study.by_place(Lab("quick", ("rope",)), "causal")["place"].max() == 1020


def test_the_reference_is_of_the_first_model():
    found = study.reference(Lab("quick", ("nope", "rope")))
    assert {(name, mask) for name, mask in zip(found["encoding"], found["mask"], strict=True)} == {
        ("nope", "windows:64")
    }


def test_the_training_length_has_a_value():
    table = pd.DataFrame({"place": [8.0, 24.0, 40.0], "value": [3.0, 2.0, 1.0]})
    assert study.at_training_length(table, 24, "place") == 2.0
    assert study.at_training_length(table, 32, "place") == 1.5


def test_limits_hold_all():
    table = pd.DataFrame({"least": [1.0, 2.0], "most": [1.5, 3.0]})
    assert study.limits(table) == pytest.approx((0.9, 3.1))
    assert study.limits(table, 0.0, above=0.5) == pytest.approx((-0.15, 4.5))


@pytest.mark.parametrize("name", MODELS)
def test_the_change_of_the_mean_stands_beside_that_of_pairs(name):
    row = study.doubled(Lab("quick", MODELS)).loc[name]
    twice, once = (
        [value for _, value, _ in values("mean", name, "causal", length)] for length in (128, 64)
    )
    assert row["change"] == pytest.approx(mean(twice) - mean(once))
    lost = [0.0, 0.0, 0.0]
    places = [64 + 8 * (step + 0.5) for step in range(8)]
    for place in places:
        pairs = (values("place", name, mask, place) for mask in ("causal", "windows:64"))
        for seed, (whole, near) in enumerate(zip(*pairs, strict=True)):
            lost[seed] += (whole[1] - near[1]) / 8
    assert row["excess"] == pytest.approx(mean(lost))
    assert (row["least"], row["most"]) == pytest.approx((min(lost), max(lost)))


def test_resolution_has_a_column_for_each_length():
    found = study.resolved(Lab("quick", ("xpos_half", "rope")))
    assert [*found.index] == ["xpos_half", "rope"]
    assert [*found.columns] == [64, 128, 256, 512, 1024]
    seeds = values("resolution", "rope", "causal", 256)
    assert found[256]["rope"] == pytest.approx(mean(value for _, value, _ in seeds))


def test_a_bias_gets_no_room():
    assert study.profile_limits(Lab("quick", ("alibi",))) is None
    assert study.profile_limits(Lab("quick", ("rope", "nope"))) is None
    low, high = study.profile_limits(Lab("quick", ("rope", "alibi"))) or (0, 0)
    rope = study.rows(study.profile(Lab("quick", ("rope",))), "rope")
    least, most = rope["least"].min(), rope["most"].max()
    room = 0.05 * (most - least)
    assert (low, high) == pytest.approx((least - room, most + room))


def test_names_are_ranked():
    assert study.ranked(pd.Series({"a": 2.0, "b": -1.0, "c": 0.5})) == ["b", "c", "a"]

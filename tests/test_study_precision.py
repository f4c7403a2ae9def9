"""How large numbers become and what angles lose: against overflow itself, and against counting."""

import math

import numpy as np
import pytest
import torch

from xpos_viz import rope, xpos
from xpos_viz.precision import KEPT, growth
from xpos_viz.studies.precision import FORMATS, PARTS, TOLERANCE, angles, overflow

each_format = pytest.mark.parametrize("name", FORMATS)


@each_format
@pytest.mark.parametrize(("gamma", "scale_base", "largest"), [(0.4, 512.0, 1.0), (0.1, 16.0, 50.0)])
def test_the_longest_text_fits_and_the_next_one_does_not(name, gamma, scale_base, largest):
    limits = overflow(xpos(64, gamma=gamma, scale_base=scale_base), largest, 100).limits.loc[name]
    dtype = getattr(torch, name)
    for reach, length in ((1, limits["start"]), (2, limits["centred"])):
        factors = [
            largest * torch.tensor((1 + gamma) / gamma, dtype=torch.float64) ** (n / scale_base)
            for n in ((length - 1) / reach, (length - 1) / reach + 1)
        ]
        fits = [bool(factor.to(dtype).isfinite()) for factor in factors]
        assert fits == [True, False] or name == "float64"
    assert limits["largest"] == torch.finfo(dtype).max
    assert limits["digits"] == pytest.approx(math.log10(torch.finfo(dtype).max))


@each_format
def test_lines_meet_where_formats_end(name):
    encoding = xpos(64)
    study = overflow(encoding, 3.0, 8192)
    limits = study.limits.loc[name]
    for origin in ("start", "centred"):
        digits = np.interp(limits[origin], study.lengths, getattr(study, origin))
        per_token = growth(encoding) / math.log(10)
        assert abs(digits - limits["digits"]) < 2 * per_token + 1e-3
    assert (np.diff(study.lengths) > 0).all()
    assert 8192 in study.lengths
    row = study.table().iloc[-1]
    assert row["start"] - math.log10(3) == pytest.approx(2 * (row["centred"] - math.log10(3)))


def test_the_fastest_pair_decides():
    assert growth(xpos(64, gamma=0.25, scale_base=8.0)) == pytest.approx(math.log(5) / 8)
    assert growth(rope(64)) == 0


@pytest.mark.parametrize("length", [2, 3, 100, 5000, 100_000])
def test_positions_are_all_of_a_short_text_and_some_of_a_long_one(length):
    study = angles(rope(8), "float32", "angles", length)
    assert study.positions[0] == 0
    assert study.positions[-1] < length
    assert (np.diff(study.positions) > 0).all()
    if length <= 100:
        assert study.positions.tolist() == list(range(length))
    assert len(study.positions) < 3000
    x, y = study.curve()
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) >= 0).all()
    assert (x[-1], y[-1]) == (study.positions[-1], study.errors.max())
    assert study.table()["error"].tolist() == study.errors.tolist()


@pytest.mark.parametrize("length", [4096, 1 << 20])
@pytest.mark.parametrize(("name", "lost"), [("bfloat16", 257), ("float16", 2049)])
def test_a_position_that_has_no_number_loses_its_angle(name, lost, length):
    """The formats count to 2^8 and 2^11; beyond them the fastest pair is off by 1 rad."""
    study = angles(rope(64), name, "positions", length)
    assert study.lost == lost
    assert study.errors[study.positions < lost].max() < 1e-9
    assert study.errors[study.positions == lost] == pytest.approx(2 * math.sin(0.5))
    assert angles(rope(64), name, "positions", lost).lost is None


def test_errors_are_those_of_a_rounded_product():
    study = angles(rope(8, base=100.0), "bfloat16", "angles", 400)
    thetas = [100.0 ** (-pair / 4) for pair in range(4)]

    def rounded(value):
        return float(torch.tensor(value, dtype=torch.float64).bfloat16())

    for n in (1, 7, 59):
        wanted = max(
            abs(np.exp(1j * rounded(rounded(theta) * n)) - np.exp(1j * theta * n))
            for theta in thetas
        )
        assert study.errors[study.positions == n] == pytest.approx(wanted, rel=1e-6)
    beyond = study.positions[study.errors > TOLERANCE]
    assert study.lost == beyond[0] > 1


def test_what_a_format_does_not_hold_is_lost():
    study = angles(rope(4, base=1e12), "float16", "positions", 1 << 20)
    assert np.isnan(study.errors[-1])
    assert study.lost is not None
    assert np.isnan(study.curve()[1][-1])


def test_parts_are_those_of_the_core():
    assert set(PARTS) == set(KEPT)
    assert PARTS[0] == "angles"
    assert overflow(xpos(64), 1.0, 8192) is overflow(xpos(64), 1.0, 8192)

"""What assets/choosing.md says of γ and B is what the core computes."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from assets import pictures
from tests import reference
from xpos_viz import rope, xpos
from xpos_viz.curves import envelope_reach, expectation_resolution
from xpos_viz.precision import largest_position

WORDS = Path(pictures.__file__).with_name("choosing.md").read_text(encoding="utf-8")


def rows(start):
    """The rows of the table whose head begins so: what each is of, and its numbers."""
    table = WORDS[WORDS.index(f"| {start} |") :].partition("\n\n")[0]
    head, _, *lines = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
    )
    number = re.compile(r"[\d,.]+")
    heads = [float(number.findall(cell)[0].replace(",", "")) for cell in head[1:]]
    return {
        line[0]: dict(zip(heads, (float(cell.replace(",", "")) for cell in line[1:]), strict=True))
        for line in lines
    }


@pytest.mark.parametrize("head_dim", [64, 128])
def test_half_lives_and_the_ends_of_float16(head_dim):
    table = rows("γ")
    for gamma, told in table[f"half-life / B, d = {head_dim}"].items():
        encoding = xpos(head_dim, gamma=gamma, scale_base=4096.0)
        assert float(envelope_reach(encoding)) / 4096 == pytest.approx(told, abs=0.006)
        kept = [zeta**told for zeta in reference.zeta(head_dim, gamma)]
        assert np.mean(kept) == pytest.approx(0.5, abs=0.003)
    for gamma, told in table[f"float16 ends after, B = 512, d = {head_dim}"].items():
        assert largest_position(xpos(head_dim, gamma=gamma), torch.float16) == told


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("scale_base", [64, 512, 4096, 32768])
def test_resolutions(head_dim, scale_base):
    def resolved(encoding, length):
        return float(expectation_resolution(encoding, tokens=int(length), normalisation="sqrt_d"))

    told = rows("R of XPos / R of RoPE")[f"d = {head_dim}, B = {scale_base:,}"]
    for length, times in told.items():
        found = resolved(xpos(head_dim, scale_base=float(scale_base)), length)
        assert found / resolved(rope(head_dim), length) == pytest.approx(times, abs=0.005)


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("length", [1024, 4096, 16384, 65536, 131072])
def test_which_scale_base_resolution_alone_would_choose(head_dim, length):
    encodings = {b: xpos(head_dim, scale_base=b) for b in (64.0, 512.0, 4096.0, 32768.0)}
    found = {
        b: float(expectation_resolution(each, tokens=length, normalisation="sqrt_d"))
        for b, each in encodings.items()
    }
    largest = head_dim == 64 and length >= 65536
    assert max(found, key=found.__getitem__) == (32768.0 if largest else 64.0)


def test_the_pictures_show_what_the_words_say():
    half_lives, resolutions = pictures.half_lives(), pictures.resolutions()
    for curve, width in zip(half_lives.curves, (64, 128), strict=True):
        told = rows("γ")[f"half-life / B, d = {width}"]
        assert np.interp(0.4, curve.x, curve.y) == pytest.approx(told[0.4], abs=0.01)
    short, *_, long, longest = resolutions.curves
    assert (np.diff(short.y) < 0).all()  # the smaller B is, the more
    assert max(long.y.max(), longest.y.max()) < 1  # below RoPE at every B

"""Neighbours as numbers: what is left of each curve at a few distances."""

import math

import numpy as np

from tests import reference
from xpos_viz import rope, xpos
from xpos_viz.encoding import REGISTRY, Encoding, alibi
from xpos_viz.studies.neighbours import LAGS, share_table, shares


def test_shares_are_those_of_plain_cosines():
    theta, zeta = np.array(reference.theta(16)), np.array(reference.zeta(16))
    for lag, share in zip(LAGS, shares(xpos(16)), strict=True):
        wanted = (np.cos(lag * theta) * zeta ** (lag / 512)).mean()
        assert math.isclose(share, wanted, abs_tol=1e-12)
    assert shares(alibi(16)) == (1,) * 5


def test_the_table_has_a_row_for_each_encoding():
    encodings = [Encoding(name, (("head_dim", 16),)) for name in REGISTRY]
    rows = share_table(encodings)
    assert list(rows.columns)[:3] == ["encoding", "formula", "source"]
    assert list(rows["encoding"]) == [repr(encoding) for encoding in encodings]
    assert rows["g(4096)/g(0)"][1] == shares(rope(16))[3]
    assert len(rows.columns) == 8

"""Names of marks stand above the axes, each in the lowest line where it covers no other."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xpos_viz.figures.description import Curve, Curves, Mark
from xpos_viz.figures.spans import flags

LAST = 225.0  # pixels of the shortest axis: here x counts them
LETTER, OVER = 6.5, 6.0
ENDS = Curve("a line", np.array([0.0, LAST]), np.zeros(2))

marks = st.builds(
    lambda x, letters, place: Mark(x, 0.0, "n" * letters, place),
    st.floats(0.0, LAST),
    st.integers(1, 30),
    st.integers(0, 5),
)


def standing(given):
    """Each name's line, and where it begins and ends there."""
    curves = Curves("one", "One curve.", ("Title",), "across", "up", False, (ENDS,), marks=given)
    for flag in flags(curves):
        width = LETTER * len(flag.mark.label)
        start = flag.mark.x + OVER - width if flag.left else flag.mark.x - OVER
        yield flag.row, start, start + width


@given(st.lists(marks, max_size=8).map(tuple))
def test_no_name_covers_another(given):
    names = list(standing(given))
    assert len(names) == len(given)
    for (row, start, end), (other, begin, stop) in combinations(names, 2):
        assert row != other or end <= begin + 1e-9 or stop <= start + 1e-9


def test_names_at_one_place_stand_over_each_other():
    given = tuple(Mark(100.0, 0.0, "n" * letters, 0) for letters in (5, 30, 5))
    assert sorted(row for row, *_ in standing(given)) == [0, 1, 2]

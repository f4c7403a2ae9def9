"""Numbers of files are read back: tables with their units, and arrays."""

import math
import re
from io import BytesIO

import numpy as np
import pandas as pd

from tests.export.taken import each_page, one, shown
from xpos_viz.export import Recipe, make
from xpos_viz.export.data import UNITS, arrays, tidy


@each_page
def test_tables_are_read_back_with_units(page):
    _, pictures = shown(page)
    for picture in pictures:
        recipe = one(page)[1]
        table = tidy(picture)
        assert list(table.columns) != list(picture.table().columns)
        names = [str(name) for name in picture.table()]
        assert [re.sub(r" \[(tokens|log10)\]$", "", str(name)) for name in table] == names
        assert all(f"{name} [{UNITS[name]}]" in table for name in names if name in UNITS)
        read = pd.read_parquet(BytesIO(make(picture, "parquet", recipe)))
        pd.testing.assert_frame_equal(read, table)
        read = pd.read_csv(BytesIO(make(picture, "csv", recipe)))
        assert list(read.columns) == list(table.columns)
        numbers = table.select_dtypes("number")
        back = read[numbers.columns].to_numpy(float)
        np.testing.assert_array_equal(back, numbers.to_numpy(float))


@each_page
def test_units_are_those_of_the_values(page):
    """Tokens are whole, or half where a cell has an even number of them; means lie between.

    No header says a thing twice.
    """
    for table in map(tidy, shown(page)[1]):
        for name in map(str, table):
            assert not re.fullmatch(r"(\w+) \[\1\]", name)
            if name.endswith("[tokens]") and not name.startswith(("length", "distance")):
                twice = 2 * table[name].dropna().to_numpy(float)
                assert (twice == twice.round()).all(), name


def test_digits_are_logarithms_of_the_largest_numbers():
    state, (sizes, _) = shown("precision")
    table, xpos = tidy(sizes), state.encoding("xpos")
    growth = ((1 + xpos["gamma"]) / xpos["gamma"]) ** (1 / xpos["scale_base"])  # of the first pair
    last = table["length [tokens]"].to_numpy() - 1
    for name, farthest in (("start [log10]", last), ("centred [log10]", last / 2)):
        np.testing.assert_allclose(table[name], farthest * math.log10(growth), rtol=1e-9)


@each_page
def test_arrays_are_those_that_are_drawn(page):
    state, pictures = shown(page)
    for picture in pictures:
        recipe = Recipe.of(page, (picture,), state, "en")
        with np.load(BytesIO(make(picture, "npz", recipe)), allow_pickle=False) as read:
            drawn = dict(arrays(picture.description))
            assert set(read.files) == {"xpos_viz", *drawn}
            for name, values in drawn.items():
                np.testing.assert_array_equal(read[name], values)

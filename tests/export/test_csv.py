"""Words that a spreadsheet would run as formulas are inert in CSV, and come back whole."""

from csv import reader
from io import BytesIO, StringIO
from zipfile import ZipFile

import numpy as np
import pandas as pd
import torch

from xpos_viz import Capture
from xpos_viz.export import bundle, reproduce
from xpos_viz.export.data import csv
from xpos_viz.inputs.captured import keep
from xpos_viz.state import State, opening

FORMULAS = ("=1", "+1", "-", "@a", "\tb", "\n", "\uff1d1", "'=1", "''-")
PLAIN = ("'s", "'", "a=1", " =1", "−1", "–", "1", "")


def test_no_word_of_a_csv_is_a_formula():
    words = [*FORMULAS, *PLAIN]
    table = pd.DataFrame({"token": words, "lag [tokens]": -np.arange(len(words)), "g": -np.inf})
    with StringIO(csv(table).decode(), newline="") as file:
        names, *rows = reader(file)
    assert names == [*table]
    assert [row[0] for row in rows] == [*("'" + word for word in FORMULAS), *PLAIN]
    assert [row[1:] for row in rows] == [[str(-place), "-inf"] for place in range(len(words))]


def test_tokens_that_look_like_formulas_come_back():
    brought = Capture(ones := torch.ones(1, 1, len(FORMULAS), 8), ones, tokens=FORMULAS)
    state = State(opening("capture", keep(brought)))
    content = bundle("tokens", state, "en")
    assert reproduce(content).same
    with ZipFile(BytesIO(content)) as archive:
        table = pd.read_csv(archive.open("reading.csv"), keep_default_na=False)
        whole = pd.read_parquet(BytesIO(archive.read("reading.parquet")))
    words = whole.select_dtypes("str")
    assert words.size
    for name in words:
        assert not table[name].str.match("[-=+@\t\n\uff1d]").any()
        assert (
            table[name].str.replace("^'(?='*[-=+@\t\n\uff1d])", "", regex=True).equals(whole[name])
        )

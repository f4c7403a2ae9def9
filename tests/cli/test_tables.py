"""The tables of the command line are those of Python."""

import json

import numpy as np
import pandas as pd
import pytest
import torch

from tests.cli.command import call, rows
from xpos_viz import rope, xpos
from xpos_viz.cli.curve import USUAL
from xpos_viz.curves import curve_table, pair_table, resolution_table
from xpos_viz.inputs import Sample
from xpos_viz.pooling import pooled_map
from xpos_viz.precision import accuracy_table, limits_table

ENCODINGS = [rope(8, base=100.0), xpos(8, base=100.0, gamma=0.2)]
GIVEN = ("rope", "xpos", "--head-dim", 8, "--base", 100, "--gamma", 0.2)
SAME = {  # a command, and what Python gives
    "curve": (
        ("--lags", "0:9:4", "--curves", "g,bound"),
        lambda: curve_table(ENCODINGS, [0, 4, 8], ["g", "bound"]),
    ),
    "pairs": (("--length", 2048), lambda: pair_table(ENCODINGS, 2048)),
    "precision": (
        ("--dtypes", "float16,float32", "--largest", 3),
        lambda: limits_table(ENCODINGS, [torch.float16, torch.float32], 3.0),
    ),
    "resolution": (
        ("--tokens", 64, "--masks", "causal,sliding:8", "--normalisations", "raw"),
        lambda: resolution_table(
            ENCODINGS, tokens=64, masks=["causal", "sliding:8"], normalisations=["raw"]
        ),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_table_is_that_of_python(name, tmp_path):
    options, expected = SAME[name]
    frame = expected()
    written = json.dumps(frame.to_dict("records")).replace("Infinity", '"inf"')
    assert rows(name, *GIVEN, *options) == json.loads(written)
    printed, said, code = call(name, *GIVEN, *options)
    assert (printed, said, code) == (frame.to_string(index=False) + "\n", "", 0)
    for form, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        path = tmp_path / f"table.{form}"
        printed, said, code = call(name, *GIVEN, *options, "--out", path)
        assert (printed, code) == ("", 0)
        assert said == f"Wrote {path}: {path.stat().st_size:,} bytes.\n"
        pd.testing.assert_frame_equal(read(path), frame, check_dtype=False, check_exact=True)


def test_defaults_are_those_of_python():
    both = [rope(64), xpos(64)]
    lags = [float(lag) for lag in USUAL.split(",")]
    assert rows("curve") == curve_table(both, lags).to_dict("records")
    assert rows("resolution") == resolution_table(both, tokens=1024).to_dict("records")
    assert rows("precision", "xpos") == limits_table([xpos(64)]).to_dict("records")


def test_angles_are_those_of_python():
    errors = accuracy_table(rope(64), [64, 512], [torch.bfloat16], ["theta"])
    found = rows(
        *("precision", "rope", "--of", "angles", "--lengths", "64,512"),
        *("--dtypes", "bfloat16", "--kept", "theta"),
    )
    called = "rope(64, base=10000.0)"
    assert found == [{"encoding": called, **row} for row in errors.to_dict("records")]


def test_a_parameter_may_be_given_for_each_encoding_and_each_head():
    found = rows("pairs", "xpos", "rope", "xpos", "--scale_base", 64, "--scale-base", "8,16")
    expected = [xpos(64, scale_base=64), rope(64), xpos(64, scale_base=(8, 16))]
    assert [*dict.fromkeys(row["encoding"] for row in found)] == [repr(e) for e in expected]
    assert {row["head"] for row in found} == {0, 1}
    assert next(row for row in found if row["encoding"].startswith("rope"))["half_life"] == "inf"


def test_a_map_is_that_of_python(tmp_path):
    path = tmp_path / "map.npz"
    options = ("--name", "pronoun", "--size", 5, "--reduce", "max", "--mask", "sliding:9")
    printed, said, code = call("map", "xpos", *options, "--out", path)
    assert (printed, code) == ("", 0)
    assert said == f"Computing the maps…\nWrote {path}: {path.stat().st_size:,} bytes.\n"
    vectors = Sample("pronoun", 8, 2).load(64)
    pooled = pooled_map(
        vectors.q,
        vectors.k,
        xpos(64),
        size=5,
        reduce="max",
        mask="sliding:9",
        layout=vectors.layout,
    )
    with np.load(path, allow_pickle=False) as arrays:
        assert sorted(arrays) == ["counts_0", "positions", "values_0", "xpos_viz"]
        np.testing.assert_array_equal(arrays["values_0"], pooled.values.numpy())
        np.testing.assert_array_equal(arrays["counts_0"], pooled.counts.numpy())
    found = rows("map", "xpos", *options)
    assert [row["cells"] for row in found] == pooled.counts[pooled.counts > 0].tolist()
    values = pooled.values[pooled.counts > 0].tolist()
    assert [row["value"] for row in found] == values
    assert (found[-1]["query_first"], found[-1]["query_last"]) == (24, 27)


def test_columns_become_arrays(tmp_path):
    path = tmp_path / "pairs.npz"
    assert call("pairs", "rope", "--head-dim", 4, "--out", path)[2] == 0
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["encoding"].tolist() == ["rope(4, base=10000.0)"] * 2
        np.testing.assert_array_equal(arrays["theta"], [1.0, 0.01])


@pytest.mark.parametrize("form", ["npz", "parquet"])
def test_a_table_says_by_which_command_it_was_written(form, tmp_path):
    path = tmp_path / f"a.{form}"
    assert call("curve", "rope", "--lags", "0,1", "--out", path)[2] == 0
    _, said, code = call("reproduce", path)
    assert code == 1
    assert """got '{"xpos_viz": {"command": "curve rope --lags 0,1 --out """ in said
    assert "a command is run again." in said

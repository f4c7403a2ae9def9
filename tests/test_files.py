"""Files of captures: what is written is read again, in any usual form and order."""

import csv
import io
import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

import xpos_viz
from xpos_viz import Capture, read_capture, save_capture, xpos
from xpos_viz.encoding import REGISTRY, Encoding, longrope, rope
from xpos_viz.inputs.files import UnclearOrderError, capture_bytes, readings
from xpos_viz.inputs.files.orders import order_of, sizes
from xpos_viz.inputs.sample import SAMPLES, read_sample, sample_capture
from xpos_viz.limits import Limits

FOLDER = Path(xpos_viz.__file__).parent / "inputs" / "samples"
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
RNG = np.random.default_rng(0)
"""Seeded: the entries matter to no test, but that each has its own."""


def arrays(q=(2, 6, 5, 8), k=(2, 3, 5, 8), dtype="<f4"):
    """Queries and keys of some shapes."""
    return {"q": RNG.normal(size=q).astype(dtype), "k": RNG.normal(size=k).astype(dtype)}


def npz(**members):
    """The bytes of an archive."""
    file = io.BytesIO()
    np.savez_compressed(file, **members)
    return file.getvalue()


def npy(array):
    """The bytes of an array."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def full(dtype):
    """A capture with something in each of its fields."""
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(2, 4, 3, 8, generator=generator).to(dtype)
    k = torch.randn(2, 2, 5, 8, generator=generator).to(dtype)
    return Capture(
        q,
        k,
        layers=(3, 11),
        layout="interleaved",
        tokens=("<b>", " ½\x00", "\n", "", "位 ½"),
        query_positions=torch.tensor([0.5, 1.0, 7.0]),
        key_positions=torch.tensor([-1.0, 0.0, 1.0, 2.0, 3.0]),
        encodings=(xpos(8, gamma=(0.1, 0.2, 0.3, 0.4)), None),
        masks=("sliding:4096", "causal"),
        scales=(0.1, 1 / 3),
        softcap=50.0,
        model="a/b",
        text="any\r\n\x00",
    )


def message(function, *args, **words):
    """The text of the ValueError that a call raises."""
    with pytest.raises(ValueError) as caught:
        function(*args, **words)
    return str(caught.value)


# What is written is read again


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_a_capture_comes_back_whole(tmp_path, suffix, dtype):
    capture, path = full(dtype), tmp_path / f"mine{suffix}"
    if (suffix, dtype) == (".npz", torch.bfloat16):
        assert message(save_capture, path, capture) == (
            "NumPy has no bfloat16, got that for .npz; use .safetensors."
        )
        return
    save_capture(path, capture)
    for file in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
        read = read_capture(file)
        assert read.words == capture.words
        assert read.hash == capture.hash
        assert read.q.dtype == read.k.dtype == dtype
        assert torch.equal(read.q, capture.q)
        assert torch.equal(read.k, capture.k)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_equal_captures_make_equal_files(suffix):
    assert capture_bytes(full(torch.float16), suffix) == capture_bytes(full(torch.float16), suffix)


def test_queries_and_keys_may_be_one_tensor():
    x = torch.ones(1, 1, 2, 2)
    read = read_capture(capture_bytes(Capture(x, x), ".safetensors"))
    assert torch.equal(read.q, read.k)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_encoding_comes_back(name):
    encoding = Encoding(name, (("head_dim", 8),))
    x = torch.ones(1, 1, 2, 8)
    read = read_capture(capture_bytes(Capture(x, x, encodings=(encoding,))))
    assert read.encodings == (encoding,)


def test_tables_of_parameters_come_back():
    encoding = longrope(8, factors=(1.0, 2.0, 3.0, 4.0))
    x = torch.ones(1, 1, 2, 8)
    read = read_capture(capture_bytes(Capture(x, x, encodings=(encoding,)), ".safetensors"))
    assert read.encodings == (encoding,)


def test_other_names_are_no_files_of_captures(tmp_path):
    assert message(save_capture, tmp_path / "mine.pt", full(torch.float32)) == (
        "a capture is saved as .npz or .safetensors, got '.pt'; use .npz."
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", SAMPLES)
def test_the_bundled_samples_are_files_of_captures(name):
    read, sample = read_capture(FOLDER / f"{name}.npz"), sample_capture(name)
    assert torch.equal(read.q, sample.q)
    assert torch.equal(read.k, sample.k)
    assert (read.layers, read.tokens, read.text) == (sample.layers, sample.tokens, sample.text)
    assert (
        "".join(gap + label for gap, label in zip(read.gaps, read.labels, strict=True))[:9]
        == "".join(gap + label for gap, label in zip(sample.gaps, sample.labels, strict=True))[:9]
    )
    assert len(read.tokens) == len(read_sample(name)["tokens"])


# What others write


@pytest.mark.parametrize("kind", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_byte_order_and_any_order_of_entries(kind, order):
    given = arrays(dtype=kind)
    read = read_capture(npz(**{name: np.asarray(x, order=order) for name, x in given.items()}))
    assert np.array_equal(read.q.numpy(), given["q"])
    assert np.array_equal(read.k.numpy(), given["k"])
    assert read.q.numpy().dtype == np.dtype(kind).newbyteorder("=")


def test_words_may_be_arrays_of_their_own():
    words = {
        "layers": np.array([4, 9]),
        "layout": "interleaved",
        "tokens": np.array(["a", " b", "c", "d", "e"]),
        "base": 5e5,
        "query_positions": np.arange(1, 6),
        "key_positions": np.arange(5.0),
        "masks": np.array(["causal", "sliding:2"]),
        "scales": np.array([1.0, 2.0]),
        "softcap": 30,
        "model": "mine",
        "text": "a bcde",
        "more": np.array([1j]),
    }
    read = read_capture(npz(**arrays(), **words))
    assert read.layers == (4, 9)
    assert read.layout == "interleaved"
    assert read.tokens == ("a", " b", "c", "d", "e")
    assert read.encodings == (rope(8, base=5e5),) * 2
    assert read.query_positions.tolist() == [1, 2, 3, 4, 5]
    assert read.masks == ("causal", "sliding:2")
    assert read.scales == (1.0, 2.0)
    assert (read.softcap, read.model, read.text) == (30.0, "mine", "a bcde")


def test_safetensors_may_have_simple_words():
    tensors = {"q": torch.ones(2, 1, 3, 4).bfloat16(), "k": torch.ones(2, 1, 3, 4).bfloat16()}
    extra = {"layers": torch.tensor([2, 5]), "other": torch.ones(3).bool()}
    read = read_capture(save({**tensors, **extra}, {"base": "10", "layout": "interleaved"}))
    assert read.layers == (2, 5)
    assert read.layout == "interleaved"
    assert read.encodings == (rope(4, base=10.0),) * 2
    assert read.q.dtype == torch.bfloat16


def test_one_array_holds_queries_and_keys():
    both = RNG.normal(size=(2, 3, 6, 5, 8))
    read = read_capture(npy(both), reading="layers heads tokens head_dim")
    assert np.array_equal(read.q.numpy(), both[0])
    assert np.array_equal(read.k.numpy(), both[1])


TABLE = np.arange(12.0).reshape(3, 4)


def test_a_table_has_a_row_for_each_token():
    plain = read_capture("\n".join(",".join(map(str, row)) for row in TABLE).encode())
    assert np.array_equal(plain.q.numpy()[0, 0], TABLE[:, :2])
    assert np.array_equal(plain.k.numpy()[0, 0], TABLE[:, 2:])
    assert plain.tokens == ()


def test_a_table_may_name_its_columns():
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["k0", "k1", "token", "q0", "q1"])
    words = ["a,b", '"', "<br>"]
    writer.writerows([*row[:2], word, *row[2:]] for row, word in zip(TABLE, words, strict=True))
    read = read_capture(b"\xef\xbb\xbf" + file.getvalue().encode())
    assert np.array_equal(read.k.numpy()[0, 0], TABLE[:, :2])
    assert np.array_equal(read.q.numpy()[0, 0], TABLE[:, 2:])
    assert read.tokens == ("a,b", '"', "<br>")


# Orders of dimensions


NAMES = ("layers", "heads", "tokens", "head_dim")
SIZES = {"layers": 3, "heads": 10, "tokens": 7, "head_dim": 16}
KEYS = {**SIZES, "heads": 5}


@pytest.mark.parametrize("order", list(permutations(NAMES)), ids=" ".join)
def test_any_order_that_can_be_told_apart(order):
    given = arrays([SIZES[name] for name in order], [KEYS[name] for name in order])
    words = {"layers": [2, 4, 6], "tokens": list("letters")}
    read = read_capture(npz(**given, **words))
    back = [order.index(name) for name in NAMES]
    assert np.array_equal(read.q.numpy(), given["q"].transpose(back))
    assert np.array_equal(read.k.numpy(), given["k"].transpose(back))


@pytest.mark.parametrize(
    ("q", "k", "order"),
    [
        ((5, 9, 80, 64), (5, 3, 80, 64), "layers heads tokens head_dim"),
        ((5, 80, 9, 64), (5, 80, 3, 64), "layers tokens heads head_dim"),
        ((9, 80, 64), (3, 80, 64), "heads tokens head_dim"),
        ((80, 9, 64), (80, 3, 64), "tokens heads head_dim"),
        ((80, 64), (80, 64), "tokens head_dim"),
        ((1, 1, 80, 64), (1, 1, 80, 64), "layers heads tokens head_dim"),
        ((2, 8, 1, 64), (2, 8, 99, 64), "layers heads tokens head_dim"),
        ((64, 33), (64, 33), "head_dim tokens"),
    ],
)
def test_usual_orders_need_no_words(q, k, order):
    assert order_of(q, k) == order


def test_a_batch_of_one_is_left_out():
    given = arrays((2, 1, 6, 5, 8), (2, 1, 3, 5, 8))
    assert np.array_equal(read_capture(npz(**given)).q.numpy(), given["q"][:, 0])


def test_what_cannot_be_told_apart_is_asked():
    given = arrays((2, 16, 12, 8), (2, 16, 12, 8))
    with pytest.raises(UnclearOrderError) as caught:
        read_capture(npz(**given))
    assert str(caught.value) == (
        "the shapes (2, 16, 12, 8) of q and (2, 16, 12, 8) of k can be read in 24 ways "
        "(layers 2, heads 16, tokens 12, head_dim 8; layers 2, tokens 16, heads 12, head_dim 8; "
        "layers 2, heads 16, head_dim 12, tokens 8; layers 2, tokens 16, head_dim 12, heads 8; "
        "…); use one, such as reading='layers heads tokens head_dim'."
    )
    assert caught.value.readings == readings((2, 16, 12, 8), (2, 16, 12, 8))
    assert caught.value.readings[:2] == (
        "layers heads tokens head_dim",
        "layers tokens heads head_dim",
    )
    for reading in caught.value.readings:
        read = read_capture(npz(**given), reading=reading)
        back = [reading.split().index(name) for name in NAMES]
        assert np.array_equal(read.k.numpy(), given["k"].transpose(back))
    assert read_capture(npz(**given, tokens=["a"] * 16)).heads == 12
    assert read_capture(npz(**given, reading=caught.value.readings[1])).heads == 12


def test_a_reading_must_fit():
    assert message(read_capture, npz(**arrays()), reading="layers tokens heads head_dim") == (
        "the shapes (2, 6, 5, 8) of q and (2, 3, 5, 8) of k cannot be read as "
        "'layers tokens heads head_dim'; use 'layers heads tokens head_dim' or "
        "'tokens heads layers head_dim'."
    )


# Limits


def test_limits_are_those_of_the_capture_that_is_read():
    limits = Limits(tokens=5, cells=2 * 6 * 5 * 5)
    assert read_capture(npz(**arrays()), limits=limits).heads == 6
    assert message(read_capture, npz(**arrays()), limits=Limits(tokens=4)) == (
        "queries and keys must be at most 4 tokens, got 5; "
        "use a part of them, or set XPOS_VIZ_MAX_TOKENS."
    )
    assert message(read_capture, npz(**arrays()), limits=Limits(width=6)) == (
        "head_dim must be at most 6, got 8; use a part of the columns, or set XPOS_VIZ_MAX_WIDTH."
    )
    assert message(read_capture, npz(**arrays()), limits=Limits(heads=11)) == (
        "layers × heads must be at most 11, got 2 × 6; "
        "use fewer of them, or set XPOS_VIZ_MAX_HEADS."
    )
    assert message(read_capture, npz(**arrays()), limits=Limits(cells=299)) == (
        "layers × heads × queries × keys must be at most 299, got 2 × 6 × 5 × 5 = 300; "
        "use fewer layers or heads, or set XPOS_VIZ_MAX_CELLS."
    )


def test_a_file_may_not_be_longer_than_is_taken(tmp_path):
    path = tmp_path / "zeros"
    path.write_bytes(bytes(101))
    for file in (path, bytes(101), io.BytesIO(bytes(101))):
        assert message(read_capture, file, limits=Limits(upload=100)) == (
            "a file must be at most 100 bytes, got more; "
            "use fewer layers or tokens, or set XPOS_VIZ_MAX_UPLOAD."
        )


@pytest.mark.parametrize(
    "file", [None, "", 5, io.StringIO("q0,k0")], ids=["none", "empty", "number", "words"]
)
def test_what_is_no_file_at_all(file):
    got = "q0,k0" if isinstance(file, io.StringIO) else file
    assert message(read_capture, file) == (
        f"file must be a path, bytes, or a file opened with 'rb', got {got!r}; "
        'use read_capture("mine.npz").'
    )


def test_words_that_are_json_have_their_names():
    words = json.dumps({"tokens": ["a"] * 5, "encodings": [{"name": "yarn", "head_dim": 8}]})
    read = read_capture(npz(**arrays(), words=words))
    assert read.encodings == (Encoding("yarn", (("head_dim", 8),)),) * 2
    assert read.tokens == ("a",) * 5


PIECES = st.text(st.characters(codec="utf-8"), max_size=6)


@st.composite
def captures(draw):
    """Any small capture."""
    layers, key_heads, group, queries = (draw(st.integers(1, 3)) for _ in range(4))
    keys, width = queries + draw(st.integers(0, 3)), 2 * draw(st.integers(1, 3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    q = torch.randn(layers, key_heads * group, queries, width, generator=generator)
    k = torch.randn(layers, key_heads, keys, width, generator=generator)
    dtype = draw(st.sampled_from(DTYPES))
    return Capture(
        q.to(dtype),
        k.to(dtype),
        layers=tuple(sorted(draw(st.sets(st.integers(0, 99), min_size=layers, max_size=layers)))),
        layout=draw(st.sampled_from(["half", "interleaved"])),
        tokens=tuple(draw(st.lists(PIECES, min_size=keys, max_size=keys))),
        key_positions=torch.arange(keys) + draw(st.floats(-9, 9)),
        encodings=(draw(st.sampled_from([None, rope(width, base=9.0), xpos(width, gamma=0.7)])),),
        scales=(draw(st.floats(1e-9, 1e9)),),
        softcap=draw(st.floats(0, 1e9)),
        text=draw(PIECES),
    )


@given(captures())
def test_any_capture_comes_back_whole(capture):
    suffixes = [".safetensors", ".npz"][: 1 if capture.q.dtype == torch.bfloat16 else 2]
    for suffix in suffixes:
        assert read_capture(capture_bytes(capture, suffix)).hash == capture.hash


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 8), (1, 6, 1, 8), (4, 1, 6, 8), (1, 6, 8), (2, 3, 6, 8)]
)
def test_no_two_orders_read_the_same(shape):
    """Each order lays the entries of q out in another way."""
    q = np.arange(math.prod(shape)).reshape(shape)
    found = readings(shape, shape)
    laid = []
    for order in found:
        names = order.split()
        places = [names.index(name) for name in NAMES if name in names]
        filled = [sizes(order, shape)[name] for name in NAMES]
        laid.append(q.transpose(places).reshape(filled))
    assert len({(each.shape, each.tobytes()) for each in laid}) == len(found) >= 1
    assert found[0].endswith(" head_dim")

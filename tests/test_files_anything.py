"""Anything at all in a file is a capture, or a refusal of a few words."""

import json

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from tests.hostile import NESTED, archive, header, tensor, tensors
from tests.test_files import arrays, full, npy, npz
from xpos_viz import read_capture
from xpos_viz.inputs.files import capture_bytes
from xpos_viz.inputs.files.parts import WORDS
from xpos_viz.limits import Limits

SMALL = Limits(upload=1 << 20, unpacked=1 << 16, letters=1 << 12, tokens=64, cells=1 << 16)
"""So small that examples are quick, and each limit is met."""


def only_refused(content):
    """Read a file that may hold anything, which gives a capture or a refusal of a few words."""
    capture, said = None, ""
    try:
        capture = read_capture(content, limits=SMALL)
    except ValueError as error:
        said = str(error)
    if capture is None:
        assert ";" in said
        assert len(said) < 700
    else:
        assert capture.q.isfinite().all()
        assert capture.q.shape[2] <= SMALL.tokens


VALID = [
    capture_bytes(full(torch.float16)),
    capture_bytes(full(torch.bfloat16), ".safetensors"),
    npz(**arrays(), tokens=list("abcde"), layers=[1, 5], base=10.0, text="x", layout="half"),
    npy(np.ones((2, 3, 4, 2), "f2")),
    b"token,q0,q1,k0,k1\na,1,2,3,4\nb,1,2,3,4\n",
    save({"q": torch.ones(3, 2, 4), "k": torch.ones(3, 2, 4)}, {"base": "10", "text": "a"}),
]


@given(st.binary(max_size=200))
def test_any_bytes(content):
    only_refused(content)


@given(
    st.sampled_from(VALID),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=6),
    st.floats(0, 1),
)
def test_files_with_other_bytes_and_shorter(content, changes, share):
    changed = bytearray(content)
    for place, value in changes:
        changed[int(place * (len(changed) - 1))] = value
    only_refused(bytes(changed))
    only_refused(bytes(changed[: int(share * len(changed))]))


@given(
    st.sampled_from(VALID), st.sampled_from(VALID), st.floats(0, 1), st.floats(0, 1), st.binary()
)
def test_files_with_parts_of_others(one, other, left, right, between):
    only_refused(one[: int(left * len(one))] + between + other[int(right * len(other)) :])


KINDS = st.sampled_from(
    [
        "'<f4'",
        "'>f2'",
        "'|O'",
        "'<V2'",
        "'<U3'",
        "'|S2'",
        "'<i8'",
        "'<f16'",
        "[('a', '<f4')]",
        "'U'",
    ]
)
SHAPES = st.one_of(
    st.lists(st.integers(-2, 6), max_size=5).map(lambda shape: str(tuple(shape))),
    st.sampled_from(["(9999999999, 2)", "()", "(1,", "None", "(2, 2L)", "[1]", "(0, 4)"]),
)
HEADERS = st.builds(header, KINDS, st.sampled_from(["True", "False", "0"]), SHAPES)
MEMBERS = st.builds(lambda head, data: head + data, HEADERS, st.binary(max_size=96))


@given(MEMBERS, MEMBERS, st.dictionaries(st.sampled_from(WORDS), MEMBERS, max_size=2))
def test_archives_of_any_arrays(q, k, words):
    named = {"q": q, "k": k} | words
    only_refused(archive([(f"{name}.npy", content) for name, content in named.items()]))
    only_refused(q)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.integers()
    | st.sampled_from([10**400, NESTED])
    | st.floats()
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
WORD = st.one_of(
    JSON,
    st.sampled_from(["half", "causal", ["causal"], ["sliding:2"] * 2, [1, 5], list("abcde")]),
    st.fixed_dictionaries(
        {"name": st.sampled_from(["rope", "xpos", "longrope", "yarn", "no"])},
        optional=dict.fromkeys(("head_dim", "base", "factors", "gamma", "x"), JSON),
    ).map(lambda encoding: [{"head_dim": 8, **encoding}]),
)
VECTORS = {"q": torch.ones(2, 6, 5, 8), "k": torch.ones(2, 3, 5, 8)}


@given(st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), WORD, max_size=3))
def test_any_words(words):
    text = json.dumps(words)
    only_refused(save(VECTORS, {"words": text}))
    only_refused(npz(**{name: x.numpy() for name, x in VECTORS.items()}, words=text))


ENTRY = st.one_of(
    st.builds(
        tensor,
        st.sampled_from(["F32", "F16", "BF16", "I64", "U8", "F8_E4M3", "BOOL", "?"]),
        st.lists(st.integers(-1, 4) | st.just(2**62), max_size=4),
        st.tuples(st.integers(0, 40), st.integers(0, 40)),
    ),
    JSON,
)


@given(
    st.dictionaries(st.sampled_from(["q", "k", "layers", "__metadata__"]), ENTRY),
    st.binary(max_size=64),
)
def test_any_header_of_safetensors(entries, data):
    only_refused(tensors(entries, data))


@given(st.lists(st.lists(st.text(max_size=4) | st.floats().map(str), max_size=5), max_size=5))
def test_any_table(rows):
    only_refused("\n".join(map(",".join, rows)).encode("utf-8", "replace"))

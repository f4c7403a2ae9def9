"""Files that are broken, too large or made to do harm are refused in words."""

import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
import torch
from safetensors.torch import save

from tests.hostile import BOTH, NESTED, archive, flagged, header, tensor, tensors, with_q
from tests.test_files import arrays, message, npy, npz
from xpos_viz import read_capture

WRITTEN = "use np.savez, and a file that was written whole."
REFUSED = {
    "empty": (b"", "the file must hold q and k, got an empty file; use save_capture."),
    "pickle": (
        pickle.dumps({"q": [1.0]}, 4),
        (
            "the file must be .npz, .npy, .safetensors or .csv, got a pickle (b'\\x80\\x04'), "
            "which can run code; use save_capture."
        ),
    ),
    "anything": (
        b"\xff\xfe\x00\x01",
        (
            "the file must be .npz, .npy, .safetensors or a table of numbers in UTF-8, got "
            "one that begins with b'\\xff\\xfe\\x00\\x01'; use save_capture."
        ),
    ),
    "markup": (
        b"1,2,<html>,1",
        "a table must hold numbers, got '<html>'; use the names token, q0 \u2026 k0 \u2026 above.",
    ),
    # archives
    "a cut archive": (
        npz(**arrays())[:-30],
        (
            "the file must be an archive as NumPy writes it, got one that is broken: "
            f"File is not a zip file; {WRITTEN}"
        ),
    ),
    "an archive of a model": (
        archive([("archive/data.pkl", b"x"), ("archive/version", b"3")]),
        (
            "the file must hold arrays q and k, got 'archive/data.pkl', 'archive/version'; "
            "use np.savez(path, q=q, k=k)."
        ),
    ),
    "nested paths": (
        archive([("../q.npy", b""), ("/etc/k.npy", b""), ("a\n\x1b[31m.npy", b"")]),
        (
            "the file must hold arrays q and k, got '../q.npy', '/etc/k.npy', 'a\\n\\x1b[31m.npy'; "
            "use np.savez(path, q=q, k=k)."
        ),
    ),
    "nothing in it": (
        archive([]),
        "the file must hold arrays q and k, got nothing; use np.savez(path, q=q, k=k).",
    ),
    "many members": (
        archive([(f"{place}.npy", b"") for place in range(300)]),
        "the file must hold at most 256 arrays, got 300; use q and k.",
    ),
    "encrypted": (
        flagged(archive(BOTH), 8, 1),
        (
            "q must be stored or deflated, got it encrypted or packed in another way; "
            "use np.savez or np.savez_compressed."
        ),
    ),
    "packed in another way": (
        archive(BOTH, compression=zipfile.ZIP_LZMA),
        (
            "q must be stored or deflated, got it encrypted or packed in another way; "
            "use np.savez or np.savez_compressed."
        ),
    ),
    "a wrong checksum": (
        with_q(header() + b"\x11" * 8).replace(b"\x11" * 8, b"\x22" * 8),
        (
            "the file must be an archive as NumPy writes it, got one that is broken: "
            f"Bad CRC-32 for file 'q.npy'; {WRITTEN}"
        ),
    ),
    # arrays
    "objects": (
        npz(q=np.array([[{}]]), k=np.ones((1, 2))),
        (
            "q must hold plain numbers or text, got '|O', objects, which can run code; "
            "use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "fields": (
        npz(q=np.zeros((1, 2), [("a", "f4")]), k=np.ones((1, 2))),
        (
            "q must hold plain numbers or text, got '', fields or objects; "
            "use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "bfloat16": (
        with_q(header("'<V2'") + bytes(4)),
        (
            "q must hold plain numbers or text, got '<V2', bytes without a type, such as bfloat16, "
            "which NumPy has not; use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "bfloat16 as bits": (
        npz(q=np.ones((1, 2), "u2"), k=np.ones((1, 2), "u2")),
        (
            "q must be float16, float32 or float64, got uint16 (bfloat16 as bits?); "
            "use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "whole numbers": (
        npz(q=np.ones((1, 2), int), k=np.ones((1, 2), int)),
        (
            "q must be float16, float32 or float64, got int64; "
            "use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "complex numbers": (
        npz(q=np.ones((1, 2), complex), k=np.ones((1, 2))),
        (
            "q must hold plain numbers or text, got '<c16', complex numbers; "
            "use q.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "no array": (
        with_q(b"hello"),
        "q must be an array as NumPy writes it, got b'hello'; use np.save.",
    ),
    "a wrong header": (
        with_q(b"\x93NUMPY\x01\x00\x06\x00{'a':}"),
        (
            "q must have a header as NumPy writes it, got 6 bytes that begin with \"{'a':}\"; "
            "use np.save."
        ),
    ),
    "a long header": (
        with_q(b"\x93NUMPY\x02\x00\x00\x00\x00\xff{"),
        (
            "q must have a header as NumPy writes it, got 4278190080 bytes that begin with '{'; "
            "use np.save."
        ),
    ),
    "a thousand million tokens": (
        with_q(header(shape="(1000000000, 64)")),
        (
            "q must be at most 67,108,864 bytes, got the shape (1000000000, 64), 256,000,000,000 "
            "bytes; use fewer layers, heads or tokens, or set XPOS_VIZ_MAX_UNPACKED."
        ),
    ),
    "too few bytes": (
        with_q(header(shape="(3, 2)") + bytes(20)),
        "q must hold the 24 bytes of its shape (3, 2), got 20; use a file that was written whole.",
    ),
    "too many bytes": (
        with_q(header(shape="(3, 2)") + bytes(25)),
        (
            "q must hold the 24 bytes of its shape (3, 2), got more; use a file that was written "
            "whole."
        ),
    ),
    "no tokens": (
        with_q(header(shape="(1000000000000000000000, 0)")),
        (
            "q must have 1 entry or more in up to 8 dimensions, got the shape "
            "(1000000000000000000000, 0); use an array that is not empty."
        ),
    ),
    "many dimensions": (
        with_q(header(shape=f"({'1, ' * 9})") + bytes(4)),
        (
            "q must have 1 entry or more in up to 8 dimensions, got the shape "
            "(1, 1, 1, 1, 1, 1, 1, 1, 1); use an array that is not empty."
        ),
    ),
    "an odd width": (
        npz(q=np.ones((3, 5)), k=np.ones((3, 5))),
        (
            "q and k must be layers heads tokens head_dim, in some order, got the shapes (3, 5) "
            "and "
            "(3, 5); use np.savez(path, q=q, k=k)."
        ),
    ),
    "one dimension": (
        npz(q=np.ones(4), k=np.ones(4)),
        (
            "q and k must be layers heads tokens head_dim, in some order, got the shapes (4,) and "
            "(4,); use np.savez(path, q=q, k=k)."
        ),
    ),
    "other dimensions": (
        npz(q=np.ones((3, 4)), k=np.ones((1, 3, 4))),
        (
            "q and k must have the same dimensions, got the shapes (3, 4) and (1, 3, 4); "
            "use layers heads tokens head_dim for both."
        ),
    ),
    "other tokens": (
        npz(q=np.ones((3, 4)), k=np.ones((3, 4)), tokens=["a"] * 5),
        (
            "q and k must be layers heads tokens head_dim, in some order, got the shapes (3, 4) "
            "and "
            "(3, 4) for 5 keys; use np.savez(path, q=q, k=k)."
        ),
    ),
    "other dtypes": (
        npz(q=np.ones((3, 4), "f4"), k=np.ones((3, 4), "f2")),
        "q and k must share a dtype, got torch.float32 and torch.float16; use k.to(q).",
    ),
    "not finite": (
        npz(q=np.ones((3, 4)), k=np.array([[np.nan, np.inf, -np.inf, 1]] * 3)),
        "k must be finite, got 9 entries of 12 that are NaN or infinite; use a capture in float32.",
    ),
    "too large for a picture": (
        npz(q=np.full((3, 4), -1e160), k=np.ones((3, 4))),
        "q must lie within ±1e+15, got 1e+160; use q / q.abs().max().",
    ),
    "one array of something": (
        npy(np.ones((3, 5, 4))),
        (
            "the array must hold q and k, so its first dimension must be 2, got the shape (3, 5, "
            "4); "
            "use np.save(path, np.stack([q, k]))."
        ),
    ),
    # words
    "tokens of bytes": (
        npz(**arrays(), tokens=np.array([b"a"] * 5)),
        (
            "tokens must hold plain numbers or text, got '|S1', bytes instead of text; "
            "use tokens.astype(np.float32), or .safetensors for bfloat16."
        ),
    ),
    "tokens that are no text": (
        archive(
            [
                *BOTH[:1],
                ("k.npy", BOTH[1][1]),
                ("tokens.npy", header("'<U1'", shape="(1,)") + b"\xff" * 4),
            ]
        ),
        "tokens must be Unicode text, got other bytes; use str.",
    ),
    "half a letter": (
        npz(q=np.ones((1, 2)), k=np.ones((1, 2)), tokens=np.array(["\ud800"])),
        "tokens must be Unicode text, got '\\ud800'; use str.",
    ),
    "many words": (
        npz(**arrays(), layers=np.zeros(9000, int)),
        (
            "layers must be at most 8,192 entries and 4,194,304 letters, got the shape (9000,) of "
            "int64; use fewer tokens, or set XPOS_VIZ_MAX_TOKENS or XPOS_VIZ_MAX_LETTERS."
        ),
    ),
    "long words": (
        archive([*BOTH, ("tokens.npy", header("'<U9999999'", shape="(5,)"))]),
        (
            "tokens must be at most 8,192 entries and 4,194,304 letters, got the shape (5,) of "
            "<U9999999; use fewer tokens, or set XPOS_VIZ_MAX_TOKENS or XPOS_VIZ_MAX_LETTERS."
        ),
    ),
    "unknown words": (
        npz(**arrays(), words='{"layer": 1}'),
        (
            "unknown word 'layer'; use: layers, layout, tokens, offsets, query_positions, "
            "key_positions, base, encodings, masks, scales, softcap, model, text, reading."
        ),
    ),
    "words that are no JSON": (
        npz(**arrays(), words="{"),
        (
            "words must be JSON, got '{': Expecting property name enclosed in double quotes: "
            "line 1 "
            "column 2 (char 1); use {}."
        ),
    ),
    "words that are no object": (
        npz(**arrays(), words="[1]"),
        "words must be a JSON object, got '[1]'; use {}.",
    ),
    "words twice": (
        npz(**arrays(), words='{"text": "a", "text": "b"}'),
        'words must be JSON, got \'{"text": "a", "text": "b"}\': a name stands twice; use {}.',
    ),
    "words that are numbers": (
        npz(**arrays(), words=5),
        "words must be one text, got 5; use json.dumps.",
    ),
    "nested words": (
        npz(**arrays(), words='{"text": ' + "[" * 100_000),
        "words must be JSON, got '" + '{"text": ' + "[" * 30 + ": nested too deeply; use {}.",
    ),
    "words too deep": (
        npz(**arrays(), words=json.dumps({"masks": NESTED})),
        "words must be JSON, got '" + '{"masks": ' + "[" * 29 + ": nested too deeply; use {}.",
    ),
    "an encoding too deep": (
        save(
            {"q": torch.ones(1, 8), "k": torch.ones(1, 8)},
            {"words": json.dumps({"encodings": [{"name": "rope", "base": NESTED}]})},
        ),
        (
            'words must be JSON, got \'{"encodings": [{"name": "rope", "base":: '
            "nested too deeply; use {}."
        ),
    ),
    "a number beyond all": (
        npz(**arrays(), words='{"softcap": 1' + "0" * 400 + "}"),
        (
            "words must be JSON, got '"
            f'{{"softcap": 1{"0" * 26}: '
            "a number has too many digits; use {}."
        ),
    ),
    "a list that is none": (
        npz(**arrays(), words='{"masks": "causal"}'),
        "masks must be a list, got 'causal'; use ['causal'].",
    ),
    "a mask that is none": (
        npz(**arrays(), words='{"masks": ["<script>"]}'),
        (
            "unknown mask '<script>'; use one of: causal, none, sliding:size, blockwise:size "
            "(size ≥ 1 token), or a bool tensor."
        ),
    ),
    "a base that is none": (
        npz(**arrays(), base=-1),
        "base must be a finite number ≥ 1, got -1.0; the usual base is 10000.",
    ),
    "an encoding that is none": (
        npz(**arrays(), words='{"encodings": ["rope"]}'),
        (
            "encodings must be objects with a name and parameters, got 'rope'; "
            'use {"name": "rope", "head_dim": 64, "base": 10000}.'
        ),
    ),
    "offsets without a text": (
        npz(**arrays(), offsets=np.ones((5, 3), int)),
        (
            "offsets must be (tokens, 2) whole numbers beside a text, 0 ≤ start ≤ stop ≤ its "
            "length, got [[1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1,; "
            "use where each token starts and stops in it."
        ),
    ),
    "offsets beyond the text": (
        npz(**arrays(), text="hello", offsets=np.array([[0, 1]] * 4 + [[4, 6]])),
        (
            "offsets must be (tokens, 2) whole numbers beside a text, 0 ≤ start ≤ stop ≤ its "
            "length, got [[0, 1], [0, 1], [0, 1], [0, 1], [4, 6]]; use where each token starts and "
            "stops in it."
        ),
    ),
    "offsets that are all of the text, again and again": (
        npz(**arrays(), text="h" * 1_000_000, offsets=np.array([[0, 1_000_000]] * 5)),
        (
            "offsets must be of at most 4,194,304 letters together, got 5,000,000; "
            "use where each token starts and stops, or set XPOS_VIZ_MAX_LETTERS."
        ),
    ),
    "a text without numbers": (
        b"hi",
        (
            "the file must be .npz, .npy, .safetensors or a table with a row for each token and "
            "as many columns of q as of k, an even number, got text that begins with "
            "'hi': "
            "1 rows, 0 columns of q and 1 of k; use commas between columns, and the names "
            "token, q0, q1 … k0, k1 …"
        ),
    ),
    "a table between semicolons": (
        b"q0;q1;k0;k1\n1;2;3;4\n",
        (
            "the file must be .npz, .npy, .safetensors or a table with a row for each token and "
            "as many columns of q as of k, an even number, got text that begins with "
            "'q0;q1;k0;k1\\n1;2;': "
            "1 rows, 1 columns of q and 0 of k; use commas between columns, and the names "
            "token, q0, q1 … k0, k1 …"
        ),
    ),
    "a shape that is very long": (
        with_q(header(shape="(" + "9" * 300 + ", 2)")),
        (
            "q must have a header as NumPy writes it, got 359 bytes that begin with \"{'descr': "
            "'<f4', 'fortran_order': False, 'shape': (99999999; use np.save."
        ),
    ),
    "positions that are none": (
        npz(**arrays(), key_positions=np.array([1.0, 2.0, np.nan, 3.0, 4.0])),
        (
            "key_positions must be finite numbers of tokens within ±2^53, got tensor([1., 2., nan, "
            "3., 4.], dtype=torch.float64); use whole or real numbers."
        ),
    ),
    # safetensors
    "a header longer than the file": (
        struct.pack("<Q", 2**62) + b"{}",
        (
            "the header must be at most 4,194,304 bytes and within the file, got 4,611,686,018,427,"
            "387,904 of 10; use a file that was written whole."
        ),
    ),
    "a tensor beyond the file": (
        tensors({"q": tensor(), "k": tensor(offsets=(8, 16))}, bytes(12)),
        (
            "the file must be safetensors, got one that is broken: Error while deserializing: "
            "incomplete metadata, file not fully covered; use a file that was written whole."
        ),
    ),
    "a shape beyond its bytes": (
        tensors({"q": tensor(shape=(10**9, 64)), "k": tensor(offsets=(8, 16))}, bytes(16)),
        (
            "the file must be safetensors, got one that is broken: Error while deserializing: "
            "invalid shape, data type, or offset for tensor; use a file that was written whole."
        ),
    ),
    "a model": (
        save({"model.layers.0.q_proj": torch.ones(2, 2), "b": torch.ones(1)}),
        (
            "the file must hold tensors q and k, got 'b', 'model.layers.0.q_proj'; "
            'use save_file({"q": q, "k": k}).'
        ),
    ),
    "bytes": (
        save({"q": torch.ones(1, 2).to(torch.uint8), "k": torch.ones(1, 2)}),
        (
            "q must be one of F16, BF16, F32, F64, I64, I32 with 1 entry or more, got U8 of the "
            "shape "
            "(1, 2); use q.float()."
        ),
    ),
    "tensors of whole numbers": (
        save({"q": torch.ones(1, 2).int(), "k": torch.ones(1, 2).int()}),
        "q must be one of float16, bfloat16, float32, float64, got torch.int32; use q.float().",
    ),
    "tensors without tokens": (
        save({"q": torch.ones(0, 2), "k": torch.ones(0, 2)}),
        (
            "q must be one of F16, BF16, F32, F64, I64, I32 with 1 entry or more, got F32 of the "
            "shape (0, 2); use q.float()."
        ),
    ),
    "a tensor twice": (
        tensors(
            b'{"q":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
            b'"k":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
            b'"k":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]}}',
            bytes(16),
        ),
        (
            'the header must be JSON, got \'{"q":{"dtype":"F32","shape":[1,2],"data: '
            "a name stands twice; use {}."
        ),
    ),
    "a base of letters": (
        save({"q": torch.ones(1, 2), "k": torch.ones(1, 2)}, {"base": "ten"}),
        "base must be a number, got 'ten'; use 10000.",
    ),
    # tables
    "rows of many lengths": (
        b"1,2\n1,2,3\n",
        (
            "the file must be .npz, .npy, .safetensors or a table with rows of one length, got "
            "text that begins with '1,2\\n1,2,3\\n' and lengths [2, 3]; use commas between columns."
        ),
    ),
    "an odd table": (
        b"1,2,3\n",
        (
            "the file must be .npz, .npy, .safetensors or a table with a row for each token and "
            "as many columns of q as of k, an even number, got text that begins with "
            "'1,2,3\\n': "
            "1 rows, 1 columns of q and 2 of k; use commas between columns, and the names "
            "token, q0, q1 … k0, k1 …"
        ),
    ),
    "only names": (
        b"q0,q1,k0,k1\n",
        (
            "the file must be .npz, .npy, .safetensors or a table with a row for each token and "
            "as many columns of q as of k, an even number, got text that begins with "
            "'q0,q1,k0,k1\\n': "
            "0 rows, 2 columns of q and 2 of k; use commas between columns, and the names "
            "token, q0, q1 … k0, k1 …"
        ),
    ),
    "white space": (
        b"\n\n",
        (
            "the file must be .npz, .npy, .safetensors or a table with rows of one length, got "
            "text that begins with '\\n\\n' and lengths none; use commas between columns."
        ),
    ),
    "a long table": (
        b"1,2,3,4\n" * (1 << 20),
        (
            "a table must be at most 4,194,304 bytes, got 8,388,608; "
            "use .npz, or set XPOS_VIZ_MAX_LETTERS."
        ),
    ),
    "a table that is not finite": (
        b"1,2,3,4\n1,1e999,3,4\n",
        "q must be finite, got 1 entries of 4 that are NaN or infinite; use a capture in float32.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said(case):
    content, text = REFUSED[case]
    assert message(read_capture, content) == text


def test_an_array_twice():
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = archive([*BOTH, *BOTH[1:]])
    assert message(read_capture, content) == (
        "the file must hold k once, got it more often; use np.savez."
    )


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_capture(tmp_path / "none.npz")


def test_tokens_are_kept_as_text_and_shown_safely():
    words = ["<img src=x>", "\x1b[2J", "\u202eab", "a" * 99, ""]
    capture = read_capture(npz(**arrays(), words=json.dumps({"tokens": words})))
    assert capture.tokens == tuple(words)
    assert capture.labels == ("<img src=x>", "[2J", "ab", "a" * 39 + "…", "�")


def test_nothing_is_left_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    read_capture(npz(**arrays()))
    message(read_capture, REFUSED["nested paths"][0])
    assert not list(tmp_path.iterdir())

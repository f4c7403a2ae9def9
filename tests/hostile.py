"""Files that are broken or made to do harm, built by hand."""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

import xpos_viz
from tests.test_files import npy

ROOT = Path(xpos_viz.__file__).parent.parent


def header(kind="'<f4'", order="False", shape="(1, 2)", extra=""):
    """The header of an array, as NumPy writes it."""
    text = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, {extra}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(members, **options):
    """The bytes of an archive of some members, named as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as opened:
        for name, content in members:
            opened.writestr(name, content)
    return file.getvalue()


def with_q(content):
    """An archive whose q is some bytes, and its k an array."""
    return archive([("q.npy", content), ("k.npy", npy(np.ones((1, 2), "<f4")))])


def tensors(header, data=b""):
    """The bytes of a file of safetensors with some header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype="F32", shape=(1, 2), offsets=(0, 8)):
    """An entry of such a header."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def flagged(content, place, value):
    """An archive with two bytes of its central directory set, for each of its members."""
    changed, at = bytearray(content), -1
    while (at := content.find(b"PK\x01\x02", at + 1)) >= 0:
        changed[at + place : at + place + 2] = struct.pack("<H", value)
    return bytes(changed)


BOTH = [("q.npy", npy(np.ones((1, 2), "<f4"))), ("k.npy", npy(np.ones((1, 2), "<f4")))]
NESTED = json.loads("[" * 90 + "]" * 90)

"""Files that say to be small, or hold less than they say, take little memory."""

import io
import os
import struct
import subprocess
import sys
import zipfile
import zlib

import torch

from tests.hostile import BOTH, ROOT, archive, header, tensor, tensors, with_q
from xpos_viz import Capture
from xpos_viz.inputs.files import capture_bytes


def deflated(zeros, said=None):
    """An archive whose q is many zero bytes, packed; with another size said of it, if any."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = header(shape=f"({zeros // 16}, 4)")
    packed = packer.compress(start) + b"".join(
        packer.compress(bytes(1 << 20)) for _ in range(zeros >> 20)
    )
    packed += packer.flush()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("q.npy", b"?" * 64)
        opened.writestr("k.npy", BOTH[0][1])
    content = file.getvalue()
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        info = opened.getinfo("q.npy")
    old = struct.pack("<II", info.compress_size, info.file_size)
    new = struct.pack("<II", len(packed), said or zeros + len(start))
    begin = content.index(b"q.npy") + len("q.npy")
    rest = content[begin + info.compress_size :]
    longer = len(packed) - info.compress_size
    changed = (content[:begin] + packed + rest).replace(old, new)
    return _moved(changed, longer)


def _moved(content, longer):
    """An archive whose first member is longer, its directory mended."""
    changed = bytearray(content)
    end = content.rindex(b"PK\x05\x06")
    (directory,) = struct.unpack_from("<I", content, end + 16)
    struct.pack_into("<I", changed, end + 16, directory + longer)
    second = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 4)
    (offset,) = struct.unpack_from("<I", content, second + 42)
    struct.pack_into("<I", changed, second + 42, offset + longer)
    return bytes(changed)


SCRIPT = """
import resource, sys
from pathlib import Path
from xpos_viz import read_capture
from xpos_viz.limits import Limits

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

limits = Limits(unpacked=1 << 22)
read_capture(Path(sys.argv[1], "valid").read_bytes(), limits=limits)
before = peak()
for path in sorted(Path(sys.argv[1]).glob("bomb*")):
    try:
        read_capture(path, limits=limits)
    except ValueError as error:
        print(error)
print((peak() - before) // 1024)
"""
TOO_MUCH = [
    "q must be at most 4,194,304 bytes, got the shape (8388608, 4), 134,217,728 bytes",
    (
        "the file must be an archive as NumPy writes it, got one that is broken: "
        "Bad CRC-32 for file 'q.npy'"
    ),
    "q must hold the 4,194,304 bytes of its shape (262144, 4), got 0",
    (
        "the file must be safetensors, got one that is broken: Error while deserializing: "
        "incomplete metadata, file not fully covered"
    ),
    "words must hold the 16,777,216 bytes of its shape (), got 0",
]


def test_bombs_take_little_memory(tmp_path):
    """128 MiB of zeros, said and unsaid, and sizes without bytes, with 4 MiB allowed."""
    zeros = 128 << 20
    x = torch.ones(1, 1, 64, 64)
    (tmp_path / "valid").write_bytes(capture_bytes(Capture(x, x)))
    for place, content in enumerate(
        (
            deflated(zeros),
            deflated(zeros, said=1 << 12),
            with_q(header(shape="(262144, 4)")),
            tensors({"q": tensor(shape=(1 << 30, 4), offsets=(0, 1 << 34))}),
            archive([*BOTH, ("words.npy", header("'<U4194304'", shape="()"))]),
        )
    ):
        (tmp_path / f"bomb{place}").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    *said, grown = done.stdout.splitlines()
    assert [line.split(";")[0] for line in said] == TOO_MUCH
    assert int(grown) < 48

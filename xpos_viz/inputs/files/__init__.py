r"""Captures as files: what someone brings of their own model, read without trust.

A file holds q and k (layers, heads, tokens, head_dim), before any rotation, and may hold the
tokens: `np.savez("mine.npz", q=q, k=k, tokens=tokens)`. The same names make a .safetensors
file; a .npy file is `np.stack([q, k])`; a .csv file has a row for each token of one head, with
columns token, q0, q1 … k0, k1 …

Beside them may stand `layers` (numbers), `layout` ("half" or "interleaved"), `base` (of the
model's RoPE), `text` with `offsets`, `query_positions`, `key_positions`, and what else a
:class:`xpos_viz.inputs.Capture` holds. Dimensions may stand in any order that can be told
apart, and those of layers or heads may be missing.
"""

from xpos_viz.inputs.files.orders import UnclearOrderError, WrongOrderError, readings
from xpos_viz.inputs.files.reading import read_capture
from xpos_viz.inputs.files.saving import capture_bytes, save_capture

__all__ = [
    "UnclearOrderError",
    "WrongOrderError",
    "capture_bytes",
    "read_capture",
    "readings",
    "save_capture",
]

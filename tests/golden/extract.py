"""Take the small part of the golden numbers that the tests use.

    python tests/golden/extract.py FOLDER      FOLDER holds the whole scores.npz and curves.npz

The folder is not part of this repository; `README.md` says what is in it. Running this again
writes the same bytes.
"""

import sys
from pathlib import Path

import numpy as np

IMPLEMENTATIONS = (
    "torchscale", "rotary_embedding_torch", "x_transformers", "flash_attn_half", "hf_llama",
)  # fmt: skip
SCALE_BASES = ("none", "64", "512", "2048")
SETTINGS = ("d8_L64_b10000", "d8_L512_b10000", "d64_L64_b10000", "d64_L512_b10000",
            "d64_L512_b500000")  # fmt: skip
DECODES = (1, 7)  # queries against 512 cached keys
LAGS = np.unique(np.concatenate([np.arange(65), np.arange(64, 2049, 31), [725, 1024, 2048]]))
CURVES = (
    *(f"g_d64_b10000_B{scale_base}" for scale_base in ("none", "1", "64", "512", "2048")),
    "roformer_bound_d64_b10000",
)


def scores_of(source: Path) -> dict[str, np.ndarray]:
    """Scores among the kept rows of each case, and which rows these are."""
    kept: dict[str, np.ndarray] = {}
    stored = np.load(source / "scores.npz")
    for case in (f"{setting}_B{scale_base}" for setting in SETTINGS for scale_base in SCALE_BASES):
        rows = stored[f"{case}/rows"]
        kept[f"rows/{case}"] = rows.astype(np.int16)
        for name in IMPLEMENTATIONS:
            if f"{name}/{case}/scores" in stored:
                table = stored[f"{name}/{case}/scores"]  # (64, 64), or the kept rows already
                whole = len(table) > len(rows)
                kept[f"scores/{name}/{case}"] = table[np.ix_(rows, rows)] if whole else table
    return kept


def decode_of(source: Path) -> dict[str, np.ndarray]:
    """Scores of the last queries against some of the cached keys, and which keys these are."""
    kept: dict[str, np.ndarray] = {}
    stored = np.load(source / "curves.npz")
    for case in (f"d64_Lk512_Lq{n}_b10000_B{s}" for n in DECODES for s in SCALE_BASES):
        kept[f"columns/{case}"] = stored[f"offset/{case}/cols"].astype(np.int16)
        for key in stored:
            if key.startswith(f"offset/{case}/") and not key.endswith("/cols"):
                kept[f"decode/{key.split('/')[2]}/{case}"] = stored[key]
    return kept


def inputs_of(source: Path, tokens: list[int]) -> dict[str, np.ndarray]:
    """Queries and keys of these tokens, as numerators over 64."""
    stored = np.load(source / "scores.npz")
    names = ("q_d8", "k_d8", "q_d64", "k_d64")
    numerators = {
        f"inputs/{x}": (stored[f"inputs/{x}"][tokens] * 64).astype(np.int8) for x in names
    }
    return {"inputs/rows": np.array(tokens, dtype=np.int16), **numerators}


def curves_of(source: Path) -> dict[str, np.ndarray]:
    """Curves at some of their lags."""
    stored = np.load(source / "curves.npz")
    return {"curves/lags": LAGS, **{f"curves/{x}": stored[f"analytic/{x}"][LAGS] for x in CURVES}}


def scaling_of(source: Path) -> dict[str, np.ndarray]:
    """Angles and factors of stretched RoPE, slopes of ALiBi and buckets of T5, as they are."""
    stored = np.load(source / "curves.npz")
    return {key: stored[key] for key in stored if key.startswith(("rope_scaling/", "bias/"))}


def main(source: Path) -> None:
    """Write golden.npz beside this file."""
    golden = {**scores_of(source), **decode_of(source), **curves_of(source), **scaling_of(source)}
    used = set(range(512 - max(DECODES), 512))
    for name, tokens in golden.items():
        if name.startswith(("rows/", "columns/")):
            used.update(tokens.tolist())
    golden |= inputs_of(source, sorted(used))
    np.savez_compressed(Path(__file__).with_name("golden.npz"), allow_pickle=False, **golden)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

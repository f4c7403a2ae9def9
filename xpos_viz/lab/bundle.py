"""What comes along: models that are trained already, the texts that they read, and what they lose.

Models are those of the first seed, results those of all; `assets/lab.py` made them.
"""

from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Int
from torch import Tensor

from xpos_viz.choice import check_choice
from xpos_viz.lab.model import SETTINGS, Transformer, contenders
from xpos_viz.lab.results import read_results
from xpos_viz.lab.store import ENDING, RESULTS, load

FOLDER = Path(__file__).parent / "bundled"
"""A folder for each setting."""

TEXTS = "texts.npz"
"""The name of the texts of a setting, held-out sources of Python's standard library."""


@cache
def results(setting: str) -> pd.DataFrame:
    """Return what was measured of all seeds of a setting, a table of :func:`.results.of_run`.

    Raises
    ------
    ValueError
        For a setting that there is not.
    """
    return read_results(_folder(setting) / RESULTS)[0]


@lru_cache(maxsize=16)
def model(setting: str, name: str) -> Transformer:
    """Return a trained model, by the names of a setting and of one of its contenders.

    Raises
    ------
    ValueError
        If there is none.
    """
    folder = _folder(setting)
    check_choice("encoding", name, contenders(SETTINGS[setting]))
    return load(folder / f"{name}{ENDING}")


@cache
def texts(setting: str) -> Int[Tensor, "texts bytes"]:
    """Return the texts on which models are measured, (texts, 16 L + 1).

    Raises
    ------
    ValueError
        For a setting that there is not.
    """
    with np.load(_folder(setting) / TEXTS) as file:
        return torch.from_numpy(file["texts"]).long()


def pack_texts(found: Int[Tensor, "texts bytes"]) -> bytes:
    """Return the file that :func:`texts` reads."""
    file = BytesIO()
    np.savez_compressed(file, texts=found.to(torch.uint8).numpy())
    return file.getvalue()


def _folder(setting: str) -> Path:
    """Where a setting is kept."""
    check_choice("setting", setting, SETTINGS)
    return FOLDER / setting

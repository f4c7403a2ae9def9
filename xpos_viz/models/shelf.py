"""The models that an operator offers to visitors: those in one folder, and no others."""

import os
from importlib.util import find_spec
from pathlib import Path

from xpos_viz.limits import MODELS


def offered(folder: str | None = None) -> dict[str, Path]:
    """Return the models of a folder by name.

    They are its folders with a config.json, and its `.gguf` files.

    Parameters
    ----------
    folder
        A folder; None is the one that XPOS_VIZ_MODELS names.

    Returns
    -------
    dict
        In the order of their names; empty where there is no such folder, where it may not be
        looked into, or without transformers.

    Examples
    --------
    >>> offered("")
    {}
    """
    place = os.environ.get(MODELS, "") if folder is None else folder
    if not place or not Path(place).is_dir() or find_spec("transformers") is None:
        return {}
    try:
        return {path.name: path for path in sorted(Path(place).iterdir()) if _is_model(path)}
    except PermissionError:
        return {}


def _is_model(path: Path) -> bool:
    """Whether a path looks like a model that can be read."""
    return (path / "config.json").is_file() or (path.is_file() and path.suffix == ".gguf")

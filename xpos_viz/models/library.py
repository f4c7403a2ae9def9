"""The packages of the extra `models`, imported when they are needed and not before."""

from importlib import import_module
from typing import Any


def library(name: str) -> Any:  # noqa: ANN401 - a module, whose types are not known without it
    """Return a module of a package that `xpos-viz[models]` brings.

    Raises
    ------
    ValueError
        If it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"models need the package {error.name}, which is not installed; "
            "use pip install '.[models]' in the folder of this project."
        ) from error

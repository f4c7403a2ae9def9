"""Where runs are kept: a folder with a file of safetensors for each, such as `rope-0.safetensors`.

What a file says of itself is enough to make its model again: setting, encoding, seed and corpus,
and with which versions it was trained.
"""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from xpos_viz.encoding import Encoding
from xpos_viz.entry import check_whole
from xpos_viz.lab.corpus import Corpus
from xpos_viz.lab.model import BYTES, Setting, Transformer
from xpos_viz.version import __version__

ENDING = ".safetensors"
"""Of the files of runs."""

RESULTS = "results.parquet"
"""What the models of a folder lose, beside them."""

MOMENTS = ("exp_avg", "exp_avg_sq")
"""What the optimiser keeps of each weight."""

_RUN = "run"  # under which a file says what it is of
_OTHERS = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading the words of another file, or its tensors, may raise."""


@dataclass(frozen=True)
class Recipe:
    """What a run is made from: no other run goes on from its states.

    Parameters
    ----------
    setting, encoding, seed
        What is trained.
    corpus
        The hash of what it reads.
    """

    setting: Setting
    encoding: Encoding
    seed: int
    corpus: str

    def __post_init__(self) -> None:
        check_whole("seed", self.seed, 0, below=2**63)

    @property
    def entries(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def of(cls, entries: dict[str, Any]) -> "Recipe":
        """Read :attr:`entries`; others raise ValueError, KeyError, TypeError or AttributeError."""
        name, parameters = entries["encoding"].values()
        encoding = Encoding(name, tuple((key, value) for key, value in parameters))
        return cls(**entries | {"setting": Setting(**entries["setting"]), "encoding": encoding})


@dataclass(frozen=True, eq=False)
class State:
    """A run as it was written.

    Parameters
    ----------
    recipe
        What it is made from.
    about
        Name, bytes and files of its corpus, and versions, by name.
    tensors
        Weights, what the optimiser needs, and bits per byte of each step, by name.
    """

    recipe: Recipe
    about: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    @property
    def words(self) -> dict[str, Any]:
        """What it says of itself."""
        return {"recipe": self.recipe.entries, **self.about}

    @property
    def losses(self) -> list[float]:
        """Bits per byte of each step."""
        return self.tensors["losses"].tolist()

    @property
    def done(self) -> bool:
        """Whether all steps are done."""
        return len(self.tensors["losses"]) >= self.recipe.setting.steps

    def part(self, prefix: str) -> dict[str, Tensor]:
        """Return the tensors whose names begin so, by the rest of their names."""
        return {
            name.removeprefix(prefix): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(prefix)
        }

    def model(self) -> Transformer:
        """Return the model."""
        recipe = self.recipe
        model = Transformer(recipe.setting, recipe.encoding, seed=recipe.seed)
        model.load_state_dict(self.part("model."))
        return model.eval()

    def check(self) -> None:
        """Raise ValueError or KeyError unless the tensors are those of such a run."""
        setting, losses, weights = self.recipe.setting, self.tensors["losses"], self.part("model.")
        if losses.dtype != torch.float64 or losses.ndim != 1 or len(losses) > setting.steps:
            raise ValueError("losses are not those of the steps")
        wide = weights["embedding.weight"].shape == (BYTES, setting.width)
        if not wide or len(weights) < setting.layers:  # before a model of that size is made
            raise ValueError("weights are not those of the setting")
        expected = Transformer(setting, self.recipe.encoding, seed=0).state_dict()
        half_way = 0 < len(losses) < setting.steps
        parts = [weights, *[self.part(f"{moment}.") for moment in MOMENTS if half_way]]
        if any(_shapes(part) != _shapes(expected) for part in parts):
            raise ValueError("tensors are not those of the model")
        if not all(map(_is_sound, self.tensors.values())):
            raise ValueError("tensors must be finite numbers")

    def half(self) -> "State":
        """Return what is bundled: the model in float16, half as large, and its losses."""
        model = {name: part.half() for name, part in self.tensors.items() if "model." in name}
        return replace(self, tensors=model | {"losses": self.tensors["losses"]})

    def content(self) -> bytes:
        """Write it as safetensors, whose words have one entry: they come in no order."""
        tensors = {name: tensor.contiguous() for name, tensor in self.tensors.items()}
        return save(tensors, {_RUN: json.dumps(self.words)})

    @classmethod
    def read(cls, path: Path) -> "State":
        """Read a file.

        Raises
        ------
        ValueError
            If no run was written there.
        OSError
            If it cannot be read.
        """
        try:
            with safe_open(path, "pt") as file:
                words = json.loads((file.metadata() or {})[_RUN])
                names = file.keys()
                tensors = {name: file.get_tensor(name) for name in names}
            state = cls(Recipe.of(words.pop("recipe")), words, tensors)
            state.check()
        except (SafetensorError, *_OTHERS) as error:
            raise ValueError(
                f"{path} must be a run of xpos-viz lab train, got another file, or one that is "
                "damaged; remove it, or use another folder."
            ) from error
        return state


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, torch.Size]:
    """Their shapes, by name."""
    return {name: tensor.shape for name, tensor in tensors.items()}


def _is_sound(tensor: Tensor) -> bool:
    """Whether it holds real numbers that are finite."""
    return tensor.is_floating_point() and bool(tensor.isfinite().all())


def about(corpus: Corpus) -> dict[str, Any]:
    """Return what is told of a run besides its recipe: its corpus, and with what it is trained."""
    return {
        "corpus": corpus.name,
        "bytes": [len(corpus.train), len(corpus.held_out)],
        "files": list(corpus.files),
        "threads": torch.get_num_threads(),
        "versions": {
            "xpos_viz": __version__,
            "python": platform.python_version(),
            "torch": version("torch"),
        },
    }


def made_with(told: Mapping[str, Any]) -> str:
    """Write with what a run is trained, of what is told of it."""
    versions = ", ".join(f"{name} {number}" for name, number in told["versions"].items())
    return f"{versions} and {told['threads']} threads"


def place(folder: Path, name: str, seed: int) -> Path:
    """Return where a run is kept."""
    return folder / f"{name}-{seed}{ENDING}"


def load(path: str | Path) -> Transformer:
    """Return the model of a run that is done.

    Parameters
    ----------
    path
        Of its file.

    Raises
    ------
    ValueError
        If there is none, or its training is not done.
    OSError
        If it cannot be read.
    """
    state = State.read(Path(path))
    if not state.done:
        raise ValueError(
            f"{path} must be a run that is done, got {len(state.losses)} of "
            f"{state.recipe.setting.steps} steps; train it on."
        )
    return state.model()

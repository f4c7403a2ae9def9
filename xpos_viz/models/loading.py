"""Where a model comes from: an object, a local folder, a `.gguf` file, or a name on the Hub.

Nothing is executed that comes with a model, and nothing is unpickled: weights are read from
safetensors or GGUF alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch

from xpos_viz.choice import check_choice
from xpos_viz.models.library import library
from xpos_viz.models.telling import Progress, telling

Model = Any
"""A model of transformers, which is imported only where a function needs it."""

_COPIES = 2  # of a weight of a .gguf file while it is unpacked


def _silent(_: float) -> None:
    """Nobody is told."""


DTYPES = ("float32", "bfloat16", "float16")
"""What weights may be loaded as."""


class Source(Protocol):
    """Where a model and its tokenizer come from."""

    @property
    def name(self) -> str:
        """What the model is called, without its place on this computer."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        ...

    @property
    def config(self) -> Any:  # noqa: ANN401 - a configuration of transformers
        """Its configuration."""
        ...

    @property
    def tokenizer(self) -> Any:  # noqa: ANN401 - a tokenizer of transformers, or None
        """Its tokenizer."""
        ...

    def weights(self) -> int:
        """Return how many bytes loading takes."""
        ...

    def load(self, progress: Progress = ...) -> Model:
        """Return the model, and tell the share of its weights that is there."""
        ...


@dataclass(frozen=True)
class Loaded:
    """A model that is in memory, and its tokenizer or None."""

    model: Model
    tokenizer: Any = None

    @property
    def name(self) -> str:
        """What the model is called."""
        return Path(self.model.name_or_path).name or self.model.config.model_type

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        return self.model.dtype

    @property
    def config(self) -> Any:  # noqa: ANN401
        """Its configuration."""
        return self.model.config

    def weights(self) -> int:
        """Return 0: nothing is to be loaded."""
        return 0

    def load(self, progress: Progress = _silent) -> Model:  # noqa: ARG002 - there is no progress
        """Return the model."""
        return self.model


@dataclass(frozen=True)
class Stored:
    """A model in a folder, in a file, or on the Hub.

    Parameters
    ----------
    at
        A folder, or a name on the Hub.
    file
        The name of a `.gguf` file in it, or "".
    word
        The dtype to load, one of :data:`DTYPES`.
    given
        A tokenizer to take instead of the model's, or None.
    """

    at: str
    file: str = ""
    word: str = "float32"
    given: Any = None

    @property
    def name(self) -> str:
        """What the model is called."""
        folder = Path(self.at).resolve()
        return Path(self.file).stem or (folder.name if folder.is_dir() else self.at)

    @property
    def dtype(self) -> torch.dtype:
        """What it computes in."""
        return getattr(torch, self.word)

    @cached_property
    def config(self) -> Any:  # noqa: ANN401
        """Its configuration."""
        return self._read(library("transformers").AutoConfig.from_pretrained)

    @cached_property
    def tokenizer(self) -> Any:  # noqa: ANN401
        """Its tokenizer."""
        return self.given or self._read(library("transformers").AutoTokenizer.from_pretrained)

    def weights(self) -> int:
        """Return how many bytes loading takes, from the configuration; none are taken for it.

        Of a `.gguf` file one weight after the other is unpacked, into two copies in float32.
        """

        def empty(*_: object, **__: object) -> Model:
            with torch.device("meta"):
                return library("transformers").AutoModel.from_config(self.config)

        counts = [weight.numel() for weight in self._read(empty).parameters()]
        unpacked = _COPIES * torch.float32.itemsize * max(counts) if self.file else 0
        return self.dtype.itemsize * sum(counts) + unpacked

    def load(self, progress: Progress = _silent) -> Model:
        """Load it, and tell the share of its weights that is there.

        What `progress` raises ends the loading, and is raised here.

        Raises
        ------
        ValueError
            If it cannot be read, or lacks weights, which would be drawn at random.
        """
        read = library("transformers").AutoModel.from_pretrained
        kind = {} if self.file else {"use_safetensors": True}
        with telling(progress):
            model, told = self._read(
                read,
                config=self.config,
                dtype=self.dtype,
                attn_implementation="eager",
                output_loading_info=True,
                **kind,
            )
        if lacking := sorted(told["missing_keys"]):
            raise ValueError(
                f"{self.name} lacks {len(lacking)} of its weights, such as {lacking[0]!r:.80}; "
                "use a file that is whole."
            )
        return model.eval()

    def _read(self, read: Callable[..., Any], **options: Any) -> Any:  # noqa: ANN401
        """Read a part of the model, or say what cannot be read."""
        file = {"gguf_file": self.file} if self.file else {}
        try:
            return read(self.at, trust_remote_code=False, **file, **options)
        except MemoryError:
            raise
        except Exception as error:
            told = (str(error).strip() or type(error).__name__).split("\n")[0]
            whole = Path(self.at).is_absolute()  # a path of this computer stays its own
            reason = (told.replace(self.at, self.name) if whole else told).rstrip(".: ")
            raise ValueError(
                f"{self.name} cannot be read ({reason:.200}); use a folder with config.json, a "
                "tokenizer and model.safetensors, a .gguf file, or, where there is a network, a "
                "name on the Hugging Face Hub."
            ) from error


def source_of(model: object, tokenizer: object = None, dtype: str = "float32") -> Source:
    """Return where a model comes from.

    Parameters
    ----------
    model
        A folder, a `.gguf` file, a name on the Hub, or a model of transformers.
    tokenizer
        Its tokenizer; None is the one that lies with the model.
    dtype
        What weights are loaded as, one of :data:`DTYPES`; a model that is loaded keeps its own.

    Raises
    ------
    ValueError
        For a dtype or a place that there is not, or where transformers is not installed.
    """
    library("transformers")
    check_choice("dtype", dtype, DTYPES)
    if not isinstance(model, str | Path):
        return Loaded(model, tokenizer)
    path = Path(model).expanduser()
    if path.is_file() and path.suffix == ".gguf":
        return Stored(str(path.parent), path.name, dtype, tokenizer)
    if path.is_dir():
        return Stored(str(path), "", dtype, tokenizer)
    if path.exists() or not _may_be_named(str(model)):
        raise ValueError(
            f"there is no model at {str(model)!r:.120}; use a folder with config.json, a .gguf "
            "file, or a name on the Hugging Face Hub, such as owner/name."
        )
    return Stored(str(model), "", dtype, tokenizer)


def _may_be_named(word: str) -> bool:
    """Whether a word has the form of a name on the Hub: owner/name."""
    parts = word.split("/")
    return len(parts) == 2 and all(
        part
        and part[0].isalnum()
        and part.replace("-", "").replace("_", "").replace(".", "").isalnum()
        for part in parts
    )

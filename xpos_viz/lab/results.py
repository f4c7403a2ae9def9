"""What a trained model shows: bits per byte by length, mask and place, and what it attends to.

All of it is one tidy table, so that models, seeds and settings are rows.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import torch
from jaxtyping import Float, Int
from torch import Tensor

from xpos_viz.curves import resolution
from xpos_viz.inputs import Capture
from xpos_viz.inputs.labels import pieces
from xpos_viz.kernel import lag_response
from xpos_viz.lab.evaluation import Mean, paired_excess, reading, windowed
from xpos_viz.lab.model import Setting, Transformer
from xpos_viz.lab.store import State

COLUMNS = ("measure", "mask", "length", "place", "value", "error")
"""Of the table of a model: what was measured, how it reads, in texts of which length, where."""

PIECES = 128
"""Into how many pieces the longest text is cut, for what bytes cost by their place."""

RUNS = "runs"
"""The name under which a file of results holds what its runs were made from."""

_READ = 8  # texts whose logits are averaged


@dataclass(frozen=True)
class Row:
    """A row of the table; units: bits per byte, tokens, logits."""

    measure: str
    mask: str
    length: int
    place: float
    value: float
    error: float = math.nan


def lengths(setting: Setting) -> tuple[int, ...]:
    """Return the lengths that are read: L/2, L, … 16 L."""
    return tuple(setting.length // 2 * 2**power for power in range(6))


def masks(setting: Setting) -> tuple[str, ...]:
    """Return the masks that are compared; blocks are half the training length (Sun et al. 2022)."""
    return ("causal", f"blockwise:{setting.length // 2}")


def near(setting: Setting) -> str:
    """Return the word for windows of the training length, with which masks are compared."""
    return f"windows:{setting.length}"


def measured(
    model: Transformer,
    texts: Int[Tensor, "texts bytes"],
    report: Callable[[float], None] = lambda _: None,
) -> pd.DataFrame:
    """Measure what a model loses beyond its training length.

    Parameters
    ----------
    model
        A trained model.
    texts
        From :func:`xpos_viz.lab.windows`.
    report
        Told which share is done; what it raises ends it.

    Returns
    -------
    DataFrame
        Columns :data:`COLUMNS`. Measures: "mean" (bits per byte of all bytes, at each length and
        mask), "place" (of the pieces of the longest text), "excess" (bits that bytes beyond L
        cost more than in windows of L, from pairs of the same bytes), "logit" (mean logit by lag,
        the mean over layers, heads and texts) and "resolution" (eq. 3 of it). What bytes cost in
        those windows (:func:`.windowed`) stands under the mask :func:`near`.
        `error` is the standard error over texts, NaN where there is none.
    """
    rows = list[Row]()
    for share, row in _rows(model, texts):
        rows.append(row)
        report(share)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def of_run(
    name: str,
    state: State,
    texts: Int[Tensor, "texts bytes"],
    report: Callable[[float], None] = lambda _: None,
) -> pd.DataFrame:
    """Measure the model of a run that is kept under a name, such as "rope-0".

    Returns
    -------
    DataFrame
        The table of :func:`measured`, with columns `run`, `setting`, `encoding` and `seed` before
        it.
    """
    recipe, found = state.recipe, measured(state.model(), texts, report)
    encoding = name.removesuffix(f"-{recipe.seed}")
    of = {"run": name, "setting": recipe.setting.name, "encoding": encoding, "seed": recipe.seed}
    return pd.concat([pd.DataFrame([of] * len(found)), found], axis=1)


def told(states: Mapping[str, State]) -> str:
    """Return what a file of results holds of its runs, under :data:`RUNS`, as JSON."""
    return json.dumps({name: state.words for name, state in states.items()})


def read_results(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a file of results, and what its runs were made from, by their names.

    Raises
    ------
    ValueError
        If it holds no results.
    OSError
        If it cannot be read.
    """
    try:
        found = pq.read_table(path)
        return found.to_pandas(), json.loads((found.schema.metadata or {})[RUNS.encode()])
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{path} must be results of xpos-viz lab eval, got another file, or one that is "
            "damaged; remove it, and let them be made again."
        ) from error


def summed_up(results: pd.DataFrame) -> pd.DataFrame:
    """Sum up results, a row for each setting, encoding and mask.

    Parameters
    ----------
    results
        Tables of :func:`measured`, with columns `setting`, `encoding` and `seed` before them.

    Returns
    -------
    DataFrame
        How many seeds there are; bits per byte at each length, the mean over them; and the paired
        excess, with its standard error over texts (which all seeds read, so that it does not
        shrink with their number), the least and the most of a seed.
    """
    keys = ["setting", "encoding", "mask"]
    means, excess = (results[results["measure"] == name] for name in ("mean", "excess"))
    bits = means.pivot_table(index=keys, columns="length", values="value", sort=False)
    seeds = means.groupby(keys)["seed"].nunique().rename("seeds")
    values = excess.groupby(keys)["value"]
    found = {"excess": values.mean(), "error": excess.groupby(keys)["error"].mean()}
    found |= {"least": values.min(), "most": values.max()}
    return bits.rename(columns=str).join(seeds).join(pd.DataFrame(found)).reset_index()


def _rows(model: Transformer, texts: Tensor) -> Iterator[tuple[float, Row]]:
    """The rows, and which share is done then."""
    setting, read = model.setting, lengths(model.setting)
    jobs = [(mask, length) for mask in masks(setting) for length in read]
    reference = windowed(model, texts, setting.length)
    for done, (mask, length) in enumerate(jobs, 2):
        costs, share = reading(model, texts, length, mask), done / (len(jobs) + 2)
        yield share, _mean("mean", mask, length, costs)
        if length == setting.longest:
            for row in _places(mask, costs):
                yield share, row
            excess = paired_excess(costs, reference, setting.length)
            yield share, Row("excess", mask, length, math.nan, excess.value, excess.error)
    yield 1.0, _mean("mean", near(setting), setting.longest, reference)
    for row in _places(near(setting), reference):
        yield 1.0, row
    for row in _attention(model, texts[:_READ]):
        yield 1.0, row


def _mean(measure: str, mask: str, length: int, costs: Tensor, place: float = math.nan) -> Row:
    """What bytes cost on average."""
    mean = Mean.of(costs)
    return Row(measure, mask, length, place, mean.value, mean.error)


def _places(mask: str, costs: Tensor) -> Iterator[Row]:
    """What the pieces of the longest text cost, by their middle."""
    longest = costs.shape[-1]
    for piece, part in enumerate(costs.split(longest // PIECES, -1)):
        yield _mean("place", mask, longest, part, (piece + 0.5) * longest / PIECES)


def _attention(model: Transformer, texts: Tensor) -> Iterator[Row]:
    """Mean logits by lag in the longest text, and their resolution at every length."""
    profile = torch.stack([mean_logits(model, text[:-1]) for text in texts]).mean(0)
    for lag, value in enumerate(profile.tolist()):
        yield Row("logit", "causal", model.setting.longest, lag, value)
    for length in lengths(model.setting):
        yield Row("resolution", "causal", length, math.nan, float(resolution(profile[:length])))


@torch.no_grad()
def mean_logits(model: Transformer, text: Int[Tensor, " bytes"]) -> Float[Tensor, " lags"]:
    r"""Return the mean logit at each lag, over the layers and heads (Sun et al. 2022, eq. 11).

    In the lag form, all pairs of tokens with one lag share their factor, so what is summed first
    are products :math:`\sum_n q_i(n + Δ)\,\bar k_i(n)`: a correlation, by Fourier transform.

    Parameters
    ----------
    model
        A trained model.
    text
        What it reads.

    Returns
    -------
    Tensor
        At the lags 0, 1, … bytes − 1, float64.
    """
    lags = torch.arange(len(text))
    response = lag_response(model.encoding, lags)
    scores = sum(
        (_correlation(*_pairs(q, k)) * response).real.sum(-1) for q, k in model.listen(text[None])
    )
    factor = model.blocks[0].attention.rotary.logit_factor / model.setting.layers
    bias = model.encoding.bias
    logits = factor * scores / (len(text) - lags) + (0.0 if bias is None else bias(lags.double()))
    return logits.mean(0)


def _pairs(*vectors: Tensor) -> Iterator[Tensor]:
    """Vectors of one text as complex pairs, (heads, tokens, d/2)."""
    for vector in vectors:
        yield torch.view_as_complex(vector[0].double().unflatten(-1, (-1, 2)))


def _correlation(q: Tensor, k: Tensor) -> Tensor:
    """Sums over n of q(n + Δ) times the conjugate of k(n), for each Δ ≥ 0."""
    tokens = q.shape[-2]
    q, k = (torch.fft.fft(x, 2 * tokens, dim=-2) for x in (q, k))
    return torch.fft.ifft(q * k.conj(), dim=-2)[..., :tokens, :]


@torch.no_grad()
def captured(model: Transformer, text: bytes, name: str) -> Capture:
    """Return the queries and keys of a model that reads a text, before their encoding.

    A byte that is a part of a letter is named as its share of it, and one that is none as "?".

    Parameters
    ----------
    model
        A trained model.
    text
        What it reads, at most 16 L bytes.
    name
        Of the model.

    Raises
    ------
    ValueError
        For a text that is empty or too long.
    """
    most = model.setting.longest
    if not 0 < len(text) <= most:
        raise ValueError(f"a text must have 1 to {most} bytes, got {len(text)}; use a part of it.")
    layers = model.listen(torch.tensor([[*text]]))
    q, k = (torch.cat(parts) for parts in zip(*layers, strict=True))
    letters = text.decode(errors="surrogateescape")  # what is no letter stays a byte
    sizes = (len(letter.encode(errors="surrogateescape")) for letter in letters)
    spans = [(place, place + 1) for place, size in enumerate(sizes) for _ in range(size)]
    shown = letters.encode(errors="replace").decode()
    return Capture(
        q,
        k,
        layout="interleaved",
        tokens=pieces(shown, spans),
        encodings=(model.encoding,) * len(q),
        model=name,
        text=shown,
    )

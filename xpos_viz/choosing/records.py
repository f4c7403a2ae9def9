"""A sweep in a folder: what was asked for, and a Parquet file for each batch of points.

A file is called by its points, first and last, so that what is missing is told by names alone.
It is written whole or not at all: a sweep may be killed at any time, and goes on from there.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from xpos_viz.choosing.spec import Case, Spec
from xpos_viz.inputs import Expectation, Sample
from xpos_viz.version import __version__
from xpos_viz.writing import check, clear, write

SPEC = "sweep.json"
"""The file that holds what was asked for."""

_PART = re.compile(r"points-(\d+)-(\d+)\.parquet")


@dataclass(frozen=True, eq=False)
class Batch:
    """What was computed of some points.

    Parameters
    ----------
    points
        Which points, one after the other.
    values
        (points, goals), NaN where a goal has no value in a case, or where it failed.
    errors
        Why a point failed, or None, for each.
    seconds
        How long it took.
    worker
        Who did it, as they call themselves.
    """

    points: range
    values: NDArray[np.float64]
    errors: tuple[str | None, ...]
    seconds: float
    worker: str = ""

    @property
    def failed(self) -> int:
        """How many points failed."""
        return sum(error is not None for error in self.errors)


class Records:
    """The folder of a sweep.

    Parameters
    ----------
    folder
        Where it is, or is to be.
    spec
        What is swept.
    resume
        Whether it may hold points of this sweep already.

    Raises
    ------
    ValueError
        If the folder holds another sweep, or this one and it is not to be resumed.
    OSError
        If it cannot be written to.
    """

    def __init__(self, folder: str | Path, spec: Spec, *, resume: bool = False) -> None:
        self.folder, self.spec, self._total = Path(folder), spec, spec.total
        _make(self.folder)
        self._begin(resume=resume)
        for name in (SPEC, "points-*.parquet"):
            clear(self.folder, name)

    def _begin(self, *, resume: bool) -> None:
        """Say what is swept, unless the folder says so already."""
        path, words = self.folder / SPEC, self.spec.to_dict()
        if not path.exists():
            recipe = {"xpos_viz": __version__, "sweep": words}
            return write(path, (json.dumps(recipe, indent=1, ensure_ascii=False) + "\n").encode())
        if spec_of(self.folder) != self.spec:
            raise ValueError(
                f"{self.folder} holds another sweep, got one that differs from its {SPEC}; "
                "use another folder."
            )
        if not resume:
            raise ValueError(f"{self.folder} holds this sweep already; resume it, or use another.")
        return check(path)

    @property
    def gaps(self) -> list[range]:
        """The points that are missing, in order."""
        found, start = list[range](), 0
        for part in sorted(_parts(self.folder), key=lambda part: (part.start, part.stop)):
            if part.start > start:
                found.append(range(start, part.start))
            start = max(start, part.stop)
        return found + [range(start, self._total)] * (start < self._total)

    def write(self, batch: Batch) -> None:
        """Keep what was computed.

        Raises
        ------
        OSError
            If it cannot be written, as where there is no room.
        """
        file = BytesIO()
        pq.write_table(_table(self.spec, batch), file)
        first, last = batch.points[0], batch.points[-1]
        write(self.folder / f"points-{first:010}-{last:010}.parquet", file.getvalue())


class Unkept:
    """A sweep that is kept nowhere: all of it is missing, and what comes is only told."""

    def __init__(self, spec: Spec) -> None:
        self.gaps = [range(spec.total)]

    def write(self, batch: Batch) -> None:
        """Keep nothing."""


def rows(spec: Spec, batch: Batch, parameters: Mapping[str, NDArray[np.float64]]) -> pa.Table:
    """Return what was computed, a row for each point: parameters, case, goals and error."""
    points = np.arange(batch.points.start, batch.points.stop)
    settings, places = np.divmod(points, len(spec.cases))
    cases = zip(*(_case(spec.cases[place]) for place in places), strict=True)
    columns = {
        "point": points,
        "setting": settings,
        **parameters,
        **dict(zip(_CASE, cases, strict=True)),
        **{goal.label: batch.values[:, n] for n, goal in enumerate(spec.goals)},
        "error": batch.errors,
    }
    schema = _schema(spec)
    return pa.table([pa.array(columns[each.name], each.type) for each in schema], schema=schema)


def spec_of(folder: str | Path) -> Spec:
    """Return what a folder says that was swept.

    Raises
    ------
    ValueError
        If it holds no sweep.
    """
    path = Path(folder) / SPEC
    if not path.is_file():
        raise ValueError(f"{folder} holds no sweep, there is no {SPEC}; use the folder of one.")
    try:
        return Spec.from_dict(json.loads(path.read_text(encoding="utf-8"))["sweep"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} does not say what was swept; use the folder of another sweep. It has: {error}"
        ) from error


def points_of(folder: str | Path) -> pd.DataFrame:
    """Return the points that a folder holds, in order, each once.

    Columns are point, setting, the parameters, length (tokens), text, layer, head, the values of
    the goals, and error; where there is none of these, it is missing (NaN).

    Raises
    ------
    ValueError
        If it holds no sweep, or a file of it is damaged.
    """
    schema = _schema(spec_of(folder))
    paths = sorted(Path(folder).glob("points-*.parquet"))
    parts: Sequence[pa.Table] = [_read(path, schema) for path in paths]
    table = pa.concat_tables([schema.empty_table(), *parts]).to_pandas()
    return table.drop_duplicates("point").sort_values("point", ignore_index=True)


def frame(spec: Spec, batches: Iterable[Batch]) -> pd.DataFrame:
    """Return batches of a sweep as :func:`points_of` has them, in the order of the batches.

    Parameters
    ----------
    spec
        What is swept.
    batches
        What was computed, such as :attr:`xpos_viz.choosing.Progress.new`.
    """
    tables = [_schema(spec).empty_table(), *(_table(spec, batch) for batch in batches)]
    return pa.concat_tables(tables).to_pandas()


_CASE = ("length", "text", "layer", "head")


def _case(case: Case) -> tuple[int | None, str | None, int | None, int | None]:
    """What a setting is tried on, as columns."""
    if isinstance(case, Expectation):
        return case.length, None, None, None
    name = case.name if isinstance(case, Sample) else case.data
    return None, name, case.layer, case.head


def _schema(spec: Spec) -> pa.Schema:
    """Columns and their types."""
    numbers = [(name, pa.float64()) for name, _ in spec.parameters]
    case = [pa.int64(), pa.string(), pa.int32(), pa.int32()]
    return pa.schema(
        [
            ("point", pa.int64()),
            ("setting", pa.int64()),
            *numbers,
            *zip(_CASE, case, strict=True),
            *((goal.label, pa.float64()) for goal in spec.goals),
            ("error", pa.string()),
        ]
    )


def _table(spec: Spec, batch: Batch) -> pa.Table:
    """A batch of a sweep as rows."""
    points = np.arange(batch.points.start, batch.points.stop)
    return rows(spec, batch, spec.values(points // len(spec.cases)))


def _parts(folder: Path) -> Iterator[range]:
    """The points of each file."""
    for path in folder.iterdir():
        if found := _PART.fullmatch(path.name):
            yield range(int(found[1]), int(found[2]) + 1)


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    """The points of a file."""
    content = BytesIO(path.read_bytes())
    try:
        return pq.read_table(content, schema=schema)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is damaged; remove it, and resume the sweep.") from error


def _make(folder: Path) -> None:
    """Make a folder, if there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(f"{folder} could not be made: {reason}; use another folder.") from error

"""What is in a folder is whole, and goes on after any end."""

import errno
import json
import multiprocessing
import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.choosing.specs import MIXED, spec, swept
from xpos_viz.choosing import Goal, Text, engine, points_of, spec_of
from xpos_viz.choosing.records import Batch, Records
from xpos_viz.inputs.captured import keep
from xpos_viz.inputs.sample import sample_capture
from xpos_viz.version import __version__


def run_slowly(folder):
    """Resume a sweep whose batches are small."""
    engine.MOST = 2
    swept(MIXED, folder, resume=True, report=lambda _: time.sleep(0.01))


def parts(folder):
    return sorted(path.name for path in folder.glob("points-*"))


def test_a_sweep_that_is_killed_at_random_moments_goes_on(tmp_path):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.choosing.test_records"])
    chance, there = random.Random(0), list[str]()
    for _ in range(5):
        running = context.Process(target=run_slowly, args=(tmp_path,))
        running.start()
        awaited = len(there) + chance.randrange(1, 9)
        while len(parts(tmp_path)) < awaited:
            assert running.is_alive()
            time.sleep(0.001)
        time.sleep(chance.random() / 50)
        running.kill()
        running.join()
        assert set(there) < set(parts(tmp_path))
        there = parts(tmp_path)
    kept = len(points_of(tmp_path))
    told = list[engine.Progress]()
    found = swept(MIXED, tmp_path, resume=True, report=told.append)
    assert told[0].done == kept < MIXED.total
    assert sum(len(batch.points) for each in told for batch in each.new) == MIXED.total - kept
    pd.testing.assert_frame_equal(found, swept(MIXED, tmp_path / "whole"), check_exact=True)
    ranges = [range(int(name[7:17]), int(name[18:28]) + 1) for name in parts(tmp_path)]
    assert sorted(point for each in ranges for point in each) == [*range(MIXED.total)]
    assert {path.suffix for path in tmp_path.iterdir()} <= {".parquet", ".json", ""}


def test_what_a_killed_process_left_is_cleared(tmp_path):
    for name in ("points-0000000000-0000000001.parquet", "sweep.json", "photo.jpeg"):
        (tmp_path / f".{name}.99.part").write_bytes(b"half")
    Records(tmp_path, spec())
    assert {each.name for each in tmp_path.iterdir()} == {"sweep.json", ".photo.jpeg.99.part"}


def test_nothing_is_cleared_where_another_sweep_is(tmp_path):
    Records(tmp_path, MIXED)
    left = tmp_path / ".points-0000000000-0000000001.parquet.99.part"
    left.write_bytes(b"half")
    for resume in (False, True):
        with pytest.raises(ValueError, match="holds another sweep"):
            Records(tmp_path, spec(), resume=resume)
    assert left.exists()


def test_a_folder_says_what_was_swept(tmp_path):
    Records(tmp_path, MIXED)
    words = json.loads((tmp_path / "sweep.json").read_text(encoding="utf-8"))
    assert words == {"xpos_viz": __version__, "sweep": MIXED.to_dict()}
    assert spec_of(tmp_path) == MIXED
    assert len(points_of(tmp_path)) == 0


def test_gaps_are_told_by_names_even_where_parts_overlap(tmp_path):
    records = Records(tmp_path, MIXED)
    assert records.gaps == [range(140)]
    for part in (range(3, 9), range(5, 7), range(8, 12), range(130, 140)):
        values = np.full((len(part), 2), float(part.start))
        records.write(Batch(part, values, (None,) * len(part), 0.1))
    assert records.gaps == [range(3), range(12, 130)]
    assert points_of(tmp_path)["point"].tolist() == [*range(3, 12), *range(130, 140)]


def refused(error, function, *arguments, **options):
    with pytest.raises(error) as raised:
        function(*arguments, **options)
    return str(raised.value)


def test_another_sweep_or_one_that_is_not_to_be_resumed_is_refused(tmp_path):
    Records(tmp_path, spec())
    assert refused(ValueError, Records, tmp_path, MIXED, resume=True) == (
        f"{tmp_path} holds another sweep, got one that differs from its sweep.json; "
        "use another folder."
    )
    assert refused(ValueError, Records, tmp_path, spec()) == (
        f"{tmp_path} holds this sweep already; resume it, or use another."
    )


def test_a_folder_without_a_sweep_is_refused(tmp_path):
    assert refused(ValueError, points_of, tmp_path) == (
        f"{tmp_path} holds no sweep, there is no sweep.json; use the folder of one."
    )
    (tmp_path / "sweep.json").write_text('{"sweep": {"objectives": []}}', encoding="utf-8")
    assert refused(ValueError, points_of, tmp_path) == (
        f"{tmp_path / 'sweep.json'} does not say what was swept; use the folder of another sweep. "
        'It has: a sweep must have an objective, got none; use name = "resolution".'
    )


def test_a_head_that_is_not_there_is_refused_before_there_is_a_folder(tmp_path):
    data = keep(sample_capture("pronoun"))
    wanted = spec(Goal("entropy"), texts=(Text(data=data, layers=(7,)),))
    assert refused(ValueError, swept, wanted, tmp_path / "new") == (
        "there is no layer 7; use one of: 0, 8, 16, 24, 29."
    )
    assert not (tmp_path / "new").exists()


def test_a_full_disk_ends_a_sweep_which_then_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "MOST", 5)
    whole, room = Path.write_bytes, [4]

    def write_bytes(self, content):
        room[0] -= 1
        if room[0] >= 0:
            return whole(self, content)
        whole(self, content[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    said = refused(OSError, swept, MIXED, tmp_path)
    assert said.startswith(f"{tmp_path}/points-")
    assert "could not be written: no space left on device; use a folder that exists, " in said
    monkeypatch.setattr(Path, "write_bytes", whole)
    assert len(parts(tmp_path)) == 3
    assert len([*tmp_path.iterdir()]) == 4  # and sweep.json, and nothing half-written
    assert len(swept(MIXED, tmp_path, resume=True)) == MIXED.total


def test_a_folder_that_may_not_be_written_to_is_refused_before_the_work(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    def work(*_):
        raise AssertionError("this takes long")

    monkeypatch.setattr("xpos_viz.choosing.engine.work", work)
    Records(tmp_path / "old", MIXED)
    monkeypatch.setattr(Path, "touch", denied)
    assert refused(OSError, swept, MIXED, tmp_path / "old", resume=True) == (
        f"{tmp_path / 'old' / 'sweep.json'} could not be written: permission denied; "
        "use a folder that exists and may be written to."
    )
    monkeypatch.setattr(Path, "mkdir", denied)
    assert refused(OSError, swept, MIXED, tmp_path / "new") == (
        f"{tmp_path / 'new'} could not be made: permission denied; use another folder."
    )


def test_a_sweep_that_is_whole_computes_nothing(tmp_path, monkeypatch):
    first = swept(spec(), tmp_path)

    def work(*_):
        raise AssertionError("computed twice")

    monkeypatch.setattr("xpos_viz.choosing.engine.work", work)
    pd.testing.assert_frame_equal(swept(spec(), tmp_path, resume=True), first)


def test_labels_are_columns(tmp_path):
    found = swept(spec(Goal("half_life", label="τ½ [tokens]")), tmp_path)
    assert found.columns.tolist() == [
        *("point", "setting", "gamma", "scale_base", "length", "text", "layer", "head"),
        *("τ½ [tokens]", "error"),
    ]

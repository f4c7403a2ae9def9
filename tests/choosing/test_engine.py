"""Threads, processes and a cluster give the same points, whatever ends on the way."""

import os
import signal
import socket
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle

import pandas as pd
import pytest
import torch
from distributed import Client, LocalCluster

from tests.choosing.specs import MIXED, Deadly, spec, swept
from xpos_viz import rope
from xpos_viz.choosing import (
    Goal,
    Processes,
    SweepError,
    Text,
    engine,
    frame,
    points_of,
    search,
    sweep,
    working,
)
from xpos_viz.choosing.spec import experiment
from xpos_viz.choosing.working import Lacking, packed, work
from xpos_viz.inputs import Capture
from xpos_viz.inputs.captured import STORE, Store, keep
from xpos_viz.limits import LIMITS


def capture(seed=0):
    """A capture of one head that nothing else keeps."""
    q, k = torch.randn(2, 1, 1, 40, 64, generator=torch.Generator().manual_seed(seed))
    return Capture(q, k, encodings=(rope(64),))


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(host="127.0.0.1", **options) as made, Client(made) as client:
        yield client


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """The points of MIXED, one after the other."""
    folder = tmp_path_factory.mktemp("wanted")
    with ThreadPoolExecutor(1) as thread:
        sweep(MIXED, folder, thread, ahead=1)
    return points_of(folder)


@pytest.fixture
def small(monkeypatch):
    """Batches of few points, so that there are many."""
    monkeypatch.setattr(engine, "MOST", 5)


def same(found, other):
    pd.testing.assert_frame_equal(found, other, check_exact=True)


def test_points_are_what_each_alone_is(wanted):
    assert len(wanted) == MIXED.total
    assert wanted["error"].isna().all()
    for point in (0, 2, 77, 139):
        row, case = wanted.iloc[point], MIXED.cases[point % 4]
        encoding = MIXED.encoding_at(point // 4)
        assert row["gamma"] == encoding["gamma"]
        assert row["scale_base"] == encoding["scale_base"]
        for goal in MIXED.goals:
            if goal.row.reads(case):
                value = goal.row.value(experiment(encoding, case), dict(goal.options))
                assert row[goal.label] == value
            else:
                assert pd.isna(row[goal.label])
    head = wanted.iloc[3]
    assert (head["text"], head["layer"], head["head"]) == ("pronoun", 16, 2)
    assert pd.isna(head["length"])
    assert wanted["length"][:2].tolist() == [64, 256]


@pytest.mark.usefixtures("small")
def test_threads_give_the_same(wanted, tmp_path):
    same(swept(MIXED, tmp_path), wanted)
    assert len([*tmp_path.glob("*.parquet")]) > 20


@pytest.mark.usefixtures("small")
def test_processes_give_the_same(wanted, tmp_path, processes):
    sweep(MIXED, tmp_path, processes)
    same(points_of(tmp_path), wanted)


@pytest.mark.usefixtures("small")
def test_a_cluster_gives_the_same(wanted, tmp_path, cluster):
    sweep(MIXED, tmp_path, cluster.get_executor())
    same(points_of(tmp_path), wanted)


def killer(find):
    """A report that kills a process, once, when some points are there."""
    killed = []

    def report(progress):
        if not killed and progress.done > 20:
            killed.append(find())
            os.kill(killed[0], signal.SIGKILL)

    return killed, report


@pytest.mark.usefixtures("small")
def test_a_killed_process_is_replaced(wanted, tmp_path, processes):
    killed, report = killer(lambda: next(iter(processes._pool._processes)))
    sweep(MIXED, tmp_path, processes, report=report)
    same(points_of(tmp_path), wanted)
    assert killed
    assert killed[0] not in processes._pool._processes


@pytest.mark.usefixtures("small")
def test_a_killed_worker_of_a_cluster_is_replaced(wanted, tmp_path, cluster):
    killed, report = killer(lambda: min(cluster.run(os.getpid).values()))
    sweep(MIXED, tmp_path, cluster.get_executor(), report=report)
    same(points_of(tmp_path), wanted)
    assert killed


def of_capture():
    return spec(Goal("entropy"), parameters=MIXED.parameters, texts=(Text(data=keep(capture())),))


@pytest.mark.usefixtures("small")
def test_a_capture_is_sent_to_who_lacks_it(tmp_path, processes, monkeypatch):
    sent = list[tuple[str, ...]]()

    def counted(data):
        sent.extend([data] * bool(data))
        return packed(data)

    monkeypatch.setattr(engine, "packed", counted)
    sweep(of_capture(), tmp_path / "first", processes, ahead=3)
    assert 1 <= len(sent) <= 3  # two processes, if both live by then; one may take for the other
    assert len([*(tmp_path / "first").glob("*.parquet")]) > 7
    sweep(of_capture(), tmp_path / "second", processes, ahead=3)
    assert len(sent) <= 3
    same(points_of(tmp_path / "second"), swept(of_capture(), tmp_path / "here"))


def test_a_worker_says_what_it_lacks(monkeypatch):
    wanted, store = of_capture(), type(STORE)()
    sent = packed(wanted.data)
    monkeypatch.setattr("xpos_viz.choosing.working.lookup", store.lookup)
    monkeypatch.setattr("xpos_viz.choosing.working.keep", store.keep)
    me = f"{socket.gethostname()}:{os.getpid()}"
    assert work(wanted, range(2)) == Lacking(wanted.data, LIMITS.kept, me)
    found = work(wanted, range(2), sent)
    assert not isinstance(found, Lacking)
    assert found.errors == (None, None)


class Forgetful(Executor):
    """Workers that compute at once, in turn, and keep so many bytes of captures at a time each."""

    def __init__(self, kept, monkeypatch, turns=("a",)):
        limits = replace(LIMITS, kept=kept)
        monkeypatch.setattr(working, "LIMITS", limits)
        stores, self.sent = {name: Store(limits) for name in turns}, list[int]()
        self.turns = cycle(turns)
        self.workers = {
            name: {"keep": store.keep, "lookup": store.lookup, "_me": lambda name=name: name}
            for name, store in stores.items()
        }

    def submit(self, fn, /, *args, **kwargs):
        self.sent.append(len(args[-1]) if isinstance(args[-1], tuple) else 0)
        future = Future()
        with pytest.MonkeyPatch.context() as there:
            for name, function in self.workers[next(self.turns)].items():
                there.setattr(working, name, function)
            future.set_result(fn(*args, **kwargs))
        return future


BYTES = capture().bytes


def of_two():
    texts = tuple(Text(data=keep(capture(seed))) for seed in (1, 2))
    return spec(Goal("entropy"), parameters=MIXED.parameters[:1], texts=texts)


@pytest.mark.parametrize(
    ("turns", "start", "sent"),
    [
        ("ababab", [0, 0, 0, 0, 1, 1], 2),
        ("ababaab", [0, 0, 0, 0, 1, 1], 3),  # a took what was for b
        ("aaaaababab", [0, 0, 0, 0, 1, 0], 2),  # b comes late
    ],
    ids=["in turn", "taken", "late"],
)
def test_a_capture_is_sent_once_for_each_worker_that_lacks_it(turns, start, sent, monkeypatch):
    monkeypatch.setattr(engine, "TASK", 1e-9)  # one point for each batch
    crew = Forgetful(BYTES, monkeypatch, turns)
    found = sweep(of_capture(), None, crew, ahead=4)
    assert (found.done, found.failed) == (35, 0)
    assert (crew.sent[:6], sum(crew.sent)) == (start, sent)


TOO_SMALL = (
    f"a worker must keep {2 * BYTES:,} bytes of captures at once, got one that keeps "
    f"{2 * BYTES - 1:,}; set XPOS_VIZ_MAX_KEPT for the workers, or use fewer texts."
)


def test_who_keeps_both_captures_is_sent_each_once(tmp_path, monkeypatch):
    worker = Forgetful(2 * BYTES, monkeypatch)
    sweep(of_two(), tmp_path, worker, ahead=1)
    assert worker.sent == [0, 2, 0]
    assert points_of(tmp_path)["error"].isna().all()


@pytest.mark.parametrize(
    "asked",
    [lambda worker: sweep(of_two(), None, worker, ahead=1),
     lambda worker: search(of_two(), trials=1, executor=worker)],
    ids=["sweep", "search"],
)  # fmt: skip
def test_who_cannot_keep_two_captures_at_once_is_said(asked, monkeypatch):
    worker = Forgetful(2 * BYTES - 1, monkeypatch)
    with pytest.raises(SweepError) as failed:
        asked(worker)
    assert str(failed.value) == TOO_SMALL
    assert worker.sent == [0, 2, 2]


def test_a_capture_that_no_worker_can_keep_is_said(monkeypatch):
    with pytest.raises(SweepError) as failed:
        sweep(of_capture(), None, Forgetful(BYTES - 1, monkeypatch), ahead=1)
    assert str(failed.value) == (
        f"a worker must keep {BYTES:,} bytes of captures at once, got one that keeps "
        f"{BYTES - 1:,}; set XPOS_VIZ_MAX_KEPT for the workers, or use fewer texts."
    )


def test_a_point_that_ends_its_workers_is_found_and_kept_with_its_error(wanted, tmp_path):
    deadly = Deadly(77)
    progress = sweep(MIXED, tmp_path, deadly)
    found = points_of(tmp_path)
    assert (progress.done, progress.failed) == (MIXED.total, 1)
    assert found["error"][77] == "its worker ended 3 times; there may be too little memory for it"
    same(found.drop(index=77), wanted.drop(index=77))
    assert deadly.asked.count(range(77, 78)) == 3


def test_workers_that_never_live_are_said(tmp_path):
    with pytest.raises(SweepError) as failed:
        sweep(replace(MIXED, lengths=(64,)), tmp_path, Everything())
    assert str(failed.value) == (
        "no worker lives long enough to compute anything, got BrokenExecutor: it ended; use fewer "
        "workers if memory is short, and in a script of your own start a sweep under "
        '`if __name__ == "__main__":`.'
    )


class Everything(Executor):
    """Ends whatever it is to compute."""

    def submit(self, *_, **__):
        future = Future()
        future.set_exception(BrokenExecutor("it ended"))
        return future


def test_an_executor_that_breaks_for_good_leaves_the_rest_to_another(wanted, tmp_path):
    class Breaks(Deadly):
        def submit(self, fn, /, *args, **kwargs):
            if len(self.asked) > 5:
                raise BrokenExecutor("a child process terminated abruptly")
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(SweepError) as failed:
        sweep(MIXED, tmp_path, Breaks(deadly=4))
    assert str(failed.value) == (
        "the executor takes no more work, got BrokenExecutor: a child process terminated abruptly; "
        "what was kept is kept: resume with another, such as Processes()."
    )
    kept = points_of(tmp_path)
    assert kept["error"].isna().all()
    same(swept(MIXED, tmp_path, resume=True), wanted)


def test_an_error_of_the_way_there_is_raised(tmp_path):
    class Lost(Executor):
        def submit(self, *_, **__):
            future = Future()
            future.set_exception(ModuleNotFoundError("No module named 'xpos_viz'"))
            return future

    with pytest.raises(SweepError) as failed:
        sweep(MIXED, tmp_path, Lost())
    assert str(failed.value) == (
        "the workers could not be asked, got ModuleNotFoundError: No module named 'xpos_viz'; "
        "they need this package, in the same version and on their path."
    )


def test_points_that_fail_are_kept_with_their_error(tmp_path):
    fails = spec(
        Goal("first_negative"), Goal("beyond", (("window", 99),)), Goal("entropy"),
        parameters=(("low_turns", (1.0, 40.0)), ("base", (1e5,))), encoding="yarn",
        texts=(Text("pronoun", layers=(8,), heads=(2,)),),
    )  # fmt: skip
    found = swept(fails, tmp_path)
    assert found["error"].fillna("none").tolist() == [
        "none",
        (
            "beyond(window=99): no query of 28 tokens has a choice of such keys; "
            "use a longer text, or another window."
        ),
        *["low_turns must be below high_turns, got 40.0 and 32.0; the usual value is 1."] * 2,
    ]
    assert found["first_negative"].notna().tolist() == [True, False, False, False]
    assert found["entropy"].notna().tolist() == [False, True, False, False]


def test_progress_is_told_with_time_left_and_what_is_new(tmp_path):
    told = list[engine.Progress]()
    swept(MIXED, tmp_path, report=told.append)
    assert (told[0].done, told[0].left, told[0].share, told[0].new) == (0, float("inf"), 0.0, ())
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert (told[-1].done, told[-1].left, told[-1].share) == (MIXED.total, 0.0, 1.0)
    new = frame(MIXED, [batch for each in told for batch in each.new])
    same(new.sort_values("point", ignore_index=True), points_of(tmp_path))
    assert len(frame(MIXED, ())) == 0


@pytest.mark.usefixtures("small")
def test_what_a_report_raises_ends_a_sweep_which_then_goes_on(wanted, tmp_path):
    class Stopped(Exception):  # noqa: N818 - no error
        pass

    def stop(progress):
        if progress.done > 30:
            raise Stopped

    with pytest.raises(Stopped):
        swept(MIXED, tmp_path, report=stop)
    there = points_of(tmp_path)
    assert 30 < len(there) < MIXED.total
    told = list[engine.Progress]()
    same(swept(MIXED, tmp_path, resume=True, report=told.append), wanted)
    assert told[0].done == len(there)
    assert sum(len(batch.points) for each in told for batch in each.new) == 140 - len(there)


def test_a_point_is_computed_with_one_thread_and_others_keep_theirs(tmp_path, monkeypatch):
    before, inside = torch.get_num_threads(), set[int]()

    def seen(*given):
        inside.add(torch.get_num_threads())
        return experiment(*given)

    monkeypatch.setattr(working, "experiment", seen)
    torch.set_num_threads(3)
    try:
        swept(spec(), tmp_path)
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(torch.get_num_threads).result() == 3
    finally:
        torch.set_num_threads(before)
    assert inside == {1}


def test_processes_have_one_thread_each(processes):
    assert processes.submit(torch.get_num_threads).result() == 1


def test_without_a_folder_all_is_told_and_nothing_kept(wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = list[engine.Progress]()
    with ThreadPoolExecutor(2) as threads:
        assert sweep(MIXED, None, threads, report=told.append).share == 1.0
    found = frame(MIXED, [batch for each in told for batch in each.new])
    same(found.sort_values("point", ignore_index=True), wanted)
    assert [*tmp_path.iterdir()] == []

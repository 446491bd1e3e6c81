"""Campaigns run to their end whatever their tasks do; what failed is recorded, and what is finished stays."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from campaign_runs import (
    MODEL,
    PLANNED,
    Hooked,
    in_process,
    python,
    run_here,
    same_results,
    small,
    wait_until,
    write_log,
)

from schedlab.campaign.definition.plan import Task
from schedlab.campaign.run import worker
from schedlab.campaign.run.coordinator import DEATHS, run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.lock import Lock
from schedlab.durations import DAY
from schedlab.errors import InputError, OutputError, SchedlabError


def test_every_task_has_a_result_and_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int, int]] = []
    run = run_here(small(), tmp_path / "run", progress=lambda *numbers: told.append(numbers))
    assert (told[0], told[-1]) == ((0, 0, PLANNED), (PLANNED, 0, PLANNED))
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert run.status().done == PLANNED


def test_the_same_campaign_again_does_nothing(tmp_path: Path) -> None:
    run_here(small(), tmp_path / "run")
    calls = Hooked(lambda number: None)
    run_campaign(small(), tmp_path / "run", workers=in_process(calls))
    assert calls.calls == 0


def test_a_larger_campaign_adds_only_what_is_new(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    before = set(run.files("results", ".parquet"))
    larger = small(schedulers=["fcfs", "easy", "saf"])
    run = run_here(larger, tmp_path / "run")
    added = set(run.files("results", ".parquet")) - before
    assert before <= set(run.files("results", ".parquet"))
    assert len(added) == 2  # the new scheduler on two repetitions, a batch for each
    same_results(run.results(), run_here(larger, tmp_path / "anew").results())


@pytest.fixture
def half_bad(tmp_path: Path) -> dict[str, object]:
    """Return fields of a campaign of which half the tasks fail: the log lacks requested times."""
    log = write_log(tmp_path / "log.swf")
    lines = [line.split() for line in log.read_text().splitlines() if not line.startswith(";")]
    head = [line for line in log.read_text().splitlines() if line.startswith(";")]
    log.write_text("\n".join([*head, *(" ".join([*line[:8], "-1", *line[9:]]) for line in lines)]) + "\n")
    return {"workloads": [{"trace": str(log), "clean": "none"}], "schedulers": ["easy@actual", "easy"]}


def test_a_task_that_raises_is_recorded_and_the_others_go_on(tmp_path: Path, half_bad: dict[str, object]) -> None:
    run = run_here(small(**half_bad), tmp_path / "run")
    assert (run.status().done, run.status().failed) == (1, 1)
    [(name, failure)] = run.failures().items()
    assert failure.kind == "error"
    assert "has no requested time" in failure.reason
    assert "Traceback" in failure.traceback
    assert failure.specification == run.plan.find(name).specification()
    assert failure.specification["scheduler"] == "fcfs+easy"


def test_failures_are_tried_again_only_if_one_asks(
    tmp_path: Path, half_bad: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = small(**half_bad)
    run_here(campaign, tmp_path / "run")
    calls = Hooked(lambda number: None)
    run_campaign(campaign, tmp_path / "run", workers=in_process(calls))
    assert calls.calls == 0
    usual = worker.simulate_task

    def mended(task: Task) -> object:
        return usual(Task(task.instance, "fcfs@actual", task.settings))

    monkeypatch.setattr(worker, "simulate_task", mended)
    run = run_here(campaign, tmp_path / "run", retry_failed=True)
    assert (run.status().done, run.status().failed) == (2, 0)


@pytest.mark.slow
def test_what_kills_three_processes_is_given_up_and_the_rest_of_its_batch_is_done(tmp_path: Path) -> None:
    log = write_log(tmp_path / "long.swf", 60_000, gap=30)
    campaign = small(workloads=[{"trace": str(log)}], schedulers=["fcfs", "fcfs+conservative", "easy"])
    run = RunDirectory(tmp_path / "run")
    kills: list[str] = []
    over = threading.Event()

    def kill_whoever_is_at_the_second_task() -> None:
        while not over.wait(0.02):
            for note in run.files("inflight", ""):
                with suppress(OSError):
                    name = note.read_text()[:32]
                    if name == run.plan.task(1)[0] and note.name not in kills:
                        kills.append(note.name)
                        os.kill(int(note.name.split(".")[-2]), signal.SIGKILL)

    killer = threading.Thread(target=kill_whoever_is_at_the_second_task)
    killer.start()
    try:
        run_campaign(campaign, run.path, workers=1)
    finally:
        over.set()
        killer.join()
    assert len(kills) == DEATHS
    assert (run.status().done, run.status().failed) == (2, 1)
    [failure] = run.failures().values()
    assert (failure.kind, failure.specification["scheduler"]) == ("died", "fcfs+conservative")


def test_workers_that_die_before_they_begin_end_the_campaign(tmp_path: Path) -> None:
    def die(number: int) -> None:
        raise RuntimeError("no memory")

    with pytest.raises(SchedlabError, match="3 processes died or failed before they began"):
        run_campaign(small(), tmp_path / "run", workers=in_process(Hooked(die)))


def test_workers_that_die_now_and_then_before_they_begin_do_not_end_the_campaign(tmp_path: Path) -> None:
    def die_every_other_time(number: int) -> None:
        if number % 2:
            raise BrokenProcessPool("killed")

    executor = Hooked(die_every_other_time)
    run = run_campaign(small(), tmp_path / "run", workers=in_process(executor))
    assert executor.calls >= 2 * (DEATHS + 1)
    assert (run.status().done, run.status().failed) == (PLANNED, 0)


class Deadly(Hooked):
    """An executor whose processes die at one task, leaving a note as a dying worker does."""

    def __init__(self, run: RunDirectory, position: int, trace: str) -> None:
        super().__init__(lambda number: None)
        self.run, self.position, self.trace, self.deaths = run, position, trace, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        [batch] = args
        deadly = self.run.plan.task(self.position)[0]
        if deadly not in dict(batch.tasks()):
            return super().submit(fn, batch, **kwargs)
        self.deaths += 1
        (self.run.path / "inflight" / f"{batch.name}.host.{self.deaths}.ab12cd34").write_text(f"{deadly}\n{self.trace}")
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("killed"))
        return future


@pytest.mark.parametrize(
    ("trace", "kind", "deaths"), [("", "died", DEATHS), ("\0\0Timeout (0:00:09)!\nStack of it", "timeout", 1)]
)
def test_a_task_is_given_up_after_three_deaths_or_when_its_time_is_up(
    tmp_path: Path, trace: str, kind: str, deaths: int
) -> None:
    campaign, run = small(timeout=9), RunDirectory(tmp_path / "run")
    # What a worker of this process would do about its time is not the matter here.
    executor = Deadly(run, 2, trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faulthandler.dump_traceback_later", lambda *args, **kwargs: None)
        run_campaign(campaign, run.path, workers=in_process(executor))
    assert executor.deaths == deaths
    done = [run.plan.task(position)[0] for position in (0, 1, 3)]
    assert run.results()["task"].tolist() == done
    [failure] = run.failures().values()
    assert (failure.kind, failure.task) == (kind, run.plan.task(2)[0])
    assert failure.traceback == trace.strip("\0")
    assert run.files("inflight", "") == []


@pytest.mark.slow
def test_a_task_that_takes_too_long_is_ended_even_in_compiled_code(tmp_path: Path) -> None:
    log = write_log(tmp_path / "long.swf", 60_000, gap=30)
    campaign = small(workloads=[{"trace": str(log)}], schedulers=["fcfs+conservative", "fcfs"], timeout=6, name="hang")
    # Not to be ended while it compiles.
    run_campaign(small(schedulers=campaign.schedulers), tmp_path / "compile", workers=1)
    run = run_campaign(campaign, tmp_path / "run", workers=1)
    assert (run.status().done, run.status().failed) == (1, 1)
    [failure] = run.failures().values()
    assert (failure.kind, failure.reason) == ("timeout", "it took longer than 6 s")
    assert " in simulate\n" in failure.traceback


def test_a_full_disk_ends_the_campaign_in_one_sentence_and_the_next_run_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.fsync
    written = 0

    def fill(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        usual(descriptor)

    monkeypatch.setattr(os, "fsync", fill)
    with pytest.raises(OutputError, match="the disk is full"):
        run_here(small(), tmp_path / "run")
    assert RunDirectory(tmp_path / "run").status().done == 2
    assert not [path for path in (tmp_path / "run" / "results").iterdir() if path.name.startswith(".")]
    monkeypatch.setattr(os, "fsync", usual)
    run = run_here(small(), tmp_path / "run")
    same_results(run.results(), run_here(small(), tmp_path / "anew").results())


def test_a_disk_that_is_really_full_ends_the_campaign_in_one_sentence_and_nothing_finished_is_lost(
    tiny_disk: Path,
) -> None:
    filler = tiny_disk / "filler"
    filler.write_bytes(bytes(430_000))
    campaign = small(workloads=[{**MODEL, "repetitions": 4}])
    with pytest.raises(OutputError, match=r"cannot (write|lock) .*(full|No space left)") as error:
        run_here(campaign, tiny_disk / "run")
    assert "\n" not in str(error.value)
    run = RunDirectory.open(tiny_disk / "run")
    finished = run.files("results", ".parquet")
    assert 0 < len(finished) < 8
    filler.unlink()
    again = run_here(campaign, run.path)
    assert set(finished) < set(again.files("results", ".parquet"))
    assert (again.status().done, again.status().corrupt) == (8, 0)


def test_a_second_coordinator_is_refused_and_leaves_the_first_alone(tmp_path: Path) -> None:
    run = run_here(small(), tmp_path / "run")
    facts = (run.path / "campaign.json").read_bytes()
    with Lock(run.path / "lock.json"), pytest.raises(InputError, match=f"in use by process {os.getpid()} on "):
        run_here(small(schedulers=["saf"]), tmp_path / "run")
    assert (run.path / "campaign.json").read_bytes() == facts


def test_the_lock_is_given_back_when_something_goes_wrong(tmp_path: Path) -> None:
    def interrupt(number: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_campaign(small(), tmp_path / "run", workers=in_process(Hooked(interrupt)))
    assert not (tmp_path / "run" / "lock.json").exists()
    assert run_here(small(), tmp_path / "run").status().done == PLANNED


INTERRUPTED = """
import signal, sys
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.definition.campaign import Campaign
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where the tests run in the background
    workloads = [{"generate": "lublin", "jobs": 2000, "processors": 64, "load": 1.2, "repetitions": 400}]
    run_campaign(Campaign(name="long", schedulers=["fcfs+conservative"], workloads=workloads), sys.argv[1], workers=1)
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_process_no_blame_and_all_results(tmp_path: Path) -> None:
    (tmp_path / "coordinator.py").write_text(INTERRUPTED)
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    run = RunDirectory(tmp_path / "run")
    run_campaign(small(schedulers=["fcfs+conservative"]), tmp_path / "compile", workers=1)
    with python(code, tmp_path / "coordinator.py", run.path) as coordinator:
        wait_until(lambda: run.files("results", ".parquet") and run.files("inflight", ""), 60)
        pid = int(run.files("inflight", "")[0].name.split(".")[-2])
        done = run.files("results", ".parquet")
        time.sleep(0.1)
        coordinator.send_signal(signal.SIGINT)
        assert coordinator.wait(20) != 0
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert set(done) <= set(run.files("results", ".parquet"))
    assert run.files("inflight", "") == []
    assert not (run.path / "lock.json").exists()


HELD = """
import sys, time
from pathlib import Path
from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.sources import trace

first, second, run = map(Path, sys.argv[1:])
usual = trace.read_trace

def held(path, *rest):
    if path == str(second):
        second.with_suffix(".begun").touch()
        time.sleep(600)
    return usual(path, *rest)

trace.read_trace = held
workloads = [{"trace": str(first)}, {"trace": str(second)}]
run_campaign(Campaign(name="logs", schedulers=["fcfs", "easy"], workloads=workloads), run, workers=1)
"""


def test_after_a_kill_while_a_log_is_read_the_same_campaign_does_it_all(tmp_path: Path) -> None:
    logs = [write_log(tmp_path / "first.swf"), write_log(tmp_path / "second.swf", jobs=70)]
    with python(HELD, *logs, tmp_path / "run") as coordinator:
        wait_until((tmp_path / "second.begun").exists, 60)
        coordinator.kill()
        assert coordinator.wait(20) == -signal.SIGKILL
    assert not (tmp_path / "run" / "lock.json").exists()
    campaign = small(schedulers=["fcfs", "easy"], workloads=[{"trace": str(log)} for log in logs])
    again = run_here(campaign, tmp_path / "run")
    assert again.status().done == 4
    same_results(again.results(), run_here(campaign, tmp_path / "anew").results())


def test_a_missing_trace_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        run_here(small(workloads=[{"trace": str(tmp_path / "gone.swf")}]), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_log_that_changes_is_another_workload(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.swf")
    campaign = small(workloads=[{"trace": str(log)}])
    first = run_here(campaign, tmp_path / "run").results()
    write_log(log, jobs=80)
    second = run_here(campaign, tmp_path / "run").results()
    assert set(first.task).isdisjoint(second.task)
    assert second.jobs.tolist() == [80, 80]


def test_jobs_that_only_fill_the_machine_are_not_counted(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.swf", 300)
    windows = {"length": DAY, "count": 1, "state": 5}
    run = run_here(small(workloads=[{"trace": str(log), "windows": windows}]), tmp_path / "run")
    # One job every ten minutes: the state of 5, and all further ones within a day of the first, inclusive.
    assert run.results().jobs.tolist() == [145 - 5, 145 - 5]

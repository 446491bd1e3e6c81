"""Processes on this host: one that dies takes nothing with it but its own piece of work."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from campaign_runs import children_of, python, wait_until

from schedlab.campaign.run.executors import THREAD_VARIABLES, LocalExecutor, local_workers, usable_cores


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    """Give an executor of one process, which a test may kill: another takes its place."""
    with LocalExecutor(1) as executor:
        yield executor


def test_work_is_done_in_another_process_with_one_thread(executor: LocalExecutor) -> None:
    assert executor.submit(os.getpid).result() != os.getpid()
    assert [executor.submit(os.getenv, name).result() for name in THREAD_VARIABLES] == ["1"] * len(THREAD_VARIABLES)


def test_what_a_function_raises_is_raised_again(executor: LocalExecutor) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        executor.submit(int, "x").result()


def test_what_cannot_be_sent_is_an_error_and_the_worker_goes_on(executor: LocalExecutor) -> None:
    with pytest.raises((AttributeError, TypeError), match=r"lambda|pickle"):
        executor.submit(lambda: 1).result()  # no process knows this function by a name
    assert executor.submit(sum, [1, 2]).result() == 3


def test_a_key_that_interrupts_the_coordinator_does_not_interrupt_its_workers(executor: LocalExecutor) -> None:
    worker = executor.submit(os.getpid).result()
    os.kill(worker, signal.SIGINT)
    assert executor.submit(os.getpid).result() == worker


def test_a_worker_that_dies_breaks_its_piece_of_work_only(executor: LocalExecutor) -> None:
    before = executor.submit(os.getpid).result()
    deadly, next_ = executor.submit(os._exit, 3), executor.submit(os.getpid)
    with pytest.raises(BrokenProcessPool):
        deadly.result()
    assert next_.result() not in (before, os.getpid())


def test_a_worker_that_died_while_it_was_idle_is_replaced(executor: LocalExecutor) -> None:
    os.kill(executor.submit(os.getpid).result(), signal.SIGKILL)
    # Whether its end is noticed before the next piece of work is sent is a matter of chance.
    wait_until(lambda: executor.submit(os.getpid).exception() is None)


def test_without_waiting_work_is_ended_at_once() -> None:
    executor = LocalExecutor(1)
    worker = executor.submit(os.getpid).result()
    running, waiting = executor.submit(time.sleep, 600), executor.submit(time.sleep, 600)
    wait_until(running.running)
    begin = time.monotonic()
    executor.shutdown(wait=False)
    assert time.monotonic() - begin < 10
    assert not Path(f"/proc/{worker}").exists()
    with pytest.raises(BrokenProcessPool):
        running.result()
    with pytest.raises(CancelledError):
        waiting.result()


def test_work_that_is_handed_out_while_all_is_ended_does_not_begin() -> None:
    executor = LocalExecutor(1)
    future = executor.submit(time.sleep, 600)
    begin = time.monotonic()
    executor.shutdown(wait=False)
    assert time.monotonic() - begin < 10
    assert future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


def test_workers_are_as_many_as_the_cores_that_one_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 5}, raising=False)
    assert usable_cores() == 3
    with local_workers() as workers:
        assert workers.number == 3


COORDINATOR = """
import os, time
from schedlab.campaign.run.executors import LocalExecutor
if __name__ == "__main__":
    executor = LocalExecutor(2)
    futures = [executor.submit(time.sleep, 600) for _ in range(2)]
    while not all(future.running() for future in futures) or sum(len(pool._processes) for pool in executor._pools) < 2:
        time.sleep(0.01)
    print("working", flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_workers_do_not_outlive_a_coordinator_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "coordinator.py").write_text(COORDINATOR)
    code = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"
    with python(code, tmp_path / "coordinator.py", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(3)  # until they wait for the end of the coordinator
        children = children_of(process.pid)
        assert len(children) >= 2
        process.kill()
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_a_host_without_room_for_a_process_is_an_error_of_the_work_and_not_the_end_of_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = LocalExecutor._new_pool
    tried = []

    def full(executor: LocalExecutor) -> object:
        tried.append(1)
        if len(tried) < 3:
            raise OSError("too many open files")
        return usual(executor)

    monkeypatch.setattr(LocalExecutor, "_new_pool", full)
    with LocalExecutor(1) as executor:
        assert [type(executor.submit(sum, [1]).exception()) for _ in range(2)] == [OSError, OSError]
        assert executor.submit(sum, [1, 2]).result() == 3

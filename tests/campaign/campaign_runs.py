"""What the tests of running campaigns share: workers in this process, small logs, and processes to be killed."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.executors import Workers
from schedlab.workload.swf import write_swf
from schedlab.workload.workload import Workload

MODEL = {"generate": "lublin", "jobs": 20, "processors": 16}

PLANNED = 4
"""Tasks of `small`."""


def small(**fields: Any) -> Campaign:
    """Return a campaign of 2 schedulers on 2 repetitions of 20 jobs, unless fields say otherwise."""
    defaults = {"name": "small", "schedulers": ["fcfs", "easy"], "workloads": [{**MODEL, "repetitions": 2}]}
    return Campaign.model_validate({**defaults, **fields})


@contextmanager
def in_process(executor: Executor | None = None) -> Iterator[Workers]:
    """Give one worker that is a thread of this process: starting processes takes seconds."""
    with executor or ThreadPoolExecutor(1) as running:
        yield Workers(running, 1)


def run_here(campaign: Campaign, directory: Path, **options: Any) -> RunDirectory:
    """Run a campaign in this process."""
    return run_campaign(campaign, directory, workers=in_process(), **options)


class Hooked(Executor):
    """An executor that calls things at once, in this thread, and something else before each."""

    def __init__(self, hook: Callable[[int], None]) -> None:
        self.hook, self.calls = hook, 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the hook with the number of the call, from 1, then the function."""
        self.calls += 1
        future: Future[Any] = Future()
        try:
            self.hook(self.calls)
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Sent(Executor):
    """Does in this thread what `LocalExecutor` has other processes do, whose start takes seconds of each campaign.

    What is done, and what comes of it, is pickled as on its way to a process and back.
    """

    def __init__(self, workers: int) -> None:
        """Take as many arguments as `LocalExecutor`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function, without warnings, as a worker does."""
        future: Future[Any] = Future()
        try:
            call = pickle.loads(pickle.dumps(partial(fn, *args, **kwargs)))
            with warnings.catch_warnings(action="ignore"):
                future.set_result(pickle.loads(pickle.dumps(call())))
        except Exception as error:
            future.set_exception(error)
        return future


def write_log(path: Path, jobs: int = 60, *, gap: int = 600, machine: int | None = 16) -> Path:
    """Write a log of jobs of 4 users, one every `gap` seconds, that differ in length and width."""
    numbers = range(jobs)
    columns = {
        "submit_time": [gap * n for n in numbers],
        "run_time": [100 + 997 * n % 5_000 for n in numbers],
        "requested_time": [7_200] * jobs,
        "requested_processors": [1 + n * 7 % 12 for n in numbers],
        "user_id": [n % 4 for n in numbers],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_swf(Workload.from_columns(columns, name=path.stem, processors=machine), path)
    return path


def same_results(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Compare results bit by bit, but for the time that the simulations took."""
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True)


def wait_until(condition: Callable[[], Any], seconds: float = 30) -> None:
    """Wait until a condition holds; fail after some seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that these have."""
    found = []
    # Each thread has its own: workers are started by threads of their coordinator.
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text().split():
                found += [int(child), *children_of(int(child))]
    return found


@contextmanager
def python(code: str, *arguments: Any, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Start a Python process that runs some code, and kill it at the end if it still runs."""
    with subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()
